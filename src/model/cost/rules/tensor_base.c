/* tensor_base.c - shared functions of the rules of data movement.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/tensor_rules.h"

#include <string.h>

void tensor_pick(op *o, size_t input, size_t output, const size_t *from, size_t n)
{
	const val *v = op_in(o, input);

	if (!v || (!v->ints && !v->reals) || n > ONNX_INTS_MAX)
		return;
	for (size_t i = 0; i < n; i++)
		if (from[i] != SIZE_MAX && from[i] >= v->n)
			return;
	if (v->ints) {
		sym_int *ints = op_dims(o, n);
		for (size_t i = 0; i < n; i++)
			ints[i] = from[i] == SIZE_MAX ? sym_const(0) : v->ints[from[i]];
		op_set_ints(o, output, ints, n);
		return;
	}
	double *reals = mem_arena_array(o->arena, n, sizeof *reals);
	for (size_t i = 0; reals && i < n; i++)
		reals[i] = from[i] == SIZE_MAX ? 0 : v->reals[from[i]];
	if (reals)
		op_set_reals(o, output, reals, n);
}

bool tensor_dims_of(op *o, size_t input, sym_int **ret_dims, int *ret_rank, const char *what)
{
	size_t n = 0;
	const sym_int *from = op_ints(o, input, &n);
	const val *v = op_in(o, input);

	if (!from) {
		/* The sizes are not known, but how many there are. */
		if (!v || v->kind != VAL_TENSOR || v->rank != 1 || !sym_known(v->dims[0]) ||
		    v->dims[0].v > COST_RANK_MAX)
			return op_unknown(o, "its shape depends on values");
		n = (size_t)v->dims[0].v;
	}
	if (n > COST_RANK_MAX)
		return op_unknown(o, "it would have more dimensions than any operator takes");
	sym_int *dims = op_dims(o, n);
	for (size_t i = 0; i < n; i++)
		dims[i] = from && !sym_unknown_reason(from[i]) ? from[i] : op_fresh(o, what);
	*ret_dims = dims;
	*ret_rank = (int)n;
	return true;
}

int64_t tensor_dtype_attr(const op *o, const char *name, int64_t otherwise)
{
	int64_t dtype = op_attr_int(o, name, 0);

	return dtype > 0 ? dtype : otherwise;
}

/* Returns the stride, in elements, of each dimension. */
static void strides_of(const val *v, size_t *ret)
{
	size_t stride = 1;

	for (int k = v->rank - 1; k >= 0; k--) {
		ret[k] = stride;
		stride *= (size_t)v->dims[k].v;
	}
}

bool tensor_view_init(op *o, tensor_view *w)
{
	const val *v = op_in(o, 0);

	*w = (tensor_view){0};
	if (op_small(v) == SIZE_MAX || (!v->ints && !v->reals))
		return false;
	strides_of(v, w->jump);
	return true;
}

void tensor_view_set(op *o, size_t output, const tensor_view *w)
{
	const val *out = op_out(o, output);
	size_t from[ONNX_INTS_MAX], n = op_small(out);

	if (n == SIZE_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t rest = i, at = w->first;
		for (int k = out->rank - 1; k >= 0; k--) {
			size_t coordinate = rest % (size_t)out->dims[k].v;
			rest /= (size_t)out->dims[k].v;
			at += (w->wrap[k] ? coordinate % w->wrap[k] : coordinate) * w->jump[k];
		}
		from[i] = at;
	}
	tensor_pick(o, 0, output, from, n);
}
