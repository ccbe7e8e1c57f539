/* svg.c - charts with linear or logarithmic axes as SVG (W3C, SVG 1.1), written in one pass.
 *
 * The plane has fixed pixels (LEFT to s->right, TOP to BOTTOM). An axis maps values to it and
 * clamps what is outside its ends. Ticks are at 1, 2 or 5 times a power of ten (Heckbert, "Nice
 * Numbers for Graph Labels", Graphics Gems, 1990), or at powers of a logarithmic axis' base.
 *
 * Each call writes its element at once, so the order of calls is the order of painting: axes come
 * before marks, and svg_axis_right() replaces the scale for the marks after it. Style is in
 * attributes and never in CSS, so that every program draws it alike. Texts are untrusted:
 * characters outside XML 1.0 (section 2.2) and control characters become blanks, and '<', '&' and
 * '"' entities. Memory is constant; errors are sticky in the sink.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/svg.h"
#include "report/xml_text.h"
#include "base/decimal.h"
#include "base/utf8.h"
#include "report/scale.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	SIDE = 16,
	LEFT = 84,
	RIGHT = SVG_WIDTH - 28,
	TOP = 92,
	BOTTOM = SVG_HEIGHT - 62,
	ROWS_TOP = 66
};
/* px; in a column of 3.3 inches, as papers have them, the least of them is 5.6 pt. */
enum { FONT_TITLE = 20, FONT_TEXT = 17, FONT_BOX = 14 };
#define GREY_SMALL " fill=\"#5b636e\" font-size=\"14\""
/* px: columns of names, rows, rows with a second line, texts of a legend, its marks. */
enum { NAMES_MAX = 230, ROW_MAX = 68, TWO_LINES = 38, LEGEND_MAX = 190, LEGEND_MARK = 19 };
/* Of a font's size: about the width of a letter, in most fonts. */
#define LETTER 0.59
enum { FITTED_MAX = 300 };
#define TICKS	     6
#define DECIMALS_MAX 15
#define FONT	     "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\""

static const char *const ink_colours[] = {
    [SVG_BLUE] = "#0072b2", [SVG_ORANGE] = "#d55e00", [SVG_GREEN] = "#009e73",
    [SVG_GREY] = "#8a919c", [SVG_BLACK] = "#16191d",  [SVG_SKY] = "#56b4e9",
    [SVG_GOLD] = "#e69f00", [SVG_PINK] = "#cc79a7"};

static void svg_number_put(dck_sink *out, double v)
{
	char text[NUM_TEXT_MAX];

	decimal_fixed(text, 2, v);
	sink_text(out, text);
}

/* " name=\"12.50\"" */
static void at_put(dck_sink *out, const char *name, double v)
{
	sink_fmt(out, " %s=\"", name);
	svg_number_put(out, v);
	sink_text(out, "\"");
}

static void raw_text(dck_sink *out, double x, double y, const char *anchor, const char *more,
		     const char *text)
{
	sink_text(out, "<text");
	at_put(out, "x", x);
	at_put(out, "y", y);
	sink_fmt(out, " text-anchor=\"%s\"%s>", anchor, more);
	xml_text_put(out, text);
	sink_text(out, "</text>\n");
}

static void raw_line(dck_sink *out, double x0, double y0, double x1, double y1, const char *ink,
		     const char *more)
{
	sink_text(out, "<line");
	at_put(out, "x1", x0);
	at_put(out, "y1", y0);
	at_put(out, "x2", x1);
	at_put(out, "y2", y1);
	sink_fmt(out, " stroke=\"%s\"%s/>\n", ink, more);
}

/* Begins a rectangle; its style follows. */
static void rect_begin(dck_sink *out, double x, double y, double width, double height)
{
	sink_text(out, "<rect");
	at_put(out, "x", x);
	at_put(out, "y", y);
	at_put(out, "width", width);
	at_put(out, "height", height);
}

