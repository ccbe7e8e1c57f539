/* grid.h - a table that fits the page: columns as wide as their widest, those that matter least
 * left out where there is no room, names shortened, at last in the middle.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include "report/format.h"
#include "report/text/page.h"

#define GRID_COLS_MAX 16
/* On a terminal a longer title is cut, unless the cells below it are longer still. */
#define GRID_TITLE_COLS 30

typedef struct grid_col {
	const char *title;
	unsigned rank; /* those of the highest go first; 0: stays */
	bool left;     /* aligned */
} grid_col;

typedef struct grid_name {
	const char *text; /* bytes of it */
	size_t bytes;
	unsigned indent;
	char after[40]; /* stays where the text is shortened */
} grid_name;

typedef struct grid {
	const char *title; /* of the names */
	/* A line below the titles: of the names, and of each column. NULL: none. */
	const char *unit;
	const char *const *units;
	const bool *close;    /* columns that stand close to the one before them; NULL: none */
	const unsigned *most; /* columns that each has at most; 0, or most NULL: no bound */
	bool right;	      /* names are numbers, and aligned as such */
	unsigned name_min;    /* columns go rather than that names have less */
	const grid_col *cols;
	size_t ncols, nrows;
	bool total; /* the last row is one */
	const void *self;
	void (*name)(const void *self, size_t row, grid_name *ret);
	/* The cell's text, in buf (FORMAT_SIZE bytes) or elsewhere. Empty: nothing to say. A column
	 * with nothing to say in any row is left out. */
	const char *(*cell)(const void *self, size_t row, size_t col, char *buf);
	/* What comes below a row, in whole lines; NULL: nothing. */
	void (*below)(const void *self, size_t row, page *p);
} grid;

void grid_put(page *p, const grid *g);
unsigned grid_title_columns(const page *p, const char *title); /* that a column needs for it */

#endif
