/* comparing.c - how often is a comparison wrong, and how many rounds does it need? Draws paired
 * ratios with a known median; each series is evaluated as `deepclock compare` does.
 *
 *     accuracy_comparing           short, with bounds: the test
 *     accuracy_comparing --full    more series, as in docs/reference/validation.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/sequential.h"
#include "stat/stat.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLANNED_MOST 200
#define MARGIN	     0.01

typedef enum source {
	OWN,	 /* the ratio has the distribution `shape`, and phi */
	REGIMES, /* two levels of the ratio 3 % apart, switched with probability 1/20, noise sd */
	AVERAGE, /* moving average of 4 rounds */
	RANDOM, /* identical subjects in an environment, AR(1), pairs in random order and reverse */
	SLOWING, /* the same, and it slows by 20 % from the first to the last round */
	IN_TURNS /* the same, but the first always goes first: why the order is random */
} source;

typedef struct kind {
	const char *name;
	double shift; /* logarithm of the median ratio */
	source from;
	sim_shape shape; /* OWN: shape of the noise, with a standard deviation of about 3 % */
	double phi, sd;
	double ever, verdict; /* bounds of the test: percent */
	double found;	      /* minimum power, percent: 0.95 of a rule for independent rounds */
	size_t planned;	      /* 0: PLANNED_MOST */
} kind;

#define NONE 100

static const kind kinds[] = {
    {"no difference", 0, OWN, SIM_NORMAL, .ever = 5, .verdict = 1.5},
    {"no difference, skewed", 0, OWN, SIM_LOGNORMAL, .ever = 5, .verdict = 1.5},
    {"no difference, two modes", 0, OWN, SIM_BIMODAL, .ever = 5, .verdict = 1.5},
    {"AR 0.5", 0, OWN, SIM_NORMAL, 0.5, .ever = 6, .verdict = 1.5},
    {"AR 0.8", 0, OWN, SIM_NORMAL, 0.8, .ever = 6, .verdict = 1.5},
    {"AR 0.95", 0, OWN, SIM_NORMAL, 0.95, .ever = NONE, .verdict = NONE},
    {"moving average of 4", 0, AVERAGE, .sd = 3, .ever = 6, .verdict = 1.5},
    {"two regimes, noise 0.5 %", 0, REGIMES, .sd = 0.5, .ever = 6, .verdict = 1.5},
    {"two regimes, noise 1 %", 0, REGIMES, .sd = 1, .ever = 6, .verdict = 1.5},
    {"two regimes, noise 3 %", 0, REGIMES, .sd = 3, .ever = 6, .verdict = 1.5},
    {"environment AR 0.95, random order", 0, RANDOM, .phi = 0.95, .sd = 5, .ever = 5,
     .verdict = 1.5},
    {"environment slows, random order", 0, SLOWING, .phi = 0.95, .sd = 1, .ever = 5,
     .verdict = 1.5},
    {"environment slows, in turns", 0, IN_TURNS, .phi = 0.5, .sd = 0.1, .ever = NONE,
     .verdict = NONE},
    {"2 %", 0.0198, OWN, SIM_NORMAL, .ever = 5, .found = 84.8},
    {"5 %", 0.0488, OWN, SIM_NORMAL, .ever = 5, .found = 95},
    {"5 %, skewed", 0.0488, OWN, SIM_LOGNORMAL, .ever = 5, .found = 95},
    {"10 %", 0.0953, OWN, SIM_NORMAL, .ever = 5, .found = 95},
    {"20 %", 0.182, OWN, SIM_NORMAL, .ever = 5, .found = 95},
    {"4 %, AR 0.5", 0.0392, OWN, SIM_NORMAL, 0.5, .ever = 6, .found = 95},
    {"2.5 %, 100 rounds", 0.0247, OWN, SIM_NORMAL, .ever = 5, .found = 88.7, .planned = 100},
    {"3 %, 50 rounds", 0.0296, OWN, SIM_NORMAL, .ever = 5, .found = 85.9, .planned = 50},
    {"4 %, 30 rounds", 0.0392, OWN, SIM_NORMAL, .ever = 5, .found = 91.7, .planned = 30},
    {"5 %, 20 rounds", 0.0488, OWN, SIM_NORMAL, .ever = 5, .found = 93, .planned = 20},
    {"6 %, 12 rounds", 0.0583, OWN, SIM_NORMAL, .ever = 5, .found = 93.6, .planned = 12},
    {"AR 0.8, 50 rounds", 0, OWN, SIM_NORMAL, 0.8, .ever = 6, .verdict = 1.5, .planned = 50},
    {"two regimes, noise 1 %, 50 rounds", 0, REGIMES, .sd = 1, .ever = NONE, .verdict = NONE,
     .planned = 50},
};

typedef struct tally {
	double ever;	/* the interval excluded the true median at any look, percent */
	double verdict; /* slower or faster, by the margin */
	double found;	/* slower */
	double rounds;	/* mean number until the decision */
} tally;

