/* build.h - builder of records, the only way to make one. It takes facts, metrics, tables and notes
 * one by one, and returns the finished record.
 *
 *	record_builder *b = record_new();
 *
 *	record_fact_text(b, "subject", "engine", "ort");
 *	record_metric_absent(b, "latency/p99", "too few runs");
 *	return record_finish(b, &record, err);
 *
 * Strings are copied. A failure (no memory) is sticky until record_finish(): the calls before it
 * need no check. A value that is not known is absent and has a reason; it is never 0 or NaN. After
 * record_finish() the record never changes, and writers only read it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_BUILD_H
#define RECORD_BUILD_H

#include "deepclock/record.h"
#include "base/json/json_write.h"
#include "record/record_internal.h"
#include <stdarg.h>

typedef struct record_builder record_builder;

record_builder *record_new(void);    /* @owned, record_finish or record_drop; NULL: no memory */
void record_drop(record_builder *b); /* NULL is allowed */
/* Returns the record, which the caller owns, and frees the builder, also on failure. */
dck_status record_finish(record_builder *b, dck_record **ret, dck_err *err) DCK_MUST_USE;
/* The same if the steps before it succeeded; else frees the builder, NULL too, and returns their
 * status. */
dck_status record_finish_if(dck_status status, record_builder *b, dck_record **ret,
			    dck_err *err) DCK_MUST_USE;
bool record_has_rows(const dck_record *r); /* any of its tables */

void record_set_id(record_builder *b, const char *id);
void record_set_began(record_builder *b, int64_t unix_ns);
void record_set_command(record_builder *b, const char *text);
void record_set_incomplete(record_builder *b, bool incomplete);

/* Values to pass. A text is copied. Text NULL: absent; why NULL: "not known". */
#define RECORD_INT(v)	   ((dck_value){.kind = DCK_VALUE_INT, .as.i = (v)})
#define RECORD_REAL(v)	   ((dck_value){.kind = DCK_VALUE_REAL, .as.r = (v)})
#define RECORD_TEXT(v)	   ((dck_value){.kind = DCK_VALUE_TEXT, .as.text = (v)})
#define RECORD_ABSENT(why) ((dck_value){.kind = DCK_VALUE_ABSENT, .as.text = (why)})

/* Adds a fact. A later fact of the same section and key replaces the earlier one. */
void record_fact(record_builder *b, const char *section, const char *key, dck_unit u, dck_value v);
void record_fact_text(record_builder *b, const char *section, const char *key, const char *text);
void record_fact_fmt(record_builder *b, const char *section, const char *key, const char *fmt, ...)
    DCK_PRINTF(4, 5);
void record_fact_bool(record_builder *b, const char *section, const char *key, bool v);
void record_fact_int(record_builder *b, const char *section, const char *key, dck_unit u,
		     int64_t v);
void record_fact_real(record_builder *b, const char *section, const char *key, dck_unit u,
		      double v);
void record_fact_absent(record_builder *b, const char *section, const char *key, const char *why);

/* Copies n values, and n times if at_ns is not NULL. */
void record_series(record_builder *b, const char *tag, dck_unit u, const uint64_t *at_ns,
		   const double *values, size_t n, size_t warmup);

/* Adds a series of n values that the caller fills in, and of n times if ret_at_ns is not NULL.
 * false: no memory. */
bool record_series_room(record_builder *b, const char *tag, dck_unit u, size_t n, size_t warmup,
			double **ret_values, uint64_t **ret_at_ns);

/* Adds a metric. tag must be in metrics.def, or belong to a family there (asserted). A value that
 * is not finite becomes absent, "not a finite number". Level 0, or an end that is not finite: no
 * interval. */
void record_metric(record_builder *b, const char *tag, dck_value v, double lo, double hi,
		   double level, const char *how);
void record_metric_real(record_builder *b, const char *tag, double v, const char *how);
void record_metric_int(record_builder *b, const char *tag, int64_t v, const char *how);
void record_metric_interval(record_builder *b, const char *tag, double v, double lo, double hi,
			    double level, const char *how);
void record_metric_absent(record_builder *b, const char *tag, const char *why);
/* Adds v if it is known; else the metric is absent, because of `why`. */
void record_metric_if(bool known, record_builder *b, const char *tag, dck_value v, const char *how,
		      const char *why);
/* Adds a metric of another record, also one that metrics.def does not have. */
void record_metric_copy(record_builder *b, const dck_metric *from);
/* Adds a metric that is absent because it is a formula of open sizes, "4.09 G * N". */
void record_metric_open(record_builder *b, const char *tag, const char *formula);

