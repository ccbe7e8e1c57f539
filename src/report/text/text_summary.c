/* text_summary.c - summary of a record in at most 15 lines: the subject, the answer, its details,
 * the most important notes, and the command for the rest. On a terminal the answer is last, next to
 * the prompt; elsewhere it is first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/name_index.h"
#include "base/units.h"
#include "record/others.h"
#include "record/record_internal.h"
#include "report/text/text_parts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX  15
#define NOTES_MAX  3
#define NOTE_LINES 3
#define PAIR_COLS  60 /* a narrower page has no space for two values in a line */

/* A part of the page that is written aside, so that its lines can be counted. */
typedef struct page_part {
	page p;
	dck_sink sink;
	dck_buffer text;
	unsigned lines;
} page_part;

static page *part_begin(page_part *a, const page *like)
{
	a->text = (dck_buffer){0};
	a->lines = 0;
	dck_sink_buffer(&a->sink, &a->text);
	a->p = *like;
	a->p.out = &a->sink;
	return &a->p;
}

static void summary_part_end(page_part *a)
{
	if (dck_sink_finish(&a->sink, NULL) == DCK_OK)
		for (size_t i = 0; i < a->text.n; i++)
			a->lines += a->text.data[i] == '\n';
}

/* Writes it where it belongs, and is done with it. */
static void summary_part_put(page *p, page_part *a)
{
	if (a->sink.failed)
		sink_fail(p->out, &a->sink.error);
	if (a->text.n > 0)
		sink_put(p->out, a->text.data, a->text.n);
	dck_buffer_done(&a->text);
}

/* --- a latency */

static bool is_tag(const dck_metric *m, const char *tag)
{
	return m && strcmp(m->def->tag, tag) == 0;
}

/* The answer has at most five digits, however narrow its interval is, to stay readable. */
static format_scale summary_scale(const dck_record *r)
{
	format_scale s = text_latency_scale(r);
	double v;

	if (text_metric_main(r, &v)) {
		const int most = format_scale_for(v, NAN).decimals + 1;
		s.decimals = s.decimals < most ? s.decimals : most;
	}
	return s;
}

/* Its own unit where that of the answer does not fit. */
static format_scale latency_scale(const format_scale *scale, double ns)
{
	const double v = ns / scale->divide;

	return v >= 1 && v < 1000 ? *scale : format_scale_for(ns, NAN);
}

static const char *latency_text(const format_scale *scale, double ns, char *buf)
{
	char number[FORMAT_SIZE];
	const format_scale own = latency_scale(scale, ns);

	snprintf(buf, FORMAT_SIZE, "%.40s %s", format_scaled(&own, ns, number), own.unit);
	return buf;
}

typedef struct pair {
	const char *tag[2];
} pair;

#define PAIRS_OF_DEVICE 3
#define DISTURBED_SHARE 0.02 /* the answer moved by more */
#define INTERVAL_COLS	25

static bool is_of_device(const dck_record *r)
{
	return dck_record_metric(r, "device/enqueue") != NULL;
}

/* The longest of the labels, and a space. */
static unsigned label_cols(const dck_record *r)
{
	return is_of_device(r) ? sizeof "from device" : 9;
}

static unsigned value_columns(const dck_record *r, const format_scale *scale, const pair *pairs,
			      size_t n)
{
	char buf[FORMAT_SIZE];
	unsigned most = 0;
	double v;

	for (size_t i = 0; i < n; i++) {
		if (!pairs[i].tag[0] || !text_metric(r, pairs[i].tag[0], &v))
			continue;
		page_widen(&most, latency_text(scale, v, buf));
	}
	return most;
}

typedef struct row_widths {
	unsigned label, value;
} row_widths;

static void summary_absent_put(page *p, const dck_record *r, const dck_metric *m)
{
	text_style_set(p, PAGE_DIM);
	page_text(p, "absent: ");
	page_wrap(p, 2 + label_cols(r), FORMAT_VALUE(&m->value, DCK_UNIT_NONE));
	text_style_set(p, PAGE_PLAIN);
}

