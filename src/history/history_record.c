/* history_record.c - records of lists, trends, alarms and commits, so that every report format can
 * show them.
 *
 * A list (dck_history_list_record()) reads the database twice, in one transaction: unit_look()
 * counts the rows and finds out whether all values have one unit, because a column states its unit
 * before the first row; history_entry_add() then fills the table.
 *
 * A trend (dck_history_trend_record()) is in memory already (trend.c). It becomes facts, the table
 * "history/points" with a row for each point, an answer in one sentence, and notes. Its summary
 * shows at most BRIEF_ROWS rows: the newest BRIEF_CHANGES changes of level, and the newest points.
 *
 * Alarms (dck_history_alarms_record()) become the table "history/alarms", a row for each.
 *
 * No statistic is computed here but the minimum, the maximum and the relative change of a sentence.
 * A cell without a value is absent with a reason.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/series.h"
#include "history/store.h"
#include "deepclock/unstable.h"
#include "base/decimal.h"
#include "base/err.h"
#include "record/build.h"
#include "record/record_internal.h"
#include "stat/stat.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE "there is none"

static record_builder *listing_new(const char *title)
{
	record_builder *b = record_new();

	if (b) {
		record_set_command(b, title);
		record_fact_bool(b, "result", "listing", true);
	}
	return b;
}

static void text_cell(record_builder *b, const char *text)
{
	record_cell(b, text ? RECORD_TEXT(text) : RECORD_ABSENT(NONE));
}

static void time_cell(record_builder *b, int64_t unix_ns)
{
	char text[RECORD_TIME_SIZE];

	record_time_text(unix_ns, text);
	record_cell_text(b, text);
}

/* Three cells, so that a table of rows has a column for each. */
static void interval_cells(record_builder *b, double lo, double hi, double level)
{
	const double all[] = {lo, hi, level};

	for (size_t i = 0; i < 3; i++) {
		record_cell(b, level > 0 ? RECORD_REAL(all[i]) : RECORD_ABSENT("no interval"));
	}
}

typedef struct listing {
	record_builder *b;
	const char *metric;
	dck_unit unit;		  /* of all values; NONE: they differ */
	bool mixed, asked, found; /* the metric was asked for; a record has it */
	uint64_t n;
} listing;

/* A model's rate is in items, a program's in runs: a column has a unit where all rows have it. */
static bool unit_look(void *self, const dck_history_entry *e)
{
	listing *l = self;

	if (e->value.kind != DCK_VALUE_ABSENT) {
		l->found = true;
		l->mixed |= l->unit != DCK_UNIT_NONE && l->unit != e->unit;
		l->unit = l->mixed ? DCK_UNIT_NONE : e->unit;
	}
	l->n++;
	return true;
}

static void list_table(const listing *l)
{
	const char *slash = strrchr(l->metric, '/');
	const char *name = slash && slash[1] ? slash + 1 : l->metric;
	const dck_column columns[] = {
	    {"id", "id", DCK_UNIT_NONE},
	    {"time", "time, UTC", DCK_UNIT_NONE},
	    {"command", "command", DCK_UNIT_NONE},
	    {"subject", "subject", DCK_UNIT_NONE},
	    {"engine", "engine", DCK_UNIT_NONE},
	    {"machine", "machine", DCK_UNIT_NONE},
	    {"method", "method", DCK_UNIT_NONE},
	    {"commit", "commit", DCK_UNIT_NONE},
	    {"incomplete", "incomplete", DCK_UNIT_NONE},
	    {"metric", "metric", DCK_UNIT_NONE},
	    {"value", name, l->unit},
	    {"lo", "lo", l->unit},
	    {"hi", "hi", l->unit},
	    {"level", "level", DCK_UNIT_NONE},
	    {"unit", "unit", DCK_UNIT_NONE},
	    {"cpu", "processor", DCK_UNIT_NONE},
	    {"line", "command line", DCK_UNIT_NONE},
	    {"bytes", "size", DCK_UNIT_BYTE},
	};

	RECORD_TABLE(l->b, "history/records", "Records", columns);
	record_summary_columns(l->b, l->mixed ? "time commit command value unit incomplete subject"
					      : "time commit command value incomplete subject");
}

