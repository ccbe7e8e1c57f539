/* results.c - the results of a measurement as metrics, series and facts of a record.
 *
 * An estimate that the sample does not support is absent with its reason; one without an interval
 * has its value alone. Estimates are computed once per series, by stat_estimate_all().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/results.h"
#include "base/units.h"
#include "os/os.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *measure_result_text(const stat_estimate *e, char buf[96])
{
	char value[32];

	dck_text_time(e->value, value, sizeof value);
	if (e->has_interval)
		snprintf(buf, 96, "%s [%s, %s]", value, UNITS_TIME(e->lo), UNITS_TIME(e->hi));
	else
		snprintf(buf, 96, "%s", value);
	return buf;
}

void measure_result_estimate(record_builder *b, const char *tag, const stat_estimate *e)
{
	char how[sizeof e->why + 16];

	if (!e->present)
		record_metric_absent(b, tag, e->why);
	else if (e->has_interval) /* no time, memory or spread is below 0, even if a formula gives
				     it */
		record_metric_interval(b, tag, e->value, fmax(0, e->lo), e->hi, e->level, e->how);
	else if (e->how[0])
		record_metric_real(b, tag, e->value, e->how);
	else {
		snprintf(how, sizeof how, "no interval: %s", e->why);
		record_metric_real(b, tag, e->value, how);
	}
	record_metric_narrow(b, tag, stat_undercoverage_text(e->narrow));
}

void measure_result_estimates(const measure_samples *s, double level, double *scratch,
			      stat_estimate *ret)
{
	stat_estimate_all(s->value, s->n, level, scratch, ret);
	if (s->pushed == 0)
		return;
	ret[STAT_MIN].value = s->min;
	ret[STAT_MAX].value = s->max;
}

/* Adds the rate: by the median if that is the requested statistic, else by the mean. */
static void results_throughput(record_builder *b, const measure_phases *p,
			       const stat_estimate *estimates)
{
	const char *tag = "throughput/items";
	const double items = (double)p->loop.target->items;
	const bool median = p->plan.statistic == STAT_MEDIAN;
	const stat_estimate *e = &estimates[median ? STAT_MEDIAN : STAT_MEAN];
	const char *how = median ? "items of a run over the median latency"
				 : "items of a run over the mean latency";

	record_fact_text(b, "method", "rate", median ? "median" : "mean");
	if (!e->present || p->latency.n == 0)
		record_metric_absent(b, tag, e->why);
	else if (!(items > 0))
		record_metric_absent(b, tag, "a run has no items: axis 0 of the first input is 0");
	else if (p->loop.idle_ns > 0)
		record_metric_absent(b, tag, "there were pauses between the runs (--idle)");
	else if (!(e->value > 0))
		record_metric_absent(b, tag, "the runs took no time that the clock can see");
	else if (e->has_interval && e->lo > 0)
		record_metric_interval(b, tag, items * 1e9 / e->value, items * 1e9 / e->hi,
				       items * 1e9 / e->lo, e->level, how);
	else
		record_metric_real(b, tag, items * 1e9 / e->value, how);
	record_metric_narrow(b, tag, stat_undercoverage_text(e->narrow));
	record_metric_unit(b, tag, subject_rate_unit(p->loop.target));
}

/* The kernel divides the CPU time of a process by what its ticks met, of 1 to 10 ms; without a tick
 * in the kernel all is user time (Linux, cputime_adjust()). */
#define SPLIT_NS_LEAST 1e8

static void cpu(record_builder *b, const measure_phases *p)
{
	const bool command = p->loop.target->engine.ops->caps & DCK_CAP_COMMAND;
	stat_estimate e;

	stat_estimate_one(STAT_MEAN, p->cpu.value, p->cpu.n, p->plan.asked.level, p->scratch, &e);
	if (e.present && e.value > 0 && p->measured_runs > 0) {
		/* Slices hold unlike numbers of runs: the mean is over runs, its relative width
		 * that of the slices. */
		const double scale = p->sinks.cpu_ns / (double)p->measured_runs / e.value;

		e.value *= scale;
		e.lo *= scale;
		e.hi *= scale;
	}
	if (e.present)
		snprintf(e.how, sizeof e.how, "user and system time of %s, mean per run",
			 command ? "the command" : "all threads of the process");
	measure_result_estimate(b, "cpu/time", &e);
	record_metric_if(p->sinks.wall_ns > 0, b, "cpu/ratio",
			 RECORD_REAL(p->sinks.cpu_ns / p->sinks.wall_ns),
			 "CPU time over wall time: the number of busy cores, spinning included",
			 "no measured run");
	const bool has_split = !e.present || e.value >= SPLIT_NS_LEAST;

	for (int i = 0; command && i < 2; i++) {
		const measure_samples *s = i == 0 ? &p->user : &p->system;
		const char *tag = i == 0 ? "cpu/user" : "cpu/system";

		stat_estimate_one(STAT_MEAN, s->value, s->n, p->plan.asked.level, p->scratch, &e);
		if (has_split)
			measure_result_estimate(b, tag, &e);
		else
			record_metric_absent(
			    b, tag,
			    "the kernel divides CPU time by its ticks, of which a "
			    "run of less than 100 ms has too few; cpu/time is exact");
	}
}

