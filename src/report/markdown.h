/* markdown.h - writes Markdown tables (GitHub's pipe syntax), with the columns aligned in the
 * source too. Text of a record is escaped.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include "deepclock/report.h"

#define MARKDOWN_CELL 320 /* size of every buffer of a cell */
#define MARKDOWN_COLS 64

typedef struct markdown_table {
	size_t nrows, ncols; /* ncols: at most MARKDOWN_COLS */
	const void *self;
	const char *(*head)(const void *self, size_t col, char *buf);
	const char *(*cell)(const void *self, size_t row, size_t col, char *buf);
	bool (*right)(const void *self, size_t col); /* numbers */
} markdown_table;

void markdown_table_put(dck_sink *out, const markdown_table *t);

/* Writes one line of text between empty lines. */
void markdown_line(dck_sink *out, const char *before, const char *text, const char *after);
void markdown_text(dck_sink *out, const char *text);

void markdown_no_memory(dck_sink *out); /* sets a sticky error of the sink */

/* Writes the operators of a record, as selected by the view. */
void markdown_ops(dck_sink *out, const dck_record *r, const dck_op_view *view);

#endif