static bool history_entry_add(void *self, const dck_history_entry *e)
{
	const listing *l = self;
	const char *const who[] = {e->verb,    e->subject, e->engine,
				   e->machine, e->method,  e->commit};

	record_cell_text(l->b, e->id);
	time_cell(l->b, e->at_unix_ns);
	for (size_t i = 0; i < sizeof who / sizeof who[0]; i++)
		text_cell(l->b, who[i]);
	record_cell_bool(l->b, e->incomplete);
	record_cell_text(l->b, l->metric);
	if (e->value.kind == DCK_VALUE_INT)
		record_cell_int(l->b, e->value.as.i);
	else if (e->value.kind == DCK_VALUE_REAL)
		record_cell_real(l->b, e->value.as.r);
	else
		record_cell_absent(l->b, e->value.as.text);
	interval_cells(l->b, e->lo, e->hi, e->level);
	text_cell(l->b, e->value.kind == DCK_VALUE_ABSENT ? NULL : dck_unit_text(e->unit));
	text_cell(l->b, e->cpu);
	text_cell(l->b, e->command);
	record_cell_int(l->b, (int64_t)e->bytes);
	return true;
}

/* Refuses a metric that no record of the filter has, also none beyond the limit. */
static dck_status listing_metric_check(dck_history *h, const dck_history_filter *every,
				       const char *metric, dck_err *err)
{
	listing all = {.metric = metric};
	history_where w;

	DCK_TRY(dck_history_list(h, every, metric, unit_look, &all, err));
	if (all.found || all.n == 0)
		return DCK_OK;
	DCK_TRY(history_where_make(every, &w, err));
	return history_metric_absent(h, &w, metric, err);
}

static dck_status listing_fill(dck_history *h, const dck_history_filter *f, listing *l,
			       dck_err *err)
{
	dck_history_filter every = f ? *f : (dck_history_filter){0};
	uint64_t all = 0;

	every.limit = 0;
	DCK_TRY(dck_history_size(h, &every, &all, err));
	DCK_TRY(dck_history_list(h, f, l->metric, unit_look, l, err));
	if (l->asked && !l->found)
		DCK_TRY(listing_metric_check(h, &every, l->metric, err));
	record_fact_int(l->b, "history", "records", DCK_UNIT_ONE, (int64_t)all);
	if (all == 0)
		record_answer(l->b, "no record of the history fits");
	else if (l->n < all)
		record_answer(l->b, "the newest %" PRIu64 " of %" PRIu64 " records", l->n, all);
	else
		record_answer(l->b, "%" PRIu64 " record%s", all, all == 1 ? "" : "s");
	list_table(l);
	return dck_history_list(h, f, l->metric, history_entry_add, l, err);
}

dck_status dck_history_list_record(dck_history *h, const dck_history_filter *f, const char *metric,
				   const char *title, dck_record **ret, dck_err *err)
{
	listing l = {
	    .b = listing_new(title), .metric = metric ? metric : HISTORY_METRIC, .asked = metric};
	dck_status status;

	DCK_NEED(l.b, err, "for the history's records");
	status = history_begin_read(h, err);
	DCK_NEXT(status, history_end(h, listing_fill(h, f, &l, err), err));
	if (status == DCK_OK)
		return record_finish(l.b, ret, err);
	record_drop(l.b);
	return status;
}

/* --- a trend */

/* The rows of a summary, and how many of them may be changes of the level. */
#define BRIEF_ROWS    6
#define BRIEF_CHANGES 2
#define BRIEF_ALARMS  10

