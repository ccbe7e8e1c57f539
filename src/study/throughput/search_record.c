/* search_record.c - the record of a search for the best batch size: a table of points, series over
 * the batch, the best and the knee with intervals, the answer, and notes on unknown quantities.
 *
 * search_write() is the order: the judgement (search_judge.c); points sorted by setting and batch,
 * without those that an interruption left untried; the Pareto front; FLOPs of each batch,
 * counted once (cost_report), which turn items per second into FLOP/s; then facts, metrics, answer,
 * table, series and notes.
 *
 * No statistic is computed here. A size is called the best only where sizes met in two rounds at
 * least, or the search was not cut short (is_uncompared()); sizes of which none is shown to be
 * better are named together. A failure of the whole search is a note of an incomplete record. Texts
 * are in an arena for the call; notes on failed points are at most ENDS_SHOWN.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/decimal.h"
#include "base/sink.h"
#include "base/units.h"
#include "study/cost_report/model_cost.h"
#include "record/record_begin.h"
#include "record/copy.h"
#include "measure/subject/subject_facts.h"
#include "study/throughput/search_run.h"
#include "os/os.h"
#include <math.h>
#include <string.h>

#define COLUMNS_MAX 12
#define LIST_TEXT   400
/* A mean that is below the median's rate by this share gets a note. */
#define MEAN_SHARE 0.1

typedef struct making {
	const search_run *r;
	record_builder *b;
	search_result result;
	size_t n;      /* points */
	size_t *order; /* [ntried] by setting and batch */
	size_t ntried;
	bool *front;   /* [n] */
	double *flops; /* [n] of one run; NaN: not known */
	const char *flops_why;
	mem_arena *arena;
} making;

static const search_point *search_record_point(const making *m, size_t i)
{
	return search_get(m->r->search, i);
}

/* "batch 32", "batch 32 on 2 threads" */
static const char *point_text(const making *m, size_t i)
{
	const search_point *p = search_record_point(m, i);

	char setting[48] = "";

	search_setting_text(m->r, p->setting, setting, sizeof setting);
	return mem_arena_fmt(m->arena, "batch %llu%s", (unsigned long long)p->batch, setting);
}

/* --- FLOPs */

static double flops_count(making *m, uint64_t batch)
{
	model_cost c = {0};
	dck_subject s;
	double flops = NAN;

	if (m->r->subject->kind == DCK_SUBJECT_FUNCTION) {
		const dck_batches *of = m->r->config->batches;

		return of->flops ? of->flops(of->self, batch) : (double)NAN;
	}
	if (search_subject(m->r, batch, 0, m->arena, &s, NULL) != DCK_OK)
		return NAN;
	if (model_cost_open(&c, &s, NULL, NULL) != DCK_OK) {
		m->flops_why = "the model's operations cannot be counted";
		return NAN;
	}
	if (sym_known(c.cost->flops))
		flops = (double)c.cost->flops.v;
	else
		m->flops_why =
		    "the cost of some operators is unknown ('deepclock cost' lists them)";
	model_cost_close(&c);
	return flops;
}

static void flops_fill(making *m)
{
	m->flops_why = "the model's operations cannot be counted";
	for (size_t i = 0; i < m->n; i++) {
		m->flops[i] = NAN;
		for (size_t k = 0; k < i; k++)
			if (search_record_point(m, k)->batch == search_record_point(m, i)->batch)
				m->flops[i] = m->flops[k];
		if (search_record_point(m, i)->trials > 0 && isnan(m->flops[i]))
			m->flops[i] = flops_count(m, search_record_point(m, i)->batch);
	}
}

/* --- the table */

/* Returns whether the search ended before sizes met in two rounds: which of them gives the most is
 * then not known. */
static bool is_uncompared(const making *m)
{
	return m->result.rounds < 2 && m->n > 1 &&
	       (m->r->interrupted || m->r->out_of_time || m->r->failed);
}