/* Draws paired logarithms around the shift: the series around 100 has its median subtracted. */
static void draw_own(const kind *k, sim_random *r, double *d, size_t n)
{
	const sim_kind sim = {.name = k->name, .shape = k->shape, .phi = k->phi};
	const double centre = sim_true_quantile(&sim, n, n, 0.5);
	/* The lognormal's sigma of 0.5 is scaled to 3 % too. */
	const double scale = k->shape == SIM_LOGNORMAL ? 0.06 : 1;

	sim_make(&sim, r, d, n, n);
	for (size_t i = 0; i < n; i++)
		d[i] = k->shift + scale * (d[i] - centre) / 100;
}

static void draw_levels(const kind *k, sim_random *r, double *d, size_t n)
{
	double level = sim_uniform(r) < 0.5 ? -0.015 : 0.015, last[4];

	for (size_t i = 0; i < 4; i++)
		last[i] = sim_normal(r);
	for (size_t i = 0; i < n; i++) {
		last[i % 4] = sim_normal(r);
		if (k->from == AVERAGE) {
			d[i] = k->sd / 100 * (last[0] + last[1] + last[2] + last[3]) / 2;
			continue;
		}
		d[i] = level + k->sd / 100 * last[i % 4];
		if (sim_uniform(r) < 1.0 / 20)
			level = -level;
	}
}

/* Each round has two blocks of one trial of each, the second reversed; IN_TURNS: one block. */
static void draw_pairs(const kind *k, sim_random *r, double *d, size_t n)
{
	const double fresh = sqrt(1 - k->phi * k->phi);
	const double slower = k->from == RANDOM ? 0 : 0.2 / (double)(4 * n);
	double z = sim_normal(r), level = 0;

	for (size_t i = 0; i < n; i++) {
		const double sign = k->from == IN_TURNS || sim_uniform(r) < 0.5 ? 1 : -1;
		double trial[4];

		for (size_t j = 0; j < 4; j++) {
			trial[j] = level + k->sd / 100 * z;
			level += slower;
			z = k->phi * z + fresh * sim_normal(r);
		}
		d[i] = k->from == IN_TURNS ? trial[1] - trial[0]
					   : sign * (trial[1] - trial[0] + trial[2] - trial[3]) / 2;
	}
}

static void draw(const kind *k, sim_random *r, double *d, size_t n)
{
	if (k->from == OWN)
		draw_own(k, r, d, n);
	else if (k->from == REGIMES || k->from == AVERAGE)
		draw_levels(k, r, d, n);
	else
		draw_pairs(k, r, d, n);
}

static tally try(const kind *k, size_t series)
{
	const size_t planned = k->planned > 0 ? k->planned : PLANNED_MOST;
	double d[PLANNED_MOST], walk[PLANNED_MOST + 2];
	double *scratch = calloc(stat_scratch(planned) + planned, sizeof *scratch);
	const double edge = log1p(MARGIN);
	size_t missed = 0, verdicts = 0, found = 0, rounds = 0;
	sim_random r;

	sim_seed(&r, 11);
	for (size_t s = 0; s < series && scratch; s++) {
		stat_boundary b;
		bool ever = false, decided = false;

		draw(k, &r, d, planned);
		stat_boundary_init(&b, 0.025, planned, walk);
		for (size_t n = stat_look_next(0, planned);; n = stat_look_next(n, planned)) {
			const long rank = stat_boundary_look(&b, n);
			const double slack = stat_boundary_slack(&b);
			stat_paired p;

			stat_paired_median(d, n, rank, scratch, &p);
			p.lo -= slack;
			p.hi += slack;
			ever |= p.has_interval && (p.lo > k->shift || p.hi < k->shift);
			if (!decided && p.has_interval) {
				const bool apart = p.lo > edge || p.hi < -edge;

				decided = apart || (p.lo >= -edge && p.hi <= edge);
				verdicts += apart;
				found += p.lo > edge;
				rounds += decided ? n : 0;
			}
			if (n == planned)
				break;
		}
		rounds += decided ? 0 : planned;
		missed += ever;
	}
	free(scratch);
	return (tally){.ever = 100 * (double)missed / (double)series,
		       .verdict = 100 * (double)verdicts / (double)series,
		       .found = 100 * (double)found / (double)series,
		       .rounds = (double)rounds / (double)series};
}

/* Returns three standard errors of a share of `series` series, in percent. */
static double luck(double percent, size_t series)
{
	return 3 * sqrt(percent * (100 - percent) / (double)series);
}

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	const size_t series = full ? 2000 : 300;
	int bad = 0;

	if (full)
		printf("| ratios | interval misses, ever | slower or faster | rounds, mean |\n"
		       "|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const kind *k = &kinds[i];
		const tally t = try(k, series);
		const bool none = !(k->shift > 0);
		const bool fine = t.ever <= k->ever + luck(k->ever, series) &&
				  (none ? t.verdict <= k->verdict + luck(k->verdict, series)
					: t.found >= k->found - luck(k->found, series));

		printf(full ? "| %s | %.1f %% | %.1f %% | %.0f |\n"
			    : "%s: misses %.1f %%, verdicts %.1f %%, rounds %.0f\n",
		       k->name, t.ever, t.verdict, t.rounds);
		fflush(stdout);
		if (!fine)
			fprintf(stderr, "%s is out of bounds\n", k->name);
		bad += !fine;
	}
	return bad > 0;
}
