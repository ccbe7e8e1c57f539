/* figure_timeline.c - one step of a trace: what each thread did in it, a row for each depth, with
 * the names of ranges that are wide enough. Colours are by name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "deepclock/unstable.h"
#include "report/figures/svg.h"
#include "report/format.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void timeline_range(svg *s, const dck_step_range *one)
{
	char text[340], says[420];

	if (one->ranges > 1)
		snprintf(text, sizeof text, "%llu x %.300s", (unsigned long long)one->ranges,
			 one->name);
	else
		snprintf(text, sizeof text, "%.300s", one->name);
	snprintf(says, sizeof says, "%s: %s", text,
		 FORMAT_NUMBER((double)one->took_ns, DCK_UNIT_NS));
	s->ink = (svg_colour)(hash_text(HASH_START, one->name) % SVG_GREY);
	svg_row_box(s, one->row, (double)one->begin_ns, (double)(one->begin_ns + one->took_ns),
		    text, says);
}

void dck_timeline_draw(const dck_timeline *t, dck_sink *out)
{
	const dck_step *step = &t->step;
	const uint32_t rows = step->nrows < SVG_NAMED_ROWS ? step->nrows : SVG_NAMED_ROWS;
	char title[240], note[200] = "", took[FORMAT_SIZE];
	double names = 0;
	svg s;

	for (uint32_t i = 0; i < rows; i++)
		names = fmax(names, step->tracks[i] ? svg_text_px(step->tracks[i]) : 0);
	format_number((double)step->took_ns, DCK_UNIT_NS, took);
	snprintf(title, sizeof title, "%.150s, %s", step->name ? step->name : "All of the trace",
		 took);
	svg_open(&s, out, title);
	if (step->name)
		snprintf(note, sizeof note, "of median duration among %llu",
			 (unsigned long long)step->of);
	if (step->nrows > rows)
		snprintf(note + strlen(note), sizeof note - strlen(note),
			 "%sthe first %u of %u rows of ranges", note[0] ? "; " : "", rows,
			 step->nrows);
	if (note[0])
		svg_note(&s, note);
	svg_rows(&s, rows > 0 ? rows : 1, fmin(names, 150), 0);
	svg_axis_x(&s,
		   (svg_axis){.to = (double)step->took_ns, .unit = DCK_UNIT_NS, .title = "time"});
	for (uint32_t i = 0; i < rows; i++)
		if (step->tracks[i])
			svg_row_names(&s, i, step->tracks[i], NULL, NULL);
	for (size_t i = 0; i < step->n; i++)
		if (step->ranges[i].row < rows)
			timeline_range(&s, &step->ranges[i]);
	svg_close(&s);
}
