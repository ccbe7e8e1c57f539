/* price_bounds.c - the least and the most that a run of the model can cost, where the branches of
 * an If and the rounds of a Loop depend on values.
 *
 * Example: an If with 6 FLOPs in one branch and 24 in the other one, in a Loop of at most 10
 * rounds, takes at least 0 and at most 240 FLOPs.
 *
 * Invariants: conditions are taken as independent of each other, so that the limits may be wider
 * than the model needs, but never narrower. An operator whose cost is absent adds 0 to the least
 * and leaves the most absent.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"

typedef struct range {
	num least, most;
} range;

static range bounds_range_add(num_table *t, range a, range b)
{
	return (range){num_add(t, a.least, b.least), num_add(t, a.most, b.most)};
}

/* The range of one number, a count: itself, unless it depends on the data of a run. never_negative:
 * of a formula that a size makes negative, as H-2 for H=1, the least is 0. */
static range bounds_range_of(num_table *t, num n, bool never_negative)
{
	const char *why = num_why_none(n);
	const int64_t least = num_least(t, n);

	if (!why && !(why = num_why_fresh(t, n)))
		return (range){never_negative && least < 0 ? num_int(0) : n, n};
	return (range){num_int(least > 0 ? least : 0), num_none(t, "%s", why)};
}

/* How often the operator c runs in one run of `around`, which encloses it. */
static range rounds_of(num_table *t, const cost_op *c, const cost_op *around, bool never_negative)
{
	range r = bounds_range_of(t, c->rounds, never_negative);

	if (!num_why_none(r.most))
		return r;
	if (num_least(t, around->least_rounds) > r.least.v)
		r.least = around->least_rounds;
	if (!num_is(around->most_rounds, 0) && !num_why_fresh(t, around->most_rounds))
		r.most = around->most_rounds;
	return r;
}

/* The range of what is in a or in b. Formulas of which neither is the larger one for all sizes
 * give no limit. */
static range either(num_table *t, range a, range b)
{
	range r = {num_min(t, a.least, b.least), num_max(t, a.most, b.most)};

	if (!num_same(r.least, a.least) && !num_same(r.least, b.least))
		r.least = num_int(0);
	if (!num_why_none(r.most) && !num_same(r.most, a.most) && !num_same(r.most, b.most))
		r.most = num_none(t, "the sizes decide which branch takes more");
	return r;
}

/* The limits of a sum over all operators of what one execution of each costs. */
static range bounds(infer *in, num (*each)(const cost_op *), bool never_negative)
{
	num_table *t = in->nums;
	/* Of each operator: what one run of it takes inside, in the first branch and elsewhere, in
	 * the second branch. */
	range(*inside)[2] = mem_arena_array(in->arena, in->nops, sizeof *inside);
	range all = {num_int(0), num_int(0)};

	/* Operators inside come after the operator that encloses them. */
	for (size_t i = in->nops; inside && i-- > 0;) {
		const cost_op *c = &in->ops[i];
		const cost_op *around = c->inside < i ? &in->ops[c->inside] : NULL;
		range own = bounds_range_of(t, each(c), never_negative), first = inside[i][0],
		      second = inside[i][1];
		range *to = around ? &inside[c->inside][c->branch == 2] : &all;

		if (c->either)
			first = either(t, first, second);
		own = bounds_range_add(t, own, first);
		if (around && !c->branch) {
			range rounds = rounds_of(t, c, around, never_negative);
			own = (range){num_mul(t, rounds.least, own.least),
				      num_mul(t, rounds.most, own.most)};
		}
		*to = bounds_range_add(t, *to, own);
	}
	return all;
}

static num macs_each(const cost_op *c)
{
	return c->macs_each;
}

static num flops_each(const cost_op *c)
{
	return c->flops_each;
}

/* *sum stays where it is known or a formula of the model's own sizes; it becomes its limits where
 * these are equal. */
static void set_bounds(infer *in, num *sum, num (*each)(const cost_op *), num *least, num *most)
{
	range r = {*sum, *sum};

	if (num_why_none(*sum) || num_why_fresh(in->nums, *sum))
		r = bounds(in, each, false);
	if (!num_why_none(r.most) && num_same(r.least, r.most))
		*sum = r.least;
	else
		r.least = bounds(in, each, true).least;
	*least = r.least;
	*most = r.most;
}

void price_bounds(infer *in)
{
	cost_result *r = in->result;

	set_bounds(in, &r->macs, macs_each, &r->macs_least, &r->macs_most);
	set_bounds(in, &r->flops, flops_each, &r->flops_least, &r->flops_most);
}
