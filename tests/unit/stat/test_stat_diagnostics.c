/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define N_MOST 5000

static double x[N_MOST], scratch[2 * N_MOST + 40000];

/* Approximately normal with variance 1: the sum of twelve uniform numbers, minus 6. */
static double noise(uint32_t *v)
{
	double sum = -6;

	for (int k = 0; k < 12; k++) {
		*v = (uint32_t)((uint64_t)*v * 48271 % 2147483647);
		sum += *v / 2147483647.0;
	}
	return sum;
}

static void fill(size_t n, double level, double sd)
{
	uint32_t v = 20211107;

	for (size_t i = 0; i < n; i++)
		x[i] = level + sd * noise(&v);
}

/* --- outliers: quartiles of 1..12 are 3.75 and 9.25, fences -4.5 and 17.5, -12.75 and 25.75 */

static void outliers_exact(void **state)
{
	stat_outliers o;

	(void)state;
	for (size_t i = 0; i < 12; i++)
		x[i] = (double)i + 1;
	stat_outliers_find(x, 12, scratch, &o);
	assert_true(o.valid);
	assert_true(o.low_fence == -4.5 && o.high_fence == 17.5);
	assert_int_equal(o.low_mild + o.low_severe + o.high_mild + o.high_severe, 0);
	x[11] = 17.6;
	x[0] = -5;
	stat_outliers_find(x, 12, scratch, &o);
	assert_int_equal(o.high_mild, 1);
	assert_int_equal(o.low_mild, 1);
	x[11] = 1e9;
	x[0] = -1e9;
	stat_outliers_find(x, 12, scratch, &o);
	assert_int_equal(o.high_severe, 1);
	assert_int_equal(o.high_mild, 0);
	assert_int_equal(o.low_severe, 1);
}

static void outliers_unknown(void **state)
{
	stat_outliers o;

	(void)state;
	fill(7, 100, 1);
	stat_outliers_find(x, 7, scratch, &o);
	assert_false(o.valid);
	for (size_t i = 0; i < 100; i++)
		x[i] = i < 90 ? 5 : 6;
	stat_outliers_find(x, 100, scratch, &o);
	assert_false(o.valid);
	assert_int_equal(o.high_mild + o.high_severe, 0);
	stat_outliers_find(x, 0, scratch, &o);
	assert_false(o.valid);
}

/* --- modes */

static void modes_two(void **state)
{
	stat_modes m;
	uint32_t v = 4711;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		x[i] = (i * 7 % 10 < 3 ? 110 : 100) + noise(&v);
	stat_modes_find(x, 1000, 0, scratch, &m);
	assert_true(m.two);
	assert_true(fabs(m.centre[0] - 100) < 0.2 && fabs(m.centre[1] - 110) < 0.2);
	assert_true(fabs(m.share[0] - 0.7) < 1e-9 && fabs(m.share[0] + m.share[1] - 1) < 1e-15);
}

static void modes_one(void **state)
{
	stat_modes m;

	(void)state;
	fill(3000, 100, 3);
	stat_modes_find(x, 3000, 0, scratch, &m);
	assert_false(m.two);
	for (size_t i = 0; i < 3000; i++)
		x[i] = exp((x[i] - 100) / 6);
	stat_modes_find(x, 3000, 0, scratch, &m);
	assert_false(m.two);
	/* Few, equal and coarse values: a clock's ticks are not modes. */
	fill(39, 100, 1);
	stat_modes_find(x, 39, 0, scratch, &m);
	assert_false(m.two);
	for (size_t i = 0; i < 1000; i++)
		x[i] = 5;
	stat_modes_find(x, 1000, 0, scratch, &m);
	assert_false(m.two);
	fill(1000, 100, 1);
	for (size_t i = 0; i < 1000; i++)
		x[i] = floor(x[i]);
	stat_modes_find(x, 1000, 0, scratch, &m);
	assert_false(m.two);
	/* Nor are they where rounding puts one in ten a thousandth beside. */
	fill(3000, 4360, 12);
	for (size_t i = 0; i < 3000; i++)
		x[i] = 10 * floor(x[i] / 10) + (i % 10 == 0 ? 1 : 0);
	stat_modes_find(x, 3000, 10, scratch, &m);
	assert_false(m.two);
	/* One run in fifty at three times as long is an outlier, not a mode. */
	fill(1000, 100, 1);
	for (size_t i = 0; i < 1000; i += 50)
		x[i] = 300;
	stat_modes_find(x, 1000, 0, scratch, &m);
	assert_false(m.two);
}

/* --- drift */

static void drift_line(void **state)
{
	stat_drift d;

	(void)state;
	/* 100, 101, ... 119: a change by 20 runs' steps over a median of 109.5, without noise. */
	for (size_t i = 0; i < 20; i++)
		x[i] = 100 + (double)i;
	stat_drift_find(x, 20, 0.95, scratch, &d);
	assert_true(d.significant);
	assert_true(fabs(d.ratio - 20 / 109.5) < 1e-12);
	assert_true(d.lo <= d.ratio && d.ratio <= d.hi && d.hi - d.lo < 1e-9);
	/* From 100 to 119: the line goes half a step on at both ends, but not beyond the runs. */
	assert_true(fabs(d.of_start - 0.19) < 1e-12);
}

