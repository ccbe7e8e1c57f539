/* format.h - number formatting for reports: all rounding is done here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include "deepclock/record.h"

#define FORMAT_SIZE 64 /* size of every buffer that these functions write to */

/* Format of all times of one column: one unit, one number of decimals. */
typedef struct format_scale {
	double divide;	  /* divisor of nanoseconds */
	const char *unit; /* "ms" */
	int decimals;
} format_scale;

/* Returns the scale for `main_ns`, with two digits of its half-width `half_ns` (0 or NaN: no
 * interval). */
format_scale format_scale_for(double main_ns, double half_ns);

/* Formats the number without its unit. A nonzero number that would round to zero: "<0.001". */
const char *format_scaled(const format_scale *s, double ns, char *buf);

/* Formats a value with its unit: "17.8 ms", "4.23 MiB", "1,000", "56.74 items/s". Values of other
 * types give their text, "yes" or "no", or the reason why they are absent. */
const char *format_number(double v, dck_unit u, char *buf);
const char *format_value(const dck_value *v, dck_unit u, char *buf);

bool format_number_of(const dck_value *v, double *ret); /* false: no number */
const char *format_percent(double ratio, char *buf);	/* "0.45 %" */

/* The levels of several intervals; {0}: of none. */
typedef struct format_levels {
	double least, most;
} format_levels;

void format_levels_add(format_levels *l, double level); /* level 0: no interval */
/* Writes "95 %", or "50 to 95 %" of levels that differ. A level is below 100 %, as it prints. */
const char *format_levels_text(const format_levels *l, char *buf);
const char *format_level(double level, char *buf);

/* The same as arguments: the text exists until the end of the enclosing block. */
#define FORMAT_NUMBER(v, u)   format_number(v, u, (char[FORMAT_SIZE]){0})
#define FORMAT_VALUE(v, u)    format_value(v, u, (char[FORMAT_SIZE]){0})
#define FORMAT_PERCENT(ratio) format_percent(ratio, (char[FORMAT_SIZE]){0})
#define FORMAT_LEVEL(level)   format_level(level, (char[FORMAT_SIZE]){0})
#define FORMAT_LEVELS(levels) format_levels_text(levels, (char[FORMAT_SIZE]){0})

/* Facts "verdict" and "verdict/NAME" of any section, if known: each is one line of the headline. */
#define FORMAT_VERDICT "verdict"
bool format_is_verdict(const dck_fact *f);

/* Returns whether the record has the fact "listing" of section "result": nothing was measured, and
 * the first table is the answer. */
bool format_is_listing(const dck_record *r);

/* Writes the legend of the star that marks narrow intervals: "the interval is too narrow, because
 * REASON: mean, throughput", with all metrics of one reason, at the first of them. Returns false if
 * metric i is not marked, or not the first. */
bool format_narrow(const dck_record *r, size_t i, char *text, size_t size);

#endif
