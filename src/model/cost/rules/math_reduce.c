/* math_reduce.c - reductions (ReduceSum ...), ArgMax and ArgMin, cumulative sums: shapes, FLOPs
 * and, for small integer tensors, the results themselves.
 *
 * Shape: the axes come from the attribute or an input; each is removed or, with keepdims, becomes
 * 1. If the axes depend on values, the rank may still follow from their number; the sizes are then
 * new symbols that depend on values.
 *
 * Constant folding: exporters compute shapes with such operators, so results are followed.
 * fold_reduce() maps each element to its output by the coordinates that stay, in one pass of at
 * most ONNX_INTS_MAX elements. A result that the element type cannot hold is absent (math_fit()).
 * Sum, product, maximum and minimum are folded, as the parameters of their rows state.
 *
 * Cost: FLOPs for each input element, and for some rows for each output element. Rows are in the
 * order of strcmp(), since they are found by bisection.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/math_rules.h"

#include <string.h>

/* The parameters of a row: how a reduction makes its result from the elements. */
typedef struct reduction_form {
	sym_int (*fn)(sym_table *t, sym_int a, sym_int b);
	int64_t begin; /* the result for no elements; max and min have none */
	bool begins;
} reduction_form;

static void fold_reduce(op *o, const val *x, const bool *gone)
{
	const reduction_form *f = o->row->form;
	size_t n = 0, m;
	const sym_int *from = math_whole(o, 0, &n);
	const val *out = op_out(o, 0);
	sym_int elements = out && out->rank >= 0 ? op_elements(o, out) : sym_const(-1);

	if (!f || !from || !sym_known(elements) || elements.v < 0 || elements.v > ONNX_INTS_MAX)
		return;
	for (int i = 0; i < x->rank; i++)
		if (!sym_known(x->dims[i]))
			return;
	m = (size_t)elements.v;
	sym_int *r = op_dims(o, m);
	bool *seen = mem_arena_array(o->arena, m, sizeof *seen);
	if (!r || !seen)
		return;
	for (size_t i = 0; i < m; i++) {
		r[i] = sym_const(f->begin);
		seen[i] = f->begins;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = i, index = 0, stride = 1;
		for (int k = x->rank - 1; k >= 0; k--) {
			size_t size = (size_t)x->dims[k].v;
			if (!gone[k]) {
				index += at % size * stride;
				stride *= size;
			}
			at /= size;
		}
		r[index] = seen[index] ? math_fit(o, x->dtype, f->fn(o->nums, r[index], from[i]))
				       : from[i];
		seen[index] = true;
	}
	for (size_t i = 0; i < m; i++)
		if (!seen[i])
			return;
	op_set_ints(o, 0, r, m);
}

void math_reduce(op *o, const val *x, const bool *gone, int64_t dtype)
{
	bool keep = op_attr_int(o, "keepdims", 1) != 0;
	sym_int *dims = op_dims(o, (size_t)x->rank);
	int rank = 0;

	for (int i = 0; i < x->rank; i++)
		if (!gone[i])
			dims[rank++] = x->dims[i];
		else if (keep)
			dims[rank++] = sym_const(1);
	op_set(o, 0, dtype, rank, dims);
}

/* Sets the shape where the axes depend on values; how many there are may be known. */
static void reduce_open(op *o, const val *x, const val *axes, bool keep, bool noop)
{
	sym_int count = axes->kind == VAL_TENSOR && axes->rank == 1 ? axes->dims[0] : sym_const(-1);
	bool all[COST_RANK_MAX];
	sym_int *dims = op_dims(o, (size_t)x->rank);
	int rank = x->rank;

	if (sym_is(count, 0) || sym_is(count, x->rank)) {
		for (int i = 0; i < x->rank; i++)
			all[i] = count.v != 0 || !noop;
		math_reduce(o, x, all, x->dtype);
		return;
	}
	if (!keep && (!sym_known(count) || count.v < 0 || count.v > rank)) {
		op_set_unknown(o, 0, x->dtype, "which axes it reduces depends on values");
		return;
	}
	if (!keep)
		rank -= (int)count.v;
	for (int i = 0; i < rank; i++)
		dims[i] = op_fresh(o, "a size that depends on which axes are reduced");
	op_set(o, 0, x->dtype, rank, dims);
}

static void shape_reduce(op *o)
{
	const val *x = op_need(o, 0), *in = op_in(o, 1);
	bool keep = op_attr_int(o, "keepdims", 1) != 0;
	bool noop = op_flag(o, "noop_with_empty_axes");
	bool gone[COST_RANK_MAX] = {false};
	const int64_t *axes;
	size_t n;

	if (!x)
		return;
	if (in && !in->ints && !op_attr(o, "axes")) {
		reduce_open(o, x, in, keep, noop);
		return;
	}
	if (!op_axes(o, 1, x->rank, &axes, &n))
		return;
	for (size_t i = 0; i < n; i++)
		gone[axes[i]] = true;
	for (int i = 0; i < x->rank && !n && !noop; i++)
		gone[i] = true;
	math_reduce(o, x, gone, x->dtype);
	fold_reduce(o, x, gone);
}

