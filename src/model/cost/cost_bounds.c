/* cost_bounds.c - the least and the most that a run of the model can cost, where the branches of
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
	sym_int least, most;
} range;

static range bounds_range_add(sym_table *t, range a, range b)
{
	return (range){sym_add(t, a.least, b.least), sym_add(t, a.most, b.most)};
}

/* The range of one number, a count: itself, unless it depends on the data of a run. never_negative:
 * of a formula that a size makes negative, as H-2 for H=1, the least is 0. */
static range bounds_range_of(sym_table *t, sym_int n, bool never_negative)
{
	const char *why = sym_unknown_reason(n);
	const int64_t least = sym_lower_bound(t, n);

	if (!why && !(why = sym_why_fresh(t, n)))
		return (range){never_negative && least < 0 ? sym_const(0) : n, n};
	return (range){sym_const(least > 0 ? least : 0), sym_unknown(t, "%s", why)};
}

/* How often the operator c runs in one run of `around`, which encloses it. */
static range rounds_of(sym_table *t, const cost_op *c, const cost_op *around, bool never_negative)
{
	range r = bounds_range_of(t, c->rounds, never_negative);

	if (!sym_unknown_reason(r.most))
		return r;
	if (sym_lower_bound(t, around->least_rounds) > r.least.v)
		r.least = around->least_rounds;
	if (!sym_is(around->most_rounds, 0) && !sym_why_fresh(t, around->most_rounds))
		r.most = around->most_rounds;
	return r;
}

/* Returns the union of the ranges a and b. Two formulas of which neither is the larger for all
 * sizes give no limit. */
static range either(sym_table *t, range a, range b)
{
	range r = {sym_min(t, a.least, b.least), sym_max(t, a.most, b.most)};

	if (!sym_same(r.least, a.least) && !sym_same(r.least, b.least))
		r.least = sym_const(0);
	if (!sym_unknown_reason(r.most) && !sym_same(r.most, a.most) && !sym_same(r.most, b.most))
		r.most = sym_unknown(t, "the sizes decide which branch takes more");
	return r;
}

/* Computes the limits of the sum, over all operators, of the cost of one execution. */
static range bounds(infer *in, sym_int (*each)(const cost_op *), bool never_negative)
{
	sym_table *t = in->nums;
	/* Of each operator: cost of the operators inside it in one run, in the first branch and
	 * elsewhere, and in the second branch. */
	range(*inside)[2] = mem_arena_array(in->arena, in->nops, sizeof *inside);
	range all = {sym_const(0), sym_const(0)};

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
			own = (range){sym_mul(t, rounds.least, own.least),
				      sym_mul(t, rounds.most, own.most)};
		}
		*to = bounds_range_add(t, *to, own);
	}
	return all;
}

static sym_int macs_each(const cost_op *c)
{
	return c->macs_each;
}

static sym_int flops_each(const cost_op *c)
{
	return c->flops_each;
}

/* *sum stays where it is known or a formula of the model's own sizes; it becomes its limits where
 * these are equal. */
static void set_bounds(infer *in, sym_int *sum, sym_int (*each)(const cost_op *), sym_int *least,
		       sym_int *most)
{
	range r = {*sum, *sum};

	if (sym_unknown_reason(*sum) || sym_why_fresh(in->nums, *sum))
		r = bounds(in, each, false);
	if (!sym_unknown_reason(r.most) && sym_same(r.least, r.most))
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
