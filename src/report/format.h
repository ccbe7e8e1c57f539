/* format.h - numbers for people: rounded here and nowhere else in the reports.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include "deepclock/record.h"

#define FORMAT_SIZE 64 /* of every buffer that the functions below write to */

/* How all times of one column are written: one unit, one number of decimals. */
typedef struct format_scale {
	double divide;	  /* nanoseconds by this */
	const char *unit; /* "ms" */
	int decimals;
} format_scale;

/* Fit for `main_ns`, with two digits of `half_ns`, half its interval (0 or NaN: there is none). */
format_scale format_scale_for(double main_ns, double half_ns);

/* The number without its unit. What would round to zero and is not: "<0.001". */
const char *format_scaled(const format_scale *s, double ns, char *buf);

/* A value with its unit: "17.8 ms", "4.23 MiB", "1,000", "56.74 items/s". A value of another kind
 * than a number: its text, "yes" or "no", or the reason why it is absent. */
const char *format_number(double v, dck_unit u, char *buf);
const char *format_value(const dck_value *v, dck_unit u, char *buf);

bool format_number_of(const dck_value *v, double *ret); /* false: no number */
/* The formula that the number is as long as sizes are open; NULL: it is none. */
const char *format_open(const dck_value *v);
const char *format_percent(double ratio, char *buf); /* "0.45 %" */

/* The known facts "verdict" and "verdict/NAME" of any section: what was asked is answered in the
 * headline, a line each. */
#define FORMAT_VERDICT "verdict"
bool format_is_verdict(const dck_fact *f);

/* The fact "listing" of section "result": nothing was measured, and the first table is the answer.
 */
bool format_is_listing(const dck_record *r);

/* What the star means that marks narrow intervals: "narrower than its level: a handful of long
 * runs carries the mean: mean, throughput", all metrics that are so for one reason, at the first of
 * them. false: metric i is not. */
bool format_narrow(const dck_record *r, size_t i, char *text, size_t size);

#endif
