/* page.h - text layout on a page of given width: columns, wrapping, colour. All text of a record
 * passes through page_text() or page_wrap(), which remove control characters, because a file from
 * another user must not control the reader's terminal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "base/sink.h"

typedef enum text_style { PAGE_PLAIN, PAGE_BOLD, PAGE_DIM, PAGE_WARN, PAGE_ERROR } text_style;

typedef struct page {
	dck_sink *out;
	bool utf8, colour, terminal;
	bool whole;	     /* in a file, outside of a summary: names are not cut to the width */
	unsigned width, col; /* in columns; position of the next character */
	bool space;	     /* a space is due before the next text on this line */
	unsigned due;	     /* number of pending blanks, counted in col: no line ends in blanks */
	text_style ink;
	dck_op_view ops;
} page;

void page_init(page *p, dck_sink *out, const dck_style *style);
void text_style_set(page *p, text_style ink);
void page_line(page *p);		/* ends the line and its colour */
void page_space(page *p);		/* a space, unless the line ends here */
void page_to(page *p, unsigned col);	/* spaces up to that column; none if already past it */
void page_break(page *p, unsigned col); /* ends the line, and goes to that column of the next */
void page_text(page *p, const char *text);
/* page.whole: names are whole up to this width; longer ones would break every line of a table. */
#define PAGE_FILE_COLS 160
/* Writes the text, truncated with ".." to `cols` columns; if page.whole, as page_text_middle(). */
void page_text_cut(page *p, const char *text, unsigned cols);
/* Writes the first `bytes` of text, shortened with ".." in the middle to fit; if page.whole, to
 * PAGE_FILE_COLS if `cols` is less. */
void page_text_middle(page *p, const char *text, size_t bytes, unsigned cols);
void page_text_right(page *p, const char *text, unsigned cols); /* right-aligned in `cols` */
void page_fmt(page *p, const char *fmt, ...) DCK_PRINTF(2, 3);	/* at most 255 bytes */
/* Writes words from the current column, continued at column `indent` of the next lines; a word
 * wider than a line is broken. Does not end the last line, and leaves one column in it. */
void page_wrap(page *p, unsigned indent, const char *text);
unsigned page_columns(const char *text);	    /* as a terminal shows it */
void page_widen(unsigned *width, const char *text); /* to at least the text's columns */
unsigned page_columns_n(const char *text, size_t bytes);

#endif
