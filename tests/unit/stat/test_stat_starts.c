/* test_stat_starts.c - the median of a few starts: exact ranks, slow starts, and the coverage in
 * models of random effects.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "stat/stat.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define STARTS_MAX 30
#define TRIALS	   20000

static double unit(uint64_t *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *r)
{
	return sqrt(-2 * log(unit(r))) * cos(6.283185307179586 * unit(r));
}

/* Ranks and levels of the sign test: P(B < r) for B of k fair coins. */
static void exact(void **state)
{
	static const struct {
		size_t k, r;
		double asked, level;
	} rows[] = {
	    {2, 1, 0.95, 0.5},	       {3, 1, 0.95, 0.75},	 {5, 1, 0.95, 0.9375},
	    {6, 1, 0.95, 0.96875},     {8, 1, 0.95, 0.9921875},	 {9, 2, 0.95, 0.9609375},
	    {6, 1, 0.9, 0.96875},      {5, 1, 0.9, 0.9375},	 {6, 1, 0.99, 0.96875},
	    {20, 6, 0.95, 0.95861053}, {30, 10, 0.95, 0.957226},
	};
	double x[STARTS_MAX];
	stat_estimate e;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const size_t k = rows[i].k, r = rows[i].r;

		for (size_t j = 0; j < k; j++)
			x[j] = 100 + (double)(7 * j % k == 0 && j > 0 ? j : (j * (k - 1)) % k);
		stat_starts(x, k, rows[i].asked, &e);
		assert_true(e.present && e.has_interval);
		assert_true(e.value == stat_quantile_sorted(x, k, 0.5));
		assert_true(e.lo == x[r - 1] && e.hi == x[k - r]);
		assert_true(fabs(e.level - rows[i].level) < 1e-6);
		assert_true(e.level == stat_starts_level(k, rows[i].asked));
		assert_int_equal(e.n_needed == 0, e.level >= rows[i].asked);
	}
	stat_starts(x, 5, 0.95, &e);
	assert_int_equal(e.n_needed, 6);
	assert_string_equal(e.how, "median of 5 starts, smallest and largest; 95 % needs 6 starts");
	stat_starts(x, 5, 0.99, &e);
	assert_int_equal(e.n_needed, 8);
	stat_starts(x, 1, 0.95, &e);
	assert_true(e.present && !e.has_interval);
	stat_starts(x, 0, 0.95, &e);
	assert_false(e.present);
}

/* One start of thirty that takes twice as long does not move the headline. */
static void one_slow_start(void **state)
{
	double x[STARTS_MAX], scratch[2 * STARTS_MAX];
	stat_estimate plain, e;
	stat_slow_starts slow;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		x[i] = 100 + 0.1 * (double)i;
	stat_starts_slow(x, 30, scratch, &slow);
	assert_int_equal(slow.n, 0);
	stat_starts(x, 30, 0.95, &plain);
	x[29] = 200;
	stat_starts_slow(x, 30, scratch, &slow);
	assert_int_equal(slow.n, 1);
	assert_true(fabs(slow.ratio - 200 / 101.45) < 1e-9 && slow.above < 200);
	stat_starts(x, 30, 0.95, &e);
	assert_true(e.value == plain.value && e.lo == plain.lo && e.hi == plain.hi);
}

/* Of one slow start of six each property that differs is told, by exact numbers, and one that has
 * nothing to do with it is in few cases (normal, lognormal). */
static void properties_of_a_slow_start(void **state)
{
	static const double times[] = {10, 10, 30, 10, 10, 10};
	static const struct {
		double x[6];
		bool differs;
	} rows[] = {
	    {{96, 96, 0, 96, 96, 96}, true},	{{96, 98, 0, 94, 96, 96}, true},
	    {{96, 98, 60, 94, 96, 96}, true},	{{96, 98, 80, 94, 90, 96}, false},
	    {{96, 0, 0, 96, 96, 96}, false},	{{96, 96, 95, 96, 96, 96}, false},
	    {{96, 96, NAN, 96, 96, 96}, false}, {{0, 0, 0.5, 0, 0, 0}, false},
	    {{0, 0, 1.5, 0, 0, 0}, true},
	};
	double scratch[18];
	stat_starts_property p;
	uint64_t rng = 5;
	int wrong[2] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (stat_starts_differ(rows[i].x, times, 6, 20, 1, scratch, &p) != rows[i].differs)
			fail_msg("row %zu", i);
	assert_true(stat_starts_differ(rows[1].x, times, 6, 20, 1, scratch, &p));
	assert_true(p.slow == 0 && p.others == 96);
	/* Of two starts nothing is known that the others could have. */
	assert_false(
	    stat_starts_differ((double[]){1, 9, 1}, (double[]){10, 30, 10}, 3, 20, 1, scratch, &p));
	for (int log_normal = 0; log_normal < 2; log_normal++)
		for (int trial = 0; trial < 4000; trial++) {
			double x[6];

			for (int k = 0; k < 6; k++) {
				x[k] = normal(&rng);
				x[k] = log_normal ? exp(x[k]) : 10 + x[k];
			}
			wrong[log_normal] += stat_starts_differ(x, times, 6, 20, 0, scratch, &p);
		}
	assert_true(wrong[0] < 60 && wrong[1] < 200 && wrong[1] > 20);
}

/* A difference that is small, one among starts that scatter as much, two levels, and three starts.
 */
