/* microsoft_product.c - ONNX Runtime's matrix products: fused, quantised, packed, of experts.
 * https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * All count MACs as output elements x contracted size. The rows share the rules of nn_base.c
 * (product_shape(), product_cost()); a product_form has the indices of the inputs and the
 * other FLOPs: bias, scales, quantisation, activation.
 *
 * Weights of few bits are packed into bytes, so their tensor's shape does not state K and N: these
 * are attributes. Each weight still counts as one parameter, which op_packed() adds, and takes
 * two FLOPs to dequantise.
 *
 * Mixture of experts: each token passes k experts, so MACs follow from tokens x k, not from the
 * number of experts, while the parameters of all experts count. A sparse product has a cost that
 * depends on values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

#include <string.h>

/* Returns the FLOPs for each element of a factor: 1, or 0 if it is 1. */
static int64_t factor(const op *o, const char *name)
{
	double f = op_attr_float(o, name, 1);

	return f < 1 || f > 1;
}

/* --- fused products --- */

/* Returns the sizes that are multiplied. A transposed batch moves the first dimension to the
 * position before the last; then `last` swaps the last two. */
static const sym_int *arranged(op *o, const val *v, bool batch, bool last)
{
	int n = v->rank;
	sym_int *dims = op_copy_dims(o, v, 0);

	if (batch && n > 2) {
		for (int i = 0; i + 2 < n; i++)
			dims[i] = v->dims[i + 1];
		dims[n - 2] = v->dims[0];
	}
	if (last && n > 1) {
		sym_int held = dims[n - 1];
		dims[n - 1] = dims[n - 2];
		dims[n - 2] = held;
	}
	return dims;
}

static void shape_fused_matmul(op *o)
{
	const val *a = op_need_rank(o, 0, 1), *b = a ? op_need_rank(o, 1, 1) : NULL;

	if (b)
		product_set(o, arranged(o, a, op_flag(o, "transBatchA"), op_flag(o, "transA")),
			    a->rank,
			    arranged(o, b, op_flag(o, "transBatchB"), op_flag(o, "transB")),
			    b->rank, a->dtype);
}

static void cost_fused_matmul(op *o)
{
	const val *a = op_in(o, 0);
	sym_int macs;

	if (!a || a->rank < 1) {
		op_cost_unknown(o, "its shapes are not known");
		return;
	}
	const sym_int *dims = arranged(o, a, op_flag(o, "transBatchA"), op_flag(o, "transA"));
	macs = sym_mul(o->nums, op_elements_out(o), dims[a->rank - 1]);
	product_cost(o, macs, factor(o, "alpha"));
}

static void product_cost_gemm(op *o)
{
	int64_t each = factor(o, "alpha") + (op_in(o, 2) ? 1 + factor(o, "beta") : 0);

	product_cost(o, product_macs(o, 0, op_flag(o, "transA"), 1, op_flag(o, "transB")), each);
}

static void shape_gemm_float8(op *o)
{
	product_shape(o, 0, 1, op_flag(o, "transA"), op_flag(o, "transB"),
		      op_attr_int(o, "dtype", ONNX_FLOAT));
}

/* --- quantised --- */

static void shape_qgemm(op *o)
{
	int64_t dtype = op_in(o, 8) ? op_type(o, 8, 0) : op_type(o, 1, ONNX_FLOAT);

	product_shape(o, 0, 3, op_flag(o, "transA"), op_flag(o, "transB"), dtype);
}

/* One scale converts the sum to a real, or five operations quantise it. */
static void cost_qgemm(op *o)
{
	product_cost(o, product_macs(o, 0, op_flag(o, "transA"), 3, op_flag(o, "transB")),
		     op_has(o, 6) + (op_in(o, 8) ? 5 : 1));
}

/* --- weights packed in few bits: sizes are attributes --- */

static sym_int positive(op *o, const char *name)
{
	int64_t v = op_attr_int(o, name, 0);

	return v > 0 ? sym_const(v) : sym_unknown(o->nums, "its attribute %s is missing", name);
}

static bool untransposed(const op *o)
{
	return op_attr_int(o, "transB", 1) == 0;
}

static void shape_matmul_nbits(op *o)
{
	product_rows_shape(o, 0, positive(o, untransposed(o) ? "K" : "N"), op_type(o, 0, 0));
}

