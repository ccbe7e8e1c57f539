/* follow_shape.c - batching rules of operators that move values, and take sizes as inputs:
 * Transpose, Reshape, Concat, Slice, Gather, Expand, Pad, Resize.
 *
 * Reshape is the hard case. In memory the items are `pre` groups of N items of `post` elements, and
 * every axis of the new shape that such groups fit into exactly may hold them (ways_of(), by exact
 * division). Usually there is one; where sizes of 1 leave several, awkward() ranks them, and
 * follow_choose() takes the best that no refusal has excluded. Equal reshapes have equal hashes, so
 * that they are decided alike. Sizes that the file states for the old number of items become an
 * edit; sizes that the model computes from the input's shape follow by themselves (reshape_open()).
 *
 * Slice, Pad, Tile, Resize and Gather must leave the items' axis whole; an end, a size or an index
 * that was written for one item is edited where that is exact. Everything else is refused with a
 * reason.
 *
 * f->count is the symbol for the number of items, f->was the number that the model was exported
 * for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/follow.h"
#include "base/hash.h"

#include <string.h>

/* Whether only the first input holds items, and its rank is known. False after a refusal. */
static bool parameters(follow *f, op *o)
{
	return follow_shaped(f, o, 0) && follow_only(f, o, 0);
}

void follow_shape(follow *f, op *o)
{
	(void)o;
	follow_all(f, (items){.kind = HELD_SIZES, .choice = follow_in(o, 0)->choice});
}

void follow_transpose(follow *f, op *o)
{
	items s = *follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	size_t n = 0;
	const int64_t *perm = op_attr_ints(o, "perm", &n);

	if (!v)
		return;
	if (!perm) {
		s.axis = v->rank - 1 - s.axis;
		follow_all(f, s);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (perm[i] == s.axis || perm[i] == s.axis - v->rank) {
			s.axis = (int)i;
			follow_all(f, s);
			return;
		}
	follow_refuse(f, &s, "its permutation is not valid");
}

/* --- Reshape: groups of items stay whole wherever the axes are cut --- */

typedef struct way {
	int axis;
	num pre, post;
} way;

/* Finds the axes among these sizes, which are for the old number of items, that can hold the items.
 * Returns how many. */
static int ways_of(follow *f, num outer, const num *dims, int rank, way *ret)
{
	num before = num_int(1), pre, post;
	int n = 0;

	for (int k = 0; k < rank; k++) {
		bool fits =
		    num_div_exact(f->nums, outer, before, &pre) &&
		    num_div_exact(f->nums, dims[k], num_mul(f->nums, pre, num_int(f->was)), &post);
		if (fits && !num_is(pre, 0) && !num_is(post, 0))
			ret[n++] = (way){k, pre, post};
		before = num_mul(f->nums, before, dims[k]);
	}
	return n;
}

/* Returns how unlikely a way is: the ways with fewer points are tried first. Most likely the items
 * get a separate axis, at the position where they were. Next comes an axis of a new size, because
 * an axis whose size existed before is probably one that stayed. The last axis usually holds
 * features. */
static int awkward(const val *v, const items *s, const num *dims, int rank, const way *w)
{
	int points = w->axis == s->axis ? 0 : 1;

	if (num_is(w->pre, 1) && num_is(w->post, 1))
		return points;
	points += 4;
	if (w->axis == s->axis && num_same(w->pre, s->pre) && num_same(w->post, s->post))
		return points;
	for (int i = 0; i < v->rank; i++)
		if (i != s->axis && num_same(v->dims[i], dims[w->axis])) {
			points += 8;
			break;
		}
	if (w->axis == rank - 1)
		points += 4;
	return points + (num_is(w->pre, 1) ? 0 : 2) + (num_is(w->post, 1) ? 0 : 1);
}

static void ways_sort(const val *v, const items *s, const num *dims, int rank, way *w, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && awkward(v, s, dims, rank, &w[k]) <
					     awkward(v, s, dims, rank, &w[k - 1]);
		     k--) {
			way t = w[k];
			w[k] = w[k - 1];
			w[k - 1] = t;
		}
}

