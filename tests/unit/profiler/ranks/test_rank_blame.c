/* test_rank_blame.c - which rank holds the others up, on simulated jobs with fixed seeds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "profiler/ranks/rank_blame.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

int test_rank_blame(void);

enum { RANKS_MAX = 16, STEPS_MAX = 600, COLLECTIVES = 3 };
#define STEP_NS 30e6

typedef struct job {
	size_t ranks, steps;
	double noise_ns;    /* mean of the exponential noise of a rank's work */
	double slow_ns;	    /* planted delay of rank `slow` ... */
	size_t slow, every; /* in one of this number of steps */
	double memory;	    /* share of a rank's noise that stays in its next step */
	double within_ns;   /* uncertainty of the clocks */
	bool early_exit;    /* the straggler leaves each collective late: it does not wait least */
} job;

static double uniform(uint64_t *random)
{
	return (double)((rng_next(random) >> 11) + 1) / 9007199254740993.0;
}

/* A step: work, then COLLECTIVES in a row, in each of which all leave when the last has arrived. */
static size_t job_make(const job *j, uint64_t seed, rank_arrival *a)
{
	double noise[RANKS_MAX] = {0};
	int64_t now = 0;
	size_t n = 0;

	for (size_t s = 0; s < j->steps; s++)
		for (size_t k = 0; k < COLLECTIVES; k++) {
			int64_t at[RANKS_MAX], leave = 0;

			for (size_t r = 0; r < j->ranks; r++) {
				const double fresh = -log(uniform(&seed)) * j->noise_ns;

				noise[r] = j->memory * noise[r] + (1 - j->memory) * fresh;
				at[r] = now + (int64_t)(STEP_NS / COLLECTIVES + noise[r]);
				if (k == 1 && j->slow_ns > 0 && r == j->slow && s % j->every == 0)
					at[r] += (int64_t)j->slow_ns;
				leave = at[r] > leave ? at[r] : leave;
			}
			leave += 200000;
			for (size_t r = 0; r < j->ranks; r++)
				a[n++] = (rank_arrival){
				    .step = (uint32_t)s,
				    .collective = (uint32_t)k,
				    .unit = (uint32_t)r,
				    .at_ns = at[r],
				    .end_ns =
					leave + (j->early_exit && r == j->slow ? 20000000 : 0),
				    .within_ns = j->within_ns};
			now = leave;
		}
	return n;
}

/* The costs of all steps, whose times are STEP_NS; each step is a run. */
static rank_costs costs_of(rank_arrival *a, size_t n, size_t ranks, size_t steps)
{
	rank_costs c;

	assert_int_equal(rank_costs_init(ranks, steps, steps, STEP_NS, &c, NULL), DCK_OK);
	assert_int_equal(rank_costs_add(&c, a, n, NULL), DCK_OK);
	return c;
}

static rank_blame judge(const job *j, uint64_t seed)
{
	rank_arrival *a = malloc(sizeof *a * j->ranks * j->steps * COLLECTIVES);
	rank_blame b;

	assert_non_null(a);
	const size_t n = job_make(j, seed, a);
	rank_costs c = costs_of(a, n, j->ranks, j->steps);
	assert_int_equal(rank_blame_find(&c, 0.01, &b, NULL), DCK_OK);
	rank_costs_done(&c);
	free(a);
	return b;
}

/* Costs are exact where arrivals are given. */
static void costs_of_two_steps(void **state)
{
	/* Step 0: rank 1 is last by 50, and in an overlapping collective by 60 from 110 on: the
	 * union has 70. Step 1: rank 0 is last by 30, in one that two ranks of three take part in;
	 * then a tie within the uncertainty. */
	rank_arrival a[] = {
	    {1, 1, 2, 1004, 1010, 5}, {0, 0, 0, 90, 160, 0},	{0, 0, 1, 150, 160, 0},
	    {0, 0, 2, 100, 160, 0},   {0, 1, 0, 110, 180, 0},	{0, 1, 1, 170, 180, 0},
	    {0, 1, 2, 105, 180, 0},   {1, 0, 0, 530, 540, 0},	{1, 0, 1, 500, 540, 0},
	    {1, 1, 0, 1000, 1010, 5}, {1, 1, 1, 1001, 1010, 5},
	};

	(void)state;
	rank_costs c = costs_of(a, sizeof a / sizeof a[0], 3, 2);
	const double cost[] = {0, 30, 70, 0, 0, 0};
	const double wait[] = {90, 20, 20, 49, 80, 6};
	const double cost_sum[] = {30, 70, 0}, wait_sum[] = {110, 69, 86}, step_wait[] = {190, 75};
	assert_memory_equal(c.run_cost, cost, sizeof cost);
	assert_memory_equal(c.run_wait, wait, sizeof wait);
	assert_memory_equal(c.block_cost, cost, sizeof cost);
	assert_memory_equal(c.cost, cost_sum, sizeof cost_sum);
	assert_memory_equal(c.wait, wait_sum, sizeof wait_sum);
	assert_memory_equal(c.step_wait, step_wait, sizeof step_wait);
	assert_int_equal(c.last[0], 1);
	assert_int_equal(c.last[1], 2);
	assert_int_equal(c.last[2], 0);
	assert_int_equal(c.collectives, 4);
	assert_int_equal(c.undecided, 1);
	assert_true(fabs(c.skew_ns - (60 + 65 + 30 + 4)) < 1e-9);
	rank_costs_done(&c);
}