/* The names of metrics; of the two that share a line with other times, without the word. */
static const char *summary_label(const dck_metric *m)
{
	return is_tag(m, "cpu/user") ? "user" : is_tag(m, "cpu/system") ? "system" : m->def->name;
}

/* Writes a label and its value, or the reason why it has none. */
static void summary_value_put(page *p, const dck_record *r, const char *tag,
			      const format_scale *scale, row_widths w)
{
	const unsigned begin = p->col;
	const dck_metric *m = dck_record_metric(r, tag);
	char buf[FORMAT_SIZE];
	double v;

	page_fmt(p, "%.32s", summary_label(m));
	page_to(p, begin + w.label);
	if (!format_number_of(&m->value, &v)) {
		summary_absent_put(p, r, m);
	} else if (strcmp(tag, "latency/stddev") == 0) {
		/* A spread has three digits, to stay readable. */
		const double cv = dck_record_value(r, "latency/cv");
		page_text_right(p, format_number(v, DCK_UNIT_NS, buf), w.value);
		if (isfinite(cv))
			page_fmt(p, " (%s)", format_percent(cv, buf));
	} else {
		page_text_right(p, latency_text(scale, v, buf), w.value);
	}
}

static bool is_absent(const dck_record *r, const char *tag)
{
	double v;
	return tag && !text_metric(r, tag, &v);
}

/* Two values in a line; an absent one last, where its reason has space, and of two absent ones the
 * first one's reason, which applies to the second too. */
static void pair_put(page *p, const dck_record *r, pair both, const format_scale *scale,
		     unsigned value_cols)
{
	const bool narrow = p->width < PAIR_COLS;
	const unsigned label = label_cols(r);
	const row_widths first = {narrow ? label + 2 : label, value_cols},
			 second = {label + 2, narrow ? value_cols : 0};

	page_to(p, 2);
	if (is_absent(r, both.tag[0]) && is_absent(r, both.tag[1])) {
		page_fmt(p, "%s, %s ", dck_record_metric(r, both.tag[0])->def->name,
			 dck_record_metric(r, both.tag[1])->def->name);
		summary_absent_put(p, r, dck_record_metric(r, both.tag[0]));
		page_line(p);
		return;
	}
	if (is_absent(r, both.tag[0]) && both.tag[1])
		both = (pair){{both.tag[1], both.tag[0]}};
	summary_value_put(p, r, both.tag[0], scale, first);
	if (both.tag[1] && narrow) {
		page_break(p, 2);
	}
	if (both.tag[1]) {
		page_to(p, narrow ? 2 : 2 + label + value_cols + 4);
		summary_value_put(p, r, both.tag[1], scale, second);
	}
	page_line(p);
}

/* The values after the answer: without missing ones and the ones that the answer contains. */
static size_t pairs_find(const dck_record *r, const dck_metric *answer, pair *ret)
{
	static const pair all[] = {{{"latency/median", NULL}},
				   {{"latency/mean", "latency/stddev"}},
				   {{"latency/p90", "latency/p99"}},
				   {{"latency/min", "latency/max"}},
				   {{"cpu/user", "cpu/system"}},
				   {{"device/time", "device/enqueue"}},
				   {{"transfer/from_device", "transfer/to_device"}},
				   {{"time/first_run", NULL}}};
	/* Without the device's time, first_run has its place. */
	static const pair no_time = {{"device/enqueue", "time/first_run"}};
	/* Of a short program only the sum is known. */
	static const pair no_split = {{"cpu/time", NULL}};
	const size_t nall = sizeof all / sizeof all[0],
		     last = is_of_device(r) ? nall : nall - PAIRS_OF_DEVICE;
	const dck_metric *asked = text_metric_asked(r);
	double v;
	const bool has_time = text_metric(r, "device/time", &v);
	size_t n = 0;

	for (size_t i = 0; i < last - (is_of_device(r) && !has_time); i++) {
		const pair *p = !has_time && i == nall - PAIRS_OF_DEVICE ? &no_time : &all[i];
		pair own = {{NULL, NULL}};
		size_t k = 0;
		if (!strcmp(p->tag[0], "cpu/user") && dck_record_metric(r, "cpu/user") &&
		    !text_metric(r, "cpu/user", &v))
			p = &no_split;
		for (size_t c = 0; c < 2; c++)
			if (p->tag[c] && !is_tag(answer, p->tag[c]) && !is_tag(asked, p->tag[c]) &&
			    dck_record_metric(r, p->tag[c]))
				own.tag[k++] = p->tag[c];
		if (k > 0)
			ret[n++] = own;
	}
	return n;
}

