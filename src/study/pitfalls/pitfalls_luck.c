/* pitfalls_luck.c - sampling error and wrong clocks: how far a number from too few runs, or in CPU
 * time or by a coarse clock, may be from the honest one.
 *
 * The possible readings are the empirical distribution of many readings: single runs, or means or
 * percentiles of groups of runs. pitfall_sampling_error() takes the end of its middle 90 % (the 5 %
 * or 95 % quantile) that is farther from the truth, with the interval of that quantile; the low end
 * is the high end of the reciprocals. Single runs are made once and used by several rows; groups do
 * not overlap.
 *
 * CPU and wall time are paired trials (pitfalls_blocks.c). A coarse clock and the session's clock
 * time the same runs; a reading of 0 is certain harm and needs no interval. p->scratch has the
 * estimator's part first and PIT_SINGLES_MAX values after it: pitfall_sampling_error() uses both,
 * so readings must not be in it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/pitfalls/pitfall.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "base/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The middle 90 %: one reading in ten is outside. */
#define END_LOW	 0.05
#define END_HIGH 0.95
/* The least number of readings that shows the ends of the middle 90 %. */
#define READINGS_MIN 20
#define SINGLES_TIME 4 /* times of a row, since several rows use the same runs */
/* The runs that give a percentile well enough to judge others by. */
#define TAIL_RUNS_P99 1000
#define TAIL_RUNS_P90 100

/* --- quantiles of the possible readings */

/* Sets the interval of the quantile of y at END_HIGH, as shares of `truth`; y is reciprocals for
 * the quantile at END_LOW. */
static void end_judge(pitfall *p, const double *y, size_t n, double truth, bool low,
		      pitfall_finding *ret)
{
	stat_estimate e;

	stat_estimate_one(STAT_P95, y, n, p->asked->level, p->scratch, &e);
	if (!e.present || !e.has_interval || !(e.lo > 0))
		return;
	ret->has_interval = true;
	ret->lo = low ? 1 / e.hi / truth : e.lo / truth;
	ret->hi = low ? 1 / e.lo / truth : e.hi / truth;
}

void pitfall_sampling_error(pitfall *p, const double *x, size_t n, double truth,
			    pitfall_finding *ret)
{
	double *y = p->scratch + stat_scratch(PIT_SINGLES_MAX), low, high;

	memcpy(y, x, n * sizeof *x);
	stat_sort(y, n);
	low = stat_quantile_sorted(y, n, END_LOW);
	high = stat_quantile_sorted(y, n, END_HIGH);
	/* "Not above" lets a low end of 0 be infinitely far away. */
	const bool at_low = !(truth <= low) && !(truth / low <= high / truth);

	ret->honest_ns = truth;
	ret->number_ns = at_low ? low : high;
	ret->factor = ret->number_ns / truth;
	ret->certain = !(ret->number_ns > 0);
	if (ret->certain)
		return;
	for (size_t i = 0; i < n; i++)
		y[i] = at_low ? 1 / x[i] : x[i];
	end_judge(p, y, n, truth, at_low, ret);
}

static void sampling_error_report(pitfall *p, const double *x, size_t n, const char *of,
				  pitfall_finding *ret)
{
	double *y = p->scratch;

	memcpy(y, x, n * sizeof *x);
	stat_sort(y, n);
	snprintf(ret->seen, sizeof ret->seen,
		 "of %zu %s 90 %% are between %s and %s, all between %s and %s", n, of,
		 UNITS_TIME(stat_quantile_sorted(y, n, END_LOW)),
		 UNITS_TIME(stat_quantile_sorted(y, n, END_HIGH)), UNITS_TIME(y[0]),
		 UNITS_TIME(y[n - 1]));
}

/* --- too few runs */

/* Makes runs without a pause between them, each timed separately. */
static dck_status singles_take(pitfall *p, dck_err *err)
{
	const uint64_t begin = measure_context_now(&p->shared);
	const double whole = SINGLES_TIME * (double)p->asked->time_ns;
	measure_loop *l = &p->session.phases.loop;
	phase_samples sinks = {.latency = &p->session.phases.latency};
	const uint64_t group = l->group;
	dck_status status = DCK_OK;
	double passed = 0;
	size_t n = 0;

	l->group = 1;
	while (status == DCK_OK && n < PIT_SINGLES_MAX && (n < READINGS_MIN || passed < whole)) {
		measure_samples_clear(sinks.latency);
		status = measure_loop_slice(l, &sinks,
					    measure_loop_slice_size(l, PIT_SINGLES_MAX - n), err);
		for (size_t i = 0; i < sinks.latency->n && status == DCK_OK; i++)
			p->single_ns[n++] = sinks.latency->value[i];
		passed = (double)(measure_context_now(&p->shared) - begin);
		pitfall_show(p, passed / fmax(1, whole));
	}
	l->group = group;
	if (status == DCK_OK)
		p->nsingles = n;
	return status;
}

