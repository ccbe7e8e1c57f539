/* saved_value.c - the statistic of a saved record with a confidence interval at any level, from the
 * best source that the record has.
 *
 * saved_source_open() chooses the source once: the samples of one process, estimated again and
 * corrected for autocorrelation; else the samples of several processes, whose statistics are
 * averaged with Student's t (spreads on logarithms); else the stored metric, whose interval is
 * stretched on the logarithm by the ratio of two quantiles. Holm's procedure needs other levels
 * than the stored one, so saved_source_value() may be called again and again.
 *
 * Invariants: samples are borrowed from the record, and copied only where some are not finite; a
 * value that is not known has a reason in `why`, and so has a missing interval unless the value is
 * an exact count. What --between adds is a variance, half of it to each of two records. At most
 * PROCESSES_MAX processes are read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "base/sink.h"
#include "record/comparable.h"
#include "measure/plan.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* More processes than a record has (--processes takes up to 1000). */
#define PROCESSES_MAX 4096
#define TAGS_MAX      256
#define TAGS_NAMED    4 /* in a message */

static int estimator_of(const char *tag)
{
	for (int i = 0; i < STAT_ESTIMATORS; i++)
		if (strcmp(measure_estimator_tag[i], tag) == 0)
			return i;
	return -1;
}

static bool has_number(const dck_record *r, const char *tag)
{
	return !isnan(dck_record_value(r, tag));
}

/* Returns whether rates are compared: a longer run of more items may be the better one. */
static bool rates_decide(const dck_record *const *records, size_t n)
{
	bool differ = false;

	for (size_t i = 0; i < n; i++) {
		if (!has_number(records[i], ITEMS_METRIC))
			return false;
		differ |= saved_items(records[i]) != saved_items(records[0]);
	}
	return differ;
}

int64_t saved_items(const dck_record *r)
{
	return record_get_int(r, "subject", "items_per_run");
}

/* Returns the tag of the metric to compare: the requested one, else the main one of this kind of
 * record. The rate follows from the median, so no other statistic is replaced by it. */
const char *saved_tag(const dck_record *const *records, size_t n, const dck_compare_config *c,
		      char *text, size_t size)
{
	const dck_record *baseline = records[0];
	static const char *const before[] = {"throughput/best", "load/peak_rate"};
	static const char *const after[] = {"cost/flops", "accuracy/overall", "ranks/step"};

	if (c->undisturbed)
		return UNDISTURBED_METRIC;
	if (c->metric)
		return c->metric;
	if (c->scaling)
		return SAVED_SCALING_METRIC;
	for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
		if (has_number(baseline, before[i]))
			return before[i];
	if (strcmp(dck_compare_statistics[c->statistic], "median") == 0 && rates_decide(records, n))
		return ITEMS_METRIC;
	snprintf(text, size, "latency/%s", dck_compare_statistics[c->statistic]);
	for (size_t i = 0; i < sizeof after / sizeof after[0]; i++)
		if (!dck_record_metric(baseline, text) && dck_record_metric(baseline, after[i]))
			return after[i];
	return text;
}

/* Takes the runs after the warm-up. Values that are not finite are left out; they are rare, so a
 * copy is made only then. */
static dck_status runs_take(const dck_series *series, saved_source *s, dck_err *err)
{
	const double *x = series->values + series->warmup;
	const size_t n = series->n - series->warmup;
	size_t finite = 0;

	mem_free(s->own);
	s->own = NULL;
	for (size_t i = 0; i < n; i++)
		finite += isfinite(x[i]) ? 1 : 0;
	s->runs = x;
	s->n = n;
	if (finite == n)
		return DCK_OK;
	s->own = mem_alloc((finite + 1) * sizeof *s->own);
	DCK_NEED(s->own, err, "for %zu samples", n);
	s->n = 0;
	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]))
			s->own[s->n++] = x[i];
	s->runs = s->own;
	return DCK_OK;
}

static dck_status scratch_take(saved_source *s, dck_err *err)
{
	mem_free(s->scratch);
	s->scratch = mem_alloc(stat_scratch(s->n) * sizeof *s->scratch);
	DCK_NEED(s->scratch, err, "for %zu samples", s->n);
	return DCK_OK;
}

static const dck_series *process_series(const dck_record *r, size_t i)
{
	char tag[64];

	snprintf(tag, sizeof tag, "latency/process/%zu", i + 1);
	return dck_record_series(r, tag);
}

