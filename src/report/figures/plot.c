/* plot.c - lines of points with intervals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/plot.h"
#include "base/err.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLOT_FAR_RATIO 20 /* from which on values are far apart, as on the page */

bool plot_column_find(const dck_table *t, const char *key, size_t *ret)
{
	for (*ret = 0; *ret < t->ncolumns; ++*ret)
		if (strcmp(t->columns[*ret].key, key) == 0)
			return true;
	return false;
}

const char *plot_text_at(const dck_table *t, size_t row, const char *key)
{
	const dck_cell *c = dck_table_cell(t, row, key);

	return c && c->value.kind == DCK_VALUE_TEXT ? c->value.as.text : "";
}

svg_interval plot_interval_of(const dck_cell *cell)
{
	svg_interval v = {NAN, NAN, NAN};

	if (!cell)
		return v;
	v.value = dck_value_number(&cell->value);
	if (cell->level > 0 && cell->lo <= cell->hi) {
		v.lo = cell->lo;
		v.hi = cell->hi;
	}
	return v;
}

static bool list_of(plot *p, const char *name, unsigned *ret)
{
	for (*ret = 0; *ret < p->nlists; ++*ret)
		if (strcmp(p->names[*ret], name) == 0)
			return true;
	if (p->nlists == PLOT_LISTS)
		return false;
	p->names[p->nlists++] = name;
	return true;
}

void plot_add(plot *p, const char *name, double x, const dck_cell *y)
{
	const svg_interval v = plot_interval_of(y);
	unsigned list;

	if (!isfinite(x) || !isfinite(v.value) || (p->x.base && !(x > 0)))
		return;
	if (!list_of(p, name, &list)) {
		p->left_out++;
		return;
	}
	if (!mem_reserve(&p->points, &p->cap, p->n + 1, sizeof *p->points)) {
		p->failed = true;
		return;
	}
	p->points[p->n++] = (plot_point){list, x, v};
}

static int points_by_place(const void *a, const void *b)
{
	const plot_point *p = a, *q = b;

	if (p->list != q->list)
		return p->list < q->list ? -1 : 1;
	return (p->x > q->x) - (p->x < q->x);
}

static void range_add(svg_axis *a, double v)
{
	if (!isfinite(v) || (a->base && !(v > 0)))
		return;
	a->from = fmin(a->from, v);
	a->to = fmax(a->to, v);
}

/* Adds a margin around the points. */
static void axis_widen(svg_axis *a, double share, bool zero)
{
	if (a->base) {
		const double factor = fmax(pow(a->to / a->from, share), 1.1);

		a->from /= factor;
		a->to *= factor;
	} else {
		const double by = (a->to - a->from) * share;

		a->from = zero && a->from >= 0 ? 0 : a->from - by;
		a->to += by;
	}
}

static void axes_set(plot *p)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < p->n; i++) {
		least = fmin(least, p->points[i].y.value);
		most = fmax(most, p->points[i].y.value);
	}
	if (p->far && least > 0 && most > PLOT_FAR_RATIO * least)
		p->y.base = 10;
	p->x.from = p->y.from = INFINITY;
	p->x.to = p->y.to = -INFINITY;
	for (size_t i = 0; i < p->n; i++) {
		range_add(&p->x, p->points[i].x);
		range_add(&p->y, p->points[i].y.value);
		range_add(&p->y, p->points[i].y.lo);
		range_add(&p->y, p->points[i].y.hi);
	}
	range_add(&p->y, p->rule);
	axis_widen(&p->x, 0.04, false);
	axis_widen(&p->y, 0.06, p->zero);
}

static void list_draw(const plot *p, svg *s, unsigned list)
{
	bool first = true;

	svg_path_begin(s);
	for (size_t i = 0; i < p->n; i++) {
		if (p->points[i].list != list)
			continue;
		svg_path_to(s, p->points[i].x, p->points[i].y.value, first);
		first = false;
	}
	svg_path_end(s);
	for (size_t i = 0; i < p->n; i++) {
		const plot_point *at = &p->points[i];

		if (at->list != list)
			continue;
		if (isfinite(at->y.lo))
			svg_line(s, at->x, at->y.lo, at->x, at->y.hi, false);
		svg_dot(s, at->x, at->y.value, 4, p->names[list][0] ? p->names[list] : NULL);
	}
}

void plot_draw(plot *p, dck_sink *out)
{
	static const svg_colour inks[PLOT_LISTS] = {SVG_BLUE,  SVG_ORANGE, SVG_GREEN, SVG_PINK,
						    SVG_BLACK, SVG_SKY,	   SVG_GOLD};
	char note[256];
	double names = 0;
	dck_err err;
	svg s;

	if (p->failed) {
		ERR_NO_MEMORY(&err, "for a figure");
		sink_fail(out, &err);
		return;
	}
	if (p->n > 0)
		qsort(p->points, p->n, sizeof *p->points, points_by_place);
	axes_set(p);
	svg_open(&s, out, p->title);
	snprintf(note, sizeof note, "%s", p->note ? p->note : "");
	if (p->left_out > 0)
		snprintf(note + strlen(note), sizeof note - strlen(note),
			 "%s%zu points of other settings are left out", note[0] ? "; " : "",
			 p->left_out);
	if (note[0])
		svg_note(&s, note);
	for (unsigned i = 0; i < p->nlists; i++)
		names = fmax(names, svg_text_px(p->names[i]));
	if (names > 0)
		svg_legend_room(&s, names);
	svg_axis_x(&s, p->x);
	svg_axis_y(&s, p->y);
	if (p->rule >= s.y.from && p->rule <= s.y.to) {
		s.ink = SVG_BLACK;
		svg_line(&s, s.x.from, p->rule, s.x.to, p->rule, true);
	}
	for (unsigned i = 0; i < p->nlists && names > 0; i++)
		svg_legend(&s, inks[i], p->names[i]);
	for (unsigned i = 0; i < p->nlists; i++) {
		s.ink = inks[i];
		list_draw(p, &s, i);
	}
	svg_close(&s);
}

void plot_done(plot *p)
{
	mem_free(p->points);
	*p = (plot){0};
}
