/* fake_ort.c - reports to be ONNX Runtime of version VERSION, and has no table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

typedef struct fake_base {
	const void *(*get_api)(uint32_t version);
	const char *(*get_version)(void);
} fake_base;

static const void *get_api(uint32_t version)
{
	(void)version;
	return NULL;
}

static const char *get_version(void)
{
	return VERSION;
}

const fake_base *OrtGetApiBase(void);

const fake_base *OrtGetApiBase(void)
{
	static const fake_base base = {get_api, get_version};
	return &base;
}