/* Writes "5.0 % worse", or "5.0 % up" for a metric that has no better direction. */
static const char *change_text(dck_better better, double before, double after, char *buf,
			       size_t size)
{
	const double share = before != 0 ? fabs(after / before - 1) : (double)NAN;
	const bool up = after > before;
	const char *way = up ? "up" : "down";

	if (better != DCK_BETTER_NEITHER)
		way = up == (better == DCK_BETTER_HIGHER) ? "better" : "worse";
	if (isfinite(share))
		snprintf(buf, size, "%s %% %s",
			 share < 0.001 ? DECIMAL_TEXT(2, 100 * share)
				       : FIXED_TEXT(share < 0.1 ? 1 : 0, 100 * share),
			 way);
	else
		snprintf(buf, size, "%s", way);
	return buf;
}

/* Returns the characters of a commit that a sentence has: as many digits as Git shows, and all of a
 * name that is not a hash. */
static int commit_width(const char *commit)
{
	return commit && history_commit_is_hash(commit) ? 8 : DCK_COMMIT_SIZE;
}

/* Writes the values as the answer, because too few points show no change. */
static void few_points(record_builder *b, const dck_history_trend *t)
{
	double lo = INFINITY, hi = -INFINITY;
	char now[RECORD_RANGE_SIZE], ends[2][RECORD_RANGE_SIZE];
	const dck_value newest = {.kind = DCK_VALUE_REAL, .as.r = t->points[t->n - 1].value};

	for (size_t i = 0; i < t->n; i++) {
		lo = fmin(lo, t->points[i].value);
		hi = fmax(hi, t->points[i].value);
	}
	dck_text_value(&newest, t->metric.unit, now, sizeof now);
	record_range_text(t->metric.unit, lo, hi, ends);
	if (t->n == 1)
		record_answer(b, "%s: %s in one point; %s", t->metric.tag, now, t->changes_absent);
	else
		record_answer(
		    b,
		    "%s: newest %s, all %zu from %s to %s; records of the same may differ "
		    "by more than their intervals, so a test for changes needs more points",
		    t->metric.tag, now, t->n, ends[0], ends[1]);
}

static void trend_answer(record_builder *b, const dck_history_trend *t)
{
	const dck_history_change *c = t->nchanges > 0 ? &t->changes[t->nchanges - 1] : NULL;
	char change[64], level[2][RECORD_RANGE_SIZE], time[RECORD_TIME_SIZE], least[40] = "",
									      more[64] = "";

	if (t->min_change > 0)
		snprintf(least, sizeof least, " of %s %% or more",
			 DECIMAL_TEXT(3, 100 * t->min_change));
	if (t->changes_absent) {
		few_points(b, t);
		return;
	}
	if (!c) {
		record_answer(
		    b,
		    "%s: no step and no drift%s in %zu points that noise would not make (at 5 %%)",
		    t->metric.tag, least, t->n);
		return;
	}
	record_time_text(t->points[c->at].at_unix_ns, time);
	record_range_text(t->metric.unit, c->before, c->after, level);
	if (t->nchanges > 1)
		snprintf(more, sizeof more, "; %zu change%s before it", t->nchanges - 1,
			 t->nchanges > 2 ? "s" : "");
	record_answer(
	    b, "%s: %s%s since %.10s%s%.*s%s, %s to %s; p %s by noise alone%s", t->metric.tag,
	    c->at == 0 ? "drifts, " : "",
	    change_text(t->metric.better, c->before, c->after, change, sizeof change), time,
	    t->points[c->at].commit ? " (" : "", commit_width(t->points[c->at].commit),
	    t->points[c->at].commit ? t->points[c->at].commit : "",
	    t->points[c->at].commit ? ")" : "", level[0], level[1], DECIMAL_TEXT(2, c->p), more);
}

