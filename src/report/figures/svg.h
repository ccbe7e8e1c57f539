/* svg.h - writes a chart as SVG: a plot area with two axes, styled with attributes only, so that
 * every program renders it alike. Black on white, for papers and slides.
 *
 *	svg s;
 *
 *	svg_open(&s, out, "How long the runs took");
 *	svg_axis_x(&s, (svg_axis){.to = hi, .unit = DCK_UNIT_NS, .title = "time"});
 *	svg_axis_y(&s, (svg_axis){.to = most, .title = "runs"});
 *	svg_rect(&s, x0, y0, x1, y1);
 *	svg_close(&s);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "base/sink.h"

enum { SVG_WIDTH = 720, SVG_HEIGHT = 400 };

/* The range of an axis. Logarithmic values are above 0. */
typedef struct svg_axis {
	double from, to;
	int base;   /* of a logarithmic axis, 2 or 10; 0: linear */
	bool whole; /* only whole numbers have ticks */
	dck_unit unit;
	const char *title;
} svg_axis;

/* Okabe and Ito's palette, safe for colour blindness. */
typedef enum svg_colour {
	SVG_BLUE,
	SVG_ORANGE,
	SVG_GREEN,
	SVG_GREY,
	SVG_BLACK,
	SVG_SKY,
	SVG_GOLD,
	SVG_PINK
} svg_colour;

typedef struct svg {
	dck_sink *out;
	svg_axis x, y;
	svg_colour ink;
	int left, right;  /* px: edges of the plot area */
	unsigned rows;	  /* with names, in place of a y axis; 0: none */
	int axis_px;	  /* of the axis on the right */
	unsigned legends; /* number drawn */
} svg;

void svg_open(svg *s, dck_sink *out, const char *title);
void svg_close(svg *s);
/* Draw the axes, x first; an axis without extent is widened. */
void svg_axis_x(svg *s, svg_axis a);
void svg_axis_y(svg *s, svg_axis a);

/* Reserves space for a third axis; call it before the axes. */
void svg_right_room(svg *s);
/* Draws a second y axis on the right, which the following shapes use. */
void svg_axis_right(svg *s, svg_axis a);

/* Positions are values on the axes; shapes are clipped to the plot area. */
void svg_rect(svg *s, double x0, double y0, double x1, double y1);
void svg_dot(svg *s, double x, double y, double radius,
	     const char *says); /* px; says: tooltip (SVG title), or NULL */
void svg_line(svg *s, double x0, double y0, double x1, double y1, bool dashed);
/* Draw a line through points that are given one by one. */
void svg_path_begin(svg *s);
void svg_path_to(svg *s, double x, double y, bool first);
void svg_path_end(svg *s);
/* Writes a text at a position, moved by dx, dy px; anchor: "start", "middle", "end". */
void svg_text(svg *s, double x, double y, double dx, double dy, const char *anchor,
	      const char *text);
/* Draws, without axes, a box from one share of the width to another, in row `row` below the note,
 * with the text truncated to fit; the tooltip has the full text. ink: colour, 0 to 4. */
enum { SVG_ROWS = 18 };
void svg_box(svg *s, double from, double to, unsigned row, svg_colour ink, const char *text,
	     const char *says);
/* Writes a line of text below the title. */
void svg_note(svg *s, const char *text);
/* Reserves space for a legend on the right, with texts of at most `px` px; call it before the
 * axes. */
void svg_legend_room(svg *s, double px);
/* Adds a colour and its meaning to the legend. */
void svg_legend(svg *s, svg_colour ink, const char *text);
double svg_text_px(const char *text); /* about how wide a text is */

/* Rows with names on the left and texts on the right, in place of a y axis; call it before
 * svg_axis_x(). Columns that are too narrow for a text cut it. */
enum { SVG_NAMED_ROWS = 14 };
void svg_rows(svg *s, unsigned n, double names_px, double texts_px);
/* below: a second line, left out where rows are low, or NULL; text: or NULL. */
void svg_row_names(svg *s, unsigned row, const char *name, const char *below, const char *text);
typedef struct svg_interval {
	double value, lo, hi; /* lo, hi: NaN without an interval */
} svg_interval;
/* bar: from the left end of the axis to the value. */
void svg_row_value(svg *s, unsigned row, const svg_interval *v, bool bar, const char *says);
void svg_row_box(svg *s, unsigned row, double from, double to, const char *text, const char *says);
/* Marks a value, a range of values, in all rows. */
void svg_row_rule(svg *s, double at);
void svg_row_zone(svg *s, double from, double to);

/* A matrix: after svg_rows(), n columns with names below, and cells as dark as their share. */
void svg_columns(svg *s, unsigned n, const char *title);
void svg_column_name(svg *s, unsigned column, const char *name);
void svg_cell(svg *s, unsigned row, unsigned column, double share, const char *text,
	      const char *says);

#endif