static const char *status_text(const making *m, size_t i)
{
	const search_point *p = search_record_point(m, i);
	if (p->end == SEARCH_MEMORY)
		return "memory";
	if (p->end == SEARCH_ERROR)
		return "error";
	if (m->result.found && i == m->result.best)
		return is_uncompared(m) ? "highest" : "best";
	if (m->result.found && i == m->result.knee)
		return "knee";
	switch (search_holds(m->r->search, i)) {
	case DCK_VERDICT_VIOLATED:
		return "too slow";
	case DCK_VERDICT_INCONCLUSIVE:
		return "not sure";
	case DCK_VERDICT_MET:
		break;
	}
	/* The machine may have been faster or slower then. */
	return m->result.rounds > 0 && search_in_rounds(m->r->search, i) == 0 ? "one trial" : "ok";
}

static void cell_number(making *m, const search_number *x, const char *why)
{
	if (isnan(x->value))
		record_cell_absent(m->b, why);
	else
		record_cell_interval(m->b, x->value, x->lo, x->hi, m->r->plan.level);
}

static bool slo_column(const search_run *r)
{
	return r->plan.limit.ns > 0 && strcmp(r->plan.limit.statistic, "median") != 0;
}

static void search_row(making *m, size_t i)
{
	const search_run *r = m->r;
	const search_point *p = search_record_point(m, i);
	const bool ran = p->trials > 0;
	const char *why = p->end == SEARCH_MEMORY  ? "it needs more memory"
			  : p->end == SEARCH_ERROR ? "it failed"
						   : "not measured";
	const search_number none = {NAN, NAN, NAN};
	const search_number rate = ran ? search_rate(r->search, i) : none;
	const search_number latency = ran ? search_latency(r->search, i) : none;
	const search_number held = ran ? search_held(r->search, i) : none;

	record_cell_int(m->b, (int64_t)p->batch);
	if (r->config->threads)
		record_cell_int(m->b, (int64_t)r->settings[p->setting].threads);
	if (r->config->in_flight)
		record_cell_int(m->b, (int64_t)r->settings[p->setting].in_flight);
	cell_number(m, &rate, why);
	cell_number(m, &latency, why);
	if (slo_column(r))
		cell_number(m,
			    r->plan.limit.kind == LIMIT_MAX ? &(search_number){held.value, NAN, NAN}
							    : &held,
			    ran ? "it needs more runs than there were" : why);
	record_cell_text(m->b, status_text(m, i));
	record_cell(m->b, p->peak_rss_bytes > 0	    ? RECORD_INT((int64_t)p->peak_rss_bytes)
			  : ran			    ? RECORD_ABSENT("the system does not report it")
			  : p->end == SEARCH_MEMORY ? RECORD_ABSENT("it ran out of memory")
						    : RECORD_ABSENT(why));
	record_cell(m->b, ran && !isnan(m->flops[i])
			      ? RECORD_REAL(m->flops[i] * rate.value / (double)p->batch)
			      : RECORD_ABSENT(ran ? m->flops_why : why));
	record_cell_int(m->b, p->trials);
	record_cell_text(m->b, ran && m->front[i] ? "yes" : "no");
}

/* Returns whether a summary shows the row: the ends, the best with the adjacent ones, and the knee.
 * Where the notes of an early end leave little room, the highest is to be among the first rows. */
static bool is_brief(const making *m, size_t k)
{
	if (m->result.found && is_uncompared(m))
		return m->order[k] == m->result.best || k + 1 == m->ntried;
	if (k == 0 || k + 1 == m->ntried)
		return true;
	for (size_t at = k - 1; m->result.found && at <= k + 1; at++)
		if (m->order[at] == m->result.best)
			return true;
	return m->result.found && m->order[k] == m->result.knee;
}

