/* batch_rules_shape.c - batching rules of operators that move values, and take sizes as inputs:
 * Transpose, Reshape, Concat, Slice, Gather, Expand, Pad, Resize.
 *
 * Reshape is the hard case. In memory the items are `pre` groups of N items of `post` elements, and
 * every axis of the new shape that such groups fit into exactly may hold them (ways_of(), by exact
 * division). Usually there is one; where sizes of 1 leave several, awkward() ranks them, and
 * batch_rule_choose() takes the best that no refusal has excluded. Equal reshapes have equal
 * hashes, so that equal ones get the same decision. Sizes that the file states for the old number
 * of items become an edit; sizes that the model computes from the input's shape adapt without one
 * (reshape_open()).
 *
 * Slice, Pad, Tile, Resize and Gather must leave the items' axis whole; an end, a size or an index
 * that was written for one item is edited where that is exact. Everything else is refused with a
 * reason.
 *
 * f->count is the symbol for the number of items, f->was the number that the model was exported
 * for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/batch_rules.h"
#include "base/hash.h"
#include "model/cost/slice_cut.h"

#include <string.h>

/* Whether only the first input holds items, and its rank is known. False after a refusal. */
static bool parameters(batch_propagation *f, op *o)
{
	return batch_rule_shaped(f, o, 0) && batch_rule_only(f, o, 0);
}

void batch_rule_shape(batch_propagation *f, op *o)
{
	(void)o;
	batch_rule_all(f, (items){.kind = BATCH_SIZES, .choice = batch_rule_in(o, 0)->choice});
}

void batch_rule_transpose(batch_propagation *f, op *o)
{
	items s = *batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	size_t n = 0;
	const int64_t *perm = op_attr_ints(o, "perm", &n);

	if (!v)
		return;
	if (!perm) {
		s.axis = v->rank - 1 - s.axis;
		batch_rule_all(f, s);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (perm[i] == s.axis || perm[i] == s.axis - v->rank) {
			s.axis = (int)i;
			batch_rule_all(f, s);
			return;
		}
	batch_rule_refuse(f, &s, "its permutation is not valid");
}

/* --- Reshape: groups of items stay whole wherever the axes are cut --- */

typedef struct axis_way {
	int axis;
	sym_int pre, post;
} axis_way;

/* Finds the axes among these sizes, which are for the old number of items, that can hold the items.
 * Returns how many. */
static int ways_of(batch_propagation *f, sym_int outer, const sym_int *dims, int rank,
		   axis_way *ret)
{
	sym_int before = sym_const(1), pre, post;
	int n = 0;

	for (int k = 0; k < rank; k++) {
		bool fits = sym_div_exact(f->nums, outer, before, &pre) &&
			    sym_div_exact(f->nums, dims[k],
					  sym_mul(f->nums, pre, sym_const(f->was)), &post);
		if (fits && !sym_is(pre, 0) && !sym_is(post, 0))
			ret[n++] = (axis_way){k, pre, post};
		before = sym_mul(f->nums, before, dims[k]);
	}
	return n;
}

/* Returns how unlikely a way is: the ways with fewer points are tried first. Most likely the items
 * get a separate axis, at the position where they were. Next comes an axis of a new size, because
 * an axis whose size existed before is probably one that stayed. The last axis usually holds
 * features. */
static int awkward(const val *v, const items *s, const sym_int *dims, int rank, const axis_way *w)
{
	int points = w->axis == s->axis ? 0 : 1;

	if (sym_is(w->pre, 1) && sym_is(w->post, 1))
		return points;
	points += 4;
	if (w->axis == s->axis && sym_same(w->pre, s->pre) && sym_same(w->post, s->post))
		return points;
	for (int i = 0; i < v->rank; i++)
		if (i != s->axis && sym_same(v->dims[i], dims[w->axis])) {
			points += 8;
			break;
		}
	if (w->axis == rank - 1)
		points += 4;
	return points + (sym_is(w->pre, 1) ? 0 : 2) + (sym_is(w->post, 1) ? 0 : 1);
}

static void ways_sort(const val *v, const items *s, const sym_int *dims, int rank, axis_way *w,
		      int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && awkward(v, s, dims, rank, &w[k]) <
					     awkward(v, s, dims, rank, &w[k - 1]);
		     k--) {
			axis_way t = w[k];
			w[k] = w[k - 1];
			w[k - 1] = t;
		}
}