/* Returns the number of groups of items in memory: `pre` times the sizes of the axes before
 * theirs. */
static num outer_of(follow *f, const val *v, const items *s)
{
	num outer = s->pre;

	for (int i = 0; i < s->axis; i++)
		outer = num_mul(f->nums, outer, v->dims[i]);
	return outer;
}

/* Computes the sizes that Reshape makes with the old number of items: 0 copies a size of the input,
 * -1 stands for what the other sizes leave. False: they do not fit. */
static bool sizes_were(follow *f, const val *v, const items *s, const num *asked, int n, bool zero,
		       num *ret)
{
	num all = num_int(1), rest = num_int(1);
	int hole = -1;

	for (int i = 0; i < v->rank; i++)
		all = num_mul(f->nums, all, follow_was(f, v, s, i));
	for (int i = 0; i < n; i++) {
		ret[i] = asked[i];
		if (num_is(asked[i], 0) && !zero) {
			if (i >= v->rank)
				return false;
			ret[i] = follow_was(f, v, s, i);
		}
		if (num_is(asked[i], -1))
			hole = i;
		else
			rest = num_mul(f->nums, rest, ret[i]);
	}
	if (hole >= 0 ? !num_div_exact(f->nums, all, rest, &ret[hole])
		      : num_known(all) && num_known(rest) && all.v != rest.v)
		return false;
	for (int i = 0; i < n; i++)
		if (num_known(ret[i]) && ret[i].v < 0)
			return false;
	return true;
}

/* The rule of a Reshape whose sizes are computed from the input's, so that they follow the number
 * of items without a rewrite. */
static void reshape_open(follow *f, const val *v, const items *s, const num *asked, int n)
{
	num outer = outer_of(f, v, s), before = num_int(1), pre, post, each;

	for (int k = 0; k < n; k++) {
		if (follow_apart(f, asked[k]) && !num_is(asked[k], -1)) {
			num size = num_is(asked[k], 0) && k < v->rank ? v->dims[k] : asked[k];
			if (follow_apart(f, size)) {
				before = num_mul(f->nums, before, size);
				continue;
			}
		}
		/* This is the axis of the items, or the one that takes what is left. */
		if (!num_div_exact(f->nums, outer, before, &pre))
			break;
		num whole = num_int(1), by = num_int(1);
		bool apart = true;
		for (int i = 0; i < v->rank; i++)
			whole =
			    num_mul(f->nums, whole,
				    i == s->axis ? num_mul(f->nums, s->pre, s->post) : v->dims[i]);
		for (int i = 0; i < n; i++) {
			bool copies = num_is(asked[i], 0) && i < v->rank;
			by = i == k ? by : num_mul(f->nums, by, copies ? v->dims[i] : asked[i]);
			apart &= i == k || follow_apart(f, asked[i]);
		}
		bool stated = !num_is(asked[k], -1);
		if ((stated || apart) &&
		    num_div_exact(f->nums, stated ? asked[k] : whole, stated ? f->count : by,
				  &each) &&
		    num_div_exact(f->nums, each, pre, &post)) {
			follow_all(f, (items){HELD_ITEMS, k, pre, post, s->choice});
			return;
		}
		break;
	}
	follow_refuse(f, s, "its sizes join the items with other axes");
}

