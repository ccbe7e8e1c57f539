/* markdown.h - tables as GitHub and most other readers of Markdown take them: pipes, with the
 * columns aligned in the source too. Any text of a record is written so that it stays text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_MARKDOWN_H
#define REPORT_MARKDOWN_H

#include "deepclock/report.h"

#define MARKDOWN_CELL 320 /* of every buffer that a cell is made in */
#define MARKDOWN_COLS 64

typedef struct markdown_table {
	size_t nrows, ncols; /* ncols: at most MARKDOWN_COLS */
	const void *self;
	const char *(*head)(const void *self, size_t col, char *buf);
	const char *(*cell)(const void *self, size_t row, size_t col, char *buf);
	bool (*right)(const void *self, size_t col); /* numbers */
} markdown_table;

void markdown_table_put(dck_sink *out, const markdown_table *t);

/* One line of text between empty lines. */
void markdown_line(dck_sink *out, const char *before, const char *text, const char *after);
void markdown_text(dck_sink *out, const char *text);

void markdown_no_memory(dck_sink *out); /* an error of the sink, which sticks */

/* The operators of a record, as the view says. */
void markdown_ops(dck_sink *out, const dck_record *r, const dck_op_view *view);

#endif
