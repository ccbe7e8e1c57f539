/* percentile.h - names of percentiles, as limits and --statistic take them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PERCENTILE_H
#define BASE_PERCENTILE_H

#include <stdbool.h>

/* Parses "median", "p75", "p99.9" or "p999" to *ret in 0..1. Returns false and leaves *ret
 * unchanged if the text is not a percentile. */
bool percentile_parse(const char *text, double *ret);
/* Returns whether two percentiles are equal, also if they were parsed from different texts. */
bool percentile_is(double a, double b);

/* The range of percentiles that are estimated and may have limits. */
#define PERCENTILE_LEAST 0.5
#define PERCENTILE_MOST	 0.9999

#endif
