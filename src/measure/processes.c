/* processes.c - the same measurement in several fresh processes. A program's start decides much
 * that stays until its end (addresses, memory placement, which core its threads got), so the spread
 * between starts exceeds the interval within one: the interval here is between processes.
 *
 * Each process has one value of a metric. The value of all is their median with order statistics
 * (stat_starts()), so that one slow start does not move it; the latency's mean is the mean of the
 * processes' means with Student's t, at the level that the order statistics reach, so that a record
 * has intervals of one level. A rate is that of the folded latency.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/processes.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/sink.h"
#include "measure/verify/output_compare.h"
#include "record/copy.h"
#include "measure/method.h"
#include "measure/results.h"
#include "measure/runner.h"
#include "measure/session.h"
#include "measure/worker.h"
#include "os/os.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two levels of starts are apart by this ratio. */
#define LEVELS_APART 1.1

typedef struct workers {
	const dck_subject *subject; /* as a process has it */
	const dck_subject *whole;   /* with the hooks that run once for all processes */
	dck_err cleanup;
	const measure_plan *plan;
	dck_plan *each; /* the plan of a process */
	const dck_observer *watch;
	dck_record **records; /* [n] */
	size_t n, wanted;
	bool crashed;		     /* the last one, which left no record */
	uint64_t begin_ns, limit_ns; /* no process begins after that time; 0: no limit */
} workers;

static void processes_progress_show(const workers *w, size_t done)
{
	dck_progress p = progress_fraction("processes", done, w->wanted, os_now_ns() - w->begin_ns);

	if (done > 0)
		p.estimate_ns = dck_record_value(w->records[done - 1], measure_plan_tag(w->plan));
	observer_show(w->watch, &p);
}

static dck_status processes_process_run(workers *w, dck_record **ret, dck_err *err)
{
	dck_subject copy;
	if (w->plan->asked.start)
		return w->plan->asked.start(w->plan->asked.start_self, w->n + 1, ret, err);
	const worker_job job = {.subject =
				    w->n > 0 ? rebatched_trusted(w->subject, &copy) : w->subject,
				.plan = w->each,
				.watch = w->watch,
				.ret_crashed = &w->crashed};

	return worker_record(&job, ret, err);
}

/* Copies the series of each process under a name with its number. */
static void series_copy(record_builder *b, const workers *w)
{
	char tag[96];

	for (size_t k = 0; k < w->n; k++)
		for (size_t i = 0; i < w->records[k]->nseries; i++) {
			const dck_series *s = &w->records[k]->series[i];

			snprintf(tag, sizeof tag, "%s/process/%zu", s->tag, k + 1);
			record_series(b, tag, s->unit, s->at_ns, s->values, s->n, s->warmup);
		}
}

/* How the processes' values of one metric become one. */
typedef enum fold {
	FOLD_MEDIAN,
	FOLD_MEAN,
	FOLD_SCALE,
	FOLD_RATE,
	FOLD_MIN,
	FOLD_MAX,
	FOLD_SUM
} fold;

static fold fold_of(const char *tag)
{
	static const struct {
		const char *tag;
		fold how;
	} special[] = {
	    {"latency/mean", FOLD_MEAN},   {"latency/stddev", FOLD_SCALE},
	    {"latency/cv", FOLD_SCALE},	   {"latency/mad", FOLD_SCALE},
	    {"latency/min", FOLD_MIN},	   {"latency/max", FOLD_MAX},
	    {"runs/count", FOLD_SUM},	   {"runs/warmup", FOLD_SUM},
	    {"memory/peak_rss", FOLD_MAX}, {"throughput/items", FOLD_RATE},
	};

	for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
		if (strcmp(special[i].tag, tag) == 0)
			return special[i].how;
	return FOLD_MEDIAN;
}

/* A measure of spread cannot be below 0, so its mean is taken of its logarithm. */
static void processes_scale_estimate(const workers *w, double *values, double level,
				     stat_estimate *ret)
{
	bool positive = true;

	for (size_t k = 0; k < w->n; k++)
		positive &= values[k] > 0;
	for (size_t k = 0; positive && k < w->n; k++)
		values[k] = log(values[k]);
	stat_processes(values, w->n, level, ret);
	if (positive) {
		ret->value = exp(ret->value);
		ret->lo = exp(ret->lo);
		ret->hi = exp(ret->hi);
		snprintf(ret->how, sizeof ret->how, "geometric mean of %zu processes", w->n);
	}
}

