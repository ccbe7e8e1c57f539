/* pitfalls.c - dck_pitfalls(): an honest measurement, then known mistakes of benchmarking made on
 * purpose, each as a paired comparison with the honest session.
 *
 * dck_bench() makes the honest record, to which everything is added. Then a session is opened and
 * kept warm; TWINS more that are opened the same way give the resolution (an A/A test); each chosen
 * row of pitfall_rows[] is measured, a row that fails has its reason; the record has the rows
 * sorted by harm.
 *
 * A row does harm if its interval excludes 1 and its factor is outside both the margin and the
 * resolution; inside the resolution it is not resolved. Else it does none if its interval is within
 * CLEAR of 1, or within the margin. All else is not resolved either: a wide interval does not prove
 * a mistake harmless. After an interruption the completed rows remain. All rows use the scratch of
 * the `pitfall`, in the caller's thread; only the busy loops of pitfalls_other.c are separate
 * threads. At most ROWS_MAX rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/pitfalls/pitfall.h"
#include "deepclock/unstable.h"
#include "base/commas.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "base/mem.h"
#include "record/record_begin.h"
#include "record/copy.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS_MAX 64
/* The honest measurement may take this multiple of a row's time. */
#define REFERENCE_TIME 5
#define KEEP	       8192
/* Further sessions of the subject, with which the honest one is compared. */
#define TWINS 2
/* "No harm" needs an interval within this share of 1. */
#define CLEAR 0.1

const dck_opt dck_pitfalls_options[] = {
    DCK_OPTION(TIME, dck_pitfalls_config, time_ns, "time", "TIME", "1s",
	       "approximate time of each mistake; long runs take longer", .min = 1e6, .max = 1e13),
    DCK_OPTION(SHARE, dck_pitfalls_config, margin, "margin", "SHARE", "1%",
	       "a number that is off by no more does no harm", .max = 10),
    DCK_OPTION(SHARE, dck_pitfalls_config, level, "level", "SHARE", "95%",
	       "confidence level of every interval", .min = 0.5, .max = 0.9999),
    DCK_OPTION(TEXT, dck_pitfalls_config, only, "only", "KEY,...", NULL,
	       "make only these mistakes (--list names them)"),
    DCK_OPTION(TEXT, dck_pitfalls_config, skip, "skip", "KEY,...", NULL,
	       "leave these mistakes out"),
    {0},
};

void dck_pitfalls_config_init_sized(dck_pitfalls_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_pitfalls_options);
}

/* --- which mistakes */

typedef struct chosen {
	const pitfall_row *row;
	bool measured;
	pitfall_finding found;
	char why_not[sizeof((dck_err *)0)->msg]; /* "": it was measured, or not reached */
} chosen;

static dck_status list_check(const char *option, const char *list, dck_err *err)
{
	const char *keys[ROWS_MAX];
	char key[64];
	size_t n = 0;

	while (pitfall_rows[n].says.key) {
		keys[n] = pitfall_rows[n].says.key;
		n++;
	}
	for (commas_item item; commas_next(&list, &item);) {
		bool known = false;

		commas_word(&item, key, sizeof key);
		for (size_t i = 0; i < n; i++)
			known |= strcmp(key, keys[i]) == 0;
		if (known)
			continue;
		const char *nearest = dck_nearest(key, keys, n);
		DCK_FAIL(err, E_ARG, "--%s names '%s', which is not a mistake known here%s%s%s",
			 option, key, nearest ? ": did you mean '" : " (--list shows all)",
			 nearest ? nearest : "", nearest ? "'?" : "");
	}
	return DCK_OK;
}

static dck_status rows_choose(const dck_pitfalls_config *c, chosen *rows, size_t *ret_n,
			      dck_err *err)
{
	size_t n = 0;

	DCK_TRY(list_check("only", c->only, err));
	DCK_TRY(list_check("skip", c->skip, err));
	for (const pitfall_row *r = pitfall_rows; r->says.key; r++) {
		const bool in = !c->only || commas_have(c->only, r->says.key);

		assert(n < ROWS_MAX);
		if (in && !commas_have(c->skip, r->says.key))
			rows[n++] = (chosen){.row = r};
	}
	if (n == 0)
		DCK_FAIL(err, E_ARG, "--only and --skip leave no mistake to make");
	*ret_n = n;
	return DCK_OK;
}

/* --- the honest session */

