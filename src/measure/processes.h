/* processes.h - the same measurement in several fresh processes, made into one record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_PROCESSES_H
#define MEASURE_PROCESSES_H

#include "measure/plan.h"

/* plan->asked.processes workers, one after the other. */
dck_status measure_run_processes(const dck_subject *s, const measure_plan *plan,
				 const dck_observer *watch, dck_record **ret, dck_err *err);

#endif
