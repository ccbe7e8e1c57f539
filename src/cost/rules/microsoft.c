/* microsoft.c - the table of ONNX Runtime's own operators.
 * https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/rules/microsoft_rules.h"
#include "cost/rules/nn.h"

static const conv_form fused = {.x = 0, .w = 1, .bias = 2, .add = 3};
static const conv_form nhwc = {.x = 0, .w = 1, .bias = 2, .add = 3, .channels_last = true};

static int64_t first_type(const op *o)
{
	return op_in(o, 0) ? op_in(o, 0)->dtype : 0;
}

static void shape_fused_conv(op *o)
{
	conv_shape(o, &fused, first_type(o));
}

static void cost_fused_conv(op *o)
{
	conv_cost(o, &fused);
}

static void shape_nhwc_conv(op *o)
{
	conv_shape(o, &nhwc, first_type(o));
}

static void cost_nhwc_conv(op *o)
{
	conv_cost(o, &nhwc);
}

/* As ConvTranspose, with pads as input 2. */
static void shape_dynamic_pads(op *o)
{
	size_t n = 0;
	const num *pads = op_ints(o, 2, &n);
	int64_t v[2 * COST_RANK_MAX];
	bool known = !op_in(o, 2) || (pads && n <= 2 * COST_RANK_MAX);

	for (size_t i = 0; pads && known && i < n; i++) {
		known = num_known(pads[i]);
		v[i] = pads[i].v;
	}
	conv_transpose_shape(o, v, known ? n : 0, known);
}

static void cost_dynamic_pads(op *o)
{
	conv_transpose_cost(o, 3);
}

static void shape_nhwc_pool(op *o)
{
	pool_shape(o, true);
}

static void shape_masked_pool(op *o)
{
	pool_shape(o, false);
}

static void cost_pool(op *o)
{
	pool_cost(o, 1, 0);
}

static const cell quantised_lstm = {
    .gates = 4, .transposed = true, .adds = 8, .activations = {"sigmoid", "tanh", "tanh"}};

static void shape_quantised_lstm(op *o)
{
	cell_shape(o, &quantised_lstm);
}

static void cost_quantised_lstm(op *o)
{
	cell_cost(o, &quantised_lstm);
}

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

#define VALUES	  .cost = cost_ms_values
#define UNCOUNTED .cost = cost_uncounted

#define EACH(NAME, FLOPS, HOW)                                                              \
	{                                                                                   \
		.name = NAME, .shape = shape_same_first, .cost = cost_each, .flops = FLOPS, \
		.how = HOW                                                                  \
	}

#define HOW_PROJECTED                                                                            \
	"MACs: the input projection, and batch x heads x queries x keys (past ones too, masked " \
	"or not) x (head size + value head size)"
#define HOW_MULTI                                                                                 \
	"MACs: batch x query heads x queries x keys (past ones too, masked or not) x (head size " \
	"+ value head size)"
#define HOW_PRODUCT "MACs: output elements x contracted size"

