/* dist.h - quantiles and distribution functions that intervals need.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STAT_DIST_H
#define STAT_DIST_H

/* Standard normal. */
double stat_normal_quantile(double p);

/* The regularised incomplete beta function I_x(a, b) and its inverse; a and b above 0. */
double stat_beta_cdf(double x, double a, double b);
double stat_beta_quantile(double p, double a, double b);

/* The regularised incomplete gamma function P(shape, x) and its inverse in x; shape above 0. A
 * Poisson variable of mean x is at least a whole number `shape` with probability P(shape, x). */
double stat_gamma_cdf(double x, double shape);
double stat_gamma_quantile(double p, double shape);

/* Student's t with `dof` degrees of freedom, not necessarily whole. */
double stat_t_quantile(double p, double dof);

#endif
