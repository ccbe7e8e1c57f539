/* follow_rows.c - which rule an operator has. What is in no row is refused where it meets items.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/follow.h"
#include "base/names.h"

#include <string.h>

#define BIT(i) (1u << (i))

static const follow_row rows[] = {
    {follow_keep,
     .names = "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast Ceil Celu Clip Cos Cosh "
	      "Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu "
	      "Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh "
	      "Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu"},
    {follow_each, .names =
		      "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater "
		      "GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub Sum "
		      "Where Xor"},
    {follow_arg, .names = "ArgMax ArgMin"},
    {follow_first,
     .names = "AveragePool Conv ConvInteger ConvTranspose DepthToSpace GlobalAveragePool "
	      "GlobalLpPool GlobalMaxPool GroupNormalization InstanceNormalization LRN LpPool "
	      "QLinearConv SpaceToDepth"},
    {follow_batchnorm, .names = "BatchNormalization"},
    {follow_never, .names = "Bernoulli Multinomial RandomNormalLike RandomUniformLike",
     .why = "it is random"},
    {follow_never, .names = "Compress", .why = "how much it keeps depends on all items together"},
    {follow_never, .names = "Det", .why = "it takes matrices apart"},
    {follow_never, .names = "DynamicQuantizeLinear",
     .why = "it finds one scale for all items together"},
    {follow_never, .names = "MaxUnpool", .why = "its indices count across all items"},
    {follow_never, .names = "NonMaxSuppression",
     .why = "how many boxes it keeps depends on all items together"},
    {follow_never, .names = "NonZero", .why = "how much it finds depends on all items together"},
    {follow_never, .names = "Unique", .why = "it compares all items"},
    {follow_concat, .names = "Concat"},
    {follow_cumsum, .names = "CumSum"},
    {follow_quantize, .names = "DequantizeLinear QuantizeLinear"},
    {follow_dropout, .names = "Dropout"},
    {follow_einsum, .names = "Einsum"},
    {follow_expand, .names = "Expand", .sizes = BIT(1)},
    {follow_flatten, .names = "Flatten"},
    {follow_rnn, .names = "GRU LSTM RNN"},
    {follow_gather, .names = "Gather"},
    {follow_elements, .names = "GatherElements", .at = 2},
    {follow_gather_nd, .names = "GatherND"},
    {follow_gemm, .names = "Gemm"},
    {follow_first_all, .names = "GridSample", .at = 2},
    {follow_softmax, .names = "Hardmax LogSoftmax Softmax"},
    {follow_norm, .names = "LayerNormalization RMSNormalization"},
    {follow_axis, .names = "LpNormalization TopK", .at = -1, .why = "it works along"},
    {follow_matmul, .names = "MatMul MatMulInteger", .at = 1},
    {follow_maxpool, .names = "MaxPool"},
    {follow_onehot, .names = "OneHot"},
    {follow_pad, .names = "Pad", .sizes = BIT(1)},
    {follow_matmul, .names = "QLinearMatMul", .at = 3},
    {follow_reduce,
     .names = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
	      "ReduceProd ReduceSum ReduceSumSquare"},
    {follow_reshape, .names = "Reshape", .sizes = BIT(1)},
    {follow_resize, .names = "Resize", .sizes = BIT(3)},
    {follow_elements, .names = "ScatterElements", .at = 3},
    {follow_scatter_nd, .names = "ScatterND"},
    {follow_shape, .names = "Shape Size"},
    {follow_slice, .names = "Slice", .sizes = BIT(1) | BIT(2)},
    {follow_axis, .names = "Split", .why = "it cuts along"},
    {follow_squeeze, .names = "Squeeze"},
    {follow_tile, .names = "Tile"},
    {follow_transpose, .names = "Transpose"},
    {follow_trilu, .names = "Trilu"},
    {follow_unsqueeze, .names = "Unsqueeze"},
    {follow_resize, .names = "Upsample"},
};

static const follow_row rows_microsoft[] = {
    {follow_each, .names = "BiasGelu FastGelu"},
    {follow_first, .names = "ConvTransposeWithDynamicPads FusedConv"},
    {follow_quantize, .names = "DequantizeLinear QuantizeLinear"},
    {follow_gemm, .names = "FusedGemm"},
    {follow_keep, .names = "Gelu Inverse MatMulNBits QuickGelu"},
    {follow_norm, .names = "SimplifiedLayerNormalization"},
    {follow_skipnorm, .names = "SkipLayerNormalization SkipSimplifiedLayerNormalization"},
};

static const follow_row *rule_find(const follow_row *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (names_listed(list[i].names, name))
			return &list[i];
	return NULL;
}

const follow_row *follow_row_of(const op *o)
{
	const char *domain = o->node->domain ? o->node->domain : "";

	if (!*domain || strcmp(domain, "ai.onnx") == 0)
		return rule_find(rows, sizeof rows / sizeof *rows, o->node->op);
	if (strcmp(domain, "com.microsoft") == 0)
		return rule_find(rows_microsoft, sizeof rows_microsoft / sizeof *rows_microsoft,
				 o->node->op);
	return NULL;
}
