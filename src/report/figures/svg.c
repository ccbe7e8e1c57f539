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
#include "base/decimal.h"
#include "base/utf8.h"
#include "report/scale.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 84, RIGHT = SVG_WIDTH - 28, TOP = 80, BOTTOM = SVG_HEIGHT - 56 };
#define TICKS 6
#define FONT  "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\""

static const char *const inks[] = {[SVG_BLUE] = "#0072b2",
				   [SVG_ORANGE] = "#d55e00",
				   [SVG_GREEN] = "#009e73",
				   [SVG_GREY] = "#8a919c",
				   [SVG_BLACK] = "#16191d"};

/* Returns whether XML 1.0 does not allow a character, or no text needs it: a control character of
 * one or two bytes, U+FFFE and U+FFFF. */
static bool is_refused(const char *text, size_t n)
{
	return n == 0 || (n == 1 && ((unsigned char)*text < ' ' || *text == 0x7f)) ||
	       (n == 2 && memcmp(text, "\xc2\x80", 2) >= 0 && memcmp(text, "\xc2\xa0", 2) < 0) ||
	       (n == 3 && memcmp(text, "\xef\xbf\xbe", 3) >= 0);
}

/* A name may hold any bytes. */
static void escaped_put(dck_sink *out, const char *text)
{
	while (*text) {
		const size_t n = utf8_length(text);

		if (is_refused(text, n))
			sink_text(out, " ");
		else if (*text == '<')
			sink_text(out, "&lt;");
		else if (*text == '&')
			sink_text(out, "&amp;");
		else if (*text == '"')
			sink_text(out, "&quot;");
		else
			sink_put(out, text, n);
		text += n > 0 ? n : 1;
	}
}

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
	escaped_put(out, text);
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