/* Returns the number of groups of items in memory: `pre` times the sizes of the axes before
 * theirs. */
static sym_int outer_of(batch_propagation *f, const val *v, const items *s)
{
	sym_int outer = s->pre;

	for (int i = 0; i < s->axis; i++)
		outer = sym_mul(f->nums, outer, v->dims[i]);
	return outer;
}

/* Computes the sizes that Reshape makes with the old number of items: 0 copies a size of the input,
 * -1 is the quotient of all elements and the other sizes. False: they do not fit. */
static bool sizes_were(batch_propagation *f, const val *v, const items *s, const sym_int *asked,
		       int n, bool zero, sym_int *ret)
{
	sym_int all = sym_const(1), rest = sym_const(1);
	int hole = -1;

	for (int i = 0; i < v->rank; i++)
		all = sym_mul(f->nums, all, batch_rule_was(f, v, s, i));
	for (int i = 0; i < n; i++) {
		ret[i] = asked[i];
		if (sym_is(asked[i], 0) && !zero) {
			if (i >= v->rank)
				return false;
			ret[i] = batch_rule_was(f, v, s, i);
		}
		if (sym_is(asked[i], -1))
			hole = i;
		else
			rest = sym_mul(f->nums, rest, ret[i]);
	}
	if (hole >= 0 ? !sym_div_exact(f->nums, all, rest, &ret[hole])
		      : sym_known(all) && sym_known(rest) && all.v != rest.v)
		return false;
	for (int i = 0; i < n; i++)
		if (sym_known(ret[i]) && ret[i].v < 0)
			return false;
	return true;
}

/* The rule of a Reshape whose sizes are computed from the input's, so that they follow the number
 * of items without a rewrite. */
static void reshape_open(batch_propagation *f, const val *v, const items *s, const sym_int *asked,
			 int n)
{
	sym_int outer = outer_of(f, v, s), before = sym_const(1), pre, post, each;

	for (int k = 0; k < n; k++) {
		if (batch_rule_apart(f, asked[k]) && !sym_is(asked[k], -1)) {
			sym_int size = sym_is(asked[k], 0) && k < v->rank ? v->dims[k] : asked[k];
			if (batch_rule_apart(f, size)) {
				before = sym_mul(f->nums, before, size);
				continue;
			}
		}
		/* This is the batch axis, or the axis with the remaining elements. */
		if (!sym_div_exact(f->nums, outer, before, &pre))
			break;
		sym_int whole = sym_const(1), by = sym_const(1);
		bool apart = true;
		for (int i = 0; i < v->rank; i++)
			whole =
			    sym_mul(f->nums, whole,
				    i == s->axis ? sym_mul(f->nums, s->pre, s->post) : v->dims[i]);
		for (int i = 0; i < n; i++) {
			bool copies = sym_is(asked[i], 0) && i < v->rank;
			by = i == k ? by : sym_mul(f->nums, by, copies ? v->dims[i] : asked[i]);
			apart &= i == k || batch_rule_apart(f, asked[i]);
		}
		bool stated = !sym_is(asked[k], -1);
		if ((stated || apart) &&
		    sym_div_exact(f->nums, stated ? asked[k] : whole, stated ? f->count : by,
				  &each) &&
		    sym_div_exact(f->nums, each, pre, &post)) {
			batch_rule_all(f, (items){BATCHED, k, pre, post, s->choice});
			return;
		}
		break;
	}
	batch_rule_refuse(f, s, "its sizes join the items with other axes");
}

