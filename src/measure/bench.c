/* bench.c - the way in: here, or in fresh processes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/opt_text.h"
#include "measure/verify/output_compare.h"
#include "measure/processes.h"
#include "measure/runner.h"
#include "os/os.h"

static dck_status measure_run(const dck_subject *s, const measure_plan *plan,
			      const dck_observer *watch, dck_record **ret, dck_err *err)
{
	if (plan->asked.processes == 0)
		return measure_run_starts(s, plan, watch, ret, err);
	if (plan->asked.processes > 1)
		return measure_run_processes(s, plan, watch, ret, err);
	return measure_run_here(s, plan, watch, ret, err);
}

/* Measures while processes that this thread starts have a fixed address layout; records the reason
 * if they do not. */
static dck_status pinned_run(const dck_subject *s, measure_plan *plan, const dck_observer *watch,
			     dck_record **ret, dck_err *err)
{
	const uint64_t n = plan->asked.processes;
	unsigned long before;
	dck_err why;
	dck_status status;

	if (s->kind != DCK_SUBJECT_COMMAND && n < 2 && (n == 1 || s->kind != DCK_SUBJECT_MODEL))
		DCK_FAIL(err, E_ARG,
			 "--pin-start is of processes that are started, and this one measures: "
			 "give --processes 2 or more");
	if (os_address_layout_fix(&before, &why) != DCK_OK) {
		plan->layout_why = why.msg;
		return measure_run(s, plan, watch, ret, err);
	}
	status = measure_run(s, plan, watch, ret, err);
	os_address_layout_restore(before);
	return status;
}

dck_status dck_bench(const dck_subject *s, const dck_plan *plan, const dck_observer *watch,
		     dck_record **ret, dck_err *err)
{
	dck_plan own;
	measure_plan checked;

	DCK_TRY(OPT_CONFIG_GET(plan, &own, dck_plan_init, err, NULL));
	DCK_TRY(measure_plan_check(&own, &checked, err));
	DCK_TRY(subject_valid(s, err));
	DCK_TRY(measure_plan_group_check(&checked, s, err));
	if (own.check_outputs)
		DCK_TRY(compared_can_check(s, err));
	return own.pin_start ? pinned_run(s, &checked, watch, ret, err)
			     : measure_run(s, &checked, watch, ret, err);
}
