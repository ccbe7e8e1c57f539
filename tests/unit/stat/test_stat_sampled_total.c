/* Totals from independently sampled items: exact ends in special cases, and the coverage of the
 * intervals for mixtures of sizes, simulated with fixed seeds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void is_near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fabs(want)))
		fail_msg("got %.17g, want %.17g", got, want);
}

static void a_few_items(void **state)
{
	stat_sampled s = {0}, t = {0};
	double lo, hi;

	(void)state;
	stat_sampled_add(&s, 2, 10, 0.25);
	is_near(s.sampled, 20);
	is_near(s.missed, 60);
	is_near(s.variance, 2 * 100 * 0.75 / 0.0625);
	assert_true(s.items == 2);
	stat_sampled_add(&t, 1, 5, 1);
	stat_sampled_sum(&t, &s);
	is_near(t.sampled + t.missed, 85);
	assert_true(t.items == 3);
	/* All were sampled. */
	s = (stat_sampled){0};
	stat_sampled_add(&s, 3, 7, 1);
	stat_sampled_interval(&s, NAN, 0.95, &lo, &hi);
	assert_true(lo == 21 && hi == 21);
}

/* P(X <= k) of a Poisson variable. */
static double poisson_at_most(int k, double mean)
{
	double sum = 0, term = exp(-mean);

	for (int i = 0; i <= k; term *= mean / ++i)
		sum += term;
	return sum;
}

/* Rare items of one size: the exact ends for a Poisson count (Garwood, Biometrika 1936). */
static void equal_weights_give_the_exact_ends(void **state)
{
	static const int counts[] = {1, 2, 5, 10, 100};
	const double p = 1e-12;
	double lo, hi;

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		stat_sampled s = {0};

		stat_sampled_add(&s, counts[i], 1, p);
		stat_sampled_interval(&s, 1 / p, 0.95, &lo, &hi);
		is_near(1 - poisson_at_most(counts[i] - 1, lo * p), 0.025);
		is_near(poisson_at_most(counts[i], hi * p), 0.025);
	}
}

/* --- coverage */

typedef struct mixture {
	const char *name;
	struct {
		double size, blocks;
	} of[4];
} mixture;

static uint64_t random_state;

static double uniform(void)
{
	uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

/* Number of sampled ones of n blocks with probability p: distances between them are geometric. */
static double binomial(double n, double p)
{
	double k = 0, at = 0;

	for (;;) {
		at += 1 + (p < 1 ? floor(log(uniform()) / log1p(-p)) : 0);
		if (at > n)
			return k;
		k++;
	}
}

/* The share of runs whose interval contains the truth, and the mean of the estimates over it. */
static void simulate(const mixture *m, bool bytes, double interval, double *ret_covered,
		     double *ret_mean)
{
	enum { RUNS = 4000 };
	double covered = 0, sum = 0, truth = 0;

	for (int i = 0; i < 4; i++)
		truth += m->of[i].blocks * (bytes ? m->of[i].size : 1);
	random_state = 1;
	for (int run = 0; run < RUNS; run++) {
		stat_sampled s = {0};
		double lo, hi;

		for (int i = 0; i < 4; i++) {
			const double p = -expm1(-(m->of[i].size + 1) / interval);
			const double k = binomial(m->of[i].blocks, p);

			stat_sampled_add(&s, k, bytes ? m->of[i].size : 1, p);
		}
		sum += s.sampled + s.missed;
		stat_sampled_interval(&s, bytes ? interval : NAN, 0.95, &lo, &hi);
		covered += lo <= truth && truth <= hi;
	}
	*ret_covered = covered / RUNS;
	*ret_mean = sum / RUNS / truth;
}

/* Lower for blocks of very different sizes: a run in which no small one is sampled knows nothing of
 * them. */
static void intervals_cover(void **state)
{
	static const struct {
		mixture of;
		double bytes, blocks;
	} cases[] = {
	    {{"100 B", {{100, 52429}}}, 0.95, 0.95},
	    {{"100 B, many", {{100, 1e6}}}, 0.945, 0.945},
	    {{"16 B and 4 KiB", {{16, 3e5}, {4096, 2000}}}, 0.95, 0.92},
	    {{"16 B to 1 MiB", {{16, 1e5}, {1024, 5000}, {65536, 100}, {1 << 20, 10}}}, 0.95, 0.90},
	    {{"the interval", {{524288, 20}}}, 0.95, 0.95},
	    {{"twice the interval", {{1 << 20, 5}}}, 0.95, 0.95},
	    {{"10 MiB and small ones", {{10 << 20, 4}, {64, 20000}}}, 0.95, 0.88},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		double bytes, blocks, mean, blocks_mean;

		simulate(&cases[i].of, true, 524288, &bytes, &mean);
		simulate(&cases[i].of, false, 524288, &blocks, &blocks_mean);
		print_message(
		    "# %s: coverage of bytes %.1f %%, of blocks %.1f %%; mean over truth %.4f and %.4f\n",
		    cases[i].of.name, 100 * bytes, 100 * blocks, mean, blocks_mean);
		if (bytes < cases[i].bytes || blocks < cases[i].blocks || fabs(mean - 1) > 0.02 ||
		    fabs(blocks_mean - 1) > 0.04)
			fail_msg("%s", cases[i].of.name);
	}
}

int test_stat_sampled_total(void);
int test_stat_sampled_total(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_few_items),
	    cmocka_unit_test(equal_weights_give_the_exact_ends),
	    cmocka_unit_test(intervals_cover),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