void follow_reshape(follow *f, op *o)
{
	const items *s = follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	size_t n = 0;
	const num *asked = op_list(o, "shape", 1, &n);
	bool zero = op_attr_int(o, "allowzero", 0) != 0, open = false, edited = false;
	num dims[COST_RANK_MAX], target[COST_RANK_MAX];
	way ways[COST_RANK_MAX];
	uint64_t what = 5;
	int choice;

	if (!v || !parameters(f, o))
		return;
	if (!asked || n > COST_RANK_MAX) {
		follow_refuse(f, s, "its sizes depend on values");
		return;
	}
	for (size_t i = 0; i < n; i++)
		open |= !follow_apart(f, asked[i]);
	int rank = (int)n;
	if (open) {
		reshape_open(f, v, s, asked, rank);
		return;
	}
	if (!sizes_were(f, v, s, asked, rank, zero, dims)) {
		follow_refuse(f, s, "its sizes do not fit its input");
		return;
	}
	int nways = ways_of(f, outer_of(f, v, s), dims, rank, ways);
	if (!nways) {
		follow_refuse(f, s, "its sizes join the items with other axes, or cut them");
		return;
	}
	ways_sort(v, s, dims, rank, ways, nways);
	for (int i = 0; i < rank; i++)
		what = hash_number(what, num_hash(dims[i]));
	for (int i = 0; i < v->rank; i++)
		what = hash_number(what, num_hash(v->dims[i]));
	const way *w = &ways[follow_choose(f, s, hash_number(what, num_hash(num_int(s->axis))),
					   nways, &choice)];
	for (int i = 0; i < rank; i++) {
		bool copies = num_is(asked[i], 0) && !zero;
		target[i] = asked[i];
		if (i == w->axis && !num_is(asked[i], -1) && !(copies && i == s->axis))
			target[i] = num_mul(f->nums, num_mul(f->nums, w->pre, f->count), w->post);
		else if (i != w->axis && copies && i == s->axis)
			target[i] = dims[i];
		edited |= !num_same(target[i], asked[i]);
	}
	if (edited && !op_has(o, 1)) {
		follow_refuse(f, s, "its sizes are an attribute, as before operator set 5");
		return;
	}
	if (edited && !follow_sizes(f, o, 1, target, n))
		return;
	follow_all(f, (items){HELD_ITEMS, w->axis, w->pre, w->post, choice});
}

void follow_flatten(follow *f, op *o)
{
	items s = *follow_in(o, 0), t = {HELD_ITEMS, 0, s.pre, s.post, s.choice};
	const val *v = follow_shaped(f, o, 0);
	int64_t axis = op_attr_int(o, "axis", 1);

	if (!v)
		return;
	if (axis < 0)
		axis += v->rank;
	if (axis < 0 || axis > v->rank) {
		follow_refuse(f, &s, "its axis is not valid");
		return;
	}
	t.axis = s.axis < axis ? 0 : 1;
	for (int i = 0; i < v->rank; i++)
		if ((i < axis) == (s.axis < axis) && i != s.axis) {
			if (i < s.axis)
				t.pre = num_mul(f->nums, t.pre, v->dims[i]);
			else
				t.post = num_mul(f->nums, t.post, v->dims[i]);
		}
	follow_all(f, t);
}

void follow_squeeze(follow *f, op *o)
{
	items s = *follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	const int64_t *axes;
	size_t n = 0;
	int before = 0;

	if (!v || !parameters(f, o))
		return;
	if (!op_axes(o, 1, v->rank, &axes, &n)) {
		follow_refuse(f, &s, "its axes are not known");
		return;
	}
	if (!axes && num_is(follow_was(f, v, &s, s.axis), 1)) {
		follow_refuse(f, &s, "it removes every axis of 1, that of the items among them");
		return;
	}
	for (int i = 0; !axes && i < s.axis; i++)
		before += num_is(v->dims[i], 1);
	for (size_t i = 0; axes && i < n; i++) {
		if (axes[i] == s.axis) {
			follow_refuse(f, &s, "it removes axis %d, which holds the items", s.axis);
			return;
		}
		before += axes[i] < s.axis;
	}
	s.axis -= before;
	follow_all(f, s);
}

