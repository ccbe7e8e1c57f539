/* autocorrelation.h - autocorrelation of a series: effective sample size and long-run variance.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STAT_AUTOCORRELATION_H
#define STAT_AUTOCORRELATION_H

#include <stdbool.h>
#include <stddef.h>

/* Longer series are averaged in groups of adjacent values to at most this number of means. */
#define STAT_FOLD_MAX 8192
/* Doubles of scratch that stat_autocorrelation_find() needs. */
#define STAT_DEPEND_SCRATCH (2 * STAT_FOLD_MAX)

/* Transform of each value: the series is f(x[i]). NULL: x[i] itself. */
typedef double (*stat_map)(double x, const void *self);

typedef struct stat_autocorrelation {
	size_t n;
	double mean, var; /* of f(x), the variance with n - 1 */
	bool dependent;	  /* significantly autocorrelated */
	double tau_upper; /* >= tau: upper bound, for dependence that is not significant */
	bool slow;	  /* the level changes more slowly than these runs can show */
	double tau_level; /* <= tau: of the deviations from the local level */
	double fold;	  /* adjacent values of a group, one unless n is above STAT_FOLD_MAX */
	double carriers;  /* effective number of groups in the variance; 0: not known */
	double tau;	  /* >= 1; 1 when not dependent */
	double long_run;  /* n times the variance of the mean */
	double dof;	  /* degrees of freedom of long_run */
} stat_autocorrelation;

/* Estimates the autocorrelation of f(x[0..n)). `assume`: dependence is known from elsewhere, and
 * needs no significance here. */
void stat_autocorrelation_find(const double *x, size_t n, stat_map f, const void *self, bool assume,
			       double *scratch, stat_autocorrelation *ret);

/* Returns the effective sample size n / tau, tau = long_run / var, not limited to n. */
double stat_depend_n(const stat_autocorrelation *d);

#endif
