/* figure_throughput.c - items per second at each batch, with intervals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"
#include "report/figures/svg.h"
#include "report/format.h"
#include <math.h>
#include <stdio.h>

typedef struct point {
	double batch, rate, lo, hi;
} point;

static bool point_of(const dck_table *t, size_t row, point *ret)
{
	const dck_cell *batch = dck_table_cell(t, row, "batch"),
		       *rate = dck_table_cell(t, row, "throughput");

	if (!batch || !rate)
		return false;
	ret->batch = dck_value_number(&batch->value);
	ret->rate = dck_value_number(&rate->value);
	ret->lo = rate->level > 0 ? rate->lo : ret->rate;
	ret->hi = rate->level > 0 ? rate->hi : ret->rate;
	return ret->batch > 0 && isfinite(ret->rate);
}

static const dck_table *points_of(const dck_record *r)
{
	return dck_record_table(r, "throughput/points");
}

static bool throughput_has(const dck_record *r)
{
	const dck_table *t = points_of(r);
	size_t n = 0;
	point p;

	for (size_t i = 0; t && i < t->nrows; i++)
		n += point_of(t, i, &p);
	return n >= 2;
}

static void throughput_draw(const dck_record *r, dck_sink *out)
{
	const dck_table *t = points_of(r);
	const dck_metric *best = dck_record_metric(r, "throughput/best");
	svg_axis x = {.from = INFINITY, .base = 2, .unit = DCK_UNIT_ONE, .title = "batch"};
	svg_axis y = {.unit = DCK_UNIT_ITEM_PER_S, .title = "throughput"};
	char note[160], number[FORMAT_SIZE];
	bool first = true;
	point p;
	svg s;

	for (size_t i = 0; i < t->nrows; i++) {
		if (!point_of(t, i, &p))
			continue;
		x.from = fmin(x.from, p.batch);
		x.to = fmax(x.to, p.batch);
		y.to = fmax(y.to, fmax(p.hi, p.rate));
	}
	x.from /= 1.15;
	x.to *= 1.15;
	y.to *= 1.05;
	svg_open(&s, out, "Throughput by batch");
	if (best && isfinite(dck_value_number(&best->value))) {
		snprintf(note, sizeof note, "best: %s",
			 format_number(dck_value_number(&best->value), best->def->unit, number));
		svg_note(&s, note);
	}
	svg_axis_x(&s, x);
	svg_axis_y(&s, y);
	/* The rows are sorted by batch. */
	svg_path_begin(&s);
	for (size_t i = 0; i < t->nrows; i++) {
		if (!point_of(t, i, &p))
			continue;
		svg_path_to(&s, p.batch, p.rate, first);
		first = false;
	}
	svg_path_end(&s);
	for (size_t i = 0; i < t->nrows; i++) {
		if (!point_of(t, i, &p))
			continue;
		svg_line(&s, p.batch, p.lo, p.batch, p.hi, false);
		svg_dot(&s, p.batch, p.rate, 3.5, NULL);
	}
	svg_close(&s);
}

const dck_figure figure_throughput = {"throughput", "items per second at each batch",
				      throughput_has, throughput_draw};
