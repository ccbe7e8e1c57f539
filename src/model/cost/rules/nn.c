/* nn.c - the table of ONNX's neural network operators, all versions from opset 7.
 * https://onnx.ai/onnx/operators/
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

static const conv_form deform = {.x = 0, .w = 1, .bias = 3, .add = OP_NO_INPUT};
/* A power and an addition for each element of the window, and one root. */
static const pool_form pool_lp = {.each = 2, .once = 1};

/* Besides the convolution, each sample is interpolated between its neighbours in the input. */
static void cost_deform_conv(op *o)
{
	const val *x = op_in(o, 0), *offset = op_in(o, 2), *mask = op_in(o, 4);
	sym_int samples, flops;

	cost_conv(o);
	if (sym_unknown_reason(o->made->flops) || !x || x->rank < 3 || !offset)
		return;
	/* A sample of n dimensions has 2^n corners with n + 1 operations each. The offsets hold n
	 * numbers for each sample and offset group; every channel is sampled. */
	int n = x->rank - 2, corners = n < 20 ? 1 << n : 1 << 20;
	samples = op_share(o, op_elements(o, offset),
			   op_times(o, op_attr_int(o, "offset_group", 1), sym_const(n)), "offsets");
	samples = sym_mul(o->nums, samples, x->dims[1]);
	flops = op_times(o, (int64_t)corners * (n + 1) + (mask ? 1 : 0), samples);
	op_cost_more(o, flops);
}

/* Sets the size from which MaxPool would make the input's size, or the size stated by input 2. */
static void shape_max_unpool(op *o)
{
	const val *x = op_need_rank(o, 0, 2);
	size_t n = 0;
	const sym_int *stated = op_ints(o, 2, &n);
	window w;

	if (!x || !window_read(o, x->rank - 2, NULL, &w))
		return;
	sym_int *dims = op_dims(o, (size_t)x->rank);
	for (int i = 0; i < x->rank; i++)
		dims[i] = i < 2 && !op_in(o, 2) ? x->dims[i] : sym_const(0);
	if (stated && n != (size_t)x->rank) {
		op_unknown(o, "its output_shape is for %zu dimensions, not %d", n, x->rank);
		return;
	}
	for (int i = 0; i < x->rank && op_in(o, 2); i++)
		dims[i] = stated ? stated[i] : op_fresh(o, "a size that its input decides");
	for (int i = 0; i < w.n && !op_in(o, 2); i++) {
		sym_int steps =
		    op_times(o, w.stride[i], sym_sub(o->nums, x->dims[2 + i], sym_const(1)));
		sym_int whole = sym_add(o->nums, steps, w.kernel[i]);
		whole = sym_sub(o->nums, whole, sym_const(w.begin[i]));
		dims[2 + i] = sym_sub(o->nums, whole, sym_const(w.end[i]));
	}
	op_set(o, 0, x->dtype, x->rank, dims);
}

#define EACH_SAME(NAME, FLOPS, HOW)                                                              \
	{                                                                                        \
		.name = NAME, .shape = shape_same, .cost = cost_each, .flops = FLOPS, .how = HOW \
	}

#define HOW_CONV                                                                           \
	"MACs: batch x places of the output x elements of the weights (padding counted); " \
	"FLOPs: 2 x MACs, 1 per output element with a bias"

