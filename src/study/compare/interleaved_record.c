/* interleaved_record.c - the record of a live comparison: ratios with intervals, verdicts, the cost
 * of a start, the series of the rounds, the method and the notes.
 *
 * The ratio of an alternative is the median of its rounds' paired ratios, with the sign-test
 * interval on which it was judged, and not the ratio of the two printed medians: where these differ
 * by more than VERDICT_TIMES_DIFFER a note states which one counts. Results are logarithms; here
 * they become ratios by exp() and differences by expm1(). Where runs differ in items, times become
 * items per second, and the ends of an interval of differences change places.
 *
 * interleaved_record() is the order. It also serves a comparison that ended early: without a whole
 * round there are only facts and notes, after a failure the record is incomplete.
 * interleaved_over.c and interleaved_rank.c use the parts that interleaved.h declares. Lists of
 * names are in an arena for the call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/interleaved.h"
#include "base/decimal.h"
#include "base/mem.h"
#include "base/sink.h"
#include "measure/worker.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void interleaved_how_make(const interleaved *v, const interleaved_result *x, char *buf,
				 size_t size)
{
	const char *of = v->asked->undisturbed ? " of undisturbed runs" : "";

	if (!x->has_interval)
		snprintf(buf, size, "median of %zu paired ratios%s", x->judged, of);
	else if (x->tau > 1)
		mem_print(
		    buf, size,
		    "median of %zu paired ratios%s, sign-test interval (%s), widened for what "
		    "rounds may depend on each other (tau %.1f)",
		    x->judged, of, v->asked->rounds > 0 ? "one look" : "sequential", x->tau);
	else
		snprintf(buf, size, "median of %zu paired ratios%s, exact sign-test interval (%s)",
			 x->judged, of, v->asked->rounds > 0 ? "one look" : "sequential");
}

static const dck_metric_def *interleaved_items_metric(void)
{
	size_t n;
	const dck_metric_def *defs = dck_metric_defs(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(defs[i].tag, ITEMS_METRIC) == 0)
			return &defs[i];
	return NULL;
}

/* Returns a time as the record states it: of a run, or as items per second. */
static double interleaved_value_of(double ns, bool per_item)
{
	return per_item ? 1e9 / ns : ns;
}

verdict_outcome interleaved_outcome(const interleaved_result *x, bool per_item, const char *name,
				    const char *label, double base_ns, double level)
{
	const double own = x->has_interval ? level : 0,
		     base = interleaved_value_of(base_ns, per_item);
	/* Less time of an item is more items. */
	const double sign = per_item ? -1 : 1;
	const double lo = per_item ? -x->hi : x->lo, hi = per_item ? -x->lo : x->hi;

	return (verdict_outcome){
	    .name = name,
	    .label = label,
	    .value = verdict_cell(interleaved_value_of(x->time_ns, per_item), 0, 0, 0),
	    .ratio = verdict_cell(exp(x->median), exp(x->lo), exp(x->hi), own),
	    .difference = verdict_cell(base * expm1(sign * x->median), base * expm1(lo),
				       base * expm1(hi), own),
	    .verdict = x->verdict,
	    .gate = x->gate,
	};
}

static void interleaved_metric_resolution(record_builder *b, const interleaved_result *first,
					  const interleaved_rounds *self)
{
	if (self && self->results[1].has_interval)
		record_metric_real(b, "compare/resolution", interleaved_floor(self),
				   "farthest end of the interval of the first subject over itself");
	else if (first->has_interval)
		record_metric_real(b, "compare/resolution", expm1((first->hi - first->lo) / 2),
				   "half the width of the ratio's interval; --aa measures it");
	else
		record_metric_absent(b, "compare/resolution",
				     "too few rounds for an interval at this level");
}

/* --- tables */

static void table_alternatives(record_builder *b, const interleaved *v, const interleaved_rounds *r,
			       const interleaved_rounds *self, const verdict_outcome *all)
{
	const dck_metric_def *rate = r->per_item ? interleaved_items_metric() : NULL;
	const dck_column time = {
	    "time",
	    v->asked->undisturbed ? "undisturbed" : dck_compare_statistics[v->asked->statistic],
	    DCK_UNIT_NS};
	const dck_column value = rate ? (dck_column){"value", rate->name, rate->unit} : time;
	char name[200];

	verdict_table(b, "Compared, trial by trial", &value, VERSUS_RATIO_TITLE);
	verdict_row_base(
	    b, interleaved_label(r, 0),
	    verdict_cell(interleaved_value_of(r->results[0].time_ns, r->per_item), 0, 0, 0),
	    "the others are compared with it", "baseline");
	snprintf(name, sizeof name, "%s, with itself", interleaved_label(r, 0));
	if (self) {
		/* The time of the A/A comparison is that of a run. */
		const double items = r->per_item ? (double)r->candidates[0].items : 1;
		interleaved_result of = self->results[1];

		of.time_ns /= items;
		const verdict_outcome own =
		    interleaved_outcome(&of, r->per_item, name, name,
					self->results[0].time_ns / items, v->asked->level);
		verdict_row(b, &own, rate);
	}
	for (size_t i = 0; i + 1 < r->n; i++)
		verdict_row(b, &all[i], rate);
}