void follow_unsqueeze(follow *f, op *o)
{
	items s = *follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	const int64_t *axes;
	size_t n = 0;

	if (!v || !parameters(f, o))
		return;
	if (!op_list(o, "axes", 1, &n)) {
		follow_refuse(f, &s, "its axes are not known");
		return;
	}
	if (n + (size_t)v->rank > COST_RANK_MAX || !op_axes(o, 1, v->rank + (int)n, &axes, &n)) {
		follow_refuse(f, &s, "its axes are not valid");
		return;
	}
	for (size_t i = 0; i < n; i++)
		s.axis += axes[i] <= s.axis;
	follow_all(f, s);
}

void follow_concat(follow *f, op *o)
{
	items s = {.choice = -1};
	const val *v = follow_shaped(f, o, 0);
	int axis;

	if (!v || !follow_axis_of(f, o, v, 1, 0, &axis))
		return;
	for (size_t i = 0; i < o->made->nin; i++) {
		const items *t = follow_in(o, i);
		if (t->kind != HELD_ITEMS)
			continue;
		if (!follow_join(f, &s, t))
			return;
	}
	if (s.axis == axis) {
		follow_mixes(f, &s, "it joins along");
		return;
	}
	for (size_t i = 0; i < o->made->nin; i++)
		if (op_in(o, i) && !follow_has(o, i) && !follow_spread(f, o, i, s.axis, &s, false))
			return;
	follow_all(f, s);
}

/* Along the axis of the items a slice must take all of them. An end that the model states becomes
 * the new end. */
void follow_slice(follow *f, op *o)
{
	const items *s = follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	size_t nstarts = 0, nends = 0, naxes = 0, nsteps = 0;
	const num *starts = op_list(o, "starts", 1, &nstarts);
	const num *ends = op_list(o, "ends", 2, &nends), *axes = op_list(o, "axes", 3, &naxes);
	const num *steps = op_ints(o, 4, &nsteps);
	bool edited = false;
	num to[COST_RANK_MAX];

	if (!v || !parameters(f, o))
		return;
	if (!starts || !ends || nstarts != nends || nstarts > COST_RANK_MAX ||
	    (axes ? naxes != nstarts : op_has(o, 3)) ||
	    (op_in(o, 4) && (!steps || nsteps != nstarts))) {
		follow_refuse(f, s, "where it cuts depends on values");
		return;
	}
	memcpy(to, ends, nends * sizeof *to);
	for (size_t i = 0; i < nstarts; i++) {
		num axis = axes ? axes[i] : num_int((int64_t)i);
		if (!follow_apart(f, starts[i]) || !num_known(axis)) {
			follow_refuse(f, s, "where it cuts depends on the number of items");
			return;
		}
		if (axis.v != s->axis && axis.v + v->rank != s->axis) {
			if (!follow_apart(f, ends[i])) {
				follow_refuse(f, s, "where it cuts depends on the number of items");
				return;
			}
			continue;
		}
		num was = follow_was(f, v, s, s->axis);
		bool whole = num_is(starts[i], 0) && (!steps || num_is(steps[i], 1));
		bool to_end = num_known(ends[i]) && ends[i].v >= INT32_MAX;
		bool to_last = num_known(ends[i]) && num_known(was) && ends[i].v >= was.v;
		if (whole && to_last && !to_end && op_has(o, 2)) {
			to[i] = num_int(INT64_MAX);
			edited = true;
		} else if (!whole || !(to_end || num_same(ends[i], v->dims[s->axis]))) {
			follow_mixes(f, s, "it cuts along");
			return;
		}
	}
	if (!edited || follow_sizes(f, o, 2, to, nends))
		follow_all(f, *s);
}

