/* race_pairs.c - pairs of values of which neither may help alone: a random sample of them, each
 * tried once, in the last round of SCREEN.
 *
 * The sample is drawn from all pairs of the fastest engine without regard to what the values do
 * alone (random balance: Satterthwaite, Technometrics 1, 1959): an effect of two values together
 * does not show in those of each. There are at most PAIRS_TRIED pairs, fewer if they cost more than
 * PAIRS_SHARE of the time before CONFIRM. Pairs whose values are both faster alone are left out:
 * RACE combines these in any case.
 *
 * Of one trial each, many pairs seem fast by luck or because one of their values is. So only pairs
 * whose interval excludes the sum of the effects of their values are passed on to RACE.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "study/tune/race_state.h"
#include <math.h>
#include <string.h>

#define PAIRS_TRIED 24
#define PAIRS_SHARE 0.15

/* Returns the dimension in which an arm of SCREEN differs from its engine's default; ndims: none.
 */
static size_t changed_dim(const race *r, size_t arm)
{
	size_t d = r->c.engines ? 1 : 0;

	while (d < r->c.ndims && r->arms[arm].value[d] == 0)
		d++;
	return d;
}

typedef struct arm_pair {
	uint8_t a, b; /* arms of one value each */
} arm_pair;

#define LIST_MAX (RACE_ARMS_MAX * (RACE_ARMS_MAX - 1) / 2)

/* Lists the pairs of values of an engine that RACE does not combine because both are faster. */
static size_t pairs_list(const race *r, size_t engine, arm_pair *list)
{
	double effect[RACE_ARMS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < r->singles; i++) {
		const bool single = race_engine_of(r, i) == engine &&
				    changed_dim(r, i) < r->c.ndims && race_usable(r, i);

		/* Arm number e is the default of engine e. */
		effect[i] = single ? race_screen_effect(r, i, engine) : (double)NAN;
		for (size_t k = 0; k < i; k++)
			if (!isnan(effect[i]) && !isnan(effect[k]) &&
			    changed_dim(r, i) != changed_dim(r, k) &&
			    !(effect[i] < 0 && effect[k] < 0))
				list[n++] = (arm_pair){(uint8_t)i, (uint8_t)k};
	}
	return n;
}

/* Adds the arm that has the values of both. */
static size_t pair_merge(race *r, arm_pair p)
{
	const size_t d = changed_dim(r, p.b);
	uint8_t value[RACE_DIMS_MAX];

	memcpy(value, r->arms[p.a].value, sizeof value);
	value[d] = r->arms[p.b].value[d];
	return race_arm_add(r, value);
}

bool race_pairs_begin(race *r)
{
	const double before = race_before(r);
	const double most = fmin(PAIRS_SHARE * before, before - r->used_ns);
	double sum = r->arms[0].cost_ns;
	arm_pair list[LIST_MAX];
	size_t n = 0;

	if (r->whole[RACE_SCREEN] > 0)
		n = pairs_list(r, race_engine_of(r, race_screen_best(r)), list);
	r->nalive = 1;
	r->alive[0] = 0;
	while (n > 0 && r->npairs < PAIRS_TRIED && r->narms < RACE_ARMS_MAX) {
		const size_t at = rng_below(&r->random, n);
		const arm_pair p = list[at];

		list[at] = list[--n];
		sum += fmax(race_cost_of(r, p.a), race_cost_of(r, p.b));
		if (sum > most)
			break;
		r->alive[r->nalive++] = pair_merge(r, p);
		r->npairs++;
	}
	return r->npairs > 0;
}

/* Returns the effect that an arm has if those of its values alone add up. */
static double added_effects(const race *r, size_t arm)
{
	const size_t base = race_base_of(r, arm);
	double sum = race_screen_effect(r, base, 0);

	for (size_t d = 0; d < r->c.ndims; d++) {
		uint8_t value[RACE_DIMS_MAX];

		memcpy(value, r->arms[base].value, sizeof value);
		if (value[d] == r->arms[arm].value[d])
			continue;
		value[d] = r->arms[arm].value[d];
		sum += race_screen_effect(r, race_arm_find(r, value), base);
	}
	return sum;
}

size_t race_pairs_best(const race *r, size_t *ret)
{
	double effect[RACE_PAIRS_KEPT];
	size_t n = 0;

	for (size_t i = r->singles; i < r->singles + r->npairs; i++) {
		const race_number x = race_paired(r, RACE_SCREEN, RACE_SCREEN, i, 0, 1);
		size_t at = n;

		if (!race_usable(r, i) || !(x.value < 0) || !(x.hi < added_effects(r, i)))
			continue;
		for (; at > 0 && effect[at - 1] > x.value; at--)
			if (at < RACE_PAIRS_KEPT) {
				ret[at] = ret[at - 1];
				effect[at] = effect[at - 1];
			}
		if (at < RACE_PAIRS_KEPT) {
			ret[at] = i;
			effect[at] = x.value;
		}
		n = n < RACE_PAIRS_KEPT ? n + 1 : n;
	}
	return n;
}