static void search_table(making *m)
{
	dck_column columns[COLUMNS_MAX];
	size_t n = 0;

	columns[n++] = (dck_column){"batch", "batch", DCK_UNIT_ONE};
	if (m->r->config->threads)
		columns[n++] = (dck_column){"threads", "threads", DCK_UNIT_ONE};
	if (m->r->config->in_flight)
		columns[n++] = (dck_column){"in_flight", "in flight", DCK_UNIT_ONE};
	columns[n++] = (dck_column){"throughput", "throughput", DCK_UNIT_ITEM_PER_S};
	columns[n++] = (dck_column){"latency", "median", DCK_UNIT_NS};
	if (slo_column(m->r))
		columns[n++] = (dck_column){"limited", m->r->plan.limit.statistic, DCK_UNIT_NS};
	columns[n++] = (dck_column){"status", "status", DCK_UNIT_NONE};
	columns[n++] = (dck_column){"memory", "memory", DCK_UNIT_BYTE};
	columns[n++] = (dck_column){"flops", "rate", DCK_UNIT_FLOP_PER_S};
	columns[n++] = (dck_column){"trials", "trials", DCK_UNIT_ONE};
	columns[n++] = (dck_column){"pareto", "Pareto", DCK_UNIT_NONE};
	record_table(m->b, "throughput/points", "Throughput by batch", columns, n);
	record_summary_columns(m->b, "threads in_flight throughput latency limited memory status");
	for (size_t k = 0; k < m->ntried; k++) {
		search_row(m, m->order[k]);
		if (is_brief(m, k))
			record_summary_row(m->b);
	}
}

/* --- series: of the best point's setting, or of the first where nothing was found */

static void search_series(making *m)
{
	const unsigned setting =
	    m->result.found ? search_record_point(m, m->result.best)->setting : 0;
	double *v = mem_arena_array(m->arena, 3 * m->n + 1, sizeof *v);
	size_t n = 0;

	if (!v)
		return;
	for (size_t k = 0; k < m->ntried; k++) {
		const size_t i = m->order[k];

		if (search_record_point(m, i)->setting != setting ||
		    search_record_point(m, i)->trials == 0)
			continue;
		v[n] = (double)search_record_point(m, i)->batch;
		v[m->n + n] = search_rate(m->r->search, i).value;
		v[2 * m->n + n] = search_latency(m->r->search, i).value;
		n++;
	}
	record_series(m->b, "batch/by_batch", DCK_UNIT_ONE, NULL, v, n, 0);
	record_series(m->b, "throughput/by_batch", DCK_UNIT_ITEM_PER_S, NULL, v + m->n, n, 0);
	record_series(m->b, "latency/by_batch", DCK_UNIT_NS, NULL, v + 2 * m->n, n, 0);
}

/* --- metrics and facts */

static const char *const limits[] = {
    [SEARCH_BY_TIME] = "time",	   [SEARCH_BY_SATURATION] = "saturation",
    [SEARCH_BY_MEMORY] = "memory", [SEARCH_BY_ERROR] = "error",
    [SEARCH_BY_SLO] = "slo",	   [SEARCH_BY_MAX] = "max-batch",
};

static const char *trial_place(const search_run *r)
{
	return r->subject->kind == DCK_SUBJECT_FUNCTION ? "this process" : "fresh processes";
}

static void search_metrics(making *m)
{
	static const char *const none = "no batch size was found";
	const search_run *r = m->r;

	if (!m->result.found) {
		record_metric_absent(m->b, "throughput/best", none);
		record_metric_absent(m->b, "throughput/best_batch", none);
		record_metric_absent(m->b, "throughput/knee_batch", none);
		return;
	}
	const search_point *best = search_record_point(m, m->result.best);
	const search_number rate = search_rate(r->search, m->result.best);
	const size_t rounds = search_in_rounds(r->search, m->result.best);
	const char *how =
	    rounds > 1
		? mem_arena_fmt(
		      m->arena,
		      "geometric mean of %zu trials in %s, shrunk towards the others that may be the best; error pooled over sizes and rounds",
		      rounds, trial_place(r))
		: "of one trial, with its own interval; another start of the program may be outside";

	record_metric_interval(m->b, "throughput/best", rate.value, rate.lo, rate.hi, r->plan.level,
			       how);
	record_metric_int(m->b, "throughput/best_batch", (int64_t)best->batch,
			  "highest mean over its trials");
	record_metric_int(m->b, "throughput/knee_batch",
			  (int64_t)search_record_point(m, m->result.knee)->batch,
			  "smallest measured batch within 5 % of the best");
}

static const search_setting *best_setting(const making *m)
{
	return &m->r->settings[search_record_point(m, m->result.best)->setting];
}

