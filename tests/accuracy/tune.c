/* tune.c - the search for the fastest configuration: how often is a winner named that is not faster
 * than the default, how often one that is slower than another by more than the margin, and does the
 * interval of its ratio cover the truth, and do those of all single values? The searches are those
 * of `deepclock tune`, with invented trials.
 *
 *     accuracy_tune                  short, with bounds: the test
 *     accuracy_tune --full [TEXT]    more searches, as in docs/reference/validation.md; rows with
 * TEXT
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "study/tune/race.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LEVEL  0.95
#define MARGIN 0.01
#define COST   0.5e9 /* of a trial, ns */
#define STARTS 0.3e9 /* the same, where the model is small and starts differ */
#define COMMON 0.02  /* standard deviation between rounds */

/* Threads, optimisation, and five that are on or off. */
#define DIMS 7
static const size_t nvalues[DIMS] = {4, 4, 2, 2, 2, 2, 2};

typedef struct scene {
	const char *name;
	double budget_s, sd;
	double effect[DIMS][4]; /* logarithms of the time, by value */
	double together;	/* more when these two dimensions are both not the default's */
	size_t pair[2];		/* {0}: 0 and 3 */
	double cost;		/* of a trial, ns; 0: COST */
	bool tails;		/* one in seven trials takes up to 4 times as long */
	/* Bounds of the test, percent: named; not faster; far from the best, without a warning. */
	double named, wrong, far;
} scene;

static const scene scenes[] = {
    {"nothing matters", 120, 0.03, .wrong = 5, .far = 5},
    {"nothing matters, noisy", 120, 0.1, .wrong = 5, .far = 5},
    {"nothing matters, tails", 120, 0.03, .tails = true, .wrong = 5, .far = 5},
    {"the default is best",
     120,
     0.03,
     {{0, .5, .3, .1}, {0, .02, .05, .3}, {0, .1}, {0, .04}, {0, .02}, {0, .03}, {0, .01}},
     .wrong = 5,
     .far = 5},
    {"one is 3 % faster", 120, 0.03, {{0}, {0}, {0}, {0, -.03}}, .wrong = 5, .far = 5},
    {"one is 10 % faster", 120, 0.03, {{0}, {0}, {0}, {0, -.1}}, .named = 90, .wrong = 5, .far = 5},
    {"two add up, 30 %",
     120,
     0.03,
     {{0, .5, .2, -.2}, {0, .02, .05, .3}, {0, .1}, {0, -.1}, {0, .02}},
     .named = 95,
     .wrong = 5,
     .far = 5},
    {"two spoil each other",
     120,
     0.03,
     {{0, .5, .2, -.1}, {0, .02, .05, .3}, {0, .1}, {0, -.08}, {0, .02}},
     .together = .3,
     .named = 90,
     .wrong = 5,
     .far = 5},
    {"two add up, noisy",
     120,
     0.1,
     {{0, .5, .2, -.2}, {0, .02, .05, .3}, {0, .1}, {0, -.1}, {0, .02}},
     .named = 60,
     .wrong = 5,
     .far = 5},
    {"two add up, tails",
     120,
     0.03,
     {{0, .5, .2, -.2}, {0, .02, .05, .3}, {0, .1}, {0, -.1}, {0, .02}},
     .tails = true,
     .named = 90,
     .wrong = 5,
     .far = 5},
    {"two add up, 40 s",
     40,
     0.03,
     {{0, .5, .2, -.2}, {0, .02, .05, .3}, {0, .1}, {0, -.1}, {0, .02}},
     .named = 90,
     .wrong = 5,
     .far = 5},
    {"a pair, neither alone",
     120,
     0.03,
     {{0, .5, .3, .1}, {0, .02, .05, .3}, {0, .03}, {0, .04}, {0, .02}, {0, .03}, {0, .01}},
     .together = -.25,
     .pair = {2, 4},
     .named = 90,
     .wrong = 5,
     .far = 5},
    {"a pair, one alone is bad",
     120,
     0.03,
     {{0, .5, .3, .1}, {0, .02, .05, .3}, {0, .4}, {0, .04}, {0, .02}, {0, .03}, {0, .01}},
     .together = -.7,
     .pair = {2, 4},
     .named = 90,
     .wrong = 5,
     .far = 5},
    {"one is 3 %, short trials",
     120,
     0.1,
     {{0}, {0}, {0}, {0, -.03}},
     .cost = 0.15e9,
     .named = 25,
     .wrong = 5,
     .far = 5},
    {"nothing, short trials", 120, 0.1, .cost = 0.15e9, .wrong = 5, .far = 5},
    /* Starts on a shared virtual machine. */
    {"nothing, 15 %, 30 s", 30, 0.15, .cost = STARTS, .wrong = 5, .far = 5},
    {"nothing, 15 %", 120, 0.15, .cost = STARTS, .wrong = 5, .far = 5},
    {"10 %, 15 %, 30 s",
     30,
     0.15,
     {{0}, {0}, {0}, {0, -.105}},
     .cost = STARTS,
     .wrong = 5,
     .far = 5},
    {"10 %, 15 %",
     120,
     0.15,
     {{0}, {0}, {0}, {0, -.105}},
     .cost = STARTS,
     .named = 45,
     .wrong = 5,
     .far = 5},
    {"5 + 5 %, 15 %, 30 s",
     30,
     0.15,
     {{0}, {0}, {0}, {0, -.051}, {0}, {0, -.051}},
     .cost = STARTS,
     .wrong = 5,
     .far = 5},
    {"5 + 5 %, 15 %",
     120,
     0.15,
     {{0}, {0}, {0}, {0, -.051}, {0}, {0, -.051}},
     .cost = STARTS,
     .wrong = 5,
     .far = 5},
    {"5 + 5, losers, 30 s",
     30,
     0.15,
     {{0, .7, .2, .1}, {0, -.051, .1, .7}, {0, .05}, {0, -.051}, {0, .02}, {0, .1}, {0, .7}},
     .cost = STARTS,
     .wrong = 5,
     .far = 5},
    {"5 + 5, losers",
     120,
     0.15,
     {{0, .7, .2, .1}, {0, -.051, .1, .7}, {0, .05}, {0, -.051}, {0, .02}, {0, .1}, {0, .7}},
     .cost = STARTS,
     .wrong = 5,
     .far = 5},
};