static dck_status singles_get(pitfall *p, double *ret_truth, dck_err *err)
{
	if (p->nsingles == 0)
		DCK_TRY(singles_take(p, err));
	*ret_truth = pitfall_median(p, p->single_ns, p->nsingles);
	if (!(*ret_truth > 0))
		DCK_FAIL(err, E_UNSUP, "a run took no time that the clock can see");
	return DCK_OK;
}

dck_status pitfall_one_sample(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	double truth;

	DCK_TRY(singles_get(p, &truth, err));
	pitfall_sampling_error(p, p->single_ns, p->nsingles, truth, ret);
	sampling_error_report(p, p->single_ns, p->nsingles, "single runs", ret);
	return DCK_OK;
}

/* Allocates a value for each group of runs; the groups do not overlap. */
static dck_status groups_new(const pitfall *p, size_t runs, double **ret, size_t *ret_n,
			     dck_err *err)
{
	const size_t n = p->nsingles / runs;

	if (n < READINGS_MIN)
		DCK_FAIL(err, E_UNSUP,
			 "%zu runs are too few to see how groups of %zu vary: give more --time",
			 p->nsingles, runs);
	*ret = mem_alloc(n * sizeof **ret);
	DCK_NEED(*ret, err, "for %zu values", n);
	*ret_n = n;
	return DCK_OK;
}

dck_status pitfall_mean_of(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	double truth, *mean;
	char of[32];
	size_t n;

	DCK_TRY(singles_get(p, &truth, err));
	DCK_TRY(groups_new(p, p->made->runs, &mean, &n, err));
	for (size_t i = 0; i < n; i++) {
		mean[i] = 0;
		for (size_t k = 0; k < p->made->runs; k++)
			mean[i] += p->single_ns[i * p->made->runs + k] / (double)p->made->runs;
	}
	pitfall_sampling_error(p, mean, n, truth, ret);
	snprintf(of, sizeof of, "means of %zu runs", p->made->runs);
	sampling_error_report(p, mean, n, of, ret);
	mem_free(mean);
	return DCK_OK;
}

/* Reads p99 of 50 runs; where runs are long, p90 of 10. */
dck_status pitfall_percentile(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	double median, truth, *part, q;
	size_t n, runs, each;
	char of[64];

	DCK_TRY(singles_get(p, &median, err));
	if (p->nsingles < TAIL_RUNS_P90)
		DCK_FAIL(err, E_UNSUP, "%zu runs are too few for a percentile: give more --time",
			 p->nsingles);
	q = p->nsingles >= TAIL_RUNS_P99 ? 0.99 : 0.9;
	each = p->nsingles >= TAIL_RUNS_P99 ? 50 : 10;
	runs = p->nsingles / each;
	if (runs < READINGS_MIN)
		each = p->nsingles / READINGS_MIN;
	DCK_TRY(groups_new(p, each, &part, &n, err));
	for (size_t i = 0; i < n; i++)
		part[i] = pitfall_quantile(p, p->single_ns + i * each, each, q);
	truth = pitfall_quantile(p, p->single_ns, p->nsingles, q);
	pitfall_sampling_error(p, part, n, truth, ret);
	snprintf(of, sizeof of, "readings of p%.0f, each of %zu runs,", 100 * q, each);
	sampling_error_report(p, part, n, of, ret);
	mem_free(part);
	return DCK_OK;
}

/* --- processor time and wall time */

/* Processor and wall time: the sums of all trials, and a run's of the last one. */
typedef struct shares {
	double sum_cpu_ns, sum_wall_ns, runs;
	double last_cpu_ns, last_wall_ns;
} shares;