static const op_row rows[] = {
    {.name = "Attention",
     .shape = shape_ms_attention,
     .cost = cost_ms_attention,
     .roles = ".ppcc.c",
     .how = HOW_PROJECTED},
    {.name = "BeamSearch", .shape = shape_unknown, .cost = cost_search},
    EACH("BiasAdd", 2, "FLOPs per element: 2 additions"),
    {.name = "BiasDropout",
     .shape = shape_ms_dropout,
     .cost = cost_each,
     .flops = 2,
     .roles = ".p.cc",
     .how = "FLOPs per element: 2 additions"},
    {.name = "BiasGelu",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 6,
     .roles = ".p",
     .how = "FLOPs per element: +, and 5 of Gelu"},
    EACH("BiasSoftmax", 6, "FLOPs per element: +, and 5 of Softmax"),
    {.name = "BiasSplitGelu",
     .shape = shape_ms_split_gelu,
     .cost = cost_each,
     .flops = 8,
     .roles = ".p",
     .how = "FLOPs per output element: 2 +, 5 of Gelu, *"},
    {.name = "BitmaskDropout", .shape = shape_ms_bitmask_dropout, .roles = ".cc"},
    {.name = "BranchwiseRMSNorm",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 4,
     .roles = ".p",
     .how = "FLOPs per element: square, sum, /, scale"},
    {.name = "CDist",
     .shape = shape_ms_cdist,
     .cost = cost_ms_cdist,
     .how = "FLOPs: 3 per pair of rows and coordinate, 1 root per pair"},
    {.name = "CausalConvWithState",
     .shape = shape_causal_conv,
     .cost = cost_causal_conv,
     .roles = ".pp.",
     .how = "MACs: elements of the input x taps"},
    {.name = "ComplexMul",
     .shape = shape_broadcast,
     .cost = cost_each,
     .flops = 3,
     .how = "FLOPs: 3 per real number (4 * and 2 + for a pair)"},
    {.name = "ComplexMulConj",
     .shape = shape_broadcast,
     .cost = cost_each,
     .flops = 3,
     .how = "FLOPs: 3 per real number (4 * and 2 + for a pair)"},
    {.name = "ConvTransposeWithDynamicPads",
     .shape = shape_dynamic_pads,
     .cost = cost_dynamic_pads,
     .roles = ".pcp",
     .how = "MACs: batch x places of the input x elements of the weights"},
    {.name = "CropAndResize", .shape = shape_ms_crop_resize, UNCOUNTED, .roles = "..cc"},
    {.name = "DecoderAttention", .shape = shape_ms_decoder_attention, VALUES, .roles = "..ppp"},
    {.name = "DecoderMaskedMultiHeadAttention",
     .shape = shape_ms_multi_head,
     .cost = cost_ms_multi_head,
     .roles = "...c......p",
     .how = HOW_MULTI},
    {.name = "DecoderMaskedSelfAttention",
     .shape = shape_ms_decoder_self_attention,
     .cost = cost_ms_decoder_self_attention,
     .roles = ".ppc",
     .how = HOW_PROJECTED},
    {.name = "DequantizeLinear",
     .shape = shape_dequantize,
     .cost = cost_each,
     .flops = 2,
     .roles = ".cc",
     .how = "FLOPs per element: -, *"},
    {.name = "DequantizeWithOrder",
     .shape = shape_ms_order_dequantize,
     .cost = cost_each,
     .flops = 1,
     .roles = ".c",
     .how = "FLOPs per element: *"},
    {.name = "DynamicQuantizeLSTM",
     .shape = shape_quantised_lstm,
     .cost = cost_quantised_lstm,
     .roles = ".pppcccpcccc",
     .how = "MACs: steps x batch x directions x 4 x hidden x (input + hidden)"},
    {.name = "DynamicQuantizeMatMul",
     .shape = shape_ms_dynamic_matmul,
     .cost = cost_ms_dynamic_matmul,
     .roles = ".pccp",
     .how = HOW_PRODUCT "; FLOPs: 7 per element of A to quantise it, 1 per output element to "
			"scale it, 1 with a bias"},
    {.name = "DynamicSparseAttention", .shape = shape_same_first, VALUES},
    {.name = "EPContext", .shape = shape_unknown, UNCOUNTED},
    {.name = "EmbedLayerNormalization",
     .shape = shape_ms_embed_norm,
     .cost = cost_ms_embed_norm,
     .roles = "..ppppp.c",
     .how = "FLOPs per output element: sum of the embeddings, and 7 of LayerNormalization"},
    {.name = "EngramGate",
     .shape = shape_ms_engram,
     .cost = cost_each,
     .flops = 11,
     .roles = "...ppp",
     .how = "FLOPs per element: two normalisations of 4, *, sum, *"},
    {.name = "ExpandDims", .shape = shape_ms_expand_dims, .traffic = TRAFFIC_VIEW, .roles = ".c"},
    {.name = "FastGelu",
     .shape = shape_same_first,
     .cost = cost_ms_fast_gelu,
     .roles = ".p",
     .how = "FLOPs per element: 9 (tanh approximation), 1 with a bias"},
    {.name = "FusedConv",
     .shape = shape_fused_conv,
     .cost = cost_fused_conv,
     .roles = ".pp.",
     .how = "as Conv; FLOPs: 1 per output element for what is added, and its activation"},
    {.name = "FusedGemm",
     .shape = shape_ms_gemm,
     .cost = cost_ms_gemm,
     .roles = "ppp",
     .how = HOW_PRODUCT "; FLOPs: C 1, each factor that is not 1, and its activation"},
    {.name = "FusedMatMul",
     .shape = shape_ms_fused_matmul,
     .cost = cost_ms_fused_matmul,
     .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element for a factor that is not 1"},
    {.name = "FusedMatMulActivation",
     .shape = shape_ms_fused_matmul,
     .cost = cost_ms_fused_matmul,
     .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: a factor that is not 1, and its activation"},
    EACH("GatedAdd", 2, "FLOPs per element: *, +"),
    {.name = "GatedRMSNorm",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 10,
     .roles = ".p",
     .how = "FLOPs per element: 4 of the norm, 5 of SiLU, *"},
    {.name = "GatedRelativePositionBias",
     .shape = shape_ms_gated_bias,
     UNCOUNTED,
     .roles = ".p.ppp"},
    {.name = "GatherBlockQuantized",
     .shape = shape_ms_gather_quantized,
     .cost = cost_ms_gather_quantized,
     .traffic = TRAFFIC_PICK,
     .roles = "c.cc",
     .how = "FLOPs per element: -, *; parameters: weights, however they are packed"},
    {.name = "GatherND", .shape = shape_ms_gather_nd, .traffic = TRAFFIC_PICK},
    EACH("Gelu", 5, "FLOPs per element: /, erf, +1, *, *"),
    {.name = "GemmFastGelu",
     .shape = shape_ms_gemm_fast_gelu,
     .cost = cost_ms_gemm_fast_gelu,
     .roles = ".pp",
     .how = HOW_PRODUCT "; FLOPs: bias 1, 9 of FastGelu"},
    {.name = "GemmFloat8",
     .shape = shape_ms_gemm_float8,
     .cost = cost_ms_gemm,
     .roles = ".ppccc",
     .how = HOW_PRODUCT "; FLOPs: C 1, each factor that is not 1, and its activation"},
    {.name = "GemmaRotaryEmbedding", .shape = shape_ms_gemma_rotary, UNCOUNTED},
    {.name = "GreedySearch", .shape = shape_unknown, .cost = cost_search},
    {.name = "GridSample", .shape = shape_ms_grid_sample, UNCOUNTED},
    {.name = "GroupNorm",
     .shape = shape_same_first,
     .cost = cost_ms_group_norm,
     .roles = ".pp",
     .how = "FLOPs per element: 7, and 5 with SiLU"},
    {.name = "GroupQueryAttention",
     .shape = shape_ms_group_query,
     .cost = cost_ms_group_query,
     .roles = ".....cccccccccpp",
     .how = HOW_MULTI "; FLOPs: 3 per rotated element, 4 per normalised one"},
    {.name = "HyperConnectionPostMix",
     .shape = shape_same_first,
     .cost = cost_ms_post_mix,
     .how = "MACs: elements x streams"},
    {.name = "HyperConnectionPreMix",
     .shape = shape_ms_pre_mix,
     .cost = cost_each_in,
     .flops = 2,
     .how = "FLOPs per input element: *, +"},
    {.name = "Inverse", .shape = shape_same_first, UNCOUNTED},
    {.name = "Irfft", .shape = shape_ms_irfft, UNCOUNTED},
    {.name = "IsAllFinite", .shape = shape_ms_finite, UNCOUNTED},
    {.name = "LinearAttention",
     .shape = shape_linear_attention,
     .cost = cost_linear_attention,
     .how = "as LinearAttention of ONNX"},
    {.name = "LinearAttentionGate",
     .shape = shape_ms_gate,
     .cost = cost_ms_gate,
     .roles = ".pp.",
     .how = "FLOPs per element: +, 3 of Softplus, *; 4 of Sigmoid for each of b"},
    {.name = "LongformerAttention", .shape = shape_same_first, VALUES, .roles = ".pp.pp."},
    {.name = "MRotaryEmbedding",
     .shape = shape_same_first,
     .cost = cost_rotary,
     .roles = "..cc",
     .how = "FLOPs: 3 per rotated element"},
    {.name = "MatMulBlockQuantizedFp4Weight",
     .shape = shape_ms_block_fp4,
     .cost = cost_ms_block_product,
     .roles = ".pcccp",
     .how = HOW_PRODUCT},
    {.name = "MatMulBlockQuantizedFp8Weight",
     .shape = shape_ms_block_fp8,
     .cost = cost_ms_block_product,
     .roles = ".pccp",
     .how = HOW_PRODUCT},
    {.name = "MatMulBnb4",
     .shape = shape_ms_matmul_nbits,
     .cost = cost_ms_matmul_nbits,
     .roles = ".cc",
     .how = HOW_PRODUCT "; FLOPs: 2 per weight to dequantise it; parameters: N x K"},
    {.name = "MatMulInteger16",
     .shape = shape_ms_matmul_integer16,
     .cost = cost_ms_matmul,
     .roles = "pp",
     .how = HOW_PRODUCT},
    {.name = "MatMulIntegerToFloat",
     .shape = shape_ms_matmul_to_float,
     .cost = cost_ms_matmul_to_float,
     .roles = "ppccccp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element to scale it, 1 with a bias"},
    {.name = "MatMulNBits",
     .shape = shape_ms_matmul_nbits,
     .cost = cost_ms_matmul_nbits,
     .roles = ".ccccp",
     .how = HOW_PRODUCT "; FLOPs: 2 per weight to dequantise it, 1 per output element with a "
			"bias; parameters: N x K"},
    {.name = "MatMulNBitsMlp",
     .shape = shape_ms_nbits_mlp,
     .cost = cost_ms_nbits_mlp,
     .roles = "..pccpccp",
     .how = HOW_PRODUCT ", twice; FLOPs: the norm, 2 per weight, biases, activation, *"},
    {.name = "MatMulNBitsQkv",
     .shape = shape_ms_nbits_qkv,
     .cost = cost_ms_nbits_qkv,
     .roles = "..pccpccpccp",
     .how = HOW_PRODUCT " of the three; FLOPs: the norm, 2 per weight, biases"},
    {.name = "MaxpoolWithMask",
     .shape = shape_masked_pool,
     .cost = cost_pool,
     .how = "FLOPs: elements of the window per output element"},
    {.name = "MoE",
     .shape = shape_same_first,
     .cost = cost_ms_moe,
     .roles = "..pppppp",
     .how = "MACs: tokens x k x hidden x (rows of the first weights + those of the gate + inner "
	    "size)"},
    {.name = "MulInteger",
     .shape = shape_ms_mul_integer,
     .cost = cost_each,
     .flops = 3,
     .roles = ".c.c",
     .how = "FLOPs per element: -, -, *"},
    {.name = "MultiHeadAttention",
     .shape = shape_ms_multi_head,
     .cost = cost_ms_multi_head,
     .roles = "...pc",
     .how = HOW_MULTI "; FLOPs: 1 per element with a bias"},
    {.name = "MurmurHash3", .shape = shape_ms_hash, UNCOUNTED},
    {.name = "NGramHashMapping", .shape = shape_ms_ngram, UNCOUNTED, .roles = ".cc"},
    {.name = "NGramRepeatBlock", .shape = shape_ms_ngram_repeat, UNCOUNTED},
    {.name = "NhwcConv",
     .shape = shape_nhwc_conv,
     .cost = cost_nhwc_conv,
     .roles = ".pp",
     .how = "as Conv"},
    {.name = "NhwcFusedConv",
     .shape = shape_nhwc_conv,
     .cost = cost_nhwc_conv,
     .roles = ".pp.",
     .how = "as FusedConv"},
    {.name = "NhwcMaxPool",
     .shape = shape_nhwc_pool,
     .cost = cost_pool,
     .how = "FLOPs: elements of the window per output element (comparisons)"},
    {.name = "PackedAttention", .shape = shape_ms_packed_attention, VALUES, .roles = ".ppcc"},
    {.name = "PackedMultiHeadAttention",
     .shape = shape_ms_packed_multi_head,
     VALUES,
     .roles = "...pcc"},
    {.name = "Pad", .shape = shape_ms_pad, .roles = ".cc"},
    {.name = "PagedAttention",
     .shape = shape_ms_cached_attention,
     VALUES,
     .roles = ".....cccccccppcc"},
    {.name = "QAttention",
     .shape = shape_ms_qattention,
     .cost = cost_ms_qattention,
     .roles = ".ppccccc.",
     .how = HOW_PROJECTED},
    {.name = "QEmbedLayerNormalization",
     .shape = shape_ms_qembed_norm,
     .cost = cost_ms_embed_norm,
     .roles = "..ppppp.c",
     .how = "as EmbedLayerNormalization; 2 more per embedding to dequantise it"},
    {.name = "QGemm",
     .shape = shape_ms_qgemm,
     .cost = cost_ms_qgemm,
     .roles = "pccpccpcc",
     .how = HOW_PRODUCT "; FLOPs per output element: C 1, 5 to quantise it or 1 to scale it"},
    {.name = "QLinearAdd",
     .shape = shape_ms_qlinear_binary,
     .cost = cost_each,
     .flops = 10,
     .roles = ".cc.cccc",
     .how = "FLOPs per element: 4 to dequantise both, +, 5 to quantise it"},
    {.name = "QLinearAveragePool",
     .shape = shape_ms_qlinear_pool,
     .cost = cost_ms_qlinear_pool,
     .roles = ".cccc",
     .how = "FLOPs per output element: elements of the window, 5 to quantise it"},
    {.name = "QLinearConcat",
     .shape = shape_ms_qlinear_concat,
     .cost = cost_each,
     .flops = 7,
     .roles = "cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.",
     .how = "FLOPs per element: 2 to dequantise it, 5 to quantise it"},
    {.name = "QLinearConv",
     .shape = shape_qlinear_conv,
     .cost = cost_qlinear_conv,
     .roles = ".ccpccccp",
     .how = "as Conv; 5 FLOPs per output element to quantise it"},
    {.name = "QLinearGlobalAveragePool",
     .shape = shape_ms_qlinear_global_pool,
     .cost = cost_ms_qlinear_global_pool,
     .roles = ".cccc",
     .how = "FLOPs: 1 per input element, 5 per output element to quantise it"},
    {.name = "QLinearLeakyRelu",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 9,
     .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 2, 5 to quantise it"},
    {.name = "QLinearMul",
     .shape = shape_ms_qlinear_binary,
     .cost = cost_each,
     .flops = 10,
     .roles = ".cc.cccc",
     .how = "FLOPs per element: 4 to dequantise both, *, 5 to quantise it"},
    {.name = "QLinearReduceMean",
     .shape = shape_ms_qlinear_reduce,
     .cost = cost_ms_qlinear_global_pool,
     .roles = ".cccc",
     .how = "FLOPs: 1 per input element, 5 per output element to quantise it"},
    {.name = "QLinearSigmoid",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 11,
     .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 4, 5 to quantise it"},
    {.name = "QLinearSoftmax",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 12,
     .roles = ".cccc",
     .how = "FLOPs per element: 2 to dequantise it, 5, 5 to quantise it"},
    {.name = "QLinearWhere",
     .shape = shape_ms_qlinear_where,
     .cost = cost_each,
     .flops = 7,
     .roles = "..cc.cccc",
     .how = "FLOPs per element: 2 to dequantise it, 5 to quantise it"},
    {.name = "QMoE",
     .shape = shape_same_first,
     .cost = cost_ms_moe,
     .roles = "..ccpccpccpccc.c",
     .how = "as MoE; parameters: weights, however they are packed"},
    {.name = "QOrderedAttention",
     .shape = shape_ms_qordered_attention,
     .cost = cost_ms_qordered_attention,
     .roles = ".ccccpppcccpppcccc",
     .how = HOW_PROJECTED},
    {.name = "QOrderedGelu",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 12,
     .roles = ".cc",
     .how = "FLOPs per element: 2 to dequantise it, 5, 5 to quantise it"},
    {.name = "QOrderedLayerNormalization",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 14,
     .roles = ".cppc",
     .how = "FLOPs per element: 2 to dequantise it, 7, 5 to quantise it"},
    {.name = "QOrderedLongformerAttention",
     .shape = shape_same_first,
     VALUES,
     .roles = ".cpcpcccpcpc"},
    {.name = "QOrderedMatMul",
     .shape = shape_ms_qordered_matmul,
     .cost = cost_ms_matmul,
     .roles = ".cpccp",
     .how = HOW_PRODUCT},
    {.name = "QuantizeLinear",
     .shape = shape_quantize,
     .cost = cost_each,
     .flops = 5,
     .roles = ".cc",
     .how = "FLOPs per element: /, round, +, and 2 to saturate"},
    {.name = "QuantizeWithOrder",
     .shape = shape_ms_order_quantize,
     .cost = cost_each,
     .flops = 4,
     .roles = ".c",
     .how = "FLOPs per element: /, round, and 2 to saturate"},
    EACH("QuickGelu", 6, "FLOPs per element: *, negate, exp, +1, /, *"),
    {.name = "Range", .shape = shape_ms_range, .traffic = TRAFFIC_WRITE},
    {.name = "ReduceSumInteger",
     .shape = shape_ms_reduce_integer,
     .cost = cost_each_in,
     .flops = 1,
     .how = "FLOPs: 1 per input element"},
    {.name = "RelativePositionBias", .shape = shape_ms_relative_bias, UNCOUNTED, .roles = "pcc"},
    {.name = "RemovePadding", .shape = shape_ms_remove_padding},
    {.name = "RestorePadding", .shape = shape_ms_restore_padding},
    {.name = "Rfft", .shape = shape_ms_rfft, UNCOUNTED},
    {.name = "RotaryEmbedding",
     .shape = shape_same_first,
     .cost = cost_rotary,
     .roles = ".ccc",
     .how = "FLOPs: 3 per rotated element (*, *, +)"},
    {.name = "SampleOp", .shape = shape_same_first},
    {.name = "Sampling", .shape = shape_unknown, .cost = cost_search},
    {.name = "ScaledSiLU",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 6,
     .roles = ".c",
     .how = "FLOPs per element: *, and 5 of SiLU"},
    {.name = "SkipGroupNorm",
     .shape = shape_same,
     .cost = cost_ms_skip_group_norm,
     .roles = ".pp.p",
     .how = "FLOPs per element: 1 or 2 sums, 7 of the norm, 5 with SiLU"},
    {.name = "SkipLayerNormalization",
     .shape = shape_ms_skip_norm,
     .cost = cost_ms_skip_layer_norm,
     .roles = "..ppp",
     .how = "FLOPs per element: 1 or 2 sums, 6 of the norm, 1 with beta"},
    {.name = "SkipSimplifiedLayerNormalization",
     .shape = shape_ms_skip_norm,
     .cost = cost_ms_skip_rms_norm,
     .roles = "..pp",
     .how = "FLOPs per element: 1 or 2 sums, 4 of the norm"},
    {.name = "SparseAttention", .shape = shape_ms_cached_attention, VALUES, .roles = ".....cccccc"},
    {.name = "SparsePagedAttention", .shape = shape_ms_cached_attention, VALUES},
    {.name = "SparseToDenseMatMul", .shape = shape_ms_sparse_matmul, VALUES, .roles = "pp"},
    {.name = "Tokenizer", .shape = shape_ms_tokenizer},
    {.name = "TorchEmbedding",
     .shape = shape_ms_embedding,
     .traffic = TRAFFIC_PICK,
     .roles = "p.cc"},
    {.name = "TransposeMatMul",
     .shape = shape_ms_fused_matmul,
     .cost = cost_ms_fused_matmul,
     .roles = "pp",
     .how = HOW_PRODUCT "; FLOPs: 1 per output element for a factor that is not 1"},
    {.name = "Trilu", .shape = shape_same_first, .roles = ".c"},
    {.name = "UnfoldTensor", .shape = shape_ms_unfold},
    {.name = "Unique", .shape = shape_ms_unique, UNCOUNTED},
    {.name = "VarlenCausalConvWithState",
     .shape = shape_ms_varlen_conv,
     .cost = cost_causal_conv,
     .roles = ".pcp.c",
     .how = "MACs: elements of the input x taps"},
    {.name = "WhisperBeamSearch", .shape = shape_unknown, .cost = cost_search},
};

const op_family op_family_microsoft = {"com.microsoft", rows, sizeof rows / sizeof *rows};