static void points_put(record_builder *b, const dck_history_trend *t)
{
	const dck_unit unit = t->metric.unit;
	const dck_column columns[] = {{"time", "time, UTC", DCK_UNIT_NONE},
				      {"id", "id", DCK_UNIT_NONE},
				      {"commit", "commit", DCK_UNIT_NONE},
				      {"records", "records", DCK_UNIT_ONE},
				      {"value", t->metric.name, unit},
				      {"lo", "lo", unit},
				      {"hi", "hi", unit},
				      {"level", "level", DCK_UNIT_ONE},
				      {"unit", "unit", DCK_UNIT_NONE},
				      {"change_p", "p of a change", DCK_UNIT_ONE},
				      {"before", "level before it", unit},
				      {"after", "level after it", unit},
				      {"change", "change", DCK_UNIT_NONE}};
	/* The newest changes, and the newest points. */
	const size_t changes = t->nchanges < BRIEF_CHANGES ? t->nchanges : BRIEF_CHANGES;
	const size_t newest = t->n > BRIEF_ROWS - changes ? t->n - (BRIEF_ROWS - changes) : 0;
	char text[64];

	RECORD_TABLE(b, "history/points", "Points", columns);
	record_summary_columns(b, "commit value lo hi change");
	for (size_t i = 0, k = 0; i < t->n; i++) {
		const dck_history_point *p = &t->points[i];
		const bool changed = k < t->nchanges && t->changes[k].at == i;
		const dck_history_change *c = changed ? &t->changes[k++] : NULL;

		time_cell(b, p->at_unix_ns);
		record_cell_text(b, p->id);
		text_cell(b, p->commit);
		record_cell_int(b, (int64_t)p->records);
		record_cell_real(b, p->value);
		interval_cells(b, p->lo, p->hi, p->level);
		record_cell_text(b, dck_unit_text(unit));
		for (size_t column = 0; column < 3; column++) {
			record_cell(b, c ? RECORD_REAL(column == 0   ? c->p
						       : column == 1 ? c->before
								     : c->after)
					 : RECORD_ABSENT("no change"));
		}
		record_cell(b, c ? RECORD_TEXT(change_text(t->metric.better, c->before, c->after,
							   text, sizeof text))
				 : RECORD_ABSENT("no change"));
		if (i >= newest || (c && k + changes > t->nchanges))
			record_summary_row(b);
	}
}

static void trend_notes(record_builder *b, const dck_history_trend *t)
{
	char incomplete[64] = "", without[100] = "", other[80] = "";

	if (t->autocorrelated)
		record_note(b, "points-autocorrelated",
			    "points are autocorrelated (%s): p is too small; changes are real, "
			    "but found later",
			    FIXED_TEXT(2, t->correlation));
	if (t->incomplete > 0)
		snprintf(incomplete, sizeof incomplete, "%" PRIu64 " incomplete", t->incomplete);
	if (t->other > 0)
		snprintf(other, sizeof other,
			 "%" PRIu64 " of another machine or method (--mixed shows them)", t->other);
	if (t->without > 0)
		snprintf(without, sizeof without, "%" PRIu64 " without %.60s", t->without,
			 t->metric.tag);
	if (t->incomplete + t->other + t->without > 0)
		record_note(b, "records-left-out", "records left out: %s%s%s%s%s", incomplete,
			    incomplete[0] && (without[0] || other[0]) ? ", " : "", without,
			    without[0] && other[0] ? ", " : "", other);
}

dck_status dck_history_trend_record(const dck_history_trend *t, const char *title, dck_record **ret,
				    dck_err *err)
{
	record_builder *b = listing_new(title);

	DCK_NEED(b, err, "for the history's records");
	record_fact_text(b, "subject", "name", t->subject);
	record_fact_text(b, "engine", "name", t->engine);
	record_fact_text(b, "host", "cpu", t->cpu);
	record_fact_text(b, "trend", "metric", t->metric.tag);
	record_fact_text(b, "trend", "command", t->verb);
	if (t->changes_absent)
		record_fact_absent(b, "trend", "changes", t->changes_absent);
	else
		record_fact_int(b, "trend", "changes", DCK_UNIT_ONE, (int64_t)t->nchanges);
	if (isnan(t->correlation))
		record_fact_absent(b, "trend", "correlation", "too few points");
	else
		record_fact_real(b, "trend", "correlation", DCK_UNIT_ONE, t->correlation);
	record_fact_bool(b, "trend", "autocorrelated", t->autocorrelated);
	record_fact_int(b, "trend", "left_out_incomplete", DCK_UNIT_ONE, (int64_t)t->incomplete);
	record_fact_int(b, "trend", "left_out_other", DCK_UNIT_ONE, (int64_t)t->other);
	trend_answer(b, t);
	points_put(b, t);
	trend_notes(b, t);
	return record_finish(b, ret, err);
}

