/* runner.h - the two ways of dck_bench(): here, or in fresh processes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include "bench/plan.h"
#include "record/build.h"

/* A builder with what every record has: an id of its own, and the plan's title. NULL: no memory. */
record_builder *bench_record_new(const bench_plan *plan);

/* One measurement in this process. */
dck_status bench_run_here(const dck_subject *s, const bench_plan *plan, const dck_observer *watch,
			  dck_record **ret, dck_err *err);

/* plan->asked.processes workers, one after the other, made into one record. */
dck_status bench_run_processes(const dck_subject *s, const bench_plan *plan,
			       const dck_observer *watch, dck_record **ret, dck_err *err);

#endif
