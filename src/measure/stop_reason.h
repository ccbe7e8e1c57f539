/* stop_reason.h - which rule ended a measurement, and whether the precision was reached: one
 * half-width, of the final sample, and one decision, which every fact and note of the record
 * repeats.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_ENDING_H
#define MEASURE_ENDING_H

#include "measure/phases.h"

typedef struct stop_reason {
	double half_ratio; /* half of the interval over the value; NaN: there is none */
	bool imprecise;	   /* a precision was asked for, and the time ended before it was there */
	char why[160];	   /* there is no half-width because */
	char stop[256];	   /* which rule ended it, a clause */
} stop_reason;

/* e: the statistic that was asked for, of the final sample. */
void stop_reason_find(const measure_phases *p, const stat_estimate *e, stop_reason *ret);

/* A half-width in percent: three digits, or as many as distinguish it from the requested one. */
const char *stop_reason_percent(double half_ratio, double asked, char buf[32]);

#endif