/* The ratios, verdicts and the answer, and the table of them. */
static void interleaved_outcomes_put(record_builder *b, const interleaved *v,
				     const interleaved_rounds *r, const interleaved_rounds *self)
{
	verdict_outcome all[DCK_ALTERNATIVES_MAX];
	const size_t n = r->n - 1;

	for (size_t i = 0; i < n; i++) {
		const interleaved_result *x = &r->results[i + 1];

		all[i] = interleaved_outcome(x, r->per_item, r->candidates[i + 1].what->name,
					     interleaved_label(r, i + 1), r->results[0].time_ns,
					     v->asked->level);
		interleaved_how_make(v, x, all[i].how, sizeof all[i].how);
	}
	verdict_metrics(b, all, n);
	interleaved_metric_resolution(b, &r->results[1], self);
	verdict_facts(b, all, n, !v->asked->no_gate);
	verdict_answer(b, interleaved_label(r, 0), all, n, r->margin,
		       r->per_item ? interleaved_items_metric() : NULL,
		       interleaved_where(&r->place));
	table_alternatives(b, v, r, self, all);
}

/* Writes after how many runs a faster subject has paid back its slower start. */
static void cell_payback(record_builder *b, double extra_ns, double gain_ns)
{
	if (!(gain_ns > 0))
		record_cell_absent(b, "its runs are not faster than the first one's");
	else if (extra_ns <= 0)
		record_cell_int(b, 0);
	else
		record_cell_int(b, (int64_t)fmin(9e15, ceil(extra_ns / gain_ns)));
}

static void table_startup(record_builder *b, const interleaved_rounds *r, bool fresh)
{
	static const dck_column columns[] = {
	    {"subject", "subject", DCK_UNIT_NONE},
	    {"session", "session", DCK_UNIT_NS},
	    {"first_run", "first run", DCK_UNIT_NS},
	    {"cached_run", "cached run", DCK_UNIT_NS},
	    {"first_over_cached", "first / cached", DCK_UNIT_ONE},
	    {"payback_runs", "pays back after", DCK_UNIT_ONE},
	    {"peak_memory", "peak memory", DCK_UNIT_BYTE}, /* of fresh processes */
	};
	double begin[DCK_ALTERNATIVES_MAX];

	for (size_t i = 0; i < r->n; i++)
		if (r->candidates[i].nopened == 0 ||
		    r->candidates[i].what->subject->kind == DCK_SUBJECT_COMMAND)
			return;
	record_table(b, "compare/startup", "Until the first result", columns,
		     sizeof columns / sizeof columns[0] - (fresh ? 0 : 1));
	for (size_t i = 0; i < r->n; i++) {
		const interleaved_candidate *l = &r->candidates[i];
		const double items = r->per_item ? (double)l->items : 1;
		const double run_ns = items * r->results[i].time_ns;

		begin[i] = l->session_median_ns + l->first_median_ns - run_ns;
		record_cell_text(b, interleaved_label(r, i));
		record_cell_real(b, l->session_median_ns);
		record_cell_real(b, l->first_median_ns);
		record_cell_real(b, run_ns);
		record_cell_real(b, l->first_median_ns / run_ns);
		if (i == 0)
			record_cell_absent(b, "the others are compared with it");
		else
			cell_payback(b, begin[i] - begin[0],
				     items * r->results[0].time_ns - run_ns);
		if (fresh && l->peak_bytes > 0)
			record_cell_int(b, (int64_t)l->peak_bytes);
		else if (fresh)
			record_cell_absent(b, "it was not measured");
	}
}

void interleaved_series(record_builder *b, const interleaved_rounds *r)
{
	char tag[160];

	for (size_t i = 0; i < r->n; i++) {
		snprintf(tag, sizeof tag, "compare/rounds/%s", r->candidates[i].what->name);
		record_series(b, tag, DCK_UNIT_NS, NULL, r->results[i].trial_ns,
			      r->results[i].rounds, 0);
	}
}

