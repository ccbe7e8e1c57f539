/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N_MOST 80000

static double x[N_MOST], scratch_room[2 * N_MOST + 40000];

static void close_to(double got, double want, double error)
{
	if (!(fabs(got - want) <= error * fmax(1, fabs(want))))
		fail_msg("got %.17g, want %.17g", got, want);
}

/* A full period of a multiplicative generator modulo a prime: uniform and without visible order, so
 * that exact quantiles are known. */
static uint32_t step(uint32_t v)
{
	return (uint32_t)((uint64_t)v * 48271 % 2147483647);
}

static double uniform(uint32_t *v)
{
	*v = step(*v);
	return *v / 2147483647.0;
}

/* The integers 1 to n in an order without autocorrelation. */
static void fill_shuffled(size_t n)
{
	uint32_t v = 11;

	for (size_t i = 0; i < n; i++)
		x[i] = (double)(i + 1);
	for (size_t i = n; i-- > 1;) {
		const size_t j = (size_t)(uniform(&v) * (double)(i + 1));
		const double t = x[i];

		x[i] = x[j];
		x[j] = t;
	}
}

/* AR(1) from sums of twelve uniform numbers. */
static void fill_dependent(size_t n, double phi)
{
	uint32_t v = 99;
	double z = 0;

	for (size_t i = 0; i < n; i++) {
		double e = -6;

		for (int k = 0; k < 12; k++)
			e += uniform(&v);
		z = phi * z + e * sqrt(1 - phi * phi);
		x[i] = 100 + z;
	}
}

static stat_estimate ask(stat_estimator which, size_t n)
{
	stat_estimate e;

	assert_true(stat_scratch(n) <= sizeof scratch_room / sizeof *scratch_room);
	stat_estimate_one(which, x, n, 0.95, scratch_room, &e);
	return e;
}

/* NIST's data set NumAcc1: the certified mean and standard deviation. */
static void large_offset(void **state)
{
	(void)state;
	x[0] = 10000001;
	x[1] = 10000003;
	x[2] = 10000002;
	assert_true(ask(STAT_MEAN, 3).value == 10000002);
	assert_true(ask(STAT_STDDEV, 3).value == 1);
	/* NumAcc4: 1,001 values about 10000000.2, certified standard deviation 0.1. */
	x[0] = 10000000.2;
	for (size_t i = 1; i < 1001; i++)
		x[i] = i % 2 ? 10000000.1 : 10000000.3;
	close_to(ask(STAT_MEAN, 1001).value, 10000000.2, 1e-15);
	close_to(ask(STAT_STDDEV, 1001).value, 0.1, 1e-7);
}

/* Student's sleep data, group 1 (1908): mean 0.75, s 1.78901, t interval -0.5297804 to
 * 2.0297804. */