/* Estimates the statistic of each process; the interval is then between them. */
static dck_status processes_take(saved_source *s, dck_err *err)
{
	size_t n = 0;

	while (n < PROCESSES_MAX && process_series(s->record, n))
		n++;
	s->process = mem_alloc((n + 1) * sizeof *s->process);
	DCK_NEED(s->process, err, "for %zu processes", n);
	for (size_t i = 0; i < n && !s->failed[0]; i++) {
		stat_estimate e;

		DCK_TRY(runs_take(process_series(s->record, i), s, err));
		DCK_TRY(scratch_take(s, err));
		stat_estimate_one((stat_estimator)s->estimator, s->runs, s->n, 0.95, s->scratch,
				  &e);
		if (e.present)
			s->process[s->nprocesses++] = e.value;
		else
			snprintf(s->failed, sizeof s->failed, "process %zu: %s", i + 1, e.why);
	}
	s->scale =
	    s->estimator == STAT_STDDEV || s->estimator == STAT_CV || s->estimator == STAT_MAD;
	for (size_t i = 0; i < s->nprocesses; i++)
		s->scale &= s->process[i] > 0;
	for (size_t i = 0; s->scale && i < s->nprocesses; i++)
		s->process[i] = log(s->process[i]);
	return DCK_OK;
}

/* Writes the command that made the record, to explain why it lacks a metric. */
static const char *made_by(const dck_record *r, char *text, size_t size)
{
	const dck_fact command = {.value = {.kind = DCK_VALUE_TEXT, .as.text = r->command}};
	char cut[48];

	text[0] = '\0';
	if (r->command)
		snprintf(text, size, " (of '%s')", comparable_value(&command, cut, sizeof cut));
	return text;
}

static dck_status metric_missing(const dck_record *r, const char *name, const char *tag,
				 dck_err *err)
{
	const char *tags[TAGS_MAX];
	char by[64], all[200] = "";
	size_t n = 0;

	for (size_t i = 0; i < r->nmetrics && n < TAGS_MAX; i++)
		if (r->metrics[i].def->better != DCK_BETTER_NEITHER)
			tags[n++] = r->metrics[i].def->tag;
	const char *near = dck_nearest(tag, tags, n);
	if (n == 0)
		DCK_FAIL(err, E_ARG, "'%s'%s has no metric to compare", name,
			 made_by(r, by, sizeof by));
	if (near)
		DCK_FAIL(err, E_ARG, "'%s'%s has no metric '%.80s'; did you mean '%.80s'?", name,
			 made_by(r, by, sizeof by), tag, near);
	for (size_t i = 0; i < n && i < TAGS_NAMED; i++)
		text_add(all, sizeof all, "%s%.40s", i > 0 ? ", " : "", tags[i]);
	DCK_FAIL(err, E_ARG, "'%s'%s has no metric '%.80s'; --metric compares %s%s", name,
		 made_by(r, by, sizeof by), tag, all, n > TAGS_NAMED ? " or another of it" : "");
}

dck_status saved_source_open(const dck_record *r, const char *name, const char *tag,
			     saved_source *ret, dck_err *err)
{
	saved_source s = {.record = r, .estimator = estimator_of(tag)};
	const dck_series *runs = dck_record_series(r, "latency");
	dck_status status = DCK_OK;

	s.metric = dck_record_metric(r, tag);
	if (!s.metric)
		return metric_missing(r, name, tag, err);
	s.def = s.metric->def;
	if (s.estimator >= 0 && runs && runs->n > runs->warmup) {
		s.from = SAVED_RUNS;
		status = runs_take(runs, &s, err);
		DCK_NEXT(status, scratch_take(&s, err));
	} else if (s.estimator >= 0 && process_series(r, 0)) {
		s.from = SAVED_PROCESSES;
		status = processes_take(&s, err);
	}
	if (status != DCK_OK) {
		saved_source_close(&s);
		return status;
	}
	*ret = s;
	return DCK_OK;
}

void saved_source_close(saved_source *s)
{
	mem_free(s->own);
	mem_free(s->scratch);
	mem_free(s->process);
	*s = (saved_source){0};
}

/* --- values */

static void take_estimate(const stat_estimate *e, saved_value *v)
{
	v->known = e->present;
	v->value = e->value;
	v->has_interval = e->present && e->has_interval;
	v->lo = e->lo;
	v->hi = e->hi;
	if (!v->has_interval)
		snprintf(v->why, sizeof v->why, "%s", e->why);
}

/* Recordings differ in times, rates and energies, not in counts. */
static bool differs_by_recording(const saved_source *s)
{
	const dck_unit u = s->def->unit;

	return !comparable_exact(s->def->tag) &&
	       (s->estimator >= 0 ||
		(u != DCK_UNIT_ONE && u != DCK_UNIT_BYTE && u != DCK_UNIT_FLOP));
}

bool saved_source_one_process(const saved_source *s)
{
	if (s->from != SAVED_METRIC)
		return s->from == SAVED_RUNS;
	/* Each trial of 'throughput' is another start; without rounds the best is of one trial. */
	if (strcmp(s->def->tag, "throughput/best") == 0)
		return record_get_int(s->record, "method", "rounds") < 2;
	return differs_by_recording(s) && record_get_int(s->record, "method", "processes") == 1;
}

