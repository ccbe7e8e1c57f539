/* tensor_reshape.c - the same elements in another order or shape: Reshape, Transpose, Concat,
 * Split.
 *
 * The -1 of Reshape is the number of elements divided by the product of the other sizes. Dimensions
 * that are on both sides cancel first, which avoids dividing polynomials; then the division is
 * exact, or else a floor division that stays symbolic. Where both numbers of elements are known
 * they must be equal.
 *
 * Small contents travel along, since exporters compute shapes with these operators. If the order of
 * the elements stays, they are copied. Otherwise they are a strided view (tensor_view): Transpose
 * permutes the strides, Expand has strides of 0, Tile wraps around, Split starts later.
 *
 * No operator here computes, so all cost 0. Reshape and its kind are views, which move no bytes
 * either (TRAFFIC_VIEW).
 * https://onnx.ai/onnx/operators/onnx__Reshape.html and related pages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/tensor_rules.h"

#include <string.h>

static void reshape_same_contents(op *o)
{
	const val *v = op_in(o, 0);

	if (v && v->ints)
		op_set_ints(o, 0, v->ints, v->n);
	else if (v && v->reals)
		op_set_reals(o, 0, v->reals, v->n);
}

static void shape_identity(op *o)
{
	const val *v = op_in(o, 0);

	if (v)
		op_set_val(o, 0, v);
	else
		op_unknown(o, "its input is missing");
}

/* Returns the size that replaces -1: all elements divided by the other sizes. Dimensions present
 * on both sides cancel first, which avoids dividing symbolic sizes. */
static sym_int what_is_left(op *o, const val *data, const sym_int *dims, int rank, int hole)
{
	sym_int *top = op_copy_dims(o, data, 0), exact;
	sym_int above = sym_const(1), below = sym_const(1);

	for (int i = 0; i < rank; i++) {
		bool cancelled = i == hole;
		for (int k = 0; k < data->rank && !cancelled; k++)
			if (sym_same(top[k], dims[i]) && !sym_is(dims[i], 0)) {
				top[k] = sym_const(1);
				cancelled = true;
			}
		if (!cancelled)
			below = sym_mul(o->nums, below, dims[i]);
	}
	above = op_product(o, top, (size_t)data->rank);
	if (sym_is(below, 1))
		return above;
	if (sym_is(below, 0))
		return sym_unknown(o->nums, "a size of -1 next to a size of 0 is not determined");
	if (sym_known(above) && sym_known(below))
		return above.v % below.v == 0
			   ? sym_const(above.v / below.v)
			   : sym_unknown(o->nums, "%lld elements do not fit into rows of %lld",
					 (long long)above.v, (long long)below.v);
	return sym_div_exact(o->nums, above, below, &exact) ? exact
							    : sym_floor_div(o->nums, above, below);
}

