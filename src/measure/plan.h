/* plan.h - validates a measurement plan and resolves its defaults.
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
	    statistic; /* STAT_ESTIMATORS: the percentile p, which has no row in the table */
	double p;
	char percentile[24]; /* tag of that percentile: "latency/p75" */
	measure_warmup_kind warmup;
	uint64_t warmup_amount; /* runs or nanoseconds */
	/* Above 1: the planned number of starts, which share the time if starting is cheap; if it
	 * is not, and with 0, this is the only start. */
	unsigned starts;
	const char *one_start; /* why it is the only one whatever starting takes; NULL: not known */
	const char *start_failed; /* why no other start could be measured; NULL: none was tried */
	bool shared;		  /* all processes together have the time, not each */
	uint64_t whole_ns;	  /* what starting and measuring take together; 0: no such limit */
	const char *layout_why;	  /* why the address layout is random though it was to be fixed */
} measure_plan;

/* Validates a plan. E_ARG: the message names the option and its valid values. */
dck_status measure_plan_check(const dck_plan *p, measure_plan *ret, dck_err *err);

/* Refuses a group of several runs with what is done before each run. E_ARG. */
dck_status measure_plan_group_check(const measure_plan *plan, const dck_subject *s, dck_err *err);

/* The fewest starts whose smallest and largest value hold their median in 95 %. */
#define MEASURE_STARTS 6
/* Starting is cheap if all starts, from opening the subject to the last warm-up run, take at most
 * this share of the time to measure. */
#define MEASURE_STARTING_SHARE 0.5
/* Returns the limit of a warm-up until a steady state. */
uint64_t measure_plan_max_warmup(const dck_plan *plan);
/* Returns that share of max_time_ns if each of MEASURE_STARTS starts takes start_ns. */
double measure_starting_share(double start_ns, uint64_t max_time_ns);
/* Returns the time of starting and measuring together, in which a command ends by default; 0 if the
 * plan sets a time or a number of runs. */
uint64_t measure_plan_whole(const dck_plan *plan);
/* Returns what starting leaves of a time: not less than half, whatever it takes. */
uint64_t measure_plan_left(uint64_t time_ns, double start_ns);
/* Makes of a plan that of one of n starts: together they have its time and its samples. open_ns:
 * the time of a start until its warm-up. */
void measure_plan_share(dck_plan *plan, unsigned n, uint64_t open_ns);

/* Makes a plan with only a first run and a warm-up; later runs follow no plan. */
dck_status measure_plan_warmup(const char *warmup, uint64_t max_ns, double level, measure_plan *ret,
			       dck_err *err);

/* Return the tag and the name ("latency/median", "median") of the statistic with the requested
 * precision. */
const char *measure_plan_tag(const measure_plan *plan);
const char *measure_plan_statistic(const measure_plan *plan);
/* Computes that statistic of x[0..n), as stat_estimate_one() does. */
void measure_plan_estimate(const measure_plan *plan, const double *x, size_t n, double *scratch,
			   stat_estimate *ret);

/* The metric tag of each estimator; the only definition. */
extern const char *const measure_estimator_tag[STAT_ESTIMATORS];

#endif