static void no_slow_start(void **state)
{
	static const double rows[][6] = {{100, 100, 100, 100, 100, 109},
					 {100, 112, 90, 105, 118, 130},
					 {100, 100, 100, 200, 200, 200}};
	double scratch[2 * 6];
	stat_slow_starts slow;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		stat_starts_slow(rows[i], 6, scratch, &slow);
		assert_int_equal(slow.n, 0);
	}
	stat_starts_slow((double[]){100, 100, 200}, 3, scratch, &slow);
	assert_int_equal(slow.n, 0);
	stat_starts_slow((double[]){100, 101, 200, 100, 99, 180}, 6, scratch, &slow);
	assert_int_equal(slow.n, 2);
	assert_true(fabs(slow.ratio - 190 / 100.5) < 1e-9);
}

/* --- coverage: a start's value is its own level and the error of its runs. Each model has median 0
 * of the levels. */

static double level_normal(uint64_t *r, double at)
{
	(void)at;
	return normal(r);
}

/* Student's t with 2 degrees of freedom: no variance. */
static double level_heavy(uint64_t *r, double at)
{
	(void)at;
	return normal(r) / sqrt(-log(unit(r)));
}

/* Three of ten starts are far above; 0 is the quantile 0.5 / 0.7 of the others, uniform here. */
static double level_modes(uint64_t *r, double at)
{
	const bool far = unit(r) < 0.3;

	(void)at;
	return (far ? 20 : -0.5 / 0.7) + unit(r);
}

/* The level rises over the starts by 4 standard deviations; 0 is that of the middle. */
static double level_drift(uint64_t *r, double at)
{
	return 4 * (at - 0.5) + normal(r);
}

static double covered(double (*level)(uint64_t *r, double at), size_t k, double error,
		      double *named)
{
	uint64_t r = 29;
	size_t held = 0;
	stat_estimate e;

	for (size_t t = 0; t < TRIALS; t++) {
		double x[STARTS_MAX];

		for (size_t i = 0; i < k; i++)
			x[i] = level(&r, ((double)i + 0.5) / (double)k) + error * normal(&r);
		stat_starts(x, k, 0.95, &e);
		held += e.lo <= 0 && 0 <= e.hi;
	}
	*named = e.level;
	return (double)held / TRIALS;
}

/* The named level within 3.5 standard errors of 20,000 trials. A drift over the starts makes their
 * scatter larger than chance, so its intervals hold the middle more often. An error within starts
 * that is not small moves the median where levels are not symmetric: two modes are taken without.
 */
static void coverage(void **state)
{
	static const struct {
		double (*level)(uint64_t *r, double at);
		double error;
		bool exact;
	} models[] = {{level_normal, 0.5, true},
		      {level_normal, 0, true},
		      {level_heavy, 0.5, true},
		      {level_modes, 0, true},
		      {level_drift, 0.5, false}};
	static const size_t starts[] = {5, 6, 10, 30};

	(void)state;
	for (size_t m = 0; m < sizeof models / sizeof models[0]; m++)
		for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
			double named,
			    share = covered(models[m].level, starts[i], models[m].error, &named);
			const double error = 3.5 * sqrt(named * (1 - named) / TRIALS);

			assert_true(share >= named - error);
			if (models[m].exact)
				assert_true(share <= named + error);
		}
}

/* Of starts with too few runs each, the p90 of all: lognormal runs, and levels of starts that
 * scatter by nothing, by half and by twice the error of a start's own median. */
static void pooled_percentile(void **state)
{
	enum { K = 6, RUNS = 60, POOLED = 2000 };
	static const double spreads[] = {0, 0.02, 0.08};
	uint64_t seed = 8;
	static double x[K][RUNS], scratch[1 << 18];
	stat_start starts[K];
	stat_estimate e;

	(void)state;
	for (size_t k = 0; k < K; k++)
		starts[k] = (stat_start){x[k], RUNS};
	assert_true(stat_starts_scratch(starts, K) <= sizeof scratch / sizeof *scratch);
	for (size_t s = 0; s < sizeof spreads / sizeof spreads[0]; s++) {
		const double truth = exp(1.2815515655446004 * hypot(0.2, spreads[s]));
		uint64_t r = 5;
		size_t held = 0, n = 0;

		for (size_t t = 0; t < POOLED; t++) {
			for (size_t k = 0; k < K; k++) {
				const double level = spreads[s] * normal(&r);

				for (size_t i = 0; i < RUNS; i++)
					x[k][i] = exp(level + 0.2 * normal(&r));
			}
			stat_starts_quantile(0.9, starts, K, 0.95, scratch, &e);
			if (!e.has_interval)
				continue;
			n++;
			held += e.lo <= truth && truth <= e.hi;
		}
		/* 99.5, 99.5 and 96.5 %, where 96.9 % is named. */
		assert_true((double)n > 0.65 * POOLED);
		assert_true((double)held >= 0.955 * (double)n);
	}
	/* All starts together have too few. */
	stat_starts_quantile(0.99, starts, K, 0.95, scratch, &e);
	assert_false(e.present);
	assert_non_null(strstr(e.why, "99 % needs 368 independent runs"));
	/* Starts that differ by more than a share of a tenth: a value, and no interval. */
	for (size_t k = 0; k < K; k++)
		for (size_t i = 0; i < RUNS; i++)
			x[k][i] = (k == 0 ? 9 : 1) + 0.001 * unit(&seed);
	stat_starts_quantile(0.9, starts, K, 0.95, scratch, &e);
	assert_true(e.present && !e.has_interval && e.why[0]);
}

int test_stat_starts(void);
int test_stat_starts(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exact),
	    cmocka_unit_test(one_slow_start),
	    cmocka_unit_test(properties_of_a_slow_start),
	    cmocka_unit_test(no_slow_start),
	    cmocka_unit_test(coverage),
	    cmocka_unit_test(pooled_percentile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