static void plan_fill(dck_plan *plan, const dck_pitfalls_config *c)
{
	const uint64_t most = REFERENCE_TIME * c->time_ns;

	dck_plan_init(plan);
	plan->level = c->level;
	plan->max_time_ns = most < plan->max_time_ns ? most : plan->max_time_ns;
	plan->min_time_ns = c->time_ns < plan->min_time_ns ? c->time_ns : plan->min_time_ns;
	plan->keep = KEEP;
	plan->processes = 1; /* to which what is done wrong in this one is compared */
	plan->clock = c->clock;
	plan->title = c->title;
}

static dck_status pitfalls_session_open(pitfall *p, dck_err *err)
{
	const size_t scratch = stat_scratch(PIT_SINGLES_MAX) + PIT_SINGLES_MAX;

	p->scratch = mem_alloc(scratch * sizeof *p->scratch);
	p->single_ns = mem_alloc(PIT_SINGLES_MAX * sizeof *p->single_ns);
	p->openings = mem_alloc(PIT_OPENINGS_MAX * sizeof *p->openings);
	DCK_NEED(p->scratch && p->single_ns && p->openings, err, "for the runs of mistakes");
	DCK_TRY(measure_session_open(&p->session, &p->shared, p->subject, &p->plan, p->shared.watch,
				     err));
	return measure_session_warm(&p->session, err);
}

static void session_close(pitfall *p)
{
	measure_session_close(&p->session);
	mem_free(p->scratch);
	mem_free(p->single_ns);
	mem_free(p->openings);
}

/* Measures how far the honest session is from others that were opened the same way, by the trials
 * of every mistake: memory addresses make sessions differ, too. */
static dck_status resolution_measure(pitfall *p, record_builder *b, dck_err *err)
{
	pitfall_pairs all = {0};

	for (size_t i = 0; i < TWINS; i++) {
		pitfall_pairs self;
		measure_session twin;
		dck_status status;

		DCK_TRY(pitfall_candidate_open(p, &twin, p->subject, 0, err));
		status = pitfall_pair(p, pitfall_honest(p),
				      (pitfall_trial){pitfall_trial_loop, &twin.phases.loop}, &self,
				      err);
		measure_session_close(&twin);
		DCK_TRY(status);
		p->resolution = fmax(p->resolution, expm1(fabs(log(self.factor))));
		DCK_TRY(pitfall_pairs_add(p, &all, &self, err));
	}
	if (all.has_interval)
		p->resolution =
		    fmax(p->resolution, expm1(fmax(fabs(log(all.lo)), fabs(log(all.hi)))));
	record_metric_real(b, "pitfalls/resolution", p->resolution, "against its own twins");
	record_fact_fmt(
	    b, "pitfalls", "resolution_from",
	    "%zu pairs of trials, with %d more sessions of the same: the farther end of their interval, or the farther session",
	    all.n, TWINS);
	return DCK_OK;
}

/* --- the rows */

static dck_status rows_measure(pitfall *p, chosen *rows, size_t n, dck_err *err)
{
	p->nrows = n;
	p->rows_begin_ns = measure_context_now(&p->shared);
	for (p->row = 0; p->row < n; p->row++) {
		chosen *c = &rows[p->row];
		pitfall_finding found = {.number_ns = NAN, .factor = NAN};
		dck_err why = {0};
		dck_status status;

		p->made = c->row;
		p->phase = c->row->says.key;
		pitfall_show(p, 0);
		status = c->row->measure(p, &found, &why);
		if (status == DCK_E_CANCEL || measure_loop_cancelled(&p->session.phases.loop))
			DCK_FAIL(err, E_CANCEL, "interrupted");
		c->measured = status == DCK_OK;
		if (c->measured)
			c->found = found;
		else
			snprintf(c->why_not, sizeof c->why_not, "%s", why.msg);
	}
	return DCK_OK;
}

/* --- verdicts */

typedef enum verdict_kind { HARM, OPEN, HARMLESS, NOT_MEASURED } verdict_kind;

static bool within(double low, double high, double share)
{
	return low >= 1 / (1 + share) && high <= 1 + share;
}

/* Harm: the interval excludes 1, and sessions of the same subject differ by less. No harm: it holds
 * 1, or nearly, and is too narrow for much harm. */
static verdict_kind verdict_kind_of(const pitfall *p, const chosen *c)
{
	const pitfall_finding *f = &c->found;
	const double floor = fmax(p->asked->margin, p->resolution);

	if (!c->measured)
		return NOT_MEASURED;
	if (f->certain)
		return HARM;
	if (!f->has_interval)
		return OPEN;
	if ((f->lo > 1 || f->hi < 1) && !within(f->factor, f->factor, p->asked->margin))
		return within(f->factor, f->factor, floor) ? OPEN : HARM;
	return within(f->lo, f->hi, fmax(CLEAR, p->asked->margin)) ? HARMLESS : OPEN;
}