bool saved_source_means(const saved_source *s)
{
	return s->from == SAVED_PROCESSES && isfinite(dck_value_number(&s->metric->value));
}

/* Returns the quantile that a stored interval was made with: Student's where it is between
 * processes. */
static double quantile_at(const dck_record *r, double level)
{
	const int64_t n = record_get_int(r, "method", "processes");

	return n > 1 ? stat_t_quantile(0.5 + level / 2, (double)(n - 1))
		     : stat_normal_quantile(0.5 + level / 2);
}

/* An interval at another level is the stored one stretched on the logarithm, where intervals of
 * times are symmetric. */
static void take_metric(const saved_source *s, double level, saved_value *v)
{
	const dck_metric *m = s->metric;
	double stretch;

	v->exact = comparable_exact(m->def->tag);
	if (m->value.kind == DCK_VALUE_INT || m->value.kind == DCK_VALUE_REAL) {
		v->known = true;
		v->value = m->value.kind == DCK_VALUE_INT ? (double)m->value.as.i : m->value.as.r;
	} else {
		v->exact = false;
		snprintf(v->why, sizeof v->why, "%s",
			 m->value.kind == DCK_VALUE_ABSENT ? m->value.as.text
							   : "it is not a number");
		return;
	}
	if (v->exact)
		return;
	if (!(m->level > 0)) {
		snprintf(
		    v->why, sizeof v->why,
		    "one number without an interval does not distinguish a change from chance");
		return;
	}
	if (!(m->lo > 0) || !(m->lo <= v->value) || !(v->value <= m->hi) || !isfinite(m->hi)) {
		snprintf(v->why, sizeof v->why, "%s",
			 m->lo <= 0 ? "its interval reaches down to 0"
				    : "its interval does not hold its value");
		return;
	}
	stretch = quantile_at(s->record, level) / quantile_at(s->record, m->level);
	v->has_interval = true;
	v->lo = fabs(level - m->level) < 1e-9 ? m->lo : v->value * pow(m->lo / v->value, stretch);
	v->hi = fabs(level - m->level) < 1e-9 ? m->hi : v->value * pow(m->hi / v->value, stretch);
}

/* The runs of one process do not show how much the next start differs, and starts within seconds do
 * not show what changes within minutes. Variances add, so each of two recordings gets half of the
 * variance between them. */
double saved_source_added(const saved_source *s, double level)
{
	const bool measured = s->from != SAVED_METRIC ||
			      record_get_int(s->record, "method", "processes") > 0 ||
			      strcmp(s->def->tag, "throughput/best") == 0;

	return measured && differs_by_recording(s)
		   ? s->run_to_run / sqrt(2) * stat_normal_quantile((1 + level) / 2) /
			 stat_normal_quantile(0.975)
		   : 0;
}

static void value_widen(const saved_source *s, double level, saved_value *v)
{
	const double own = saved_source_added(s, level);

	if (!v->has_interval || !(own > 0) || !(v->lo > 0))
		return;
	v->lo = v->value * exp(-saved_square_add(log(v->value / v->lo), own, 0));
	v->hi = v->value * exp(saved_square_add(log(v->hi / v->value), own, 0));
}

void saved_source_value(const saved_source *s, double level, saved_value *ret)
{
	saved_value v = {0};
	stat_estimate e = {0};

	switch (s->from) {
	case SAVED_METRIC:
		take_metric(s, level, &v);
		value_widen(s, level, &v);
		break;
	case SAVED_RUNS:
		stat_estimate_one((stat_estimator)s->estimator, s->runs, s->n, level, s->scratch,
				  &e);
		take_estimate(&e, &v);
		/* Not all runs are kept: the extremes of all are in the record. */
		if ((s->estimator == STAT_MIN || s->estimator == STAT_MAX) &&
		    isfinite(dck_value_number(&s->metric->value)))
			v.value = dck_value_number(&s->metric->value);
		value_widen(s, level, &v);
		break;
	case SAVED_PROCESSES:
		if (s->failed[0]) {
			snprintf(v.why, sizeof v.why, "%s", s->failed);
			break;
		}
		stat_processes(s->process, s->nprocesses, level, &e);
		take_estimate(&e, &v);
		if (s->scale) {
			v.value = exp(v.value);
			v.lo = exp(v.lo);
			v.hi = exp(v.hi);
		}
		value_widen(s, level, &v);
		break;
	}
	if (v.known && !isfinite(v.value)) {
		v.known = v.has_interval = false;
		snprintf(v.why, sizeof v.why, "its value is not a finite number");
	}
	*ret = v;
}

dck_cell saved_value_cell(const saved_value *v, double level)
{
	return v->known ? verdict_cell(v->value, v->lo, v->hi, v->has_interval ? level : 0)
			: verdict_cell_absent(v->why);
}