static void shape_reshape(op *o)
{
	const val *data = op_given(o, 0);
	size_t n = 0;
	const int64_t *attr = op_attr_ints(o, "shape", &n);
	bool zero = op_flag(o, "allowzero");
	int rank = 0, hole = -1;
	sym_int *dims;

	if (!data)
		return;
	if (op_out(o, 0))
		op_out(o, 0)->dtype = data->dtype;
	if (attr && !op_in(o, 1) && n <= COST_RANK_MAX) {
		dims = op_dims(o, n);
		for (rank = 0; (size_t)rank < n; rank++)
			dims[rank] = sym_const(attr[rank]);
	} else if (!tensor_dims_of(o, 1, &dims, &rank, "a size that is computed"))
		return;
	for (int i = 0; i < rank; i++) {
		if (sym_is(dims[i], 0) && !zero) {
			if (data->rank >= 0 && i >= data->rank) {
				op_unknown(o, "a size of 0 copies a dimension that does not exist");
				return;
			}
			dims[i] =
			    data->rank >= 0 ? data->dims[i] : op_fresh(o, "a size of its input");
		}
		if (sym_is(dims[i], -1) && hole >= 0) {
			op_unknown(o, "two of its sizes are -1");
			return;
		}
		hole = sym_is(dims[i], -1) ? i : hole;
	}
	if (hole >= 0)
		dims[hole] = data->rank >= 0 ? what_is_left(o, data, dims, rank, hole)
					     : op_fresh(o, "the quotient by the other sizes");
	if (hole >= 0 && sym_known(dims[hole]) == false && sym_unknown_reason(dims[hole])) {
		op_unknown(o, "%s", sym_unknown_reason(dims[hole]));
		return;
	}
	sym_int had =
	    data->rank >= 0 ? op_elements(o, data) : sym_unknown(o->nums, "its rank is not known");
	sym_int has = op_product(o, dims, (size_t)rank);
	if (sym_known(had) && sym_known(has) && !sym_same(had, has)) {
		op_unknown(o, "%lld elements do not fill its sizes", (long long)had.v);
		return;
	}
	op_set(o, 0, data->dtype, rank, dims);
	reshape_same_contents(o);
}

static void shape_squeeze(op *o)
{
	const val *v = op_need(o, 0);
	const int64_t *axes;
	size_t n = 0;
	int rank = 0;

	if (!v || !op_axes(o, 1, v->rank, &axes, &n))
		return;
	sym_int *dims = op_dims(o, (size_t)v->rank);
	for (int i = 0, k = 0; i < v->rank; i++) {
		bool named = axes && (size_t)k < n && axes[k] == i;
		k += named;
		if (!axes && !sym_known(v->dims[i])) {
			op_set_unknown(o, 0, v->dtype,
				       "which of its dimensions are 1 is not known");
			return;
		}
		if (named && sym_known(v->dims[i]) && v->dims[i].v != 1) {
			op_unknown(o, "it removes a dimension of %lld", (long long)v->dims[i].v);
			return;
		}
		if (!(named || (!axes && sym_is(v->dims[i], 1))))
			dims[rank++] = v->dims[i];
	}
	op_set(o, 0, v->dtype, rank, dims);
	reshape_same_contents(o);
}

static void shape_unsqueeze(op *o)
{
	const val *v = op_need(o, 0);
	const int64_t *axes;
	size_t n = 0;

	if (!v)
		return;
	if (!op_list(o, "axes", 1, &n)) {
		const val *a = op_in(o, 1);
		op_set_unknown(o, 0, v->dtype, "%s",
			       a ? "its axes depend on values" : "it names no axes");
		return;
	}
	if (n + (size_t)v->rank > COST_RANK_MAX) {
		op_unknown(o, "it would have more dimensions than any operator takes");
		return;
	}
	int rank = v->rank + (int)n;
	if (!op_axes(o, 1, rank, &axes, &n))
		return;
	sym_int *dims = op_dims(o, (size_t)rank);
	size_t k = 0;
	for (int i = 0, from = 0; i < rank; i++)
		if (k < n && axes[k] == i) {
			dims[i] = sym_const(1);
			k++;
		} else
			dims[i] = v->dims[from++];
	op_set(o, 0, v->dtype, rank, dims);
	reshape_same_contents(o);
}

static void shape_flatten(op *o)
{
	const val *v = op_need(o, 0);
	int64_t axis = op_attr_int(o, "axis", 1);

	if (!v)
		return;
	if (axis < -(int64_t)v->rank || axis > v->rank) {
		op_misfit(o, "its axis %lld is outside of %d dimensions", (long long)axis, v->rank);
		return;
	}
	size_t at = (size_t)(axis < 0 ? axis + v->rank : axis);
	sym_int dims[2] = {op_product(o, v->dims, at),
			   op_product(o, v->dims + at, (size_t)v->rank - at)};
	op_set(o, 0, v->dtype, 2, dims);
	reshape_same_contents(o);
}

