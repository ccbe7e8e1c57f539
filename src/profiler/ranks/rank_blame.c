/* rank_blame.c - costs of ranks by their arrivals at collectives, and the permutation test of the
 * greatest one; rank_blame.h has the method and its sources.
 *
 * Arrivals are sorted by step and collective, so a collective is a run of them, and the intervals
 * in which one unit was waited for alone are collected step by step; the union of each unit's
 * intervals is its cost. The union of the intervals in which a unit was inside a collective is its
 * waiting time. Both are added to the sums of their block and run of steps when the step is
 * complete, so that memory does not depend on the number of steps. The test draws its permutations
 * from one seed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_blame.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "stat/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The permutations: fewer for very many ranks. */
enum { DRAWS_MAX = 9999, DRAWS_MIN = 999 };
#define DRAWS_WORK 200000000.0
#define DRAWS_SEED 1

typedef struct blame_interval {
	uint32_t unit;
	int64_t from_ns, to_ns;
} blame_interval;

static int arrival_compare(const void *a, const void *b)
{
	const rank_arrival *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->collective != y->collective)
		return x->collective < y->collective ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

static int interval_compare(const void *a, const void *b)
{
	const blame_interval *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Adds the length of the union of each unit's intervals to sum[unit]. */
static void unions_add(blame_interval *v, size_t n, double *sum)
{
	int64_t until = 0;

	qsort(v, n, sizeof *v, interval_compare);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || v[i].unit != v[i - 1].unit || v[i].from_ns > until)
			until = v[i].from_ns;
		if (v[i].to_ns > until) {
			sum[v[i].unit] += (double)(v[i].to_ns - until);
			until = v[i].to_ns;
		}
	}
}

/* When a unit was in a collective, and for how long it stayed after the last arrival there. */
typedef struct blame_exit {
	blame_interval inside; /* first: interval_compare() */
	int64_t held_ns;
	size_t arrival;
} blame_exit;

/* Writes into held[i] for how long the unit of a[i] stayed in its collective before that one, after
 * all had arrived there: 0 if it is still in it. Keeps the last collective of each unit for the
 * arrivals that are added next. v[n] is scratch. */
static void held_find(rank_costs *c, const rank_arrival *a, size_t n, blame_exit *v, int64_t *held)
{
	size_t k;

	for (size_t i = 0; i < n; i = k) {
		int64_t last = a[i].at_ns;

		for (k = i; k < n && a[k].step == a[i].step && a[k].collective == a[i].collective;
		     k++)
			last = a[k].at_ns > last ? a[k].at_ns : last;
		for (size_t m = i; m < k; m++)
			v[m] = (blame_exit){{a[m].unit, a[m].at_ns, a[m].end_ns},
					    a[m].end_ns > last ? a[m].end_ns - last : 0,
					    m};
	}
	qsort(v, n, sizeof *v, interval_compare);
	for (size_t i = 0; i < n; i++) {
		const blame_interval *in = &v[i].inside;
		int64_t *before = &c->left_ns[in->unit], *stayed = &c->held_ns[in->unit];

		if (*before <= in->from_ns)
			held[v[i].arrival] = *stayed;
		*before = in->to_ns;
		*stayed = v[i].held_ns;
	}
}

/* a[0..n) is sorted by step and collective. NULL: no memory. */
static int64_t *held_new(rank_costs *c, const rank_arrival *a, size_t n)
{
	blame_exit *v = mem_alloc((n + 1) * sizeof *v);
	int64_t *held = v ? mem_zalloc(n + 1, sizeof *held) : NULL;

	if (held && n > 0)
		held_find(c, a, n, v, held);
	mem_free(v);
	return held;
}

/* Judges the n arrivals at one collective: writes the interval in which all waited for one unit;
 * false: there is none. It ends with the arrival of this unit, or earlier, when the last of the
 * others has left: in a broadcast a rank need not wait for those after it. It begins later by the
 * time for which the collective before held this unit longer than the last but one: a slow network
 * does so to a rank that is not slow. */
