/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/dist.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void close_to(double got, double want, double error)
{
	if (!(fabs(got - want) <= error * fmax(1, fabs(want))))
		fail_msg("got %.17g, want %.17g", got, want);
}

/* Published to ten digits in tables of the normal distribution. */
static void normal_quantiles(void **state)
{
	(void)state;
	close_to(stat_normal_quantile(0.975), 1.959963984540054, 1e-14);
	close_to(stat_normal_quantile(0.995), 2.5758293035489004, 1e-14);
	close_to(stat_normal_quantile(0.9), 1.2815515655446004, 1e-14);
	close_to(stat_normal_quantile(0.5), 0, 0);
	close_to(stat_normal_quantile(0.1), -1.2815515655446004, 1e-14);
	close_to(stat_normal_quantile(1e-10), -6.361340902404056, 1e-13);
	assert_true(isinf(stat_normal_quantile(0)) && isinf(stat_normal_quantile(1)));
}

/* The usual table of critical values with more digits (computed from the definition with 30
 * digits), and the closed forms for 1 and 2 degrees of freedom. */
static void t_quantiles(void **state)
{
	(void)state;
	close_to(stat_t_quantile(0.975, 1), tan(0.475 * acos(-1.0)), 1e-12);
	close_to(stat_t_quantile(0.975, 2), 0.95 * sqrt(2 / (1 - 0.95 * 0.95)), 1e-12);
	close_to(stat_t_quantile(0.975, 9), 2.2621571627982055, 1e-12);
	close_to(stat_t_quantile(0.975, 30), 2.0422724563012383, 1e-12);
	close_to(stat_t_quantile(0.025, 30), -2.0422724563012383, 1e-12);
	close_to(stat_t_quantile(0.995, 5), 4.0321429835552281, 1e-12);
	close_to(stat_t_quantile(0.975, 1e6), 1.959966356814107, 1e-11);
	close_to(stat_t_quantile(0.5, 7), 0, 0);
	close_to(stat_t_quantile(0.75, 1), 1, 1e-13);
	close_to(stat_t_quantile(0.25, 1), -1, 1e-13);
}

/* I_x(a, b) is a polynomial for integers a and b. */
static void beta(void **state)
{
	(void)state;
	close_to(stat_beta_cdf(0.3, 1, 1), 0.3, 1e-15);
	close_to(stat_beta_cdf(0.3, 2, 1), 0.09, 1e-15);
	close_to(stat_beta_cdf(0.3, 1, 2), 0.51, 1e-15);
	close_to(stat_beta_cdf(0.9, 36, 1), pow(0.9, 36), 1e-15);
	close_to(stat_beta_cdf(0.5, 50000, 50000), 0.5, 1e-13);
	close_to(stat_beta_cdf(0, 2, 3), 0, 0);
	close_to(stat_beta_cdf(1, 2, 3), 1, 0);
	close_to(stat_beta_quantile(0.09, 2, 1), 0.3, 1e-14);
	close_to(stat_beta_quantile(0.5, 3, 3), 0.5, 1e-14);
	for (double p = 0.001; p < 1; p += 0.0499)
		close_to(stat_beta_cdf(stat_beta_quantile(p, 5.5, 0.7), 5.5, 0.7), p, 1e-12);
}

/* For whole shapes P(shape, x) is a sum of Poisson probabilities; for 1/2 it is erf(sqrt(x)). */
static void gamma_distribution(void **state)
{
	(void)state;
	close_to(stat_gamma_cdf(0.3, 1), 1 - exp(-0.3), 1e-15);
	close_to(stat_gamma_cdf(5, 1), 1 - exp(-5), 1e-15);
	close_to(stat_gamma_cdf(2, 3), 1 - 5 * exp(-2), 1e-15);
	close_to(stat_gamma_cdf(20, 3), 1 - 221 * exp(-20), 1e-15);
	close_to(stat_gamma_cdf(0.2, 0.5), erf(sqrt(0.2)), 1e-14);
	close_to(stat_gamma_cdf(9, 0.5), erf(3), 1e-14);
	close_to(stat_gamma_cdf(-1, 2), 0, 0);
	/* Half the chi-square quantiles of usual tables. */
	close_to(stat_gamma_quantile(0.975, 1), -log(0.025), 1e-13);
	close_to(stat_gamma_quantile(0.975, 0.5), 5.0238861873148881 / 2, 1e-12);
	close_to(stat_gamma_quantile(0.025, 10), 9.5907773922648669 / 2, 1e-12);
	assert_true(stat_gamma_quantile(0, 2) == 0 && isinf(stat_gamma_quantile(1, 2)));
	assert_true(stat_gamma_quantile(0.025, 1e-30) < 1e-300);
	for (double shape = 0.01; shape < 1e8; shape *= 7.3)
		for (double p = 0.001; p < 1; p += 0.0499)
			close_to(stat_gamma_cdf(stat_gamma_quantile(p, shape), shape), p,
				 shape > 1e5 ? 1e-8 : 1e-9);
}

int test_stat_dist(void);
int test_stat_dist(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(normal_quantiles),
	    cmocka_unit_test(t_quantiles),
	    cmocka_unit_test(beta),
	    cmocka_unit_test(gamma_distribution),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