/* Both others have left long before the last rank arrives; one of them has; the root waits for it.
 */
static void who_has_left_does_not_wait(void **state)
{
	rank_arrival a[] = {
	    {0, 0, 0, 0, 2, 0},	      {0, 0, 1, 1, 3, 0},	{0, 0, 2, 90, 90, 0},
	    {1, 0, 0, 1000, 1002, 0}, {1, 0, 1, 1001, 1020, 0}, {1, 0, 2, 1090, 1090, 0},
	    {2, 0, 0, 2000, 2040, 0}, {2, 0, 1, 2005, 2006, 0}, {2, 0, 2, 2035, 2040, 0},
	};
	rank_costs c;

	(void)state;
	assert_int_equal(rank_costs_init(3, 3, 3, STEP_NS, &c, NULL), DCK_OK);
	assert_int_equal(rank_costs_add(&c, a, sizeof a / sizeof a[0], NULL), DCK_OK);
	const double cost[] = {0, 0, 0, 0, 0, 0, 2, 19, 30};
	assert_memory_equal(c.run_cost, cost, sizeof cost);
	rank_costs_done(&c);
}

/* In each step rank 1 leaves the first collective 40 later than the others, which a slow link of
 * rank 2 does, and arrives at the second one 30 later for it, or 45, of which 5 are its own. In
 * step 2 it is late at the first, in which nobody waits for it, and so at the second: that is its
 * own. */
static void who_is_held_is_not_slow(void **state)
{
	rank_arrival a[] = {
	    {0, 0, 0, 0, 60, 0},    {0, 0, 1, 0, 100, 0},   {0, 0, 2, 2, 60, 0},
	    {0, 1, 0, 170, 210, 0}, {0, 1, 1, 200, 210, 0}, {0, 1, 2, 170, 210, 0},
	    {1, 0, 0, 300, 360, 0}, {1, 0, 1, 300, 400, 0}, {1, 0, 2, 302, 360, 0},
	    {1, 1, 0, 470, 520, 0}, {1, 1, 1, 515, 520, 0}, {1, 1, 2, 470, 520, 0},
	    {2, 0, 0, 600, 602, 0}, {2, 0, 1, 640, 641, 0}, {2, 0, 2, 601, 603, 0},
	    {2, 1, 0, 610, 660, 0}, {2, 1, 1, 650, 660, 0}, {2, 1, 2, 610, 660, 0},
	};
	rank_costs c;

	(void)state;
	const double cost[] = {0, 5, 41};
	for (size_t each = 6; each <= 18; each += 12) { /* step by step, and at once */
		assert_int_equal(rank_costs_init(3, 3, 3, STEP_NS, &c, NULL), DCK_OK);
		for (size_t i = 0; i < 18; i += each)
			assert_int_equal(rank_costs_add(&c, a + i, each, NULL), DCK_OK);
		assert_memory_equal(c.run_cost + 3, cost, sizeof cost);
		rank_costs_done(&c);
	}
}

static void a_straggler_is_named(void **state)
{
	static const job jobs[] = {
	    {.ranks = 2, .steps = 40, .noise_ns = 1e6, .slow_ns = 10e6, .slow = 1, .every = 1},
	    {.ranks = 4, .steps = 60, .noise_ns = 1e6, .slow_ns = 5e6, .slow = 2, .every = 1},
	    {.ranks = 16, .steps = 40, .noise_ns = 2e6, .slow_ns = 20e6, .slow = 0, .every = 1},
	    /* One slow step of fifty. */
	    {.ranks = 4, .steps = 600, .noise_ns = 2e5, .slow_ns = 100e6, .slow = 3, .every = 50},
	};

	(void)state;
	for (size_t k = 0; k < sizeof jobs / sizeof jobs[0]; k++)
		for (uint64_t seed = 1; seed <= 10; seed++) {
			const job *j = &jobs[k];
			const rank_blame b = judge(j, seed);
			const double planted = j->slow_ns / (double)j->every;

			assert_int_equal(b.verdict, BLAME_ONE);
			assert_int_equal(b.unit, j->slow);
			assert_true(b.p <= 0.01);
			assert_true(b.lo_ns <= b.cost_ns && b.cost_ns <= b.hi_ns);
			/* The noise of others takes some of it, and its own adds some. */
			assert_true(fabs(b.cost_ns - planted) < 3 * COLLECTIVES * j->noise_ns);
			assert_true(b.steps * 10 >= j->steps / j->every * 9);
		}
}

