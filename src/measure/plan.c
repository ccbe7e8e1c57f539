/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/plan.h"
#include "base/err.h"
#include "base/units.h"
#include "base/percentile.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

const char *const subject_estimator_tag[STAT_ESTIMATORS] = {
    [STAT_MEAN] = "latency/mean", [STAT_MEDIAN] = "latency/median", [STAT_MIN] = "latency/min",
    [STAT_MAX] = "latency/max",	  [STAT_STDDEV] = "latency/stddev", [STAT_CV] = "latency/cv",
    [STAT_MAD] = "latency/mad",	  [STAT_P90] = "latency/p90",	    [STAT_P95] = "latency/p95",
    [STAT_P99] = "latency/p99",	  [STAT_P999] = "latency/p999",
};

const char *const dck_plan_statistics[] = {"median", "mean", "min",  "max", "p90",
					   "p95",    "p99",  "p999", NULL};

#define AT(field) offsetof(dck_plan, field)
const dck_opt dck_plan_options[] = {
    {.name = "statistic",
     .kind = DCK_OPT_TEXT,
     .at = AT(statistic),
     .arg = "WHICH",
     .def = "median",
     .choices = dck_plan_statistics,
     .help = "what the precision is asked of, and what is shown first, or a percentile as p75"},
    {.name = "precision",
     .kind = DCK_OPT_SHARE,
     .at = AT(precision),
     .arg = "SHARE",
     .def = "1%",
     .min = 1e-6,
     .max = 1,
     .help = "stop when half the statistic's interval is within this share of it"},
    {.name = "level",
     .kind = DCK_OPT_SHARE,
     .at = AT(level),
     .arg = "SHARE",
     .def = "95%",
     .min = 0.5,
     .max = 0.9999,
     .help = "confidence level of every interval"},
    {.name = "min-runs",
     .kind = DCK_OPT_COUNT,
     .at = AT(min_runs),
     .arg = "N",
     .def = "50",
     .min = 1,
     .max = 1e9,
     .help = "runs before the precision is first looked at"},
    {.name = "min-time",
     .kind = DCK_OPT_TIME,
     .at = AT(min_time_ns),
     .arg = "TIME",
     .def = "500ms",
     .min = 0,
     .max = 1e15,
     .help = "time before the precision is first looked at: a blink sees no slow change"},
    {.name = "max-time",
     .kind = DCK_OPT_TIME,
     .at = AT(max_time_ns),
     .arg = "TIME",
     .def = "10s",
     .min = 1,
     .max = 1e15,
     .help = "stop measuring then, whatever precision was reached"},
    {.name = "runs",
     .kind = DCK_OPT_COUNT,
     .at = AT(runs),
     .arg = "N",
     .min = 1,
     .max = 1e12,
     .help = "measure exactly so many runs; no other stop rule"},
    {.name = "time",
     .kind = DCK_OPT_TIME,
     .at = AT(time_ns),
     .arg = "TIME",
     .min = 1,
     .max = 1e15,
     .help = "measure for exactly so long (the last run is finished); no other stop rule"},
    {.name = "warmup",
     .kind = DCK_OPT_TEXT,
     .at = AT(warmup),
     .arg = "N|TIME|auto",
     .def = "auto",
     .help = "runs or time before measuring; auto: until a steady state is detected"},
    {.name = "max-warmup",
     .kind = DCK_OPT_TIME,
     .at = AT(max_warmup_ns),
     .arg = "TIME",
     .def = "5s",
     .min = 1,
     .max = 1e15,
     .help = "auto gives up then, measures all the same and says so"},
    {.name = "group",
     .kind = DCK_OPT_COUNT,
     .at = AT(group),
     .arg = "N",
     .min = 0,
     .max = 1e9,
     .help = "runs per sample; 0: 1, or more when the clock is too coarse for one run"},
    {.name = "processes",
     .kind = DCK_OPT_COUNT,
     .at = AT(processes),
     .arg = "N",
     .def = "1",
     .min = 1,
     .max = 1000,
     .help = "repeat all of it in N fresh processes; the interval is then between processes"},
    {.name = "idle",
     .kind = DCK_OPT_TIME,
     .at = AT(idle_ns),
     .arg = "TIME",
     .min = 0,
     .max = 1e13,
     .help = "pause before each run: latency after idling"},
    {.name = "keep",
     .kind = DCK_OPT_COUNT,
     .at = AT(keep),
     .arg = "N",
     .def = "131072",
     .min = 64,
     .max = 16777216,
     .help = "samples kept at most; beyond, every second one is dropped, evenly"},
    {0},
};
#undef AT

