/* test_stat_sequential.c - the sequential sign test against an enumeration of every walk, and the
 * interval of the shift against all sums of scores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stat/sequential.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define N 16

/* With one look this is the exact sign test: of 10 pairs at 2.5 % per side one may be beyond,
 * because P(B <= 1) = 11/1024 and P(B <= 2) = 56/1024. */
static void one_look(void **state)
{
	static const struct {
		size_t n;
		double alpha;
		long r;
	} rows[] = {{5, 0.025, -1}, {6, 0.025, 0},     {8, 0.025, 0},	 {9, 0.025, 1},
		    {10, 0.025, 1}, {20, 0.025, 5},    {100, 0.025, 39}, {10, 0.0125, 1},
		    {10, 0.01, 0},  {1000, 0.025, 468}};
	double walk[1002];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		stat_boundary b;

		stat_boundary_init(&b, rows[i].alpha, rows[i].n, walk);
		assert_int_equal(stat_boundary_look(&b, rows[i].n), rows[i].r);
	}
}

/* Over all sequences of 16 signs, the share with at most r below at any look must equal the alpha
 * spent, and be within alpha. */
static void all_walks(void **state)
{
	static const size_t looks[] = {6, 8, 10, 12, 14, 16};
	const double alpha = 0.1;
	double walk[N + 2];
	long r[6];
	stat_boundary b;
	unsigned crossed = 0;

	(void)state;
	stat_boundary_init(&b, alpha, N, walk);
	for (size_t k = 0; k < 6; k++)
		r[k] = stat_boundary_look(&b, looks[k]);
	for (unsigned bits = 0; bits < 1u << N; bits++) {
		bool out = false;

		for (size_t k = 0; k < 6 && !out; k++) {
			const long below = __builtin_popcount(bits & ((1u << looks[k]) - 1));

			out = below <= r[k];
		}
		crossed += out;
	}
	assert_true(crossed > 0);
	assert_true(fabs((double)crossed / (1u << N) - b.spent) < 1e-12);
	assert_true(b.spent <= alpha);
	/* Nearly all of alpha can be spent: a count has coarse steps. */
	assert_true(b.spent > alpha / 3);
	assert_true(r[5] >= r[0]);
}

static void same_look_twice(void **state)
{
	double walk[102];
	stat_boundary b;
	long r;

	(void)state;
	stat_boundary_init(&b, 0.025, 100, walk);
	r = stat_boundary_look(&b, 40);
	assert_int_equal(stat_boundary_look(&b, 40), r);
}

static void looks(void **state)
{
	size_t n = 0, count = 0;

	(void)state;
	while (n < 400) {
		const size_t next = stat_look_next(n, 400);

		assert_true(next > n && next <= 400);
		n = next;
		count++;
	}
	assert_true(count < 30);
	assert_int_equal(stat_look_next(0, 4), 4);
	assert_int_equal(stat_look_next(0, 400), 6);
}

static void median_and_ranks(void **state)
{
	const double d[] = {0.5, -0.1, 0.3, 0.2, 0.9, 0.4, -0.3, 0.1, 0.6, 0.7};
	double *scratch = calloc(stat_scratch(10) + 10, sizeof *scratch);
	stat_paired p;

	(void)state;
	stat_paired_median(d, 10, 1, scratch, &p);
	assert_true(p.has_interval);
	assert_true(fabs(p.median - 0.35) < 1e-12);
	assert_true(p.lo == -0.1 && p.hi == 0.7);
	assert_true(p.tau == 1);
	stat_paired_median(d, 10, -1, scratch, &p);
	assert_false(p.has_interval);
	assert_true(isnan(p.lo) && isnan(p.hi));
	stat_paired_median(d, 0, 0, scratch, &p);
	assert_true(isnan(p.median) && !p.has_interval);
	free(scratch);
}

/* Long stretches on one side widen the ranks. */
static void dependent(void **state)
{
	enum { n = 200 };
	double d[n], *scratch = calloc(stat_scratch(n) + n, sizeof *scratch);
	stat_paired p;
	uint64_t x = 1;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
		d[i] = (double)(x >> 40) / 16777216.0 + (i / 20 % 2 ? 1.0 : -1.0);
	}
	stat_paired_median(d, n, 85, scratch, &p);
	assert_true(p.has_interval && p.tau > 2);
	stat_sort(d, n); /* the same values */
	assert_true(p.lo < d[85] && p.hi > d[n - 86]);
	free(scratch);
}

/* Ties have no order. */
static void ties(void **state)
{
	enum { n = 100 };
	double d[n], *scratch = calloc(stat_scratch(n) + n, sizeof *scratch);
	stat_paired p;

	(void)state;
	for (size_t i = 0; i < n; i++)
		d[i] = i % 3 == 0 ? 2 : 1;
	stat_paired_median(d, n, 39, scratch, &p);
	assert_true(p.lo == 1 && p.hi == 2);
	for (size_t i = 0; i < n; i++)
		d[i] = 1;
	stat_paired_median(d, n, 39, scratch, &p);
	assert_true(p.lo == 1 && p.hi == 1 && p.tau == 1);
	free(scratch);
}

/* Independent pairs pay little for the correction: of 100 the interval leaves out nearly the 39
 * permitted at each end. */
static void independent(void **state)
{
	enum { n = 100 };
	double d[n], *scratch = calloc(stat_scratch(n) + n, sizeof *scratch), out = 0;
	stat_paired p;
	uint64_t x = 1;

	(void)state;
	for (size_t series = 0; series < 40; series++) {
		for (size_t i = 0; i < n; i++) {
			x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
			d[i] = (double)(x >> 40);
		}
		stat_paired_median(d, n, 39, scratch, &p);
		for (size_t i = 0; i < n; i++)
			out += (d[i] < p.lo || d[i] > p.hi) / 80.0;
	}
	assert_true(out > 37 && out < 39);
	free(scratch);
}

