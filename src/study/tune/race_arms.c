/* race_arms.c - the arms of a race, their expected costs, and their effects in SCREEN.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/tune/race_state.h"
#include <math.h>
#include <string.h>

/* Share of the time of a pass that CONFIRM has at least, and, where trials are long, at most. */
#define CONFIRM_LEAST 0.5
#define CONFIRM_MOST  0.6
#define CONFIRM_PAIRS 8

size_t race_arm_find(const race *r, const uint8_t *value)
{
	for (size_t i = 0; i < r->narms; i++)
		if (memcmp(r->arms[i].value, value, sizeof r->arms[i].value) == 0)
			return i;
	return SIZE_MAX;
}

size_t race_arm_add(race *r, const uint8_t *value)
{
	const size_t found = race_arm_find(r, value);
	race_arm *a = &r->arms[r->narms];

	if (found != SIZE_MAX || r->narms == RACE_ARMS_MAX)
		return found;
	*a = (race_arm){.error = NAN};
	memcpy(a->value, value, sizeof a->value);
	for (size_t d = 0; d < r->c.ndims; d++)
		a->changes += value[d] > 0;
	return r->narms++;
}

size_t race_engine_of(const race *r, size_t arm)
{
	return r->c.engines ? r->arms[arm].value[0] : 0;
}

size_t race_base_of(const race *r, size_t arm)
{
	uint8_t value[RACE_DIMS_MAX] = {0};

	if (r->c.engines)
		value[0] = r->arms[arm].value[0];
	return race_arm_find(r, value);
}

double race_cost_of(const race *r, size_t arm)
{
	const size_t base = race_base_of(r, arm);

	if (r->arms[arm].cost_ns > 0)
		return r->arms[arm].cost_ns;
	return base != SIZE_MAX && r->arms[base].cost_ns > 0 ? r->arms[base].cost_ns
							     : r->arms[0].cost_ns;
}

size_t race_pairs_least(const race *r)
{
	return (size_t)ceil(log2(2 / (1 - r->c.level)) - 1e-9);
}

double race_before(const race *r)
{
	const double pair = 2 * r->arms[0].cost_ns, left = r->c.budget_ns - r->from_ns;
	/* In a later pass CONFIRM has the fewest pairs at least, even if that leaves no time. */
	const double pairs = r->passes > 1 ? pair * (double)race_pairs_least(r)
					   : fmin(CONFIRM_MOST * left, pair * CONFIRM_PAIRS);

	return r->c.budget_ns - fmax(CONFIRM_LEAST * left, pairs);
}
