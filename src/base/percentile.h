/* percentile.h - the name of a percentile, as limits and --statistic take it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PERCENTILE_H
#define BASE_PERCENTILE_H

#include <stdbool.h>

/* "median", "p75", "p99.9" or "p999": *ret in 0..1. false: it is none, and *ret is as it was. */
bool percentile_parse(const char *text, double *ret);
/* Two that were read of different texts are one. */
bool percentile_is(double a, double b);

/* What is estimated and what limits are given on. */
#define PERCENTILE_LEAST 0.5
#define PERCENTILE_MOST	 0.9999

#endif
