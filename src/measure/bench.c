/* bench.c - the way in: here, or in fresh processes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/opt_text.h"
#include "measure/verify/output_compare.h"
#include "measure/processes.h"
#include "measure/runner.h"

dck_status dck_bench(const dck_subject *s, const dck_plan *plan, const dck_observer *watch,
		     dck_record **ret, dck_err *err)
{
	dck_plan own;
	measure_plan checked;

	DCK_TRY(OPT_CONFIG_GET(plan, &own, dck_plan_init, err));
	DCK_TRY(measure_plan_check(&own, &checked, err));
	if (own.check_outputs)
		DCK_TRY(compared_can_check(s, err));
	if (checked.asked.processes == 0)
		return measure_run_starts(s, &checked, watch, ret, err);
	if (checked.asked.processes > 1)
		return measure_run_processes(s, &checked, watch, ret, err);
	return measure_run_here(s, &checked, watch, ret, err);
}
