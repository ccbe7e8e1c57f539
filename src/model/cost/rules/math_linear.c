/* math_linear.c - matrix products and determinants.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/math_rules.h"
#include "model/cost/rules/nn.h"

static void shape_gemm(op *o)
{
	const val *a = op_need(o, 0), *b = a ? op_need(o, 1) : NULL;

	if (!a || !b)
		return;
	if (a->rank != 2 || b->rank != 2) {
		op_unknown(o, "it multiplies matrices, and an input has %d dimensions",
			   a->rank != 2 ? a->rank : b->rank);
		return;
	}
	product_shape(o, 0, 1, op_flag(o, "transA"), op_flag(o, "transB"), a->dtype);
}

static void linear_cost_gemm(op *o)
{
	const val *c = op_in(o, 2);
	num out = op_elements_out(o), extra = num_int(0);
	double alpha = op_attr_float(o, "alpha", 1), beta = op_attr_float(o, "beta", 1);

	if (c)
		extra = num_add(o->nums, extra, out);
	if (alpha < 1 || alpha > 1)
		extra = num_add(o->nums, extra, out);
	if (c && (beta < 1 || beta > 1))
		extra = num_add(o->nums, extra, op_elements(o, c));
	op_cost_macs(o, product_macs(o, 0, op_flag(o, "transA")), extra);
}

static void shape_det(op *o)
{
	const val *x = op_need_rank(o, 0, 2);

	if (x)
		op_set(o, 0, x->dtype, x->rank - 2, x->dims);
}

/* Gaussian elimination of an m x m matrix: m(m-1)/2 divisions, (m-1)m(2m-1)/6 each of products and
 * subtractions, and m-1 products of the diagonal (Golub, Van Loan: Matrix Computations, 3.2). */
static void cost_det(op *o)
{
	const val *x = op_in(o, 0);
	num_table *t = o->nums;

	if (!x || x->rank < 2 || !op_out(o, 0)) {
		op_flops_unknown(o, "the shape of its input is not known");
		return;
	}
	num m = x->dims[x->rank - 1], less = num_sub(t, m, num_int(1));
	num pairs = num_mul(t, m, less);
	num twice = num_sub(t, num_mul(t, num_int(2), m), num_int(1));
	num sum = num_add(t, num_mul(t, num_int(3), pairs),
			  num_mul(t, num_int(2), num_mul(t, pairs, twice)));
	num each = num_add(t, num_floor_div(t, sum, num_int(6)), less);
	op_cost_flops(o, num_mul(t, each, op_elements(o, op_out(o, 0))));
}

static const op_row rows[] = {
    {"Det", shape_det, cost_det, .how = "FLOPs of Gaussian elimination"},
    {"Gemm", shape_gemm, linear_cost_gemm, .roles = "p",
     .how = "MACs: output elements x contracted size; FLOPs besides: 1 per output element for C, "
	    "1 per output element for alpha and 1 per element of C for beta where they are not 1"},
    {"MatMul", shape_product, cost_product, .form = &product_plain, .roles = "p",
     .how = "MACs: output elements x contracted size"},
};

const op_family op_family_math_linear = {"", rows, sizeof rows / sizeof *rows};
