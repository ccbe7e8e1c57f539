/* grid.h - table layout that fits the page: columns as wide as their widest cell; if the page is
 * too narrow, the least important columns are omitted, then names are shortened, finally in the
 * middle.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include "report/format.h"
#include "report/text/page.h"

#define GRID_COLS_MAX 16
/* Unless page.whole, a longer title is truncated, if no cell below it is longer. */
#define GRID_TITLE_COLS 30

typedef struct grid_col {
	const char *title;
	unsigned rank; /* columns of the highest rank are omitted first; 0: never */
	bool left;     /* aligned */
} grid_col;

typedef struct grid_name {
	const char *text; /* bytes of it */
	size_t bytes;
	unsigned indent;
	char after[40]; /* suffix that stays if the text is shortened */
} grid_name;

typedef struct grid {
	const char *title; /* of the names */
	/* Units, in a line below the titles: of the names, and of each column. NULL: none. */
	const char *unit;
	const char *const *units;
	const bool *close;    /* columns that follow the previous one closely; NULL: none */
	const unsigned *most; /* maximum width of each; 0, or most NULL: no limit */
	bool right;	      /* names are numbers, and aligned as such */
	unsigned name_min;    /* columns are omitted before names get narrower */
	const grid_col *cols;
	size_t ncols, nrows;
	bool total; /* the last row is a total */
	const void *self;
	void (*name)(const void *self, size_t row, grid_name *ret);
	/* Returns the cell's text, in buf (FORMAT_SIZE bytes) or elsewhere. A column that is empty
	 * in every row is omitted. */
	const char *(*cell)(const void *self, size_t row, size_t col, char *buf);
	/* Writes whole lines below a row; NULL: nothing. */
	void (*below)(const void *self, size_t row, page *p);
} grid;

void grid_put(page *p, const grid *g);
unsigned grid_title_columns(const page *p, const char *title); /* returns the title's columns */

#endif
