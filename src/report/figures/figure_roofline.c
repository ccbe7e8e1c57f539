/* figure_roofline.c - the operators on the machine's roofline: the arithmetic intensity (FLOP per
 * byte) and rate of each, below the machine's limits at that intensity (Williams, Waterman,
 * Patterson: Roofline, CACM 52(4), 2009). The roofs are the ones that the operators' shares refer
 * to.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"
#include "report/figures/svg.h"
#include "report/format.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct roofline_place {
	double intensity, rate, roof, share; /* share: of all operators' time */
} roofline_place;

static bool roofline_place_of(const dck_op *op, double all_ns, roofline_place *ret)
{
	const double bytes = dck_value_number(&op->read_bytes) + dck_value_number(&op->write_bytes);

	ret->intensity = dck_value_number(&op->flops) / bytes;
	ret->rate = dck_value_number(&op->rate);
	ret->roof = dck_value_number(&op->roof);
	ret->share = dck_value_number(&op->time_ns) / all_ns;
	return ret->intensity > 0 && isfinite(ret->intensity) && ret->rate > 0 &&
	       isfinite(ret->rate);
}

/* The highest roof of computing, and the fastest memory, that operators had. */
typedef struct roofs {
	double compute, memory; /* FLOP/s, B/s; 0: none */
} roofs;

static roofs roofs_of(const dck_record *r)
{
	roofs found = {0, 0};
	roofline_place p;

	for (size_t i = 0; i < r->nops; i++) {
		const dck_op *op = &r->ops[i];
		if (!op->bound || !roofline_place_of(op, 1, &p) || !(p.roof > 0))
			continue;
		if (strcmp(op->bound, "compute") == 0)
			found.compute = fmax(found.compute, p.roof);
		else if (strcmp(op->bound, "memory") == 0)
			found.memory = fmax(found.memory, p.roof / p.intensity);
	}
	return found;
}

static bool roofline_has(const dck_record *r)
{
	const roofs roof = roofs_of(r);

	return roof.compute > 0 || roof.memory > 0;
}

static void roofline_roofs_put(svg *s, roofs roof)
{
	const double knee = roof.memory > 0 && roof.compute > 0 ? roof.compute / roof.memory
			    : roof.compute > 0			? s->x.from
								: s->x.to;

	s->ink = SVG_ORANGE;
	if (roof.compute > 0) {
		svg_line(s, fmax(knee, s->x.from), roof.compute, s->x.to, roof.compute, false);
		svg_text(s, s->x.to, roof.compute, 0, -6, "end",
			 FORMAT_NUMBER(roof.compute, DCK_UNIT_FLOP_PER_S));
	}
	if (roof.memory > 0) {
		/* The slope's left end in the chart. */
		const double from = fmax(s->x.from, s->y.from / roof.memory);
		if (from < knee)
			svg_line(s, from, from * roof.memory, knee, knee * roof.memory, false);
		const double middle = sqrt(from * fmax(knee, from));
		svg_text(s, middle, middle * roof.memory, 8, 14, "start",
			 FORMAT_NUMBER(roof.memory, DCK_UNIT_BYTE_PER_S));
	}
}

static void roofline_draw(const dck_record *r, dck_sink *out)
{
	const roofs roof = roofs_of(r);
	svg_axis x = {.from = INFINITY, .base = 10, .title = "intensity [FLOP/B]"};
	svg_axis y = {.from = INFINITY,
		      .to = roof.compute,
		      .base = 10,
		      .unit = DCK_UNIT_FLOP_PER_S,
		      .title = "rate"};
	double all_ns = 0;
	char note[160], says[256];
	size_t placed = 0;
	roofline_place p;
	svg s;

	x.unit = DCK_UNIT_ONE;
	for (size_t i = 0; i < r->nops; i++) {
		const double ns = dck_value_number(&r->ops[i].time_ns);
		all_ns += isfinite(ns) ? ns : 0;
		if (!roofline_place_of(&r->ops[i], 1, &p))
			continue;
		placed++;
		x.from = fmin(x.from, p.intensity);
		x.to = fmax(x.to, p.intensity);
		y.from = fmin(y.from, p.rate);
		y.to = fmax(y.to, fmax(p.rate, isfinite(p.roof) ? p.roof : 0));
	}
	/* On to whole powers of ten. */
	x.from = pow(10, floor(log10(x.from)));
	x.to = pow(10, ceil(log10(x.to) + 0.05));
	y.from = pow(10, floor(log10(y.from)));
	y.to = pow(10, ceil(log10(y.to) + 0.05));
	svg_open(&s, out, "Roofline");
	snprintf(
	    note, sizeof note,
	    "%zu of %zu operators, as large as their share of the time; the others have no rate",
	    placed, r->nops);
	svg_note(&s, note);
	svg_axis_x(&s, x);
	svg_axis_y(&s, y);
	roofline_roofs_put(&s, roof);
	s.ink = SVG_BLUE;
	for (size_t i = 0; i < r->nops; i++) {
		if (!roofline_place_of(&r->ops[i], all_ns, &p))
			continue;
		snprintf(says, sizeof says, "%.120s (%.60s): %s", r->ops[i].name, r->ops[i].type,
			 FORMAT_NUMBER(p.rate, DCK_UNIT_FLOP_PER_S));
		svg_dot(&s, p.intensity, p.rate, 2.5 + 16 * sqrt(isfinite(p.share) ? p.share : 0),
			says);
	}
	svg_close(&s);
}

const dck_figure figure_roofline = {"roofline", "the operators below the machine's roofs",
				    roofline_has, roofline_draw};
