/* SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"

#include "base/err.h"
#include "profiler/trace/result/zone_record.h"
#include "profiler/trace/waiting.h"

dck_status dck_trace_stop(dck_record **ret, dck_err *err)
{
	wire_out result = {0};

	if (!ret)
		return dck_trace_end(err);
	DCK_TRY(dck_recorder_end(&result, err));
	dck_status status = DCK_OK;
	if (result.n)
		status = zone_record_read(result.data, result.n, ret, err);
	else
		*ret = NULL;
	wire_out_done(&result);
	return status;
}
