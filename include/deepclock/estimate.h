/* estimate.h - a statistic of the caller's samples, with the interval that bench computes.
 *
 *     dck_estimate e;
 *
 *     if (dck_estimate_samples(ns, n, "median", 0.95, &e, &err) == DCK_OK && e.has_interval)
 *             printf("%g [%g, %g]: %s\n", e.value, e.lo, e.hi, e.how);
 *
 * Intervals are corrected for autocorrelation, so pass the values in the order of their measurement
 * (docs/reference/methods.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_ESTIMATE_H
#define DCK_ESTIMATE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_estimate {
	double value;
	bool has_interval; /* false: too few values */
	double lo, hi, level;
	char how[160]; /* the estimator and the kind of interval; without an interval, the reason */
	/* Why the interval covers less than its level; static. NULL: no undercoverage is known. */
	const char *narrow;
} dck_estimate;

/* Estimates a statistic of n values: "median", "mean", "min", "max", or a percentile such as "p99";
 * NULL: the median. level: the interval's, e.g. 0.95. Errors: E_ARG (no such statistic, a level
 * outside 0 to 1, a value that is not finite), E_ABSENT (too few values for the statistic; the
 * message gives the number required), E_NOMEM. @since 0.1 */
DCK_API dck_status dck_estimate_samples(const double *values, size_t n, const char *statistic,
					double level, dck_estimate *ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
