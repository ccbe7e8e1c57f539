/* page.c - layout of text for a terminal or a file: columns, greedy line filling, and colours by
 * SGR escape sequences (ECMA-48).
 *
 * Blanks are lazy: page_to() and page_space() only count them, in `due` and `space`, and the next
 * character writes them, so that no line ends in blanks. `col` counts columns as utf8_columns()
 * does: 2 of a wide character, 0 of a mark that joins the one before. page_wrap() fills lines
 * greedily. A word wider than a line is broken in the second half of the free columns, after its
 * last slash or else another separator.
 *
 * Invariant: every text of a record goes through columns_write(), which replaces control characters
 * and bytes that are not UTF-8, so that a record from elsewhere cannot send escape sequences to the
 * terminal. Where the style has no UTF-8 it replaces all but ASCII. Time is linear in the text; no
 * memory is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/text/page.h"
#include "base/units.h"
#include "base/utf8.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WIDTH_DEFAULT 80
#define WIDTH_MIN     40
#define WIDTH_MAX     400

void page_init(page *p, dck_sink *out, const dck_style *style)
{
	static const dck_style plain = {.colour = false};
	const dck_style *s = style ? style : &plain;
	unsigned width = s->width != 0 ? s->width : WIDTH_DEFAULT;

	*p = (page){.out = out,
		    .utf8 = s->utf8,
		    .colour = s->colour,
		    .terminal = s->terminal,
		    .whole = !s->terminal,
		    .width = width < WIDTH_MIN	 ? WIDTH_MIN
			     : width > WIDTH_MAX ? WIDTH_MAX
						 : width,
		    .ops = s->ops};
}

void text_style_set(page *p, text_style ink)
{
	static const char *const code[] = {[PAGE_PLAIN] = "\033[0m",
					   [PAGE_BOLD] = "\033[1m",
					   [PAGE_DIM] = "\033[2m",
					   [PAGE_WARN] = "\033[33m",
					   [PAGE_ERROR] = "\033[31m"};
	p->ink = ink;
	if (p->colour)
		sink_text(p->out, code[ink]);
}

/* Ends the line; the ink continues in the next one. */
static void page_line_break(page *p)
{
	sink_text(p->out, "\n");
	p->col = 0;
	p->due = 0;
	p->space = false;
}

void page_line(page *p)
{
	if (p->ink != PAGE_PLAIN)
		text_style_set(p, PAGE_PLAIN);
	page_line_break(p);
}

void page_space(page *p)
{
	p->space = p->col > 0;
}

static void space_put(page *p)
{
	sink_repeat(p->out, ' ', p->due);
	p->due = 0;
	if (p->space) {
		sink_text(p->out, " ");
		p->col++;
	}
	p->space = false;
}

void page_to(page *p, unsigned col)
{
	if (col > p->col) {
		p->space = false;
		p->due += col - p->col;
		p->col = col;
	}
}

unsigned page_columns(const char *text)
{
	return page_columns_n(text, SIZE_MAX);
}

void page_widen(unsigned *width, const char *text)
{
	const unsigned n = page_columns(text);

	if (n > *width)
		*width = n;
}

/* Returns the bytes of the first character, its columns in *ret_cols, and whether it is shown. */
static size_t page_char(const char *text, unsigned *ret_cols, bool *ret_shown)
{
	const size_t n = dck_text_char(text, ret_shown);

	*ret_cols = *ret_shown ? utf8_columns(text, n) : 1;
	return n;
}

/* Writes the characters of at most `cols` columns, marks that join the last of them included, of
 * the first `bytes` of text; returns the rest of the text. */
static const char *columns_write(page *p, const char *text, size_t bytes, unsigned cols)
{
	const char *s = text;
	unsigned width;

	if (bytes > 0 && *s != '\0' && cols > 0)
		space_put(p);
	for (; (size_t)(s - text) < bytes && *s != '\0'; cols -= width, p->col += width) {
		bool shown;
		const size_t n = page_char(s, &width, &shown);

		if (width > cols)
			break;
		if (!shown)
			sink_text(p->out, (unsigned char)s[0] < 0x20 ? " " : "?");
		else if (n > 1 && !p->utf8)
			sink_text(p->out, units_mu(s) > 0 ? "u" : &"??"[2 - width]);
		else
			sink_put(p->out, s, n);
		s += n;
	}
	return s;
}

