/* plan.c - the options of a measurement: table, defaults and checks.
 *
 * dck_plan_options is the table that parsing, help and the record's facts are made of.
 * measure_plan_check() resolves a plan once: the statistic's estimator and the warm-up's kind are
 * read from their texts, and combinations without a meaning are refused, each with the option's
 * name. measure_plan_share() divides the time of a plan among several starts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/plan.h"
#include "base/decimal.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "base/units.h"
#include "base/percentile.h"
#include "deepclock/unstable.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEEP_LEAST 64

const char *const measure_estimator_tag[STAT_ESTIMATORS] = {
    [STAT_MEAN] = "latency/mean", [STAT_MEDIAN] = "latency/median", [STAT_MIN] = "latency/min",
    [STAT_MAX] = "latency/max",	  [STAT_STDDEV] = "latency/stddev", [STAT_CV] = "latency/cv",
    [STAT_MAD] = "latency/mad",	  [STAT_P90] = "latency/p90",	    [STAT_P95] = "latency/p95",
    [STAT_P99] = "latency/p99",	  [STAT_P999] = "latency/p999",
};

const char *const dck_plan_statistics[] = {"median", "mean", "min",  "max", "p90",
					   "p95",    "p99",  "p999", NULL};

const dck_opt dck_plan_options[] = {
    DCK_OPTION(TEXT, dck_plan, statistic, "statistic", "WHICH", "median",
	       "statistic that must reach the precision, and is shown first, or a percentile such "
	       "as p75",
	       .choices = dck_plan_statistics),
    DCK_OPTION(SHARE, dck_plan, precision, "precision", "SHARE", "1%",
	       "stop when half the statistic's interval is within this share of it", .min = 1e-6,
	       .max = 1, .excludes = "runs time"),
    DCK_OPTION(SHARE, dck_plan, level, "level", "SHARE", "95%",
	       "confidence level of every interval", .min = 0.5, .max = 0.9999),
    DCK_OPTION(COUNT, dck_plan, min_runs, "min-runs", "N", "50",
	       "runs before the precision is first tested", .min = 1, .max = 1e9,
	       .excludes = "runs time"),
    DCK_OPTION(TIME, dck_plan, min_time_ns, "min-time", "TIME", "500ms",
	       "minimum measuring time before the precision is tested (a short window misses "
	       "slow drift)",
	       .max = 1e15, .excludes = "runs time"),
    DCK_OPTION(TIME, dck_plan, max_time_ns, "max-time", "TIME", "10s",
	       "stop measuring then, whatever precision was reached; of a model by default "
	       "starting counts too; with --runs only where given",
	       .min = 1, .max = 1e15, .excludes = "time",
	       .given = offsetof(dck_plan, max_time_given)),
    DCK_OPTION(COUNT, dck_plan, runs, "runs", "N", NULL,
	       "measure exactly N runs; no other stop rule but --max-time", .letter = 'r', .min = 1,
	       .max = 1e12),
    DCK_OPTION(TIME, dck_plan, time_ns, "time", "TIME", NULL,
	       "measure for exactly this time (the last run is finished); no other stop rule",
	       .min = 1, .max = 1e15, .excludes = "runs"),
    DCK_OPTION(TEXT, dck_plan, warmup, "warmup", "N|TIME|auto", "auto",
	       "runs or time before measuring; auto: until a steady state is detected",
	       .letter = 'w'),
    DCK_OPTION(TIME, dck_plan, max_warmup_ns, "max-warmup", "TIME", NULL,
	       "limit of auto; then it measures all the same, with a note; default: 5 s, or "
	       "--max-time if that is less",
	       .min = 1, .max = 1e15, .needs = "warmup=auto"),
    DCK_OPTION(COUNT, dck_plan, group, "group", "N", NULL,
	       "runs per sample; 0: 1, or more when the clock is too coarse for one run",
	       .max = 1e9),
    DCK_OPTION(COUNT, dck_plan, processes, "processes", "N", NULL,
	       "repeat all of it in N fresh processes; the interval is then between processes; "
	       "default: 1, of a model alone 6 that share the time, if starting is quick",
	       .min = 1, .max = 1000),
    DCK_OPTION(TIME, dck_plan, idle_ns, "idle", "TIME", NULL,
	       "pause before each run: latency after idling", .max = 1e13),
    /* The most with which a record can be read: record_parse.c. */
    DCK_OPTION(COUNT, dck_plan, keep, "keep", "N", "131072",
	       "maximum number of stored samples; beyond, every second one is dropped", .min = 64,
	       .max = 2097152),
    {0},
};

/* Apart, since only dck_bench() heeds them. */
const dck_opt dck_bench_options[] = {
    DCK_FLAG(dck_plan, check_outputs, "check-outputs",
	     "then compare the outputs with an unoptimised run on one thread"),
    DCK_OPTION(TEXT, dck_plan, trace, "trace", "FILE", NULL,
	       "write the runs on a timeline, and the operators of more runs under the engine's "
	       "profiler; the extension selects the format, as in 'trace'"),
    DCK_FLAG(dck_plan, pin_start, "pin-start",
	     "start each process with the same address layout (no randomisation), to see whether "
	     "that is what makes starts differ",
	     .excludes = "trace"),
    {0},
};

