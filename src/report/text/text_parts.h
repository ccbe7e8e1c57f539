/* text_parts.h - the parts of the text report: the summary, the details, and the parts of both.
 *
 *	page_init(&p, out, style);
 *	text_summary(&p, record, NULL);
 *
 * Every part writes to a page, which has the width and the colours.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_TEXT_PARTS_H
#define REPORT_TEXT_PARTS_H

#include "base/mem.h"
#include "report/format.h"
#include "report/text/page.h"

/* Writes the answer in at most 15 lines, or with all rows of its table. rest: how to get the whole
 * report; NULL: omitted. */
void text_summary(page *p, const dck_record *r, bool all_rows, const char *rest);
/* Writes only the first parts of the summary: the subject, in one line, and the answer. */
void text_summary_what(page *p, const dck_record *r);
void text_summary_answer(page *p, const dck_record *r);
void text_details(page *p, const dck_record *r);

/* Writes the subject and the engine, followed by `more`. */
void text_headline(page *p, const dck_record *r, const char *more);
/* Returns the note with the reason why r is incomplete; NULL: none. */
const dck_note *text_end_note(const dck_record *r);
/* Writes the reason of an early end; nothing if it did not end early. */
void text_incomplete(page *p, const dck_record *r, bool spaced);

/* Returns a metric that has a number, or NULL. */
const dck_metric *text_metric(const dck_record *r, const char *tag, double *ret);
/* Returns the metric with the requested precision, NULL: not in r; and the metric to show first,
 * with its number: that metric, else an available one. */
const dck_metric *text_metric_asked(const dck_record *r);
const dck_metric *text_metric_main(const dck_record *r, double *ret);
format_scale text_latency_scale(const dck_record *r); /* scale of the main metric */
/* Writes "[55.4, 56.8]" after `value`, the metric's text; and " 95 %". */
void text_interval(page *p, const dck_metric *m, const char *value);
/* Writes "  [55.4, 56.8]* 95 %" in that scale, or "  (no interval)". */
void text_scaled_interval(page *p, const dck_metric *m, const format_scale *scale);
/* Writes a line with the reason why a metric is absent. */
void text_absent_line(page *p, const dck_metric *m);
void text_level(page *p, double level);
/* Writes "*" after an interval that is too narrow for its level (undercoverage); and, if r has such
 * metrics, one line per reason: "* mean: a handful of long runs carries the mean". */
void text_narrow(page *p, const dck_metric *m);
void text_narrow_legend(page *p, const dck_record *r);

/* Writes the notes, all or one, except notes that another note causes, and the note of
 * text_incomplete(). */
void text_notes(page *p, const dck_record *r);
/* Writes "not-steady, imprecise": the notes that n causes, because the fix of n helps against them
 * too. Returns their number. */
enum { TEXT_NOTE_BYTES = 1024 };
size_t text_note_effects(const dck_record *r, const dck_note *n, char *buf, size_t size);
bool text_note_is_own(const dck_record *r, const dck_note *n);
/* Writes the note in at most `lines` lines, shortened. */
void text_note_brief(page *p, const dck_note *n, unsigned lines);

/* Writes the measured samples of r as a histogram; nothing if there are too few. */
void text_histogram(page *p, const dck_record *r);
/* Writes the histogram in one line. */
void text_histogram_line(page *p, const dck_record *r);
/* Writes one bar mark of height count / most; a blank for 0. */
void text_level_mark(page *p, size_t count, size_t most);

/* Writes the sections of facts: subject, engine, host and method. */
void text_facts(page *p, const dck_record *r);

/* Writes the record's answer; nothing if it has none. */
void text_answer(page *p, const dck_record *r);
void text_next(page *p, const dck_record *r); /* a command to type, never broken into lines */

/* Writes the tables of operators, as selected by p->ops; nothing if r has none. */
void text_ops(page *p, const dck_record *r);
/* Writes the most important operator types, in `lines` lines. */
void text_ops_brief(page *p, const dck_record *r, unsigned lines);

/* Writes the tables of results; nothing if r has none. */
void text_tables(page *p, const dck_record *r);
/* Writes the most important rows of the main table, in at most `lines` lines; nothing if these are
 * too few. For a listing with named rows, also a sparkline of its first numbers. */
#define TEXT_ALL_LINES 0xffffffffu
void text_table_brief(page *p, const dck_record *r, unsigned lines);

/* Returns t with file, line and module merged into one column "place", at most `cols` wide; t
 * itself if it has no such columns, or without memory. */
const dck_table *text_places(mem_arena *a, const dck_table *t, unsigned cols);

/* Writes the call paths; nothing if r has none. */
void text_trees(page *p, const dck_record *r);

/* Returns whether the table has two columns without titles: a list of named values. */
bool text_is_list(const dck_table *t);
void text_list_put(page *p, const dck_table *t, unsigned lines); /* 0: no limit */

/* Writes the report on a classifier; text_accuracy_has() returns whether a table is in it. */
void text_accuracy(page *p, const dck_record *r, bool titled);
/* Returns whether the report is short enough for the first screen. */
bool text_accuracy_is_short(const dck_record *r);
bool text_accuracy_has(const dck_table *t);

/* Detect and write a record of machine limits; text_machine_shows() returns whether a metric is in
 * its tables. */
bool text_is_machine(const dck_record *r);
void text_machine(page *p, const dck_record *r);
void text_machine_brief(page *p, const dck_record *r); /* the best of each, a few lines */
bool text_machine_shows(const dck_metric *m);

void text_verdicts(page *p, const dck_record *r);

/* Returns a fact's value as text, or NULL if r does not have it or it is absent. */
const char *text_fact(const dck_record *r, const char *section, const char *key, char *buf);
const char *text_fact_value(const dck_fact *f, char *buf);
/* Returns false for a fact that is not a number, or is not in r. */
bool text_fact_number(const dck_record *r, const char *section, const char *key, double *ret);
bool text_fact_is_share(const dck_fact *f); /* shown as percent */

/* Return whether m is a latency, and whether r has one with an interval, which needs a legend. */
bool text_is_latency(const dck_metric *m);
/* Returns whether m is a counted event, which has no row in a table. */
#define TEXT_COUNTER "counter/"
bool text_is_counter(const dck_metric *m);
bool text_has_interval(const dck_record *r);

/* Writes the title of a part on a separate line, after an empty line. */
void text_title(page *p, const char *title);
/* Goes to that column, and continues dim. */
void text_dim_from(page *p, unsigned col);
void text_dim_line(page *p, const char *text); /* wrapped, at column 2 */

#endif