static void student_sleep(void **state)
{
	static const double sleep[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
	stat_estimate e;

	(void)state;
	memcpy(x, sleep, sizeof sleep);
	e = ask(STAT_MEAN, 10);
	close_to(e.value, 0.75, 1e-14);
	assert_true(e.has_interval && e.narrow);
	close_to(e.lo, -0.5297804, 1e-7);
	close_to(e.hi, 2.0297804, 1e-7);
	close_to(ask(STAT_STDDEV, 10).value, 1.78901, 1e-5);
	close_to(ask(STAT_MEDIAN, 10).value, 0.35, 1e-14);
}

static void exact_values(void **state)
{
	stat_estimate all[STAT_ESTIMATORS];

	(void)state;
	fill_shuffled(1000);
	stat_estimate_all(x, 1000, 0.95, scratch_room, all);
	close_to(all[STAT_MEAN].value, 500.5, 1e-14);
	close_to(all[STAT_MEDIAN].value, 500.5, 1e-14);
	close_to(all[STAT_MIN].value, 1, 0);
	close_to(all[STAT_MAX].value, 1000, 0);
	close_to(all[STAT_STDDEV].value, sqrt(1000 * 1001 / 12.0), 1e-13);
	close_to(all[STAT_CV].value, sqrt(1000 * 1001 / 12.0) / 500.5, 1e-13);
	close_to(all[STAT_MAD].value, 250, 1e-14);
	close_to(all[STAT_P90].value, 900.1, 1e-13);
	close_to(all[STAT_P99].value, 990.01, 1e-13);
	assert_false(all[STAT_MIN].has_interval || all[STAT_MAX].has_interval);
	assert_true(strlen(all[STAT_MAX].why) > 0);
	for (int i = 0; i < STAT_P999; i++)
		assert_true(all[i].present);
	assert_false(all[STAT_P999].present);
}

/* The exact binomial ranks for n = 1000 at 95 %: the median is between the 469th and 532nd order
 * statistics (whole ranks, conservative); interpolated ranks are just inside. */
static void median_ranks(void **state)
{
	stat_estimate e;

	(void)state;
	fill_shuffled(1000);
	e = ask(STAT_MEDIAN, 1000);
	assert_true(e.has_interval && !e.narrow);
	assert_true(e.n_eff == 1000);
	assert_true(e.lo >= 469 && e.lo < 470);
	assert_true(e.hi > 531 && e.hi <= 532);
	close_to(e.lo + e.hi, 1001, 1e-6);
	assert_string_equal(e.how, "exact order statistics of 1000 runs");
}

/* p^n <= 2.5 %: 36, 72, 368 and 3688 runs. One run fewer has no interval. */
static void percentile_needs(void **state)
{
	static const struct {
		stat_estimator which;
		size_t needed;
	} rows[] = {{STAT_P90, 36}, {STAT_P95, 72}, {STAT_P99, 368}, {STAT_P999, 3688}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		stat_estimate e;

		fill_shuffled(rows[i].needed - 1);
		e = ask(rows[i].which, rows[i].needed - 1);
		assert_false(e.present);
		assert_false(e.has_interval);
		assert_int_equal(e.n_needed, rows[i].needed);
		fill_shuffled(rows[i].needed);
		e = ask(rows[i].which, rows[i].needed);
		assert_true(e.present && e.has_interval);
		assert_true(e.hi <= (double)rows[i].needed && e.lo < e.value && e.value < e.hi);
	}
	fill_shuffled(212);
	assert_string_equal(ask(STAT_P999, 212).why,
			    "99.9 % needs 3,688 independent runs, there are 212");
}

static void few_runs(void **state)
{
	(void)state;
	for (int which = 0; which < STAT_ESTIMATORS; which++) {
		const stat_estimate e = ask((stat_estimator)which, 0);

		assert_false(e.present);
		assert_false(e.has_interval);
		assert_true(strlen(e.why) > 0);
	}
	x[0] = 5;
	x[1] = 7;
	assert_true(ask(STAT_MEAN, 1).present && !ask(STAT_MEAN, 1).has_interval);
	assert_true(ask(STAT_MEDIAN, 1).value == 5);
	assert_false(ask(STAT_STDDEV, 1).present);
	assert_false(ask(STAT_P90, 1).present);
	close_to(ask(STAT_MEAN, 2).hi, 6 + 12.706204736174706, 1e-12);
	assert_false(ask(STAT_MEDIAN, 2).has_interval);
	assert_int_equal(ask(STAT_MEDIAN, 2).n_needed, 6);
}

static void equal_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < 500; i++)
		x[i] = 0.1;
	for (int which = 0; which < STAT_ESTIMATORS; which++) {
		const stat_estimate e = ask((stat_estimator)which, 500);
		const bool spread = which == STAT_STDDEV || which == STAT_CV || which == STAT_MAD;

		if (which == STAT_P999)
			continue;
		assert_true(e.present);
		assert_true(e.value == (spread ? 0 : 0.1));
		if (which == STAT_MIN || which == STAT_MAX)
			continue;
		assert_true(e.has_interval && e.lo == e.value && e.hi == e.value);
		assert_true(e.n_eff == 500 && !e.narrow);
		assert_true(stat_precise(&e, 0.01));
	}
	close_to(stat_tau(x, 500, scratch_room), 1, 0);
	close_to(stat_lag1(x, 500), 0, 0);
}

