/* tensor_pick.c - some elements of a tensor, by position (Slice, Gather, ScatterND) or by value
 * (NonZero, TopK, Unique, Where).
 *
 * A length of a slice (slice_cut.h) that is not known is a new symbol that depends on values.
 *
 * Operators by value have a size that depends on values; NonZero and Compress count the elements if
 * the contents are known.
 *
 * Exporters assemble shapes with these operators, so small contents are followed: Slice as a
 * strided view (tensor_view), Gather by computed positions, ScatterND for vectors, and Where
 * element by element. Indices out of range end this silently, since contents are never needed.
 * https://onnx.ai/onnx/operators/onnx__Slice.html and related pages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/tensor_rules.h"
#include "model/cost/slice_cut.h"

#include <string.h>

/* --- Slice --- */

static void slice_contents(op *o, const val *v, const sym_int *begin, const sym_int *step)
{
	const val *out = op_out(o, 0);
	tensor_view part;

	if (!out || !tensor_view_init(o, &part))
		return;
	for (int k = 0; k < v->rank; k++) {
		if (!sym_known(begin[k]))
			return;
		part.first += (size_t)begin[k].v * part.jump[k];
		part.jump[k] *= (size_t)step[k].v;
	}
	tensor_view_set(o, 0, &part);
}

static void shape_slice(op *o)
{
	const val *v = op_need(o, 0);
	sym_int begin[COST_RANK_MAX], step[COST_RANK_MAX];
	slice_cut cuts[COST_RANK_MAX];
	size_t n = 0;

	if (!v)
		return;
	const slice_state state = slice_read(o, v->rank, cuts, &n);
	if (state == SLICE_INVALID)
		return;
	sym_int *dims = op_copy_dims(o, v, 0);
	for (int i = 0; i < v->rank; i++) {
		begin[i] = sym_const(0);
		step[i] = sym_const(1);
		if (state == SLICE_OPEN)
			dims[i] = op_fresh(o, "elements of a slice");
	}
	for (size_t i = 0; i < n; i++) {
		const int axis = cuts[i].axis;

		dims[axis] = slice_length(o, v->dims[axis], &cuts[i], &begin[axis]);
		step[axis] = cuts[i].step;
		if (sym_unknown_reason(dims[axis])) {
			if (sym_is(cuts[i].step, 0)) {
				op_unknown(o, "its step is 0");
				return;
			}
			dims[axis] = op_fresh(o, "elements of a slice");
		}
	}
	op_set(o, 0, v->dtype, v->rank, dims);
	if (state == SLICE_READ)
		slice_contents(o, v, begin, step);
}

/* --- Gather --- */

static void shape_gather(op *o)
{
	const val *v = op_need_rank(o, 0, 1), *indices = v ? op_need(o, 1) : NULL;
	size_t n, small, from[ONNX_INTS_MAX], inner = 1;
	const sym_int *at = op_ints(o, 1, &n);
	int axis, rank;

	if (!indices || !op_axis(o, op_attr_int(o, "axis", 0), v->rank, &axis))
		return;
	rank = v->rank - 1 + indices->rank;
	sym_int *dims = op_dims(o, (size_t)rank);
	for (int i = 0, k = 0; i < v->rank; i++)
		if (i != axis)
			dims[k++] = v->dims[i];
		else
			for (int j = 0; j < indices->rank; j++)
				dims[k++] = indices->dims[j];
	op_set(o, 0, v->dtype, rank, dims);
	small = op_small(op_out(o, 0));
	if (small == SIZE_MAX || !at || op_small(v) == SIZE_MAX || (!v->ints && !v->reals))
		return;
	for (int k = axis + 1; k < v->rank; k++)
		inner *= (size_t)v->dims[k].v;
	for (size_t i = 0; i < small; i++) {
		size_t in = i % inner, row = i / inner / n;
		sym_int index = at[i / inner % n];
		int64_t size = v->dims[axis].v;
		if (!sym_known(index) || index.v < -size || index.v >= size)
			return;
		size_t along = (size_t)(index.v < 0 ? index.v + size : index.v);
		from[i] = (row * (size_t)size + along) * inner + in;
	}
	tensor_pick(o, 0, 0, from, small);
}

static void shape_gather_elements(op *o)
{
	const val *v = op_need(o, 0), *indices = v ? op_need(o, 1) : NULL;

	if (!indices)
		return;
	if (v->rank != indices->rank) {
		op_unknown(o, "its indices have %d dimensions, not %d", indices->rank, v->rank);
		return;
	}
	op_set(o, 0, v->dtype, indices->rank, indices->dims);
}

