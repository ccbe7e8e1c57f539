/* microsoft_product.c - ONNX Runtime's matrix products: fused, quantised, packed, of experts.
 * https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/rules/microsoft_rules.h"
#include "cost/rules/nn.h"

#include <string.h>

/* FLOPs for each element: a factor that is not 1 multiplies it. */
static int64_t factor(const op *o, const char *name)
{
	double f = op_attr_float(o, name, 1);

	return f < 1 || f > 1;
}

/* --- fused products --- */

/* The sizes that are multiplied. A transposed batch moves the first dimension to the place before
 * the last; then `last` swaps the last two. */
static const num *arranged(op *o, const val *v, bool batch, bool last)
{
	int n = v->rank;
	num *dims = op_dims(o, (size_t)n);

	memcpy(dims, v->dims, (size_t)n * sizeof *dims);
	if (batch && n > 2) {
		for (int i = 0; i + 2 < n; i++)
			dims[i] = v->dims[i + 1];
		dims[n - 2] = v->dims[0];
	}
	if (last && n > 1) {
		num held = dims[n - 1];
		dims[n - 1] = dims[n - 2];
		dims[n - 2] = held;
	}
	return dims;
}

void shape_ms_fused_matmul(op *o)
{
	const val *a = op_need_rank(o, 0, 1), *b = a ? op_need_rank(o, 1, 1) : NULL;

	if (b)
		product_set(o, arranged(o, a, op_flag(o, "transBatchA"), op_flag(o, "transA")),
			    a->rank,
			    arranged(o, b, op_flag(o, "transBatchB"), op_flag(o, "transB")),
			    b->rank, a->dtype);
}

void cost_ms_fused_matmul(op *o)
{
	const val *a = op_in(o, 0);
	num macs;

	if (!a || a->rank < 1) {
		op_cost_unknown(o, "its shapes are not known");
		return;
	}
	const num *dims = arranged(o, a, op_flag(o, "transBatchA"), op_flag(o, "transA"));
	macs = num_mul(o->nums, op_elements_out(o), dims[a->rank - 1]);
	product_cost(o, macs, factor(o, "alpha"));
}

void cost_ms_gemm(op *o)
{
	int64_t each = factor(o, "alpha") + (op_in(o, 2) ? 1 + factor(o, "beta") : 0);

	product_cost(o, product_macs(o, 0, op_flag(o, "transA")), each);
}

void shape_ms_gemm_float8(op *o)
{
	product_shape(o, 0, 1, op_flag(o, "transA"), op_flag(o, "transB"),
		      op_attr_int(o, "dtype", ONNX_FLOAT));
}

/* --- quantised --- */

void shape_ms_qgemm(op *o)
{
	int64_t dtype = op_in(o, 8) ? op_type(o, 8, 0) : op_type(o, 1, ONNX_FLOAT);

	product_shape(o, 0, 3, op_flag(o, "transA"), op_flag(o, "transB"), dtype);
}

/* One scale makes the sum real, or five operations quantise it. */
void cost_ms_qgemm(op *o)
{
	product_cost(o, product_macs(o, 0, op_flag(o, "transA")),
		     op_has(o, 6) + (op_in(o, 8) ? 5 : 1));
}

/* --- weights packed in few bits: sizes are attributes --- */

static num positive(op *o, const char *name)
{
	int64_t v = op_attr_int(o, name, 0);

	return v > 0 ? num_int(v) : num_none(o->nums, "its attribute %s is missing", name);
}

static bool untransposed(const op *o)
{
	return op_attr_int(o, "transB", 1) == 0;
}

void shape_ms_matmul_nbits(op *o)
{
	product_rows_shape(o, 0, positive(o, untransposed(o) ? "K" : "N"), op_type(o, 0, 0));
}

/* Each weight counts as one parameter, however many share a byte. */
static void count_packed(op *o, size_t i, num elements)
{
	const val *b = op_in(o, i);

	if (b && b->initializer)
		o->made->params = num_add(o->nums, o->made->params, elements);
}

void cost_ms_matmul_nbits(op *o)
{
	num weights = num_mul(o->nums, positive(o, "N"), positive(o, "K"));
	num inner = positive(o, untransposed(o) ? "N" : "K");

	count_packed(o, 1, weights);
	product_cost(o, num_mul(o->nums, op_elements_out(o), inner), op_has(o, 5));
	op_cost_more(o, op_times(o, 2, weights));
}

/* SimplifiedLayerNormalization, and the sum before it. */
static num norm_flops(op *o, size_t skip, size_t scale)
{
	return op_times(o, (op_in(o, scale) ? 4 : 0) + op_has(o, skip),
			op_elements(o, op_in(o, 0)));
}

void shape_ms_nbits_mlp(op *o)
{
	product_rows_shape(o, 0, positive(o, "N"), op_type(o, 0, 0));
	if (op_in(o, 0))
		op_same(o, 1, op_in(o, 0));
}