/* Marks that metric's interval, if it has one, as too narrow for its level, with the reason; "": it
 * is not. */
void record_metric_narrow(record_builder *b, const char *tag, const char *why);

/* Sets the unit of that metric, if its row allows another unit (record_def_in). */
void record_metric_unit(record_builder *b, const char *tag, dck_unit u);

/* Sets the result as one sentence with its numbers, for readers: fact "answer" of section "result".
 * A summary shows it above (on a terminal below) all else; a later answer replaces it. No full
 * stop, no advice (notes have that), at most about 150 characters: "mobilenet is 2.31 times slower
 * than resnet18 [1.93, 2.66]". */
void record_answer(record_builder *b, const char *fmt, ...) DCK_PRINTF(2, 3);

/* Sets the worst of the record's verdicts, for scripts: fact "gate" of section "result", an
 * integer.
 */
void record_gate(record_builder *b, dck_verdict v);

/* Begins a table, filled row by row: record_table(), then for each row a cell for each column, in
 * their order (asserted at the next table, series or record_finish()). columns is copied. Text in a
 * column with a unit is not allowed (asserted); a number in a column without a unit is. A name or
 * key that exists already gets a number as suffix ("points/2", "p99_2"). */
void record_table(record_builder *b, const char *name, const char *title, const dck_column *columns,
		  size_t ncolumns);
#define RECORD_TABLE(b, name, title, columns) \
	record_table(b, name, title, columns, sizeof(columns) / sizeof *(columns))
/* Reserves memory for n rows of the last table, for large tables: growing needs twice the memory.
 */
void record_table_reserve(record_builder *b, size_t n);
void record_cell(record_builder *b, dck_value v);
void record_cell_text(record_builder *b, const char *text);
void record_cell_fmt(record_builder *b, const char *fmt, ...) DCK_PRINTF(2, 3);
void record_cell_bool(record_builder *b, bool v);
void record_cell_int(record_builder *b, int64_t v);
void record_cell_real(record_builder *b, double v); /* not finite: absent */
void record_cell_interval(record_builder *b, double v, double lo, double hi, double level);
/* Adds a cell of another record, with its interval. */
void record_cell_copy(record_builder *b, const dck_cell *from);
void record_cell_absent(record_builder *b, const char *why);

/* Set the part of the last table that a summary shows. A summary shows one table: the first for
 * which columns were named, else the first of all; of it the first column and the columns named
 * here ("ratio verdict", keys separated by spaces, which need not exist), as far as they fit, and
 * the rows named, each after its last cell. Rows: a few, the most important ones; none: the first
 * of the table. */
void record_summary_columns(record_builder *b, const char *keys);
void record_summary_row(record_builder *b);

/* Copies a tree. Parents are before their children, weights are finite (asserted). */
void record_tree(record_builder *b, const dck_tree *t);

/* Copies an operator, names and arrays too. A zeroed dck_value is absent, "not measured". */
void record_op(record_builder *b, const dck_op *op);

/* Adds a note, with the remedy of its row in notes.def if it has one. */
void record_note(record_builder *b, const char *code, const char *fmt, ...) DCK_PRINTF(3, 4);
/* Adds a note of another severity than its row's, without the row's remedy. */
void record_note_as(record_builder *b, dck_severity severity, const char *code, const char *fmt,
		    ...) DCK_PRINTF(4, 5);
/* Appends to the text of the note added last what the reader can do, after a semicolon. */
void record_remedy(record_builder *b, const char *fmt, ...) DCK_PRINTF(2, 3);
/* Adds a copy of a note of another record, without its cause. */
void record_note_copy(record_builder *b, const dck_note *n);
/* The same; its text begins with the formatted words. */
void record_note_of(record_builder *b, const dck_note *n, const char *fmt, ...) DCK_PRINTF(3, 4);
const dck_note_def *record_note_find(const char *code); /* static; NULL: unknown code */
/* Sets the cause of the notes of `code` to the first note of code `cause`. Does nothing if either
 * is missing. */
void record_note_set_cause(record_builder *b, const char *code, const char *cause);
/* Return the operators and the notes added before, borrowed until the next call on b. */
const dck_op *record_ops(const record_builder *b, size_t *ret_n);
const dck_note *record_notes(const record_builder *b, size_t *ret_n);

/* record_json.c: writes the JSON format, docs/reference/record.md. */
void record_json_write(const dck_record *r, dck_sink *out);
/* Writes it as one object inside a larger text. */
void record_json_put(const dck_record *r, json_writer *w);

#endif
