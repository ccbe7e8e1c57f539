/* flop_conventions.c - FLOP-counting conventions of other tools, as tables of terms; the cost of
 * training.
 *
 * A convention is a list of terms: operator types, a quantity, a factor and perhaps a condition.
 * convention_count() adds all terms that match an operator, over all its executions, by a linear
 * scan of few rows. Results are symbolic; a type without a row counts 0, or is absent where the
 * table is partial. Each convention was measured on torchvision's networks: the differences to the
 * exact MACs are integer identities (docs/commands/cost.md shows them).
 *
 * convention_backward_count() follows the data flow: operators are in topological order, and
 * `learned` of a value marks that it depends on a parameter. The state of a loop may do so only
 * after the first round, so that the marks are set in several passes (learned_pass()). Then an
 * operator with MACs takes its MACs once more for each of its two operands that needs a gradient;
 * of several products each takes its own. It writes into the result's values, so one thread may use
 * a result at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/flop_conventions.h"
#include "base/name_index.h"

#include <string.h>

static bool input_there(const cost_op *c, size_t i)
{
	return i < c->nin && c->in[i];
}

static bool has_bias(const cost_result *r, const cost_op *c)
{
	(void)r;
	return input_there(c, 2);
}

/* Adaptive pooling to the size of its input is exported as a window of 1. */
static bool window_one(const cost_result *r, const cost_op *c)
{
	(void)r;
	const onnx_attribute *a = onnx_find_attribute(c->node, "kernel_shape");

	for (size_t i = 0; a && i < a->nints; i++)
		if (a->ints[i] != 1)
			return false;
	return a && a->nints > 0;
}

static bool window_more(const cost_result *r, const cost_op *c)
{
	(void)r;
	return !window_one(r, c);
}

/* Whether a product has a constant operand: then it is a module with weights, otherwise a product
 * of two activations. */
static bool weighted(const cost_result *r, const cost_op *c)
{
	(void)r;
	for (size_t i = 0; i < c->nin; i++)
		if (c->in[i] && c->in[i]->constant)
			return true;
	return false;
}

static bool mode_is(const cost_op *c, const char *mode)
{
	const onnx_attribute *a = onnx_find_attribute(c->node, "mode");

	return a && a->s.text && strcmp(a->s.text, mode) == 0;
}

static bool mode_linear(const cost_result *r, const cost_op *c)
{
	(void)r;
	return mode_is(c, "linear");
}

static bool mode_cubic(const cost_result *r, const cost_op *c)
{
	(void)r;
	return mode_is(c, "cubic");
}

static bool mode_nearest(const cost_result *r, const cost_op *c)
{
	(void)r;
	return !mode_linear(r, c) && !mode_cubic(r, c);
}

static const cost_op *maker(const cost_result *r, const val *v, const char *type)
{
	const cost_op *c = v && v->def < r->nops ? &r->ops[v->def] : NULL;

	return c && strcmp(c->node->op, type) == 0 ? c : NULL;
}

/* Returns whether c is the division that ends the normalisation of a decomposed LayerNorm (before
 * opset 17 it had no operator): (x - mean) / sqrt(mean of squares + epsilon). */
static bool layer_norm(const cost_result *r, const cost_op *c)
{
	const cost_op *root = c->nin == 2 ? maker(r, c->in[1], "Sqrt") : NULL;
	const cost_op *sum = root && root->nin ? maker(r, root->in[0], "Add") : NULL;

	for (size_t i = 0; sum && i < sum->nin; i++)
		if (maker(r, sum->in[i], "ReduceMean"))
			return maker(r, c->in[0], "Sub") != NULL;
	return false;
}

static const convention_term torchvision[] = {
    {"Conv Gemm ConvTranspose MatMul Einsum Attention DeformConv", TERM_MACS, 1, NULL},
};

static const convention_term fvcore[] = {
    {"Conv Gemm ConvTranspose MatMul Einsum", TERM_MACS, 1, NULL},
    {"BatchNormalization", TERM_OUT, 2, NULL},
    {"LayerNormalization GroupNormalization InstanceNormalization", TERM_OUT, 5, NULL},
    {"Div", TERM_OUT, 5, layer_norm},
    {"GlobalAveragePool", TERM_IN, 1, NULL},
    {"AveragePool", TERM_IN, 1, window_one},
    {"Resize", TERM_OUT, 1, mode_nearest},
    {"Resize", TERM_OUT, 4, mode_linear},
};

