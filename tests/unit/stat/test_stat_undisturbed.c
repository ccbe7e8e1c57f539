/* The median of the undisturbed runs, on series whose disturbances and own times are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "stat/stat.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { RUNS = 400, SERIES = 300 };

static double unit(uint64_t *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(uint64_t *r)
{
	return -log(unit(r));
}

static double normal(uint64_t *r)
{
	return sqrt(2 * exponential(r)) * cos(6.283185307179586 * unit(r));
}

typedef struct series {
	double x[RUNS], delay[RUNS];
} series;

/* A run of own time d is disturbed as by a Poisson process of `rate` per unit of d; each
 * disturbance takes an exponential time of mean 3. */
static void series_make(uint64_t *r, double rate, double (*own)(uint64_t *r), series *ret)
{
	for (size_t i = 0; i < RUNS; i++) {
		const double d = own(r);
		double at = 0;

		ret->delay[i] = 0;
		while ((at += exponential(r) / rate) < d)
			ret->delay[i] += 3 * exponential(r);
		ret->x[i] = d + ret->delay[i];
	}
}

static double own_steady(uint64_t *r)
{
	return 1 + 0.002 * unit(r);
}

static double own_spread(uint64_t *r)
{
	return exp(0.2 * normal(r));
}

/* Two modes: 55 % at 1, 45 % at 2. The median is the 0.5 / 0.55 quantile of the lower one: 1 + 0.05
 * * 1.3352. */
static double own_modes(uint64_t *r)
{
	return (unit(r) < 0.7 ? 1 : 2) * (1 + 0.05 * normal(r));
}

typedef struct tally {
	double bias, plain, held, present;
} tally;

static tally tally_make(double rate, double (*own)(uint64_t *r), double truth)
{
	static double scratch[1 << 20];
	static series s;
	uint64_t r = 1;
	tally t = {0};

	assert_true(stat_undisturbed_scratch(RUNS) < sizeof scratch / sizeof *scratch);
	for (int k = 0; k < SERIES; k++) {
		stat_undisturbed u;
		double chosen[RUNS];
		size_t n = 0;

		series_make(&r, rate, own, &s);
		stat_undisturbed_estimate(s.x, s.delay, RUNS, 0.95, scratch, &u);
		for (size_t i = 0; i < RUNS; i++)
			if (s.delay[i] < 0.01 * s.x[i])
				chosen[n++] = s.x[i];
		assert_int_equal(u.runs, n);
		assert_int_equal(u.known, RUNS);
		assert_true(u.median.present);
		stat_sort(chosen, n);
		t.bias += (u.median.value / truth - 1) / SERIES;
		t.plain += (stat_quantile_sorted(chosen, n, 0.5) / truth - 1) / SERIES;
		t.held += (u.median.has_interval && u.median.lo <= truth && truth <= u.median.hi) /
			  (double)SERIES;
		t.present += u.median.has_interval / (double)SERIES;
	}
	return t;
}

static void test_selection_does_not_bias(void **state)
{
	(void)state;
	const tally steady = tally_make(1.5, own_steady, 1.001);

	assert_true(fabs(steady.bias) < 0.001);
	assert_true(steady.held > 0.9);
	const tally spread = tally_make(1.5, own_spread, 1);

	assert_true(spread.plain < -0.04); /* short runs are preferred */
	assert_true(fabs(spread.bias) < 0.01);
	assert_true(spread.held > 0.9);
	const tally modes = tally_make(0.7, own_modes, 1.0283);

	assert_true(fabs(modes.bias) < 0.01);
	assert_true(modes.held > 0.9);
}

/* A time that the hypervisor takes without a trace makes a run of 19 times the others' length. */
static void test_a_long_run_has_no_majority(void **state)
{
	static double scratch[1 << 20];
	static series s;
	uint64_t r = 5;
	stat_undisturbed u;

	(void)state;
	series_make(&r, 0.5, own_steady, &s);
	s.x[100] = 19;
	s.delay[100] = 0;
	stat_undisturbed_estimate(s.x, s.delay, RUNS, 0.95, scratch, &u);
	assert_true(u.rate > 0.4);
	assert_true(u.median.has_interval && u.median.hi < 1.01);
	assert_true(fabs(u.median.value - 1.001) < 0.001);
}

static void test_without_disturbances_it_is_the_median(void **state)
{
	static double x[101], delay[101], scratch[1 << 18];
	uint64_t r = 3;
	stat_undisturbed u;
	stat_estimate e;

	(void)state;
	for (size_t i = 0; i < 101; i++)
		x[i] = own_spread(&r);
	stat_undisturbed_estimate(x, delay, 101, 0.95, scratch, &u);
	stat_estimate_one(STAT_MEDIAN, x, 101, 0.95, scratch, &e);
	assert_true(u.median.value == e.value && u.median.lo == e.lo && u.median.hi == e.hi);
	assert_true(u.rate == 0 && u.runs == 101);
}

static void test_few_runs(void **state)
{
	static double scratch[1 << 18];
	const double x[] = {1, 1.01, 2, 3, 4, 1.02};
	stat_undisturbed u;

	(void)state;
	/* No undisturbed run; unknown delays are left out. */
	stat_undisturbed_estimate(x, (double[]){NAN, 1, 1, 2, 3, NAN}, 6, 0.95, scratch, &u);
	assert_int_equal(u.runs, 0);
	assert_int_equal(u.known, 4);
	assert_false(u.median.present);
	/* Of three, whose weights hardly differ, the middle one; no interval. */
	stat_undisturbed_estimate(x, (double[]){0, 0, 1, 2, 3, 0.01}, 6, 0.95, scratch, &u);
	assert_int_equal(u.runs, 3);
	assert_true(u.rate > 0.3 && u.rate < 1.2);
	assert_true(fabs(u.median.value - 1.01) < 0.002);
	assert_false(u.median.has_interval);
}

int test_stat_undisturbed(void);
int test_stat_undisturbed(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_selection_does_not_bias),
	    cmocka_unit_test(test_a_long_run_has_no_majority),
	    cmocka_unit_test(test_without_disturbances_it_is_the_median),
	    cmocka_unit_test(test_few_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
