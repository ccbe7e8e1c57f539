/* fuzz_result.c - any bytes as the result of a recording: refused with a message, or a record that
 * survives the conversion to JSON and back.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "deepclock/report.h"
#include "profiler/trace/result/zone_record.h"

#include <stdlib.h>
#include <string.h>

static dck_buffer json_of(const dck_record *r)
{
	dck_buffer b = {0};
	dck_sink s;

	dck_sink_buffer(&s, &b);
	if (dck_report("json", &r, 1, NULL, &s, NULL) != DCK_OK ||
	    dck_sink_finish(&s, NULL) != DCK_OK || b.n == 0)
		abort();
	return b;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	dck_record *r = NULL, *again = NULL;
	dck_err err = {0};

	if (zone_record_read(bytes, n, &r, &err) != DCK_OK) {
		if (err.msg[0] == '\0' || r)
			abort();
		return 0;
	}
	dck_buffer first = json_of(r);
	if (dck_record_parse(first.data, first.n, &again, &err) != DCK_OK)
		abort();
	dck_buffer second = json_of(again);
	if (second.n != first.n || memcmp(second.data, first.data, first.n) != 0)
		abort();
	dck_buffer_done(&first);
	dck_buffer_done(&second);
	dck_record_free(r);
	dck_record_free(again);
	return 0;
}