/* Begins a group with a tooltip. */
static void group_begin(dck_sink *out, const char *says)
{
	sink_text(out, "<g><title>");
	xml_text_put(out, says);
	sink_text(out, "</title>");
}

/* Returns the width of a character in letters: those beyond the alphabets of Europe are about twice
 * as wide as a Latin one. */
static double letters_of(size_t bytes)
{
	return bytes > 2 ? 1.8 : 1;
}

double svg_text_px(const char *text)
{
	double letters = 0;

	for (size_t i = 0; text[i];) {
		const size_t n = utf8_length(text + i);

		letters += letters_of(n);
		i += n > 0 ? n : 1;
	}
	return letters * LETTER * FONT_TEXT;
}

/* Writes a text of at most `px` wide, with an ellipsis where it is cut; none where not even two
 * letters fit. */
static void fitted_text(dck_sink *out, double x, double y, const char *anchor, const char *more,
			const char *text, double px, double font)
{
	const double room = px / (font * LETTER);
	char shown[FITTED_MAX + sizeof "\xe2\x80\xa6"];
	size_t end = 0, cut = 0;
	double letters = 0;

	while (text[end] && end + UTF8_BYTES_MAX <= FITTED_MAX && letters <= room) {
		const size_t n = utf8_length(text + end);

		if (letters + 1 <= room)
			cut = end;
		letters += letters_of(n);
		end += n > 0 ? n : 1;
	}
	const bool whole = !text[end] && letters <= room;
	if (room < 2)
		return;
	snprintf(shown, sizeof shown, "%.*s%s", (int)(whole ? end : cut), text,
		 whole ? "" : "\xe2\x80\xa6");
	raw_text(out, x, y, anchor, more, shown);
}

static void svg_title_put(dck_sink *out, const char *title)
{
	char more[64];

	snprintf(more, sizeof more, " font-size=\"%d\" font-weight=\"bold\"", FONT_TITLE);
	/* Bold letters are a little wider. */
	fitted_text(out, SIDE, 28, "start", more, title, SVG_WIDTH - 2 * SIDE, FONT_TITLE * 1.06);
}

