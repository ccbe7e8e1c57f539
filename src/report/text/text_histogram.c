/* text_histogram.c - the measured samples as a histogram of rows, and in one line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "report/histogram.h"
#include "report/text/text_parts.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS	    16
#define COLUMN_MARK 8

static void bar_put(page *p, size_t count, size_t most, unsigned cols)
{
	static const char *const eighth[] = {"",       "\u258f", "\u258e", "\u258d",
					     "\u258c", "\u258b", "\u258a", "\u2589"};
	unsigned steps = p->utf8 ? 8 : 1;
	double exact = most > 0 ? (double)count / (double)most * cols * steps : 0;
	unsigned n = (unsigned)(exact + 0.5);

	if (n == 0 && count > 0)
		n = 1;
	for (unsigned i = 0; i < n / steps; i++)
		page_text(p, p->utf8 ? "\u2588" : "#");
	if (n % steps != 0)
		page_text(p, eighth[n % steps]);
}

/* The labels must show the two leading digits of the width. */
static format_scale label_scale(const format_scale *scale, double width)
{
	format_scale s = *scale;
	int decimals = (int)-floor(log10(width / s.divide));
	s.decimals = decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
	return s;
}

typedef struct histogram_layout {
	format_scale scale;
	unsigned label, bar, count; /* columns */
} histogram_layout;

static void histogram_row_put(page *p, const histogram_layout *l, const char *label, size_t count,
			      size_t most, const char *mark)
{
	char text[FORMAT_SIZE];
	unsigned begin = 2 + l->label + 1;

	page_to(p, 2);
	page_text_right(p, label, l->label);
	page_text(p, p->utf8 ? " \u2502" : " |");
	bar_put(p, count, most, l->bar);
	page_to(p, begin + 1 + l->bar + 1);
	snprintf(text, sizeof text, "%zu", count);
	page_text_right(p, text, l->count);
	if (mark[0] != '\0') {
		page_text(p, " ");
		text_style_set(p, PAGE_BOLD);
		page_text(p, mark);
		text_style_set(p, PAGE_PLAIN);
	}
	page_line(p);
}

static void cut_put(page *p, const histogram_layout *l, const char *what, size_t count,
		    const char *to, double extreme)
{
	if (count == 0)
		return;
	page_to(p, 2);
	page_text_right(p, what, l->label);
	page_text(p, p->utf8 ? " \u2506 " : " : ");
	text_style_set(p, PAGE_DIM);
	page_fmt(p, "%zu more, %s %s", count, to, FORMAT_NUMBER(extreme, DCK_UNIT_NS));
	page_line(p);
}

static void histogram_rows_put(page *p, const bins *b, const bins_sorted *s, double median,
			       const format_scale *scale)
{
	char text[FORMAT_SIZE];
	histogram_layout l = {.scale = label_scale(scale, b->width), .count = 7};
	double last = b->origin + b->width * (double)b->rows;

	l.label =
	    page_columns(format_scaled(&l.scale, last, text)) + 1 + page_columns(l.scale.unit);
	if (l.label < 6)
		l.label = 6;
	l.bar = p->width > l.label + 3 + 1 + l.count + COLUMN_MARK + 10
		    ? p->width - l.label - 3 - 1 - l.count - COLUMN_MARK - 1
		    : 10;
	cut_put(p, &l, "below", b->below, "down to", s->x[0]);
	for (size_t i = 0; i < b->rows; i++) {
		double from = b->origin + b->width * (double)i;
		char label[FORMAT_SIZE + 8];
		snprintf(label, sizeof label, "%s %s", format_scaled(&l.scale, from, text),
			 l.scale.unit);
		histogram_row_put(p, &l, label, b->count[i], b->most,
				  median >= from && median < from + b->width ? "median" : "");
	}
	cut_put(p, &l, "above", b->above, "up to", s->x[s->n - 1]);
}

void text_histogram(page *p, const dck_record *r)
{
	bins_sorted s;
	bins b;
	double main_ns;

	if (bins_samples(r, &s)) {
		char title[128], width[FORMAT_SIZE];
		bins_fill(&s, ROWS, &b);
		/* A record whose median is not reported has samples all the same. */
		const format_scale scale = text_metric_main(r, &main_ns)
					       ? text_latency_scale(r)
					       : format_scale_for(s.x[s.n / 2], NAN);
		const format_scale label = label_scale(&scale, b.width);
		snprintf(title, sizeof title, "Histogram of %zu measured samples, %s %s a row", s.n,
			 format_scaled(&label, b.width, width), label.unit);
		text_title(p, title);
		histogram_rows_put(p, &b, &s, dck_record_value(r, "latency/median"), &scale);
	}
	mem_free(s.x);
}

/* --- in one line */

#define LINE_BINS 56
#define LINE_RUNS 20 /* fewer runs give no chart */

void text_level_mark(page *p, size_t count, size_t most)
{
	static const char *const block[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
					    "\u2585", "\u2586", "\u2587", "\u2588"};
	static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
	size_t n = most > 0 ? (count * 8 + most / 2) / most : 0;

	if (n == 0 && count > 0)
		n = 1;
	page_text(p, (p->utf8 ? block : ascii)[n]);
}

void text_histogram_line(page *p, const dck_record *r)
{
	char left[2 * FORMAT_SIZE], right[3 * FORMAT_SIZE], text[FORMAT_SIZE];
	size_t count[LINE_BINS] = {0}, below = 0, above = 0, most = 0;
	bins_sorted s;
	double lo = 0, hi = 0;

	if (!bins_samples(r, &s) || s.n < LINE_RUNS) {
		mem_free(s.x);
		return;
	}
	bins_ends(&s, &lo, &hi);
	for (size_t i = 0; i < s.n; i++) {
		below += s.x[i] < lo;
		above += s.x[i] > hi;
	}
	const format_scale ends = format_scale_for(hi, NAN);
	snprintf(left, sizeof left, "%s %s ", format_scaled(&ends, lo, text), ends.unit);
	int n = snprintf(right, sizeof right, " %s %s", format_scaled(&ends, hi, text), ends.unit);
	if (below > 0 && above > 0)
		snprintf(right + n, sizeof right - (size_t)n, " (%zu below, %zu above)", below,
			 above);
	else if (below + above > 0)
		snprintf(right + n, sizeof right - (size_t)n, " (%zu %s)", below + above,
			 below > 0 ? "below" : "above");
	/* Limited by the width and by the number of samples. */
	const unsigned used = 2 + page_columns(left) + 1 + 1 + page_columns(right);
	size_t cols = (size_t)fmin(3 * sqrt((double)s.n), LINE_BINS);
	cols = p->width < used + cols ? (p->width > used + 8 ? p->width - used : 8) : cols;
	for (size_t i = 0; i < s.n; i++) {
		const double at = hi > lo ? (s.x[i] - lo) / (hi - lo) * (double)cols : 0;
		const size_t bin = at < (double)cols ? (size_t)fmax(at, 0) : cols - 1;
		if (s.x[i] >= lo && s.x[i] <= hi && ++count[bin] > most)
			most = count[bin];
	}
	page_to(p, 2);
	page_text(p, left);
	page_text(p, p->utf8 ? "\u2595" : "|");
	for (size_t i = 0; i < cols; i++)
		text_level_mark(p, count[i], most);
	page_text(p, p->utf8 ? "\u258f" : "|");
	page_text(p, right);
	page_line(p);
	mem_free(s.x);
}