static void cost_matmul_nbits(op *o)
{
	sym_int weights = sym_mul(o->nums, positive(o, "N"), positive(o, "K"));
	sym_int inner = positive(o, untransposed(o) ? "N" : "K");

	op_packed(o, 1, weights);
	product_cost(o, sym_mul(o->nums, op_elements_out(o), inner), op_has(o, 5));
	op_cost_more(o, op_times(o, 2, weights));
}

/* Reads the sizes [K, N] of the weights, which are one list of blocks. */
static bool fp_q4_sizes(const op *o, sym_int *ret_k, sym_int *ret_n)
{
	size_t n = 0;
	const sym_int *sizes = op_ints(o, 2, &n);

	if (!sizes || n != 2)
		return false;
	*ret_k = sizes[0];
	*ret_n = sizes[1];
	return true;
}

static void shape_fp_q4(op *o)
{
	sym_int k, n;

	product_rows_shape(o, 0,
			   fp_q4_sizes(o, &k, &n) ? n : op_fresh(o, "the columns of its weights"),
			   op_type(o, 0, 0));
}

static void cost_fp_q4(op *o)
{
	sym_int k, n;

	if (!fp_q4_sizes(o, &k, &n)) {
		op_cost_unknown(o, "the sizes of its weights are not known");
		return;
	}
	const sym_int weights = sym_mul(o->nums, k, n);
	op_packed(o, 1, weights);
	op_cost_macs(o, sym_mul(o->nums, op_elements_out(o), k), op_times(o, 2, weights));
}

/* Returns the FLOPs of SimplifiedLayerNormalization and of the sum before it. */
static sym_int norm_flops(op *o, size_t skip, size_t scale)
{
	return op_times(o, (op_in(o, scale) ? 4 : 0) + op_has(o, skip),
			op_elements(o, op_in(o, 0)));
}

static void shape_nbits_mlp(op *o)
{
	product_rows_shape(o, 0, positive(o, "N"), op_type(o, 0, 0));
	if (op_in(o, 0))
		op_same(o, 1, op_in(o, 0));
}

static void cost_nbits_mlp(op *o)
{
	sym_table *t = o->nums;
	sym_int out = op_elements(o, op_out(o, 0)), k = positive(o, "K");
	sym_int weights = op_times(o, 2, sym_mul(t, positive(o, "N"), k));
	sym_int extra = sym_add(t, norm_flops(o, 1, 2), op_times(o, 2, weights));

	op_packed(o, 3, weights);
	extra = sym_add(t, extra, op_times(o, 1 + op_has(o, 5) + op_has(o, 8), out));
	extra = sym_add(t, extra, activation_cost(o, "activation", out));
	op_cost_macs(o, op_times(o, 2, sym_mul(t, out, k)), extra);
}

static void shape_nbits_qkv(op *o)
{
	const val *x = op_need_rank(o, 0, 1);

	if (!x)
		return;
	sym_int *dims = op_copy_dims(o, x, 0);
	for (size_t i = 0; i < 3; i++) {
		dims[x->rank - 1] = positive(o, i ? "Nkv" : "Nq");
		op_set(o, i, x->dtype, x->rank, dims);
	}
	op_same(o, 3, x);
}

static void cost_nbits_qkv(op *o)
{
	sym_table *t = o->nums;
	sym_int k = positive(o, "K"), nq = positive(o, "Nq"), nkv = positive(o, "Nkv");
	sym_int rows = op_share(o, op_elements(o, op_in(o, 0)), k, "columns");
	sym_int columns = sym_add(t, nq, op_times(o, 2, nkv)), weights = sym_mul(t, columns, k);
	sym_int bias = sym_add(t, op_times(o, op_has(o, 5), nq),
			       op_times(o, op_has(o, 8) + op_has(o, 11), nkv));
	sym_int extra = sym_add(t, norm_flops(o, 1, 2), op_times(o, 2, weights));

	op_packed(o, 3, weights);
	extra = sym_add(t, extra, sym_mul(t, rows, bias));
	op_cost_macs(o, sym_mul(t, rows, weights), extra);
}

static void shape_block(op *o)
{
	const val *b = op_need_rank(o, 1, 2);

	if (b)
		product_rows_shape(o, 0, b->dims[0], op_type(o, 0, 0));
}

/* --- experts --- */

/* How many weights a byte of QMoE's tensors holds. */
static int64_t moe_packed(const op *o)
{
	const int64_t bits = op_attr_int(o, "expert_weight_bits", 4);

	return o->node->op[0] == 'Q' && bits > 0 && bits < 8 ? 8 / bits : 1;
}