static void shape_transpose(op *o)
{
	const val *v = op_need(o, 0);
	size_t nperm = 0;
	tensor_view same, turned = {0};
	const int64_t *perm = op_attr_ints(o, "perm", &nperm);
	bool seen[COST_RANK_MAX] = {false};
	int axis[COST_RANK_MAX];

	if (!v)
		return;
	if (perm && nperm != (size_t)v->rank) {
		op_unknown(o, "it permutes %zu of %d dimensions", nperm, v->rank);
		return;
	}
	sym_int *dims = op_dims(o, (size_t)v->rank);
	for (int i = 0; i < v->rank; i++) {
		if (!op_axis(o, perm ? perm[i] : v->rank - 1 - i, v->rank, &axis[i]))
			return;
		if (seen[axis[i]]) {
			op_unknown(o, "it names an axis twice");
			return;
		}
		seen[axis[i]] = true;
		dims[i] = v->dims[axis[i]];
	}
	op_set(o, 0, v->dtype, v->rank, dims);
	if (!tensor_view_init(o, &same))
		return;
	for (int i = 0; i < v->rank; i++)
		turned.jump[i] = same.jump[axis[i]];
	tensor_view_set(o, 0, &turned);
}

static void shape_expand(op *o)
{
	const val *v = op_need(o, 0);
	tensor_view same, wide = {0};
	size_t n;
	sym_int *want, *dims;
	int nwant, rank;

	if (!v || !tensor_dims_of(o, 1, &want, &nwant, "a size that is computed"))
		return;
	bool known = op_ints(o, 1, &n) != NULL;
	for (int i = 0; i < nwant && !known; i++) {
		/* A dimension that is not 1 retains its size for any requested size; 1 may become
		 * any size. */
		int at = v->rank - nwant + i;
		if (at >= 0 && !sym_is(v->dims[at], 1))
			want[i] = sym_const(1);
	}
	if (!op_broadcast(o, v->dims, v->rank, want, nwant, &dims, &rank))
		return;
	op_set(o, 0, v->dtype, rank, dims);
	if (!tensor_view_init(o, &same))
		return;
	for (int i = 0; i < v->rank; i++)
		wide.jump[rank - v->rank + i] = sym_is(v->dims[i], 1) ? 0 : same.jump[i];
	tensor_view_set(o, 0, &wide);
}

static void shape_tile(op *o)
{
	const val *v = op_need(o, 0);
	tensor_view again;
	size_t n = 0;
	const sym_int *repeats = op_ints(o, 1, &n);

	if (!v)
		return;
	if (repeats && n != (size_t)v->rank) {
		op_unknown(o, "it repeats %zu of %d dimensions", n, v->rank);
		return;
	}
	sym_int *dims = op_dims(o, (size_t)v->rank);
	for (int i = 0; i < v->rank; i++)
		dims[i] = repeats && !sym_unknown_reason(repeats[i])
			      ? sym_mul(o->nums, v->dims[i], repeats[i])
			      : op_fresh(o, "repetitions");
	op_set(o, 0, v->dtype, v->rank, dims);
	if (!tensor_view_init(o, &again))
		return;
	for (int i = 0; i < v->rank; i++)
		again.wrap[i] = (size_t)v->dims[i].v;
	tensor_view_set(o, 0, &again);
}

/* --- concatenation and its inverse --- */