/* Returns the rate: the reciprocal of the median (or of the mean, if each process has one) of the
 * times of an item, with the reciprocal of its interval. */
static void processes_rate_estimate(const workers *w, double *values, double level,
				    stat_estimate *ret)
{
	const char *of = record_get_text(w->records[0], "method", "rate");
	const double asked = w->plan->asked.level;
	stat_estimate e;

	for (size_t k = 0; k < w->n; k++)
		values[k] = 1 / values[k];
	if (of && strcmp(of, "mean") == 0)
		stat_processes(values, w->n, level, &e);
	else
		stat_starts(values, w->n, asked, &e);
	*ret = e;
	ret->value = 1 / e.value;
	ret->has_interval = e.has_interval && e.lo > 0;
	ret->lo = 1 / e.hi;
	ret->hi = 1 / e.lo;
}

static void processes_estimate(const workers *w, double *values, fold how, stat_estimate *ret)
{
	const double asked = w->plan->asked.level, level = stat_starts_level(w->n, asked);

	if (how == FOLD_SCALE)
		processes_scale_estimate(w, values, level, ret);
	else if (how == FOLD_RATE)
		processes_rate_estimate(w, values, level, ret);
	else if (how == FOLD_MEAN)
		stat_processes(values, w->n, level, ret);
	else
		stat_starts(values, w->n, asked, ret);
}

/* One half-width and one decision, here too: those between the processes. */
static void precision_say(record_builder *b, const workers *w, double half_ratio)
{
	const dck_plan *asked = &w->plan->asked;
	char half[32];

	record_fact_real(b, "method", "precision_reached", DCK_UNIT_ONE, half_ratio);
	if (asked->runs == 0 && asked->time_ns == 0 && !(half_ratio <= asked->precision)) {
		record_note(
		    b, "imprecise",
		    "half of the interval between the processes is %s %%, --precision is %g %%",
		    stop_reason_percent(half_ratio, asked->precision, half),
		    100 * asked->precision);
		record_remedy(b, "give more --processes, or accept it");
	}
}

/* Adds a percentile of which the processes have too few runs, of the runs of all. Returns whether
 * there is one. */
static bool percentile_pool(record_builder *b, const workers *w, const char *tag)
{
	static const struct {
		stat_estimator which;
		double p;
	} percentiles[] = {{STAT_P90, 0.9}, {STAT_P95, 0.95}, {STAT_P99, 0.99}, {STAT_P999, 0.999}};
	stat_start *starts;
	stat_estimate e = {0};
	double p = 0, *scratch = NULL;

	for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++)
		if (strcmp(measure_estimator_tag[percentiles[i].which], tag) == 0)
			p = percentiles[i].p;
	if (strcmp(w->plan->percentile, tag) == 0)
		p = w->plan->p;
	if (!(p > 0) || w->n < 2)
		return false;
	starts = mem_zalloc(w->n, sizeof *starts);
	for (size_t k = 0; starts && k < w->n; k++) {
		const dck_series *s = dck_record_series(w->records[k], "latency");

		if (s)
			starts[k] = (stat_start){s->values + s->warmup, s->n - s->warmup};
	}
	if (starts)
		scratch = mem_alloc(stat_starts_scratch(starts, w->n) * sizeof *scratch);
	if (scratch) {
		stat_starts_quantile(p, starts, w->n, w->plan->asked.level, scratch, &e);
		measure_result_estimate(b, tag, &e);
	}
	mem_free(scratch);
	mem_free(starts);
	return scratch != NULL;
}

/* Whether a start has undisturbed runs enough depends on other programs, so those that have are
 * folded alone, unless they are less than half. */
static void undisturbed_fold(record_builder *b, const workers *w, const char *tag, double *values)
{
	const char *why = "not every process has it";
	stat_estimate e;
	size_t n = 0;

	for (size_t k = 0; k < w->n; k++) {
		const dck_metric *m = dck_record_metric(w->records[k], tag);

		values[n] = dck_record_value(w->records[k], tag);
		if (!isnan(values[n]))
			n++;
		else if (m && m->value.kind == DCK_VALUE_ABSENT)
			why = m->value.as.text;
	}
	if (n == 0 || 2 * n < w->n) {
		char text[300];

		snprintf(text, sizeof text, "%zu of %zu starts have it; another: %.180s", n, w->n,
			 why);
		record_metric_absent(b, tag, n == 0 ? why : text);
		return;
	}
	stat_starts(values, n, w->plan->asked.level, &e);
	if (n < w->n)
		text_add(e.how, sizeof e.how, "; of %zu of %zu starts", n, w->n);
	measure_result_estimate(b, tag, &e);
	record_fact_int(b, "samples", "undisturbed_starts", DCK_UNIT_ONE, (int64_t)n);
}

