/* double.h - shared by the doubles of vendors' libraries: settings by environment variables, read
 * at each call, so that a test changes them while the library is loaded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DOUBLES_DOUBLE_H
#define DOUBLES_DOUBLE_H

#include <stdlib.h>
#include <string.h>

static inline unsigned long long setting(const char *name, unsigned long long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* Returns the error that `variable` sets for a function ("cuInit=803,cuMemAlloc_v2=2"); 0: none. */
static inline unsigned failure(const char *variable, const char *function)
{
	const size_t n = strlen(function);

	for (const char *at = getenv(variable); at && *at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, function, n) == 0 && at[n] == '=')
			return (unsigned)strtoul(at + n + 1, NULL, 0);
	}
	return 0;
}

#endif