/* --- notes */

/* Where no round counts, or too few for an interval, because of disturbances. */
static bool note_disturbed(record_builder *b, const interleaved_rounds *r)
{
	if (r->none[0] && r->disturbed == 0) {
		record_note(b, "undecided",
			    "undecided, since it is not known which runs are undisturbed: %s",
			    r->none);
		record_remedy(b, "compare without --undisturbed");
	} else if (r->none[0]) {
		record_note(b, "undecided", "undecided: %s", r->none);
		record_remedy(b, VERDICT_UNDISTURBED_REMEDY);
	} else if (r->disturbed > 0 && !r->results[1].has_interval) {
		record_note(b, "undecided",
			    "undecided: in %zu of %zu rounds had every subject a run in which no "
			    "thread waited for a processor, too few for an interval at this "
			    "level",
			    r->done, interleaved_rounds_made(r));
		record_remedy(b, VERDICT_UNDISTURBED_REMEDY);
	} else
		return false;
	return true;
}

void interleaved_note_undecided(record_builder *b, const interleaved_result *x, const char *label,
				double margin, const char *unit)
{
	const double times =
	    x->has_interval ? verdict_more(exp(x->median), exp(x->lo), exp(x->hi), margin, 0) : NAN;

	if (!x->has_interval) {
		record_note(b, "undecided", "%s: %zu %s%s too few for an interval at this level",
			    label, x->rounds, unit, x->rounds == 1 ? " is" : "s are");
		record_remedy(b, "give more --max-time or --rounds");
	} else if (isnan(times)) {
		record_note(b, "undecided",
			    "%s: the difference is at the margin of %s itself, which no number of "
			    "%ss decides",
			    label, PERCENT_TEXT(3, margin), unit);
		record_remedy(b, "choose another --margin");
	} else if (isinf(times)) {
		record_note(
		    b, "undecided",
		    "%s: undecided after %zu %ss, more than %d times as many would be needed",
		    label, x->rounds, unit, VERDICT_MORE_MAX);
		record_remedy(b,
			      "measure longer trials or on a quieter machine, or raise --margin");
	} else {
		record_note(b, "undecided",
			    "%s: undecided after %zu %ss, about %.0f more %ss would decide", label,
			    x->rounds, unit, ceil(fmax(1, (times - 1) * (double)x->rounds)), unit);
		record_remedy(b, "raise --max-time and --max-rounds, or --margin");
	}
}

/* One note for all candidates, because they have one cause, the machine, and one consequence. */
static void note_not_steady(record_builder *b, const interleaved_rounds *r)
{
	mem_arena *a = mem_arena_new(0);
	const char *names = "";
	size_t n = 0;

	for (size_t i = 0; a && i < r->n && names; i++)
		if (!r->candidates[i].steady)
			names = mem_arena_fmt(a, "%s%s'%s'", names, n++ > 0 ? ", " : "",
					      interleaved_label(r, i));
	if (n > 0 && names)
		record_note_as(b, DCK_INFO, "not-steady",
			       "%s had not reached a steady state before the first round; "
			       "interleaved trials spread a drift over all subjects equally",
			       names);
	mem_arena_free(a);
}

/* The printed times are medians over all rounds, the ratio that decides is the median of the
 * rounds' ratios. If the speed of the machine changed from round to round, a reader who divides
 * the times gets a different number, so the record states which one counts. */
static void note_times_differ(record_builder *b, const interleaved_rounds *r, size_t base)
{
	mem_arena *a = mem_arena_new(0);
	const char *list = "";
	size_t n = 0;

	for (size_t i = 0; a && i < r->n && list; i++) {
		const interleaved_result *x = &r->results[i];
		const double ratio = x->time_ns / r->results[base].time_ns;

		if (i == base || !x->has_interval ||
		    !(fabs(log(ratio) - x->median) > VERDICT_TIMES_DIFFER))
			continue;
		if (n++ < 2)
			list = mem_arena_fmt(a, "%s%s%.3g for %s (paired: %.3g)", list,
					     n > 1 ? ", " : "", ratio, interleaved_label(r, i),
					     exp(x->median));
	}
	if (n > 0 && list)
		record_note(b, "ratio-of-times",
			    "the %s alone give the ratio %s%s: the speed of the machine "
			    "changed between the rounds; the paired ratio decides, because it "
			    "compares trials of the same round",
			    r->per_item ? "times of an item" : "printed times", list,
			    n > 2 ? " and others" : "");
	mem_arena_free(a);
}