static double truth_of(const scene *k, const race_arm *a)
{
	const size_t second = k->pair[1] ? k->pair[1] : 3;
	double sum = a->value[k->pair[0]] && a->value[second] ? k->together : 0;

	for (size_t d = 0; d < DIMS; d++)
		sum += k->effect[d][a->value[d]];
	return sum;
}

typedef struct tally {
	size_t named, wrong, far, far_unwarned, covered, confirmed, effects;
	double used, ratio;
} tally;

static void run(const scene *k, race *r, sim_random *random)
{
	unsigned round = 0;
	double common = 0;
	race_stage stage = RACE_DONE;
	race_ask ask;

	while (race_next(r, &ask)) {
		const double spread = 1 + 0.1 * sim_normal(random);
		race_outcome o = {.cost_ns = (k->cost > 0 ? k->cost : COST) * fmax(0.5, spread),
				  .error = 1e-7};

		if (ask.stage != stage || ask.round != round)
			common = COMMON * sim_normal(random);
		stage = ask.stage;
		round = ask.round;
		o.value_ns = 1e6 * exp(truth_of(k, race_arm_get(r, ask.arm)) + common +
				       k->sd * sim_normal(random));
		if (k->tails && sim_uniform(random) < 0.15)
			o.value_ns *= 1 + 3 * sim_uniform(random);
		o.latency_ns = o.value_ns;
		race_tell(r, &o);
	}
}

