/* figure_lines.c - what searches and sweeps found, against the number that they varied: throughput
 * by batch, a comparison over sizes, served requests and latencies by rate, a metric over commits.
 *
 * Each figure is a function that collects the points of one table; a record has the figure if there
 * are two of different places. Names of lists are made in an arena, since points borrow them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/mem.h"
#include "record/record_internal.h"
#include "report/figures/figures.h"
#include "report/figures/plot.h"
#include "report/format.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef void (*points_collect)(const dck_record *r, plot *p, mem_arena *a);

static bool lines_has(const dck_record *r, points_collect collect)
{
	mem_arena *a = mem_arena_new(0);
	plot p = {.rule = NAN};
	bool several = false;

	if (a)
		collect(r, &p, a);
	for (size_t i = 1; i < p.n; i++)
		several |= p.points[i].x != p.points[0].x;
	plot_done(&p);
	mem_arena_free(a);
	return several;
}

static void lines_draw(const dck_record *r, dck_sink *out, points_collect collect)
{
	mem_arena *a = mem_arena_new(0);
	plot p = {.rule = NAN};

	if (a)
		collect(r, &p, a);
	p.failed |= !a || mem_arena_failed(a);
	plot_draw(&p, out);
	plot_done(&p);
	mem_arena_free(a);
}

static double number_at(const dck_table *t, size_t row, const char *key)
{
	const dck_cell *c = dck_table_cell(t, row, key);

	return c ? dck_value_number(&c->value) : NAN;
}

/* --- throughput */

/* "2 threads, 1 in flight": what a search varied besides the batch. */
static const char *setting_of(const dck_table *t, size_t row, mem_arena *a)
{
	const double threads = number_at(t, row, "threads"),
		     in_flight = number_at(t, row, "in_flight");
	char text[96] = "";

	if (isfinite(threads))
		snprintf(text, sizeof text, "%.0f thread%s", threads, threads == 1 ? "" : "s");
	if (isfinite(in_flight))
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.0f in flight",
			 text[0] ? ", " : "", in_flight);
	return mem_arena_fmt(a, "%s", text);
}

static void batches_collect(const dck_record *r, plot *p, mem_arena *a, const char *key)
{
	const dck_table *t = dck_record_table(r, "throughput/points");

	p->x = (svg_axis){.base = 2, .unit = DCK_UNIT_ONE, .title = "batch"};
	p->zero = true;
	for (size_t i = 0; t && i < t->nrows; i++) {
		const char *name = setting_of(t, i, a);

		if (name)
			plot_add(p, name, number_at(t, i, "batch"), dck_table_cell(t, i, key));
	}
	/* One setting needs no name. */
	if (p->nlists == 1)
		p->names[0] = "";
}

static void throughput_collect(const dck_record *r, plot *p, mem_arena *a)
{
	const dck_metric *best = dck_record_metric(r, "throughput/best");

	p->title = "Throughput by batch";
	p->y = (svg_axis){.unit = DCK_UNIT_ITEM_PER_S, .title = "throughput"};
	if (best && isfinite(dck_value_number(&best->value)))
		p->note = mem_arena_fmt(
		    a, "best: %s", FORMAT_NUMBER(dck_value_number(&best->value), best->def->unit));
	batches_collect(r, p, a, "throughput");
}

static void batch_latency_collect(const dck_record *r, plot *p, mem_arena *a)
{
	p->title = "Latency by batch";
	p->y = (svg_axis){.unit = DCK_UNIT_NS, .title = "latency of a batch"};
	batches_collect(r, p, a, "latency");
}

/* --- a comparison over sizes */

static void sizes_axis(const dck_table *t, plot *p)
{
	p->x = (svg_axis){.base = 2, .unit = DCK_UNIT_ONE, .title = t ? t->columns[0].title : ""};
}

/* Sizes are texts, as they were given. */
static double size_at(const dck_table *t, size_t row)
{
	const char *text = plot_text_at(t, row, "value");
	const char *end;
	const double v = decimal_strtod(text, &end);

	return *text && *end == '\0' ? v : number_at(t, row, "value");
}

/* "base, a, b" without its last names: the first subject may have commas in its name. */
static const char *lines_base_name(const dck_record *r, const dck_table *t, mem_arena *a)
{
	const char *subjects = record_get_text(r, "compare", "subjects");
	const char *all = subjects ? subjects : "";
	size_t left = strlen(all);
	double first = t->nrows > 0 ? size_at(t, 0) : NAN;

	for (size_t i = 0; i < t->nrows && size_at(t, i) == first; i++) {
		const size_t n = strlen(plot_text_at(t, i, "subject")) + 2;

		if (n > left)
			return "the first";
		left -= n;
	}
	return left > 0 ? mem_arena_fmt(a, "%.*s", (int)left, all) : "the first";
}

static void over_times_collect(const dck_record *r, plot *p, mem_arena *a)
{
	const dck_table *t = dck_record_table(r, "compare/over");
	const char *base = t ? lines_base_name(r, t, a) : NULL;

	sizes_axis(t, p);
	p->title = "Time by size";
	p->y = (svg_axis){.base = 10, .unit = DCK_UNIT_NS, .title = "time"};
	for (size_t i = 0; base && i < t->nrows; i++) {
		if (i == 0 || size_at(t, i) != size_at(t, i - 1))
			plot_add(p, base, size_at(t, i), dck_table_cell(t, i, "base_time"));
		plot_add(p, plot_text_at(t, i, "subject"), size_at(t, i),
			 dck_table_cell(t, i, "time"));
	}
}

