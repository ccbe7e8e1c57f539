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
	op_one_type(o, NULL, 3);
}

static void shape_matmul(op *o)
{
	shape_product(o);
	op_one_type(o, NULL, 2);
}

static void linear_cost_gemm(op *o)
{
	const val *c = op_in(o, 2);
	sym_int out = op_elements_out(o), extra = sym_const(0);
	double alpha = op_attr_float(o, "alpha", 1), beta = op_attr_float(o, "beta", 1);

	if (c)
		extra = sym_add(o->nums, extra, out);
	if (alpha < 1 || alpha > 1)
		extra = sym_add(o->nums, extra, out);
	if (c && (beta < 1 || beta > 1))
		extra = sym_add(o->nums, extra, op_elements(o, c));
	op_cost_macs(o, product_macs(o, 0, op_flag(o, "transA"), 1, op_flag(o, "transB")), extra);
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
	sym_table *t = o->nums;

	if (!x || x->rank < 2 || !op_out(o, 0)) {
		op_flops_unknown(o, "the shape of its input is not known");
		return;
	}
	sym_int m = x->dims[x->rank - 1], less = sym_sub(t, m, sym_const(1));
	sym_int pairs = sym_mul(t, m, less);
	sym_int twice = sym_sub(t, sym_mul(t, sym_const(2), m), sym_const(1));
	sym_int sum = sym_add(t, sym_mul(t, sym_const(3), pairs),
			      sym_mul(t, sym_const(2), sym_mul(t, pairs, twice)));
	sym_int each = sym_add(t, sym_floor_div(t, sum, sym_const(6)), less);
	op_cost_flops(o, sym_mul(t, each, op_elements(o, op_out(o, 0))));
}

static const op_row math_linear_rows[] = {
    {"Det", shape_det, cost_det, .how = "FLOPs of Gaussian elimination"},
    {"Gemm", shape_gemm, linear_cost_gemm, .roles = "p",
     .how = "MACs: output elements x contracted size; FLOPs besides: 1 per output element for C, "
	    "1 per output element for alpha and 1 per element of C for beta where they are not 1"},
    {"MatMul", shape_matmul, cost_product, .form = &product_plain, .roles = "p",
     .how = "MACs: output elements x contracted size"},
};

const op_family op_family_math_linear = {"", math_linear_rows,
					 sizeof math_linear_rows / sizeof *math_linear_rows};