static bool collective_judge(const rank_arrival *a, const int64_t *held, size_t n, rank_costs *c,
			     blame_interval *ret)
{
	size_t last = 0, second = 1;
	int64_t first = a[0].at_ns, left = INT64_MIN;

	if (n < 2)
		return false;
	for (size_t i = 1; i < n; i++) {
		first = a[i].at_ns < first ? a[i].at_ns : first;
		if (a[i].at_ns > a[last].at_ns) {
			second = last;
			last = i;
		} else if (second == last || i == 1 || a[i].at_ns > a[second].at_ns) {
			second = i;
		}
	}
	c->collectives++;
	c->skew_ns += (double)(a[last].at_ns - first);
	if (!((double)(a[last].at_ns - a[second].at_ns) >
	      a[last].within_ns + a[second].within_ns)) {
		c->undecided++;
		return false;
	}
	c->last[a[last].unit]++;
	for (size_t i = 0; i < n; i++)
		if (i != last && a[i].end_ns > left)
			left = a[i].end_ns;
	const int64_t longer = held[last] > held[second] ? held[last] - held[second] : 0;
	const int64_t alone = a[last].at_ns - a[second].at_ns;
	*ret = (blame_interval){a[last].unit, a[second].at_ns + (longer < alone ? longer : alone),
				left < a[last].at_ns ? left : a[last].at_ns};
	return true;
}

/* Adds the cost and the wait of each unit in a step to its sums. */
static void step_sum(rank_costs *c, size_t step)
{
	const size_t block = step * c->blocks / c->steps;
	const size_t run = c->runs ? ((step + 1) * c->runs - 1) / c->steps : 0;
	const double *cost = c->now, *wait = c->now + c->units;

	for (size_t u = 0; u < c->units; u++) {
		c->cost[u] += cost[u];
		c->wait[u] += wait[u];
		c->block_cost[u * c->blocks + block] += cost[u];
		c->step_wait[step] += wait[u];
		c->costly_steps[u] += cost[u] > BLAME_SHARE_LEAST * c->step_ns;
		if (c->runs == 0)
			continue;
		c->run_cost[u * c->runs + run] += cost[u];
		c->run_wait[u * c->runs + run] += wait[u];
	}
}

/* Adds the arrivals of one step. */
static void step_add(const rank_arrival *a, const int64_t *held, size_t n, blame_interval *v,
		     rank_costs *c)
{
	size_t alone = 0, k;

	for (size_t i = 0; i < n; i = k) {
		for (k = i + 1; k < n && a[k].collective == a[i].collective;)
			k++;
		alone += collective_judge(a + i, held + i, k - i, c, &v[alone]);
	}
	memset(c->now, 0, 2 * c->units * sizeof *c->now);
	unions_add(v, alone, c->now);
	for (size_t i = 0; i < n; i++)
		v[i] = (blame_interval){a[i].unit, a[i].at_ns, a[i].end_ns};
	unions_add(v, n, c->now + c->units);
	step_sum(c, a->step);
}

dck_status rank_costs_init(size_t units, size_t steps, size_t runs, double step_ns, rank_costs *ret,
			   dck_err *err)
{
	const size_t blocks = steps < BLAME_BLOCKS_MAX ? steps : BLAME_BLOCKS_MAX;
	double *sums = mem_zalloc(units * (4 + blocks + 2 * runs) + steps + 1, sizeof *sums);
	uint64_t *counts = mem_zalloc(2 * units + 1, sizeof *counts);
	int64_t *exits = mem_zalloc(2 * units + 1, sizeof *exits);

	if (!sums || !counts || !exits) {
		mem_free(sums);
		mem_free(counts);
		mem_free(exits);
		return ERR_NO_MEMORY(err, "for the costs of %zu ranks", units);
	}
	*ret = (rank_costs){.units = units,
			    .steps = steps,
			    .blocks = blocks,
			    .runs = runs,
			    .step_ns = step_ns,
			    .cost = sums,
			    .last = counts,
			    .left_ns = exits,
			    .held_ns = exits + units};
	ret->wait = ret->cost + units;
	ret->now = ret->wait + units;
	ret->block_cost = ret->now + 2 * units;
	ret->run_cost = ret->block_cost + units * blocks;
	ret->run_wait = ret->run_cost + units * runs;
	ret->step_wait = ret->run_wait + units * runs;
	ret->costly_steps = counts + units;
	for (size_t u = 0; u < units; u++)
		ret->left_ns[u] = INT64_MAX; /* no collective yet */
	return DCK_OK;
}