static void over_ratios_collect(const dck_record *r, plot *p, mem_arena *a)
{
	const dck_table *t = dck_record_table(r, "compare/over");
	const char *base = t ? lines_base_name(r, t, a) : NULL;

	sizes_axis(t, p);
	p->title = base ? mem_arena_fmt(a, "Times over those of %s", base) : "";
	p->title = p->title ? p->title : "";
	p->note = "more than 1 is slower";
	p->y = (svg_axis){.unit = DCK_UNIT_ONE, .title = "ratio"};
	p->far = true;
	p->rule = 1;
	for (size_t i = 0; base && i < t->nrows; i++)
		plot_add(p, plot_text_at(t, i, "subject"), size_at(t, i),
			 dck_table_cell(t, i, "ratio"));
}

/* --- rates of requests */

static void served_collect(const dck_record *r, plot *p, mem_arena *a)
{
	const dck_table *t = dck_record_table(r, "load/steps");

	(void)a;
	p->title = "Requests served";
	p->x = (svg_axis){.unit = DCK_UNIT_HERTZ, .title = "rate of arrivals"};
	p->y = (svg_axis){.unit = DCK_UNIT_HERTZ, .title = "served"};
	p->zero = true;
	for (size_t i = 0; t && i < t->nrows; i++)
		plot_add(p, "", number_at(t, i, "rate"), dck_table_cell(t, i, "served"));
}

static void load_latency_collect(const dck_record *r, plot *p, mem_arena *a)
{
	const dck_table *t = dck_record_table(r, "load/steps");

	(void)a;
	p->title = "Latency by rate";
	p->x = (svg_axis){.unit = DCK_UNIT_HERTZ, .title = "rate of arrivals"};
	p->y = (svg_axis){.unit = DCK_UNIT_NS, .title = "latency"};
	p->zero = p->far = true;
	for (size_t c = 0; t && c < t->ncolumns; c++)
		for (size_t i = 0; t->columns[c].unit == DCK_UNIT_NS && i < t->nrows; i++)
			plot_add(p, t->columns[c].title, number_at(t, i, "rate"),
				 dck_table_cell(t, i, t->columns[c].key));
}

/* --- a metric over commits */

static void trend_collect(const dck_record *r, plot *p, mem_arena *a)
{
	const dck_table *t = dck_record_table(r, "history/points");
	const char *stated = record_get_text(r, "trend", "metric");
	const char *metric = stated ? stated : "metric";
	size_t changes = 0, c;
	const dck_unit unit =
	    t && plot_column_find(t, "value", &c) ? t->columns[c].unit : DCK_UNIT_ONE;

	p->title = metric;
	p->x = (svg_axis){.whole = true, .title = "commit, the oldest first"};
	p->y = (svg_axis){.unit = unit, .title = metric};
	for (size_t i = 0; t && i < t->nrows; i++) {
		dck_cell y = {.value = {.kind = DCK_VALUE_REAL, .as.r = number_at(t, i, "value")},
			      .lo = number_at(t, i, "lo"),
			      .hi = number_at(t, i, "hi")};

		y.level = isfinite(y.lo) && isfinite(y.hi) ? number_at(t, i, "level") : 0;
		plot_add(p, "", (double)(i + 1), &y);
		changes += isfinite(number_at(t, i, "after")) ? 1 : 0;
	}
	p->note = mem_arena_fmt(a, "%zu change%s of the level", changes, changes == 1 ? "" : "s");
}

/* --- several records */

static void records_rate_collect(const dck_record *r, plot *p, mem_arena *a)
{
	const dck_table *t = dck_record_table(r, "records");

	(void)a;
	p->title = "Items per second by items of a run";
	p->x = (svg_axis){.base = 2, .unit = DCK_UNIT_ONE, .title = "items of a run"};
	p->y = (svg_axis){.unit = DCK_UNIT_ITEM_PER_S, .title = "items per second"};
	p->zero = true;
	for (size_t i = 0; t && i < t->nrows; i++)
		plot_add(p, "", number_at(t, i, "items"), dck_table_cell(t, i, "rate"));
}

#define LINES(what, name, text)                                     \
	static bool what##_has(const dck_record *r)                 \
	{                                                           \
		return lines_has(r, what##_collect);                \
	}                                                           \
	static void what##_draw(const dck_record *r, dck_sink *out) \
	{                                                           \
		lines_draw(r, out, what##_collect);                 \
	}                                                           \
	const dck_figure figure_##what = {name, text, what##_has, what##_draw};

LINES(throughput, "throughput", "items per second at each batch")
LINES(batch_latency, "batch-latency", "latency at each batch")
LINES(over_times, "over-times", "times of a comparison at each size")
LINES(over_ratios, "over-ratios", "ratios of a comparison at each size")
LINES(served, "served", "requests served at each rate")
LINES(load_latency, "latency", "latency at each rate of requests")
LINES(trend, "trend", "a metric over commits")
LINES(records_rate, "records-rate", "items per second of several records by items of a run")
