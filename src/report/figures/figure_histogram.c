/* figure_histogram.c - how the times of the runs are spread, with the percentiles that the record
 * has.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "report/histogram.h"
#include "report/figures/figures.h"
#include "report/figures/svg.h"
#include "report/format.h"
#include <math.h>
#include <stdio.h>

#define BINS 40

static void marks_put(svg *s, const dck_record *r, double most)
{
	static const char *const tags[] = {"latency/median", "latency/p90", "latency/p99"};
	unsigned n = 0;

	s->ink = SVG_BLACK;
	for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
		const dck_metric *m = dck_record_metric(r, tags[i]);
		const double v = m ? dck_value_number(&m->value) : NAN;
		char text[2 * FORMAT_SIZE];

		if (!(v >= s->x.from && v <= s->x.to))
			continue;
		snprintf(text, sizeof text, "%.40s %s", m->def->name,
			 FORMAT_NUMBER(v, DCK_UNIT_NS));
		svg_line(s, v, 0, v, most, true);
		/* On the side with more space. */
		const bool left = v > (s->x.from + 3 * s->x.to) / 4;
		svg_text(s, v, most, left ? -4 : 4, 14 + 20 * n++, left ? "end" : "start", text);
	}
}

static void histogram_draw(const dck_record *r, dck_sink *out)
{
	char note[160];
	bins_sorted sorted;
	bins b;
	svg s;

	if (bins_samples(r, &sorted)) {
		bins_fill(&sorted, BINS, &b);
		svg_open(&s, out, "How long the runs took");
		int n = snprintf(note, sizeof note, "%zu samples", sorted.n);
		if (b.below > 0 && b.above > 0)
			snprintf(
			    note + n, sizeof note - (size_t)n,
			    ", %zu of them below the axis, down to %s, and %zu above, up to %s",
			    b.below, FORMAT_NUMBER(sorted.x[0], DCK_UNIT_NS), b.above,
			    FORMAT_NUMBER(sorted.x[sorted.n - 1], DCK_UNIT_NS));
		else if (b.below + b.above > 0)
			snprintf(
			    note + n, sizeof note - (size_t)n,
			    ", %zu of them beyond the ends, %s %s", b.below + b.above,
			    b.above > 0 ? "up to" : "down to",
			    FORMAT_NUMBER(sorted.x[b.above > 0 ? sorted.n - 1 : 0], DCK_UNIT_NS));
		svg_note(&s, note);
		svg_axis_x(&s, (svg_axis){.from = b.origin,
					  .to = b.origin + b.width * (double)b.rows,
					  .unit = DCK_UNIT_NS,
					  .title = "time of a run"});
		/* Leaves space above the bars for the names of marks. */
		const double top = 1.3 * (double)b.most;
		svg_axis_y(&s, (svg_axis){.to = top, .whole = true, .title = "samples"});
		for (size_t i = 0; i < b.rows; i++)
			if (b.count[i] > 0)
				svg_rect(&s, b.origin + b.width * (double)i, 0,
					 b.origin + b.width * (double)(i + 1), (double)b.count[i]);
		marks_put(&s, r, top);
		svg_close(&s);
	}
	mem_free(sorted.x);
}

const dck_figure figure_histogram = {"histogram", "how the times of the runs are spread", bins_has,
				     histogram_draw};