dck_status rank_costs_add(rank_costs *c, rank_arrival *a, size_t n, dck_err *err)
{
	size_t most = 0, k;

	if (n > 0)
		qsort(a, n, sizeof *a, arrival_compare);
	for (size_t i = 0; i < n; i = k) {
		for (k = i + 1; k < n && a[k].step == a[i].step;)
			k++;
		most = k - i > most ? k - i : most;
	}
	blame_interval *v = mem_alloc((most + 1) * sizeof *v);
	int64_t *held = held_new(c, a, n);
	if (!v || !held) {
		mem_free(v);
		mem_free(held);
		return ERR_NO_MEMORY(err, "for the costs of %zu ranks", c->units);
	}
	for (size_t i = 0; i < n; i = k) {
		for (k = i + 1; k < n && a[k].step == a[i].step;)
			k++;
		step_add(a + i, held + i, k - i, v, c);
	}
	mem_free(v);
	mem_free(held);
	return DCK_OK;
}

void rank_costs_done(rank_costs *c)
{
	mem_free(c->cost);
	mem_free(c->last);
	mem_free(c->left_ns);
	*c = (rank_costs){0};
}

/* Returns the unit with the greatest sum (most), or the least one. */
static size_t unit_extreme(const double *x, size_t units, bool most)
{
	size_t at = 0;

	for (size_t i = 1; i < units; i++)
		if (most ? x[i] > x[at] : x[i] < x[at])
			at = i;
	return at;
}

/* Returns the share of permutations whose greatest total is at least `observed`. work: 2 * units.
 */
static double permutation_p(const double *block, size_t units, size_t blocks, double observed,
			    double *work)
{
	const double most = DRAWS_WORK / ((double)units * (double)blocks);
	const size_t draws = most > DRAWS_MAX	? DRAWS_MAX
			     : most < DRAWS_MIN ? DRAWS_MIN
						: (size_t)most;
	double *total = work, *one = work + units;
	uint64_t random = DRAWS_SEED;
	size_t above = 1;

	for (size_t d = 0; d < draws; d++) {
		double greatest = 0;

		memset(total, 0, units * sizeof *total);
		for (size_t b = 0; b < blocks; b++) {
			for (size_t u = 0; u < units; u++)
				one[u] = block[u * blocks + b];
			for (size_t u = units; u-- > 0;) {
				const size_t k = rng_below(&random, u + 1);

				total[u] += one[k];
				one[k] = one[u];
			}
		}
		for (size_t u = 0; u < units; u++)
			greatest = fmax(greatest, total[u]);
		/* Sums in another order differ by rounding. */
		above += greatest >= observed * (1 - 1e-12);
	}
	return (double)above / (double)(draws + 1);
}

/* The interval of the mean cost, from the blocks of the unit. */
static void cost_interval(const double *block, size_t blocks, size_t steps, rank_blame *ret)
{
	double mean[BLAME_BLOCKS_MAX];
	size_t length[BLAME_BLOCKS_MAX] = {0};
	stat_estimate e;

	for (size_t s = 0; s < steps; s++)
		length[s * blocks / steps]++;
	for (size_t b = 0; b < blocks; b++)
		mean[b] = block[b] / (double)length[b];
	stat_processes(mean, blocks, 0.95, &e);
	const double half = e.has_interval ? e.hi - e.value : NAN;
	ret->lo_ns = e.has_interval ? fmax(ret->cost_ns - half, 0) : NAN;
	ret->hi_ns = ret->cost_ns + half;
}

dck_status rank_blame_find(const rank_costs *c, double alpha, rank_blame *ret, dck_err *err)
{
	const size_t unit = c->units ? unit_extreme(c->cost, c->units, true) : 0;
	double *work;

	*ret = (rank_blame){.verdict = BLAME_FEW,
			    .unit = unit,
			    .blocks = c->blocks,
			    .p = NAN,
			    .lo_ns = NAN,
			    .hi_ns = NAN};
	if (c->units < 2 || c->blocks == 0)
		return DCK_OK;
	ret->cost_ns = c->cost[unit] / (double)c->steps;
	ret->steps = (size_t)c->costly_steps[unit];
	if (c->blocks < BLAME_BLOCKS_MIN)
		return DCK_OK;
	work = mem_alloc(2 * c->units * sizeof *work);
	DCK_NEED(work, err, "for the blocks of %zu ranks", c->units);
	cost_interval(c->block_cost + unit * c->blocks, c->blocks, c->steps, ret);
	ret->p = permutation_p(c->block_cost, c->units, c->blocks, ret->cost_ns * (double)c->steps,
			       work);
	mem_free(work);
	if (!(ret->p <= alpha) || !(ret->lo_ns >= BLAME_SHARE_LEAST * c->step_ns))
		ret->verdict = BLAME_NOBODY;
	else
		ret->verdict =
		    unit_extreme(c->wait, c->units, false) == unit ? BLAME_ONE : BLAME_UNSURE;
	return DCK_OK;
}
