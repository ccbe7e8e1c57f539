/* figure_ecdf.c - the share of the runs up to each time, with the percentiles of the record and
 * their intervals. Beyond the ends of the histogram nothing is drawn.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "report/histogram.h"
#include "report/figures/figures.h"
#include "report/figures/svg.h"
#include "report/format.h"
#include <math.h>
#include <stdio.h>

#define POINTS 600 /* of the line: about one a pixel */

/* The number of samples up to v. */
static size_t ecdf_up_to(const bins_sorted *s, double v)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->x[middle] <= v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A staircase: its steps are the samples, or, where these are many, the pixels. */
static void ecdf_line(svg *s, const bins_sorted *all)
{
	const double from = s->x.from, to = s->x.to, n = (double)all->n;
	double share = 100 * (double)ecdf_up_to(all, from) / n;

	svg_path_begin(s);
	svg_path_to(s, from, share, true);
	for (size_t i = 0; i < (all->n < POINTS ? all->n : POINTS); i++) {
		const double x =
		    all->n < POINTS ? all->x[i] : from + (to - from) * (double)(i + 1) / POINTS;

		if (x < from || x > to)
			continue;
		svg_path_to(s, x, share, false);
		share = 100 * (double)ecdf_up_to(all, x) / n;
		svg_path_to(s, x, share, false);
	}
	svg_path_to(s, to, share, false);
	svg_path_end(s);
}

static void ecdf_percentile(svg *s, const dck_record *r, const char *tag, double percent)
{
	const dck_metric *m = dck_record_metric(r, tag);
	const double v = m ? dck_value_number(&m->value) : NAN;
	char text[2 * FORMAT_SIZE];

	if (!(v >= s->x.from && v <= s->x.to))
		return;
	if (m->level > 0)
		svg_line(s, m->lo, percent, m->hi, percent, false);
	snprintf(text, sizeof text, "%.40s %s", m->def->name, FORMAT_NUMBER(v, DCK_UNIT_NS));
	svg_dot(s, v, percent, 4, text);
	const bool left = v > (s->x.from + s->x.to) / 2;
	svg_text(s, v, percent, left ? -14 : 10, left ? -8 : 20, left ? "end" : "start", text);
}

static void ecdf_draw(const dck_record *r, dck_sink *out)
{
	bins_sorted sorted;
	char note[80];
	svg s;

	if (bins_samples(r, &sorted)) {
		svg_axis x = {.unit = DCK_UNIT_NS, .title = "time of a run"};

		bins_ends(&sorted, &x.from, &x.to);
		svg_open(&s, out, "Share of the runs up to a time");
		snprintf(note, sizeof note, "%zu samples", sorted.n);
		svg_note(&s, note);
		svg_axis_x(&s, x);
		svg_axis_y(&s, (svg_axis){.to = 100, .title = "share [%]"});
		s.ink = SVG_BLUE;
		ecdf_line(&s, &sorted);
		s.ink = SVG_ORANGE;
		ecdf_percentile(&s, r, "latency/median", 50);
		ecdf_percentile(&s, r, "latency/p90", 90);
		ecdf_percentile(&s, r, "latency/p99", 99);
		svg_close(&s);
	}
	mem_free(sorted.x);
}

const dck_figure figure_ecdf = {"ecdf", "share of the runs up to each time", bins_has, ecdf_draw};