static void spread_put(page *p, const dck_record *r)
{
	double v;
	const dck_metric *answer = text_metric_main(r, &v);
	const format_scale scale = summary_scale(r);
	pair pairs[8];
	const size_t n = pairs_find(r, answer, pairs);
	const unsigned value_cols = value_columns(r, &scale, pairs, n);

	for (size_t i = 0; i < n; i++)
		pair_put(p, r, pairs[i], &scale, value_cols);
	text_histogram_line(p, r);
}

/* The rate is shown next to the statistic that it is computed from. That of a load without pauses
 * is its result. */
static const dck_metric *rate_of(const dck_record *r, const dck_metric *answer, double *ret)
{
	char buf[FORMAT_SIZE], scenario[FORMAT_SIZE];
	const char *from = text_fact(r, "method", "rate", buf),
		   *load = text_fact(r, "plan", "scenario", scenario);
	const bool is_result = load && strcmp(load, "offline") == 0;

	if (strncmp(answer->def->tag, "latency/", 8) != 0 ||
	    !(is_result || (from && strcmp(answer->def->tag + 8, from) == 0)))
		return NULL;
	for (size_t i = 0; i < r->nmetrics; i++) {
		const dck_metric *m = &r->metrics[i];
		if (strncmp(m->def->tag, "throughput/", 11) == 0 &&
		    format_number_of(&m->value, ret))
			return m;
	}
	return NULL;
}

static void rate_put(page *p, const dck_record *r, const dck_metric *answer)
{
	char value[FORMAT_SIZE];
	double v;
	const dck_metric *m = rate_of(r, answer, &v);

	if (!m)
		return;
	format_number(v, m->def->unit, value);
	const unsigned end = p->col + 3 + page_columns(value);
	if (end > p->width) {
		page_break(p, 2);
	} else {
		page_text(p, "   ");
	}
	page_text(p, value);
	/* It is one over the latency, and so is its interval. */
	if (m->level > 0 && end + 20 <= p->width) {
		page_text(p, " ");
		text_interval(p, m, value);
	}
}

/* "between starts 17.9 ms [17.5, 18.3] 95 %, 14 starts": the run-to-run variation, which the
 * interval of this process does not cover. */
static void starts_put(page *p, const dck_record *r, const format_scale *scale)
{
	char buf[FORMAT_SIZE];
	double v, n;
	const dck_metric *m = text_metric(r, "latency/starts", &v);

	if (!m || !(m->level > 0) || !text_fact_number(r, "method", "starts", &n))
		return;
	const format_scale own = latency_scale(scale, v);
	page_to(p, 2);
	page_fmt(p, "between starts %s", latency_text(scale, v, buf));
	text_scaled_interval(p, m, &own);
	page_fmt(p, ", %.0f starts", n);
	page_line(p);
}

/* The least of them, without its unit where the greatest, after it, has the same. */
static const char *earlier_least(const format_scale *scale, const double of[3], char *buf)
{
	const format_scale least = latency_scale(scale, of[1]),
			   greatest = latency_scale(scale, of[2]);

	return least.divide == greatest.divide && least.decimals == greatest.decimals
		   ? format_scaled(&least, of[1], buf)
		   : latency_text(scale, of[1], buf);
}

/* "among 8 earlier ones, 17.1 to 17.9 ms", or "above all 8 earlier ones, 17.1 to 17.9 ms (by chance
 * in 1 of 9)": whether the value lies where those in the history do. */