void dck_plan_init_sized(dck_plan *p, uint32_t struct_size)
{
	OPT_CONFIG_INIT(p, struct_size, dck_plan_options);
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
static dck_status plan_statistic_read(const char *text, measure_plan *plan, dck_err *err)
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
		if (strcmp(measure_estimator_tag[others[i]] + strlen("latency/"), text) == 0) {
			plan->statistic = others[i];
			return DCK_OK;
		}
	if (!percentile_parse(text, &p) || !(p >= PERCENTILE_LEAST && p <= PERCENTILE_MOST))
		DCK_FAIL(err, E_ARG,
			 "--statistic is '%.40s': give median, mean, min, max, "
			 "or a percentile from p50 to p99.99",
			 text);
	plan->statistic = STAT_ESTIMATORS;
	plan->p = p;
	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
		if (percentile_is(fixed[i].p, p))
			plan->statistic = fixed[i].which;
	if (plan->statistic == STAT_ESTIMATORS)
		snprintf(plan->percentile, sizeof plan->percentile, "latency/p%.14s",
			 DECIMAL_TEXT(8, 100 * p));
	return DCK_OK;
}

const char *measure_plan_tag(const measure_plan *plan)
{
	return plan->statistic < STAT_ESTIMATORS ? measure_estimator_tag[plan->statistic]
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

	DCK_TRY(opt_fields_check(dck_plan_options, p, err));
	DCK_TRY(plan_statistic_read(p->statistic ? p->statistic : "median", &plan, err));
	if (p->runs > 0 && p->time_ns > 0)
		DCK_FAIL(err, E_ARG,
			 "--runs and --time are two exact stop rules: give one of them");
	if (p->processes > 1 && p->trace)
		DCK_FAIL(err, E_ARG, "a trace covers one process: give --trace or --processes");
	DCK_TRY(warmup_read(p->warmup ? p->warmup : "auto", &plan, err));
	*ret = plan;
	return DCK_OK;
}

/* A program is timed within three seconds, as by hyperfine, unless one of these is given; one that
 * takes longer has --max-time for its first runs. */
#define PROGRAM_NS	  2000000000u
#define PROGRAM_WARMUP_NS 700000000u

void dck_plan_program(dck_plan *plan, const dck_opt_given *given, size_t n)
{
	static const char *const limits[] = {"max-time", "precision", "statistic", "min-runs"};
	bool limited = false;

	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		limited |= dck_opt_is_given(given, n, limits[i]);
	if (!limited)
		plan->enough_ns = PROGRAM_NS;
	if (plan->enough_ns > 0 && !dck_opt_is_given(given, n, "max-warmup"))
		plan->max_warmup_ns = PROGRAM_WARMUP_NS;
}

/* What is done before each run would be inside of a sample of several. */
dck_status measure_plan_group_check(const measure_plan *plan, const dck_subject *s, dck_err *err)
{
	const dck_plan *p = &plan->asked;
	const char *before = p->idle_ns > 0	       ? "idle"
			     : s->command.prepare      ? "prepare"
			     : s->model.input_pool > 1 ? "input-pool"
						       : NULL;

	if (p->group > 1 && before)
		DCK_FAIL(err, E_ARG,
			 "--group %llu times several runs as one sample, and --%s is for each run: "
			 "give one of them",
			 (unsigned long long)p->group, before);
	return DCK_OK;
}

#define WARMUP_NS 5000000000
uint64_t measure_plan_max_warmup(const dck_plan *plan)
{
	const uint64_t usual_ns = plan->max_time_ns < WARMUP_NS ? plan->max_time_ns : WARMUP_NS;

	return plan->max_warmup_ns > 0 ? plan->max_warmup_ns : usual_ns;
}

double measure_starting_share(double start_ns, uint64_t max_time_ns)
{
	return MEASURE_STARTS * start_ns / (double)max_time_ns;
}

#define WHOLE_SHARE 0.9 /* of the time; the rest is for closing and the report */
uint64_t measure_plan_whole(const dck_plan *plan)
{
	dck_plan plain;

	dck_plan_init(&plain);
	if (plan->max_time_given || plan->max_time_ns != plain.max_time_ns ||
	    plan->max_warmup_ns != plain.max_warmup_ns || plan->runs > 0 || plan->time_ns > 0)
		return 0;
	return (uint64_t)(WHOLE_SHARE * (double)plan->max_time_ns);
}

uint64_t measure_plan_left(uint64_t time_ns, double start_ns)
{
	const double time = (double)time_ns;

	return (uint64_t)fmax(time - start_ns, (1 - MEASURE_STARTING_SHARE) * time) + 1;
}

void measure_plan_share(dck_plan *plan, unsigned n, uint64_t open_ns)
{
	const double start_ns = MEASURE_STARTING_SHARE * (double)plan->max_time_ns / n,
		     warmup_ns = fmax(1, start_ns - (double)open_ns);
	const uint64_t warmup_most_ns = measure_plan_max_warmup(plan);

	plan->processes = 1;
	plan->max_time_ns = plan->max_time_ns / n + 1;
	plan->min_time_ns /= n;
	plan->keep = plan->keep / n > KEEP_LEAST ? plan->keep / n : KEEP_LEAST;
	plan->max_warmup_ns = (uint64_t)fmin((double)warmup_most_ns, warmup_ns);
}

dck_status measure_plan_warmup(const char *warmup, uint64_t max_ns, double level, measure_plan *ret,
			       dck_err *err)
{
	dck_plan plan;

	dck_plan_init(&plan);
	plan.warmup = warmup;
	plan.max_warmup_ns = max_ns;
	plan.level = level;
	plan.keep = KEEP_LEAST; /* the warm-up has a separate buffer */
	return measure_plan_check(&plan, ret, err);
}