static void metric_fold(record_builder *b, const workers *w, const dck_metric *first,
			double *values)
{
	static const char *const how[] = {
	    [FOLD_MIN] = "least of all processes",
	    [FOLD_MAX] = "greatest of all processes",
	    [FOLD_SUM] = "sum over the processes",
	};
	const char *tag = first->def->tag;
	const fold f = fold_of(tag);
	double extreme = NAN, sum = 0;
	stat_estimate e;

	if (strcmp(tag, "latency/undisturbed") == 0) {
		undisturbed_fold(b, w, tag, values);
		return;
	}
	for (size_t k = 0; k < w->n; k++) {
		values[k] = dck_record_value(w->records[k], tag);
		if (isnan(values[k])) {
			const dck_metric *m = dck_record_metric(w->records[k], tag);

			if (percentile_pool(b, w, tag))
				return;
			record_metric_absent(b, tag,
					     m && m->value.kind == DCK_VALUE_ABSENT
						 ? m->value.as.text
						 : "not every process has it");
			return;
		}
		sum += values[k];
		extreme = f == FOLD_MIN ? fmin(extreme, values[k]) : fmax(extreme, values[k]);
	}
	if (f <= FOLD_RATE) {
		processes_estimate(w, values, f, &e);
		measure_result_estimate(b, tag, &e);
		if (strcmp(tag, measure_plan_tag(w->plan)) == 0 && e.has_interval && e.value > 0)
			precision_say(b, w, (e.hi - e.lo) / 2 / e.value);
	} else {
		double v = f == FOLD_SUM ? sum : extreme;

		if (first->value.kind == DCK_VALUE_INT)
			record_metric_int(b, tag, (int64_t)v, how[f]);
		else
			record_metric_real(b, tag, v, how[f]);
	}
}

/* Notes on the interval of one process, which do not apply to the printed interval between
 * processes. */
static bool is_of_one(const workers *w, const char *code)
{
	if (strcmp(code, "imprecise") == 0)
		return true;
	if (strcmp(code, "too-few-runs") != 0 || w->n < 2)
		return false;
	for (size_t k = 0; k < w->n; k++)
		if (isnan(dck_record_value(w->records[k], measure_plan_tag(w->plan))))
			return false;
	return true;
}

/* Each code once, with how many processes it concerned. */
static void notes_fold(record_builder *b, const workers *w)
{
	for (size_t k = 0; k < w->n; k++)
		for (size_t i = 0; i < w->records[k]->nnotes; i++) {
			const dck_note *note = &w->records[k]->notes[i];
			size_t earlier = 0, all = 0;

			if (is_of_one(w, note->code))
				continue;

			for (size_t other = 0; other < w->n; other++)
				if (dck_record_note(w->records[other], note->code)) {
					all++;
					earlier += other < k;
				}
			if (earlier == 0 && dck_record_note(w->records[k], note->code) == note)
				record_note_of(b, note, "in %zu of %zu processes: ", all, w->n);
		}
	for (size_t k = 0; k < w->n; k++)
		record_copy_under(b, w->records[k]);
}

/* What is known of a start that could make it slow, the least difference that could matter, and
 * what it means. */
static const struct {
	const char *section, *key, *name;
	double least;
	const char *meaning;
} slow_properties[] = {
    {"process", "core_latency", "core-to-core latency", 50,
     ": the system moved the processors, and each parallel part of a run waits for it several "
     "times; --threads 1 does not"},
    {"process", "huge_pages", "memory in huge pages", 2 << 20, ""},
    {"samples", "minor_faults_per_run", "page faults a run", 1, ""},
    {"samples", "involuntary_switches_per_run", "involuntary switches a run", 0.1, ""},
    {"samples", "others_cpu", "processors that other programs used", 0.1, ""},
    {"samples", "steal", "steal by the hypervisor", 0.01, ""},
};

