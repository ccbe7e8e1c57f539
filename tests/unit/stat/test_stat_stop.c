/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "stat/stat.h"

/* 100 +- half. */
static stat_estimate known(double half, double n_eff, double careful, bool dependent)
{
	return (stat_estimate){.present = true,
			       .value = 100,
			       .has_interval = true,
			       .lo = 100 - half,
			       .hi = 100 + half,
			       .level = 0.95,
			       .n_eff = n_eff,
			       .n_eff_lower = careful,
			       .dependent = dependent};
}

static void one_look(void **state)
{
	stat_estimate e = known(1, 200, 200, false);

	(void)state;
	assert_true(stat_precise(&e, 0.01));
	assert_false(stat_precise(&e, 0.0099));
	e.value = -100;
	assert_true(stat_precise(&e, 0.01));
	e.has_interval = false;
	assert_false(stat_precise(&e, 0.01));
	e = known(1, 200, 200, false);
	e.present = false;
	assert_false(stat_precise(&e, 0.01));
}

/* The interval with n_eff_lower counts: twice as wide for a quarter of the runs. */
static void careful(void **state)
{
	const stat_estimate e = known(1, 800, 200, true);

	(void)state;
	assert_true(stat_precise(&e, 0.02));
	assert_false(stat_precise(&e, 0.0199));
}

static void enough_runs(void **state)
{
	stat_estimate e = known(0.1, 50, 50, false);

	(void)state;
	assert_true(stat_precise(&e, 0.01));
	e = known(0.1, 60, 49.9, false);
	assert_false(stat_precise(&e, 0.01));
	/* Dependent runs: n_eff is estimated, so twice as many are required. */
	e = known(0.1, 100, 100, true);
	assert_true(stat_precise(&e, 0.01));
	e = known(0.1, 110, 99.9, true);
	assert_false(stat_precise(&e, 0.01));
}

static void three_in_a_row(void **state)
{
	const stat_estimate narrow = known(0.5, 200, 200, false),
			    wide = known(1.5, 200, 200, false);
	stat_stop s = {0};

	(void)state;
	assert_false(stat_stop_look(&s, &narrow, 0.01));
	assert_false(stat_stop_look(&s, &narrow, 0.01));
	assert_false(stat_stop_look(&s, &wide, 0.01));
	assert_false(stat_stop_look(&s, &narrow, 0.01));
	assert_false(stat_stop_look(&s, &narrow, 0.01));
	assert_true(stat_stop_look(&s, &narrow, 0.01));
	assert_true(stat_stop_look(&s, &narrow, 0.01));
}

static void a_tenth_more(void **state)
{
	(void)state;
	assert_int_equal(stat_stop_next(0), 1);
	assert_int_equal(stat_stop_next(50), 56);
	assert_int_equal(stat_stop_next(56), 62);
	assert_int_equal(stat_stop_next(1000), 1101);
}

int test_stat_stop(void);
int test_stat_stop(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_look),	    cmocka_unit_test(careful),
	    cmocka_unit_test(enough_runs),  cmocka_unit_test(three_in_a_row),
	    cmocka_unit_test(a_tenth_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
