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

/* Student's t with `dof` degrees of freedom, not necessarily whole. */
double stat_t_quantile(double p, double dof);

#endif