static void earlier_put(page *p, const dck_record *r, const format_scale *scale)
{
	static const char *const keys[] = {"earlier", "earlier_least", "earlier_greatest"};
	char buf[FORMAT_SIZE];
	double of[3], v;
	const char *where = "among";

	for (size_t i = 0; i < 3; i++)
		if (!text_fact_number(r, "history", keys[i], &of[i]))
			return;
	if (of[0] < 2 || !text_metric_main(r, &v))
		return;
	if (v < of[1] || v > of[2])
		where = v < of[1] ? "below all" : "above all";
	page_to(p, 2);
	page_fmt(p, "%s %.0f earlier ones, %s to ", where, of[0], earlier_least(scale, of, buf));
	page_fmt(p, "%s", latency_text(scale, of[2], buf));
	if (v < of[1] || v > of[2])
		page_fmt(p, " (by chance in 1 of %.0f)", of[0] + 1);
	page_line(p);
}

/* Returns " in 5 of 6 starts" if only some of them have enough such runs. */
static const char *undisturbed_starts(const dck_record *r, char *buf, size_t size)
{
	double n, all;

	buf[0] = '\0';
	if (text_fact_number(r, "samples", "undisturbed_starts", &n) &&
	    text_fact_number(r, "method", "processes", &all) && n < all)
		snprintf(buf, size, " in %.0f of %.0f starts", n, all);
	return buf;
}

/* "31 of 244 runs had their processors to themselves: median 12.91 ms  [12.84, 13.08] 95 %", or of
 * one thread the runs without its waits; where other programs moved the answer, or it has no
 * interval. */
static void undisturbed_line(page *p, const dck_record *r, const format_scale *scale)
{
	static const char *const tags[] = {"latency/undisturbed", "latency/less_run_delay"};
	const double median = dck_record_value(r, "latency/median");
	char value[FORMAT_SIZE], starts[48];
	double runs, all, v = NAN;
	const dck_metric *m = NULL, *answer = text_metric_main(r, &v);
	size_t i;

	for (i = 0; i < 2; i++)
		if ((m = text_metric(r, tags[i], &v)) && m->level > 0)
			break;
	if (i == 2 || !text_fact_number(r, "samples", "undisturbed", &runs) ||
	    !text_fact_number(r, "samples", "undisturbed_of", &all) ||
	    (answer && answer->level > 0 &&
	     ((m->lo <= median && median <= m->hi) || !(fabs(v / median - 1) > DISTURBED_SHARE))))
		return;
	page_to(p, 2);
	if (i == 0)
		page_fmt(p, "%.0f of %.0f runs%s had their processors to themselves: median ", runs,
			 all, undisturbed_starts(r, starts, sizeof starts));
	else
		page_text(p, "without the waits for a processor: median ");
	const format_scale own = latency_scale(scale, v);
	page_fmt(p, "%s", latency_text(scale, v, value));
	if (p->col + INTERVAL_COLS > p->width) {
		page_break(p, 2);
	}
	text_scaled_interval(p, m, &own);
	page_line(p);
}

/* Conditions fixed at the start of a process remain until its end, so its interval does not cover
 * the next process. Each run of a program has its own; functions and modules of Python have that of
 * the program that calls them. */
typedef enum scope { SCOPE_NONE, SCOPE_PROCESS, SCOPE_START } scope;

static scope summary_scope_of(const dck_record *r, unsigned *ret_n)
{
	const dck_fact *f = dck_record_fact(r, "method", "processes");
	const double n = f ? dck_value_number(&f->value) : NAN;
	char buf[FORMAT_SIZE];
	const char *kind = text_fact(r, "subject", "kind", buf);

	if (!(n >= 1) || (n == 1 && kind && strcmp(kind, "command") == 0))
		return SCOPE_NONE;
	*ret_n = (unsigned)n;
	return !kind || name_index_listed("model plugin", kind) ? SCOPE_START : SCOPE_PROCESS;
}

static bool is_one_start(const dck_record *r)
{
	unsigned n = 0;

	return summary_scope_of(r, &n) == SCOPE_START && n == 1;
}

static void condition_put(page *p, const char *text)
{
	if (p->col + strlen(text) > p->width) {
		page_break(p, 3);
	}
	page_text(p, text);
}

/* " of one start", " of 6 starts" */
static void summary_scope_put(page *p, const dck_record *r)
{
	unsigned n = 0;
	const scope is = summary_scope_of(r, &n);
	char text[40];

	if (is == SCOPE_NONE)
		return;
	if (n == 1)
		snprintf(text, sizeof text, " of one %s", is == SCOPE_START ? "start" : "process");
	else
		snprintf(text, sizeof text, " of %u %s", n,
			 is == SCOPE_START ? "starts" : "processes");
	condition_put(p, text);
}