static const op_row nn_rows[] = {
    /* Operators that ONNX's pages lack are ONNX Runtime's, in ONNX's domain. */
    EACH_SAME("Affine", 2, "FLOPs per element: *, +"),
    {"AveragePool", shape_pool, cost_pool, .form = &pool_plain,
     .how = "FLOPs: elements of the window per output element (additions and one division)"},
    EACH_SAME("Celu", 7, "FLOPs per element: max, /, exp, -1, *, min, +"),
    {"Conv", shape_conv, cost_conv, .form = &conv_plain, .roles = ".pp", .how = HOW_CONV},
    {"ConvTranspose", shape_conv_transpose, cost_conv_transpose, .form = &transposed_plain,
     .roles = ".pp",
     .how = "MACs: batch x places of the input x elements of the weights (groups are "
	    "in their shape); FLOPs: 2 x MACs, 1 per output element with a bias"},
    {"DeformConv", shape_conv, cost_deform_conv, .form = &deform, .roles = ".p.p.",
     .how = HOW_CONV "; each sample of n dimensions interpolates 2^n corners, n + 1 each, "
		     "and 1 with a mask"},
    EACH_SAME("Elu", 4, "FLOPs per element: compare, exp, -1, *"),
    {"GRU", shape_cell, cost_cell, .form = &cell_gru, .roles = ".pppcc",
     .how = "MACs: steps x batch x directions x 3 x hidden x (input + hidden)"},
    {"GlobalAveragePool", shape_global_pool, cost_each_in, 1, .form = &pool_plain,
     .how = "FLOPs: 1 per input element"},
    {"GlobalLpPool", shape_global_pool, cost_each_in, 2, .form = &pool_plain,
     .how = "FLOPs: 2 per input element (power, sum)"},
    {"GlobalMaxPool", shape_global_pool, cost_each_in, 1, .form = &pool_plain,
     .how = "FLOPs: 1 per input element"},
    {"GroupNormalization", shape_same_first, cost_layer_norm, .roles = ".pp",
     .how = "FLOPs per element: mean, centre, square, sum, scale, and the affine 2"},
    EACH_SAME("HardSigmoid", 4, "FLOPs per element: *, +, max, min"),
    EACH_SAME("HardSwish", 5, "FLOPs per element: *, +, max, min, *"),
    EACH_SAME("Hardmax", 1, "FLOPs: 1 comparison per element"),
    EACH_SAME("ImageScaler", 2, "FLOPs per element: *, +"),
    {"InstanceNormalization", shape_same_first, cost_layer_norm, .roles = ".pp",
     .how = "FLOPs per element: mean, centre, square, sum, scale, and the affine 2"},
    {"LSTM", shape_cell, cost_cell, .form = &cell_lstm, .roles = ".pppcccp",
     .how = "MACs: steps x batch x directions x 4 x hidden x (input + hidden)"},
    {"LayerNormalization", shape_layer_norm, cost_layer_norm, .roles = ".pp",
     .how = "FLOPs per element: mean, centre, square, sum, scale, and 1 each for scale and bias"},
    EACH_SAME("LeakyRelu", 2, "FLOPs per element: compare, *"),
    EACH_SAME("LogSoftmax", 5, "FLOPs per element: max, -, exp, sum, - log"),
    EACH_SAME("LpNormalization", 3, "FLOPs per element: power, sum, /"),
    {"LpPool", shape_pool, cost_pool, .form = &pool_lp,
     .how = "FLOPs: 2 per element of each window, 1 per output element"},
    {"MaxPool", shape_pool, cost_pool, .form = &pool_plain,
     .how = "FLOPs: elements of the window per output element (comparisons)"},
    {"MaxUnpool", shape_max_unpool, .roles = "..c"},
    EACH_SAME("MeanVarianceNormalization", 5, "FLOPs per element: mean, centre, square, sum, /"),
    {"MemcpyFromHost", .shape = shape_same},
    {"MemcpyToHost", .shape = shape_same},
    EACH_SAME("Mish", 5, "FLOPs per element: exp, +1, log, tanh, *"),
    {"PRelu", shape_same_first, cost_each, 2, .roles = ".p",
     .how = "FLOPs per element: compare, *"},
    EACH_SAME("ParametricSoftplus", 5, "FLOPs per element: *, exp, +1, log, *"),
    {"RMSNormalization", shape_same_first, cost_each, 4, .roles = ".p",
     .how = "FLOPs per element: square, sum, /, scale"},
    {"RNN", shape_cell, cost_cell, .form = &cell_rnn, .roles = ".pppcc",
     .how = "MACs: steps x batch x directions x hidden x (input + hidden)"},
    EACH_SAME("Relu", 1, "FLOPs per element: 1"),
    EACH_SAME("Scale", 1, "FLOPs per element: *"),
    EACH_SAME("ScaledTanh", 3, "FLOPs per element: *, tanh, *"),
    EACH_SAME("Selu", 5, "FLOPs per element: compare, exp, -1, *, *"),
    EACH_SAME("Shrink", 3, "FLOPs per element: 2 comparisons, +"),
    EACH_SAME("Sigmoid", 4, "FLOPs per element: negate, exp, +1, /"),
    {"SimplifiedLayerNormalization", shape_layer_norm, cost_each, 4, .roles = ".p",
     .how = "FLOPs per element: square, sum, /, scale"},
    EACH_SAME("Softmax", 5, "FLOPs per element: max, -, exp, sum, /"),
    EACH_SAME("Softplus", 3, "FLOPs per element: exp, +1, log"),
    EACH_SAME("Softsign", 3, "FLOPs per element: abs, +1, /"),
    {"SwiGLU", shape_same_first, cost_each, 6,
     .how = "FLOPs per element: negate, exp, +1, /, *, *"},
    EACH_SAME("Tanh", 1, "FLOPs per element: 1"),
    EACH_SAME("ThresholdedRelu", 1, "FLOPs per element: compare"),
};

const op_family op_family_nn = {"", nn_rows, sizeof nn_rows / sizeof *nn_rows};