void follow_gather(follow *f, op *o)
{
	const val *v = follow_shaped(f, o, 0), *at = v ? follow_shaped(f, o, 1) : NULL;
	items s = {0};
	int axis;

	if (!at || !follow_axis_of(f, o, v, 0, 0, &axis))
		return;
	if (follow_has(o, 0) && follow_has(o, 1)) {
		follow_refuse(f, follow_in(o, 1),
			      "its indices depend on the items, and what they pick from too");
		return;
	}
	if (follow_has(o, 1)) {
		s = *follow_in(o, 1);
		s.axis += axis;
	} else {
		s = *follow_in(o, 0);
		if (s.axis == axis && axis == 0 && v->rank == 1 && num_is(s.pre, 1) &&
		    at->rank > 0 && num_is(at->dims[0], 1) && f->was == 1) {
			/* as_strided: the elements of one item, in a row, are read by other
			 * strides */
			if (follow_offset(f, o, 1, s.post))
				follow_all(
				    f, (items){HELD_ITEMS, 0, num_int(1), num_int(1), s.choice});
			return;
		}
		if (s.axis == axis) {
			follow_mixes(f, &s, "it picks along");
			return;
		}
		if (s.axis > axis)
			s.axis += at->rank - 1;
	}
	follow_all(f, s);
}

/* The first `at` inputs (data, indices, updates) have equal ranks. All must hold the items at the
 * same axis, which must not be the axis that the operator picks along. */
void follow_elements(follow *f, op *o)
{
	size_t inputs = (size_t)f->row->at;
	const val *v = follow_shaped(f, o, 0);
	items s = {.choice = -1};
	int axis;

	if (!v || !follow_axis_of(f, o, v, 0, 0, &axis))
		return;
	for (size_t i = 0; i < inputs; i++) {
		const items *t = follow_in(o, i);
		if (t->kind != HELD_ITEMS)
			continue;
		if (!follow_join(f, &s, t))
			return;
	}
	if (s.axis == axis) {
		follow_mixes(f, &s, "it picks along");
		return;
	}
	for (size_t i = 0; i < inputs; i++)
		if (!follow_has(o, i) && !follow_spread(f, o, i, s.axis, &s, false))
			return;
	follow_all(f, s);
}

void follow_gather_nd(follow *f, op *o)
{
	int64_t batch = op_attr_int(o, "batch_dims", 0);
	const val *v = follow_shaped(f, o, 0), *at = v ? follow_shaped(f, o, 1) : NULL;
	items s = *follow_in(o, 1);

	if (!at)
		return;
	if (!follow_has(o, 0) && s.axis < at->rank - 1 && s.axis >= batch) {
		follow_all(f, s);
		return;
	}
	if (follow_has(o, 0) && follow_has(o, 1) && follow_equal(&s, follow_in(o, 0)) &&
	    s.axis < batch) {
		follow_all(f, s);
		return;
	}
	s = *follow_in(o, follow_has(o, 0) ? 0 : 1);
	follow_mixes(f, &s, "it picks along");
}

void follow_scatter_nd(follow *f, op *o)
{
	follow_refuse(f, follow_in(o, 0), "its indices name places among all items");
}

/* The input is broadcast to the sizes that input 1 states. */
void follow_expand(follow *f, op *o)
{
	items s = *follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	size_t n = 0;
	const num *want = op_ints(o, 1, &n);
	num to[COST_RANK_MAX];

	if (!v || !parameters(f, o))
		return;
	if (!want || n > COST_RANK_MAX) {
		follow_refuse(f, &s, "its sizes depend on values");
		return;
	}
	int rank = v->rank > (int)n ? v->rank : (int)n, at = s.axis + (int)n - v->rank;
	bool edited = false;
	if (n)
		memcpy(to, want, n * sizeof *to);
	if (at >= 0 && num_known(want[at]) && want[at].v != 1) {
		to[at] = v->dims[s.axis];
		edited = num_same(want[at], follow_was(f, v, &s, s.axis));
		if (!edited) {
			follow_mixes(f, &s, "it repeats along");
			return;
		}
	}
	if (edited && !follow_sizes(f, o, 1, to, n))
		return;
	s.axis += rank - v->rank;
	follow_all(f, s);
}

