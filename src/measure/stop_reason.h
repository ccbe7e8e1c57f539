/* stop_reason.h - the stop reason of a measurement, and whether the precision was reached: one
 * half-width, of the final sample, and one decision, used by every fact and note of the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_STOP_REASON_H
#define MEASURE_STOP_REASON_H

#include "measure/phases.h"

typedef struct stop_reason {
	double half_ratio; /* half-width of the interval over the value; NaN: none */
	bool imprecise;	   /* the requested precision was not reached in time */
	char why[160];	   /* why the half-width is absent */
	char stop[320];	   /* the rule that ended it, a clause */
} stop_reason;

/* Finds the stop reason. e: the requested statistic of the final sample. */
void stop_reason_find(const measure_phases *p, const stat_estimate *e, stop_reason *ret);

/* Formats a half-width in percent into buf: three digits, or more if needed to distinguish it from
 * the requested one. */
const char *stop_reason_percent(double half_ratio, double asked, char buf[32]);

#endif