/* 10, 9, ... 1, 0.5, 0.5: the line ends below 0, where no run was. */
static void drift_of_start(void **state)
{
	stat_drift d;

	(void)state;
	for (size_t i = 0; i < 12; i++)
		x[i] = i < 10 ? 10 - (double)i : 0.5;
	stat_drift_find(x, 12, 0.95, scratch, &d);
	assert_true(d.significant && d.ratio < -2);
	assert_true(fabs(d.of_start - (0.5 / 10 - 1)) < 0.01);
	assert_true(d.of_start_lo <= d.of_start && d.of_start <= d.of_start_hi);
	assert_true(d.of_start_lo > -1 && d.of_start_hi < 0);
	for (size_t i = 0; i < 6; i++) {
		const double first = x[i];

		x[i] = x[11 - i];
		x[11 - i] = first;
	}
	stat_drift_find(x, 12, 0.95, scratch, &d);
	assert_true(fabs(d.of_start - (10 / 0.5 - 1)) < 0.5);
	assert_true(d.of_start_lo > 0 && d.of_start_lo <= d.of_start &&
		    d.of_start <= d.of_start_hi);
}

static void drift_noise(void **state)
{
	stat_drift d;

	(void)state;
	fill(1000, 100, 1);
	stat_drift_find(x, 1000, 0.95, scratch, &d);
	assert_false(d.significant);
	assert_true(d.lo < 0 && d.hi > 0);
	/* The standard error of the change is sqrt(12 / n) of the noise: 0.11 %. */
	assert_true(fabs((d.hi - d.lo) / (2 * 1.96 * sqrt(12.0 / 1000) / 100) - 1) < 0.1);
	for (size_t i = 0; i < 1000; i++)
		x[i] -= 2 * (double)i / 1000;
	stat_drift_find(x, 1000, 0.95, scratch, &d);
	assert_true(d.significant && d.lo < -0.02 && d.hi > -0.025 && d.ratio < 0);
	stat_drift_find(x, 7, 0.95, scratch, &d);
	assert_false(d.significant);
}

/* --- steady state */

static stat_steady check(size_t n)
{
	stat_steady s;

	stat_steady_check(x, n, 10, scratch, &s);
	return s;
}

static void steady_noise(void **state)
{
	stat_steady s;

	(void)state;
	fill(200, 100, 0.3);
	assert_true(check(200).steady);
	assert_true(check(30).steady);
	s = check(200);
	assert_non_null(strstr(s.evidence, "medians of the last two halves agree within 0."));
	s = check(9);
	assert_false(s.steady);
	assert_string_equal(s.evidence, "9 samples are too few to decide");
	check(0);
	for (size_t i = 0; i < 100; i++)
		x[i] = 7;
	s = check(100);
	assert_true(s.steady);
	assert_int_equal(s.first, 0);
	assert_string_equal(s.evidence, "medians of the last two halves agree within 0 %");
}

/* Ten runs of a slow and quiet model. */
static void steady_ten(void **state)
{
	static const double quiet[] = {1.001,  0.999,  1.0,    1.0005, 0.9995,
				       1.0002, 0.9992, 1.0004, 0.9998, 1.0001};

	(void)state;
	memcpy(x, quiet, sizeof quiet);
	assert_true(check(10).steady);
	x[0] = 1.8;
	assert_false(check(10).steady); /* nine remain */
	x[10] = 1.0;
	assert_true(check(11).steady);
	assert_int_equal(check(11).first, 1);
}

static void steady_decay(void **state)
{
	stat_steady s;

	(void)state;
	fill(1000, 100, 0.5);
	for (size_t i = 0; i < 1000; i++)
		x[i] += 100 * exp(-(double)i / 20);
	assert_false(check(20).steady);
	assert_true(check(20).change_ratio < -0.05);
	assert_false(check(60).steady);
	s = check(1000);
	assert_true(s.steady);
	/* The remaining decay is below 1 % after run 92, and below 0.01 % after run 184. */
	assert_in_range(s.first, 80, 200);
}

static void steady_step(void **state)
{
	(void)state;
	fill(300, 100, 0.5);
	for (size_t i = 0; i < 40; i++)
		x[i] -= 20;
	assert_false(check(48).steady);
	assert_true(check(48).change_ratio > 0.1);
	assert_true(check(300).steady);
	assert_in_range(check(300).first, 38, 60);
}

static void steady_drift(void **state)
{
	stat_steady s;

	(void)state;
	fill(1000, 100, 0.5);
	for (size_t i = 0; i < 1000; i++)
		x[i] -= 10 * (double)i / 1000;
	s = check(1000);
	assert_false(s.steady);
	assert_true(s.change_ratio < -0.03);
	assert_non_null(strstr(s.evidence, "still falling"));
	/* A tenth of that drift does not matter. */
	fill(1000, 100, 0.5);
	for (size_t i = 0; i < 1000; i++)
		x[i] -= 0.8 * (double)i / 1000;
	assert_true(check(1000).steady);
}

static void steady_spikes(void **state)
{
	(void)state;
	fill(1000, 100, 1);
	for (size_t i = 17; i < 1000; i += 101)
		x[i] = 300;
	assert_true(check(100).steady);
	assert_true(check(1000).steady);
	assert_true(check(1000).first < 500);
}

int test_stat_diagnostics(void);
int test_stat_diagnostics(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(outliers_exact), cmocka_unit_test(outliers_unknown),
	    cmocka_unit_test(modes_two),      cmocka_unit_test(modes_one),
	    cmocka_unit_test(drift_line),     cmocka_unit_test(drift_of_start),
	    cmocka_unit_test(drift_noise),    cmocka_unit_test(steady_noise),
	    cmocka_unit_test(steady_ten),     cmocka_unit_test(steady_decay),
	    cmocka_unit_test(steady_step),    cmocka_unit_test(steady_drift),
	    cmocka_unit_test(steady_spikes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
