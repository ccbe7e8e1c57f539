/* SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"

#include "base/err.h"
#include "profiler/trace/result/zone_record.h"
#include "profiler/trace/waiting.h"

static dck_status stop_result_take(void *self, const void *bytes, size_t n, dck_err *err)
{
	return zone_record_read(bytes, n, self, err);
}

dck_status dck_trace_stop(dck_record **ret, dck_err *err)
{
	dck_record *made = NULL;

	if (!ret)
		return dck_trace_end(err);
	const dck_status st = dck_recorder_end(stop_result_take, &made, err);
	*ret = made;
	return st;
}