void batch_rule_reshape(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	size_t n = 0;
	const sym_int *asked = op_list(o, "shape", 1, &n);
	bool zero = op_attr_int(o, "allowzero", 0) != 0, open = false, edited = false;
	sym_int dims[COST_RANK_MAX], target[COST_RANK_MAX];
	axis_way ways[COST_RANK_MAX];
	uint64_t what = 5;
	int choice;

	if (!v || !parameters(f, o))
		return;
	if (!asked || n > COST_RANK_MAX) {
		batch_rule_refuse(f, s, "its sizes depend on values");
		return;
	}
	for (size_t i = 0; i < n; i++)
		open |= !batch_rule_apart(f, asked[i]);
	int rank = (int)n;
	if (open) {
		reshape_open(f, v, s, asked, rank);
		return;
	}
	if (!sizes_were(f, v, s, asked, rank, zero, dims)) {
		batch_rule_refuse(f, s, "its sizes do not fit its input");
		return;
	}
	int nways = ways_of(f, outer_of(f, v, s), dims, rank, ways);
	if (!nways) {
		batch_rule_refuse(f, s, "its sizes join the items with other axes, or cut them");
		return;
	}
	ways_sort(v, s, dims, rank, ways, nways);
	for (int i = 0; i < rank; i++)
		what = hash_number(what, sym_hash(dims[i]));
	for (int i = 0; i < v->rank; i++)
		what = hash_number(what, sym_hash(v->dims[i]));
	const axis_way *w = &ways[batch_rule_choose(
	    f, s, hash_number(what, sym_hash(sym_const(s->axis))), nways, &choice)];
	for (int i = 0; i < rank; i++) {
		bool copies = sym_is(asked[i], 0) && !zero;
		target[i] = asked[i];
		if (i == w->axis && !sym_is(asked[i], -1) && !(copies && i == s->axis))
			target[i] = sym_mul(f->nums, sym_mul(f->nums, w->pre, f->count), w->post);
		else if (i != w->axis && copies && i == s->axis)
			target[i] = dims[i];
		edited |= !sym_same(target[i], asked[i]);
	}
	if (edited && !op_has(o, 1)) {
		batch_rule_refuse(f, s, "its sizes are an attribute, as before operator set 5");
		return;
	}
	if (edited && !batch_rule_sizes(f, o, 1, target, n))
		return;
	batch_rule_all(f, (items){BATCHED, w->axis, w->pre, w->post, choice});
}

void batch_rule_flatten(batch_propagation *f, op *o)
{
	items s = *batch_rule_in(o, 0), t = {BATCHED, 0, s.pre, s.post, s.choice};
	const val *v = batch_rule_shaped(f, o, 0);
	int64_t axis = op_attr_int(o, "axis", 1);

	if (!v)
		return;
	if (axis < 0)
		axis += v->rank;
	if (axis < 0 || axis > v->rank) {
		batch_rule_refuse(f, &s, "its axis is not valid");
		return;
	}
	t.axis = s.axis < axis ? 0 : 1;
	for (int i = 0; i < v->rank; i++)
		if ((i < axis) == (s.axis < axis) && i != s.axis) {
			if (i < s.axis)
				t.pre = sym_mul(f->nums, t.pre, v->dims[i]);
			else
				t.post = sym_mul(f->nums, t.post, v->dims[i]);
		}
	batch_rule_all(f, t);
}

void batch_rule_squeeze(batch_propagation *f, op *o)
{
	items s = *batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	const int64_t *axes;
	size_t n = 0;
	int before = 0;

	if (!v || !parameters(f, o))
		return;
	if (!op_axes(o, 1, v->rank, &axes, &n)) {
		batch_rule_refuse(f, &s, "its axes are not known");
		return;
	}
	if (!axes && sym_is(batch_rule_was(f, v, &s, s.axis), 1)) {
		batch_rule_refuse(f, &s,
				  "it removes every axis of 1, that of the items among them");
		return;
	}
	for (int i = 0; !axes && i < s.axis; i++)
		before += sym_is(v->dims[i], 1);
	for (size_t i = 0; axes && i < n; i++) {
		if (axes[i] == s.axis) {
			batch_rule_refuse(f, &s, "it removes axis %d, which holds the items",
					  s.axis);
			return;
		}
		before += axes[i] < s.axis;
	}
	s.axis -= before;
	batch_rule_all(f, s);
}

