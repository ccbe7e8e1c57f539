/* plan.h - a plan checked and made definite.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_PLAN_H
#define MEASURE_PLAN_H

#include "deepclock/bench.h"
#include "stat/stat.h"

typedef enum measure_warmup_kind {
	MEASURE_WARMUP_AUTO,
	MEASURE_WARMUP_RUNS,
	MEASURE_WARMUP_TIME
} measure_warmup_kind;

typedef struct measure_plan {
	dck_plan asked;
	stat_estimator
	    statistic; /* STAT_ESTIMATORS: the percentile p, which has no row of its own */
	double p;
	char percentile[24]; /* "latency/p75" of such a one */
	measure_warmup_kind warmup;
	uint64_t warmup_amount; /* runs or nanoseconds */
} measure_plan;

/* E_ARG names the option and what it may be. */
dck_status measure_plan_check(const dck_plan *p, measure_plan *ret, dck_err *err);

/* A plan of a first run and a warm-up alone: what is measured after them follows no plan. */
dck_status measure_plan_warmup(const char *warmup, uint64_t max_ns, double level, measure_plan *ret,
			       dck_err *err);

/* "latency/median", "median" of what precision is asked of. */
const char *measure_plan_tag(const measure_plan *plan);
const char *measure_plan_statistic(const measure_plan *plan);
/* That statistic of x[0..n), as stat_estimate_one(). */
void measure_plan_estimate(const measure_plan *plan, const double *x, size_t n, double *scratch,
			   stat_estimate *ret);

/* Every estimator with its metric: tags are stated here once. */
extern const char *const measure_estimator_tag[STAT_ESTIMATORS];

#endif