static void starts_property_text(double value, dck_unit unit, char *to, size_t size)
{
	if (unit == DCK_UNIT_BYTE)
		dck_text_bytes(value, to, size);
	else if (unit == DCK_UNIT_NS)
		dck_text_time(value, to, size);
	else
		mem_print(to, size, "%.3g", value);
}

/* Writes property i of each start into x, NAN where it is not known, and returns its unit. */
static dck_unit starts_property_get(const workers *w, size_t i, double *x)
{
	dck_unit unit = DCK_UNIT_ONE;

	for (size_t k = 0; k < w->n; k++) {
		const dck_fact *f = dck_record_fact(w->records[k], slow_properties[i].section,
						    slow_properties[i].key);

		x[k] = f ? dck_value_number(&f->value) : NAN;
		unit = f ? f->unit : unit;
	}
	return unit;
}

/* The result is the median start, and so are these properties. */
static void properties_fold(record_builder *b, const workers *w, double *x)
{
	for (size_t i = 0; i < sizeof slow_properties / sizeof slow_properties[0]; i++) {
		const dck_unit unit = starts_property_get(w, i, x);
		size_t n = 0;

		for (size_t k = 0; k < w->n; k++)
			if (!isnan(x[k]))
				x[n++] = x[k];
		if (n > 0)
			record_fact_real(b, slow_properties[i].section, slow_properties[i].key,
					 unit, stat_median(x, n, x + w->n));
	}
}

/* Appends each property in which the starts with values above `limit` differ from all others. */
static size_t starts_properties_put(const workers *w, const double *values, double limit,
				    double *scratch, char *text, size_t size)
{
	double *const x = scratch;
	stat_starts_property p;
	size_t n = 0;

	for (size_t i = 0; i < sizeof slow_properties / sizeof slow_properties[0]; i++) {
		const dck_unit unit = starts_property_get(w, i, x);
		char slow[32], others[32];

		if (!stat_starts_differ(x, values, w->n, limit, slow_properties[i].least,
					scratch + w->n, &p) ||
		    n + 120 + strlen(slow_properties[i].meaning) > size)
			continue;
		starts_property_text(p.slow, unit, slow, sizeof slow);
		starts_property_text(p.others, unit, others, sizeof others);
		n += (size_t)snprintf(text + n, size - n, "%s%s %s, of the others %s%s",
				      n == 0 ? "; there " : ", ", slow_properties[i].name, slow,
				      others, slow_properties[i].meaning);
	}
	return n;
}

/* Reports two levels of the starts, which the largest gap between their values separates, if
 * something is known that distinguishes them. Returns whether it is. */
static bool levels_note(record_builder *b, const workers *w, const double *values, double *scratch)
{
	double *const sorted = scratch;
	double gap = LEVELS_APART, limit, ratio;
	char text[480];
	size_t fast = 0;

	memcpy(sorted, values, w->n * sizeof *sorted);
	stat_sort(sorted, w->n);
	for (size_t i = 1; i < w->n; i++)
		if (sorted[i] > gap * sorted[i - 1]) {
			gap = sorted[i] / sorted[i - 1];
			fast = i;
		}
	if (fast == 0)
		return false;
	limit = (sorted[fast - 1] + sorted[fast]) / 2;
	ratio = stat_quantile_sorted(sorted + fast, w->n - fast, 0.5) /
		stat_quantile_sorted(sorted, fast, 0.5);
	/* The fewer differ from the others: with the signs changed the fast ones are above. */
	const bool few_fast = 2 * fast < w->n;

	for (size_t k = 0; k < w->n; k++)
		sorted[k] = few_fast ? -values[k] : values[k];
	if (starts_properties_put(w, sorted, few_fast ? -limit : limit, scratch + w->n, text,
				  sizeof text) == 0)
		return false;
	record_note(b, "start-levels", "%zu of %zu starts took %.2f times as long as the others%s",
		    few_fast ? fast : w->n - fast, w->n, few_fast ? 1 / ratio : ratio, text);
	return true;
}

