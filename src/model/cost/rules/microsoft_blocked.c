/* microsoft_blocked.c - operators in layouts of ONNX Runtime's own: com.microsoft.nchwc, which
 * models saved with all optimisations have, and com.ms.internal.nhwc.
 *
 * NCHWc has the shape [batch, channels, ...]; channels are in blocks of 8 or 16 (AVX-512), and
 * weights are padded to whole blocks, so that such a model has more parameters and products than
 * the original model, and computes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"
#include "model/cost/rules/nn.h"

#include <string.h>

static const conv_form nhwc = {
    .x = 0, .w = 1, .bias = 2, .add = OP_NO_INPUT, .layout = CHANNELS_LAST};

static const conv_form qlinear_last = {
    .x = 0, .w = 3, .bias = 8, .add = OP_NO_INPUT, .typed = 7, .layout = CHANNELS_LAST, .extra = 5};
static const pool_form qlinear_pool_last = {.layout = CHANNELS_LAST, .each = 1, .once = 5};

#define BLOCK_MAX 16

/* Maximum number of following nodes that are searched. */
#define NEAR 64

/* The channels that the weights of the convolution n are made for; absent where n is no
 * convolution. */
static sym_int weights_channels(op *o, const onnx_node *n)
{
	const val *w = n->ninputs > 1 && n->inputs[1] ? infer_find(o->around, n->inputs[1]) : NULL;

	if (!n->op || strcmp(n->op, "Conv") != 0 || !w || w->rank < 2)
		return sym_unknown(o->nums, "it is not a convolution");
	return op_times(o, onnx_attribute_int(n, "group", 1), w->dims[1]);
}

/* The channels are padded to the blocks of the machine that saved the model. Only the weights of
 * the next convolution show how long these are. */
static sym_int padded_channels(op *o, sym_int channels)
{
	const onnx_graph *g = o->infer->model->graph;
	const char *out = o->node->noutputs ? o->node->outputs[0] : NULL;
	uintptr_t at = (uintptr_t)o->node, begin = (uintptr_t)g->nodes;
	sym_int none = sym_unknown(o->nums, "its channels are padded to the blocks of the machine "
					    "that saved the model");

	if (sym_known(channels) && channels.v % BLOCK_MAX == 0)
		return channels;
	if (!out || at < begin || at >= (uintptr_t)(g->nodes + g->nnodes))
		return none;
	size_t first = (at - begin) / sizeof *g->nodes + 1;
	for (size_t i = first; i < g->nnodes && i < first + NEAR; i++) {
		const onnx_node *n = &g->nodes[i];
		if (!n->ninputs || !n->inputs[0] || strcmp(n->inputs[0], out) != 0)
			continue;
		sym_int padded = weights_channels(o, n);
		if (!sym_unknown_reason(padded))
			return padded;
	}
	return none;
}

static void shape_reorder_input(op *o)
{
	const val *x = op_need_rank(o, 0, 3);
	bool last = op_flag(o, "channels_last");

	if (!x)
		return;
	sym_int *dims = op_dims(o, (size_t)x->rank);
	dims[0] = x->dims[0];
	dims[1] = padded_channels(o, x->dims[last ? x->rank - 1 : 1]);
	for (int i = 2; i < x->rank; i++)
		dims[i] = x->dims[last ? i - 1 : i];
	op_set(o, 0, x->dtype, x->rank, dims);
}

static void shape_reorder_output(op *o)
{
	const val *x = op_need_rank(o, 0, 3);
	bool last = op_flag(o, "channels_last");
	int64_t channels = op_attr_int(o, "channels", 0);

	if (!x)
		return;
	sym_int *dims = op_dims(o, (size_t)x->rank);
	dims[0] = x->dims[0];
	dims[last ? x->rank - 1 : 1] = channels > 0
					   ? sym_const(channels)
					   : sym_unknown(o->nums, "its channels are not stated");
	for (int i = 2; i < x->rank; i++)
		dims[last ? i - 1 : i] = x->dims[i];
	op_set(o, 0, x->dtype, x->rank, dims);
}