void batch_rule_unsqueeze(batch_propagation *f, op *o)
{
	items s = *batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	const int64_t *axes;
	size_t n = 0;

	if (!v || !parameters(f, o))
		return;
	if (!op_list(o, "axes", 1, &n)) {
		batch_rule_refuse(f, &s, "its axes are not known");
		return;
	}
	if (n + (size_t)v->rank > COST_RANK_MAX || !op_axes(o, 1, v->rank + (int)n, &axes, &n)) {
		batch_rule_refuse(f, &s, "its axes are not valid");
		return;
	}
	for (size_t i = 0; i < n; i++)
		s.axis += axes[i] <= s.axis;
	batch_rule_all(f, s);
}

/* The rule of an operator that works along the axis of its attribute: the first n inputs must hold
 * the items at the same other axis, and inputs that are the same for all items are repeated.
 * optional: an input may be missing. */
static void along_axis(batch_propagation *f, op *o, size_t n, bool optional, int64_t otherwise,
		       const char *what)
{
	items s = {.choice = -1};
	const val *v = batch_rule_shaped(f, o, 0);
	int axis;

	if (!v || !batch_rule_axis_of(f, o, v, otherwise, 0, &axis))
		return;
	for (size_t i = 0; i < n; i++)
		if (batch_rule_has(o, i) && !batch_rule_join(f, &s, batch_rule_in(o, i)))
			return;
	if (s.axis == axis) {
		batch_rule_mixes(f, &s, what);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if ((op_in(o, i) || !optional) && !batch_rule_has(o, i) &&
		    !batch_rule_spread(f, o, i, s.axis, &s, false))
			return;
	batch_rule_all(f, s);
}

void batch_rule_concat(batch_propagation *f, op *o)
{
	along_axis(f, o, o->made->nin, true, 1, "it joins along");
}

/* Along the axis of the items a slice must take all of them. An end that the model states becomes
 * the new end. */
void batch_rule_slice(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	slice_cut cuts[COST_RANK_MAX];
	sym_int to[COST_RANK_MAX];
	bool edited = false;
	size_t n = 0;

	if (!v || !parameters(f, o))
		return;
	if (slice_read(o, v->rank, cuts, &n) != SLICE_READ) {
		batch_rule_refuse(f, s, "where it cuts depends on values");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const slice_cut *c = &cuts[i];

		to[i] = c->end;
		if (sym_unknown_reason(c->begin) || sym_unknown_reason(c->end) ||
		    sym_unknown_reason(c->step)) {
			batch_rule_refuse(f, s, "where it cuts depends on values");
			return;
		}
		if (!batch_rule_apart(f, c->begin) ||
		    (c->axis != s->axis && !batch_rule_apart(f, c->end))) {
			batch_rule_refuse(f, s, "where it cuts depends on the number of items");
			return;
		}
		if (c->axis != s->axis)
			continue;
		const sym_int size = v->dims[c->axis], was = batch_rule_was(f, v, s, c->axis);
		sym_int begin = c->begin;
		const sym_int taken = slice_length(o, size, c, &begin);
		const bool from_start = sym_is(begin, 0) && sym_is(c->step, 1);

		if (from_start && sym_known(c->end) && c->end.v < SLICE_FAR && sym_known(was) &&
		    c->end.v >= was.v && op_has(o, 2)) {
			to[i] = sym_const(INT64_MAX);
			edited = true;
		} else if (!from_start || !sym_same(taken, size)) {
			batch_rule_mixes(f, s, "it cuts along");
			return;
		}
	}
	if (!edited || batch_rule_sizes(f, o, 2, to, n))
		batch_rule_all(f, *s);
}

void batch_rule_gather(batch_propagation *f, op *o)
{
	const val *v = batch_rule_shaped(f, o, 0), *at = v ? batch_rule_shaped(f, o, 1) : NULL;
	items s = {0};
	int axis;

	if (!at || !batch_rule_axis_of(f, o, v, 0, 0, &axis))
		return;
	if (batch_rule_has(o, 0) && batch_rule_has(o, 1)) {
		batch_rule_refuse(f, batch_rule_in(o, 1),
				  "its indices depend on the items, and what they pick from too");
		return;
	}
	if (batch_rule_has(o, 1)) {
		s = *batch_rule_in(o, 1);
		s.axis += axis;
	} else {
		s = *batch_rule_in(o, 0);
		if (s.axis == axis && axis == 0 && v->rank == 1 && sym_is(s.pre, 1) &&
		    at->rank > 0 && sym_is(at->dims[0], 1) && f->was == 1) {
			/* as_strided: the elements of one item, in a row, are read by other
			 * strides */
			if (batch_rule_offset(f, o, 1, s.post))
				batch_rule_all(
				    f, (items){BATCHED, 0, sym_const(1), sym_const(1), s.choice});
			return;
		}
		if (s.axis == axis) {
			batch_rule_mixes(f, &s, "it picks along");
			return;
		}
		if (s.axis > axis)
			s.axis += at->rank - 1;
	}
	batch_rule_all(f, s);
}

/* The first `at` inputs (data, indices, updates) have equal ranks. All must hold the items at the
 * same axis, which must not be the axis that the operator picks along. */
void batch_rule_elements(batch_propagation *f, op *o)
{
	along_axis(f, o, (size_t)f->row->at, false, 0, "it picks along");
}

void batch_rule_gather_nd(batch_propagation *f, op *o)
{
	int64_t batch = op_attr_int(o, "batch_dims", 0);
	const val *v = batch_rule_shaped(f, o, 0), *at = v ? batch_rule_shaped(f, o, 1) : NULL;
	items s = *batch_rule_in(o, 1);

	if (!at)
		return;
	if (!batch_rule_has(o, 0) && s.axis < at->rank - 1 && s.axis >= batch) {
		batch_rule_all(f, s);
		return;
	}
	if (batch_rule_has(o, 0) && batch_rule_has(o, 1) &&
	    batch_rule_equal(&s, batch_rule_in(o, 0)) && s.axis < batch) {
		batch_rule_all(f, s);
		return;
	}
	s = *batch_rule_in(o, batch_rule_has(o, 0) ? 0 : 1);
	batch_rule_mixes(f, &s, "it picks along");
}

void batch_rule_scatter_nd(batch_propagation *f, op *o)
{
	batch_rule_refuse(f, batch_rule_in(o, 0), "its indices name places among all items");
}

/* The input is broadcast to the sizes that input 1 states. */
void batch_rule_expand(batch_propagation *f, op *o)
{
	items s = *batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	size_t n = 0;
	const sym_int *want = op_ints(o, 1, &n);
	sym_int to[COST_RANK_MAX];

	if (!v || !parameters(f, o))
		return;
	if (!want || n > COST_RANK_MAX) {
		batch_rule_refuse(f, &s, "its sizes depend on values");
		return;
	}
	int rank = v->rank > (int)n ? v->rank : (int)n, at = s.axis + (int)n - v->rank;
	bool edited = false;
	if (n)
		memcpy(to, want, n * sizeof *to);
	if (at >= 0 && sym_known(want[at]) && want[at].v != 1) {
		to[at] = v->dims[s.axis];
		edited = sym_same(want[at], batch_rule_was(f, v, &s, s.axis));
		if (!edited) {
			batch_rule_mixes(f, &s, "it repeats along");
			return;
		}
	}
	if (edited && !batch_rule_sizes(f, o, 1, to, n))
		return;
	s.axis += rank - v->rank;
	batch_rule_all(f, s);
}

void batch_rule_tile(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	size_t n = 0;
	const sym_int *repeats = op_ints(o, 1, &n);

	if (!v || !parameters(f, o))
		return;
	batch_rule_unless(f, s, !repeats || n != (size_t)v->rank || !sym_is(repeats[s->axis], 1),
			  "it repeats along");
}

void batch_rule_pad(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	size_t n = 0, naxes = 0;
	const sym_int *pads = op_list(o, "pads", 1, &n), *axes = op_ints(o, 3, &naxes);

	if (!v || !parameters(f, o))
		return;
	if (!pads || n % 2 || (op_in(o, 3) && (!axes || naxes != n / 2)) ||
	    (!axes && n / 2 != (size_t)v->rank)) {
		batch_rule_refuse(f, s, "how it pads depends on values");
		return;
	}
	for (size_t i = 0; i < n / 2; i++) {
		sym_int axis = axes ? axes[i] : sym_const((int64_t)i);
		bool zero = sym_is(pads[i], 0) && sym_is(pads[i + n / 2], 0);
		if (!sym_known(axis) ||
		    ((axis.v == s->axis || axis.v + v->rank == s->axis) && !zero)) {
			batch_rule_mixes(f, s, "it pads");
			return;
		}
		if (!batch_rule_apart(f, pads[i]) || !batch_rule_apart(f, pads[i + n / 2])) {
			batch_rule_refuse(f, s, "how it pads depends on the number of items");
			return;
		}
	}
	batch_rule_all(f, *s);
}

/* It has sizes or factors, for all axes or for the axes in `axes`: the batch axis must not change.
 */
void batch_rule_resize(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	size_t nsizes = 0, nfactors = 0, naxes = 0;
	size_t factors_at = o->made->nin == 2 ? 1 : 2;
	const sym_int *sizes = op_ints(o, 3, &nsizes);
	const double *factors = op_real_list(o, "scales", factors_at, &nfactors);
	const int64_t *axes = op_attr_ints(o, "axes", &naxes);
	sym_int to[COST_RANK_MAX];

	if (!v || !parameters(f, o))
		return;
	size_t at = (size_t)s->axis;
	for (size_t i = 0; i < naxes; i++)
		if (axes[i] == s->axis || axes[i] == s->axis - v->rank) {
			batch_rule_mixes(f, s, "it scales");
			return;
		}
	bool named = naxes > 0;
	if (named) {
		batch_rule_all(f, *s);
	} else if (sizes && nsizes == (size_t)v->rank && nsizes <= COST_RANK_MAX) {
		memcpy(to, sizes, nsizes * sizeof *to);
		to[at] = v->dims[s->axis];
		if (sym_same(sizes[at], to[at]) ||
		    (sym_same(sizes[at], batch_rule_was(f, v, s, s->axis)) &&
		     batch_rule_sizes(f, o, 3, to, nsizes)))
			batch_rule_all(f, *s);
		else
			batch_rule_mixes(f, s, "it scales");
	} else if (factors && nfactors == (size_t)v->rank && factors[at] >= 1 && factors[at] <= 1) {
		batch_rule_all(f, *s);
	} else if (!factors && !sizes) {
		batch_rule_refuse(f, s, "how it scales depends on values");
	} else {
		batch_rule_mixes(f, s, "it scales");
	}
}

void batch_rule_onehot(batch_propagation *f, op *o)
{
	items s = *batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);
	int axis;

	if (!v || !parameters(f, o) || !batch_rule_axis_of(f, o, v, -1, 1, &axis))
		return;
	s.axis += axis <= s.axis;
	batch_rule_all(f, s);
}

void batch_rule_trilu(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	const val *v = batch_rule_shaped(f, o, 0);

	if (v && parameters(f, o))
		batch_rule_unless(f, s, s->axis >= v->rank - 2, "it cuts across");
}