void shape_gather_nd(op *o)
{
	const val *v = op_need_rank(o, 0, 1), *indices = v ? op_need_rank(o, 1, 1) : NULL;
	int64_t batch = op_attr_int(o, "batch_dims", 0);

	if (!indices)
		return;
	sym_int last = indices->dims[indices->rank - 1];
	if (!sym_known(last)) {
		op_set_unknown(o, 0, v->dtype, "how many axes it indexes is not known");
		return;
	}
	if (batch < 0 || batch >= indices->rank || last.v < 0 || last.v > v->rank - batch) {
		op_unknown(o, "it indexes %lld axes after %lld of %d dimensions", (long long)last.v,
			   (long long)batch, v->rank);
		return;
	}
	int keep = v->rank - (int)batch - (int)last.v, rank = indices->rank - 1 + keep;
	sym_int *dims = op_dims(o, (size_t)rank);
	for (int i = 0; i < indices->rank - 1; i++)
		dims[i] = indices->dims[i];
	for (int i = 0; i < keep; i++)
		dims[indices->rank - 1 + i] = v->dims[v->rank - keep + i];
	op_set(o, 0, v->dtype, rank, dims);
}

/* Follows only the contents of vectors: exporters assemble shapes in this way. */
static void shape_scatter_nd(op *o)
{
	const val *v = op_need(o, 0), *updates = op_in(o, 2);
	size_t n;
	const sym_int *at = op_ints(o, 1, &n);
	const char *reduction = op_attr_text(o, "reduction");

	if (!v)
		return;
	op_same(o, 0, v);
	if (v->rank != 1 || !v->ints || !at || !updates || !updates->ints || updates->n != n ||
	    (reduction && strcmp(reduction, "none") != 0))
		return;
	sym_int *ints = op_dims(o, v->n);
	memcpy(ints, v->ints, v->n * sizeof *ints);
	for (size_t i = 0; i < n; i++) {
		int64_t index = sym_known(at[i]) ? at[i].v : INT64_MIN;
		if (index < 0)
			index += (int64_t)v->n;
		if (index < 0 || (size_t)index >= v->n)
			return;
		ints[index] = updates->ints[i];
	}
	op_set_ints(o, 0, ints, v->n);
}

/* --- by value --- */

/* Counts the elements of an input that are not 0; false: its contents are not known. */
static bool count_true(const op *o, size_t input, int64_t *ret)
{
	size_t n;
	const double *v = op_reals(o, input, &n);
	int64_t count = 0;

	if (!v)
		return false;
	for (size_t i = 0; i < n; i++)
		count += v[i] != 0;
	*ret = count;
	return true;
}

static void shape_compress(op *o)
{
	const val *v = op_need(o, 0);
	int64_t count;
	int axis;

	if (!v)
		return;
	sym_int *dims = op_copy_dims(o, v, 1);
	sym_int kept =
	    count_true(o, 1, &count) ? sym_const(count) : op_fresh(o, "elements that are kept");
	if (!op_attr(o, "axis")) {
		op_set(o, 0, v->dtype, 1, &kept);
		return;
	}
	if (!op_axis(o, op_attr_int(o, "axis", 0), v->rank, &axis))
		return;
	dims[axis] = kept;
	op_set(o, 0, v->dtype, v->rank, dims);
}

static void shape_topk(op *o)
{
	const val *v = op_need_rank(o, 0, 1);
	sym_int k;
	int axis;

	if (!v || !op_axis(o, op_attr_int(o, "axis", -1), v->rank, &axis))
		return;
	if (op_attr(o, "k"))
		k = sym_const(op_attr_int(o, "k", 0));
	else if (!op_int(o, 1, &k) || sym_unknown_reason(k))
		k = op_fresh(o, "the number of largest elements");
	sym_int *dims = op_copy_dims(o, v, 0);
	dims[axis] = k;
	op_set(o, 0, v->dtype, v->rank, dims);
	op_set(o, 1, ONNX_INT64, v->rank, dims);
}