/* Writes what distinguishes the slow starts, those above `limit`, from all others. */
static void slow_cause(const workers *w, const double *values, double limit, double *scratch,
		       char *text, size_t size)
{
	size_t n = 0, first = 0, undisturbed = 0, slow = 0, notes = 0;

	for (size_t k = w->n; k-- > 0;)
		if (values[k] > limit) {
			first = k;
			slow++;
			undisturbed +=
			    dck_record_value(w->records[k], "latency/undisturbed") <= limit;
		}
	if (undisturbed == slow) {
		snprintf(text, size, "; without the waits for a processor as long as the others");
		return;
	}
	n = starts_properties_put(w, values, limit, scratch, text, size);
	for (size_t i = 0; i < w->records[first]->nnotes && n + 40 < size; i++) {
		const char *code = w->records[first]->notes[i].code;
		size_t k = 0;

		while (k < w->n &&
		       (values[k] > limit) == (dck_record_note(w->records[k], code) != NULL))
			k++;
		if (k == w->n)
			n += (size_t)snprintf(text + n, size - n, "%s%.30s",
					      notes++ == 0 ? "; only there: " : ", ", code);
	}
	if (n == 0)
		snprintf(text, size, "; the cause is not known");
}

/* Reports starts that took much longer than the others. */
static bool slow_note(record_builder *b, const workers *w, double *values)
{
	stat_slow_starts slow;
	char cause[480];

	stat_starts_slow(values, w->n, values + w->n, &slow);
	if (slow.n == 0)
		return false;
	slow_cause(w, values, slow.above, values + w->n, cause, sizeof cause);
	record_note(b, "slow-start",
		    "%zu of %zu starts took %.1f times as long as the median of all%s", slow.n,
		    w->n, slow.ratio, cause);
	return true;
}

/* Adds the variation between starts, next to the interval within one start. */
static void spread_note(record_builder *b, const workers *w, double *values)
{
	const char *tag = measure_plan_tag(w->plan);
	double within = 0, low = INFINITY, high = -INFINITY, sum = 0;

	for (size_t k = 0; k < w->n; k++) {
		const dck_metric *m = dck_record_metric(w->records[k], tag);

		values[k] = dck_record_value(w->records[k], tag);
		if (isnan(values[k]) || !m || !(m->level > 0))
			return;
		low = fmin(low, values[k]);
		high = fmax(high, values[k]);
		sum += values[k];
		within += (m->hi - m->lo) / 2;
	}
	sum /= (double)w->n;
	within /= (double)w->n;
	record_fact_real(b, "method", "spread_between_processes", DCK_UNIT_ONE, (high - low) / sum);
	record_fact_real(b, "method", "precision_within_process", DCK_UNIT_ONE, within / sum);
	if (slow_note(b, w, values) || levels_note(b, w, values, values + w->n))
		return;
	if (high - low > 4 * within)
		record_note(
		    b, "start-to-start",
		    "starts differ by %.1f %% while each alone claims +-%.1f %%: a start decides where memory is placed (addresses, huge pages), and its cores and the programs next to it; the interval between starts includes that, one from one process does not",
		    100 * (high - low) / sum, 100 * within / sum);
}

/* Sums the numbers of runs of all processes. */
static void counts_sum(record_builder *b, const workers *w)
{
	static const char *const keys[] = {"undisturbed", "undisturbed_of"};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		double sum = 0;
		size_t n = 0;

		for (size_t k = 0; k < w->n; k++) {
			const dck_fact *f = dck_record_fact(w->records[k], "samples", keys[i]);

			if (f) {
				sum += dck_value_number(&f->value);
				n++;
			}
		}
		if (n > 0)
			record_fact_int(b, "samples", keys[i], DCK_UNIT_ONE, (int64_t)sum);
	}
}

/* Returns whether the time is over before the next process. */
static bool processes_late(const workers *w)
{
	return w->limit_ns > 0 && w->n < w->wanted && os_now_ns() - w->begin_ns > w->limit_ns;
}

static void processes_stop_put(record_builder *b, const workers *w, dck_status failed)
{
	const dck_record *last = w->records[w->n - 1];
	const char *stop = record_get_text(last, "method", "stop");
	const unsigned long long wanted = w->wanted;

	if (failed == DCK_E_CANCEL)
		record_fact_text(b, "method", "stop", "interrupted");
	else if (failed != DCK_OK)
		record_fact_fmt(b, "method", "stop", "process %zu of %llu failed", w->n + 1,
				wanted);
	else if (last->incomplete)
		record_fact_fmt(b, "method", "stop", "process %zu of %llu: %s", w->n, wanted,
				stop ? stop : "incomplete");
	else
		record_fact_text(b, "method", "stop",
				 processes_late(w) ? "max-time: no time was left for more processes"
						   : "processes: each stopped by its own rule");
}

