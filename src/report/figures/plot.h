/* plot.h - lines of points with intervals against a number, from the rows of a table: what a search
 * or a sweep found.
 *
 *	plot p = {.title = "Throughput by batch", .x = {.base = 2, .title = "batch"}, ...};
 *
 *	for (size_t i = 0; i < t->nrows; i++)
 *		plot_add(&p, "2 threads", batch, dck_table_cell(t, i, "throughput"));
 *	plot_draw(&p, out);
 *	plot_done(&p);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "report/figures/svg.h"

enum { PLOT_LISTS = 7 };

typedef struct plot_point {
	unsigned list;
	double x;
	svg_interval y;
} plot_point;

typedef struct plot {
	const char *title, *note; /* note: or NULL */
	svg_axis x, y;		  /* from and to: added to the range of the points */
	bool zero, far; /* the y axis begins at 0; is logarithmic if values are far apart */
	double rule;	/* marked on the y axis; NaN: none */
	const char *names[PLOT_LISTS]; /* borrowed; "": the only list */
	unsigned nlists;
	plot_point *points; /* @owned */
	size_t n, cap;
	size_t left_out; /* points of more than PLOT_LISTS lists */
	bool failed;	 /* no memory */
} plot;

/* Adds a point; one without a finite x and y is ignored. name: of its list. */
void plot_add(plot *p, const char *name, double x, const dck_cell *y);
void plot_draw(plot *p, dck_sink *out);
void plot_done(plot *p);

/* false: the table has no such column, and *ret is the number of its columns. */
bool plot_column_find(const dck_table *t, const char *key, size_t *ret);
/* Returns the text of a cell; "": there is none. */
const char *plot_text_at(const dck_table *t, size_t row, const char *key);
/* Returns the value of a cell with its interval; NaN: it has none. cell: may be NULL. */
svg_interval plot_interval_of(const dck_cell *cell);

#endif