void page_break(page *p, unsigned col)
{
	page_line(p);
	page_to(p, col);
}

void page_text(page *p, const char *text)
{
	columns_write(p, text, SIZE_MAX, page_columns(text));
}

void page_text_cut(page *p, const char *text, unsigned cols)
{
	const bool fits = page_columns(text) <= cols;

	if (!fits && p->whole) {
		page_text_middle(p, text, SIZE_MAX, cols);
		p->space = true; /* before the next column */
	} else if (fits) {
		page_text(p, text);
	} else if (cols > 2) {
		columns_write(p, text, SIZE_MAX, cols - 2);
		columns_write(p, "..", 2, 2);
	}
}

unsigned page_columns_n(const char *text, size_t bytes)
{
	unsigned cols = 0, width;
	bool shown;

	for (size_t at = 0; at < bytes && text[at] != '\0'; cols += width)
		at += page_char(text + at, &width, &shown);
	return cols;
}

/* Cuts a text in the middle, because the end of a path identifies it best: "/lay..conv1/Conv". */
void page_text_middle(page *p, const char *text, size_t bytes, unsigned cols)
{
	const unsigned n = page_columns_n(text, bytes);
	unsigned width;
	bool shown;

	if (p->whole && cols < PAGE_FILE_COLS)
		cols = PAGE_FILE_COLS;
	if (n <= cols) {
		columns_write(p, text, bytes, n);
		return;
	}
	if (cols < 5) {
		columns_write(p, text, bytes, cols);
		return;
	}
	unsigned head = (cols - 2) / 3, tail = cols - 2 - head;
	columns_write(p, text, bytes, head);
	columns_write(p, "..", 2, 2);
	const char *from = text;
	for (unsigned skip = n - tail; skip > 0; skip -= width < skip ? width : skip)
		from += page_char(from, &width, &shown);
	columns_write(p, from, bytes - (size_t)(from - text), tail);
}

void page_text_right(page *p, const char *text, unsigned cols)
{
	unsigned n = page_columns(text);
	if (n < cols)
		page_to(p, p->col + cols - n);
	page_text(p, text);
}

void page_fmt(page *p, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	page_text(p, text);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the columns of the first word of text; *ret_bytes: its bytes. */
static unsigned word_columns(const char *text, size_t *ret_bytes)
{
	const char *s = text;
	unsigned n = 0, width;
	bool shown;
	for (; *s != '\0' && !is_space(*s); n += width)
		s += page_char(s, &width, &shown);
	*ret_bytes = (size_t)(s - text);
	return n;
}

/* Returns after how many columns, at most `most`, to break a word wider than a line: in their
 * second half after the last slash, else after the last other mark between names. */
static unsigned break_columns(const char *word, unsigned most)
{
	unsigned at = 0, n = 0, width;
	bool shown, slash = false;

	for (const char *s = word; *s != '\0'; n += width) {
		const char *next = s + page_char(s, &width, &shown);

		if (n + width > most)
			break;
		if (n + width > most / 2 && (*s == '/' || (!slash && strchr(",;:=_-", *s)))) {
			slash |= *s == '/';
			at = n + width;
		}
		s = next;
	}
	return at > 0 ? at : n;
}

void page_wrap(page *p, unsigned indent, const char *text)
{
	const unsigned width = p->width - 1; /* a comma may follow the last word */

	if (indent + 20 > width)
		indent = 0;
	for (;;) {
		size_t bytes;
		while (is_space(*text))
			text++;
		if (*text == '\0')
			return;
		unsigned n = word_columns(text, &bytes);
		const char *end = text + bytes;
		if (p->col > indent && p->col + p->space + n > width) {
			page_line_break(p);
			page_to(p, indent);
		}
		while (p->col + n > width) { /* only a word wider than a line */
			unsigned part = break_columns(text, p->col < width ? width - p->col : 0);
			text = columns_write(p, text, (size_t)(end - text), part);
			n -= part;
			page_line_break(p);
			page_to(p, indent);
		}
		columns_write(p, text, (size_t)(end - text), n);
		text = end;
		page_space(p);
	}
}
