/* figure_steps.c - training steps taken apart: a bar for each, or for the mean of several, of the
 * times of its parts above each other. The heaviest parts have colours, the others are one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"
#include "report/figures/plot.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARTS = 6, BARS = 100 };

typedef struct step_part {
	const char *name;
	const dck_series *s;
	double total;
} step_part;

typedef struct steps {
	step_part part[PARTS];	/* the heaviest first */
	size_t n, nsteps, each; /* each: steps of a bar */
	const dck_table *t;
} steps;

static void steps_add(steps *x, const step_part *p)
{
	size_t at = x->n < PARTS ? x->n++ : PARTS;

	for (; at > 0 && x->part[at - 1].total < p->total; at--)
		if (at < PARTS)
			x->part[at] = x->part[at - 1];
	if (at < PARTS)
		x->part[at] = *p;
}

static const dck_series *steps_series(const dck_record *r, const char *part)
{
	char tag[200];

	snprintf(tag, sizeof tag, "steps/%.180s", part);
	return dck_record_series(r, tag);
}

static bool steps_find(const dck_record *r, steps *ret)
{
	*ret = (steps){.t = dck_record_table(r, "steps")};
	for (size_t i = 0; ret->t && i < ret->t->nrows; i++) {
		const char *key = plot_text_at(ret->t, i, "part"),
			   *what = plot_text_at(ret->t, i, "what");
		step_part p = {.name = *what ? what : key, .s = steps_series(r, key)};

		if (!p.s || p.s->n == 0 || strcmp(key, "step") == 0)
			continue;
		for (size_t k = 0; k < p.s->n; k++)
			p.total += isfinite(p.s->values[k]) ? fmax(0, p.s->values[k]) : 0;
		ret->nsteps = p.s->n > ret->nsteps ? p.s->n : ret->nsteps;
		steps_add(ret, &p);
	}
	ret->each = (ret->nsteps + BARS - 1) / BARS;
	return ret->n > 0;
}

static bool steps_has(const dck_record *r)
{
	steps x;

	return steps_find(r, &x);
}

/* The mean of a part, over the steps of a bar. */
static double steps_mean(const steps *x, const dck_series *s, size_t bar)
{
	const size_t from = bar * x->each;
	double sum = 0;
	size_t n = 0;

	for (size_t i = from; i < from + x->each && i < x->nsteps; i++, n++)
		sum += i < s->n && isfinite(s->values[i]) ? fmax(0, s->values[i]) : 0;
	return n > 0 ? sum / (double)n : 0;
}

static void steps_draw(const dck_record *r, dck_sink *out)
{
	static const svg_colour inks[PARTS] = {SVG_BLUE, SVG_ORANGE, SVG_GREEN,
					       SVG_GOLD, SVG_SKY,    SVG_PINK};
	char note[200] = "", title[80];
	double most = 0, names = 0;
	steps x;
	svg s;

	steps_find(r, &x);
	const size_t bars = (x.nsteps + x.each - 1) / x.each, parts = x.t->nrows;
	for (size_t b = 0; b < bars; b++) {
		double sum = 0;

		for (size_t k = 0; k < x.n; k++)
			sum += steps_mean(&x, x.part[k].s, b);
		most = fmax(most, sum);
	}
	snprintf(title, sizeof title, "%zu step%s taken apart", x.nsteps, x.nsteps == 1 ? "" : "s");
	svg_open(&s, out, title);
	if (x.each > 1)
		snprintf(note, sizeof note, "each bar is the mean of %zu steps", x.each);
	if (parts > x.n + 1)
		snprintf(note + strlen(note), sizeof note - strlen(note),
			 "%sthe %zu heaviest of %zu parts", note[0] ? "; " : "", x.n, parts - 1);
	if (note[0])
		svg_note(&s, note);
	for (size_t k = 0; k < x.n; k++)
		names = fmax(names, svg_text_px(x.part[k].name));
	svg_legend_room(&s, names);
	svg_axis_x(
	    &s, (svg_axis){
		    .to = (double)x.nsteps, .whole = true, .unit = DCK_UNIT_ONE, .title = "step"});
	svg_axis_y(&s, (svg_axis){.to = most * 1.02, .unit = DCK_UNIT_NS, .title = "time"});
	/* In the order of the bars, from above. */
	for (size_t k = x.n; k-- > 0;)
		svg_legend(&s, inks[k], x.part[k].name);
	for (size_t b = 0; b < bars; b++) {
		const double from = (double)(b * x.each),
			     to = fmin((double)x.nsteps, from + (double)x.each);
		double below = 0;

		for (size_t k = 0; k < x.n; k++) {
			const double v = steps_mean(&x, x.part[k].s, b);

			s.ink = inks[k];
			if (v > 0)
				svg_rect(&s, from, below, to, below + v);
			below += v;
		}
	}
	svg_close(&s);
}

const dck_figure figure_steps = {"steps", "training steps taken apart", steps_has, steps_draw};
