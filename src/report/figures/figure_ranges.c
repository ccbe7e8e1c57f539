/* figure_ranges.c - a value with its interval in each row: medians of a comparison or a ranking as
 * bars, their ratios, mistakes by their factor. Bars begin at 0; where values are far apart, or
 * ratios, there are only marks, on a logarithmic axis if need be.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"
#include "report/figures/plot.h"
#include "report/format.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RANGES_FAR_RATIO 8 /* from which on values are far apart, as on the page */

typedef struct ranges {
	const char *table, *title, *axis;
	const char *name, *value; /* columns; value NULL: the second */
	bool of_first;		  /* the title ends with the name of the first row */
	bool bars, positive;	  /* positive: rows of 0 and less are left out */
	double at;		  /* marked; 0: none */
} ranges;

typedef struct ranges_rows {
	const dck_table *t;
	const ranges *of;
	size_t value, name; /* columns */
	size_t n;	    /* rows with a value */
	double least, most; /* ends of intervals too */
	bool all_positive;
} ranges_rows;

static svg_interval ranges_value(const ranges_rows *r, size_t row)
{
	svg_interval v = plot_interval_of(&r->t->cells[row * r->t->ncolumns + r->value]);

	if (r->of->positive && !(v.value > 0))
		v.value = NAN;
	return v;
}

static void ranges_add(ranges_rows *r, double v)
{
	if (!isfinite(v))
		return;
	r->least = fmin(r->least, v);
	r->most = fmax(r->most, v);
	r->all_positive &= v > 0;
}

static bool ranges_find(const dck_record *record, const ranges *of, ranges_rows *ret)
{
	*ret = (ranges_rows){.t = dck_record_table(record, of->table),
			     .of = of,
			     .value = 1,
			     .least = INFINITY,
			     .most = -INFINITY,
			     .all_positive = true};
	if (!ret->t || ret->t->ncolumns < 2 || !plot_column_find(ret->t, of->name, &ret->name) ||
	    (of->value && !plot_column_find(ret->t, of->value, &ret->value)))
		return false;
	for (size_t i = 0; i < ret->t->nrows; i++) {
		const svg_interval v = ranges_value(ret, i);

		if (!isfinite(v.value))
			continue;
		if (ret->n++ >= SVG_NAMED_ROWS)
			continue;
		ranges_add(ret, v.value);
		ranges_add(ret, v.lo);
		ranges_add(ret, v.hi);
	}
	return ret->n >= 2;
}

static const char *ranges_text(const dck_table *t, size_t row, size_t column)
{
	const dck_value *v = &t->cells[row * t->ncolumns + column].value;

	return v->kind == DCK_VALUE_TEXT ? v->as.text : "";
}

static svg_axis ranges_axis(const ranges_rows *r, bool *ret_bars)
{
	const bool log = r->all_positive && r->most > RANGES_FAR_RATIO * r->least;
	svg_axis x = {.unit = r->t->columns[r->value].unit,
		      .title = r->of->axis ? r->of->axis : r->t->columns[r->value].title};

	*ret_bars = r->of->bars && !log && r->least >= 0;
	x.from = r->of->at > 0 ? fmin(r->least, r->of->at) : r->least;
	x.to = r->of->at > 0 ? fmax(r->most, r->of->at) : r->most;
	if (log) {
		x.base = 10;
		x.from /= 1.2;
		x.to *= 1.2;
	} else {
		const double by = x.to > x.from ? (x.to - x.from) * 0.06 : fabs(x.to) * 0.06;

		x.from = *ret_bars ? 0 : x.from - by;
		x.to += by;
	}
	return x;
}

static void ranges_row(svg *s, const ranges_rows *r, size_t row, unsigned place, bool bars)
{
	const dck_unit unit = r->t->columns[r->value].unit;
	const svg_interval v = ranges_value(r, row);
	char number[FORMAT_SIZE], says[400];
	const char *name = ranges_text(r->t, row, r->name), *verdict = "";
	size_t column;

	if (plot_column_find(r->t, "verdict", &column))
		verdict = ranges_text(r->t, row, column);
	format_number(v.value, unit, number);
	if (isfinite(v.lo))
		snprintf(says, sizeof says, "%.150s: %s [%s, %s] %.100s", name, number,
			 FORMAT_NUMBER(v.lo, unit), FORMAT_NUMBER(v.hi, unit), verdict);
	else
		snprintf(says, sizeof says, "%.150s: %s %.100s", name, number, verdict);
	svg_row_names(s, place, name, verdict, number);
	svg_row_value(s, place, &v, bars, says);
}