static void search_record_facts(making *m)
{
	const search_run *r = m->r;
	size_t trials = search_ntrials(r->search);

	if (r->facts)
		record_copy_facts(m->b, r->facts);
	if (r->facts)
		subject_facts_usual_copy(m->b, r->facts);
	record_fact_options(m->b, "plan", dck_throughput_options, r->config);
	record_fact_fmt(m->b, "method", "points",
			"each trial in %s: doubling, then between the best and the adjacent "
			"sizes, then rounds in random order",
			trial_place(r));
	record_fact_text(m->b, "method", "rate",
			 r->median ? "batch over the median latency"
				   : "batch over the mean latency: every pause counts");
	record_fact_text(m->b, "method", "interval",
			 "between trials in rounds: Student's t on logarithms, the error pooled "
			 "over sizes and rounds; of a single trial its own");
	record_fact_text(m->b, "method", "outside_rounds",
			 "a size that is not in the last rounds: the best's rate times their ratio "
			 "in the trials that both have");
	record_fact_text(m->b, "method", "differences",
			 "randomised complete blocks: one round, one block; "
			 "Bonferroni over the sizes compared");
	record_fact_int(m->b, "method", "trials", DCK_UNIT_ONE, (int64_t)trials);
	if (r->config->resume)
		record_fact_int(m->b, "method", "trials_resumed", DCK_UNIT_ONE,
				(int64_t)r->replayed);
	record_fact_int(m->b, "method", "rounds", DCK_UNIT_ONE, m->result.rounds);
	record_fact_real(m->b, "method", "elapsed", DCK_UNIT_NS,
			 (double)(os_now_ns() - r->begin_ns));
	if (r->memory_bytes > 0)
		record_fact_int(m->b, "throughput", "memory_budget", DCK_UNIT_BYTE,
				(int64_t)r->memory_bytes);
	else
		record_fact_absent(m->b, "throughput", "memory_budget",
				   "the system does not report it");
	record_fact(m->b, "throughput", "limited_by", DCK_UNIT_NONE,
		    m->result.found ? RECORD_TEXT(limits[m->result.limit])
				    : RECORD_ABSENT("no batch size was found"));
	if (r->plan.limit.ns > 0 && r->well > 0) {
		record_gate(m->b, m->result.verdict);
		record_fact_text(m->b, "throughput", "verdict",
				 latency_limit_word(m->result.verdict));
	}
	if (m->result.found && r->config->threads)
		record_fact_int(m->b, "throughput", "best_threads", DCK_UNIT_ONE,
				(int64_t)best_setting(m)->threads);
	if (m->result.found && r->config->in_flight)
		record_fact_int(m->b, "throughput", "best_in_flight", DCK_UNIT_ONE,
				(int64_t)best_setting(m)->in_flight);
	if (m->result.rounds > 1 && isfinite(m->result.half))
		record_fact_real(m->b, "throughput", "resolution", DCK_UNIT_ONE,
				 expm1(m->result.half));
	else
		record_fact_absent(m->b, "throughput", "resolution", "nothing was compared");
}

/* Returns the decimals of a rate: three digits of a small one, all before the point of a large
 * one. */
static int search_decimals_of(double rate)
{
	return rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2;
}

/* Names a point; of several settings with what distinguishes them. */
static const char *unresolved_text(const making *m, size_t i)
{
	return m->r->plan.settings > 1
		   ? point_text(m, i)
		   : mem_arena_fmt(m->arena, "%llu",
				   (unsigned long long)search_record_point(m, i)->batch);
}

/* Returns "1, 2 and 4": the best and the ones that may be as good, in the order of the table; at
 * most six. */
static const char *unresolved_list(const making *m)
{
	const search_result *r = &m->result;
	const char *sep = m->r->plan.settings > 1 ? "; " : ", ", *list = "";
	size_t left = r->nunresolved + 1, shown = 0;

	for (size_t k = 0; list && k < m->ntried; k++) {
		bool among = m->order[k] == r->best;

		for (size_t i = 0; i < r->nunresolved; i++)
			among |= m->order[k] == r->unresolved[i];
		if (!among)
			continue;
		left--;
		if (shown++ == 5 && left > 0)
			return mem_arena_fmt(m->arena, "%sand %zu more", list, left + 1);
		list = mem_arena_fmt(m->arena, "%s%s%s", list, unresolved_text(m, m->order[k]),
				     left > 1	 ? sep
				     : left == 1 ? " and "
						 : "");
	}
	return list ? list : "several";
}

