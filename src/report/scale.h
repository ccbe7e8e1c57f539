/* scale.h - common unit and decimals for the numbers of a table column.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SCALE_H
#define REPORT_SCALE_H

#include "report/format.h"

/* Range of the numbers of a column: magnitudes, without 0. Starts as {.whole = true}. */
typedef struct column_range {
	bool any, whole; /* there are numbers; all are integers */
	double least, most;
	double half; /* half-width of the narrowest interval; 0: none */
} column_range;

void column_range_add(column_range *r, const dck_cell *c);

typedef struct column_scale {
	dck_unit base; /* unit of the numbers */
	double divide;
	int decimals;
	bool share; /* in percent */
	bool whole; /* counts, to the last digit */
	bool each; /* their range is too large for one number of decimals: each has separate ones */
	char unit[12]; /* for the column's head; "": none */
} column_scale;

/* Returns the scale of a column. share: ratios that are shown as percent. */
column_scale column_scale_of(const column_range *r, dck_unit u, bool share);
/* buf: FORMAT_SIZE */
const char *column_scale_number(const column_scale *s, double v, char *buf);
const char *column_scale_value(const column_scale *s, const dck_value *v, char *buf);

typedef enum interval_kind {
	INTERVAL_NONE,
	INTERVAL_HALF, /* "+-0.8 %" */
	INTERVAL_ENDS  /* "[17.4, 17.9]" */
} interval_kind;

interval_kind column_scale_interval(const column_scale *s, const dck_cell *c, bool utf8, char *buf);

bool column_is_share(const dck_column *c); /* ratios that are shown in percent */

#endif
