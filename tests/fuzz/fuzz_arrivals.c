/* fuzz_arrivals.c - any bytes as a file of arrival times: refused with a message, or times that
 * start at zero and never decrease.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "study/load/load_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char path[64];
	int fd = fuzz_file(bytes, n, path);
	load_trace t;
	dck_err err = {0};
	dck_status code = load_trace_read(path, &t, &err);

	if (code == DCK_OK) {
		check(t.n >= 2 && t.at_ns[0] >= 0 && t.rate_hz > 0);
		for (size_t i = 1; i < t.n; i++)
			check(t.at_ns[i] >= t.at_ns[i - 1]);
		load_trace_done(&t);
	} else {
		check(err.code == code && err.msg[0]);
	}
	close(fd);
	return 0;
}
