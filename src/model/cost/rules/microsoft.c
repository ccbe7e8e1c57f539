/* microsoft.c - the table of ONNX Runtime's own operators whose rules are shared with other
 * tables.
 * https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

static const conv_form nhwc_fused = {.x = 0, .w = 1, .bias = 2, .add = 3, .layout = CHANNELS_LAST};
static const transposed_form dynamic_pads = {.pads = 2, .bias = 3};
/* The mean of the window is quantised: scales and zero points join in that one step. */
static const pool_form qlinear_pool = {.layout = CHANNELS_AS_STATED, .each = 1, .once = 5};
static const cell quantised_lstm = {
    .gates = 4, .transposed = true, .adds = 8, .activations = {"sigmoid", "tanh", "tanh"}};

static void cost_search(op *o)
{
	op_cost_unknown(o, "it runs a decoder as often as its data decides");
}

static void shape_unknown(op *o)
{
	op_unknown(o, "its shape depends on values");
}

#define EACH_FIRST(NAME, FLOPS, HOW)                                 \
	{                                                            \
		NAME, shape_same_first, cost_each, FLOPS, .how = HOW \
	}

static const op_row microsoft_rows[] = {
    {"AttnLSTM", shape_cell, cost_uncounted, .form = &cell_lstm, .roles = ".pppcccpppp.cp"},
    {"BeamSearch", shape_unknown, .cost = cost_search, .how = "not known: it depends on values"},
    EACH_FIRST("BiasAdd", 2, "FLOPs per element: 2 additions"),
    {"BiasGelu", shape_same_first, cost_each, 6, .roles = ".p",
     .how = "FLOPs per element: +, and 5 of Gelu"},
    EACH_FIRST("BiasSoftmax", 6, "FLOPs per element: +, and 5 of Softmax"),
    {"BranchwiseRMSNorm", shape_same_first, cost_each, 4, .roles = ".p",
     .how = "FLOPs per element: square, sum, /, scale"},
    {"CausalConvWithState", shape_causal_conv, cost_causal_conv, .roles = ".pp.",
     .how = "MACs: elements of the input x taps"},
    {"ComplexMul", shape_broadcast, cost_each, 3,
     .how = "FLOPs: 3 per real number (4 * and 2 + for a pair)"},
    {"ComplexMulConj", shape_broadcast, cost_each, 3,
     .how = "FLOPs: 3 per real number (4 * and 2 + for a pair)"},
    {"ConvTransposeWithDynamicPads", shape_conv_transpose, cost_conv_transpose,
     .form = &dynamic_pads, .roles = ".pcp",
     .how = "MACs: batch x places of the input x elements of the weights"},
    {"DequantizeLinear", shape_dequantize, cost_each, 2, .roles = ".cc",
     .how = "FLOPs per element: -, *"},
    {"DynamicQuantizeLSTM", shape_cell, cost_cell, .form = &quantised_lstm, .roles = ".pppcccpcccc",
     .how = "MACs: steps x batch x directions x 4 x hidden x (input + hidden)"},
    {"EPContext", shape_unknown, .cost = cost_uncounted},
    {"FusedConv", shape_conv, cost_conv, .form = &conv_fused, .roles = ".pp.",
     .how = "as Conv; FLOPs: 1 per output element for the addition, and its activation"},
    EACH_FIRST("GatedAdd", 2, "FLOPs per element: *, +"),
    {"GatedDeltaNet", shape_delta_net, cost_delta_net, .roles = ".......pp..",
     .how = "MACs as LinearAttention; FLOPs besides: 4 per normalised element"},
    {"GatedRMSNorm", shape_same_first, cost_each, 10, .roles = ".p",
     .how = "FLOPs per element: 4 of the norm, 5 of SiLU, *"},
    EACH_FIRST("Gelu", 5, "FLOPs per element: /, erf, +1, *, *"),
    {"GreedySearch", shape_unknown, .cost = cost_search, .how = "not known: it depends on values"},
    {"Inverse", shape_same_first, .cost = cost_uncounted},
    {"LinearAttention", shape_linear_attention, cost_linear_attention,
     .how = "as LinearAttention of ONNX"},
    {"MRotaryEmbedding", shape_same_first, cost_rotary, .roles = "..cc",
     .how = "FLOPs: 3 per rotated element"},
    {"MaxpoolWithMask", shape_pool, cost_pool, .form = &pool_plain,
     .how = "FLOPs: elements of the window per output element"},
    {"NhwcConv", shape_conv, cost_conv, .form = &nhwc_fused, .roles = ".pp", .how = "as Conv"},
    {"NhwcFusedConv", shape_conv, cost_conv, .form = &nhwc_fused, .roles = ".pp.",
     .how = "as FusedConv"},
    {"NhwcMaxPool", shape_pool, cost_pool, .form = &pool_last,
     .how = "FLOPs: elements of the window per output element (comparisons)"},
    {"QLinearAveragePool", shape_pool, cost_pool, .form = &qlinear_pool, .roles = ".cccc",
     .how = "FLOPs per output element: elements of the window, 5 to quantise it"},
    {"QLinearConv", shape_conv, cost_conv, .form = &conv_qlinear, .roles = ".ccpccccp",
     .how = "as Conv; 5 FLOPs per output element to quantise it"},
    {"QLinearGlobalAveragePool", shape_global_pool, cost_in_out, 5, .flops_in = 1,
     .form = &qlinear_pool, .roles = ".cccc",
     .how = "FLOPs: 1 per input element, 5 per output element to quantise it"},
    {"QLinearLeakyRelu", shape_same_first, cost_each, 9, .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 2, 5 to quantise it"},
    {"QLinearSigmoid", shape_same_first, cost_each, 11, .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 4, 5 to quantise it"},
    {"QLinearSoftmax", shape_same_first, cost_each, 12, .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 5, 5 to quantise it"},
    {"QOrderedGelu", shape_same_first, cost_each, 12, .roles = ".cc",
     .how = "FLOPs per element: 2 to dequantise it, 5, 5 to quantise it"},
    {"QOrderedLayerNormalization", shape_same_first, cost_each, 14, .roles = ".cppc",
     .how = "FLOPs per element: 2 to dequantise it, 7, 5 to quantise it"},
    {"QuantizeLinear", shape_quantize, cost_each, 5, .roles = ".cc",
     .how = "FLOPs per element: /, round, +, and 2 to saturate"},
    EACH_FIRST("QuickGelu", 6, "FLOPs per element: *, negate, exp, +1, /, *"),
    {"RotaryEmbedding", shape_same_first, cost_rotary, .roles = ".ccc",
     .how = "FLOPs: 3 per rotated element (*, *, +)"},
    {"SampleOp", .shape = shape_same_first},
    {"Sampling", shape_unknown, .cost = cost_search, .how = "not known: it depends on values"},
    {"ScaledSiLU", shape_same_first, cost_each, 6, .roles = ".c",
     .how = "FLOPs per element: *, and 5 of SiLU"},
    {"Trilu", shape_same_first, .roles = ".c"},
    {"WhisperBeamSearch", shape_unknown, .cost = cost_search,
     .how = "not known: it depends on values"},
};

const op_family op_family_microsoft = {"com.microsoft", microsoft_rows,
				       sizeof microsoft_rows / sizeof *microsoft_rows};
