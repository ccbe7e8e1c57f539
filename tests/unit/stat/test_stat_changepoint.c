/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define N_MOST 400

static double x[N_MOST], scratch[3 * (N_MOST + 1)];
static stat_change found[STAT_CHANGES_MAX];

static double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * acos(-1.0) * uniform(state));
}

static void noise(size_t n, uint64_t *state)
{
	for (size_t i = 0; i < n; i++)
		x[i] = 100 + normal(state);
}

static void shift(size_t from, size_t to, double by)
{
	for (size_t i = from; i < to; i++)
		x[i] += by;
}

static size_t find(size_t n)
{
	return stat_change_find(x, n, 0.05, scratch, found);
}

static void exact(void **state)
{
	(void)state;
	/* 12 values below 12 others: 2 of 24!/(12! 12!) = 2,704,156 arrangements do this. */
	for (size_t i = 0; i < 24; i++)
		x[i] = i < 12 ? (double)(i * 5 % 12) : 100 + (double)(i * 7 % 12);
	assert_int_equal(find(24), 1);
	assert_int_equal(found[0].at, 12);
	assert_true(found[0].p == 1.0 / 2000);
	assert_true(found[0].before == 5.5 && found[0].after == 105.5);
	/* Only the ranks count. */
	for (size_t i = 0; i < 24; i++)
		x[i] = exp(x[i] / 10);
	assert_int_equal(find(24), 1);
	assert_int_equal(found[0].at, 12);
}

/* The p-value of an alarm is by the ranks where the likelihood sees a large change. */
static void alarms(void **state)
{
	(void)state;
	for (size_t i = 0; i < 24; i++)
		x[i] = i < 12 ? (double)(i * 5 % 12) / 100 : 100 + (double)(i * 7 % 12) / 100;
	assert_int_equal(stat_change_alarms(x, 24, 0.05, scratch, found), 1);
	assert_int_equal(found[0].at, 12);
	/* 2 of 24!/(12! 12!) arrangements, at 24 cuts */
	assert_true(fabs(found[0].alarm / (24 * 2 / 2704156.0) - 1) < 1e-6);
	/* The last 4 of 48 values are the greatest: of 194,580 arrangements. */
	for (size_t i = 0; i < 48; i++)
		x[i] = (double)(i * 5 % 48) / 100 + (i < 44 ? 0 : 100);
	assert_int_equal(stat_change_alarms(x, 48, 0.05, scratch, found), 1);
	assert_int_equal(found[0].at, 44);
	assert_true(fabs(found[0].alarm / (48 * 2 / 194580.0) - 1) < 1e-6);
	/* A line without a step, on which an outlier has no effect, is a drift. */
	for (size_t i = 0; i < 48; i++)
		x[i] = 10 + (double)(i * 29 % 48) / 400 + (double)i / 50;
	x[20] = 1000;
	assert_int_equal(stat_change_alarms(x, 48, 0.05, scratch, found), 1);
	assert_int_equal(found[0].at, 0);
	assert_true(fabs(found[0].after - found[0].before - 47 / 50.0) < 0.1);
	for (size_t i = 0; i < 48; i++)
		x[i] = (double)(i * 29 % 48);
	assert_int_equal(stat_change_alarms(x, 48, 0.05, scratch, found), 0);
}

static void discovery_rates(void **state)
{
	/* Of ten tests: 10 p / rank, and no more than that of the next. */
	const double p[] = {0.001, 0.004, 0.0045, 0.2};
	const double want[] = {0.01, 0.015, 0.015, 0.5};
	double q[4];

	(void)state;
	stat_discovery_rates(p, 4, 10, q);
	for (size_t i = 0; i < 4; i++)
		assert_true(fabs(q[i] - want[i]) < 1e-12);
	stat_discovery_rates(p, 0, 10, q);
}

static void none(void **state)
{
	(void)state;
	for (size_t n = 0; n < STAT_CHANGE_MIN; n++) {
		for (size_t i = 0; i < n; i++)
			x[i] = i < n / 2 ? 1 : 1000;
		assert_int_equal(find(n), 0);
	}
	for (size_t i = 0; i < 100; i++)
		x[i] = 5;
	assert_int_equal(find(100), 0);
	/* An outlier is not a level. */
	uint64_t seed = 1;
	noise(40, &seed);
	x[20] = 1000;
	x[5] = x[39] = 500;
	assert_int_equal(find(40), 0);
}

static void several(void **state)
{
	uint64_t seed = 3;

	(void)state;
	noise(120, &seed);
	shift(30, 120, 8);
	shift(60, 120, -16);
	shift(90, 100, 12);
	assert_int_equal(find(120), 4);
	assert_int_equal(found[0].at, 30);
	assert_int_equal(found[1].at, 60);
	assert_int_equal(found[2].at, 90);
	assert_int_equal(found[3].at, 100);
	for (size_t i = 0; i < 4; i++)
		assert_true(found[i].p > 0 && found[i].p <= 0.05);
	assert_true(fabs(found[0].before - 100) < 1 && fabs(found[0].after - 108) < 1);
	assert_true(fabs(found[3].before - 104) < 1.5 && fabs(found[3].after - 92) < 1.5);
}

/* More changes than the array's capacity: the first ones found are kept. */
static void many(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_MOST; i++)
		x[i] = (double)(i / 5 % 2) * 100 + (double)(i * 7 % 11);
	assert_true(find(N_MOST) <= STAT_CHANGES_MAX);
}

/* At 5 %, 400 series without a change give 20 +- 4.4 alarms. */
static void false_alarms(void **state)
{
	static const size_t lengths[] = {10, 25, 60};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		uint64_t seed = 77 + k;
		int alarms = 0, heavy = 0;

		for (int i = 0; i < 400; i++) {
			noise(lengths[k], &seed);
			alarms += find(lengths[k]) > 0;
			for (size_t j = 0; j < lengths[k]; j++)
				x[j] = exp(normal(&seed)) * (uniform(&seed) < 0.05 ? 30 : 1);
			heavy += find(lengths[k]) > 0;
		}
		assert_true(alarms <= 36);
		assert_true(heavy <= 36);
	}
}

/* A change of three standard deviations before the last ten of 40 values. */
static void detection(void **state)
{
	uint64_t seed = 5;
	int seen = 0, near = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		noise(40, &seed);
		shift(30, 40, 3);
		if (find(40) == 0)
			continue;
		seen++;
		near += found[0].at >= 28 && found[0].at <= 32;
	}
	assert_true(seen >= 195);
	assert_true(near >= 180);
}

int test_stat_changepoint(void);
int test_stat_changepoint(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exact),	       cmocka_unit_test(alarms),
	    cmocka_unit_test(discovery_rates), cmocka_unit_test(none),
	    cmocka_unit_test(several),	       cmocka_unit_test(many),
	    cmocka_unit_test(false_alarms),    cmocka_unit_test(detection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