static const convention_term thop[] = {
    {"Conv Gemm", TERM_MACS, 1, NULL},
    {"ConvTranspose", TERM_OVER, 1, NULL},
    {"MatMul", TERM_MACS, 1, weighted},
    {"BatchNormalization LayerNormalization InstanceNormalization", TERM_OUT, 4, NULL},
    {"Div", TERM_OUT, 4, layer_norm},
    /* adaptive pooling: the additions of a window and one division for each output; other pooling:
       one for each output */
    {"GlobalAveragePool", TERM_IN, 1, NULL},
    {"GlobalAveragePool", TERM_OUT, 1, NULL},
    {"AveragePool", TERM_OUT, 2, window_one},
    {"AveragePool", TERM_OUT, 1, window_more},
    {"PRelu", TERM_OUT, 1, NULL},
    {"Softmax", TERM_OUT, 3, NULL},
    {"Softmax", TERM_ROWS, -1, NULL},
    {"Resize", TERM_OUT, 11, mode_linear},
    {"Resize", TERM_OUT, 259, mode_cubic},
};

/* ptflops counts ReLU and pooling twice: by its patches of functions and by its hooks of
 * modules. */
static const convention_term ptflops[] = {
    {"Conv Gemm ConvTranspose MatMul", TERM_MACS, 1, NULL},
    {"Conv Gemm ConvTranspose", TERM_OUT, 1, has_bias},
    {"BatchNormalization LayerNormalization InstanceNormalization Relu PRelu Elu LeakyRelu Clip",
     TERM_OUT, 2, NULL},
    {"Div", TERM_OUT, 2, layer_norm},
    {"MaxPool AveragePool GlobalAveragePool GlobalMaxPool", TERM_IN, 2, NULL},
};

static const convention_term calflops[] = {
    {"Conv Gemm ConvTranspose MatMul Einsum", TERM_MACS, 2, NULL},
    {"Conv", TERM_OUT, 1, has_bias},
    {"BatchNormalization", TERM_OUT, 2, NULL},
    {"LayerNormalization GroupNormalization InstanceNormalization", TERM_OUT, 5, NULL},
    {"Div", TERM_OUT, 5, layer_norm},
    {"Relu PRelu Elu LeakyRelu Clip Gelu Softmax", TERM_OUT, 1, NULL},
    {"MaxPool AveragePool GlobalAveragePool GlobalMaxPool", TERM_IN, 1, NULL},
};

static const convention_term onnx_tool[] = {
    {"Conv Gemm MatMul Einsum", TERM_MACS, 1, NULL},
    {"Conv Gemm", TERM_OUT, 1, has_bias},
    {"ConvTranspose", TERM_WEIGHT, 1, NULL},
    {"BatchNormalization", TERM_OUT, 31, NULL},
    {"LayerNormalization", TERM_OUT, 7, NULL},
    {"LayerNormalization", TERM_ROWS, 29, NULL},
    {"Sigmoid Exp", TERM_OUT, 32, NULL},
    {"Tanh", TERM_OUT, 38, NULL},
    {"Softmax", TERM_OUT, 36, NULL},
    {"Erf", TERM_OUT, 0, NULL}, /* measured: it counts 0 */
    {"Log", TERM_OUT, 43, NULL},
    {"Sqrt", TERM_OUT, 24, NULL},
    {"Sin Cos", TERM_OUT, 39, NULL},
    {"Div", TERM_OUT, 4, NULL},
    {"Add Sub Mul Relu LeakyRelu Clip", TERM_OUT, 1, NULL},
    {"MaxPool AveragePool", TERM_KERNEL, 1, NULL},
    {"GlobalAveragePool", TERM_IN, 1, NULL},
    {"Resize", TERM_OUT, 4, mode_linear},
    {"Resize", TERM_OUT, 8, mode_cubic},
};

#define TERMS(list) list, sizeof(list) / sizeof(*list)
static const flop_convention conventions[] = {
    {"torchvision",
     "the GFLOPS column of torchvision's model pages, which are multiply-accumulates", "MAC",
     TERMS(torchvision), NULL, false},
    {"fvcore", "fvcore.nn.FlopCountAnalysis: one multiply-accumulate is one flop", "MAC",
     TERMS(fvcore),
     "fused attention (scaled_dot_product_attention, nn.MultiheadAttention), which it counts as 0",
     false},
    {"thop", "thop.profile", "MAC", TERMS(thop),
     "which products and poolings were modules and which were functions: it counts modules alone, "
     "and nn.MultiheadAttention as 0; products with a constant operand are taken as modules",
     false},
    {"ptflops", "ptflops.get_model_complexity_info, backend 'pytorch'", "MAC", TERMS(ptflops),
     "nn.MultiheadAttention, on which it may fail; activations called as methods", false},
    {"calflops", "calflops.calculate_flops: its FLOPs", "FLOP", TERMS(calflops),
     "scaled_dot_product_attention, which it counts as 0; sums and products written as operators",
     false},
    {"onnx-tool", "onnx_tool.model_profile: instructions are weighted and called MACs", "MAC",
     TERMS(onnx_tool), NULL, true},
};
_Static_assert(sizeof conventions / sizeof *conventions == CONVENTIONS, "all of them");