void cost_ms_nbits_mlp(op *o)
{
	num_table *t = o->nums;
	num out = op_elements(o, op_out(o, 0)), k = positive(o, "K");
	num weights = op_times(o, 2, num_mul(t, positive(o, "N"), k));
	num extra = num_add(t, norm_flops(o, 1, 2), op_times(o, 2, weights));

	count_packed(o, 3, weights);
	extra = num_add(t, extra, op_times(o, 1 + op_has(o, 5) + op_has(o, 8), out));
	extra = num_add(t, extra, activation_cost(o, "activation", out));
	op_cost_macs(o, op_times(o, 2, num_mul(t, out, k)), extra);
}

void shape_ms_nbits_qkv(op *o)
{
	const val *x = op_need_rank(o, 0, 1);

	if (!x)
		return;
	num *dims = op_copy_dims(o, x, 0);
	for (size_t i = 0; i < 3; i++) {
		dims[x->rank - 1] = positive(o, i ? "Nkv" : "Nq");
		op_set(o, i, x->dtype, x->rank, dims);
	}
	op_same(o, 3, x);
}

void cost_ms_nbits_qkv(op *o)
{
	num_table *t = o->nums;
	num k = positive(o, "K"), nq = positive(o, "Nq"), nkv = positive(o, "Nkv");
	num rows = op_share(o, op_elements(o, op_in(o, 0)), k, "columns");
	num columns = num_add(t, nq, op_times(o, 2, nkv)), weights = num_mul(t, columns, k);
	num bias = num_add(t, op_times(o, op_has(o, 5), nq),
			   op_times(o, op_has(o, 8) + op_has(o, 11), nkv));
	num extra = num_add(t, norm_flops(o, 1, 2), op_times(o, 2, weights));

	count_packed(o, 3, weights);
	extra = num_add(t, extra, num_mul(t, rows, bias));
	op_cost_macs(o, num_mul(t, rows, weights), extra);
}

void shape_ms_block(op *o)
{
	const val *b = op_need_rank(o, 1, 2);

	if (b)
		product_rows_shape(o, 0, b->dims[0], op_type(o, 0, 0));
}

/* --- experts --- */

/* Each token goes through k experts, which have two products, or three with a separate gate.
 * Weights may be packed, so the inner sizes are taken from the input and from the number of rows of
 * a weight. */
void cost_ms_moe(op *o)
{
	num_table *t = o->nums;
	bool quantised = o->node->op[0] == 'Q';
	size_t second = quantised ? 5 : 4, third = quantised ? 8 : 6;
	const val *x = op_in(o, 0), *fc1 = op_in(o, 2), *fc2 = op_in(o, second);
	const char *kind = op_attr_text(o, "activation_type");
	bool gated = kind && strcmp(kind, "swiglu") == 0;
	int64_t k = op_attr_int(o, "k", 1);

	if (!x || x->rank < 1 || !fc1 || fc1->rank != 3 || !fc2 || fc2->rank != 3 || k < 1) {
		op_cost_unknown(o, "the shapes of its experts are not known");
		return;
	}
	bool fused = gated && !op_in(o, third);
	num hidden = x->dims[x->rank - 1], rows = fc1->dims[1];
	num inner = fused ? op_share(o, rows, num_int(2), "halves") : rows;
	num tokens = op_share(o, op_elements(o, x), hidden, "columns");
	num used = op_times(o, k, tokens);
	num wide = op_in(o, third) ? num_add(t, rows, inner) : rows;
	num macs = num_mul(t, num_mul(t, used, hidden), num_add(t, wide, inner));
	if (quantised) {
		num experts = num_mul(t, fc1->dims[0], hidden);
		count_packed(o, 2, num_mul(t, experts, rows));
		count_packed(o, second, num_mul(t, experts, inner));
		count_packed(o, third, num_mul(t, experts, inner));
	}
	int64_t each = activation_flops(gated ? "silu" : kind ? kind : "relu");
	if (each < 0) {
		op_cost(o, macs, num_none(t, "its activation is none that deepclock counts"));
		return;
	}
	/* The gate multiplies; the results of the experts are weighted and added. */
	num extra = num_mul(t, used, op_times(o, each + gated, inner));
	extra = num_add(t, extra, op_times(o, 2, num_mul(t, used, hidden)));
	if (op_in(o, quantised ? 4 : 3))
		extra = num_add(t, extra, num_mul(t, used, rows));
	if (op_in(o, quantised ? 7 : 5))
		extra = num_add(t, extra, num_mul(t, used, hidden));
	/* the router's softmax */
	extra = num_add(t, extra, op_times(o, 5, op_elements(o, op_in(o, 1))));
	op_cost_macs(o, macs, extra);
}