static void note_candidate_undecided(record_builder *b, const interleaved_rounds *r, size_t i)
{
	const interleaved_result *x = &r->results[i];
	const double size = expm1(fabs(x->median));
	const bool outside = size > r->margin;

	if (!x->has_interval || !outside || size > r->floor) {
		interleaved_note_undecided(b, x, interleaved_label(r, i),
					   outside ? fmax(r->margin, r->floor) : r->margin,
					   "round");
		return;
	}
	record_note(b, "undecided",
		    "%s: undecided after %zu rounds: the difference is above the margin and %s",
		    interleaved_label(r, i), x->rounds,
		    isinf(r->floor) ? "the A/A comparison had too few rounds to know the noise"
				    : "within the A/A noise");
	record_remedy(b, isinf(r->floor) ? "give more --max-time"
					 : "measure longer trials or on a quieter machine, or "
					   "raise --margin");
}

void interleaved_notes(record_builder *b, interleaved *v, const interleaved_rounds *r)
{
	const bool disturbed = note_disturbed(b, r);

	for (size_t i = 1; i < r->n && r->done > 0 && !v->asked->ranking && !disturbed; i++)
		if (r->results[i].verdict == VERDICT_UNDECIDED)
			note_candidate_undecided(b, r, i);
	if (r->floor > r->margin && !isinf(r->floor))
		record_note(b, "aa-resolution",
			    "the A/A noise is %s today, above the margin of %s: no verdict claims "
			    "a smaller difference",
			    PERCENT_TEXT(3, r->floor), PERCENT_TEXT(3, r->margin));
	if (r->done > 0)
		note_times_differ(b, r, v->asked->ranking ? r->fastest : 0);
	if (!v->asked->fresh && r->done > 0)
		note_not_steady(b, r);
	record_others_put(&v->others, b, "samples", v->models);
	record_others_left_put(&v->others, b);
	measure_context_notes(&v->shared, b);
	if (r->failed == DCK_OK)
		return;
	record_set_incomplete(b, true);
	if (r->failed == DCK_E_CANCEL)
		record_note(b, "interrupted",
			    "interrupted in round %zu: this is what was measured until then",
			    interleaved_rounds_made(r) + 1);
	else
		record_note(b, "engine-failed",
			    "round %zu failed: %s; this is what was measured until then",
			    interleaved_rounds_made(r) + 1, r->why.msg);
}

/* --- facts */

const char *interleaved_where(const trial_place *p)
{
	return p->models && !p->starts ? ", in one process" : "";
}

/* Where the trials were, and what decided it. */
static void facts_place(record_builder *b, const interleaved *v, const trial_place *p)
{
	record_fact_text(b, "method", "trial",
			 v->asked->fresh ? "a fresh process"
			 : v->programs	 ? "one run of the program"
			 : p->starts	 ? "in a process that is started for the subject and round"
					 : "in this process");
	record_fact_text(b, "method", "sessions",
			 v->asked->fresh ? "each trial has its own process"
			 : v->programs	 ? "each run starts the program"
			 : p->starts  ? "opened in fresh processes for every round, in random order"
			 : p->reopens ? "opened again for every round, in random order"
				      : "opened once");
	if (p->why[0])
		record_fact_absent(b, "method", "starting_share", p->why);
	else if (p->reopens)
		record_fact_real(b, "method", "starting_share", DCK_UNIT_ONE, p->starting_share);
}

/* Records the options of each subject, as one would type them. */
void interleaved_facts_options(record_builder *b, const interleaved_rounds *r)
{
	const char *argv[128];
	char text[1024], key[160];

	for (size_t i = 0; i < r->n; i++) {
		mem_arena *a = mem_arena_new(0);
		const dck_subject *s = r->candidates[i].what->subject;
		size_t n = 0;

		text[0] = '\0';
		if (a &&
		    worker_words(a, dck_model_options, &s->model, argv, 128, &n, NULL) == DCK_OK &&
		    worker_words(a, dck_hook_options, &s->command, argv, 128, &n, NULL) == DCK_OK)
			for (size_t k = 0; k < n; k++)
				text_add(text, sizeof text, "%s%s", k > 0 ? " " : "", argv[k]);
		snprintf(key, sizeof key, "subject/%s", r->candidates[i].what->name);
		record_fact_fmt(b, "compare", key, "%s%s%s", s->text ? s->text : "a program",
				text[0] ? " " : "", text);
		mem_arena_free(a);
	}
}