const flop_convention *convention_find(int as)
{
	return as >= 1 && as <= CONVENTIONS ? &conventions[as - 1] : NULL;
}

/* Returns the product of the dimensions of v from `first` on, without the last `less` of them. */
static sym_int peers_product(sym_table *t, const val *v, int first, int less)
{
	sym_int p = sym_const(1);

	if (!v || v->rank < first)
		return sym_unknown(t, "%s",
				   v && v->rank < 0 && v->why ? v->why : "a shape is not known");
	for (int i = first; i < v->rank - less; i++)
		p = sym_mul(t, p, v->dims[i]);
	return p;
}

static sym_int window(sym_table *t, const onnx_node *n)
{
	const onnx_attribute *a = onnx_find_attribute(n, "kernel_shape");
	sym_int p = sym_const(1);

	for (size_t i = 0; a && i < a->nints; i++)
		p = sym_mul(t, p, sym_const(a->ints[i]));
	return p;
}

static sym_int quantity(sym_table *t, const cost_op *c, convention_quantity of)
{
	const val *in = c->nin ? c->in[0] : NULL, *weights = c->nin > 1 ? c->in[1] : NULL;
	sym_int n = peers_product(t, c->nout ? c->out[0] : NULL, 0, 0);

	if (of == TERM_MACS)
		return c->macs;
	if (of == TERM_IN)
		n = peers_product(t, in, 0, 0);
	else if (of == TERM_ROWS)
		n = peers_product(t, in, 0, 1);
	else if (of == TERM_WEIGHT) /* the weights of one output are all dimensions but the first */
		n = sym_mul(t, n, peers_product(t, weights, 1, 0));
	else if (of == TERM_OVER) {
		/* A convolution that is not transposed has this many MACs for each output: input
		 * channels of a group x window. */
		sym_int group = sym_const(onnx_attribute_int(c->node, "group", 1));
		sym_int filter = peers_product(t, weights, 2, 0);
		if (!sym_unknown_reason(filter))
			filter = sym_mul(t, sym_floor_div(t, weights->dims[0], group), filter);
		n = sym_mul(t, n, filter);
	} else if (of == TERM_KERNEL)
		n = sym_mul(t, n, window(t, c->node));
	return sym_mul(t, c->times, n);
}

sym_int convention_count(const flop_convention *p, const cost_result *r, const cost_op *c)
{
	sym_table *t = r->nums;
	sym_int sum = sym_const(0);
	bool has_row = false;

	if (c->folded || c->expanded)
		return sum;
	for (size_t i = 0; i < p->nterms; i++) {
		const convention_term *x = &p->terms[i];
		if (!name_index_listed(x->types, c->node->op))
			continue;
		has_row = true;
		if (!x->when || x->when(r, c))
			sum = sym_add(t, sum,
				      sym_mul(t, sym_const(x->factor), quantity(t, c, x->of)));
	}
	if (!has_row && p->partial && !sym_is(c->flops, 0))
		return sym_unknown(t, "what %s counts for a %s is not recorded here", p->name,
				   c->node->op);
	return sum;
}

/* --- training --- */

/* Whether the gradient of v is needed: v is a parameter, or was made from one, which `learned`
 * states for values that operators make. */
static bool needs_gradient(const val *v)
{
	/* The state of a body is what goes into it, and what a round before has made. */
	while (v && v->def == SIZE_MAX && v->base && !v->tensor && !v->learned)
		v = v->base;
	if (!v || !onnx_dtype_real(v->dtype))
		return false;
	if (v->tensor || v->from)
		return (v->tensor ? v->tensor : v->from->tensor) &&
		       (v->tensor ? v->tensor : v->from->tensor)->elements > 1;
	return !v->constant && v->learned;
}

#define PACKED_QKV "MultiHeadAttention GroupQueryAttention"

/* Returns the MACs of the first of several products, that of the input and its weights; 0: the
 * operator is one product, or two of the same operands. */
