/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"
#include "base/utf8.h"
#include "report/markdown.h"
#include <string.h>

#define PAD_MAX 60 /* longer cells are not waited for */

/* Returns the next character, escaped if it is special in Markdown, HTML or a terminal. */
static const char *next_escaped(const char **text, char buf[6])
{
	bool shown;
	const size_t n = dck_text_char(*text, &shown);
	const char c = **text, *next = *text + n;

	buf[0] = '\\';
	memcpy(buf + 1, *text, n);
	buf[1 + n] = '\0';
	*text = next;
	if (!shown) /* a line's end would end the table */
		return " ";
	if (c == '<')
		return "&lt;";
	if (c == '&')
		return "&amp;";
	if (c == ']') /* a link's text ends only so */
		return *next != '\0' && strchr("([:", *next) ? buf : buf + 1;
	return strchr("\\|`*_~$", c) ? buf : buf + 1;
}

void markdown_text(dck_sink *out, const char *text)
{
	char buf[6];

	while (*text != '\0')
		sink_text(out, next_escaped(&text, buf));
}

/* Columns that the text takes once it is escaped: its code points. */
static size_t markdown_columns_of(const char *text)
{
	size_t n = 0;
	char buf[6];

	while (*text != '\0')
		for (const char *c = next_escaped(&text, buf); *c != '\0'; c++)
			n += !utf8_continues(*c);
	return n;
}

void markdown_no_memory(dck_sink *out)
{
	sink_fail(out, &(dck_err){.code = DCK_E_NOMEM, .msg = "no memory for the tables"});
}

void markdown_line(dck_sink *out, const char *before, const char *text, const char *after)
{
	sink_text(out, before);
	/* A separate line must not start a heading, a quotation or a list. */
	sink_text(out,
		  before[0] == '\0' && text[0] != '\0' && strchr("#>-+=", text[0]) ? "\\" : "");
	markdown_text(out, text);
	sink_fmt(out, "%s\n\n", after);
}

static void markdown_widen(size_t *width, const char *text)
{
	const size_t n = markdown_columns_of(text);

	if (n > *width && n <= PAD_MAX)
		*width = n;
}

static void markdown_cell_put(dck_sink *out, const char *text, size_t width, bool right)
{
	const size_t n = markdown_columns_of(text), pad = n < width ? width - n : 0;

	sink_text(out, " ");
	sink_repeat(out, ' ', right ? pad : 0);
	markdown_text(out, text);
	sink_repeat(out, ' ', right ? 0 : pad);
	sink_text(out, " |");
}

void markdown_table_put(dck_sink *out, const markdown_table *t)
{
	size_t width[MARKDOWN_COLS];
	char buf[MARKDOWN_CELL];

	for (size_t c = 0; c < t->ncols; c++) {
		width[c] = 3;
		markdown_widen(&width[c], t->head(t->self, c, buf));
		for (size_t r = 0; r < t->nrows; r++)
			markdown_widen(&width[c], t->cell(t->self, r, c, buf));
	}
	sink_text(out, "|");
	for (size_t c = 0; c < t->ncols; c++)
		markdown_cell_put(out, t->head(t->self, c, buf), width[c], t->right(t->self, c));
	sink_text(out, "\n|");
	for (size_t c = 0; c < t->ncols; c++) {
		const bool right = t->right(t->self, c);

		sink_text(out, right ? "-" : ":");
		sink_repeat(out, '-', width[c]);
		sink_text(out, right ? ":|" : "-|");
	}
	for (size_t r = 0; r < t->nrows; r++) {
		sink_text(out, "\n|");
		for (size_t c = 0; c < t->ncols; c++)
			markdown_cell_put(out, t->cell(t->self, r, c, buf), width[c],
					  t->right(t->self, c));
	}
	sink_text(out, "\n\n");
}
