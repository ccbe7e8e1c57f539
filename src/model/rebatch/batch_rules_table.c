/* batch_rules_table.c - table of batching rules by operator. An operator without a row is refused
 * if an input is batched.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/batch_rules.h"
#include "base/name_index.h"

#include <string.h>

#define BIT(i) (1u << (i))

static const batch_rule batch_rows[] = {
    {batch_rule_keep,
     .names = "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast Ceil Celu Clip Cos Cosh "
	      "Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu "
	      "Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh "
	      "Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu"},
    {batch_rule_each,
     .names = "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater "
	      "GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub Sum "
	      "Where Xor"},
    {batch_rule_arg, .names = "ArgMax ArgMin"},
    {batch_rule_first,
     .names = "AveragePool Conv ConvInteger ConvTranspose DepthToSpace GlobalAveragePool "
	      "GlobalLpPool GlobalMaxPool GroupNormalization InstanceNormalization LRN LpPool "
	      "QLinearConv SpaceToDepth"},
    {batch_rule_slots, .names = "Attention", .slots = "iiimiii"},
    {batch_rule_batchnorm, .names = "BatchNormalization"},
    {batch_rule_never, .names = "Bernoulli Multinomial RandomNormalLike RandomUniformLike",
     .why = "it is random"},
    {batch_rule_never, .names = "Compress",
     .why = "how much it keeps depends on all items together"},
    {batch_rule_never, .names = "Det", .why = "it takes matrices apart"},
    {batch_rule_never, .names = "DynamicQuantizeLinear",
     .why = "it finds one scale for all items together"},
    {batch_rule_never, .names = "MaxUnpool", .why = "its indices count across all items"},
    {batch_rule_never, .names = "NonMaxSuppression",
     .why = "how many boxes it keeps depends on all items together"},
    {batch_rule_never, .names = "NonZero",
     .why = "how much it finds depends on all items together"},
    {batch_rule_never, .names = "Unique", .why = "it compares all items"},
    {batch_rule_concat, .names = "Concat"},
    {batch_rule_cumsum, .names = "CumSum"},
    {batch_rule_quantize, .names = "DequantizeLinear QuantizeLinear"},
    {batch_rule_dropout, .names = "Dropout"},
    {batch_rule_einsum, .names = "Einsum"},
    {batch_rule_expand, .names = "Expand", .sizes = BIT(1)},
    {batch_rule_flatten, .names = "Flatten"},
    {batch_rule_rnn, .names = "GRU LSTM RNN"},
    {batch_rule_gather, .names = "Gather"},
    {batch_rule_elements, .names = "GatherElements", .at = 2},
    {batch_rule_gather_nd, .names = "GatherND"},
    {batch_rule_gemm, .names = "Gemm"},
    {batch_rule_first_all, .names = "GridSample", .at = 2},
    {batch_rule_softmax, .names = "Hardmax LogSoftmax Softmax"},
    {batch_rule_norm, .names = "LayerNormalization RMSNormalization SimplifiedLayerNormalization"},
    {batch_rule_axis, .names = "LpNormalization TopK", .at = -1, .why = "it works along"},
    {batch_rule_matmul, .names = "MatMul MatMulInteger", .at = 1},
    {batch_rule_maxpool, .names = "MaxPool"},
    {batch_rule_onehot, .names = "OneHot"},
    {batch_rule_pad, .names = "Pad", .sizes = BIT(1)},
    {batch_rule_matmul, .names = "QLinearMatMul", .at = 3},
    {batch_rule_reduce,
     .names = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
	      "ReduceProd ReduceSum ReduceSumSquare"},
    {batch_rule_reshape, .names = "Reshape", .sizes = BIT(1)},
    {batch_rule_resize, .names = "Resize", .sizes = BIT(3)},
    {batch_rule_slots, .names = "RotaryEmbedding", .slots = "icci"},
    {batch_rule_elements, .names = "ScatterElements", .at = 3},
    {batch_rule_scatter_nd, .names = "ScatterND"},
    {batch_rule_shape, .names = "Shape Size"},
    {batch_rule_slice, .names = "Slice", .sizes = BIT(1) | BIT(2)},
    {batch_rule_axis, .names = "Split", .why = "it cuts along"},
    {batch_rule_squeeze, .names = "Squeeze"},
    {batch_rule_tile, .names = "Tile"},
    {batch_rule_transpose, .names = "Transpose"},
    {batch_rule_trilu, .names = "Trilu"},
    {batch_rule_unsqueeze, .names = "Unsqueeze"},
    {batch_rule_resize, .names = "Upsample"},
};

static const batch_rule rows_microsoft[] = {
    {batch_rule_slots, .names = "Attention", .slots = "issiams"},
    {batch_rule_each, .names = "BiasGelu FastGelu"},
    {batch_rule_first, .names = "ConvTransposeWithDynamicPads FusedConv"},
    {batch_rule_quantize, .names = "DequantizeLinear QuantizeLinear"},
    {batch_rule_slots, .names = "EmbedLayerNormalization", .slots = "iisssssir"},
    {batch_rule_gemm, .names = "FusedGemm"},
    {batch_rule_keep, .names = "Gelu Inverse MatMulNBits QuickGelu"},
    {batch_rule_slots, .names = "GroupQueryAttention", .slots = "iiiiiisssimsss"},
    {batch_rule_slots, .names = "MultiHeadAttention", .slots = "iiisimiis"},
    {batch_rule_slots, .names = "RotaryEmbedding", .slots = "ipss"},
    {batch_rule_skipnorm, .names = "SkipLayerNormalization SkipSimplifiedLayerNormalization"},
};

static const batch_rule *rule_find(const batch_rule *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (name_index_listed(list[i].names, name))
			return &list[i];
	return NULL;
}

const batch_rule *batch_rule_row_of(const op *o)
{
	const char *domain = o->node->domain ? o->node->domain : "";

	if (!*domain || strcmp(domain, "ai.onnx") == 0)
		return rule_find(batch_rows, sizeof batch_rows / sizeof *batch_rows, o->node->op);
	if (strcmp(domain, "com.microsoft") == 0)
		return rule_find(rows_microsoft, sizeof rows_microsoft / sizeof *rows_microsoft,
				 o->node->op);
	return NULL;
}
