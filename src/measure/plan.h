/* plan.h - a plan checked and made definite.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_PLAN_H
#define MEASURE_PLAN_H

#include "deepclock/bench.h"
#include "stat/stat.h"

typedef enum bench_warmup_kind {
	BENCH_WARMUP_AUTO,
	BENCH_WARMUP_RUNS,
	BENCH_WARMUP_TIME
} bench_warmup_kind;

typedef struct bench_plan {
	dck_plan asked;
	stat_estimator
	    statistic; /* STAT_ESTIMATORS: the percentile p, which has no row of its own */
	double p;
	char percentile[24]; /* "latency/p75" of such a one */
	bench_warmup_kind warmup;
	uint64_t warmup_amount; /* runs or nanoseconds */
} bench_plan;

/* E_ARG names the option and what it may be. */
dck_status bench_plan_check(const dck_plan *p, bench_plan *ret, dck_err *err);

/* "latency/median", "median" of what precision is asked of. */
const char *bench_plan_tag(const bench_plan *plan);
const char *bench_plan_statistic(const bench_plan *plan);
/* That statistic of x[0..n), as stat_estimate_one(). */
void bench_plan_estimate(const bench_plan *plan, const double *x, size_t n, double *scratch,
			 stat_estimate *ret);

/* Every estimator with its metric: tags are stated here once. */
extern const char *const bench_estimator_tag[STAT_ESTIMATORS];

#endif