/* Apart, since only dck_bench() heeds it. */
const dck_opt dck_check_options[] = {
    {.name = "check-outputs",
     .kind = DCK_OPT_FLAG,
     .at = offsetof(dck_plan, check_outputs),
     .help = "then compare the outputs with those of an unoptimised run on one thread"},
    {0},
};

void dck_plan_init(dck_plan *p)
{
	/* Some fields have no row in that table. */
	*p = (dck_plan){0};
	const dck_status status = dck_opt_defaults(dck_plan_options, p, NULL);

	assert(status == DCK_OK);
	(void)status;
}

static dck_status warmup_read(const char *text, measure_plan *plan, dck_err *err)
{
	if (strcmp(text, "auto") == 0) {
		plan->warmup = MEASURE_WARMUP_AUTO;
		return DCK_OK;
	}
	if (units_parse_count(text, &plan->warmup_amount, NULL) == DCK_OK) {
		plan->warmup = MEASURE_WARMUP_RUNS;
		return DCK_OK;
	}
	if (units_parse_time(text, &plan->warmup_amount, NULL) == DCK_OK) {
		plan->warmup = MEASURE_WARMUP_TIME;
		return DCK_OK;
	}
	DCK_FAIL(err, E_ARG,
		 "--warmup is '%s': give a number of runs (100), a time (500ms) or auto", text);
}

/* "p99.9" is latency/p999, and p50 is the median: one statistic has one name. */
static dck_status statistic_read(const char *text, measure_plan *plan, dck_err *err)
{
	static const struct {
		double p;
		stat_estimator which;
	} fixed[] = {{0.5, STAT_MEDIAN},
		     {0.9, STAT_P90},
		     {0.95, STAT_P95},
		     {0.99, STAT_P99},
		     {0.999, STAT_P999}};
	static const stat_estimator others[] = {STAT_MEAN, STAT_MIN, STAT_MAX};
	double p;

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(subject_estimator_tag[others[i]] + strlen("latency/"), text) == 0) {
			plan->statistic = others[i];
			return DCK_OK;
		}
	if (!percentile_parse(text, &p) || !(p >= PERCENTILE_LEAST && p <= PERCENTILE_MOST))
		DCK_FAIL(
		    err, E_ARG,
		    "--statistic is '%.40s': give median, mean, min, max, or a percentile from "
		    "p50 to p99.99",
		    text);
	plan->statistic = STAT_ESTIMATORS;
	plan->p = p;
	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
		if (percentile_is(fixed[i].p, p))
			plan->statistic = fixed[i].which;
	if (plan->statistic == STAT_ESTIMATORS)
		snprintf(plan->percentile, sizeof plan->percentile, "latency/p%.8g", 100 * p);
	return DCK_OK;
}

const char *measure_plan_tag(const measure_plan *plan)
{
	return plan->statistic < STAT_ESTIMATORS ? subject_estimator_tag[plan->statistic]
						 : plan->percentile;
}

const char *measure_plan_statistic(const measure_plan *plan)
{
	return measure_plan_tag(plan) + strlen("latency/");
}

void measure_plan_estimate(const measure_plan *plan, const double *x, size_t n, double *scratch,
			   stat_estimate *ret)
{
	if (plan->statistic < STAT_ESTIMATORS)
		stat_estimate_one(plan->statistic, x, n, plan->asked.level, scratch, ret);
	else
		stat_estimate_quantile(plan->p, x, n, plan->asked.level, scratch, ret);
}

dck_status measure_plan_check(const dck_plan *p, measure_plan *ret, dck_err *err)
{
	measure_plan plan = {.asked = *p};

	DCK_TRY(statistic_read(p->statistic ? p->statistic : "median", &plan, err));
	if (p->runs > 0 && p->time_ns > 0)
		DCK_FAIL(err, E_ARG,
			 "--runs and --time are two exact stop rules: give one of them");
	if (!(p->precision > 0))
		DCK_FAIL(err, E_ARG, "--precision is %g: it must be above 0", p->precision);
	if (!(p->level > 0 && p->level < 1))
		DCK_FAIL(err, E_ARG, "--level is %g: it must lie between 0 and 1", p->level);
	if (p->keep < 64)
		DCK_FAIL(err, E_ARG, "--keep is %llu: at least 64 samples are kept",
			 (unsigned long long)p->keep);
	if (p->processes < 1)
		DCK_FAIL(err, E_ARG, "--processes is 0: give 1 or more");
	if (p->processes > 1 && !p->program)
		DCK_FAIL(
		    err, E_UNSUP,
		    "fresh processes need a program to start (dck_plan.program): the deepclock "
		    "program has one, a function in memory has none");
	DCK_TRY(warmup_read(p->warmup ? p->warmup : "auto", &plan, err));
	*ret = plan;
	return DCK_OK;
}