/* Returns the size of the first product of an expert, which is the rows of its weights. Before
 * ONNX Runtime 1.23 the weights were transposed: experts x hidden x inner size; newer ones infer
 * the layout from the second product, as here. fused: the first product makes the gate too. */
static sym_int moe_rows(const op *o, const val *fc1, const val *fc2, sym_int hidden, bool fused)
{
	const sym_int a = fc2->dims[1], b = fc2->dims[2], rows = fc1->dims[1],
		      columns = fc1->dims[2];
	const int64_t packed = moe_packed(o);
	int64_t inner, wide;

	if (!sym_known(a) || !sym_known(b) || !sym_known(hidden) || hidden.v < 1 ||
	    !sym_known(rows) || !sym_known(columns) || __builtin_mul_overflow(a.v, b.v, &inner) ||
	    __builtin_mul_overflow(inner, packed, &inner) ||
	    __builtin_mul_overflow(columns.v, packed, &wide))
		return rows;
	inner /= hidden.v;
	const bool transposed = hidden.v != inner ? a.v == inner : fused && sym_same(rows, hidden);
	return transposed ? sym_const(wide) : rows;
}

/* Each token goes through k experts, which have two products, or three with a separate gate.
 * Weights may be packed, so the inner sizes are taken from the input and from the number of rows of
 * a weight. */
static void cost_moe(op *o)
{
	sym_table *t = o->nums;
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
	sym_int hidden = x->dims[x->rank - 1], rows = moe_rows(o, fc1, fc2, hidden, fused);
	sym_int inner = fused ? op_share(o, rows, sym_const(2), "halves") : rows;
	sym_int tokens = op_share(o, op_elements(o, x), hidden, "columns");
	sym_int used = op_times(o, k, tokens);
	const sym_int column = sym_mul(t, used, hidden), of_inner = sym_mul(t, column, inner);
	const cost_matmul products[] = {{sym_mul(t, column, rows), 2, false},
					{of_inner, second, true},
					{of_inner, third, false}};
	const size_t nproducts = op_in(o, third) ? 3 : 2;
	sym_int macs = sym_const(0);
	for (size_t i = 0; i < nproducts; i++)
		macs = sym_add(t, macs, products[i].macs);
	op_products(o, products, nproducts);
	if (quantised) {
		sym_int experts = sym_mul(t, fc1->dims[0], hidden);
		op_packed(o, 2, sym_mul(t, experts, rows));
		op_packed(o, second, sym_mul(t, experts, inner));
		op_packed(o, third, sym_mul(t, experts, inner));
	}
	int64_t each = activation_flops(gated ? "silu" : kind ? kind : "relu");
	if (each < 0) {
		op_cost(o, macs, sym_unknown(t, "deepclock does not count its activation"));
		return;
	}
	/* The gate multiplies, fused or separate; the results of the experts are weighted and
	 * added.
	 */
	sym_int extra = sym_mul(t, used, op_times(o, each + (gated || op_in(o, third)), inner));
	extra = sym_add(t, extra, op_times(o, 2, sym_mul(t, used, hidden)));
	if (op_in(o, quantised ? 4 : 3))
		extra = sym_add(t, extra, sym_mul(t, used, rows));
	if (op_in(o, quantised ? 7 : 5))
		extra = sym_add(t, extra, sym_mul(t, used, hidden));
	if (op_in(o, quantised ? 10 : 7))
		extra = sym_add(t, extra, sym_mul(t, used, inner));
	/* the router's softmax */
	extra = sym_add(t, extra, op_times(o, 5, op_elements(o, op_in(o, 1))));
	op_cost_macs(o, macs, extra);
}

static const product_form gemm = {.a = 0, .b = 1, .transposes = true};
static const product_form gemm_fast_gelu = {
    .a = 0, .b = 1, .bias = 2, .each = 9, .activates = true};
/* A is quantised first, and one scale converts the sum to a real. */
static const product_form dynamic_matmul = {
    .a = 0, .b = 1, .bias = 4, .each = 1, .each_a = 7, .activates = true};
static const product_form matmul_to_float = {
    .a = 0, .b = 1, .typed = 2, .bias = 6, .each = 1, .activates = true};
static const product_form matmul_integer16 = {
    .a = 0, .b = 1, .dtype = ONNX_INT32, .bias = OP_NO_INPUT, .activates = true};
static const product_form qordered_matmul = {
    .a = 0, .b = 2, .bias = OP_NO_INPUT, .activates = true};
