/* best.c - the best of several sizes: coverage of the interval of its rate, mean bias of the rate,
 * and how often is one size called better than another? Sizes are tried in rounds as
 * `deepclock throughput` does.
 *
 *     accuracy_best           short, with bounds: the test
 *     accuracy_best --full    more searches, as in docs/reference/validation.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/blocks.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SIZES_MOST   12
#define ROUNDS_LEAST 3 /* --rounds; a search makes at most three times this number */
#define ROUNDS_MOST  9
#define LEVEL	     0.95
#define PRECISION    0.01 /* sizes that are known to differ by less are not distinguished */
#define SPREAD	     0.02 /* standard deviation between trials */
#define COMMON	     0.01 /* standard deviation between rounds */

typedef struct kind {
	const char *name;
	size_t sizes;
	double step; /* difference of each size to the next, as a ratio */
	double lead; /* advantage of the first size over all others */
} kind;

static const kind kinds[] = {
    {"2 equal", .sizes = 2},
    {"6 equal", .sizes = 6},
    {"12 equal", .sizes = 12},
    {"12, 0.5 % apart", .sizes = 12, .step = 0.005},
    {"6, 1 % apart", .sizes = 6, .step = 0.01},
    {"6, one 4 % better", .sizes = 6, .lead = 0.04},
};

typedef struct tally {
	double held, bias, width; /* percent */
} tally;

static double truth_of(const kind *k, size_t size)
{
	return (size == 0 ? k->lead : 0) - k->step * (double)size;
}

/* Draws rounds, each with one trial of every size. */
static void draw(const kind *k, size_t rounds, double spread, sim_random *r, double *y)
{
	for (size_t b = 0; b < rounds; b++) {
		const double common = COMMON * sim_normal(r);

		for (size_t t = 0; t < k->sizes; t++)
			y[b * k->sizes + t] = truth_of(k, t) + common + spread * sim_normal(r);
	}
}

static size_t greatest(const double *means, size_t n)
{
	size_t best = 0;

	for (size_t t = 1; t < n; t++)
		if (means[t] > means[best])
			best = t;
	return best;
}

static tally try(const kind *k, size_t rounds, size_t times)
{
	double y[SIZES_MOST * ROUNDS_MOST], means[SIZES_MOST];
	stat_blocks_level levels[SIZES_MOST];
	size_t held = 0;
	double bias = 0, width = 0;
	sim_random r;

	sim_seed(&r, 17);
	for (size_t i = 0; i < times; i++) {
		stat_blocks f;
		size_t best;
		double truth;

		draw(k, rounds, SPREAD, &r, y);
		stat_blocks_fit(y, k->sizes, rounds, means, &f);
		stat_blocks_levels(&f, means, LEVEL, levels);
		best = greatest(means, k->sizes);
		truth = truth_of(k, best);
		held += levels[best].lo <= truth && truth <= levels[best].hi;
		bias += levels[best].value - truth;
		width += levels[best].hi - levels[best].lo;
	}
	return (tally){100 * (double)held / (double)times, 100 * bias / (double)times,
		       100 * width / (double)times};
}

/* --- which is better */

typedef struct pair_kind {
	kind of;
	double spread;
	double found, wrong; /* bounds of the test, percent: lower, upper */
} pair_kind;

static const pair_kind pair_kinds[] = {
    {{"2 equal", .sizes = 2}, 0.02, 0, 5},
    {{"3 equal", .sizes = 3}, 0.02, 0, 5},
    {{"6 equal", .sizes = 6}, 0.02, 0, 5},
    {{"2, 5 % apart", .sizes = 2, .lead = 0.05}, 0.02, 95, 0},
    {{"2, 2 % apart", .sizes = 2, .lead = 0.02}, 0.01, 80, 0},
    {{"2, 5 % apart", .sizes = 2, .lead = 0.05}, 0.01, 99, 0},
    {{"2, 10 % apart", .sizes = 2, .lead = 0.1}, 0.05, 80, 0},
};

typedef struct claims {
	double found, wrong; /* percent of the searches */
	double trials;	     /* mean */
} claims;

/* Tests after ROUNDS_LEAST rounds and after each multiple, as with --rounds: the best size differs
 * from another if their means differ by more than the bound for all pairs and tests. (Beaten sizes
 * stay here: the search drops them only if there are more than two sizes.) */
static claims search(const pair_kind *p, size_t times)
{
	const size_t n = p->of.sizes, looks = ROUNDS_MOST / ROUNDS_LEAST;
	double y[SIZES_MOST * ROUNDS_MOST], means[SIZES_MOST];
	claims ret = {0};
	sim_random r;

	sim_seed(&r, 19);
	for (size_t i = 0; i < times; i++) {
		bool found = false, wrong = false, all = false;
		size_t rounds = 0;

		draw(&p->of, ROUNDS_MOST, p->spread, &r, y);
		while (!all && rounds < ROUNDS_MOST) {
			stat_blocks f;
			size_t best;
			double half;

			rounds += ROUNDS_LEAST;
			stat_blocks_fit(y, n, rounds, means, &f);
			half = stat_blocks_half(&f, LEVEL, n * (n - 1) / 2 * looks);
			best = greatest(means, n);
			all = true;
			for (size_t t = 0; t < n; t++) {
				const bool told = means[best] - means[t] > half;
				const bool right = truth_of(&p->of, best) > truth_of(&p->of, t);

				found |= told && right;
				wrong |= told && !right;
				all &= t == best || told || half <= PRECISION;
			}
		}
		ret.found += 100 * (double)found / (double)times;
		ret.wrong += 100 * (double)wrong / (double)times;
		ret.trials += (double)(rounds * n) / (double)times;
	}
	return ret;
}

static bool bests(bool full, size_t times)
{
	bool bad = false;

	if (full)
		printf(
		    "| sizes | rounds | interval holds | bias | width |\n|---|---|---|---|---|\n");
	for (size_t rounds = ROUNDS_LEAST; rounds <= ROUNDS_MOST; rounds *= 3)
		for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
			const kind *k = &kinds[i];
			const tally t = try(k, rounds, times);
			/* Three standard errors of 2,000. */
			const bool fine = t.held >= 94 - 1.6 && fabs(t.bias) <= 1.2;

			if (full || !fine)
				printf("| %s | %zu | %.1f %% | %+.2f %% | %.1f %% |\n", k->name,
				       rounds, t.held, t.bias, t.width);
			bad |= !fine;
		}
	return bad;
}

static bool pairs(bool full, size_t times)
{
	bool bad = false;

	if (full)
		printf("\n| sizes | spread | found better | falsely | trials, mean |\n"
		       "|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof pair_kinds / sizeof pair_kinds[0]; i++) {
		const pair_kind *p = &pair_kinds[i];
		const claims c = search(p, times);
		/* Three standard errors of 2,000. */
		const bool fine = c.found >= p->found - 3 && c.wrong <= p->wrong + 1.5;

		if (full || !fine)
			printf("| %s | %.0f %% | %.1f %% | %.1f %% | %.0f |\n", p->of.name,
			       100 * p->spread, c.found, c.wrong, c.trials);
		bad |= !fine;
	}
	return bad;
}

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	const size_t times = full ? 20000 : 2000;
	const bool bad = bests(full, times);

	return pairs(full, times) || bad;
}
