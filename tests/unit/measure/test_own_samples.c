/* test_own_samples.c - statistics of samples given by the caller.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "deepclock/estimate.h"

static double x[101];

static int numbers(void **state)
{
	(void)state;
	/* 0 to 100 in an order without trend: 37 and 101 have no common divisor. */
	for (int i = 0; i < 101; i++)
		x[i] = i * 37 % 101;
	return 0;
}

/* The interval of a median is between order statistics of the binomial distribution: with 101
 * independent values the 41st and the 61st (P = 0.9466 without, 0.9627 with the next). */
static void median_has_its_interval(void **state)
{
	dck_estimate e;
	dck_err err;

	(void)state;
	assert_int_equal(dck_estimate_samples(x, 101, NULL, 0.95, &e, &err), DCK_OK);
	assert_true(e.value == 50 && e.has_interval && e.level == 0.95);
	assert_true(e.lo >= 38 && e.lo <= 41 && e.hi >= 59 && e.hi <= 62);
	assert_non_null(strstr(e.how, "order statistics"));
}

static void any_percentile(void **state)
{
	dck_estimate e;
	dck_err err;

	(void)state;
	/* Levels that a measurement does not take. */
	assert_int_equal(dck_estimate_samples(x, 101, NULL, 0.3, &e, &err), DCK_OK);
	assert_int_equal(dck_estimate_samples(x, 101, NULL, 1, &e, &err), DCK_E_ARG);
	assert_int_equal(dck_estimate_samples(x, 101, "p75", 0.95, &e, &err), DCK_OK);
	assert_true(fabs(e.value - 75) < 1);
	assert_int_equal(dck_estimate_samples(x, 101, "max", 0.95, &e, &err), DCK_OK);
	assert_true(e.value == 100);
}

static void few_values_have_none(void **state)
{
	dck_estimate e;
	dck_err err;

	(void)state;
	assert_int_equal(dck_estimate_samples(x, 2, "median", 0.95, &e, &err), DCK_OK);
	assert_true(!e.has_interval && e.how[0]);
	assert_int_equal(dck_estimate_samples(x, 0, "median", 0.95, &e, &err), DCK_E_ABSENT);
	assert_int_equal(dck_estimate_samples(x, 5, "p99.9", 0.95, &e, &err), DCK_E_ABSENT);
}

static void wrong_questions(void **state)
{
	const double bad[] = {1, NAN, 3};
	dck_estimate e;
	dck_err err;

	(void)state;
	assert_int_equal(dck_estimate_samples(x, 101, "mode", 0.95, &e, &err), DCK_E_ARG);
	assert_int_equal(dck_estimate_samples(x, 101, "mean", 95, &e, &err), DCK_E_ARG);
	assert_int_equal(dck_estimate_samples(bad, 3, "mean", 0.95, &e, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "value 1"));
}

int test_own_samples(void);
int test_own_samples(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(median_has_its_interval),
	    cmocka_unit_test(any_percentile),
	    cmocka_unit_test(few_values_have_none),
	    cmocka_unit_test(wrong_questions),
	};

	return cmocka_run_group_tests_name("own_samples", tests, numbers, NULL);
}