/* Returns the smallest batch that ended so; SIZE_MAX: none. */
static size_t end_first(const making *m, search_end end)
{
	for (size_t k = 0; k < m->ntried; k++)
		if (search_record_point(m, m->order[k])->end == end)
			return m->order[k];
	return SIZE_MAX;
}

/* Returns "; batch 104 ran out of memory", or else "; batch 104 failed"; "": all ran. */
static const char *ends_text(const making *m)
{
	const size_t memory = end_first(m, SEARCH_MEMORY), error = end_first(m, SEARCH_ERROR);

	if (memory != SIZE_MAX)
		return mem_arena_fmt(m->arena, "; %s ran out of memory", point_text(m, memory));
	return error != SIZE_MAX ? mem_arena_fmt(m->arena, "; %s failed", point_text(m, error))
				 : "";
}

/* Answers "batch 96 gives the most: 61.9 items/s [57.8, 66.3]; batch 8, the knee, is within 5 % of
 * it; batch 104 ran out of memory". */
static void search_answer(making *m)
{
	const search_result *r = &m->result;
	char value[NUM_TEXT_MAX], lo[NUM_TEXT_MAX], hi[NUM_TEXT_MAX];

	if (!r->found) {
		record_answer(m->b,
			      r->verdict == DCK_VERDICT_VIOLATED ? "no batch size meets %s"
			      : m->r->plan.limit.ns > 0 ? "no batch size was shown to keep to %s"
							: "no batch size was found%s",
			      m->r->plan.limit.text);
		return;
	}
	const search_number rate = search_rate(m->r->search, r->best);
	const int digits = search_decimals_of(rate.value);
	const char *interval = "", *more = "", *ends = ends_text(m);

	if (!isnan(rate.lo) && !isnan(rate.hi))
		interval =
		    mem_arena_fmt(m->arena, " [%s, %s]", decimal_grouped(lo, digits, rate.lo),
				  decimal_grouped(hi, digits, rate.hi));
	if (r->knee != r->best && r->nunresolved == 0)
		more = mem_arena_fmt(m->arena, "; batch %llu, the knee, is within 5 %% of it",
				     (unsigned long long)search_record_point(m, r->knee)->batch);
	decimal_grouped(value, digits, rate.value);
	const char *list = r->nunresolved > 0 ? unresolved_list(m) : "";
	if (r->unsure != SIZE_MAX)
		ends = mem_arena_fmt(m->arena, "; %s may give more, but is not shown to meet %s%s",
				     point_text(m, r->unsure), m->r->plan.limit.text, ends);
	if (mem_arena_failed(m->arena))
		return;
	if (is_uncompared(m))
		record_answer(
		    m->b,
		    "which size gives the most is not known: %zu size%s tried, and the search "
		    "ended before they were compared%s",
		    m->ntried, m->ntried == 1 ? " was" : "s were", ends);
	else if (r->nunresolved > 0)
		record_answer(m->b,
			      "%s %s give the most, with no difference shown between them: %s "
			      "items/s%s at %s%s",
			      m->r->plan.settings > 1 ? "the settings" : "batches", list, value,
			      interval, point_text(m, r->best), ends);
	else
		record_answer(m->b, "%s gives the most: %s items/s%s%s%s", point_text(m, r->best),
			      value, interval, more, ends);
}

/* --- notes */

static void note_unresolved(making *m)
{
	const search_result *r = &m->result;

	record_note(m->b, "throughput-unresolved",
		    "after %u round%s differences between sizes are known to +-%.1f %%", r->rounds,
		    r->rounds == 1 ? "" : "s", 100 * expm1(r->half));
	if (!m->r->interrupted)
		record_remedy(m->b, "give more --%s, or measure on a quieter machine",
			      m->r->out_of_time ? "max-time" : "rounds");
}

