/* figure_laps.c - the time of each lap and its values, such as the accuracy of each epoch: time on
 * the left axis, values on the right one. Of several names of laps the first that has values, else
 * the first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"
#include "report/figures/svg.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUES_MAX = 4, MARKED = 300, KEPT_LEAST = 32768 };
#define WALL "/wall"

/* Returns the name of a value of the lap that `wall` belongs to; NULL: a separate series, or
 * another lap's. */
static const char *value_name(const dck_series *wall, const dck_series *s)
{
	static const char *const own[] = {"wall", "cpu", "thread_cpu", "items"};
	const size_t n = strlen(wall->tag) - strlen(WALL);

	if (strncmp(s->tag, wall->tag, n) != 0 || s->tag[n] != '/' || s->unit != DCK_UNIT_ONE ||
	    strchr(s->tag + n + 1, '/') || !s->at_ns || !wall->at_ns)
		return NULL;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (strcmp(s->tag + n + 1, own[i]) == 0)
			return NULL;
	return s->tag + n + 1;
}

static bool is_wall(const dck_series *s)
{
	const size_t n = strlen(s->tag), end = strlen(WALL);

	return strncmp(s->tag, "laps/", 5) == 0 && n > 5 + end &&
	       strcmp(s->tag + n - end, WALL) == 0 && s->n >= 2;
}

static const dck_series *laps_of(const dck_record *r)
{
	const dck_series *first = NULL;

	for (size_t i = 0; i < r->nseries; i++) {
		if (!is_wall(&r->series[i]))
			continue;
		for (size_t k = 0; k < r->nseries; k++)
			if (value_name(&r->series[i], &r->series[k]))
				return &r->series[i];
		first = first ? first : &r->series[i];
	}
	return first;
}

static bool laps_has(const dck_record *r)
{
	return laps_of(r) != NULL;
}

/* The lap, from 1 on, that began when the value's i-th did; NaN: none, as for all after it. Values
 * are in the order of their laps, in which these ended: of several threads they may have begun in
 * another. *at: the first lap after that of the value before. */
static double lap_at(const dck_series *wall, const dck_series *s, size_t i, size_t *at)
{
	while (*at < wall->n && wall->at_ns[*at] != s->at_ns[i])
		++*at;
	return *at < wall->n ? (double)++*at : NAN;
}

/* Returns of how many laps each one in the series is the first, a power of two: of many laps some
 * were left out (lap_store.h). */
static double laps_each(const dck_record *r, const dck_series *wall)
{
	const int name = (int)(strlen(wall->tag) - strlen("laps/") - strlen(WALL));
	char tag[512];
	double each = 1;

	snprintf(tag, sizeof tag, "lap/count/%.*s", name, wall->tag + strlen("laps/"));
	const double all = dck_record_value(r, tag);
	while (wall->n >= KEPT_LEAST && ceil(all / each) > (double)wall->n)
		each *= 2;
	return each;
}

/* Draws a line through the finite values, with dots if they are few. s itself: the time. each: laps
 * from one in the series to the next. */
static void laps_series_put(svg *to, const dck_series *wall, const dck_series *s, double each,
			    const char *name)
{
	bool first = true;
	size_t at = 0;

	svg_path_begin(to);
	for (size_t i = 0; i < s->n; i++) {
		const double x = s == wall ? (double)(i + 1) : lap_at(wall, s, i, &at);

		if (!isfinite(x) || !isfinite(s->values[i]))
			continue;
		svg_path_to(to, (x - 1) * each + 1, s->values[i], first);
		first = false;
	}
	svg_path_end(to);
	at = 0;
	for (size_t i = 0; i < s->n && s->n <= MARKED; i++) {
		const double x = s == wall ? (double)(i + 1) : lap_at(wall, s, i, &at);

		if (isfinite(x) && isfinite(s->values[i]))
			svg_dot(to, (x - 1) * each + 1, s->values[i], 3.5, name);
	}
}

static void laps_range_add(svg_axis *a, const dck_series *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (isfinite(s->values[i])) {
			a->from = fmin(a->from, s->values[i]);
			a->to = fmax(a->to, s->values[i]);
		}
}

static void laps_draw(const dck_record *r, dck_sink *out)
{
	const dck_series *wall = laps_of(r), *values[VALUES_MAX];
	static const svg_colour inks[VALUES_MAX] = {SVG_ORANGE, SVG_GREEN, SVG_PINK, SVG_BLACK};
	svg_axis y = {.unit = DCK_UNIT_NS, .title = "time"};
	svg_axis right = {.unit = DCK_UNIT_ONE, .title = "values"};
	char name[128], title[160];
	const double each = laps_each(r, wall);
	double names = 0;
	size_t n = 0;
	svg s;

	snprintf(name, sizeof name, "%.*s",
		 (int)fmin(100, (double)(strlen(wall->tag) - 5 - strlen(WALL))), wall->tag + 5);
	snprintf(title, sizeof title, "Laps of %s", name);
	laps_range_add(&y, wall);
	for (size_t i = 0; i < r->nseries && n < VALUES_MAX; i++)
		if (value_name(wall, &r->series[i]))
			laps_range_add(&right, values[n++] = &r->series[i]);
	y.to *= 1.1;
	right.to *= 1.1;
	svg_open(&s, out, title);
	for (size_t k = 0; k < n; k++)
		names = fmax(names, svg_text_px(value_name(wall, values[k])));
	if (n > 0) {
		svg_right_room(&s);
		svg_legend_room(&s, fmax(names, svg_text_px("time")));
	}
	if (each > 1) {
		snprintf(title, sizeof title, "of every %.0f laps the first", each);
		svg_note(&s, title);
	}
	svg_axis_x(&s, (svg_axis){.from = 1,
				  .to = (double)(wall->n - 1) * each + 1,
				  .whole = true,
				  .unit = DCK_UNIT_ONE,
				  .title = name});
	svg_axis_y(&s, y);
	if (n > 0)
		svg_legend(&s, SVG_BLUE, "time");
	for (size_t k = 0; k < n; k++)
		svg_legend(&s, inks[k], value_name(wall, values[k]));
	laps_series_put(&s, wall, wall, each, "time");
	if (n > 0)
		svg_axis_right(&s, right);
	for (size_t k = 0; k < n; k++) {
		s.ink = inks[k];
		laps_series_put(&s, wall, values[k], each, value_name(wall, values[k]));
	}
	svg_close(&s);
}

const dck_figure figure_laps = {"laps", "time and values of each lap", laps_has, laps_draw};