/* --- alarms */

static void alarms_answer(record_builder *b, const dck_history_alarms *a)
{
	const dck_history_alarm *newest = a->alarms;
	char change[64], time[RECORD_TIME_SIZE], level[2][RECORD_RANGE_SIZE];

	if (a->series == 0) {
		record_answer(b, "none of %" PRIu64 " series has the %d points that a test needs",
			      a->few, STAT_CHANGE_MIN);
		return;
	}
	if (a->n == 0) {
		record_answer(b,
			      "no change in %" PRIu64
			      " series that noise would not make (false discovery rate %s %%)",
			      a->series, DECIMAL_TEXT(6, 100 * a->rate));
		return;
	}
	record_time_text(newest->at_unix_ns, time);
	record_range_text(newest->metric.unit, newest->before, newest->after, level);
	record_answer(
	    b,
	    "%" PRIu64 " of %" PRIu64 " series changed (false discovery rate %s %%), the newest "
	    "since %.10s%s%.*s%s: %s, %s %s, %s to %s",
	    a->changed, a->series, DECIMAL_TEXT(6, 100 * a->rate), time, newest->commit ? " (" : "",
	    commit_width(newest->commit), newest->commit ? newest->commit : "",
	    newest->commit ? ")" : "",
	    newest->subject ? newest->subject : "records without a subject", newest->metric.tag,
	    change_text(newest->metric.better, newest->before, newest->after, change,
			sizeof change),
	    level[0], level[1]);
}

/* The columns of the summary, without those that are the same for all alarms. */
static void alarms_columns(record_builder *b, const dck_history_alarms *a)
{
	char columns[80];
	bool processors = false, others = false;

	for (size_t i = 0; i < a->n; i++) {
		processors |= series_text_order(a->alarms[0].cpu, a->alarms[i].cpu) != 0;
		others |= a->alarms[i].others > 0;
	}
	snprintf(columns, sizeof columns, "since commit subject%s metric change%s",
		 processors ? " cpu" : "", others ? " others" : "");
	record_summary_columns(b, columns);
}

static void alarms_put(record_builder *b, const dck_history_alarms *a)
{
	static const dck_column columns[] = {{"since", "since, UTC", DCK_UNIT_NONE},
					     {"commit", "commit", DCK_UNIT_NONE},
					     {"command", "command", DCK_UNIT_NONE},
					     {"subject", "subject", DCK_UNIT_NONE},
					     {"engine", "engine", DCK_UNIT_NONE},
					     {"cpu", "processor", DCK_UNIT_NONE},
					     {"machine", "machine", DCK_UNIT_NONE},
					     {"method", "method", DCK_UNIT_NONE},
					     {"metric", "metric", DCK_UNIT_NONE},
					     {"change", "change", DCK_UNIT_NONE},
					     {"before", "before", DCK_UNIT_NONE},
					     {"after", "after", DCK_UNIT_NONE},
					     {"unit", "unit", DCK_UNIT_NONE},
					     {"q", "q", DCK_UNIT_ONE},
					     {"p", "p", DCK_UNIT_ONE},
					     {"others", "other metrics", DCK_UNIT_ONE},
					     {"points", "points", DCK_UNIT_ONE},
					     {"id", "id", DCK_UNIT_NONE}};
	char text[64];

	RECORD_TABLE(b, "history/alarms", "Alarms", columns);
	alarms_columns(b, a);
	for (size_t i = 0; i < a->n; i++) {
		const dck_history_alarm *m = &a->alarms[i];
		const char *const who[] = {m->commit, m->command, m->subject, m->engine,
					   m->cpu,    m->machine, m->method};

		time_cell(b, m->at_unix_ns);
		for (size_t k = 0; k < sizeof who / sizeof who[0]; k++)
			text_cell(b, who[k]);
		record_cell_text(b, m->metric.tag);
		record_cell_text(
		    b, change_text(m->metric.better, m->before, m->after, text, sizeof text));
		record_cell_real(b, m->before);
		record_cell_real(b, m->after);
		record_cell_text(b, dck_unit_text(m->metric.unit));
		record_cell_real(b, m->q);
		record_cell_real(b, m->p);
		record_cell_int(b, (int64_t)m->others);
		record_cell_int(b, (int64_t)m->points);
		record_cell_text(b, m->id);
		if (i < BRIEF_ALARMS)
			record_summary_row(b);
	}
}