static const char *const verdict_names[] = {
    [HARM] = "harm",
    [OPEN] = "not resolved",
    [HARMLESS] = "no harm here",
    [NOT_MEASURED] = "not measured",
};

/* Orders the worst first; mistakes that do nothing, or could not be made, come last. */
static bool comes_before(const pitfall *p, const chosen *a, const chosen *b)
{
	const verdict_kind va = verdict_kind_of(p, a), vb = verdict_kind_of(p, b);

	if (va != vb)
		return va < vb;
	return va != NOT_MEASURED && fabs(log(a->found.factor)) > fabs(log(b->found.factor));
}

static void pitfalls_rows_sort(const pitfall *p, const chosen *rows, size_t n, size_t *order)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		for (; at > 0 && comes_before(p, &rows[i], &rows[order[at - 1]]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* --- the record */

static const dck_column columns[] = {
    {"mistake", "mistake", DCK_UNIT_NONE},   {"number", "reported", DCK_UNIT_NS},
    {"reference", "reference", DCK_UNIT_NS}, {"factor", "paired factor", DCK_UNIT_ONE},
    {"verdict", "verdict", DCK_UNIT_NONE},
};

static const dck_column remedy_columns[] = {
    {"mistake", "mistake", DCK_UNIT_NONE}, {"what", "what", DCK_UNIT_NONE},
    {"seen", "seen", DCK_UNIT_NONE},	   {"why", "why", DCK_UNIT_NONE},
    {"remedy", "do", DCK_UNIT_NONE},
};

static void finding_record(record_builder *b, const pitfall *p, const chosen *c)
{
	const dck_pitfall *says = &c->row->says;
	const pitfall_finding *f = &c->found;
	char tag[80];

	snprintf(tag, sizeof tag, "pitfalls/%s", says->key);
	if (c->measured)
		record_metric_interval(b, tag, f->factor, f->lo, f->hi,
				       f->has_interval ? p->asked->level : 0,
				       "the number that the mistake gives over the honest one");
	else
		record_metric_absent(b, tag, c->why_not);
}

static void row_record(record_builder *b, const pitfall *p, const chosen *c)
{
	const pitfall_finding *f = &c->found;

	record_cell_text(b, c->row->says.key);
	if (c->measured) {
		record_cell_real(b, f->number_ns);
		record_cell_real(b, f->honest_ns);
		record_cell_interval(b, f->factor, f->lo, f->hi,
				     f->has_interval ? p->asked->level : 0);
	} else {
		for (int i = 0; i < 3; i++)
			record_cell_absent(b, c->why_not);
	}
	record_cell_text(b, verdict_names[verdict_kind_of(p, c)]);
}

static void remedy_record(record_builder *b, const chosen *c)
{
	record_cell_text(b, c->row->says.key);
	record_cell_text(b, c->row->says.what);
	record_cell_text(b, c->found.seen);
	record_cell_text(b, c->row->says.why);
	record_cell_text(b, c->row->says.remedy);
}

/* Writes how far the number is off, in either direction. */
static const char *factor_text(double factor, char *buf, size_t size)
{
	const double off = factor > 0 && factor < 1 ? 1 / factor : factor;

	if (!(factor > 0))
		snprintf(buf, size, "it gives 0");
	else
		mem_print(buf, size, "%.*f times %s",
			  off >= 99.95	 ? 0
			  : off >= 9.995 ? 1
					 : 2,
			  off, factor < 1 ? "too little" : "the honest value");
	return buf;
}

static void answer_record(record_builder *b, const pitfall *p, const chosen *rows, size_t n,
			  size_t worst)
{
	size_t harm = 0, none = 0;
	char text[64], rest[96] = "";

	for (size_t i = 0; i < n; i++) {
		harm += verdict_kind_of(p, &rows[i]) == HARM;
		none += verdict_kind_of(p, &rows[i]) == HARMLESS;
	}
	if (harm + none < n)
		snprintf(rest, sizeof rest, ", %zu %s undecided or cannot be made here",
			 n - harm - none, harm + none + 1 == n ? "is" : "are");
	if (harm > 0)
		record_answer(
		    b,
		    "the worst mistake here is %s: %s; %zu of %zu mistakes %s harm, %zu %s not%s",
		    rows[worst].row->says.key,
		    factor_text(rows[worst].found.factor, text, sizeof text), harm, n,
		    harm == 1 ? "does" : "do", none, none == 1 ? "does" : "do", rest);
	else
		record_answer(b, "no mistake was shown to do harm here; %zu of %zu %s none%s", none,
			      n, none == 1 ? "does" : "do", rest);
}

static void result_record(record_builder *b, const pitfall *p, const chosen *rows, size_t n)
{
	size_t order[ROWS_MAX];

	pitfalls_rows_sort(p, rows, n, order);
	for (size_t i = 0; i < n; i++)
		finding_record(b, p, &rows[i]);
	RECORD_TABLE(b, "pitfalls/mistakes", "Mistakes, and how far each moves the number",
		     columns);
	record_summary_columns(b, "number reference factor verdict");
	for (size_t i = 0; i < n; i++)
		row_record(b, p, &rows[order[i]]);
	answer_record(b, p, rows, n, order[0]);
	record_fact_text(b, "pitfalls", "method",
			 "trials of each mistake interleaved with honest ones of a warm session; "
			 "the factor is the median of the pairs' ratios with an exact interval, "
			 "of fresh starts the mean with Student's t, "
			 "of chance the end of the middle 90 % that is farther off");
	if (p->resolution > CLEAR)
		record_note(b, "coarse-resolution",
			    "sessions of the same differ by up to %.0f %% here, "
			    "and no mistake that does less is distinguished from that",
			    100 * p->resolution);
	if (p->not_waiting) {
		record_note(
		    b, "not-waiting",
		    "runs of this engine return before their results are ready: the latency and "
		    "the other rows are times of launching, not of the work");
		record_remedy(b, "its run() must wait (see docs/reference/plugin.md)");
	}
	/* The worst comes first: if it does no harm, none does. */
	if (verdict_kind_of(p, &rows[order[0]]) != HARM)
		return;
	RECORD_TABLE(b, "pitfalls/remedies", "What harms here, why, and what to do",
		     remedy_columns);
	for (size_t i = 0; i < n && verdict_kind_of(p, &rows[order[i]]) == HARM; i++)
		remedy_record(b, &rows[order[i]]);
}

/* Adds a note with the reason of an early end; the results until then are reported. */
static void pitfalls_stopped_note(record_builder *b, const pitfall *p, dck_status status,
				  const dck_err *why)
{
	record_set_incomplete(b, true);
	if (status == DCK_E_CANCEL)
		record_note(b, "interrupted",
			    "interrupted after %zu of %zu mistakes: "
			    "this is what was measured until then",
			    p->row, p->nrows);
	else
		record_note(b, "pitfalls-failed",
			    "the mistakes could not be made: %s; only the honest measurement is "
			    "reported",
			    why->msg);
}

static void mistakes_make(pitfall *p, const dck_observer *watch, record_builder *b, chosen *rows,
			  size_t n)
{
	dck_err why = {0};
	dck_status status;

	measure_context_begin(&p->shared, p->asked->clock, watch,
			      p->subject->kind == DCK_SUBJECT_COMMAND);
	status = pitfalls_session_open(p, &why);

	p->nrows = n;
	p->phase = "honest and honest";
	p->rows_begin_ns = measure_context_now(&p->shared);
	DCK_NEXT(status, resolution_measure(p, b, &why));
	DCK_NEXT(status, rows_measure(p, rows, n, &why));
	if (status != DCK_OK)
		pitfalls_stopped_note(b, p, status, &why);
	if (p->row > 0)
		result_record(b, p, rows, p->row);
	session_close(p);
	measure_context_end(&p->shared);
}

dck_status dck_pitfalls(const dck_subject *s, const dck_pitfalls_config *c,
			const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_pitfalls_config own;
	pitfall p = {.subject = s};
	dck_record *base = NULL;
	record_builder *b;
	chosen *rows;
	dck_plan plan;
	dck_status status;
	size_t n = 0;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_pitfalls_config_init, err, dck_pitfalls_options));
	c = &own;
	p.asked = c;
	plan_fill(&plan, c);
	DCK_TRY(measure_plan_check(&plan, &p.plan, err));
	rows = mem_zalloc(ROWS_MAX, sizeof *rows);
	DCK_NEED(rows, err, "for the mistakes");
	status = rows_choose(c, rows, &n, err);
	DCK_NEXT(status, dck_bench(s, &plan, watch, &base, err));
	if (status != DCK_OK) {
		mem_free(rows);
		return status;
	}
	b = record_begin(c->title);
	if (b) {
		record_copy(b, base);
		record_fact_options(b, "plan", dck_pitfalls_options, c);
		p.run_ns = dck_record_value(base, "latency/median");
		if (!base->incomplete)
			mistakes_make(&p, watch, b, rows, n);
	}
	dck_record_free(base);
	mem_free(rows);
	DCK_NEED(b, err, "for a record");
	return record_finish(b, ret, err);
}