static sym_int input_product(sym_table *t, const cost_op *c)
{
	const char *domain = c->node->domain ? c->node->domain : "";
	const bool several =
	    *domain ? strcmp(domain, "com.microsoft") == 0 && strcmp(c->node->op, "Attention") == 0
		    : name_index_listed("LSTM GRU RNN", c->node->op);

	if (!several || c->nin < 2)
		return sym_const(0);
	const sym_int each =
	    sym_mul(t, peers_product(t, c->in[0], 0, 1), peers_product(t, c->in[1], 0, 0));
	const sym_int all = sym_mul(t, c->times, each);
	const bool fits =
	    !sym_unknown_reason(all) && sym_lower_bound(t, sym_sub(t, c->macs, all)) >= 0;

	return fits ? all : sym_const(0);
}

/* Returns the MACs of the gradients of an operator that states its products. */
static sym_int products_backward(sym_table *t, const cost_op *c)
{
	const bool first = needs_gradient(c->in[0]);
	bool made = false;
	sym_int sum = sym_const(0);

	for (size_t i = 0; i < c->nproducts; i++) {
		const cost_matmul *p = &c->products[i];
		const bool own = needs_gradient(p->operand < c->nin ? c->in[p->operand] : NULL);
		const bool other = p->chained ? made : first;

		sum = sym_add(t, sum, sym_mul(t, sym_const(own + other), p->macs));
		made |= own || other;
	}
	return sym_mul(t, c->times, sum);
}

/* Marks what an operator makes as dependent on a parameter, and what the bodies make that it is
 * in. */
static void learned_mark(cost_result *r, size_t i)
{
	for (; i < r->nops; i = r->ops[i].inside)
		for (size_t k = 0; k < r->ops[i].nout; k++)
			if (r->ops[i].out[k] && !r->ops[i].out[k]->tensor)
				r->ops[i].out[k]->learned = true;
}

/* Marks all values that depend on a parameter. Returns whether the state of a body has become one
 * of them. */
static bool learned_pass(cost_result *r)
{
	bool changed = false;

	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *c = &r->ops[i];
		bool any = false;

		if (c->folded)
			continue;
		for (size_t k = 0; k < c->nin; k++) {
			val *v = c->in[k];

			if (v && v->again && !v->learned && needs_gradient(v->again))
				changed = v->learned = true;
			any |= needs_gradient(v);
		}
		if (any)
			learned_mark(r, i);
	}
	return changed;
}

/* The most passes: a state may depend on another state of the round before. */
#define LEARNED_PASSES 32

void convention_backward_count(cost_result *r, convention_backward *ret)
{
	sym_table *t = r->nums;
	sym_int macs = sym_const(0), rest = sym_const(0);

	for (int pass = 0; pass < LEARNED_PASSES && (learned_pass(r) || pass == 0); pass++)
		;
	for (size_t i = 0; i < r->nops; i++) {
		cost_op *c = &r->ops[i];
		int64_t operands = 0;
		if (c->folded)
			continue;
		for (size_t k = 0; k < c->nin; k++)
			operands += needs_gradient(c->in[k]);
		if (!operands || c->expanded)
			continue;
		if (sym_is(c->macs, 0)) {
			rest = sym_add(t, rest, c->flops);
			continue;
		}
		rest = sym_add(t, rest, sym_sub(t, c->flops, sym_mul(t, sym_const(2), c->macs)));
		if (c->nproducts) {
			macs = sym_add(t, macs, products_backward(t, c));
			continue;
		}
		/* The bias is not an operand of the product: its gradient is a sum. */
		int64_t products = needs_gradient(c->nin ? c->in[0] : NULL) +
				   needs_gradient(c->nin > 1 ? c->in[1] : NULL);
		/* Query, key and value in one input: both operands of its products are learned. */
		if ((c->nin < 2 || !c->in[1]) && name_index_listed(PACKED_QKV, c->node->op))
			products *= 2;
		const sym_int first = input_product(t, c);
		/* Operands of further products depend on the weights of the first. */
		const sym_int others = sym_is(first, 0) ? first : sym_sub(t, c->macs, first);
		const sym_int same = sym_sub(t, c->macs, others);
		macs = sym_add(t, macs, sym_mul(t, sym_const(products), same));
		macs = sym_add(t, macs, sym_mul(t, sym_const(2), others));
	}
	ret->macs = macs;
	ret->flops = sym_add(t, sym_mul(t, sym_const(2), macs), rest);
}

size_t convention_merged_norms(const cost_result *r)
{
	size_t merged = 0;

	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *c = &r->ops[i];
		if (strcmp(c->node->op, "BatchNormalization") == 0)
			return 0;
		merged += strcmp(c->node->op, "Conv") == 0 && has_bias(r, c) && c->in[2]->name &&
			  strncmp(c->in[2]->name, "onnx::", 6) == 0;
	}
	return merged;
}