dck_status dck_history_alarms_record(const dck_history_alarms *a, const char *title,
				     dck_record **ret, dck_err *err)
{
	record_builder *b = listing_new(title);

	DCK_NEED(b, err, "for the history's records");
	record_fact_int(b, "alarms", "series", DCK_UNIT_ONE, (int64_t)a->series);
	record_fact_int(b, "alarms", "changed", DCK_UNIT_ONE, (int64_t)a->changed);
	record_fact_int(b, "alarms", "too_few_points", DCK_UNIT_ONE, (int64_t)a->few);
	record_fact_real(b, "alarms", "false_discovery_rate", DCK_UNIT_ONE, a->rate);
	alarms_answer(b, a);
	alarms_put(b, a);
	return record_finish(b, ret, err);
}

/* --- two commits */

/* "1.05 times [1.04, 1.06]", without an interval "1.05 times". */
static const char *commits_ratio_text(const dck_history_pair *p, char *buf, size_t size)
{
	if (p->level > 0)
		snprintf(buf, size, "%s times [%s, %s]", DECIMAL_TEXT(4, p->ratio),
			 DECIMAL_TEXT(4, p->lo), DECIMAL_TEXT(4, p->hi));
	else
		snprintf(buf, size, "%s times", DECIMAL_TEXT(4, p->ratio));
	return buf;
}

/* Returns the pair of the answer: the changed one whose ratio is farthest from 1 in the worse
 * direction. NULL: the filter's limit left out all that changed. */
static const dck_history_pair *worst_pair(const dck_history_commits *c)
{
	const double sign = c->metric.better == DCK_BETTER_LOWER ? 1 : -1;
	const dck_history_pair *worst = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (c->pairs[i].changed &&
		    (!worst || sign * log(c->pairs[i].ratio) > sign * log(worst->ratio)))
			worst = &c->pairs[i];
	return worst;
}

static void commits_answer(record_builder *b, const dck_history_commits *c)
{
	const dck_history_pair *p = worst_pair(c);
	char ratio[80], where[100] = "";

	if (c->n == 0) {
		record_answer(b, "no machine has records of both commits with %s", c->metric.tag);
		return;
	}
	if (c->tested == 0) {
		record_answer(b,
			      "no difference of %s can be tested: each machine has one record of a "
			      "commit, and starts differ; measure each commit twice",
			      c->metric.tag);
		return;
	}
	if (c->changed == 0) {
		record_answer(b,
			      "no difference of %s in %" PRIu64
			      " tests that noise would not make (false discovery rate %s %%)",
			      c->metric.tag, c->tested, DECIMAL_TEXT(6, 100 * c->rate));
		return;
	}
	if (!p) {
		record_answer(b,
			      "%s is worse in %" PRIu64 " and better in %" PRIu64 " of %" PRIu64
			      " tests (false discovery rate %s %%)",
			      c->metric.tag, c->worse, c->changed - c->worse, c->tested,
			      DECIMAL_TEXT(6, 100 * c->rate));
		return;
	}
	if (p->cpu)
		snprintf(where, sizeof where, " on %.80s", p->cpu);
	record_answer(b,
		      "%s is worse in %" PRIu64 " and better in %" PRIu64 " of %" PRIu64
		      " tests (false discovery rate %s %%): %s%s is %s what it was",
		      c->metric.tag, c->worse, c->changed - c->worse, c->tested,
		      DECIMAL_TEXT(6, 100 * c->rate),
		      p->subject ? p->subject : "records without a subject", where,
		      commits_ratio_text(p, ratio, sizeof ratio));
}

