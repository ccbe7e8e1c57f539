/* autocorrelation.h - how much neighbours depend on each other: the long-run variance.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STAT_AUTOCORRELATION_H
#define STAT_AUTOCORRELATION_H

#include <stdbool.h>
#include <stddef.h>

/* Longer series are averaged in groups of neighbours, so that at most so many values remain. */
#define STAT_FOLD_MAX 8192
/* Doubles of scratch that stat_autocorrelation_find() needs. */
#define STAT_DEPEND_SCRATCH (2 * STAT_FOLD_MAX)

/* What is averaged: f(x[i]). NULL: x[i] itself. */
typedef double (*stat_map)(double x, const void *self);

typedef struct stat_autocorrelation {
	size_t n;
	double mean, var; /* of f(x), the variance with n - 1 */
	bool dependent;	  /* told apart from independence */
	double tau_upper; /* >= tau: dependence that chance may hide */
	bool slow;	  /* the level changes more slowly than these runs can show */
	double tau_level; /* <= tau: about the level of the neighbourhood, were that known */
	double carriers;  /* how many values make up the variance; 0: not known */
	double tau;	  /* >= 1; 1 when not dependent */
	double long_run;  /* n times the variance of the mean */
	double dof;	  /* degrees of freedom of long_run */
} stat_autocorrelation;

/* `assume`: dependence is known from elsewhere, it need not be seen here. */
void stat_autocorrelation_find(const double *x, size_t n, stat_map f, const void *self, bool assume,
			       double *scratch, stat_autocorrelation *ret);

/* Effective sample size n / tau, tau = long_run / var, not limited to n. */
double stat_depend_n(const stat_autocorrelation *d);

#endif