void svg_open(svg *s, dck_sink *out, const char *title)
{
	*s = (svg){.out = out, .right = RIGHT};
	sink_fmt(out,
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		 "viewBox=\"0 0 %d %d\" " FONT " font-size=\"13\" fill=\"%s\">\n",
		 SVG_WIDTH, SVG_HEIGHT, SVG_WIDTH, SVG_HEIGHT, inks[SVG_BLACK]);
	sink_text(out, "<title>");
	escaped_put(out, title);
	sink_text(out, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
	raw_text(out, LEFT, 24, "start", " font-size=\"16\" font-weight=\"bold\"", title);
}

void svg_close(svg *s)
{
	sink_text(s->out, "</svg>\n");
}

void svg_note(svg *s, const char *text)
{
	raw_text(s->out, LEFT, 43, "start", " fill=\"#5b636e\"", text);
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
	return LEFT + svg_share_of(&s->x, v) * (s->right - LEFT);
}

static double y_px(const svg *s, double v)
{
	return BOTTOM - svg_share_of(&s->y, v) * (BOTTOM - TOP);
}

static svg_axis widened(svg_axis a)
{
	if (a.base && !(a.from > 0))
		a.from = 1;
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
 * logarithmic axis the least one no fraction. */
static column_scale axis_scale(const svg_axis *a)
{
	const double v = a->base ? a->from : fmax(fabs(a->from), fabs(a->to));
	const column_range range = {.any = true, .least = v, .most = v};

	return column_scale_of(&range, a->unit, false);
}

/* Calls put for every tick. */
static void ticks(svg *s, const svg_axis *a, void (*put)(svg *s, double v, const char *label))
{
	const double factor = axis_scale(a).divide;
	char label[NUM_TEXT_MAX];

	if (a->base) {
		const double span = log(a->to / a->from) / log(a->base);
		const int each = span > 10 ? (int)ceil(span / 10) : 1;
		const int first = (int)ceil(log(a->from) / log(a->base) - 1e-9);

		for (int i = first; pow(a->base, i) <= a->to * (1 + 1e-9); i += each) {
			const double v = pow(a->base, i) / factor;
			put(s, v * factor,
			    v < 1 ? (decimal_general(label, 3, v), label)
				  : decimal_grouped(label, 0, v));
		}
		return;
	}
	const double step = round_step((a->to - a->from) / factor / TICKS);
	const int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
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
	raw_text(s->out, x, BOTTOM + 20, "middle", "", label);
}

static void tick_y(svg *s, double v, const char *label)
{
	const double y = y_px(s, v);

	raw_line(s->out, LEFT, y, s->right, y, "#e3e6ea", "");
	raw_text(s->out, LEFT - 8, y + 4, "end", "", label);
}

void svg_axis_x(svg *s, svg_axis a)
{
	char title[128];

	s->x = widened(a);
	ticks(s, &s->x, tick_x);
	raw_line(s->out, LEFT, BOTTOM, s->right, BOTTOM, "#8a919c", "");
	title_text(&s->x, title, sizeof title);
	raw_text(s->out, (LEFT + s->right) / 2.0, BOTTOM + 42, "middle", "", title);
}

void svg_axis_y(svg *s, svg_axis a)
{
	char title[128];

	s->y = widened(a);
	ticks(s, &s->y, tick_y);
	title_text(&s->y, title, sizeof title);
	raw_text(s->out, 16, TOP - 12, "start", "", title);
}

static void tick_right(svg *s, double v, const char *label)
{
	const double y = y_px(s, v);

	raw_line(s->out, s->right, y, s->right + 5, y, "#8a919c", "");
	raw_text(s->out, s->right + 8, y + 4, "start", "", label);
}

void svg_right_room(svg *s)
{
	s->right = RIGHT - 40;
}

void svg_axis_right(svg *s, svg_axis a)
{
	char title[128];

	s->y = widened(a);
	ticks(s, &s->y, tick_right);
	title_text(&s->y, title, sizeof title);
	raw_text(s->out, SVG_WIDTH - 16, TOP - 12, "end", "", title);
}

/* --- marks */

void svg_rect(svg *s, double x0, double y0, double x1, double y1)
{
	const double a = x_px(s, x0), b = x_px(s, x1), c = y_px(s, y1), d = y_px(s, y0);

	sink_text(s->out, "<rect");
	at_put(s->out, "x", a + 0.5);
	at_put(s->out, "y", c);
	at_put(s->out, "width", fmax(0.5, b - a - 1));
	at_put(s->out, "height", d - c);
	sink_fmt(s->out, " fill=\"%s\"/>\n", inks[s->ink]);
}

void svg_dot(svg *s, double x, double y, double radius, const char *says)
{
	sink_text(s->out, "<circle");
	at_put(s->out, "cx", x_px(s, x));
	at_put(s->out, "cy", y_px(s, y));
	at_put(s->out, "r", radius);
	sink_fmt(s->out, " fill=\"%s\" fill-opacity=\"0.6\"", inks[s->ink]);
	if (!says) {
		sink_text(s->out, "/>\n");
		return;
	}
	sink_text(s->out, "><title>");
	escaped_put(s->out, says);
	sink_text(s->out, "</title></circle>\n");
}

void svg_line(svg *s, double x0, double y0, double x1, double y1, bool dashed)
{
	raw_line(s->out, x_px(s, x0), y_px(s, y0), x_px(s, x1), y_px(s, y1), inks[s->ink],
		 dashed ? " stroke-width=\"1.25\" stroke-dasharray=\"4 3\""
			: " stroke-width=\"1.5\"");
}

void svg_path_begin(svg *s)
{
	sink_fmt(s->out, "<path fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" d=\"",
		 inks[s->ink]);
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

void svg_box(svg *s, double from, double to, unsigned row, svg_colour ink, const char *text,
	     const char *says)
{
	enum { SIDE = 20, WIDE = SVG_WIDTH - 2 * SIDE, HIGH = 18, FIRST = 56 };
	const double letter = 7; /* px: about the width of one, in most fonts */
	const double x = SIDE + WIDE * from, width = WIDE * (to - from);
	const double letters = width > 4 ? (width - 4) / letter : 0;
	const size_t room = letters < 200 ? (size_t)letters : 200, n = strlen(text);
	char shown[201 + 3];

	sink_text(s->out, "<g><title>");
	escaped_put(s->out, says);
	sink_text(s->out, "</title><rect");
	at_put(s->out, "x", x);
	at_put(s->out, "y", FIRST + HIGH * row);
	at_put(s->out, "width", width);
	at_put(s->out, "height", HIGH);
	sink_fmt(s->out,
		 " fill=\"%s\" fill-opacity=\"0.35\" stroke=\"#ffffff\" "
		 "stroke-width=\"0.5\"/>",
		 inks[ink]);
	if (room >= 3) {
		const size_t kept = n <= room ? n : utf8_cut(text, room - 1);

		snprintf(shown, sizeof shown, "%.*s%s", (int)kept, text,
			 kept < n ? "\xe2\x80\xa6" : "");
		raw_text(s->out, x + 3, FIRST + HIGH * row + 13, "start", " font-size=\"11\"",
			 shown);
	}
	sink_text(s->out, "</g>\n");
}