static void blocked_shape_upsample(op *o)
{
	const val *x = op_need_rank(o, 0, 2);
	size_t n = 0;
	const int64_t *scales = op_attr_ints(o, "scales", &n);

	if (!x)
		return;
	if (!scales || n != (size_t)x->rank) {
		op_unknown(o, "its scales do not fit %d dimensions", x->rank);
		return;
	}
	sym_int *dims = op_dims(o, n);
	for (size_t i = 0; i < n; i++)
		dims[i] = op_times(o, scales[i], x->dims[i]);
	op_set(o, 0, x->dtype, x->rank, dims);
}

/* Interpolation in two dimensions: a weighted sum of four. */
static void cost_upsample(op *o)
{
	const char *mode = op_attr_text(o, "mode");
	bool nearest = !mode || strcmp(mode, "nearest") == 0;

	op_cost_flops(o, op_times(o, nearest ? 0 : 7, op_elements(o, op_out(o, 0))));
}

static const op_row nchwc_rows[] = {
    {"AveragePool", shape_pool, cost_pool, .form = &pool_plain,
     .how = "FLOPs: elements of the window per output element"},
    {"Conv", shape_conv, cost_conv, .form = &conv_fused, .roles = ".pp.",
     .how = "as FusedConv, padded channels included"},
    {"GlobalAveragePool", shape_global_pool, cost_each_in, 1, .form = &pool_plain,
     .how = "FLOPs: 1 per input element"},
    {"GlobalMaxPool", shape_global_pool, cost_each_in, 1, .form = &pool_plain,
     .how = "FLOPs: 1 per input element"},
    {"MaxPool", shape_pool, cost_pool, .form = &pool_plain,
     .how = "FLOPs: elements of the window per output element (comparisons)"},
    {"ReorderInput", .shape = shape_reorder_input},
    {"ReorderOutput", .shape = shape_reorder_output},
    {"Upsample", blocked_shape_upsample, cost_upsample,
     .how = "FLOPs per output element: 7 when it interpolates linearly (4 *, 3 +)"},
};

const op_family op_family_nchwc = {"com.microsoft.nchwc", nchwc_rows,
				   sizeof nchwc_rows / sizeof *nchwc_rows};

/* --- channels last --- */

static const op_row nhwc_rows[] = {
    {"AveragePool", shape_pool, cost_pool, .form = &pool_last,
     .how = "FLOPs: elements of the window per output element"},
    {"BatchNormalization", shape_same_first, cost_each, 2, .roles = ".ppbb",
     .how = "FLOPs per element: *, +"},
    {"Conv", shape_conv, cost_conv, .form = &nhwc, .roles = ".pp", .how = "as Conv of ONNX"},
    {"GlobalAveragePool", shape_global_pool, cost_each_in, 1, .form = &pool_last,
     .how = "FLOPs: 1 per input element"},
    {"GlobalLpPool", shape_global_pool, cost_each_in, 2, .form = &pool_last,
     .how = "FLOPs: 2 per input element (power, sum)"},
    {"GlobalMaxPool", shape_global_pool, cost_each_in, 1, .form = &pool_last,
     .how = "FLOPs: 1 per input element"},
    {"InstanceNormalization", shape_same_first, cost_layer_norm, .roles = ".pp",
     .how = "FLOPs per element: 7"},
    {"MaxPool", shape_pool, cost_pool, .form = &pool_last,
     .how = "FLOPs: elements of the window per output element (comparisons)"},
    {"QLinearAveragePool", shape_pool, cost_pool, .form = &qlinear_pool_last, .roles = ".cccc",
     .how = "FLOPs per output element: elements of the window, 5 to quantise it"},
    {"QLinearConv", shape_conv, cost_conv, .form = &qlinear_last, .roles = ".ccpccccp",
     .how = "as Conv; 5 FLOPs per output element to quantise it"},
};

const op_family op_family_nhwc = {"com.ms.internal.nhwc", nhwc_rows,
				  sizeof nhwc_rows / sizeof *nhwc_rows};