void follow_tile(follow *f, op *o)
{
	const items *s = follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	size_t n = 0;
	const num *repeats = op_ints(o, 1, &n);

	if (!v || !parameters(f, o))
		return;
	follow_unless(f, s, !repeats || n != (size_t)v->rank || !num_is(repeats[s->axis], 1),
		      "it repeats along");
}

void follow_pad(follow *f, op *o)
{
	const items *s = follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	size_t n = 0, naxes = 0;
	const num *pads = op_list(o, "pads", 1, &n), *axes = op_ints(o, 3, &naxes);

	if (!v || !parameters(f, o))
		return;
	if (!pads || n % 2 || (op_in(o, 3) && (!axes || naxes != n / 2)) ||
	    (!axes && n / 2 != (size_t)v->rank)) {
		follow_refuse(f, s, "how it pads depends on values");
		return;
	}
	for (size_t i = 0; i < n / 2; i++) {
		num axis = axes ? axes[i] : num_int((int64_t)i);
		bool zero = num_is(pads[i], 0) && num_is(pads[i + n / 2], 0);
		if (!num_known(axis) ||
		    ((axis.v == s->axis || axis.v + v->rank == s->axis) && !zero)) {
			follow_mixes(f, s, "it pads");
			return;
		}
		if (!follow_apart(f, pads[i]) || !follow_apart(f, pads[i + n / 2])) {
			follow_refuse(f, s, "how it pads depends on the number of items");
			return;
		}
	}
	follow_all(f, *s);
}

/* It takes sizes or factors, for all axes or for those in `axes`: the axis of the items must stay
 * as it is. */
void follow_resize(follow *f, op *o)
{
	const items *s = follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	size_t nsizes = 0, nfactors = 0, naxes = 0;
	size_t factors_at = o->made->nin == 2 ? 1 : 2;
	const num *sizes = op_ints(o, 3, &nsizes);
	const double *factors = op_reals(o, factors_at, &nfactors);
	const int64_t *axes = op_attr_ints(o, "axes", &naxes);
	num to[COST_RANK_MAX];

	if (!v || !parameters(f, o))
		return;
	size_t at = (size_t)s->axis;
	for (size_t i = 0; i < naxes; i++)
		if (axes[i] == s->axis || axes[i] == s->axis - v->rank) {
			follow_mixes(f, s, "it scales");
			return;
		}
	bool named = naxes > 0;
	if (named) {
		follow_all(f, *s);
	} else if (sizes && nsizes == (size_t)v->rank && nsizes <= COST_RANK_MAX) {
		memcpy(to, sizes, nsizes * sizeof *to);
		to[at] = v->dims[s->axis];
		if (num_same(sizes[at], to[at]) ||
		    (num_same(sizes[at], follow_was(f, v, s, s->axis)) &&
		     follow_sizes(f, o, 3, to, nsizes)))
			follow_all(f, *s);
		else
			follow_mixes(f, s, "it scales");
	} else if (factors && nfactors == (size_t)v->rank && factors[at] >= 1 && factors[at] <= 1) {
		follow_all(f, *s);
	} else if (!factors && !sizes) {
		follow_refuse(f, s, "how it scales depends on values");
	} else {
		follow_mixes(f, s, "it scales");
	}
}

void follow_onehot(follow *f, op *o)
{
	items s = *follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);
	int axis;

	if (!v || !parameters(f, o) || !follow_axis_of(f, o, v, -1, 1, &axis))
		return;
	s.axis += axis <= s.axis;
	follow_all(f, s);
}

void follow_trilu(follow *f, op *o)
{
	const items *s = follow_in(o, 0);
	const val *v = follow_shaped(f, o, 0);

	if (v && parameters(f, o))
		follow_unless(f, s, s->axis >= v->rank - 2, "it cuts across");
}