/* Of 200 healthy jobs at most 1 % accuse a rank, also when disturbances last for some steps. */
static void a_healthy_job_accuses_nobody(void **state)
{
	static const job jobs[] = {
	    {.ranks = 2, .steps = 50, .noise_ns = 3e6},
	    {.ranks = 4, .steps = 100, .noise_ns = 3e6},
	    {.ranks = 8, .steps = 200, .noise_ns = 3e6, .memory = 0.7},
	    {.ranks = 16, .steps = 20, .noise_ns = 3e6},
	};
	unsigned accused = 0;

	(void)state;
	for (size_t k = 0; k < sizeof jobs / sizeof jobs[0]; k++)
		for (uint64_t seed = 1; seed <= 50; seed++) {
			const rank_blame b = judge(&jobs[k], seed * 7919);

			assert_true(b.verdict == BLAME_NOBODY || b.verdict == BLAME_ONE ||
				    b.verdict == BLAME_UNSURE);
			accused += b.verdict == BLAME_ONE;
		}
	assert_true(accused <= 2);
}

static void what_is_not_claimed(void **state)
{
	const job planted = {
	    .ranks = 4, .steps = 60, .noise_ns = 1e6, .slow_ns = 5e6, .slow = 2, .every = 1};
	job few = planted, vague = planted, small = planted, late = planted;

	(void)state;
	few.steps = BLAME_BLOCKS_MIN - 1;
	assert_int_equal(judge(&few, 1).verdict, BLAME_FEW);
	assert_true(isnan(judge(&few, 1).p));
	/* Clocks that are worse than the delay. */
	vague.within_ns = 20e6;
	assert_int_equal(judge(&vague, 1).verdict, BLAME_NOBODY);
	assert_true(judge(&vague, 1).cost_ns == 0);
	/* Certain, but below 1 % of a step. */
	small.slow_ns = 2e5;
	small.noise_ns = 1e3;
	assert_true(judge(&small, 1).p <= 0.01);
	assert_int_equal(judge(&small, 1).verdict, BLAME_NOBODY);
	/* The rank that arrives last stays longest too: its clock may be wrong. */
	late.early_exit = true;
	assert_int_equal(judge(&late, 1).verdict, BLAME_UNSURE);
}

/* Runs that do not divide the steps: 10 of 25 steps, number k from k * 25 / 10 on. */
static void runs_of_steps(void **state)
{
	enum { ALL = 25, RUNS = 10 };
	rank_arrival a[2 * ALL];
	rank_costs c;

	(void)state;
	for (uint32_t s = 0; s < ALL; s++)
		for (uint32_t r = 0; r < 2; r++)
			a[2 * s + r] = (rank_arrival){s, 0, r, r ? s + 1 : 0, s + 1, 0};
	assert_int_equal(rank_costs_init(2, ALL, RUNS, ALL * 60, &c, NULL), DCK_OK);
	assert_int_equal(rank_costs_add(&c, a, 14, NULL), DCK_OK);
	assert_int_equal(rank_costs_add(&c, a + 14, 2 * ALL - 14, NULL), DCK_OK);
	for (size_t k = 0; k < RUNS; k++) {
		double sum = 0;

		for (size_t s = k * ALL / RUNS; s < (k + 1) * ALL / RUNS; s++)
			sum += (double)s + 1;
		assert_true(c.run_cost[RUNS + k] == sum && c.run_wait[k] == sum);
	}
	assert_true(c.cost[0] == 0 && c.cost[1] == ALL * (ALL + 1) / 2.0);
	assert_int_equal(c.costly_steps[1], ALL - 15); /* above 1 % of 1500 */
	rank_costs_done(&c);
}

static void nothing_is_nothing(void **state)
{
	rank_costs c = costs_of(NULL, 0, 1, 0);
	rank_blame b;

	(void)state;
	assert_int_equal(rank_blame_find(&c, 0.01, &b, NULL), DCK_OK);
	assert_int_equal(b.verdict, BLAME_FEW);
	rank_costs_done(&c);
}

int test_rank_blame(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(costs_of_two_steps),
	    cmocka_unit_test(who_has_left_does_not_wait),
	    cmocka_unit_test(who_is_held_is_not_slow),
	    cmocka_unit_test(a_straggler_is_named),
	    cmocka_unit_test(a_healthy_job_accuses_nobody),
	    cmocka_unit_test(what_is_not_claimed),
	    cmocka_unit_test(runs_of_steps),
	    cmocka_unit_test(nothing_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
