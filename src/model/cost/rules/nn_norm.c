/* nn_norm.c - normalisation, softmax, losses, and activations that are not elementwise. Costs
 * follow the definitions at https://onnx.ai/onnx/operators/, written out for each element;
 * operations once for each row or channel are not counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

#include <string.h>

/* --- normalisation --- */

/* The further outputs are running or saved statistics, which are like the inputs of the same kind.
 */
static void shape_batch_norm(op *o)
{
	const val *x = op_given(o, 0);

	if (!x)
		return;
	op_same(o, 0, x);
	for (size_t i = 1; i < o->made->nout; i++) {
		const val *like = op_in(o, i % 2 ? 3 : 4);
		if (like)
			op_same(o, i, like);
	}
	op_unknown(o, "its mean or variance is missing");
}

/* With stored statistics one multiplication and one addition; in training mean, centre, square,
 * sum, scale, and the affine two. */
static void cost_batch_norm(op *o)
{
	bool training = op_flag(o, "training_mode");

	op_cost_flops(o, op_times(o, training ? 7 : 2, op_elements(o, op_in(o, 0))));
}

void shape_layer_norm(op *o)
{
	const val *x = op_need(o, 0);
	int axis;

	if (!x)
		return;
	op_same(o, 0, x);
	if (x->rank == 0 || !op_axis(o, op_attr_int(o, "axis", -1), x->rank, &axis)) {
		op_unknown(o, "it has no axis to normalise");
		return;
	}
	sym_int *dims = op_dims(o, (size_t)x->rank);
	for (int i = 0; i < x->rank; i++)
		dims[i] = i < axis ? x->dims[i] : sym_const(1);
	op_set(o, 1, op_attr_int(o, "stash_type", ONNX_FLOAT), x->rank, dims);
	op_set(o, 2, op_attr_int(o, "stash_type", ONNX_FLOAT), x->rank, dims);
}

void cost_layer_norm(op *o)
{
	int64_t each = 5 + (op_has(o, 1)) + (op_has(o, 2));

	op_cost_flops(o, op_times(o, each, op_elements(o, op_in(o, 0))));
}

static void cost_lrn(op *o)
{
	int64_t size = op_attr_int(o, "size", 0);

	if (size < 1) {
		op_cost_unknown(o, "its size is not known");
		return;
	}
	sym_int each = sym_add(o->nums, sym_const(size), sym_const(4));
	op_cost_flops(o, sym_mul(o->nums, each, op_elements(o, op_in(o, 0))));
}

/* --- activations --- */

static const sym_int *one_int(const op *o, size_t i)
{
	size_t n;
	const sym_int *v = op_ints(o, i, &n);

	return v && n == 1 ? v : NULL;
}

/* Exporters use Clip in the arithmetic of shapes, so its contents are followed. */
static void shape_clip(op *o)
{
	size_t n;
	const sym_int *x = op_ints(o, 0, &n), *low = one_int(o, 1), *high = one_int(o, 2);

	shape_same_first(o);
	if (!x || (op_in(o, 1) && !low) || (op_in(o, 2) && !high) || n > ONNX_INTS_MAX ||
	    op_attr(o, "min") || op_attr(o, "max"))
		return;
	sym_int *v = op_dims(o, n);
	for (size_t i = 0; i < n; i++) {
		v[i] = low ? sym_max(o->nums, x[i], *low) : x[i];
		v[i] = high ? sym_min(o->nums, v[i], *high) : v[i];
	}
	op_set_ints(o, 0, v, n);
}

static void cost_clip(op *o)
{
	int64_t bounds = (op_has(o, 1)) + (op_has(o, 2));

	/* Before opset 11 they are attributes that always have a value. */
	if (o->opset && o->opset < 11)
		bounds = 2;
	op_cost_flops(o, op_times(o, bounds, op_elements(o, op_out(o, 0))));
}

static void cost_gelu(op *o)
{
	const char *how = op_attr_text(o, "approximate");
	int64_t each = how && strcmp(how, "tanh") == 0 ? activation_flops("fastgelu")
						       : activation_flops("gelu");

	op_cost_flops(o, op_times(o, each, op_elements(o, op_out(o, 0))));
}

static void cost_swish(op *o)
{
	double alpha = op_attr_float(o, "alpha", 1);
	int64_t each = alpha < 1 || alpha > 1 ? 6 : 5;

	op_cost_flops(o, op_times(o, each, op_elements(o, op_out(o, 0))));
}

/* --- losses --- */

static bool reduces(const op *o)
{
	const char *r = op_attr_text(o, "reduction");

	return !r || strcmp(r, "none") != 0;
}

static void shape_loss(op *o)
{
	const val *x = op_need_rank(o, 0, 2), *labels = op_in(o, 1);

	if (!x)
		return;
	if (reduces(o)) {
		op_set(o, 0, x->dtype, 0, NULL);
	} else {
		sym_int *dims = op_dims(o, (size_t)x->rank);
		for (int i = 0, k = 0; i < x->rank; i++)
			if (i != 1)
				dims[k++] = x->dims[i];
		if (labels && labels->rank == x->rank - 1)
			for (int i = 0; i < labels->rank; i++)
				dims[i] = sym_known(dims[i]) ? dims[i] : labels->dims[i];
		op_set(o, 0, x->dtype, x->rank - 1, dims);
	}
	op_same(o, 1, x);
}

/* Each label takes a negation, a product with its weight, and one addition where the losses are
 * reduced; a mean adds up the weights too. */
static sym_int loss_flops(op *o)
{
	const char *r = op_attr_text(o, "reduction");
	bool weights = op_in(o, 2), mean = !r || strcmp(r, "mean") == 0;
	int64_t each = 1 + weights + reduces(o) + (mean && weights);

	return op_times(o, each, op_elements(o, op_in(o, 1)));
}

static void cost_nll_loss(op *o)
{
	op_cost_flops(o, loss_flops(o));
}

static void cost_cross_entropy(op *o)
{
	sym_int softmax = op_times(o, 5, op_elements(o, op_in(o, 0)));

	op_cost_flops(o, sym_add(o->nums, softmax, loss_flops(o)));
}

static const op_row nn_norm_rows[] = {
    {"BatchNormalization", shape_batch_norm, cost_batch_norm, .roles = ".ppbb",
     .how = "FLOPs per element: 2 (stored statistics), 7 in training"},
    {"Clip", shape_clip, cost_clip, .roles = ".cc", .how = "FLOPs per element: 1 for each bound"},
    {"Gelu", shape_same, cost_gelu,
     .how = "FLOPs per element: 5 (/, erf, +1, *, *), 9 with the tanh approximation"},
    {"LRN", shape_same, cost_lrn,
     .how = "FLOPs per element: size + 4 (square, size - 1 additions, *, +, power, /)"},
    {"NegativeLogLikelihoodLoss", shape_loss, cost_nll_loss, .roles = "..c",
     .how = "FLOPs per label: 1, 1 for a weight, 1 or 2 for a reduction"},
    {"SoftmaxCrossEntropyLoss", shape_loss, cost_cross_entropy, .roles = "..c",
     .how = "FLOPs: 5 per score; per label as NegativeLogLikelihoodLoss"},
    {"Swish", shape_same, cost_swish,
     .how = "FLOPs per element: 5 (negate, exp, +1, /, *), 1 more with an alpha"},
};

const op_family op_family_nn_norm = {"", nn_norm_rows, sizeof nn_norm_rows / sizeof *nn_norm_rows};