static void ranges_draw(const dck_record *record, dck_sink *out, const ranges *of)
{
	ranges_rows r;
	double names = 0, texts = 0, margin;
	format_levels levels = {0};
	char note[160] = "", number[FORMAT_SIZE], title[300];
	const dck_fact *f = dck_record_fact(record, "compare", "margin");
	unsigned place = 0;
	bool bars;
	svg s;

	ranges_find(record, of, &r);
	const unsigned rows = r.n < SVG_NAMED_ROWS ? (unsigned)r.n : SVG_NAMED_ROWS;
	for (size_t i = 0; i < r.t->nrows; i++) {
		const svg_interval v = ranges_value(&r, i);

		names = fmax(names, svg_text_px(ranges_text(r.t, i, r.name)));
		if (isfinite(v.value))
			texts = fmax(texts, svg_text_px(format_number(
						v.value, r.t->columns[r.value].unit, number)));
		if (isfinite(v.lo))
			format_levels_add(&levels, r.t->cells[i * r.t->ncolumns + r.value].level);
	}
	const svg_axis x = ranges_axis(&r, &bars);
	snprintf(title, sizeof title, "%s%.200s", of->title,
		 of->of_first ? ranges_text(r.t, 0, r.name) : "");
	svg_open(&s, out, title);
	if (levels.most > 0)
		snprintf(note, sizeof note, "with intervals of %s", FORMAT_LEVELS(&levels));
	if (r.n > rows)
		snprintf(note + strlen(note), sizeof note - strlen(note),
			 "%sthe first %u of %zu rows", note[0] ? "; " : "", rows, r.n);
	if (note[0])
		svg_note(&s, note);
	svg_rows(&s, rows, names, texts);
	svg_axis_x(&s, x);
	margin = f ? dck_value_number(&f->value) : NAN;
	if (of->at == 1 && margin > 0 && strcmp(of->table, "compare/alternatives") == 0)
		svg_row_zone(&s, 1 / (1 + margin), 1 + margin);
	if (of->at > 0)
		svg_row_rule(&s, of->at);
	for (size_t i = 0; i < r.t->nrows && place < rows; i++) {
		if (!isfinite(ranges_value(&r, i).value))
			continue;
		s.ink = SVG_BLUE;
		ranges_row(&s, &r, i, place++, bars);
	}
	svg_close(&s);
}

#define RANGES(what, id, text, ...)                                 \
	static const ranges what##_of = {__VA_ARGS__};              \
	static bool what##_has(const dck_record *r)                 \
	{                                                           \
		ranges_rows rows;                                   \
		return ranges_find(r, &what##_of, &rows);           \
	}                                                           \
	static void what##_draw(const dck_record *r, dck_sink *out) \
	{                                                           \
		ranges_draw(r, out, &what##_of);                    \
	}                                                           \
	const dck_figure figure_##what = {id, text, what##_has, what##_draw};

RANGES(ranking, "ranking", "times of a ranking, with intervals", .table = "bench/ranking",
       .title = "Times of the subjects", .name = "subject", .value = "time", .axis = "median",
       .bars = true)
RANGES(to_the_fastest, "to-the-fastest", "ratios of a ranking, with intervals",
       .table = "bench/ranking", .title = "Times over the fastest", .name = "subject",
       .value = "ratio", .axis = "ratio", .at = 1)
RANGES(medians, "medians", "values of a comparison, with intervals",
       .table = "compare/alternatives", .title = "The alternatives", .name = "subject",
       .bars = true)
RANGES(records, "records", "medians of several records, with intervals", .table = "records",
       .title = "Medians of the records", .name = "record", .value = "median", .bars = true)
RANGES(ratios, "ratios", "ratios of a comparison, with intervals", .table = "compare/alternatives",
       .title = "Ratios to ", .of_first = true, .name = "subject", .value = "ratio",
       .axis = "ratio", .at = 1)
RANGES(mistakes, "mistakes", "by how much each mistake moves the number",
       .table = "pitfalls/mistakes", .title = "Number with the mistake over the honest number",
       .name = "mistake", .value = "factor", .axis = "factor", .at = 1, .positive = true)