/* "median 17.62 ms  [17.55, 17.71] 95 % of one start   56.75 items/s" */
static void summary_latency_put(page *p, const dck_record *r)
{
	const format_scale scale = summary_scale(r);
	const dck_metric *asked = text_metric_asked(r);
	char a[FORMAT_SIZE];
	double v, runs = 1, warm = 0;
	const dck_metric *m = text_metric_main(r, &v);

	if (asked && asked != m)
		text_absent_line(p, asked);
	page_to(p, 2);
	text_style_set(p, PAGE_BOLD);
	page_text(p, m->def->name);
	text_metric(r, "runs/count", &runs);
	/* Results of a measurement that ended before its first counted run. */
	if (runs == 0 && text_metric(r, "runs/warmup", &warm))
		page_fmt(p, " of %s warm-up run%s", format_number(warm, DCK_UNIT_ONE, a),
			 warm == 1 ? "" : "s");
	page_fmt(p, " %s", latency_text(&scale, v, a));
	text_style_set(p, PAGE_PLAIN);
	text_scaled_interval(p, m, &scale);
	summary_scope_put(p, r);
	if (record_beside_others(r))
		condition_put(p, " beside other programs");
	rate_put(p, r, m);
	page_line(p);
	starts_put(p, r, &scale);
	earlier_put(p, r, &scale);
	undisturbed_line(p, r, &scale);
}

/* --- the whole */

/* The answer is a latency, and nothing else came out. */
static bool summary_is_latency(const dck_record *r)
{
	double v;
	return !dck_record_fact(r, "result", "answer") && r->nops == 0 && text_metric_main(r, &v) &&
	       dck_record_metric(r, "runs/count");
}

/* A comparison that checked the outputs answers both questions. */
static void compared_outputs_put(page *p, const dck_record *r)
{
	const dck_metric *apart = dck_record_metric(r, "difference/max_abs");
	char buf[FORMAT_SIZE];
	const char *verdict = text_fact(r, "difference", "verdict", buf);

	if (!dck_record_fact(r, "compare", "verdict") || !verdict)
		return;
	page_to(p, 2);
	page_fmt(p, "outputs: %s", verdict);
	if (apart && apart->value.kind == DCK_VALUE_REAL && apart->value.as.r > 0)
		page_fmt(p, ", largest difference %s",
			 format_value(&apart->value, apart->def->unit, buf));
	page_line(p);
}

/* Writes the events that were requested by name (count -e): they are part of the answer. */
static void summary_events_put(page *p, const dck_record *r)
{
	enum { EVENTS_MAX = 5 };
	size_t n = 0;

	if (!dck_record_fact(r, "plan", "events/1"))
		return;
	for (size_t i = 0; i < r->nmetrics; i++) {
		const dck_metric *m = &r->metrics[i];

		if (!text_is_counter(m) || n++ >= EVENTS_MAX)
			continue;
		page_to(p, 2);
		page_fmt(p, "%s: ", m->def->tag + sizeof TEXT_COUNTER - 1);
		page_wrap(p, 4, m->value.kind == DCK_VALUE_ABSENT ? "absent, " : "");
		page_wrap(p, 4, FORMAT_VALUE(&m->value, m->def->unit));
		page_line(p);
	}
	if (n > EVENTS_MAX) {
		text_dim_from(p, 2);
		page_fmt(p, "and %zu more %s", n - EVENTS_MAX,
			 COUNTED(n - EVENTS_MAX, "event", "events"));
		page_line(p);
	}
}

void text_summary_answer(page *p, const dck_record *r)
{
	if (summary_is_latency(r)) {
		summary_latency_put(p, r);
		text_verdicts(p, r);
	} else {
		text_answer(p, r);
		summary_events_put(p, r);
		compared_outputs_put(p, r);
	}
	text_incomplete(p, r, false);
}