/* Notes pauses that half of the runs did not have. */
static void note_mean(making *m)
{
	const double rate = search_rate(m->r->search, m->result.best).value;
	const double mean = search_mean_rate(m->r->search, m->result.best).value;
	char text[NUM_TEXT_MAX];

	if (m->r->median && mean < (1 - MEAN_SHARE) * rate) {
		record_note(m->b, "throughput-mean-lower",
			    "the mean over all runs of %s is %s items/s, %.0f %% less than by the "
			    "median, because pauses are in it",
			    point_text(m, m->result.best),
			    decimal_grouped(text, search_decimals_of(mean), mean),
			    100 * (1 - mean / rate));
		record_remedy(m->b, "search by the mean with --statistic mean");
	}
}

static void note_max(making *m)
{
	if (m->result.verdict == DCK_VERDICT_INCONCLUSIVE)
		record_note(m->b, "slo-inconclusive",
			    "%s is not violated by any run of %s, "
			    "and no number of runs shows that none ever will: limit a percentile, "
			    "such as p99.9",
			    m->r->plan.limit.text, point_text(m, m->result.best));
}

static void notes_best(making *m)
{
	const search_run *r = m->r;

	note_mean(m);
	note_max(m);
	if (m->result.nunresolved > 0)
		note_unresolved(m);
	else if (is_uncompared(m)) {
		record_note(m->b, "throughput-few-trials",
			    "no two complete rounds compare the sizes, the highest is %s, and "
			    "others may be as good",
			    point_text(m, m->result.best));
		if (r->out_of_time)
			record_remedy(m->b, "give more --max-time%s",
				      r->config->resume ? ", or run it again to resume" : "");
	} else if (r->out_of_time)
		record_note(m->b, "throughput-out-of-time",
			    "--max-time was over after %u round%s, before all requested results "
			    "were known",
			    m->result.rounds, m->result.rounds == 1 ? "" : "s");
}

/* The largest number of notes on points that failed. */
#define ENDS_SHOWN 4

static void notes_ends(making *m)
{
	size_t shown = 0;

	for (size_t k = 0; k < m->ntried && shown < ENDS_SHOWN; k++) {
		const size_t i = m->order[k];
		const search_point *p = search_record_point(m, i);

		if (p->end == SEARCH_MEMORY)
			record_note(m->b, "point-memory", "%s ran out of memory: %s",
				    point_text(m, i), p->why);
		else if (p->end == SEARCH_ERROR)
			record_note(m->b, "point-failed", "%s failed: %s", point_text(m, i),
				    p->why);
		shown += p->end != SEARCH_OK;
	}
}

/* By the limited statistic; by the median where neither point has it. */
static bool is_nearer(const search *s, size_t point, size_t than)
{
	const double a = search_held(s, point).value, b = search_held(s, than).value;

	if (isnan(a) && isnan(b))
		return search_latency(s, point).value < search_latency(s, than).value;
	return isnan(b) || a < b;
}

static void note_nothing(making *m)
{
	const search_run *r = m->r;
	size_t nearest = SIZE_MAX;

	if (r->well == 0) {
		record_note(m->b, "no-batch-fits",
			    "no batch size fits into %s: the smallest, %llu, needs more",
			    UNITS_BYTES((double)r->memory_bytes),
			    (unsigned long long)search_record_point(m, m->order[0])->batch);
		return;
	}
	if (!(r->plan.limit.ns > 0))
		return; /* everything that ran failed later: the notes of failures state why */
	for (size_t i = 0; i < m->n; i++)
		if (search_record_point(m, i)->trials > 0 &&
		    (nearest == SIZE_MAX || is_nearer(r->search, i, nearest)))
			nearest = i;
	const double held = search_held(r->search, nearest).value;
	const bool known = !isnan(held);
	const char *text = UNITS_TIME(known ? held : search_latency(r->search, nearest).value);

	if (m->result.verdict == DCK_VERDICT_VIOLATED)
		record_note(
		    m->b, "slo-not-met", "no batch size meets %s: %s comes nearest with %s%s",
		    r->plan.limit.text, point_text(m, nearest), known ? "" : "a median of ", text);
	else {
		record_note(m->b, "slo-inconclusive",
			    "no batch size is shown to keep to %s: %s comes nearest with %s%s",
			    r->plan.limit.text, point_text(m, nearest), known ? "" : "a median of ",
			    text);
		record_remedy(m->b, "a longer --point-time or more --rounds may decide");
	}
}

