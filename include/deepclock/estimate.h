/* estimate.h - a statistic of samples that the caller took, with the interval that bench gives it.
 *
 *     dck_estimate e;
 *
 *     if (dck_estimate_samples(ns, n, "median", 0.95, &e, &err) == DCK_OK && e.has_interval)
 *             printf("%g [%g, %g]: %s\n", e.value, e.lo, e.hi, e.how);
 *
 * Intervals are corrected for neighbours that depend on each other, so the values stand in the
 * order in which they were taken (docs/reference/methods.md).
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
	bool has_interval; /* too few values give none */
	double lo, hi, level;
	char how[160]; /* the estimator and the kind of interval; without interval: why there is
			* none */
	/* Why the interval is narrower than its level says; static. NULL: it is not known to be. */
	const char *narrow;
} dck_estimate;

/* statistic: "median", "mean", "min", "max", or a percentile as "p99"; NULL: the median. level: of
 * the interval, 0.95. Errors: E_ARG (no such statistic, a level outside 0 to 1, a value that is
 * not finite), E_ABSENT (too few values for that statistic; the sentence says how many it needs),
 * E_NOMEM. @since 0.1 */
DCK_API dck_status dck_estimate_samples(const double *values, size_t n, const char *statistic,
					double level, dck_estimate *ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