void interleaved_facts_method(record_builder *b, const interleaved *v, const trial_place *p,
			      const interleaved_rounds *r)
{
	const dck_compare_config *c = v->asked;

	record_fact_real(b, c->ranking ? "plan" : "compare", c->ranking ? "precision" : "margin",
			 DCK_UNIT_ONE, c->margin);
	record_fact_text(b, "method", "clock", v->shared.clock.name);
	record_fact_text(b, "method", "compare",
			 "paired: blocks of one trial of each subject in random order, "
			 "every second block in reverse");
	facts_place(b, v, p);
	if (!v->programs)
		record_fact_int(b, "method", "trial_time", DCK_UNIT_NS, (int64_t)c->trial_ns);
	record_fact_text(b, "method", "statistic",
			 c->undisturbed ? "median of undisturbed runs"
					: dck_compare_statistics[c->statistic]);
	if (c->undisturbed)
		record_fact_text(b, "compare", "metric", UNDISTURBED_METRIC);
	record_fact_text(b, "method", "interval",
			 c->rounds > 0
			     ? "exact sign test on the rounds' ratios, one look"
			     : "exact sign test on the rounds' ratios, "
			       "repeated looks, O'Brien and Fleming's spending of the error");
	record_fact_real(b, "method", "level", DCK_UNIT_ONE, c->level);
	record_fact_int(b, "method", "order_seed", DCK_UNIT_ONE, (int64_t)c->seed);
	if (!r)
		return;
	if (r->per_item)
		record_fact_text(b, "compare", "metric", ITEMS_METRIC);
	if (c->ranking)
		record_fact_text(b, "method", "several", "Bonferroni's procedure over all pairs");
	else if (r->n > 2)
		record_fact_text(b, "method", "several", "Holm's procedure over the alternatives");
	record_fact_int(b, "method", "rounds", DCK_UNIT_ONE, (int64_t)r->done);
	if (c->undisturbed)
		record_fact_int(b, "method", "rounds_disturbed", DCK_UNIT_ONE,
				(int64_t)r->disturbed);
	record_fact_int(b, "method", "rounds_planned", DCK_UNIT_ONE, (int64_t)r->planned);
	record_fact_int(b, "method", "looks", DCK_UNIT_ONE, (int64_t)r->looks);
	record_fact_int(b, "method", "trials_per_round", DCK_UNIT_ONE, (int64_t)r->blocks);
	record_fact_text(b, "method", "stop",
			 r->failed != DCK_OK ? "it failed or was interrupted"
			 : r->none[0]	     ? "no round has undisturbed runs of all subjects"
			 : r->stopped && interleaved_rounds_made(r) < r->planned
			     ? "max-time passed before all was decided"
			 : c->rounds > 0 ? "rounds: as requested"
			 : r->done < r->planned
			     ? c->ranking ? "precision: all ratios have the requested precision"
					  : "all is decided"
			     : "all planned rounds were made");
}

static void facts_self(record_builder *b, const interleaved_rounds *self)
{
	const interleaved_result *x = &self->results[1];

	record_fact_real(b, "compare", "aa_ratio", DCK_UNIT_ONE, exp(x->median));
	if (x->has_interval) {
		record_fact_real(b, "compare", "aa_lo", DCK_UNIT_ONE, exp(x->lo));
		record_fact_real(b, "compare", "aa_hi", DCK_UNIT_ONE, exp(x->hi));
	}
	record_fact_text(b, "compare", "aa_verdict", verdict_texts[x->verdict]);
	record_fact_int(b, "compare", "aa_rounds", DCK_UNIT_ONE, (int64_t)self->done);
}

void interleaved_record(record_builder *b, interleaved *v, const interleaved_rounds *r,
			const interleaved_rounds *self)
{
	interleaved_facts_options(b, r);
	interleaved_facts_method(b, v, &r->place, r);
	if (self && self->done > 0)
		facts_self(b, self);
	if (r->done == 0) {
		record_metric_absent(b, "compare/ratio",
				     r->none[0] ? r->none
						: "it ended while the first subject was compared "
						  "with itself");
		record_fact_text(b, "compare", "verdict", verdict_texts[VERDICT_UNDECIDED]);
		record_answer(b, "undecided: %s", r->none[0] ? r->none : "it ended early");
		if (!v->asked->no_gate)
			verdict_gate(b, DCK_VERDICT_INCONCLUSIVE);
		interleaved_notes(b, v, r);
		return;
	}
	interleaved_outcomes_put(b, v, r, self);
	table_startup(b, r, v->asked->fresh);
	interleaved_series(b, r);
	interleaved_notes(b, v, r);
}