/* offer: adds the option that measures several starts, because the number is from one. */
static void summary_rest_put(page *p, const char *rest, size_t more, bool offer)
{
	if (!rest)
		return;
	text_style_set(p, PAGE_DIM);
	page_text(p, "the rest");
	if (more > 0)
		page_fmt(p, ", with %zu more note%s", more, more == 1 ? "" : "s");
	page_fmt(p, ": ");
	page_text(p, rest);
	if (offer && p->col + 40 <= p->width)
		page_text(p, "; several starts: --processes 6");
	page_line(p);
}

/* Where the answer is "not known", "none", "no" or "[unknown]", or is not that of the question,
 * these have the reason and what to do. */
static bool is_of_answer(const dck_note *n)
{
	return name_index_listed("slo-inconclusive slo-not-met slo-violated undecided "
				 "throughput-unresolved throughput-few-trials device-not-awaited "
				 "sample-generated sample-unseen sample-overran "
				 "input-decides-work subjects-differ tune-apply requests-failed",
				 n->code);
}

/* They inform, and nothing has to be done: for --details. */
static bool is_detail(const dck_note *n)
{
	return n->severity == DCK_INFO &&
	       name_index_listed("first-run-slow not-steady turbo plateau", n->code);
}

enum { RANK_ANSWER, RANK_CAUSE, RANK_OTHER, RANK_DETAIL, RANKS };

static int summary_rank_of(const dck_record *r, const dck_note *n)
{
	char effects[TEXT_NOTE_BYTES];

	return is_of_answer(n)					  ? RANK_ANSWER
	       : is_detail(n)					  ? RANK_DETAIL
	       : text_note_effects(r, n, effects, sizeof effects) ? RANK_CAUSE
								  : RANK_OTHER;
}

/* What applies the answer is before all warnings; failures explain it. */
static dck_severity summary_severity_of(const dck_note *n)
{
	return name_index_listed("tune-apply requests-failed", n->code) ? DCK_ERROR : n->severity;
}

/* Writes the notes that fit: the most severe first, among these the ones that explain the answer,
 * then causes of others. Returns the number of omitted notes. */
static size_t summary_notes_put(page *p, const dck_record *r, unsigned lines)
{
	static const dck_severity order[] = {DCK_ERROR, DCK_WARN, DCK_INFO};
	size_t shown = 0, all = 0;
	page_part a;

	for (size_t s = 0; s < RANKS * sizeof order / sizeof order[0]; s++) {
		for (size_t i = 0; i < r->nnotes; i++) {
			const dck_note *n = &r->notes[i];
			if (summary_severity_of(n) != order[s / RANKS] || !text_note_is_own(r, n) ||
			    summary_rank_of(r, n) != (int)(s % RANKS))
				continue;
			all++;
			if (shown == NOTES_MAX || s % RANKS == RANK_DETAIL)
				continue;
			text_note_brief(part_begin(&a, p), n, NOTE_LINES);
			summary_part_end(&a);
			if (a.lines <= lines) {
				lines -= a.lines;
				shown++;
				summary_part_put(p, &a);
			} else {
				dck_buffer_done(&a.text);
			}
		}
	}
	return all - shown;
}

/* Lines that the notes would take. */
static unsigned notes_lines(const page *p, const dck_record *r)
{
	page_part a;

	summary_notes_put(part_begin(&a, p), r, LINES_MAX);
	summary_part_end(&a);
	dck_buffer_done(&a.text);
	return a.lines;
}

/* A listing has a headline only if it has a subject. */
static bool has_headline(const dck_record *r)
{
	return summary_is_latency(r) ||
	       (dck_record_fact(r, "result", "answer") &&
		(!format_is_listing(r) || dck_record_fact(r, "subject", "name")));
}

/* Tables of operators that were requested are part of the answer, however long they are. */
static bool tables_asked(const page *p, const dck_record *r)
{
	return r->nops > 0 && (p->ops.by != 0 || p->ops.sort != 0 || p->ops.top != 0);
}

/* Writes the meaning of the star after the answer, if no note states it. */
static void summary_narrow_put(page *p, const dck_record *r)
{
	const dck_note *n = dck_record_note(r, "too-few-runs");
	double v;
	const dck_metric *m = text_metric_main(r, &v);

	if (!m->narrow || (n && text_note_is_own(r, n) && strstr(n->text, m->narrow)))
		return;
	text_dim_from(p, 2);
	page_text(p, "*: the interval is too narrow, because ");
	page_wrap(p, 5, m->narrow);
	page_line(p);
}