/* Returns whether the intervals of all single values hold the truth. */
static bool effects_hold(const scene *k, const race *r)
{
	for (size_t i = 1; i < race_narms(r); i++) {
		const race_number x = race_ratio(r, i);
		const double truth = exp(truth_of(k, race_arm_get(r, i)));

		if (race_arm_get(r, i)->changes == 1 && !isnan(x.lo) &&
		    !(x.lo <= truth && truth <= x.hi))
			return false;
	}
	return true;
}

static void judge(const scene *k, const race *r, tally *t)
{
	double best = 0, winner;
	race_result x;

	race_judge(r, &x);
	winner = x.found ? truth_of(k, race_arm_get(r, x.winner)) : 0;
	for (size_t i = 0; i < race_narms(r); i++)
		if (race_arm_get(r, i)->raced)
			best = fmin(best, truth_of(k, race_arm_get(r, i)));
	t->named += x.found;
	t->effects += effects_hold(k, r);
	t->wrong += x.found && !(winner < 0);
	t->far += x.found && winner - best > log1p(MARGIN);
	t->far_unwarned += x.found && winner - best > log1p(MARGIN) && x.unresolved == 0;
	if (x.ratio.n > 0 && !isnan(x.ratio.lo)) {
		const double truth = exp(truth_of(k, race_arm_get(r, x.winner)));

		t->confirmed++;
		t->covered += x.ratio.lo <= truth && truth <= x.ratio.hi;
	}
	t->used = fmax(t->used, race_used_ns(r) / 1e9 / k->budget_s);
	t->ratio += exp(winner);
}

static int scene_run(const scene *k, size_t times)
{
	race_config c = {.ndims = DIMS,
			 .level = LEVEL,
			 .margin = MARGIN,
			 .budget_ns = k->budget_s * 1e9,
			 .verify = true};
	const double share = 100 / (double)times;
	tally t = {0};
	sim_random random;
	bool failed;

	sim_seed(&random, 29);
	memcpy(c.nvalues, nvalues, sizeof nvalues);
	for (size_t d = 0; d < DIMS; d++)
		c.applies[d] = 1;
	for (size_t i = 0; i < times; i++) {
		race *r;

		c.seed = i + 1;
		r = race_new(&c);
		if (!r)
			return 1;
		run(k, r, &random);
		judge(k, r, &t);
		race_free(r);
	}
	const double covered =
	    t.confirmed ? 100 * (double)t.covered / (double)t.confirmed : (double)NAN;

	printf("%-24s %8.1f %10.1f %8.1f %10.1f %10.1f %8.1f %8.1f %8.3f\n", k->name,
	       share * (double)t.named, share * (double)t.wrong, share * (double)t.far,
	       share * (double)t.far_unwarned, covered, share * (double)t.effects, 100 * t.used,
	       t.ratio / (double)times);
	/* Three standard errors of a share of 5 %: of searches, of confirmed ones. */
	const double slack = 300 * sqrt(0.05 * 0.95 / (double)times);
	const double few = 300 * sqrt(0.05 * 0.95 / fmax(1, (double)t.confirmed));
	failed = share * (double)t.named < k->named - slack ||
		 share * (double)t.wrong > k->wrong + slack ||
		 share * (double)t.far_unwarned > k->far + slack || 100 * t.used > 110 ||
		 covered < 95 - few || share * (double)t.effects < 95 - slack;
	if (failed)
		printf("outside the bounds\n");
	return failed;
}

int main(int argc, char **argv)
{
	const size_t times = argc > 1 && strcmp(argv[1], "--full") == 0 ? 1000 : 100;
	int failed = 0;

	printf("%zu searches; percent of them\n%-24s %8s %10s %8s %10s %10s %8s %8s %8s\n", times,
	       "", "named", "not faster", "far", "no warning", "covered", "effects", "time",
	       "ratio");
	for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
		if (argc < 3 || strstr(scenes[i].name, argv[2]))
			failed |= scene_run(&scenes[i], times);
	return failed;
}
