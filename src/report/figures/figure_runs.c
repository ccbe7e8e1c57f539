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

#define STARTS_MAX 1000 /* as --processes has */

/* The runs of each process, one process after the other. */
typedef struct starts {
	const dck_series *of[STARTS_MAX];
	size_t n, runs, warmup;
} starts;

static void figure_starts_find(const dck_record *r, starts *ret)
{
	ret->n = ret->runs = ret->warmup = 0;
	for (size_t i = 0; i < r->nseries && ret->n < STARTS_MAX; i++) {
		const dck_series *s = &r->series[i];

		if (!bins_is_latency(s) || s->n < 2 || s->n <= s->warmup)
			continue;
		ret->of[ret->n++] = s;
		ret->runs += s->n;
		ret->warmup += s->warmup;
	}
}

static bool runs_has(const dck_record *r)
{
	starts all;

	figure_starts_find(r, &all);
	return all.n > 0;
}

typedef struct runs_span {
	double lo, hi; /* NaN: no run with a time */
} runs_span;

static runs_span runs_span_of(const dck_series *s, size_t from, size_t to)
{
	runs_span a = {NAN, NAN};

	for (size_t i = from; i < to; i++) {
		a.lo = fmin(a.lo, s->values[i]);
		a.hi = fmax(a.hi, s->values[i]);
	}
	return a;
}

/* The axis has the range of the histogram plus a tenth: one run of a second must not flatten all
 * others. */
static svg_axis times_of(const dck_record *r, const starts *s)
{
	svg_axis a = {.unit = DCK_UNIT_NS, .title = "time of a run"};
	bins_sorted sorted;

	if (bins_samples(r, &sorted)) {
		bins_ends(&sorted, &a.from, &a.to);
		a.from = fmax(0, a.from - (a.to - a.from) / 10);
		a.to += (a.to - a.from) / 10;
	} else {
		const runs_span all = runs_span_of(s->of[0], s->of[0]->warmup, s->of[0]->n);
		a.from = isfinite(all.lo) ? all.lo : 0;
		a.to = isfinite(all.hi) ? all.hi : 1;
	}
	mem_free(sorted.x);
	return a;
}

/* Draws a dot per run; if there are many, a dot at the median of each group, and a line over its
 * middle four fifths. before: the runs of the processes before this one. buf: scratch for `each`
 * values. */
static void figure_runs_put(svg *s, const dck_series *runs, size_t before, size_t from, size_t to,
			    size_t each, double *buf)
{
	for (size_t i = from; i < to; i += each) {
		size_t n = 0;

		for (size_t k = i; k < to && k < i + each; k++)
			if (isfinite(runs->values[k]))
				buf[n++] = runs->values[k];
		if (n == 0)
			continue;
		qsort(buf, n, sizeof *buf, bins_by_value);
		const double x = (double)(before + i) + (double)(each - 1) / 2;
		if (each > 1)
			svg_line(s, x, buf[n / 10], x, buf[n - 1 - n / 10], false);
		svg_dot(s, x, buf[n / 2], 1.8, NULL);
	}
}

static void runs_draw(const dck_record *r, dck_sink *out)
{
	starts all;
	const double median = dck_record_value(r, "latency/median");
	char note[240], counts[4][32];
	size_t beyond = 0, before = 0;
	svg s;

	figure_starts_find(r, &all);
	const size_t each = (all.runs + COLUMNS - 1) / COLUMNS;
	double *buf = mem_zalloc(each, sizeof *buf);

	svg_open(&s, out, "The runs in their order");
	const svg_axis y = times_of(r, &all);
	for (size_t k = 0; k < all.n; k++)
		for (size_t i = 0; i < all.of[k]->n; i++)
			beyond += all.of[k]->values[i] > y.to || all.of[k]->values[i] < y.from;
	int n =
	    snprintf(note, sizeof note, "%s of warm-up (grey), %s measured",
		     dck_text_count((int64_t)all.warmup, counts[0], sizeof counts[0]),
		     dck_text_count((int64_t)(all.runs - all.warmup), counts[1], sizeof counts[1]));
	if (all.n > 1)
		n += snprintf(note + n, sizeof note - (size_t)n, ", %s processes in turn",
			      dck_text_count((int64_t)all.n, counts[3], sizeof counts[3]));
	if (each > 1)
		n += snprintf(note + n, sizeof note - (size_t)n, "; a mark: median, 80 %% of %zu",
			      each);
	if (beyond > 0)
		snprintf(note + n, sizeof note - (size_t)n, "; %s beyond the axis",
			 dck_text_count((int64_t)beyond, counts[2], sizeof counts[2]));
	svg_note(&s, note);
	svg_axis_x(&s, (svg_axis){.to = (double)(all.runs - 1), .whole = true, .title = "run"});
	svg_axis_y(&s, y);
	for (size_t k = 0; buf && k < all.n; before += all.of[k++]->n) {
		const dck_series *own = all.of[k];

		s.ink = SVG_GREY;
		figure_runs_put(&s, own, before, 0, own->warmup, each, buf);
		s.ink = SVG_BLUE;
		figure_runs_put(&s, own, before, own->warmup, own->n, each, buf);
	}
	mem_free(buf);
	s.ink = SVG_BLACK;
	if (isfinite(median))
		svg_line(&s, (double)all.of[0]->warmup, median, (double)(all.runs - 1), median,
			 true);
	svg_close(&s);
}

const dck_figure figure_runs = {"runs", "the runs in their order, with warm-up", runs_has,
				runs_draw};