static const product_form sparse_matmul = {.a = 0, .b = 1, .transposes = true, .typed = 1};
static const product_form block_fp4 = {.a = 0, .bias = 5, .activates = true};
static const product_form block_fp8 = {.a = 0, .bias = 4, .activates = true};

#define HOW_PRODUCT "MACs: output elements x contracted size"

static const op_row microsoft_product_rows[] = {
    {"DynamicQuantizeMatMul", shape_product, cost_product, .form = &dynamic_matmul,
     .roles = ".pccp",
     .how = HOW_PRODUCT "; FLOPs: 7 per element of A to quantise it, "
			"1 per output element to scale it, 1 with a bias"},
    {"FusedGemm", shape_product, product_cost_gemm, .form = &gemm, .roles = "ppp",
     .how = HOW_PRODUCT "; FLOPs: C 1, each factor that is not 1, and its activation"},
    {"FusedMatMul", shape_fused_matmul, cost_fused_matmul, .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element for a factor that is not 1"},
    {"FusedMatMulActivation", shape_fused_matmul, cost_fused_matmul, .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: a factor that is not 1, and its activation"},
    {"GemmFastGelu", shape_product, cost_product, .form = &gemm_fast_gelu, .roles = ".pp",
     .how = HOW_PRODUCT "; FLOPs: bias 1, 9 of FastGelu"},
    {"GemmFloat8", shape_gemm_float8, product_cost_gemm, .roles = ".ppccc",
     .how = HOW_PRODUCT "; FLOPs: C 1, each factor that is not 1, and its activation"},
    {"MatMulBlockQuantizedFp4Weight", shape_block, cost_product, .form = &block_fp4,
     .roles = ".pcccp", .how = HOW_PRODUCT},
    {"MatMulBlockQuantizedFp8Weight", shape_block, cost_product, .form = &block_fp8,
     .roles = ".pccp", .how = HOW_PRODUCT},
    {"MatMulBnb4", shape_matmul_nbits, cost_matmul_nbits, .roles = ".cc",
     .how = HOW_PRODUCT "; FLOPs: 2 per weight to dequantise it; parameters: N x K"},
    {"MatMulFpQ4", shape_fp_q4, cost_fp_q4, .roles = ".cc",
     .how = HOW_PRODUCT "; FLOPs: 2 per weight to dequantise it; parameters: N x K"},
    {"MatMulInteger16", shape_product, cost_product, .form = &matmul_integer16, .roles = "pp",
     .how = HOW_PRODUCT},
    {"MatMulIntegerToFloat", shape_product, cost_product, .form = &matmul_to_float,
     .roles = "ppccccp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element to scale it, 1 with a bias"},
    {"MatMulNBits", shape_matmul_nbits, cost_matmul_nbits, .roles = ".ccccp",
     .how = HOW_PRODUCT "; FLOPs: 2 per weight to dequantise it, 1 per output element with a bias; "
			"parameters: N x K"},
    {"MatMulNBitsMlp", shape_nbits_mlp, cost_nbits_mlp, .roles = "..pccpccp",
     .how = HOW_PRODUCT ", twice; FLOPs: the norm, 2 per weight, biases, activation, *"},
    {"MatMulNBitsQkv", shape_nbits_qkv, cost_nbits_qkv, .roles = "..pccpccpccp",
     .how = HOW_PRODUCT " of the three; FLOPs: the norm, 2 per weight, biases"},
    {"MoE", shape_same_first, cost_moe, .roles = "..pppppp",
     .how = "MACs: tokens x k x hidden x (rows of the first weights + those "
	    "of the gate + inner size)"},
    {"QGemm", shape_qgemm, cost_qgemm, .roles = "pccpccpcc",
     .how = HOW_PRODUCT "; FLOPs per output element: C 1, 5 to quantise it or 1 to scale it"},
    {"QMoE", shape_same_first, cost_moe, .roles = "..ccpccpccpccc.c",
     .how = "as MoE; parameters: weights, however they are packed"},
    {"QOrderedMatMul", shape_product, cost_product, .form = &qordered_matmul, .roles = ".cpccp",
     .how = HOW_PRODUCT},
    {"SparseToDenseMatMul", shape_product, cost_all_by_values, .form = &sparse_matmul,
     .roles = "pp"},
    {"TransposeMatMul", shape_fused_matmul, cost_fused_matmul, .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element for a factor that is not 1"},
};

const op_family op_family_microsoft_product = {"com.microsoft", microsoft_product_rows,
					       sizeof microsoft_product_rows /
						   sizeof *microsoft_product_rows};
