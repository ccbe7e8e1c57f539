/* race_mix.c - combinations of values: random ones for the rounds of SCREEN, and the one that the
 * model expects to be fastest.
 *
 * In each dimension a random combination has the default's value with probability 1/2, else one of
 * the others (random balance: Satterthwaite, Technometrics 1, 1959). So each trial tests all of its
 * values at once (factorial designs: Box, Hunter and Hunter, Statistics for Experimenters, 2nd
 * edition, chapter 5), and what two values do only together shows too. Values that seem much slower
 * are rarer: they may still help with another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "study/tune/race_state.h"
#include <math.h>
#include <string.h>

/* Combinations of a round, at least and at most, and draws for one that the round has not yet. */
#define MIX_LEAST 3
#define MIX_MOST  12
#define MIX_DRAWS 16
/* Arms that are kept for RACE. */
#define MIX_KEPT 64
/* A value that takes this number of times as long alone is taken with a probability that is smaller
 * by this factor. */
#define MIX_SLOW 1.3
#define MIX_RARE 4

/* Returns the arm that has this value alone; 0: it is not usable. */
static size_t mix_single(const race *r, size_t engine, size_t d, size_t v)
{
	const size_t arm = r->single[engine][d][v];

	return arm > 0 && race_usable(r, arm) ? arm : 0;
}

static void mix_draw(race *r, size_t engine, uint8_t *value)
{
	memset(value, 0, RACE_DIMS_MAX);
	if (r->c.engines)
		value[0] = (uint8_t)engine;
	for (size_t d = 0; d < r->c.ndims; d++) {
		uint8_t list[RACE_VALUES_MAX];
		size_t n = 0;

		for (size_t v = 1; v < r->c.nvalues[d]; v++)
			if (mix_single(r, engine, d, v))
				list[n++] = (uint8_t)v;
		if (n == 0 || rng_below(&r->random, 2) == 0)
			continue;
		const uint8_t v = list[rng_below(&r->random, n)];
		const size_t arm = r->single[engine][d][v];
		const double slower = race_predict(r, r->arms[arm].value) -
				      race_predict(r, r->arms[race_base_of(r, arm)].value);

		if (!(slower > log(MIX_SLOW)) || rng_below(&r->random, MIX_RARE) == 0)
			value[d] = v;
	}
}

/* Returns the fastest arm of one value. */
static size_t mix_fastest(const race *r)
{
	double least = 0;
	size_t best = 0;

	for (size_t i = 1; i < r->singles; i++) {
		const double effect = race_predict(r, r->arms[i].value);

		if (race_usable(r, i) && effect < least) {
			least = effect;
			best = i;
		}
	}
	return best;
}

static bool mix_has(const race *r, size_t arm)
{
	for (size_t i = 0; i < r->nalive; i++)
		if (r->alive[i] == arm)
			return true;
	return false;
}

bool race_mix_begin(race *r, double room_ns)
{
	const size_t engine = race_engine_of(r, mix_fastest(r));
	double sum = r->arms[0].cost_ns;

	r->nalive = 1;
	r->alive[0] = 0;
	for (size_t i = 0; i < MIX_MOST; i++) {
		uint8_t value[RACE_DIMS_MAX];
		size_t arm = SIZE_MAX;

		for (size_t k = 0; k < MIX_DRAWS && r->narms + MIX_KEPT < RACE_ARMS_MAX; k++) {
			mix_draw(r, engine, value);
			arm = race_arm_add(r, value);
			if (!mix_has(r, arm) && (r->arms[arm].trials == 0 || race_usable(r, arm)) &&
			    r->arms[arm].end == RACE_OK)
				break;
			arm = SIZE_MAX;
		}
		if (arm == SIZE_MAX || sum + race_cost_of(r, arm) > room_ns)
			break;
		sum += race_cost_of(r, arm);
		r->alive[r->nalive++] = arm;
	}
	return r->nalive > MIX_LEAST;
}

void race_mix_best(const race *r, uint8_t *value)
{
	const size_t engine = r->c.engines ? value[0] : 0;
	bool changed = true;

	for (size_t pass = 0; pass < RACE_DIMS_MAX && changed; pass++) {
		changed = false;
		for (size_t d = r->c.engines ? 1 : 0; d < r->c.ndims; d++) {
			const uint8_t before = value[d];
			uint8_t best = before;
			double least = race_predict(r, value);

			for (size_t v = 0; v < r->c.nvalues[d]; v++) {
				double x;

				if (v > 0 && !mix_single(r, engine, d, v))
					continue;
				value[d] = (uint8_t)v;
				x = race_predict(r, value);
				if (x < least - RACE_ROUNDING) {
					least = x;
					best = (uint8_t)v;
				}
			}
			value[d] = best;
			changed |= best != before;
		}
	}
}