/* A phase that did not happen is absent and not 0. */
static void phase(record_builder *b, const char *tag, uint64_t ns, bool there, const char *why)
{
	record_metric_if(there, b, tag, RECORD_INT((int64_t)ns), "wall time", why);
}

void measure_result_phases(record_builder *b, const measure_phases *p)
{
	const subject_target *t = p->loop.target;
	const bool inputs = !(t->engine.ops->caps & DCK_CAP_NO_TENSORS);

	phase(b, "time/library", t->library_ns, t->library_ns > 0, "the engine loads no library");
	phase(b, "time/session", t->session_ns, t->engine.ops != &subject_function_engine,
	      "there is nothing to open");
	phase(b, "time/inputs", t->inputs_ns, inputs, "there are no inputs");
	phase(b, "time/first_run", p->first_run_ns, p->has_first_run, "there was no warm-up");
	phase(b, "time/warmup", p->warmup_ns, p->has_first_run, "there was no warm-up");
}

void measure_result_memory(record_builder *b, const subject_target *t, uint64_t command_bytes)
{
	os_usage usage;

	if (t->engine.ops->caps & DCK_CAP_COMMAND) {
		record_metric_if(command_bytes > 0, b, "memory/peak_rss",
				 RECORD_INT((int64_t)command_bytes),
				 "the greatest of the command's runs",
				 "no run needed more than deepclock itself did, and the kernel "
				 "counts that in");
		return;
	}
	os_usage_get(&usage);
	record_metric_if(usage.peak_rss_bytes > 0, b, "memory/peak_rss",
			 RECORD_INT((int64_t)usage.peak_rss_bytes),
			 "of the whole process since it started", "the system does not report it");
}

/* Warm-up and measurement as one series, in order. */
static void results_series(record_builder *b, const measure_phases *p)
{
	const measure_samples *w = &p->warm, *m = &p->latency;
	uint64_t *at;
	double *value;

	if (record_series_room(b, "latency", DCK_UNIT_NS, w->n + m->n, w->n, &value, &at)) {
		memcpy(value, w->value, w->n * sizeof *value);
		memcpy(value + w->n, m->value, m->n * sizeof *value);
		memcpy(at, w->at_ns, w->n * sizeof *at);
		memcpy(at + w->n, m->at_ns, m->n * sizeof *at);
	}
	record_series(b, "cpu", DCK_UNIT_NS, p->cpu.at_ns, p->cpu.value, p->cpu.n, 0);
}

/* Adds the warm-up runs of a measurement that ended in its warm-up, without an interval, because
 * the steady state was not reached. */
static void warmup_estimates(const measure_phases *p, stat_estimate *estimates)
{
	char how[sizeof estimates->how];

	measure_result_estimates(&p->warm, p->plan.asked.level, p->scratch, estimates);
	for (int i = 0; i < STAT_ESTIMATORS; i++) {
		stat_estimate *e = &estimates[i];

		e->has_interval = false;
		snprintf(how, sizeof how, "of %llu warm-up runs, before the steady state",
			 (unsigned long long)p->loop.runs);
		memcpy(e->how, how, sizeof how);
		if (e->present)
			snprintf(e->why, sizeof e->why, "only warm-up runs were timed");
	}
}

/* Writes "means of 6 runs" for "runs": what a sample of several runs is. */
static void runs_are_grouped(char *text, size_t size, uint64_t group)
{
	char before[256];
	const char *at;

	snprintf(before, sizeof before, "%s", text);
	at = strstr(before, " runs");
	if (at)
		snprintf(text, size, "%.*s means of %llu%s", (int)(at - before), before,
			 (unsigned long long)group, at);
}

void measure_results(record_builder *b, measure_phases *p, stat_estimate *estimates)
{
	measure_result_estimates(&p->latency, p->plan.asked.level, p->scratch, estimates);
	if (p->latency.n == 0 && p->warm.n > 0)
		warmup_estimates(p, estimates);
	for (int i = 0; i < STAT_ESTIMATORS && p->loop.group > 1; i++) {
		runs_are_grouped(estimates[i].how, sizeof estimates->how, p->loop.group);
		runs_are_grouped(estimates[i].why, sizeof estimates->why, p->loop.group);
	}
	for (int i = 0; i < STAT_ESTIMATORS; i++)
		measure_result_estimate(b, measure_estimator_tag[i], &estimates[i]);
	if (p->plan.statistic == STAT_ESTIMATORS) {
		measure_plan_estimate(&p->plan, p->latency.value, p->latency.n, p->scratch,
				      &estimates[STAT_ESTIMATORS]);
		measure_result_estimate(b, measure_plan_tag(&p->plan), &estimates[STAT_ESTIMATORS]);
	}
	results_throughput(b, p, estimates);
	record_metric_int(b, "runs/count", (int64_t)p->measured_runs, "measured runs");
	record_metric_int(b, "runs/warmup",
			  (int64_t)(p->measured_runs > 0 ? p->warmup_runs : p->loop.runs),
			  "runs before, the first one included");
	cpu(b, p);
	measure_result_phases(b, p);
	phase(b, "time/measured", p->measured_ns, p->measured_runs > 0, "no measured run");
	measure_result_memory(b, p->loop.target, p->sinks.peak_rss_bytes);
	results_series(b, p);
}
