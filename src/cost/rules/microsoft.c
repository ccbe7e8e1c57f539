/* microsoft.c - the table of ONNX Runtime's own operators.
 * https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/rules/microsoft_rules.h"
#include "cost/rules/nn.h"

static const conv_form nhwc = {.x = 0, .w = 1, .bias = 2, .add = 3, .layout = CHANNELS_LAST};
static const transposed_form dynamic_pads = {.pads = 2, .bias = 3};
/* The mean of the window is quantised: scales and zero points join in that one step. */
static const pool_form qlinear_pool = {.layout = CHANNELS_AS_STATED, .each = 1, .once = 5};
static const product_form gemm = {.a = 0, .b = 1, .transposes = true};
static const product_form gemm_fast_gelu = {
    .a = 0, .b = 1, .bias = 2, .each = 9, .activates = true};
/* A is quantised first, and one scale makes the sum real. */
static const product_form dynamic_matmul = {
    .a = 0, .b = 1, .bias = 4, .each = 1, .each_a = 7, .activates = true};
static const product_form matmul_to_float = {
    .a = 0, .b = 1, .typed = 2, .bias = 6, .each = 1, .activates = true};
static const product_form matmul_integer16 = {
    .a = 0, .b = 1, .dtype = ONNX_INT32, .bias = OP_ABSENT, .activates = true};
static const product_form qordered_matmul = {.a = 0, .b = 2, .bias = OP_ABSENT, .activates = true};
static const product_form sparse_matmul = {.a = 0, .b = 1, .transposes = true, .typed = 1};
static const product_form block_fp4 = {.a = 0, .bias = 5, .activates = true};
static const product_form block_fp8 = {.a = 0, .bias = 4, .activates = true};

static const cell quantised_lstm = {
    .gates = 4, .transposed = true, .adds = 8, .activations = {"sigmoid", "tanh", "tanh"}};

static void cost_uncounted(op *o)
{
	op_cost_unknown(o, "deepclock does not count what %s computes", o->node->op);
}

static void cost_search(op *o)
{
	op_cost_unknown(o, "it runs a decoder as often as its data decides");
}

static void shape_unknown(op *o)
{
	op_unknown(o, "its shape depends on values");
}

#define EACH(NAME, FLOPS, HOW)                                       \
	{                                                            \
		NAME, shape_same_first, cost_each, FLOPS, .how = HOW \
	}

#define HOW_PROJECTED                                                                            \
	"MACs: the input projection, and batch x heads x queries x keys (past ones too, masked " \
	"or not) x (head size + value head size)"
#define HOW_MULTI                                                                                 \
	"MACs: batch x query heads x queries x keys (past ones too, masked or not) x (head size " \
	"+ value head size)"
#define HOW_PRODUCT "MACs: output elements x contracted size"