static dck_status processes_combine(const workers *w, const dck_err *failure, dck_status failed,
				    dck_record **ret, dck_err *err)
{
	const dck_record *first = w->records[0];
	double *values = mem_alloc(6 * w->n * sizeof *values); /* and scratch */
	record_builder *b = record_begin(w->plan->asked.title);
	dck_plan asked = w->plan->asked;
	bool incomplete = failed != DCK_OK;

	if (!values || !b) {
		mem_free(values);
		record_drop(b);
		return ERR_NO_MEMORY(err, "to combine %zu processes", w->n);
	}
	record_set_began(b, first->began_unix_ns);
	/* The facts of the first process represent all, except those of the method and those that
	 * differ between starts. */
	record_copy_facts(b, first);
	counts_sum(b, w);
	properties_fold(b, w, values);
	asked.statistic = measure_plan_statistic(w->plan); /* p50 is the median */
	record_fact_options(b, "plan", dck_plan_options, &asked);
	record_fact_int(b, "plan", "processes", DCK_UNIT_ONE, (int64_t)w->wanted);
	record_fact_int(b, "method", "processes", DCK_UNIT_ONE, (int64_t)w->n);
	record_fact_fmt(b, "method", "interval",
			"between %zu fresh processes: the median of their values with order "
			"statistics; means and spreads with Student's t",
			w->n);
	processes_stop_put(b, w, failed);
	record_fact_absent(b, "method", "precision_reached",
			   "one process has no interval between processes");
	method_address_layout(b, w->plan);
	for (size_t i = 0; i < first->nmetrics; i++) {
		const dck_metric *m = &first->metrics[i];

		metric_fold(b, w, m, values);
		record_metric_unit(b, m->def->tag, m->def->unit);
	}
	series_copy(b, w);
	spread_note(b, w, values);
	notes_fold(b, w);
	for (size_t k = 0; k < w->n; k++)
		incomplete |= w->records[k]->incomplete;
	record_set_incomplete(b, incomplete);
	if (failed == DCK_E_CANCEL && !dck_record_note(w->records[w->n - 1], "interrupted"))
		record_note(
		    b, "interrupted",
		    "interrupted in process %zu of %llu: this is what was measured until then",
		    w->n + 1, (unsigned long long)w->wanted);
	else if (failed != DCK_OK && failed != DCK_E_CANCEL)
		record_note(b, "engine-failed",
			    "process %zu of %llu failed: %s; this is what was measured until then",
			    w->n + 1, (unsigned long long)w->wanted, failure->msg);
	if (w->plan->asked.check_outputs && !incomplete)
		output_compare_check(b, w->subject, NULL, w->watch);
	mem_free(values);
	subject_hooks_facts(b, w->whole);
	subject_hooks_note(b, &w->cleanup);
	measure_notes_show(w->watch, b);
	return record_finish(b, ret, err);
}

/* Gives the next process its part of what is left of the time, less what starting took so far. */
static void process_time_plan(workers *w)
{
	const double elapsed_ns = (double)(os_now_ns() - w->begin_ns),
		     whole_ns = (double)w->plan->whole_ns, most_ns = whole_ns / (double)w->wanted;
	double starting_ns = elapsed_ns, left_ns;

	for (size_t k = 0; k < w->n; k++)
		starting_ns -= dck_record_value(w->records[k], "time/measured");
	if (!(whole_ns > 0) || isnan(starting_ns))
		return;
	left_ns = (whole_ns - elapsed_ns) / (double)(w->wanted - w->n);
	if (w->n > 0)
		left_ns -= starting_ns / (double)w->n;
	w->each->max_time_ns = measure_plan_left((uint64_t)most_ns, fmax(0, most_ns - left_ns));
}

/* Drops the last process if it ended in its warm-up, whose runs are not those that the others
 * measured. Returns why it ended. */
static dck_status processes_unmeasured_drop(workers *w, dck_err *why)
{
	dck_record *last = w->records[w->n - 1];
	char text[480];

	if (w->n < 2 || dck_record_value(last, "runs/count") > 0)
		return DCK_OK;
	worker_incomplete_text(last, text, sizeof text);
	const dck_status status = dck_record_note(last, "interrupted")
				      ? ERR_SET(why, E_CANCEL, "interrupted")
				      : ERR_SET(why, E_ENGINE, "%s", text);
	dck_record_free(last);
	w->records[--w->n] = NULL;
	return status;
}

