/* figure_runs.c - the runs in their order: warm-up and measured runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "deepclock/opt.h"
#include "report/histogram.h"
#include "report/figures/figures.h"
#include "report/figures/svg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 310 /* with more runs each mark represents several */

static const dck_series *figure_runs_of(const dck_record *r)
{
	const dck_series *s = dck_record_series(r, "latency");

	return s && s->n >= 2 && s->n > s->warmup ? s : NULL;
}

static bool runs_has(const dck_record *r)
{
	return figure_runs_of(r) != NULL;
}

typedef struct span {
	double lo, hi; /* NaN: no run with a time */
} span;

static span runs_span_of(const dck_series *s, size_t from, size_t to)
{
	span a = {NAN, NAN};

	for (size_t i = from; i < to; i++) {
		a.lo = fmin(a.lo, s->values[i]);
		a.hi = fmax(a.hi, s->values[i]);
	}
	return a;
}

/* As high as the picture of their spread is wide: one run of a second must not flatten all
 * others. */
static svg_axis times_of(const dck_record *r, const dck_series *s)
{
	svg_axis a = {.unit = DCK_UNIT_NS, .title = "time of a run"};
	bins_sorted sorted;

	if (bins_samples(r, &sorted)) {
		bins_ends(&sorted, &a.from, &a.to);
		a.from = fmax(0, a.from - (a.to - a.from) / 10);
		a.to += (a.to - a.from) / 10;
	} else {
		const span all = runs_span_of(s, s->warmup, s->n);
		a.from = isfinite(all.lo) ? all.lo : 0;
		a.to = isfinite(all.hi) ? all.hi : 1;
	}
	mem_free(sorted.x);
	return a;
}

static int runs_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Draws a dot per run; if there are many, a dot at the median of each group, and a line over its
 * middle four fifths. buf: scratch for `each` values. */
static void figure_runs_put(svg *s, const dck_series *runs, size_t from, size_t to, size_t each,
			    double *buf)
{
	for (size_t i = from; i < to; i += each) {
		size_t n = 0;

		for (size_t k = i; k < to && k < i + each; k++)
			if (isfinite(runs->values[k]))
				buf[n++] = runs->values[k];
		if (n == 0)
			continue;
		qsort(buf, n, sizeof *buf, runs_by_value);
		const double x = (double)i + (double)(each - 1) / 2;
		if (each > 1)
			svg_line(s, x, buf[n / 10], x, buf[n - 1 - n / 10], false);
		svg_dot(s, x, buf[n / 2], 1.8, NULL);
	}
}

static void runs_draw(const dck_record *r, dck_sink *out)
{
	const dck_series *runs = figure_runs_of(r);
	const double median = dck_record_value(r, "latency/median");
	const size_t each = (runs->n + COLUMNS - 1) / COLUMNS;
	double *buf = mem_zalloc(each, sizeof *buf);
	char note[240], counts[3][32];
	size_t beyond = 0;
	svg s;

	svg_open(&s, out, "The runs in their order");
	const svg_axis y = times_of(r, runs);
	for (size_t i = 0; i < runs->n; i++)
		beyond += runs->values[i] > y.to;
	int n = snprintf(
	    note, sizeof note, "%s of warm-up (grey), %s measured",
	    dck_text_count((int64_t)runs->warmup, counts[0], sizeof counts[0]),
	    dck_text_count((int64_t)(runs->n - runs->warmup), counts[1], sizeof counts[1]));
	if (each > 1)
		n += snprintf(note + n, sizeof note - (size_t)n, "; a mark: median, 80 %% of %zu",
			      each);
	if (beyond > 0)
		snprintf(note + n, sizeof note - (size_t)n, "; %s beyond the axis",
			 dck_text_count((int64_t)beyond, counts[2], sizeof counts[2]));
	svg_note(&s, note);
	svg_axis_x(&s, (svg_axis){.to = (double)(runs->n - 1), .whole = true, .title = "run"});
	svg_axis_y(&s, y);
	s.ink = SVG_GREY;
	if (buf)
		figure_runs_put(&s, runs, 0, runs->warmup, each, buf);
	s.ink = SVG_BLUE;
	if (buf)
		figure_runs_put(&s, runs, runs->warmup, runs->n, each, buf);
	mem_free(buf);
	s.ink = SVG_BLACK;
	if (isfinite(median))
		svg_line(&s, (double)runs->warmup, median, (double)(runs->n - 1), median, true);
	svg_close(&s);
}

const dck_figure figure_runs = {"runs", "the runs in their order, with warm-up", runs_has,
				runs_draw};
