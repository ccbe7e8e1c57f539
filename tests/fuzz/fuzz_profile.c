/* fuzz_profile.c - any bytes as a profile of another program: refused with a message, or converted
 * to functions and paths.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/calls.h"
#include "fuzz.h"
#include "profiler/read/profile/profile_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	dck_record *r = NULL;
	dck_err err = {0};
	char path[64];
	const int fd = fuzz_file(bytes, n, path);

	(void)profile_is(path);
	const dck_status code = dck_profile_read(path, &r, &err);
	if (code == DCK_OK)
		check(dck_record_table(r, "functions") != NULL);
	else
		check(err.code == code && err.msg[0]);
	dck_record_free(r);
	close(fd);
	return 0;
}