/* Runs the processes that are missing. Returns why the next one failed, if it did. */
static dck_status processes_missing_run(workers *w, dck_err *why)
{
	dck_status failed = DCK_OK;

	while (w->n < w->wanted && failed == DCK_OK && !processes_late(w)) {
		processes_progress_show(w, w->n);
		process_time_plan(w);
		failed = observer_cancelled(w->watch)
			     ? ERR_SET(why, E_CANCEL, "interrupted")
			     : processes_process_run(w, &w->records[w->n], why);
		if (failed == DCK_OK && w->records[w->n++]->incomplete)
			return processes_unmeasured_drop(w, why);
	}
	return failed;
}

/* Makes one record of all, and frees theirs. */
static dck_status processes_end(workers *w, dck_status failed, const dck_err *why, dck_record **ret,
				dck_err *err)
{
	dck_status status;

	subject_hooks_end(&w->whole, 1, &w->cleanup);
	status =
	    w->n == 0 ? err_pass(failed, why, err) : processes_combine(w, why, failed, ret, err);
	for (size_t k = 0; k < w->n; k++)
		dck_record_free(w->records[k]);
	return status;
}

/* Runs the processes that are missing and makes one record of all. */
static dck_status processes_run(workers *w, dck_record **ret, dck_err *err)
{
	dck_err why = {0};
	const dck_status failed = processes_missing_run(w, &why);

	return processes_end(w, failed, &why, ret, err);
}

static dck_status processes_all_run(const dck_subject *s, const measure_plan *plan,
				    const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_subject bare;
	dck_plan each = plan->asked;
	workers w = {.subject = &bare,
		     .whole = s,
		     .plan = plan,
		     .each = &each,
		     .watch = watch,
		     .wanted = plan->asked.processes,
		     .begin_ns = os_now_ns()};
	dck_status status;

	if (plan->shared) {
		measure_plan_share(&each, (unsigned)w.wanted, 0);
		w.limit_ns = plan->asked.max_time_ns + plan->asked.max_time_ns / 2;
	}
	w.records = mem_zalloc(w.wanted, sizeof(dck_record *));
	DCK_NEED(w.records, err, "for %zu processes", w.wanted);
	status = subject_hooks_begin(&s, 1, watch, &bare, err);
	DCK_NEXT(status, processes_run(&w, ret, err));
	mem_free(w.records);
	return status;
}

dck_status measure_run_processes(const dck_subject *s, const measure_plan *plan,
				 const dck_observer *watch, dck_record **ret, dck_err *err)
{
	measure_plan own = *plan;
	const char *why = NULL;
	dck_status status;
	mem_arena *a;

	if (s->kind == DCK_SUBJECT_FUNCTION && !plan->asked.start)
		DCK_FAIL(err, E_UNSUP,
			 "a function in memory is of one process, as no other one has it "
			 "(deepclock.bench(f, processes=N) of a script in Python starts the "
			 "script again)");
	if (plan->asked.start)
		return processes_all_run(s, plan, watch, ret, err);
	a = mem_arena_new(0);
	DCK_NEED(a, err, "to find the deepclock program");
	if (!own.asked.program)
		own.asked.program = worker_program_find(a, &why);
	status = own.asked.program ? processes_all_run(s, &own, watch, ret, err)
				   : ERR_SET(err, E_UNSUP, "%s", why ? why : "no memory");
	mem_arena_free(a);
	return status;
}

/* --- several starts by default */

/* Returns why the plan applies to one process; NULL: it does not. An exactly requested number of
 * runs or time does, and so do percentiles, which need all runs, a limit of the warm-up, which
 * several processes share, and what other processes cannot have. */
static const char *starts_obstacle(const dck_subject *s, const measure_plan *plan)
{
	const dck_plan *p = &plan->asked;
	dck_plan plain;

	dck_plan_init(&plain);
	if (p->runs > 0 || p->time_ns > 0)
		return "--runs and --time are of one process";
	if (plan->statistic != STAT_MEDIAN && plan->statistic != STAT_MEAN)
		return "a --statistic other than median and mean is of one process";
	if (p->max_warmup_ns != plain.max_warmup_ns)
		return "--max-warmup is of one process";
	if (p->trace)
		return "a trace is of one process";
	return worker_obstacle(s, p->clock);
}

