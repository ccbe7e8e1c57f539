/* math_einsum.c - Einstein summation: the shape and the cost of Einsum, from its equation.
 * https://onnx.ai/onnx/operators/onnx__Einsum.html
 *
 * Cost: the operands are contracted from left to right, two at a time. A contraction takes one MAC
 * for each combination of the labels present; a label is dropped when neither the output nor a
 * later operand has it. This is not the cheapest order, which engines may search for.
 *
 * One pass over the operands finds the last use of each label: at most operands x (labels +
 * dimensions) steps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/einsum.h"
#include "model/cost/rules/math_rules.h"

#include <string.h>

static void shape_einsum(op *o)
{
	einsum e;
	const val *x = op_in(o, 0);

	if (!einsum_read(o, &e, NULL, NULL))
		return;
	sym_int *dims = op_dims(o, (size_t)e.nout);
	for (int i = 0; i < e.nout; i++)
		dims[i] = e.size[e.out[i]];
	op_set(o, 0, x->dtype, e.nout, dims);
}

static sym_int product_of(op *o, const einsum *e, const bool *has)
{
	sym_int p = sym_const(1);

	for (int i = 0; i < EINSUM_LABELS; i++)
		if (has[i])
			p = sym_mul(o->nums, p, e->size[i]);
	return p;
}

/* Sets the cost. One operand is only summed. Two operands take one MAC for each combination of all
 * their indices. Of more operands the first is multiplied with the second, the result with the
 * third and so on; an index stays while the output or a later operand has it. */
static void cost_einsum(op *o)
{
	size_t n = o->made->nin;
	einsum e;
	int(*labels)[COST_RANK_MAX] = mem_arena_array(o->arena, n, sizeof *labels);
	int *ranks = mem_arena_array(o->arena, n, sizeof *ranks);
	cost_matmul *products = mem_arena_array(o->arena, n, sizeof *products);
	bool have[EINSUM_LABELS] = {false}, kept[EINSUM_LABELS];
	size_t last[EINSUM_LABELS] = {0}; /* the last operand that has the label */
	sym_int macs = sym_const(0);

	if (!labels || !ranks || !products || !einsum_read(o, &e, labels, ranks)) {
		op_cost_unknown(o, "its equation or the shapes of its inputs are not known");
		return;
	}
	memset(kept, 0, sizeof kept);
	for (int i = 0; i < e.nout; i++)
		kept[e.out[i]] = true;
	for (int k = 0; k < ranks[0]; k++)
		have[labels[0][k]] = true;
	if (n == 1) {
		bool sums = false;
		for (int i = 0; i < EINSUM_LABELS; i++)
			sums |= have[i] && !kept[i];
		op_cost_flops(o, sums ? product_of(o, &e, have) : sym_const(0));
		return;
	}
	for (size_t i = 1; i < n; i++)
		for (int k = 0; k < ranks[i]; k++)
			last[labels[i][k]] = i;
	for (size_t i = 1; i < n; i++) {
		for (int k = 0; k < ranks[i]; k++)
			have[labels[i][k]] = true;
		products[i - 1] = (cost_matmul){product_of(o, &e, have), i, i > 1};
		macs = sym_add(o->nums, macs, products[i - 1].macs);
		for (int k = 0; k < EINSUM_LABELS; k++)
			have[k] &= kept[k] || last[k] > i;
	}
	op_products(o, products, n - 1);
	op_cost_macs(o, macs, sym_const(0));
}

static const op_row math_einsum_rows[] = {
    {"Einsum", shape_einsum, cost_einsum, .roles = "p",
     .how = "MACs: product of the sizes of all indices of two operands; "
	    "more operands from left to right; one operand: 1 FLOP per element where it sums"},
};

const op_family op_family_math_einsum = {"", math_einsum_rows,
					 sizeof math_einsum_rows / sizeof *math_einsum_rows};