static const op_row rows[] = {
    {"Attention", shape_ms_projected, cost_ms_projected, .form = &ms_attention, .roles = ".ppcc.c",
     .how = HOW_PROJECTED},
    {"BeamSearch", shape_unknown, .cost = cost_search},
    EACH("BiasAdd", 2, "FLOPs per element: 2 additions"),
    {"BiasDropout", shape_ms_dropout, cost_each, 2, .roles = ".p.cc",
     .how = "FLOPs per element: 2 additions"},
    {"BiasGelu", shape_same_first, cost_each, 6, .roles = ".p",
     .how = "FLOPs per element: +, and 5 of Gelu"},
    EACH("BiasSoftmax", 6, "FLOPs per element: +, and 5 of Softmax"),
    {"BiasSplitGelu", shape_ms_split_gelu, cost_each, 8, .roles = ".p",
     .how = "FLOPs per output element: 2 +, 5 of Gelu, *"},
    {"BitmaskDropout", shape_ms_bitmask_dropout, .roles = ".cc"},
    {"BranchwiseRMSNorm", shape_same_first, cost_each, 4, .roles = ".p",
     .how = "FLOPs per element: square, sum, /, scale"},
    {"CDist", shape_ms_cdist, cost_ms_cdist,
     .how = "FLOPs: 3 per pair of rows and coordinate, 1 root per pair"},
    {"CausalConvWithState", shape_causal_conv, cost_causal_conv, .roles = ".pp.",
     .how = "MACs: elements of the input x taps"},
    {"ComplexMul", shape_broadcast, cost_each, 3,
     .how = "FLOPs: 3 per real number (4 * and 2 + for a pair)"},
    {"ComplexMulConj", shape_broadcast, cost_each, 3,
     .how = "FLOPs: 3 per real number (4 * and 2 + for a pair)"},
    {"ConvTransposeWithDynamicPads", shape_conv_transpose, cost_conv_transpose,
     .form = &dynamic_pads, .roles = ".pcp",
     .how = "MACs: batch x places of the input x elements of the weights"},
    {"CropAndResize", shape_ms_crop_resize, cost_uncounted, .roles = "..cc"},
    {"DecoderAttention", shape_ms_decoder_attention, cost_ms_values, .roles = "..ppp"},
    {"DecoderMaskedMultiHeadAttention", shape_ms_multi_head, cost_ms_multi_head,
     .roles = "...c......p", .how = HOW_MULTI},
    {"DecoderMaskedSelfAttention", shape_ms_projected, cost_ms_projected, .form = &ms_attention,
     .roles = ".ppc", .how = HOW_PROJECTED},
    {"DequantizeLinear", shape_dequantize, cost_each, 2, .roles = ".cc",
     .how = "FLOPs per element: -, *"},
    {"DequantizeWithOrder", shape_ms_order_dequantize, cost_each, 1, .roles = ".c",
     .how = "FLOPs per element: *"},
    {"DynamicQuantizeLSTM", shape_cell, cost_cell, .form = &quantised_lstm, .roles = ".pppcccpcccc",
     .how = "MACs: steps x batch x directions x 4 x hidden x (input + hidden)"},
    {"DynamicQuantizeMatMul", shape_product, cost_product, .form = &dynamic_matmul,
     .roles = ".pccp",
     .how = HOW_PRODUCT "; FLOPs: 7 per element of A to quantise it, 1 per output element to "
			"scale it, 1 with a bias"},
    {"DynamicSparseAttention", shape_same_first, .cost = cost_ms_values},
    {"EPContext", shape_unknown, .cost = cost_uncounted},
    {"EmbedLayerNormalization", shape_ms_embed_norm, cost_ms_embed_norm, .roles = "..ppppp.c",
     .how = "FLOPs per output element: sum of the embeddings, and 7 of LayerNormalization"},
    {"EngramGate", shape_ms_engram, cost_each, 11, .roles = "...ppp",
     .how = "FLOPs per element: two normalisations of 4, *, sum, *"},
    {"ExpandDims", shape_ms_expand_dims, .traffic = TRAFFIC_VIEW, .roles = ".c"},
    {"FastGelu", shape_same_first, cost_ms_fast_gelu, .roles = ".p",
     .how = "FLOPs per element: 9 (tanh approximation), 1 with a bias"},
    {"FusedConv", shape_conv, cost_conv, .form = &conv_fused, .roles = ".pp.",
     .how = "as Conv; FLOPs: 1 per output element for what is added, and its activation"},
    {"FusedGemm", shape_product, cost_ms_gemm, .form = &gemm, .roles = "ppp",
     .how = HOW_PRODUCT "; FLOPs: C 1, each factor that is not 1, and its activation"},
    {"FusedMatMul", shape_ms_fused_matmul, cost_ms_fused_matmul, .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element for a factor that is not 1"},
    {"FusedMatMulActivation", shape_ms_fused_matmul, cost_ms_fused_matmul, .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: a factor that is not 1, and its activation"},
    EACH("GatedAdd", 2, "FLOPs per element: *, +"),
    {"GatedRMSNorm", shape_same_first, cost_each, 10, .roles = ".p",
     .how = "FLOPs per element: 4 of the norm, 5 of SiLU, *"},
    {"GatedRelativePositionBias", shape_ms_gated_bias, cost_uncounted, .roles = ".p.ppp"},
    {"GatherBlockQuantized", shape_ms_gather_quantized, cost_ms_gather_quantized,
     .traffic = TRAFFIC_PICK, .roles = "c.cc",
     .how = "FLOPs per element: -, *; parameters: weights, however they are packed"},
    {"GatherND", shape_ms_gather_nd, .traffic = TRAFFIC_PICK},
    EACH("Gelu", 5, "FLOPs per element: /, erf, +1, *, *"),
    {"GemmFastGelu", shape_product, cost_product, .form = &gemm_fast_gelu, .roles = ".pp",
     .how = HOW_PRODUCT "; FLOPs: bias 1, 9 of FastGelu"},
    {"GemmFloat8", shape_ms_gemm_float8, cost_ms_gemm, .roles = ".ppccc",
     .how = HOW_PRODUCT "; FLOPs: C 1, each factor that is not 1, and its activation"},
    {"GemmaRotaryEmbedding", shape_ms_gemma_rotary, .cost = cost_uncounted},
    {"GreedySearch", shape_unknown, .cost = cost_search},
    {"GridSample", shape_ms_grid_sample, .cost = cost_uncounted},
    {"GroupNorm", shape_same_first, cost_ms_group_norm, .roles = ".pp",
     .how = "FLOPs per element: 7, and 5 with SiLU"},
    {"GroupQueryAttention", shape_ms_group_query, cost_ms_group_query, .roles = ".....cccccccccpp",
     .how = HOW_MULTI "; FLOPs: 3 per rotated element, 4 per normalised one"},
    {"HyperConnectionPostMix", shape_same_first, cost_ms_post_mix,
     .how = "MACs: elements x streams"},
    {"HyperConnectionPreMix", shape_ms_pre_mix, cost_each_in, 2,
     .how = "FLOPs per input element: *, +"},
    {"Inverse", shape_same_first, .cost = cost_uncounted},
    {"Irfft", shape_ms_irfft, .cost = cost_uncounted},
    {"IsAllFinite", shape_ms_finite, .cost = cost_uncounted},
    {"LinearAttention", shape_linear_attention, cost_linear_attention,
     .how = "as LinearAttention of ONNX"},
    {"LinearAttentionGate", shape_ms_gate, cost_ms_gate, .roles = ".pp.",
     .how = "FLOPs per element: +, 3 of Softplus, *; 4 of Sigmoid for each of b"},
    {"LongformerAttention", shape_same_first, cost_ms_values, .roles = ".pp.pp."},
    {"MRotaryEmbedding", shape_same_first, cost_rotary, .roles = "..cc",
     .how = "FLOPs: 3 per rotated element"},
    {"MatMulBlockQuantizedFp4Weight", shape_ms_block, cost_product, .form = &block_fp4,
     .roles = ".pcccp", .how = HOW_PRODUCT},
    {"MatMulBlockQuantizedFp8Weight", shape_ms_block, cost_product, .form = &block_fp8,
     .roles = ".pccp", .how = HOW_PRODUCT},
    {"MatMulBnb4", shape_ms_matmul_nbits, cost_ms_matmul_nbits, .roles = ".cc",
     .how = HOW_PRODUCT "; FLOPs: 2 per weight to dequantise it; parameters: N x K"},
    {"MatMulInteger16", shape_product, cost_product, .form = &matmul_integer16, .roles = "pp",
     .how = HOW_PRODUCT},
    {"MatMulIntegerToFloat", shape_product, cost_product, .form = &matmul_to_float,
     .roles = "ppccccp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element to scale it, 1 with a bias"},
    {"MatMulNBits", shape_ms_matmul_nbits, cost_ms_matmul_nbits, .roles = ".ccccp",
     .how = HOW_PRODUCT "; FLOPs: 2 per weight to dequantise it, 1 per output element with a "
			"bias; parameters: N x K"},
    {"MatMulNBitsMlp", shape_ms_nbits_mlp, cost_ms_nbits_mlp, .roles = "..pccpccp",
     .how = HOW_PRODUCT ", twice; FLOPs: the norm, 2 per weight, biases, activation, *"},
    {"MatMulNBitsQkv", shape_ms_nbits_qkv, cost_ms_nbits_qkv, .roles = "..pccpccpccp",
     .how = HOW_PRODUCT " of the three; FLOPs: the norm, 2 per weight, biases"},
    {"MaxpoolWithMask", shape_pool, cost_pool, .form = &pool_plain,
     .how = "FLOPs: elements of the window per output element"},
    {"MoE", shape_same_first, cost_ms_moe, .roles = "..pppppp",
     .how = "MACs: tokens x k x hidden x (rows of the first weights + those of the gate + inner "
	    "size)"},
    {"MulInteger", shape_ms_mul_integer, cost_each, 3, .roles = ".c.c",
     .how = "FLOPs per element: -, -, *"},
    {"MultiHeadAttention", shape_ms_multi_head, cost_ms_multi_head, .roles = "...pc",
     .how = HOW_MULTI "; FLOPs: 1 per element with a bias"},
    {"MurmurHash3", shape_ms_hash, .cost = cost_uncounted},
    {"NGramHashMapping", shape_ms_ngram, cost_uncounted, .roles = ".cc"},
    {"NGramRepeatBlock", shape_ms_ngram_repeat, .cost = cost_uncounted},
    {"NhwcConv", shape_conv, cost_conv, .form = &nhwc, .roles = ".pp", .how = "as Conv"},
    {"NhwcFusedConv", shape_conv, cost_conv, .form = &nhwc, .roles = ".pp.", .how = "as FusedConv"},
    {"NhwcMaxPool", shape_pool, cost_pool, .form = &pool_last,
     .how = "FLOPs: elements of the window per output element (comparisons)"},
    {"PackedAttention", shape_ms_packed_attention, cost_ms_values, .roles = ".ppcc"},
    {"PackedMultiHeadAttention", shape_ms_packed_multi_head, cost_ms_values, .roles = "...pcc"},
    {"Pad", shape_ms_pad, .roles = ".cc"},
    {"PagedAttention", shape_ms_cached_attention, cost_ms_values, .roles = ".....cccccccppcc"},
    {"QAttention", shape_ms_projected, cost_ms_projected, .form = &ms_qattention,
     .roles = ".ppccccc.", .how = HOW_PROJECTED},
    {"QEmbedLayerNormalization", shape_ms_qembed_norm, cost_ms_embed_norm, .roles = "..ppppp.c",
     .how = "as EmbedLayerNormalization; 2 more per embedding to dequantise it"},
    {"QGemm", shape_ms_qgemm, cost_ms_qgemm, .roles = "pccpccpcc",
     .how = HOW_PRODUCT "; FLOPs per output element: C 1, 5 to quantise it or 1 to scale it"},
    {"QLinearAdd", shape_ms_qlinear_binary, cost_each, 10, .roles = ".cc.cccc",
     .how = "FLOPs per element: 4 to dequantise both, +, 5 to quantise it"},
    {"QLinearAveragePool", shape_pool, cost_pool, .form = &qlinear_pool, .roles = ".cccc",
     .how = "FLOPs per output element: elements of the window, 5 to quantise it"},
    {"QLinearConcat", shape_ms_qlinear_concat, cost_each, 7,
     .roles = "cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.",
     .how = "FLOPs per element: 2 to dequantise it, 5 to quantise it"},
    {"QLinearConv", shape_conv, cost_conv, .form = &conv_qlinear, .roles = ".ccpccccp",
     .how = "as Conv; 5 FLOPs per output element to quantise it"},
    {"QLinearGlobalAveragePool", shape_global_pool, cost_in_out, 5, .flops_in = 1,
     .form = &qlinear_pool, .roles = ".cccc",
     .how = "FLOPs: 1 per input element, 5 per output element to quantise it"},
    {"QLinearLeakyRelu", shape_same_first, cost_each, 9, .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 2, 5 to quantise it"},
    {"QLinearMul", shape_ms_qlinear_binary, cost_each, 10, .roles = ".cc.cccc",
     .how = "FLOPs per element: 4 to dequantise both, *, 5 to quantise it"},
    {"QLinearReduceMean", shape_ms_qlinear_reduce, cost_in_out, 5, .flops_in = 1, .roles = ".cccc",
     .how = "FLOPs: 1 per input element, 5 per output element to quantise it"},
    {"QLinearSigmoid", shape_same_first, cost_each, 11, .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 4, 5 to quantise it"},
    {"QLinearSoftmax", shape_same_first, cost_each, 12, .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 5, 5 to quantise it"},
    {"QLinearWhere", shape_ms_qlinear_where, cost_each, 7, .roles = "..cc.cccc",
     .how = "FLOPs per element: 2 to dequantise it, 5 to quantise it"},
    {"QMoE", shape_same_first, cost_ms_moe, .roles = "..ccpccpccpccc.c",
     .how = "as MoE; parameters: weights, however they are packed"},
    {"QOrderedAttention", shape_ms_qordered_attention, cost_ms_qordered_attention,
     .roles = ".ccccpppcccpppcccc", .how = HOW_PROJECTED},
    {"QOrderedGelu", shape_same_first, cost_each, 12, .roles = ".cc",
     .how = "FLOPs per element: 2 to dequantise it, 5, 5 to quantise it"},
    {"QOrderedLayerNormalization", shape_same_first, cost_each, 14, .roles = ".cppc",
     .how = "FLOPs per element: 2 to dequantise it, 7, 5 to quantise it"},
    {"QOrderedLongformerAttention", shape_same_first, cost_ms_values, .roles = ".cpcpcccpcpc"},
    {"QOrderedMatMul", shape_product, cost_product, .form = &qordered_matmul, .roles = ".cpccp",
     .how = HOW_PRODUCT},
    {"QuantizeLinear", shape_quantize, cost_each, 5, .roles = ".cc",
     .how = "FLOPs per element: /, round, +, and 2 to saturate"},
    {"QuantizeWithOrder", shape_ms_order_quantize, cost_each, 4, .roles = ".c",
     .how = "FLOPs per element: /, round, and 2 to saturate"},
    EACH("QuickGelu", 6, "FLOPs per element: *, negate, exp, +1, /, *"),
    {"Range", shape_ms_range, .traffic = TRAFFIC_WRITE},
    {"ReduceSumInteger", shape_ms_reduce_integer, cost_each_in, 1,
     .how = "FLOPs: 1 per input element"},
    {"RelativePositionBias", shape_ms_relative_bias, cost_uncounted, .roles = "pcc"},
    {"RemovePadding", .shape = shape_ms_remove_padding},
    {"RestorePadding", .shape = shape_ms_restore_padding},
    {"Rfft", shape_ms_rfft, .cost = cost_uncounted},
    {"RotaryEmbedding", shape_same_first, cost_rotary, .roles = ".ccc",
     .how = "FLOPs: 3 per rotated element (*, *, +)"},
    {"SampleOp", .shape = shape_same_first},
    {"Sampling", shape_unknown, .cost = cost_search},
    {"ScaledSiLU", shape_same_first, cost_each, 6, .roles = ".c",
     .how = "FLOPs per element: *, and 5 of SiLU"},
    {"SkipGroupNorm", shape_same, cost_ms_skip_group_norm, .roles = ".pp.p",
     .how = "FLOPs per element: 1 or 2 sums, 7 of the norm, 5 with SiLU"},
    {"SkipLayerNormalization", shape_ms_skip_norm, cost_ms_skip_layer_norm, .roles = "..ppp",
     .how = "FLOPs per element: 1 or 2 sums, 6 of the norm, 1 with beta"},
    {"SkipSimplifiedLayerNormalization", shape_ms_skip_norm, cost_ms_skip_rms_norm, .roles = "..pp",
     .how = "FLOPs per element: 1 or 2 sums, 4 of the norm"},
    {"SparseAttention", shape_ms_cached_attention, cost_ms_values, .roles = ".....cccccc"},
    {"SparsePagedAttention", shape_ms_cached_attention, .cost = cost_ms_values},
    {"SparseToDenseMatMul", shape_product, cost_ms_values, .form = &sparse_matmul, .roles = "pp"},
    {"Tokenizer", .shape = shape_ms_tokenizer},
    {"TorchEmbedding", shape_ms_embedding, .traffic = TRAFFIC_PICK, .roles = "p.cc"},
    {"TransposeMatMul", shape_ms_fused_matmul, cost_ms_fused_matmul, .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element for a factor that is not 1"},
    {"Trilu", shape_same_first, .roles = ".c"},
    {"UnfoldTensor", .shape = shape_ms_unfold},
    {"Unique", shape_ms_unique, .cost = cost_uncounted},
    {"VarlenCausalConvWithState", shape_ms_varlen_conv, cost_causal_conv, .roles = ".pcp.c",
     .how = "MACs: elements of the input x taps"},
    {"WhisperBeamSearch", shape_unknown, .cost = cost_search},
};

const op_family op_family_microsoft = {"com.microsoft", rows, sizeof rows / sizeof *rows};
