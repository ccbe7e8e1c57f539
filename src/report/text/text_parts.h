/* text_parts.h - the text report, in its parts: the short answer and the details, and what both of
 * them show.
 *
 *	page_init(&p, out, style);
 *	text_summary(&p, record, NULL);
 *
 * Every part writes to a page, which knows the width and whether there are colours. No part knows
 * where the page goes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_TEXT_PARTS_H
#define REPORT_TEXT_PARTS_H

#include "base/mem.h"
#include "report/format.h"
#include "report/text/page.h"

/* The answer in at most 15 lines, or with every row of the table that it shows. rest: where all of
 * it is to be had; NULL: not said. */
void text_summary(page *p, const dck_record *r, bool all_rows, const char *rest);
/* Of it alone: what ran, in one line, and the answer. */
void text_summary_what(page *p, const dck_record *r);
void text_summary_answer(page *p, const dck_record *r);
void text_details(page *p, const dck_record *r);

/* What was measured, with what; `more` at the end of it. */
void text_headline(page *p, const dck_record *r, const char *more);
/* Why it ended early; nothing where it did not. */
void text_incomplete(page *p, const dck_record *r, bool spaced);

/* A metric that has a number, or NULL. */
const dck_metric *text_metric(const dck_record *r, const char *tag, double *ret);
/* The metric that the plan's precision was asked of, NULL: r has none of that name; and the one to
 * show first, with its number: that one, else what there is. */
const dck_metric *text_metric_asked(const dck_record *r);
const dck_metric *text_metric_main(const dck_record *r, double *ret);
format_scale text_latency_scale(const dck_record *r); /* fit for the latter */
/* "[55.4, 56.8]" behind `value`, the metric's text; and " 95 %". */
void text_interval(page *p, const dck_metric *m, const char *value);
void text_level(page *p, double level);
/* "*" behind an interval that is narrower than its level says; and, where r has such metrics, one
 * line for each reason: "* mean: a handful of long runs carries the mean". */
void text_narrow(page *p, const dck_metric *m);
void text_narrow_legend(page *p, const dck_record *r);

/* The notes, all or one. Not those that have the cause of another one, nor what text_incomplete()
 * said. */
void text_notes(page *p, const dck_record *r);
/* "not-steady, imprecise": the notes that stand under n, since what it says to do helps against
 * them too. Returns how many there are. */
enum { TEXT_NOTE_BYTES = 1024 };
size_t text_note_effects(const dck_record *r, const dck_note *n, char *buf, size_t size);
bool text_note_is_own(const dck_record *r, const dck_note *n);
/* In `lines` lines, as far as it can be said in them. */
void text_note_brief(page *p, const dck_note *n, unsigned lines);

/* The measured samples of r as a histogram; nothing where there are too few. */
void text_histogram(page *p, const dck_record *r, const format_scale *scale);
/* The same in one line. */
void text_histogram_line(page *p, const dck_record *r);
/* One mark as high as count of most; 0 of them is a blank. */
void text_level_mark(page *p, size_t count, size_t most);

/* The sections of facts: what was measured, with what, where and how. */
void text_facts(page *p, const dck_record *r);

/* The answer as the sentence that the record has; nothing where it has none. */
void text_answer(page *p, const dck_record *r);
void text_next(page *p, const dck_record *r); /* a command to type, never broken into lines */

/* The tables of operators, as p->ops says; nothing where r has none. */
void text_ops(page *p, const dck_record *r);
/* The types of operators that matter most, in so many lines. */
void text_ops_brief(page *p, const dck_record *r, unsigned lines);

/* The results that come in rows; nothing where r has none. */
void text_tables(page *p, const dck_record *r);
/* What matters of the one that matters, in at most `lines` lines; nothing where that is too few. Of
 * a listing that names rows, the course of its first numbers too. */
#define TEXT_ALL_LINES 0xffffffffu
void text_table_brief(page *p, const dck_record *r, unsigned lines);

/* t, with one column "place" for file, line and module, of at most `cols` columns; t itself where
 * it has no such columns, or where there is no memory. */
const dck_table *text_places(mem_arena *a, const dck_table *t, unsigned cols);

/* Call paths; nothing where r has none. */
void text_trees(page *p, const dck_record *r);

/* A table of two columns without titles: a list of values with their names. */
bool text_is_list(const dck_table *t);
void text_list_put(page *p, const dck_table *t, unsigned lines); /* 0: all of it */

/* The report on a classifier, and which of the tables are in it. */
void text_accuracy(page *p, const dck_record *r, bool titled);
/* Whether the report is short enough for the first screen. */
bool text_accuracy_is_short(const dck_record *r);
bool text_accuracy_has(const dck_table *t);

/* A record of the limits of a machine: its tables, and which metrics are in them. */
bool text_is_machine(const dck_record *r);
void text_machine(page *p, const dck_record *r);
void text_machine_brief(page *p, const dck_record *r); /* the best of each, a few lines */
bool text_machine_shows(const dck_metric *m);

void text_verdicts(page *p, const dck_record *r);

/* A fact's value as text, or NULL where r does not have it or it is absent. */
const char *text_fact(const dck_record *r, const char *section, const char *key, char *buf);
const char *text_fact_value(const dck_fact *f, char *buf);
bool text_fact_is_share(const dck_fact *f); /* shown as percent */

/* The latencies have intervals, and with them the legend that says of which kind. */
bool text_is_latency(const dck_metric *m);
bool text_has_interval(const dck_record *r);

/* A part's title on a line of its own, after an empty line. */
void text_title(page *p, const char *title);

#endif