static void concat_contents(op *o, int axis)
{
	val *out = op_out(o, 0);
	size_t total = op_small(out), outer = 1, n = 0;
	bool whole = true;

	for (size_t i = 0; i < o->made->nin; i++) {
		const val *v = op_in(o, i);
		if (!v || (!v->ints && !v->reals) || op_small(v) == SIZE_MAX)
			return;
		whole &= v->ints != NULL;
	}
	if (total == SIZE_MAX)
		return;
	for (int k = 0; k < axis; k++)
		outer *= (size_t)out->dims[k].v;
	sym_int *ints = op_dims(o, total);
	double *reals = mem_arena_array(o->arena, total, sizeof *reals);
	for (size_t row = 0; row < outer && reals; row++)
		for (size_t i = 0; i < o->made->nin; i++) {
			const val *v = op_in(o, i);
			size_t chunk = v->n / outer, all;
			const double *r = whole ? NULL : op_reals(o, i, &all);
			if (!whole && !r)
				return;
			for (size_t k = 0; k < chunk && n < total; k++, n++)
				if (whole)
					ints[n] = v->ints[row * chunk + k];
				else
					reals[n] = r[row * chunk + k];
		}
	if (n != total)
		return;
	if (whole)
		op_set_ints(o, 0, ints, n);
	else if (reals)
		op_set_reals(o, 0, reals, n);
}

static void shape_concat(op *o)
{
	const val *first = op_need(o, 0);
	int axis;

	if (!first || !op_axis(o, op_attr_int(o, "axis", o->opset < 4 ? 1 : 0), first->rank, &axis))
		return;
	sym_int *dims = op_copy_dims(o, first, 0);
	for (size_t i = 1; i < o->made->nin; i++) {
		const val *v = op_need(o, i);
		if (!v)
			return;
		if (v->rank != first->rank) {
			op_misfit(o, "its inputs have %d and %d dimensions", first->rank, v->rank);
			return;
		}
		for (int k = 0; k < v->rank; k++) {
			if (k == axis)
				dims[k] = sym_add(o->nums, dims[k], v->dims[k]);
			else if (sym_known(v->dims[k]) && sym_known(dims[k]) &&
				 dims[k].v != v->dims[k].v) {
				op_misfit(o, "its inputs do not fit: %lld and %lld",
					  (long long)dims[k].v, (long long)v->dims[k].v);
				return;
			} else if (sym_known(v->dims[k]) || sym_why_fresh(o->nums, dims[k]))
				dims[k] = v->dims[k]; /* the sizes are equal: the more specific is
							 taken */
		}
	}
	op_set(o, 0, first->dtype, first->rank, dims);
	op_one_type(o, NULL, o->made->nin);
	if (op_small(op_out(o, 0)) != SIZE_MAX)
		concat_contents(o, axis);
}

static void shape_split(op *o)
{
	const val *v = op_need_rank(o, 0, 1);
	size_t nsplit = 0, outputs = o->made->nout;
	const sym_int *split = op_list(o, "split", 1, &nsplit);
	int64_t parts = op_attr_int(o, "num_outputs", (int64_t)outputs), begin = 0;
	bool computed = op_in(o, 1) && !split;
	tensor_view part;
	int axis;

	if (!v || !op_axis(o, op_attr_int(o, "axis", 0), v->rank, &axis))
		return;
	if (split && nsplit != outputs) {
		op_unknown(o, "it has %zu outputs and %zu sizes", outputs, nsplit);
		return;
	}
	if (parts < 1 || (size_t)parts < outputs) {
		op_unknown(o, "it has %zu outputs of %lld", outputs, (long long)parts);
		return;
	}
	sym_int *dims = op_copy_dims(o, v, 0), all = v->dims[axis];
	sym_int even = sym_ceil_div(o->nums, all, sym_const(parts));
	if (!sym_known(all) && o->opset < 18)
		even = sym_floor_div(
		    o->nums, all,
		    sym_const(parts)); /* the parts are equal, so that nothing is left over */
	/* Up to opset 17 all parts are equal. Later the last one may be smaller, but the others
	 * must fit. */
	if (!split && !computed && sym_known(all) &&
	    (o->opset < 18 ? all.v % parts != 0 : even.v && parts - 1 > all.v / even.v)) {
		op_unknown(o, "%lld elements do not make %lld parts", (long long)all.v,
			   (long long)parts);
		return;
	}
	for (size_t i = 0; i < outputs; i++) {
		bool last = (int64_t)i + 1 == parts;
		dims[axis] =
		    computed ? op_fresh(o, "the size of a part")
		    : split  ? (sym_unknown_reason(split[i]) ? op_fresh(o, "the size of a part")
							     : split[i])
		    : last && o->opset >= 18
			? sym_sub(o->nums, all, sym_mul(o->nums, even, sym_const(parts - 1)))
			: even;
		op_set(o, i, v->dtype, v->rank, dims);
		if (!sym_known(all) || !sym_known(dims[axis]) || dims[axis].v < 0 ||
		    dims[axis].v > all.v - begin) {
			begin = INT64_MAX / 2;
			continue;
		}
		if (begin <= all.v && tensor_view_init(o, &part)) {
			part.first = (size_t)begin * part.jump[axis];
			tensor_view_set(o, i, &part);
		}
		begin += dims[axis].v;
	}
}