/* With noop_with_empty_axes a reduction over no axes only takes the other steps, on each element.
 */
static void cost_reduce(op *o)
{
	const val *x = op_in(o, 0), *axes = op_in(o, 1);
	const bool none = !axes || (axes->rank == 1 && sym_is(axes->dims[0], 0));
	const bool mean = strcmp(o->row->name, "ReduceMean") == 0;

	if (!op_flag(o, "noop_with_empty_axes") || op_attr(o, "axes") || !none) {
		cost_in_out(o);
		return;
	}
	op_cost_flops(
	    o, op_times(o, o->row->flops_in - 1 + (mean ? 0 : o->row->flops), op_elements(o, x)));
}

static void shape_arg(op *o)
{
	const val *x = op_need(o, 0);
	bool gone[COST_RANK_MAX] = {false};
	int axis;

	if (!x || !op_axis(o, op_attr_int(o, "axis", 0), x->rank, &axis))
		return;
	gone[axis] = true;
	math_reduce(o, x, gone, ONNX_INT64);
}

/* --- running sums and products --- */

static void fold_cumulate(op *o, const val *x, int axis)
{
	bool product = strcmp(o->row->name, "CumProd") == 0;
	bool reverse = op_flag(o, "reverse");
	bool exclusive = op_flag(o, "exclusive");
	size_t n = 0, inner = 1, size;
	const sym_int *from = math_whole(o, 0, &n);

	for (int i = 0; i < x->rank; i++)
		if (!sym_known(x->dims[i]))
			return;
	if (!from || !n)
		return;
	for (int i = axis + 1; i < x->rank; i++)
		inner *= (size_t)x->dims[i].v;
	size = (size_t)x->dims[axis].v;
	sym_int *r = op_dims(o, n);
	for (size_t i = 0; r && i < n; i++) {
		/* Each row is walked once, when i is at its first element. */
		if (i / inner % size)
			continue;
		sym_int so_far = sym_const(product);
		for (size_t k = 0; k < size; k++) {
			size_t at = i + (reverse ? size - 1 - k : k) * inner;
			sym_int next = product ? sym_mul(o->nums, so_far, from[at])
					       : sym_add(o->nums, so_far, from[at]);
			next = math_fit(o, x->dtype, next);
			r[at] = exclusive ? so_far : next;
			so_far = next;
		}
	}
	if (r)
		op_set_ints(o, 0, r, n);
}

static void shape_cumulate(op *o)
{
	const val *x = op_need(o, 0);
	sym_int axis;
	int at;

	if (!x)
		return;
	op_set(o, 0, x->dtype, x->rank, x->dims);
	if (op_int(o, 1, &axis) && sym_known(axis) && axis.v >= -x->rank && axis.v < x->rank &&
	    op_axis(o, axis.v, x->rank, &at))
		fold_cumulate(o, x, at);
}

#define HOW_EACH_IN "FLOPs: 1 per input element"
#define REDUCE(op, fn, begin, begins)                                             \
	{                                                                         \
		op, shape_reduce, cost_reduce, 0, .flops_in = 1, .roles = ".c",   \
						  .how = HOW_EACH_IN,             \
						  .form = &(const reduction_form) \
		{                                                                 \
			fn, begin, begins                                         \
		}                                                                 \
	}

static const op_row math_reduce_rows[] = {
    {"ArgMax", shape_arg, cost_each_in, 1, .how = HOW_EACH_IN},
    {"ArgMin", shape_arg, cost_each_in, 1, .how = HOW_EACH_IN},
    {"CumProd", shape_cumulate, cost_each, 1, .roles = ".c", .how = HOW_EACH},
    {"CumSum", shape_cumulate, cost_each, 1, .roles = ".c", .how = HOW_EACH},
    {"ReduceL1", shape_reduce, cost_reduce, 0, .flops_in = 2, .roles = ".c",
     .how = "FLOPs per input element: abs, +"},
    {"ReduceL2", shape_reduce, cost_reduce, 1, .flops_in = 2, .roles = ".c",
     .how = "FLOPs: 2 per input element (*, +), sqrt per output element"},
    {"ReduceLogSum", shape_reduce, cost_reduce, 1, .flops_in = 1, .roles = ".c",
     .how = "FLOPs: 1 per input element, log per output element"},
    {"ReduceLogSumExp", shape_reduce, cost_reduce, 1, .flops_in = 2, .roles = ".c",
     .how = "FLOPs: 2 per input element (exp, +), log per output element"},
    REDUCE("ReduceMax", sym_max, 0, false),
    {"ReduceMean", shape_reduce, cost_reduce, 1, .flops_in = 1, .roles = ".c",
     .how = "FLOPs: 1 per input element, a division per output element"},
    REDUCE("ReduceMin", sym_min, 0, false),
    REDUCE("ReduceProd", sym_mul, 1, true),
    REDUCE("ReduceSum", sym_add, 0, true),
    {"ReduceSumSquare", shape_reduce, cost_reduce, 0, .flops_in = 2, .roles = ".c",
     .how = "FLOPs per input element: *, +"},
};

const op_family op_family_math_reduce = {"", math_reduce_rows,
					 sizeof math_reduce_rows / sizeof *math_reduce_rows};