/* A clock with three ticks: all quantiles are ticks, all finite. */
static void ties(void **state)
{
	stat_estimate all[STAT_ESTIMATORS];
	uint32_t v = 5;

	(void)state;
	for (size_t i = 0; i < 5000; i++)
		x[i] = floor(3 * uniform(&v));
	stat_estimate_all(x, 5000, 0.95, scratch_room, all);
	for (int i = 0; i < STAT_ESTIMATORS; i++) {
		assert_true(all[i].present && isfinite(all[i].value));
		assert_true(isfinite(all[i].lo) && isfinite(all[i].hi));
		assert_true(all[i].lo <= all[i].hi);
	}
	assert_true(all[STAT_MEDIAN].value == 1 && all[STAT_P99].hi == 2);
}

/* tau of AR(1) is (1 + phi) / (1 - phi): 9 for 0.8, 3 for 0.5. */
static void dependence(void **state)
{
	stat_estimate e;

	(void)state;
	fill_dependent(N_MOST, 0.8);
	close_to(stat_lag1(x, N_MOST), 0.8, 0.02);
	close_to(stat_tau(x, N_MOST, scratch_room), 9, 0.1);
	e = ask(STAT_MEAN, N_MOST);
	close_to(e.n_eff, N_MOST / 9.0, 0.1);
	/* Standard error 1 * sqrt(9 / n), the width 2 * 1.96 of it; a third more where the lowest
	 * periodogram ordinates of a series are large by chance. */
	close_to((e.hi - e.lo) / (2 * 1.96 * 3 / sqrt(N_MOST)), 1, 0.35);
	e = ask(STAT_P99, 1000);
	assert_false(e.present);
	assert_non_null(strstr(e.why, "99 % needs 368 independent runs, there are "));
	assert_non_null(strstr(e.why, "(of 1000, which are autocorrelated)"));
	assert_true(e.n_needed > 1000);
	fill_dependent(N_MOST, 0.5);
	close_to(stat_tau(x, N_MOST, scratch_room), 3, 0.1);
	fill_shuffled(N_MOST);
	assert_true(stat_tau(x, N_MOST, scratch_room) < 1.1);
}

static void lag1_exact(void **state)
{
	(void)state;
	/* Deviations from 2.5: -1.5 -0.5 0.5 1.5; products 0.75 - 0.25 + 0.75 over squares 5. */
	for (size_t i = 0; i < 4; i++)
		x[i] = (double)i + 1;
	close_to(stat_lag1(x, 4), 0.25, 1e-15);
	close_to(stat_lag1(x, 2), 0, 0);
}

/* Every tenth run is slow: this pattern does not bias the mean. */
static void repeating(void **state)
{
	stat_estimate e;

	(void)state;
	fill_dependent(1000, 0);
	for (size_t i = 0; i < 1000; i += 10)
		x[i] += 50;
	e = ask(STAT_MEAN, 1000);
	close_to(e.value, 105, 0.01);
	/* The noise alone gives 0.062, with the spikes counted as noise 0.93. */
	assert_true((e.hi - e.lo) / 2 > 0.04 && (e.hi - e.lo) / 2 < 0.12);
}

static void same_again(void **state)
{
	stat_estimate a, b;

	(void)state;
	fill_dependent(3000, 0.8);
	a = ask(STAT_CV, 3000);
	b = ask(STAT_CV, 3000);
	assert_true(a.lo == b.lo && a.hi == b.hi && a.value == b.value);
	assert_true(a.lo < a.value && a.value < a.hi);
}

