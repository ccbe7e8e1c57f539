/* processes.h - repeats a measurement in several fresh processes and merges the results into one
 * record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_PROCESSES_H
#define MEASURE_PROCESSES_H

#include "measure/plan.h"

/* Runs plan->asked.processes workers in sequence. The caller owns *ret: dck_record_free(). */
dck_status measure_run_processes(const dck_subject *s, const measure_plan *plan,
				 const dck_observer *watch, dck_record **ret, dck_err *err);

#endif