static void blocks(op *o, bool to_space)
{
	const val *v = op_need_rank(o, 0, 4);
	int64_t block = op_attr_int(o, "blocksize", 0);
	sym_table *t = o->nums;

	if (!v)
		return;
	if (v->rank != 4 || block < 1 || block > INT32_MAX) {
		op_unknown(o, "it needs 4 dimensions and a blocksize of at least 1");
		return;
	}
	sym_int b = sym_const(block), square = sym_const(block * block);
	sym_int dims[4] = {v->dims[0],
			   to_space ? sym_floor_div(t, v->dims[1], square)
				    : sym_mul(t, v->dims[1], square),
			   to_space ? sym_mul(t, v->dims[2], b) : sym_floor_div(t, v->dims[2], b),
			   to_space ? sym_mul(t, v->dims[3], b) : sym_floor_div(t, v->dims[3], b)};
	op_set(o, 0, v->dtype, 4, dims);
}

static void shape_depth_to_space(op *o)
{
	blocks(o, true);
}

static void shape_space_to_depth(op *o)
{
	blocks(o, false);
}

static void reshape_shape_dropout(op *o)
{
	const val *v = op_in(o, 0);
	sym_int training;

	shape_same_first(o);
	if (v && o->made->nout > 1) {
		op_same(o, 1, v);
		if (op_out(o, 1) && o->opset >= 10)
			op_out(o, 1)->dtype = ONNX_BOOL;
	}
	/* In training mode it changes the contents. */
	if (!op_in(o, 2) || (op_int(o, 2, &training) && sym_is(training, 0)))
		reshape_same_contents(o);
}

static const op_row tensor_reshape_rows[] = {
    {"Concat", .shape = shape_concat},
    {"DepthToSpace", .shape = shape_depth_to_space},
    {"Dropout", reshape_shape_dropout, .traffic = TRAFFIC_VIEW, .roles = ".c",
     .how = "as in inference: nothing"},
    {"Expand", shape_expand, .roles = ".c"},
    {"Flatten", shape_flatten, .traffic = TRAFFIC_VIEW},
    {"Identity", shape_identity, .traffic = TRAFFIC_VIEW},
    {"Reshape", shape_reshape, .traffic = TRAFFIC_VIEW, .roles = ".c"},
    {"SpaceToDepth", .shape = shape_space_to_depth},
    {"Split", shape_split, .roles = ".c"},
    {"Squeeze", shape_squeeze, .traffic = TRAFFIC_VIEW, .roles = ".c"},
    {"Tile", shape_tile, .roles = ".c"},
    {"Transpose", .shape = shape_transpose},
    {"Unsqueeze", shape_unsqueeze, .traffic = TRAFFIC_VIEW, .roles = ".c"},
};

const op_family op_family_tensor_reshape = {
    "", tensor_reshape_rows, sizeof tensor_reshape_rows / sizeof *tensor_reshape_rows};