/* Returns the time of the first start until its warm-up. */
static uint64_t start_open_ns(const dck_record *first, const measure_plan *plan)
{
	const double share = record_get_real(first, "method", "starting_share"),
		     all = share * (double)plan->asked.max_time_ns / MEASURE_STARTS,
		     open = all - dck_record_value(first, "time/warmup");

	return open > 0 ? (uint64_t)open : 0;
}

/* Measures in this process alone: a device may serve one at a time. */
static dck_status starts_one_run(const dck_subject *s, const measure_plan *plan, const char *why,
				 uint64_t elapsed_ns, const dck_observer *watch, dck_record **ret,
				 dck_err *err)
{
	measure_plan own = *plan;

	own.asked.processes = 1;
	own.one_start = "another start failed";
	own.start_failed = why;
	if (own.whole_ns > 0)
		own.whole_ns = measure_plan_left(own.whole_ns, (double)elapsed_ns);
	return measure_run_here(s, &own, watch, ret, err);
}

/* Runs a plan that may take several processes. */
static dck_status starts_run(const dck_subject *s, const measure_plan *plan,
			     const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_record *records[MEASURE_STARTS] = {NULL};
	measure_plan first = *plan;
	dck_plan each = plan->asked;
	workers w = {.subject = s,
		     .whole = s,
		     .plan = plan,
		     .each = &each,
		     .watch = watch,
		     .records = records,
		     .wanted = MEASURE_STARTS,
		     .begin_ns = os_now_ns(),
		     .limit_ns = plan->asked.max_time_ns + plan->asked.max_time_ns / 2};

	first.asked.processes = 1;
	first.starts = MEASURE_STARTS;
	DCK_TRY(measure_run_here(s, &first, watch, &records[0], err));
	const double share = record_get_real(records[0], "method", "starting_share");

	if (records[0]->incomplete || !(share <= MEASURE_STARTING_SHARE)) {
		*ret = records[0];
		return DCK_OK;
	}
	w.n = 1;
	measure_plan_share(&each, MEASURE_STARTS, start_open_ns(records[0], plan));
	dck_err why = {0};
	const dck_status failed = processes_missing_run(&w, &why);

	if (w.n > 1 || failed == DCK_OK || failed == DCK_E_CANCEL || w.crashed)
		return processes_end(&w, failed, &why, ret, err);
	/* The caller asked for no second process. */
	dck_record_free(records[0]);
	return starts_one_run(s, plan, why.msg, os_now_ns() - w.begin_ns, watch, ret, err);
}

/* With a fixed address layout this process, which has one already, is none of the starts. Their
 * share of the time is fixed too, as none decides before the others begin. */
static dck_status starts_pinned_run(const dck_subject *s, const measure_plan *plan,
				    const dck_observer *watch, dck_record **ret, dck_err *err)
{
	const char *why = starts_obstacle(s, plan);
	measure_plan own = *plan;

	if (why)
		DCK_FAIL(err, E_ARG,
			 "--pin-start is of processes that are started, and %s: give --processes 2 "
			 "or more",
			 why);
	own.asked.processes = MEASURE_STARTS;
	own.shared = true;
	return measure_run_processes(s, &own, watch, ret, err);
}

dck_status measure_run_starts(const dck_subject *s, const measure_plan *plan,
			      const dck_observer *watch, dck_record **ret, dck_err *err)
{
	measure_plan own = *plan;
	mem_arena *a;
	dck_status status;

	own.whole_ns = s->kind == DCK_SUBJECT_MODEL ? measure_plan_whole(&plan->asked) : 0;
	if (plan->asked.pin_start && s->kind == DCK_SUBJECT_MODEL)
		return starts_pinned_run(s, &own, watch, ret, err);
	if (s->kind == DCK_SUBJECT_MODEL)
		own.one_start = starts_obstacle(s, plan);
	if (s->kind != DCK_SUBJECT_MODEL || own.one_start) {
		own.asked.processes = 1;
		return measure_run_here(s, &own, watch, ret, err);
	}
	a = mem_arena_new(0);
	DCK_NEED(a, err, "to find the deepclock program");
	if (!own.asked.program)
		own.asked.program = worker_program_find(a, &own.one_start);
	if (own.asked.program) {
		status = starts_run(s, &own, watch, ret, err);
	} else {
		own.asked.processes = 1;
		status = measure_run_here(s, &own, watch, ret, err);
	}
	mem_arena_free(a);
	return status;
}