void svg_open(svg *s, dck_sink *out, const char *title)
{
	*s = (svg){.out = out, .left = LEFT, .right = RIGHT};
	sink_fmt(out,
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		 "viewBox=\"0 0 %d %d\" " FONT " font-size=\"%d\" fill=\"%s\">\n",
		 SVG_WIDTH, SVG_HEIGHT, SVG_WIDTH, SVG_HEIGHT, FONT_TEXT, ink_colours[SVG_BLACK]);
	sink_text(out, "<title>");
	xml_text_put(out, title);
	sink_text(out, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
	svg_title_put(out, title);
}

void svg_close(svg *s)
{
	sink_text(s->out, "</svg>\n");
}

void svg_note(svg *s, const char *text)
{
	fitted_text(s->out, SIDE, 50, "start", GREY_SMALL, text, SVG_WIDTH - 2 * SIDE, FONT_BOX);
}

/* --- axes */

/* Returns the position of a value along an axis, from 0 to 1, clamped at its ends. */
static double svg_share_of(const svg_axis *a, double v)
{
	const double t = a->base ? (v > 0 ? log(v / a->from) / log(a->to / a->from) : 0)
				 : (v - a->from) / (a->to - a->from);

	return t > 0 ? fmin(t, 1) : 0;
}

static double x_px(const svg *s, double v)
{
	return s->left + svg_share_of(&s->x, v) * (s->right - s->left);
}

static double y_px(const svg *s, double v)
{
	return BOTTOM - svg_share_of(&s->y, v) * (BOTTOM - TOP);
}

static svg_axis widened(svg_axis a)
{
	const double most = a.base ? 1e290 : 1e300, least = a.base ? 1 / most : -most;

	if (a.base && !(a.from > 0))
		a.from = 1;
	/* Neither the distance nor the ratio of the ends overflows. */
	a.from = fmin(fmax(a.from, least), most);
	a.to = fmin(fmax(a.to, least), most);
	/* Doubles that differ by a few ulps have no ticks between them. */
	if (!(a.to - a.from > fabs(a.from) * 1e-12) || !isfinite(a.to - a.from))
		a.to = a.base ? a.from * a.base : a.from + fmax(1, fabs(a.from) * 1e-3);
	return a;
}

/* Returns the least of 1, 2 or 5 times a power of ten that is at least v. */
static double round_step(double v)
{
	const double ten = pow(10, floor(log10(v))), m = v / ten;

	return ten * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

/* Returns the one unit of an axis' numbers. It makes the greatest number short, and on a
 * logarithmic axis the least number at least 1. */
static column_scale axis_scale(const svg_axis *a)
{
	const double v = a->base ? a->from : fmax(fabs(a->from), fabs(a->to));
	const column_range range = {.any = true, .least = v, .most = v};

	return column_scale_of(&range, a->unit, false);
}

/* Calls put for every tick of a logarithmic axis: powers of the base, of 10 also their 2 and 5
 * times where fewer than two powers may be in range. */
static void ticks_log(svg *s, const svg_axis *a, double factor,
		      void (*put)(svg *s, double v, const char *label))
{
	static const double parts[] = {1, 2, 5};
	const double span = (log(a->to) - log(a->from)) / log(a->base), slack = 1e-9;
	const int each = span > 10 ? (int)ceil(span / 10) : 1;
	const int nparts = a->base == 10 && span < 2 ? 3 : 1;
	char label[NUM_TEXT_MAX];

	for (int i = (int)ceil(log(a->from) / log(a->base) - slack) - (nparts > 1);
	     pow(a->base, i) <= a->to * (1 + slack); i += each)
		for (int k = 0; k < nparts; k++) {
			const double v = parts[k] * pow(a->base, i);

			if (v < a->from * (1 - slack) || v > a->to * (1 + slack))
				continue;
			put(s, v,
			    v / factor < 1 ? (decimal_general(label, 3, v / factor), label)
					   : decimal_grouped(label, 0, v / factor));
		}
}

/* Calls put for every tick. */
static void ticks(svg *s, const svg_axis *a, void (*put)(svg *s, double v, const char *label))
{
	const double factor = axis_scale(a).divide;
	char label[NUM_TEXT_MAX];

	if (a->base) {
		ticks_log(s, a, factor, put);
		return;
	}
	const double even = round_step((a->to - a->from) / factor / TICKS),
		     step = a->whole ? fmax(1, even) : even;
	if (!(step > 0) || isinf(step)) /* the range is not representable */
		return;
	const int decimals = (int)fmin(fmax(0, -floor(log10(step) + 1e-9)), DECIMALS_MAX);
	const double first = ceil(a->from / factor / step - 1e-9) * step;
	for (int i = 0; i <= 2 * TICKS; i++) { /* round_step() leaves at most TICKS + 1 */
		const double v = first + i * step;

		if (v > a->to / factor * (1 + 1e-12) + step * 1e-9)
			break;
		put(s, v * factor, decimal_grouped(label, decimals, fabs(v) < step * 1e-6 ? 0 : v));
	}
}

static void title_text(const svg_axis *a, char *buf, size_t size)
{
	const column_scale scale = axis_scale(a);

	snprintf(buf, size, scale.unit[0] ? "%s [%s]" : "%s", a->title, scale.unit);
}

static void tick_x(svg *s, double v, const char *label)
{
	const double x = x_px(s, v);

	raw_line(s->out, x, BOTTOM, x, BOTTOM + 5, "#8a919c", "");
	if (s->rows > 0)
		raw_line(s->out, x, ROWS_TOP, x, BOTTOM, "#e3e6ea", "");
	raw_text(s->out, x, BOTTOM + 22, "middle", "", label);
}

static void tick_y(svg *s, double v, const char *label)
{
	const double y = y_px(s, v), wide = svg_text_px(label), space = s->left - 12;
	char smaller[32] = "";

	if (wide > space)
		snprintf(smaller, sizeof smaller, " font-size=\"%.10s\"",
			 FIXED_TEXT(1, FONT_TEXT * space / wide));
	raw_line(s->out, s->left, y, s->right, y, "#e3e6ea", "");
	raw_text(s->out, s->left - 8, y + 6, "end", smaller, label);
}

void svg_axis_x(svg *s, svg_axis a)
{
	char title[128];

	s->x = widened(a);
	ticks(s, &s->x, tick_x);
	raw_line(s->out, s->left, BOTTOM, s->right, BOTTOM, "#8a919c", "");
	title_text(&s->x, title, sizeof title);
	fitted_text(s->out, (s->left + s->right) / 2.0, BOTTOM + 48, "middle", "", title,
		    s->right - s->left, FONT_TEXT);
}

static void axis_upright(svg *s, svg_axis a, void (*tick)(svg *s, double v, const char *label),
			 double title_x, const char *anchor)
{
	char title[128];

	s->y = widened(a);
	ticks(s, &s->y, tick);
	title_text(&s->y, title, sizeof title);
	raw_text(s->out, title_x, TOP - 14, anchor, "", title);
}

void svg_axis_y(svg *s, svg_axis a)
{
	axis_upright(s, a, tick_y, SIDE, "start");
}

static void tick_right(svg *s, double v, const char *label)
{
	const double y = y_px(s, v);

	raw_line(s->out, s->right, y, s->right + 5, y, "#8a919c", "");
	raw_text(s->out, s->right + 8, y + 6, "start", "", label);
}

void svg_right_room(svg *s)
{
	s->axis_px = 48;
	s->right -= s->axis_px;
}

void svg_axis_right(svg *s, svg_axis a)
{
	axis_upright(s, a, tick_right, fmin(SVG_WIDTH - SIDE, s->right + 64), "end");
}

/* --- marks */

void svg_rect(svg *s, double x0, double y0, double x1, double y1)
{
	const double a = x_px(s, x0), b = x_px(s, x1), c = y_px(s, y1), d = y_px(s, y0);

	rect_begin(s->out, a + 0.5, c, fmax(0.5, b - a - 1), d - c);
	sink_fmt(s->out, " fill=\"%s\"/>\n", ink_colours[s->ink]);
}

void svg_dot(svg *s, double x, double y, double radius, const char *says)
{
	sink_text(s->out, "<circle");
	at_put(s->out, "cx", x_px(s, x));
	at_put(s->out, "cy", y_px(s, y));
	at_put(s->out, "r", radius);
	sink_fmt(s->out, " fill=\"%s\" fill-opacity=\"0.6\"", ink_colours[s->ink]);
	if (!says) {
		sink_text(s->out, "/>\n");
		return;
	}
	sink_text(s->out, "><title>");
	xml_text_put(s->out, says);
	sink_text(s->out, "</title></circle>\n");
}

void svg_line(svg *s, double x0, double y0, double x1, double y1, bool dashed)
{
	raw_line(s->out, x_px(s, x0), y_px(s, y0), x_px(s, x1), y_px(s, y1), ink_colours[s->ink],
		 dashed ? " stroke-width=\"1.25\" stroke-dasharray=\"4 3\""
			: " stroke-width=\"1.5\"");
}

void svg_path_begin(svg *s)
{
	sink_fmt(s->out, "<path fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" d=\"",
		 ink_colours[s->ink]);
}

void svg_path_to(svg *s, double x, double y, bool first)
{
	sink_text(s->out, first ? "M" : "L");
	svg_number_put(s->out, x_px(s, x));
	sink_text(s->out, " ");
	svg_number_put(s->out, y_px(s, y));
}

void svg_path_end(svg *s)
{
	sink_text(s->out, "\"/>\n");
}

void svg_text(svg *s, double x, double y, double dx, double dy, const char *anchor,
	      const char *text)
{
	raw_text(s->out, x_px(s, x) + dx, y_px(s, y) + dy, anchor, "", text);
}

void svg_legend_room(svg *s, double px)
{
	s->right -= (int)fmin(px, LEGEND_MAX) + LEGEND_MARK + 18;
}

void svg_legend(svg *s, svg_colour ink, const char *text)
{
	const double x = SVG_WIDTH - SIDE - (RIGHT - s->right - s->axis_px) + 12,
		     y = TOP + 22.0 * s->legends++;

	sink_text(s->out, "<rect");
	at_put(s->out, "x", x);
	at_put(s->out, "y", y);
	sink_fmt(s->out, " width=\"13\" height=\"13\" fill=\"%s\"/>\n", ink_colours[ink]);
	fitted_text(s->out, x + LEGEND_MARK, y + 12, "start", "", text,
		    SVG_WIDTH - 4 - x - LEGEND_MARK, FONT_TEXT);
}

/* A box with a text that fits into it, and all of it as a tooltip. */
static void box_put(svg *s, double x, double y, double width, double high, svg_colour ink,
		    const char *text, const char *says)
{
	group_begin(s->out, says);
	rect_begin(s->out, x, y, width, high);
	/* A border would cover a box of a pixel. */
	sink_fmt(s->out, " fill=\"%s\" fill-opacity=\"0.35\"%s/>", ink_colours[ink],
		 width > 2 ? " stroke=\"#ffffff\" stroke-width=\"0.5\"" : "");
	if (width > 3 * LETTER * FONT_BOX)
		fitted_text(s->out, x + 3, y + high - 5, "start", " font-size=\"14\"", text,
			    width - 5, FONT_BOX);
	sink_text(s->out, "</g>\n");
}

void svg_box(svg *s, double from, double to, unsigned row, svg_colour ink, const char *text,
	     const char *says)
{
	enum { WIDE = SVG_WIDTH - 2 * SIDE, HIGH = 18, FIRST = 66 };

	box_put(s, SIDE + WIDE * from, FIRST + HIGH * row, WIDE * (to - from), HIGH, ink, text,
		says);
}

/* --- rows with names, in place of a y axis */

void svg_rows(svg *s, unsigned n, double names_px, double texts_px)
{
	s->rows = n;
	s->left = SIDE + (int)ceil(fmin(names_px, NAMES_MAX)) + 13;
	s->right = SVG_WIDTH - SIDE - (int)ceil(fmin(texts_px, NAMES_MAX)) - 13;
}

/* Rows of charts with few of them are not as high as would fill it. */
static double row_high(const svg *s)
{
	return fmin((BOTTOM - ROWS_TOP) / (double)s->rows, ROW_MAX);
}

static double row_px(const svg *s, unsigned row)
{
	return ROWS_TOP + row_high(s) * row;
}

void svg_row_names(svg *s, unsigned row, const char *name, const char *below, const char *text)
{
	const bool two = below && *below && row_high(s) >= TWO_LINES;
	const double y = row_px(s, row) + row_high(s) / 2 + (two ? -2 : 6);

	fitted_text(s->out, s->left - 12, y, "end", "", name, s->left - 12 - SIDE, FONT_TEXT);
	if (two)
		fitted_text(s->out, s->left - 12, y + 17, "end", GREY_SMALL, below,
			    s->left - 12 - SIDE, FONT_BOX);
	if (text)
		fitted_text(s->out, SVG_WIDTH - SIDE, row_px(s, row) + row_high(s) / 2 + 6, "end",
			    "", text, SVG_WIDTH - SIDE - s->right - 8, FONT_TEXT);
}

void svg_row_value(svg *s, unsigned row, const svg_interval *v, bool bar, const char *says)
{
	const double y = row_px(s, row) + row_high(s) / 2, half = fmin(row_high(s) / 2 - 2, 13);

	group_begin(s->out, says);
	if (bar) {
		rect_begin(s->out, s->left, y - half, fmax(0, x_px(s, v->value) - s->left),
			   2 * half);
		sink_fmt(s->out, " fill=\"%s\" fill-opacity=\"0.35\"/>", ink_colours[s->ink]);
	}
	if (isfinite(v->lo) && isfinite(v->hi)) {
		const double lo = x_px(s, v->lo), hi = x_px(s, v->hi), end = fmin(half, 6);

		raw_line(s->out, lo, y, hi, y, ink_colours[s->ink], " stroke-width=\"2\"");
		raw_line(s->out, lo, y - end, lo, y + end, ink_colours[s->ink],
			 " stroke-width=\"2\"");
		raw_line(s->out, hi, y - end, hi, y + end, ink_colours[s->ink],
			 " stroke-width=\"2\"");
	}
	sink_text(s->out, "<circle");
	at_put(s->out, "cx", x_px(s, v->value));
	at_put(s->out, "cy", y);
	sink_fmt(s->out, " r=\"4\" fill=\"%s\"/></g>\n", ink_colours[s->ink]);
}

void svg_row_box(svg *s, unsigned row, double from, double to, const char *text, const char *says)
{
	const double x = x_px(s, from), high = fmin(row_high(s), 24);

	box_put(s, x, row_px(s, row) + (row_high(s) - high) / 2, fmax(0.5, x_px(s, to) - x), high,
		s->ink, text, says);
}

void svg_row_rule(svg *s, double at)
{
	if (at >= s->x.from && at <= s->x.to)
		raw_line(s->out, x_px(s, at), ROWS_TOP, x_px(s, at), BOTTOM, ink_colours[SVG_BLACK],
			 " stroke-width=\"1.25\" stroke-dasharray=\"4 3\"");
}

void svg_row_zone(svg *s, double from, double to)
{
	rect_begin(s->out, x_px(s, from), ROWS_TOP, x_px(s, to) - x_px(s, from), BOTTOM - ROWS_TOP);
	sink_fmt(s->out, " fill=\"%s\" fill-opacity=\"0.18\"/>\n", ink_colours[SVG_GREY]);
}

/* --- columns with names, in place of an x axis: a matrix */

void svg_columns(svg *s, unsigned n, const char *title)
{
	s->x = (svg_axis){.to = n};
	fitted_text(s->out, (s->left + s->right) / 2.0, BOTTOM + 48, "middle", "", title,
		    s->right - s->left, FONT_TEXT);
}

void svg_column_name(svg *s, unsigned column, const char *name)
{
	fitted_text(s->out, x_px(s, column + 0.5), ROWS_TOP + row_high(s) * s->rows + 20, "middle",
		    " font-size=\"14\"", name, x_px(s, 1) - s->left - 4, FONT_BOX);
}

void svg_cell(svg *s, unsigned row, unsigned column, double share, const char *text,
	      const char *says)
{
	const double x = x_px(s, column), width = x_px(s, column + 1) - x, high = row_high(s);

	group_begin(s->out, says);
	rect_begin(s->out, x + 1, row_px(s, row) + 1, width - 2, high - 2);
	sink_fmt(s->out, " fill=\"%s\" fill-opacity=\"", ink_colours[s->ink]);
	svg_number_put(s->out, 0.05 + 0.6 * fmin(fmax(share, 0), 1));
	sink_text(s->out, "\"/>");
	fitted_text(s->out, x + width / 2, row_px(s, row) + high / 2 + 5, "middle",
		    " font-size=\"14\"", text, width + 2, FONT_BOX);
	sink_text(s->out, "</g>\n");
}