static void real_cell(record_builder *b, double v, const char *why)
{
	record_cell(b, isfinite(v) ? RECORD_REAL(v) : RECORD_ABSENT(why));
}

static void commits_pair_put(record_builder *b, const dck_history_pair *p)
{
	const char *const who[] = {p->command, p->subject, p->engine};
	char mean[40];

	for (size_t i = 0; i < sizeof who / sizeof who[0]; i++)
		text_cell(b, who[i]);
	snprintf(mean, sizeof mean, "mean of %zu", p->machines);
	text_cell(b, p->machines > 1 ? mean : p->cpu);
	text_cell(b, p->machine);
	text_cell(b, p->method);
	record_cell_real(b, p->ratio);
	interval_cells(b, p->lo, p->hi, p->level);
	if (p->machines > 1)
		record_cell_absent(b, "a mean is not tested");
	else if (isnan(p->q))
		record_cell_absent(b, "a commit has one record");
	else
		record_cell_text(b, !p->changed ? "undecided" : p->worse ? "worse" : "better");
	real_cell(b, p->q, "not tested");
	real_cell(b, p->p, "not tested");
	for (size_t i = 0; i < 2; i++)
		record_cell_int(b, (int64_t)p->records[i]);
}

dck_status dck_history_commits_record(const dck_history_commits *c, const char *title,
				      dck_record **ret, dck_err *err)
{
	static const dck_column columns[] = {{"command", "command", DCK_UNIT_NONE},
					     {"subject", "subject", DCK_UNIT_NONE},
					     {"engine", "engine", DCK_UNIT_NONE},
					     {"cpu", "processor", DCK_UNIT_NONE},
					     {"machine", "machine", DCK_UNIT_NONE},
					     {"method", "method", DCK_UNIT_NONE},
					     {"ratio", "ratio", DCK_UNIT_ONE},
					     {"lo", "lo", DCK_UNIT_ONE},
					     {"hi", "hi", DCK_UNIT_ONE},
					     {"level", "level", DCK_UNIT_ONE},
					     {"verdict", "verdict", DCK_UNIT_NONE},
					     {"q", "q", DCK_UNIT_ONE},
					     {"p", "p", DCK_UNIT_ONE},
					     {"before", "records before", DCK_UNIT_ONE},
					     {"after", "records after", DCK_UNIT_ONE}};
	record_builder *b = listing_new(title);

	DCK_NEED(b, err, "for the history's records");
	record_fact_text(b, "commits", "metric", c->metric.tag);
	record_fact_int(b, "commits", "tested", DCK_UNIT_ONE, (int64_t)c->tested);
	record_fact_int(b, "commits", "changed", DCK_UNIT_ONE, (int64_t)c->changed);
	record_fact_int(b, "commits", "worse", DCK_UNIT_ONE, (int64_t)c->worse);
	record_fact_int(b, "commits", "of_one_commit", DCK_UNIT_ONE, (int64_t)c->one_only);
	record_fact_real(b, "commits", "false_discovery_rate", DCK_UNIT_ONE, c->rate);
	commits_answer(b, c);
	record_gate(b, c->worse > 0	? DCK_VERDICT_VIOLATED
		       : c->tested == 0 ? DCK_VERDICT_INCONCLUSIVE
					: DCK_VERDICT_MET);
	RECORD_TABLE(b, "history/commits", "Commits", columns);
	record_summary_columns(b, "subject cpu ratio lo hi verdict");
	for (size_t i = 0; i < c->n; i++) {
		commits_pair_put(b, &c->pairs[i]);
		if (i < BRIEF_ALARMS)
			record_summary_row(b);
	}
	if (c->one_only > 0)
		record_note(b, "records-left-out",
			    "series left out: %" PRIu64 " of one of the commits alone",
			    c->one_only);
	return record_finish(b, ret, err);
}
