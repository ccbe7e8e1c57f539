/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/lap/lap_line.h"
#include "base/decimal.h"
#include "base/utf8.h"
#include "deepclock/opt.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_BELOW 1e15 /* a double has every whole number below it, of up to 15 digits */

typedef struct lap_text {
	char *text;
	size_t size, used;
} lap_text;

DCK_PRINTF(2, 3) static void add(lap_text *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(l->text + l->used, l->size - l->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->used += (size_t)n < l->size - l->used ? (size_t)n : l->size - l->used - 1;
}

static void add_time(lap_text *l, double ns)
{
	char text[32];

	add(l, "%s", dck_text_time(ns, text, sizeof text));
}

/* The name and the number of the lap; a first lap that may be the only one of its name has no
 * number. */
static void add_name(lap_text *l, const dck_lap *lap)
{
	add(l, "%s", lap->name->text);
	if (lap->index > 1 || lap->place->total > 0)
		add(l, " %" PRIu64, lap->index);
	if (lap->place->total > 0)
		add(l, "/%" PRIu64, lap->place->total);
}

/* Formats a number without a known unit: a whole one with all of its digits. */
static const char *plain_number_text(double v, char *ret)
{
	if (isnan(v))
		return "nan";
	if (isinf(v))
		return v < 0 ? "-inf" : "inf";
	if (fabs(v) < WHOLE_BELOW && v == trunc(v))
		return decimal_grouped(ret, 0, v);
	decimal_general(ret, 4, v);
	return ret;
}

static void line_add_value(lap_text *l, const lap_column *c, double v)
{
	char text[NUM_TEXT_MAX];

	add(l, " | %s ", c->name);
	if (!isfinite(v)) {
		add(l, "%s", plain_number_text(v, text));
	} else if (c->unit && strcmp(c->unit, "ns") == 0) {
		add_time(l, v);
	} else if (c->unit && strcmp(c->unit, "B") == 0) {
		add(l, "%s", dck_text_bytes(v, text, sizeof text));
	} else {
		add(l, "%s%s%s", plain_number_text(v, text), c->unit ? " " : "",
		    c->unit ? c->unit : "");
	}
}

const char *lap_rate_text(double rate, const char *unit, char *ret, size_t size)
{
	char text[NUM_TEXT_MAX];

	if (rate >= 1000)
		decimal_grouped(text, 0, rate);
	else
		decimal_general(text, 3, rate);
	snprintf(ret, size, "%.40s %s/s", text, unit);
	return ret;
}

void lap_line_text(const dck_lap *lap, const lap_times *t, char *ret, size_t size)
{
	lap_text l = {.text = ret, .size = size};
	const lap_child *place = lap->place;
	const char *unit;
	const double items = lap_items(lap, &unit);
	char rate[128];

	add_name(&l, lap);
	for (size_t i = LAP_OWN_COLUMNS; i < lap->name->ncolumns; i++) {
		const lap_column *c = &lap->name->column[i];
		const size_t at = i - LAP_OWN_COLUMNS;

		if (lap->given[at] && strcmp(c->name, "items") != 0)
			line_add_value(&l, c, lap->value[at]);
	}
	add(&l, " | ");
	add_time(&l, t->wall_ns);
	add(&l, " wall, ");
	add_time(&l, t->cpu_ns);
	add(&l, " cpu");
	if (!isnan(items) && t->wall_ns > 0)
		add(&l, " | %s", lap_rate_text(items * 1e9 / t->wall_ns, unit, rate, sizeof rate));
	if (place->total > place->ended && place->ended > 0) {
		const double mean_ns = place->wall_sum_ns / (double)place->ended;

		add(&l, " | left ");
		add_time(&l, mean_ns * (double)(place->total - place->ended));
	}
	utf8_sanitize(ret); /* names may have any characters, a line has one */
}

void lap_line_open(const dck_lap *lap, uint64_t now_ns, char *ret, size_t size)
{
	lap_text l = {.text = ret, .size = size};

	add_name(&l, lap);
	add(&l, " ");
	add_time(&l, now_ns > lap->begin_ns ? (double)(now_ns - lap->begin_ns) : 0);
	utf8_sanitize(ret);
}
