/* best.c - the best of several sizes: how often does the interval of its rate hold the true rate,
 * and how far off is the value on average? Sizes are tried in rounds as `deepclock throughput`
 * does.
 *
 *     accuracy_best           short, with bounds: the test
 *     accuracy_best --full    more searches, as the Markdown table of docs/reference/methods.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/blocks.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SIZES_MOST  12
#define ROUNDS_MOST 9
#define SPREAD	    0.02 /* of one trial */
#define COMMON	    0.01 /* of a round */

typedef struct kind {
	const char *name;
	size_t sizes, rounds;
	double step; /* each size gives so much less than the one before */
	double lead; /* what the first gives more than all others */
} kind;

static const kind kinds[] = {
    {"2 equal sizes", .sizes = 2, .rounds = 3},
    {"6 equal sizes", .sizes = 6, .rounds = 3},
    {"12 equal sizes", .sizes = 12, .rounds = 3},
    {"12 sizes, 0.5 % apart", .sizes = 12, .rounds = 3, .step = 0.005},
    {"6 sizes, 1 % apart", .sizes = 6, .rounds = 3, .step = 0.01},
    {"6 sizes, one 4 % better", .sizes = 6, .rounds = 3, .lead = 0.04},
    {"2 equal sizes", .sizes = 2, .rounds = 9},
    {"6 equal sizes", .sizes = 6, .rounds = 9},
    {"12 equal sizes", .sizes = 12, .rounds = 9},
    {"12 sizes, 0.5 % apart", .sizes = 12, .rounds = 9, .step = 0.005},
    {"6 sizes, 1 % apart", .sizes = 6, .rounds = 9, .step = 0.01},
    {"6 sizes, one 4 % better", .sizes = 6, .rounds = 9, .lead = 0.04},
};

typedef struct tally {
	double held, bias, width; /* percent */
} tally;

static tally try(const kind *k, size_t times)
{
	double y[SIZES_MOST * ROUNDS_MOST], means[SIZES_MOST];
	stat_blocks_level levels[SIZES_MOST];
	size_t held = 0;
	double bias = 0, width = 0;
	sim_random r;

	sim_seed(&r, 17);
	for (size_t i = 0; i < times; i++) {
		stat_blocks f;
		size_t best = 0;

		for (size_t b = 0; b < k->rounds; b++) {
			const double common = COMMON * sim_normal(&r);

			for (size_t t = 0; t < k->sizes; t++)
				y[b * k->sizes + t] = (t == 0 ? k->lead : 0) - k->step * (double)t +
						      common + SPREAD * sim_normal(&r);
		}
		stat_blocks_fit(y, k->sizes, k->rounds, means, &f);
		stat_blocks_levels(&f, means, 0.95, levels);
		for (size_t t = 1; t < k->sizes; t++)
			if (means[t] > means[best])
				best = t;
		const double truth = (best == 0 ? k->lead : 0) - k->step * (double)best;

		held += levels[best].lo <= truth && truth <= levels[best].hi;
		bias += levels[best].value - truth;
		width += levels[best].hi - levels[best].lo;
	}
	return (tally){100 * (double)held / (double)times, 100 * bias / (double)times,
		       100 * width / (double)times};
}

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	const size_t times = full ? 20000 : 2000;
	int bad = 0;

	if (full)
		printf(
		    "| sizes | rounds | interval holds | bias | width |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const kind *k = &kinds[i];
		const tally t = try(k, times);
		/* Three standard errors of 2,000. */
		const bool fine = t.held >= 94 - 1.6 && fabs(t.bias) <= 1.2;

		if (full)
			printf("| %s | %zu | %.1f %% | %+.2f %% | %.1f %% |\n", k->name, k->rounds,
			       t.held, t.bias, t.width);
		if (!fine)
			printf("%s in %zu rounds: holds %.1f %%, bias %+.2f %%\n", k->name,
			       k->rounds, t.held, t.bias);
		bad += !fine;
	}
	return bad > 0;
}