/* Slow change of normal runs is no long tail, however long the series. */
static void long_runs_that_dominate(void **state)
{
	(void)state;
	fill_dependent(80000, 499.0 / 501);
	assert_int_equal(ask(STAT_MEAN, 80000).narrow, STAT_NARROW_NO);
	for (size_t n = 8000; n <= 80000; n *= 10) {
		fill_shuffled(n);
		for (size_t i = 0; i < n; i += n / 8)
			x[i] = 1e9;
		assert_int_equal(ask(STAT_MEAN, n).narrow, STAT_UNDER_HEAVY_TAIL);
	}
}

static void precise(void **state)
{
	stat_estimate e;

	(void)state;
	fill_shuffled(1000);
	e = ask(STAT_MEDIAN, 1000);
	assert_true(stat_precise(&e, 0.1));
	assert_false(stat_precise(&e, 0.05));
	/* However narrow the interval: fewer than 50 effective runs stop nothing. */
	for (size_t i = 0; i < 30; i++)
		x[i] = 1000 + (double)(i % 3);
	e = ask(STAT_MEDIAN, 30);
	assert_true(e.narrow && e.has_interval);
	assert_false(stat_precise(&e, 0.5));
}

static void processes(void **state)
{
	static const double values[] = {1, 2, 3};
	stat_estimate e;

	(void)state;
	stat_processes(values, 3, 0.95, &e);
	assert_true(e.present && e.has_interval);
	close_to(e.value, 2, 1e-15);
	/* t(2) is 4.302653, the standard error 1 / sqrt(3). */
	close_to(e.hi - 2, 0.95 * sqrt(2 / (1 - 0.95 * 0.95)) / sqrt(3), 1e-12);
	stat_processes(values, 1, 0.95, &e);
	assert_true(e.present && !e.has_interval);
	assert_int_equal(e.n_needed, 2);
	stat_processes(values, 0, 0.95, &e);
	assert_false(e.present);
}

static void order(void **state)
{
	static const double sorted[] = {1, 2, 4, 8};

	(void)state;
	close_to(stat_quantile_sorted(sorted, 4, 0.5), 3, 1e-15);
	close_to(stat_quantile_sorted(sorted, 4, 0), 1, 0);
	close_to(stat_quantile_sorted(sorted, 4, 1), 8, 0);
	close_to(stat_quantile_sorted(sorted, 4, 0.9), 4 + 0.7 * 4, 1e-14);
	for (size_t n = 0; n < 300; n++) {
		fill_shuffled(n);
		stat_sort(x, n);
		for (size_t i = 0; i < n; i++)
			assert_true(x[i] == (double)(i + 1));
	}
	/* Input orders that drive quicksort deep. */
	for (int shape = 0; shape < 4; shape++) {
		for (size_t i = 0; i < N_MOST; i++)
			x[i] = shape == 0   ? (double)i
			       : shape == 1 ? (double)(N_MOST - i)
			       : shape == 2 ? (double)(i % 3)
					    : fabs((double)i - N_MOST / 2.0);
		stat_sort(x, N_MOST);
		for (size_t i = 1; i < N_MOST; i++)
			assert_true(x[i - 1] <= x[i]);
	}
}

int test_stat_estimate(void);
int test_stat_estimate(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(large_offset),
	    cmocka_unit_test(student_sleep),
	    cmocka_unit_test(exact_values),
	    cmocka_unit_test(median_ranks),
	    cmocka_unit_test(percentile_needs),
	    cmocka_unit_test(few_runs),
	    cmocka_unit_test(equal_runs),
	    cmocka_unit_test(ties),
	    cmocka_unit_test(dependence),
	    cmocka_unit_test(lag1_exact),
	    cmocka_unit_test(repeating),
	    cmocka_unit_test(same_again),
	    cmocka_unit_test(long_runs_that_dominate),
	    cmocka_unit_test(precise),
	    cmocka_unit_test(processes),
	    cmocka_unit_test(order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
