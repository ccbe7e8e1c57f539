/* text_scale.h - how the numbers of one column of a table are written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_TEXT_SCALE_H
#define REPORT_TEXT_SCALE_H

#include "report/format.h"

/* What the numbers of a column are like: sizes without sign, 0 left out. {.whole = true} to begin
 * with. */
typedef struct text_range {
	bool any, whole; /* there are numbers; all are integers */
	double least, most;
	double half; /* of the narrowest interval; 0: there is none */
} text_range;

void text_range_add(text_range *r, const dck_cell *c);

typedef struct text_scale {
	dck_unit base; /* what the numbers are in */
	double divide;
	int decimals;
	bool share;    /* in percent */
	bool whole;    /* counts, to the last digit */
	bool each;     /* they lie too far apart for one unit: each has its own */
	char unit[12]; /* for the column's head; "": none, or each has its own */
} text_scale;

/* share: of ratios that are shown as percent. */
text_scale text_scale_of(const text_range *r, dck_unit u, bool share);
/* buf: FORMAT_SIZE */
const char *text_scale_number(const text_scale *s, double v, char *buf);
const char *text_scale_value(const text_scale *s, const dck_value *v, char *buf);

typedef enum text_interval_kind {
	TEXT_INTERVAL_NONE,
	TEXT_INTERVAL_HALF, /* "+-0.8 %" */
	TEXT_INTERVAL_ENDS  /* "[17.4, 17.9]" */
} text_interval_kind;

text_interval_kind text_scale_interval(const text_scale *s, const dck_cell *c, bool utf8,
				       char *buf);

#endif
