/* processes.h - repeats a measurement in several fresh processes and merges the results into one
 * record: the number of the plan, or the default where starting is cheap.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_PROCESSES_H
#define MEASURE_PROCESSES_H

#include "measure/plan.h"

/* Runs plan->asked.processes workers in sequence. The caller owns *ret: dck_record_free(). */
dck_status measure_run_processes(const dck_subject *s, const measure_plan *plan,
				 const dck_observer *watch, dck_record **ret, dck_err *err);

/* Runs a plan whose `processes` is 0: the measurement in this process is the first of
 * MEASURE_STARTS starts if they can be made and starting is cheap, else the only one. */
dck_status measure_run_starts(const dck_subject *s, const measure_plan *plan,
			      const dck_observer *watch, dck_record **ret, dck_err *err);

#endif
