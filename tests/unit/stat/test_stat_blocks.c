/* test_stat_blocks.c - treatments in randomised complete blocks, against numbers computed by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/blocks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define NEAR(a, b) assert_true(fabs((double)(a) - (double)(b)) < 1e-9 * (1 + fabs((double)(b))))

/* Box, Hunter and Hunter's data on penicillin yield: four treatments in five blocks (blends);
 * residual sum of squares 226 with 12 degrees of freedom. */
static void test_book(void **state)
{
	static const double y[5 * 4] = {89, 88, 97, 94, 84, 77, 92, 79, 81, 87,
					87, 85, 87, 92, 89, 84, 79, 81, 80, 88};
	double means[4];
	stat_blocks f;

	(void)state;
	stat_blocks_fit(y, 4, 5, means, &f);
	NEAR(means[0], 84);
	NEAR(means[1], 85);
	NEAR(means[2], 89);
	NEAR(means[3], 86);
	NEAR(f.dof, 12);
	NEAR(f.sd * f.sd * 12, 226);
	/* t(0.975, 12) = 2.178812829663418 */
	NEAR(stat_blocks_half(&f, 0.95, 1), 2.178812829663418 * sqrt(226.0 / 12) * sqrt(2.0 / 5));
	assert_true(stat_blocks_half(&f, 0.95, 3) > stat_blocks_half(&f, 0.95, 1));
}

/* Whatever the block effects, the differences stay exact. */
static void test_drift_falls_out(void **state)
{
	static const double drift[3] = {0, 10, -55};
	double y[3 * 2], means[2];
	stat_blocks f;

	(void)state;
	for (size_t b = 0; b < 3; b++)
		for (size_t t = 0; t < 2; t++)
			y[b * 2 + t] = drift[b] + (double)t * 0.25;
	stat_blocks_fit(y, 2, 3, means, &f);
	NEAR(means[1] - means[0], 0.25);
	NEAR(f.sd, 0);
	NEAR(f.dof, 2);
	NEAR(stat_blocks_half(&f, 0.95, 1), 0);
}

static void test_too_few(void **state)
{
	static const double y[3] = {1, 2, 3};
	double means[3];
	stat_blocks f;

	(void)state;
	stat_blocks_fit(y, 3, 1, means, &f);
	NEAR(means[2], 3);
	assert_true(isinf(stat_blocks_half(&f, 0.95, 1)));
	stat_blocks_fit(y, 1, 3, means, &f);
	NEAR(means[0], 2);
	assert_true(isinf(stat_blocks_half(&f, 0.95, 1)));
}

int test_stat_blocks(void);
int test_stat_blocks(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_book),
	    cmocka_unit_test(test_drift_falls_out),
	    cmocka_unit_test(test_too_few),
	};

	return cmocka_run_group_tests_name("stat_blocks", tests, NULL, NULL);
}