static void shape_nonzero(op *o)
{
	const val *v = op_need(o, 0);
	size_t n, count = 0;
	const double *reals = op_reals(o, 0, &n);
	sym_int dims[2];

	if (!v)
		return;
	if (v->rank == 0) {
		op_set_unknown(o, 0, ONNX_INT64, "engines differ on a tensor without dimensions");
		return;
	}
	dims[0] = sym_const(v->rank);
	for (size_t i = 0; reals && i < n; i++)
		count += reals[i] != 0;
	dims[1] = reals && op_small(v) == n ? sym_const((int64_t)count)
					    : op_fresh(o, "elements that are not zero");
	op_set(o, 0, ONNX_INT64, 2, dims);
	if (!sym_known(dims[1]) || count * (size_t)v->rank > ONNX_INTS_MAX)
		return;
	sym_int *ints = op_dims(o, count * (size_t)v->rank);
	for (size_t i = 0, found = 0; i < n; i++) {
		size_t rest = i;
		if (reals[i] == 0)
			continue;
		for (int k = v->rank - 1; k >= 0; k--) {
			ints[(size_t)k * count + found] =
			    sym_const((int64_t)(rest % (size_t)v->dims[k].v));
			rest /= (size_t)v->dims[k].v;
		}
		found++;
	}
	op_set_ints(o, 0, ints, count * (size_t)v->rank);
}

static void pick_shape_unique(op *o)
{
	const val *v = op_need(o, 0);
	sym_int count = op_fresh(o, "different elements"), all;
	int axis;

	if (!v)
		return;
	if (op_attr(o, "axis")) {
		if (!op_axis(o, op_attr_int(o, "axis", 0), v->rank, &axis))
			return;
		sym_int *dims = op_copy_dims(o, v, 0);
		all = v->dims[axis];
		dims[axis] = count;
		op_set(o, 0, v->dtype, v->rank, dims);
	} else {
		all = op_elements(o, v);
		op_set(o, 0, v->dtype, 1, &count);
	}
	op_set(o, 1, ONNX_INT64, 1, &count);
	op_set(o, 2, ONNX_INT64, 1, &all);
	op_set(o, 3, ONNX_INT64, 1, &count);
}

static void shape_where(op *o)
{
	const val *c = op_in(o, 0), *a = op_in(o, 1), *b = op_in(o, 2);

	op_set_broadcast(o, NULL, 3, op_type(o, 1, op_type(o, 2, 0)));
	size_t n = op_small(op_out(o, 0));
	if (n == SIZE_MAX || !c->ints || !a->ints || !b->ints)
		return;
	sym_int *ints = op_dims(o, n);
	const val *out = op_out(o, 0);
	for (size_t i = 0; i < n; i++) {
		sym_int which = c->ints[op_source(c, out, i)];
		sym_int x = a->ints[op_source(a, out, i)], y = b->ints[op_source(b, out, i)];
		ints[i] = sym_same(x, y)     ? x
			  : sym_known(which) ? (which.v ? x : y)
					     : sym_unknown(o->nums, "it depends on values");
	}
	op_set_ints(o, 0, ints, n);
}

/* Updates replace elements, or are combined with them by an addition, a product or a comparison. */
static void cost_scatter(op *o)
{
	const char *how = op_attr_text(o, "reduction");
	const bool combines = how && *how && strcmp(how, "none") != 0;

	op_cost_flops(o, combines ? op_elements(o, op_in(o, 2)) : sym_const(0));
}

static const op_row tensor_pick_rows[] = {
    {"Compress", shape_compress, .traffic = TRAFFIC_PICK},
    /* ONNX Runtime's, in ONNX's domain */
    {"DynamicSlice", shape_slice, .traffic = TRAFFIC_PICK, .roles = ".c"},
    {"Gather", shape_gather, .traffic = TRAFFIC_PICK, .roles = "p."},
    {"GatherElements", shape_gather_elements, .traffic = TRAFFIC_PICK},
    {"GatherND", shape_gather_nd, .traffic = TRAFFIC_PICK},
    {"NonZero", shape_nonzero, cost_each_in, 1, .how = "FLOPs: 1 comparison per input element"},
    {"ReverseSequence", shape_same, .roles = ".c"},
    {"Scatter", .shape = shape_same_first},
    {"ScatterElements", shape_same_first, cost_scatter,
     .how = "FLOPs: with a reduction, 1 per element of the updates"},
    {"ScatterND", shape_scatter_nd, cost_scatter,
     .how = "FLOPs: with a reduction, 1 per element of the updates"},
    {"Slice", shape_slice, .traffic = TRAFFIC_PICK, .roles = ".c"},
    {"TensorScatter", .shape = shape_same_first},
    {"TopK", shape_topk, cost_each_in, 1, .roles = ".c",
     .how = "FLOPs: 1 comparison per input element at least"},
    {"Trilu", shape_same_first, .roles = ".c"},
    {"Unique", pick_shape_unique, cost_each_in, 1,
     .how = "FLOPs: 1 comparison per input element at least"},
    {"Where", .shape = shape_where},
};

const op_family op_family_tensor_pick = {"", tensor_pick_rows,
					 sizeof tensor_pick_rows / sizeof *tensor_pick_rows};