/* Writes the first rows of the main table, in the page's width. */
static void summary_brief_put(page *p, const dck_record *r, unsigned lines)
{
	const bool whole = p->whole;

	p->whole &= lines == TEXT_ALL_LINES || format_is_listing(r);
	if (r->ntables > 0 || r->nops == 0)
		text_table_brief(p, r, lines);
	else
		text_ops_brief(p, r, lines);
	p->whole = whole;
}

/* Writes the first lines of the details. */
static void body_put(page *p, const dck_record *r, unsigned lines)
{
	page_part a;

	if (summary_is_latency(r)) {
		summary_narrow_put(p, r);
		spread_put(p, r);
		return;
	}
	if (dck_record_fact(r, "result", "answer")) {
		if (text_is_machine(r))
			text_machine_brief(p, r);
		else if (tables_asked(p, r))
			text_ops(p, r);
		else if (text_accuracy_is_short(r))
			text_accuracy(p, r, false);
		else
			summary_brief_put(p, r, lines);
		return;
	}
	/* A record without an answer: the beginning of its report. */
	text_details(part_begin(&a, p), r);
	summary_part_end(&a);
	size_t end = 0, n = 0;
	for (size_t i = 0; i < a.text.n && n < lines; i++)
		if (a.text.data[i] == '\n' && ++n > 0)
			end = i + 1;
	a.text.n = end;
	summary_part_put(p, &a);
}

void text_summary_what(page *p, const dck_record *r)
{
	char runs[FORMAT_SIZE + 16] = "", buf[FORMAT_SIZE];
	double v;

	if (summary_is_latency(r) && text_metric(r, "runs/count", &v) && v > 0)
		snprintf(runs, sizeof runs, ", %s run%s", format_number(v, DCK_UNIT_ONE, buf),
			 v == 1 ? "" : "s");
	if (has_headline(r))
		text_headline(p, r, runs);
}

void text_summary(page *p, const dck_record *r, bool all_rows, const char *rest)
{
	const bool has_answer = summary_is_latency(r) || dck_record_fact(r, "result", "answer");
	page_part what, answer, body, notes, end;

	text_summary_what(part_begin(&what, p), r);
	summary_part_end(&what);
	text_summary_answer(part_begin(&answer, p), r);
	summary_part_end(&answer);

	/* The remaining lines are shared: notes get the lines that the body does not need, and at
	 * least one note is shown. */
	const bool next = record_get_text(r, "result", "next") != NULL;
	const bool offer = summary_is_latency(r) && is_one_start(r) &&
			   !dck_record_metric(r, "latency/starts") &&
			   !dck_record_fact(r, "plan", "scenario"); /* a load has one */
	const unsigned used = what.lines + answer.lines + next + (rest != NULL) + 2;
	unsigned left = used < LINES_MAX ? LINES_MAX - used : 0, wanted = notes_lines(p, r);
	const unsigned kept = wanted < NOTE_LINES ? wanted : NOTE_LINES;
	body_put(part_begin(&body, p), r,
		 all_rows      ? TEXT_ALL_LINES
		 : left > kept ? left - kept
			       : left);
	summary_part_end(&body);
	left = all_rows ? LINES_MAX : left > body.lines ? left - body.lines : 0;
	size_t more = summary_notes_put(part_begin(&notes, p), r, left);
	summary_part_end(&notes);
	text_next(part_begin(&end, p), r);
	summary_rest_put(&end.p, rest, more, offer);
	summary_part_end(&end);

	summary_part_put(p, &what);
	if (!p->terminal)
		summary_part_put(p, &answer);
	if (has_answer && body.lines > 0 && !tables_asked(p, r))
		page_line(p);
	summary_part_put(p, &body);
	if (notes.lines > 0)
		page_line(p);
	summary_part_put(p, &notes);
	summary_part_put(p, &end);
	if (p->terminal)
		summary_part_put(p, &answer);
}