static dck_status cpu_trial(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	shares *s = self;
	measure_loop *l = &p->session.phases.loop;
	phase_samples sinks = {.latency = &p->session.phases.latency};
	const double least = (double)p->asked->time_ns / 64;
	const uint64_t before = l->runs;

	measure_samples_clear(sinks.latency);
	do
		DCK_TRY(measure_loop_slice(l, &sinks, measure_loop_slice_size(l, UINT64_MAX), err));
	while (sinks.wall_ns < least);
	s->last_cpu_ns = sinks.cpu_ns / (double)(l->runs - before);
	s->last_wall_ns = sinks.wall_ns / (double)(l->runs - before);
	s->sum_cpu_ns += sinks.cpu_ns;
	s->sum_wall_ns += sinks.wall_ns;
	s->runs += (double)(l->runs - before);
	*ret_ns = p->made->wall ? s->last_wall_ns : s->last_cpu_ns;
	return DCK_OK;
}

/* Makes a separate trial, and returns the other clock's reading of it. */
static dck_status wall_trial(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	shares *s = self;
	double ns;

	DCK_TRY(cpu_trial(p, self, &ns, err));
	*ret_ns = p->made->wall ? s->last_cpu_ns : s->last_wall_ns;
	return DCK_OK;
}

dck_status pitfall_processor_time(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	shares s = {0};

	DCK_TRY(pitfall_pair_find(p, (pitfall_trial){wall_trial, &s},
				  (pitfall_trial){cpu_trial, &s}, ret, err));
	mem_print(ret->seen, sizeof ret->seen,
		  "a run takes %s of wall time and %s of processor time, %.2f processors at once",
		  UNITS_TIME(s.sum_wall_ns / s.runs), UNITS_TIME(s.sum_cpu_ns / s.runs),
		  s.sum_cpu_ns / s.sum_wall_ns);
	return DCK_OK;
}

/* --- clocks that are too coarse */

static dck_status coarse_run(pitfall *p, const dck_clock *coarse, double *ret_ns, double *ret_true,
			     dck_err *err)
{
	measure_loop *l = &p->session.phases.loop;
	uint64_t coarse_begin, coarse_end, begin, end;
	dck_status status;

	if (measure_loop_cancelled(l))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	coarse_begin = coarse->now_ns(coarse->self);
	begin = measure_context_now(&p->shared);
	status = engine_run(p->session.target.engine.ops, p->session.target.context, err);
	end = measure_context_now(&p->shared);
	coarse_end = coarse->now_ns(coarse->self);
	/* A clock that is set may run backwards. */
	*ret_ns = coarse_end > coarse_begin ? (double)(coarse_end - coarse_begin) : 0;
	*ret_true = (double)(end - begin);
	return status;
}

static dck_status coarse_measure(pitfall *p, const dck_clock *coarse, pitfall_finding *ret,
				 dck_err *err)
{
	double *read = mem_alloc(2 * (size_t)PIT_SINGLES_MAX * sizeof *read);
	dck_status status = DCK_OK;
	const uint64_t first = measure_context_now(&p->shared);
	size_t n = 0, zeros = 0;

	DCK_NEED(read, err, "for readings");
	double *const really = read + PIT_SINGLES_MAX;
	while (status == DCK_OK && n < PIT_SINGLES_MAX &&
	       (n < READINGS_MIN || measure_context_now(&p->shared) - first < p->asked->time_ns)) {
		status = coarse_run(p, coarse, &read[n], &really[n], err);
		if (status == DCK_OK)
			zeros += !(read[n++] > 0);
	}
	const double truth = status == DCK_OK ? pitfall_median(p, really, n) : 0;

	if (status == DCK_OK && !(truth > 0))
		status = ERR_SET(err, E_UNSUP, "a run took no time that the clock can see");
	if (status != DCK_OK)
		goto done;
	pitfall_sampling_error(p, read, n, truth, ret);
	const double low_ns = pitfall_quantile(p, read, n, END_LOW);
	const double high_ns = pitfall_quantile(p, read, n, END_HIGH);
	mem_print(ret->seen, sizeof ret->seen, "%s steps by %s: of %zu single runs %.3g %% read 0",
		  coarse->name, UNITS_TIME(coarse->tick_ns), n, 100 * (double)zeros / (double)n);
	if (high_ns > 0)
		text_add(ret->seen, sizeof ret->seen, ", 90 %% are between %s and %s",
			 UNITS_TIME(low_ns), UNITS_TIME(high_ns));
done:
	mem_free(read);
	return status;
}

dck_status pitfall_clock(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	dck_clock coarse;

	if (!p->made->clock(&coarse))
		DCK_FAIL(err, E_UNSUP, "this system has no clock that is coarse");
	return coarse_measure(p, &coarse, ret, err);
}