/* A level spends all of alpha, and is at least that of the sign test. */
static void level_of_look(void **state)
{
	static const size_t looks[] = {6, 8, 10, 12, 15, 18, 22, 27, 33, 40};
	double walk[2][42];
	stat_boundary b, signs;

	(void)state;
	stat_boundary_init(&b, 0.025, 20, walk[0]);
	assert_true(fabs(stat_boundary_level(&b, 20) - 0.025) < 1e-12);
	stat_boundary_init(&b, 0.025, 40, walk[0]);
	stat_boundary_init(&signs, 0.025, 40, walk[1]);
	for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
		const double level = stat_boundary_level(&b, looks[i]);
		const long r = stat_boundary_look(&signs, looks[i]);

		assert_true(level <= 0.025 + 1e-12);
		assert_true(r < 0 || level > 0);
	}
	assert_true(fabs(b.spent - 0.025) < 1e-12 && signs.spent < b.spent);
}

static double mean_of_pair(const double *d, size_t i, size_t j)
{
	return (d[i] + d[j]) / 2;
}

/* The interval leaves out what the distribution of the scores, counted over all signs,
 * permits at the level that the evidence for dependence leaves. */
static void shift_interval(void **state)
{
	enum { n = 12, means = n * n + n * (n + 1) / 2 };
	static const double d[n] = {0.5,  -0.1, 0.31, 0.2,  0.93, 0.4,
				    -0.3, 0.12, 0.64, 0.77, 0.05, 0.36};
	double *scratch = calloc(stat_scratch(n) + n, sizeof *scratch), walsh[means], level,
	       sum = 0;
	size_t count[means + 1] = {0}, k = 0, c = 0;
	stat_paired p;

	(void)state;
	for (unsigned bits = 0; bits < 1u << n; bits++) {
		size_t w = 0;

		for (size_t i = 0; i < n; i++)
			w += bits >> i & 1 ? n + i + 1 : 0;
		count[w]++;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			for (size_t times = i == j ? n + 1 : 1; times > 0; times--)
				walsh[k++] = mean_of_pair(d, i, j);
	stat_sort(walsh, means);
	stat_paired_shift(d, n, 0.025, STAT_PAIRS_EVEN, scratch, &p);
	assert_true(p.has_interval && p.tau >= 1 && p.tau < 2);
	assert_true(fabs(p.median - (walsh[means / 2 - 1] + walsh[means / 2]) / 2) < 1e-9);
	level = erfc(1.9599639845400545 * sqrt(p.tau) / sqrt(2)) / 2;
	while ((sum += (double)count[c] / (1u << n)) <= level * (1 + 1e-9))
		c++;
	assert_true(c > 40 && c < 60);
	assert_true(fabs(p.lo - walsh[c - 1]) < 1e-9 && fabs(p.hi - walsh[means - c]) < 1e-9);
	stat_paired_shift(d, 5, 0.025, STAT_PAIRS_EVEN, scratch, &p);
	assert_true(!p.has_interval && isnan(p.lo));
	stat_paired_shift(d, n, 0, STAT_PAIRS_EVEN, scratch, &p);
	assert_true(!p.has_interval && !isnan(p.median));
	stat_paired_shift(d, 6, 1.0 / 64, STAT_PAIRS_EVEN, scratch, &p);
	assert_true(p.has_interval && p.lo <= -0.1 && p.hi >= 0.93);
	stat_paired_shift(d, 0, 0.025, STAT_PAIRS_EVEN, scratch, &p);
	assert_true(isnan(p.median) && !p.has_interval);
	free(scratch);
}

/* Of independent pairs the interval is shorter than that of the signs; long stretches on one side
 * widen it, and equal values have no width. */
static void shift_width(void **state)
{
	enum { n = 100 };
	double d[n], *scratch = calloc(stat_scratch(n) + n, sizeof *scratch), ratio = 0;
	stat_paired p, signs;
	uint64_t x = 1;

	(void)state;
	for (size_t series = 0; series < 40; series++) {
		for (size_t i = 0; i < n; i++) {
			d[i] = 0;
			for (size_t k = 0; k < 6; k++) { /* almost normal */
				x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
				d[i] += (double)(x >> 40);
			}
		}
		stat_paired_median(d, n, 39, scratch, &signs);
		stat_paired_shift(d, n, 0.025, STAT_PAIRS_EVEN, scratch, &p);
		ratio += (p.hi - p.lo) / (signs.hi - signs.lo) / 40;
	}
	assert_true(ratio > 0.7 && ratio < 0.9);
	for (size_t i = 0; i < n; i++)
		d[i] = (double)(i % 7) + (i / 20 % 2 ? 10.0 : -10.0);
	stat_paired_shift(d, n, 0.025, STAT_PAIRS_EVEN, scratch, &p);
	assert_true(p.tau > 2);
	for (size_t i = 0; i < n; i++)
		d[i] = 1;
	stat_paired_shift(d, n, 0.025, STAT_PAIRS_EVEN, scratch, &p);
	assert_true(p.lo == 1 && p.median == 1 && p.hi == 1);
	free(scratch);
}

int test_stat_sequential(void);
int test_stat_sequential(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_look),
	    cmocka_unit_test(all_walks),
	    cmocka_unit_test(same_look_twice),
	    cmocka_unit_test(looks),
	    cmocka_unit_test(median_and_ranks),
	    cmocka_unit_test(dependent),
	    cmocka_unit_test(ties),
	    cmocka_unit_test(independent),
	    cmocka_unit_test(level_of_look),
	    cmocka_unit_test(shift_interval),
	    cmocka_unit_test(shift_width),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