static void note_trials(making *m)
{
	const search_run *r = m->r;
	char list[LIST_TEXT] = "";

	for (size_t i = 0; i < r->nnotes; i++)
		text_add(list, sizeof list, "%s%s in %zu", i > 0 ? ", " : "", r->notes[i].code,
			 r->notes[i].trials);
	if (*list)
		record_note(m->b, "trials-noted", "of %zu trials some had warnings: %s",
			    r->measured, list);
}

static void search_notes(making *m)
{
	const search_run *r = m->r;

	if (r->rebatched.done)
		subject_facts_rebatched(m->b, &r->rebatched);

	if (r->interrupted) {
		record_set_incomplete(m->b, true);
		record_note(m->b, "interrupted",
			    "interrupted after %zu %s: this is what was measured until then",
			    search_ntrials(r->search),
			    COUNTED(search_ntrials(r->search), "trial", "trials"));
		if (r->journal)
			record_remedy(m->b, "run it again to resume");
	}
	/* Also where there was one size alone, or each failed in its turn. */
	if (r->failed ||
	    (!m->result.found && r->well > 0 && !(r->plan.limit.ns > 0) && !r->interrupted)) {
		const size_t error = end_first(m, SEARCH_ERROR);

		record_set_incomplete(m->b, true);
		record_note(m->b, "engine-failed",
			    "sizes that had run before failed one after the other, so the search "
			    "ended%s%s; this is what was measured until then",
			    error != SIZE_MAX ? ": " : "",
			    error != SIZE_MAX ? search_record_point(m, error)->why : "");
	}
	notes_ends(m); /* the answer names the first of them: why, is what is read next */
	if (m->result.found)
		notes_best(m);
	else if (!r->interrupted || r->well > 0)
		note_nothing(m);
	record_others_put(&r->others, m->b, "throughput", true);
	note_trials(m);
	if (r->journal_failed.code != DCK_OK)
		record_note(m->b, "journal-failed",
			    "the journal could not be written: %s; the search cannot be resumed",
			    r->journal_failed.msg);
}

static dck_status search_write(making *m, dck_err *err)
{
	m->order = mem_arena_array(m->arena, m->n + 1, sizeof *m->order);
	m->front = mem_arena_array(m->arena, m->n + 1, sizeof *m->front);
	m->flops = mem_arena_array(m->arena, m->n + 1, sizeof *m->flops);
	double *scratch = mem_arena_array(m->arena, 2 * m->n + 1, sizeof *scratch);

	DCK_NEED(m->order && m->front && m->flops && scratch, err, "for a record");
	search_judge(m->r->search, &m->result);
	search_order(m->r->search, m->order);
	/* An interruption leaves points that were to be tried. */
	for (size_t k = 0; k < m->n; k++)
		if (search_record_point(m, m->order[k])->trials > 0 ||
		    search_record_point(m, m->order[k])->end != SEARCH_OK)
			m->order[m->ntried++] = m->order[k];
	search_pareto(m->r->search, m->front, scratch);
	flops_fill(m);
	search_record_facts(m);
	search_metrics(m);
	search_answer(m);
	search_table(m);
	search_series(m);
	search_notes(m);
	return DCK_OK;
}

dck_status search_record(const search_run *r, dck_record **ret, dck_err *err)
{
	making m = {.r = r,
		    .n = search_npoints(r->search),
		    .arena = mem_arena_new(0),
		    .b = record_begin(r->config->title)};
	dck_status status;

	if (!m.arena || !m.b)
		status = ERR_NO_MEMORY(err, "for a record");
	else
		status = search_write(&m, err);
	mem_arena_free(m.arena);
	if (status == DCK_OK)
		record_set_began(m.b, os_unix_ns() - (int64_t)(os_now_ns() - r->begin_ns));
	return record_finish_if(status, m.b, ret, err);
}
