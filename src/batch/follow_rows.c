/* follow_rows.c - which rule an operator has. What is in no row is refused where it meets items.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "batch/follow.h"

#include <stdlib.h>
#include <string.h>

#define EACH(op)                      \
	{                             \
		op, follow_each, 0, 0 \
	}
#define KEEP(op)                      \
	{                             \
		op, follow_keep, 0, 0 \
	}
#define FIRST(op)                      \
	{                              \
		op, follow_first, 0, 0 \
	}
#define NEVER(op)                      \
	{                              \
		op, follow_never, 0, 0 \
	}
#define REDUCE(op)                      \
	{                               \
		op, follow_reduce, 0, 0 \
	}
#define BIT(i) (1u << (i))

/* In the order of strcmp. */
static const follow_row rows[] = {
    KEEP("Abs"),
    KEEP("Acos"),
    KEEP("Acosh"),
    EACH("Add"),
    EACH("And"),
    {"ArgMax", follow_arg, 0, 0},
    {"ArgMin", follow_arg, 0, 0},
    KEEP("Asin"),
    KEEP("Asinh"),
    KEEP("Atan"),
    KEEP("Atanh"),
    FIRST("AveragePool"),
    {"BatchNormalization", follow_batchnorm, 0, 0},
    NEVER("Bernoulli"),
    EACH("BitShift"),
    EACH("BitwiseAnd"),
    KEEP("BitwiseNot"),
    EACH("BitwiseOr"),
    EACH("BitwiseXor"),
    KEEP("Cast"),
    KEEP("Ceil"),
    KEEP("Celu"),
    KEEP("Clip"),
    NEVER("Compress"),
    {"Concat", follow_concat, 0, 0},
    FIRST("Conv"),
    FIRST("ConvInteger"),
    FIRST("ConvTranspose"),
    KEEP("Cos"),
    KEEP("Cosh"),
    {"CumSum", follow_cumsum, 0, 0},
    {"DepthToSpace", follow_first, 0, 0},
    {"DequantizeLinear", follow_quantize, 0, 0},
    NEVER("Det"),
    EACH("Div"),
    {"Dropout", follow_dropout, 0, 0},
    NEVER("DynamicQuantizeLinear"),
    {"Einsum", follow_einsum, 0, 0},
    KEEP("Elu"),
    EACH("Equal"),
    KEEP("Erf"),
    KEEP("Exp"),
    {"Expand", follow_expand, 0, BIT(1)},
    {"Flatten", follow_flatten, 0, 0},
    KEEP("Floor"),
    {"GRU", follow_rnn, 0, 0},
    {"Gather", follow_gather, 0, 0},
    {"GatherElements", follow_gather_elements, 0, 0},
    {"GatherND", follow_gather_nd, 0, 0},
    KEEP("Gelu"),
    {"Gemm", follow_gemm, 0, 0},
    FIRST("GlobalAveragePool"),
    FIRST("GlobalLpPool"),
    FIRST("GlobalMaxPool"),
    EACH("Greater"),
    EACH("GreaterOrEqual"),
    {"GridSample", follow_first_all, 2, 0},
    FIRST("GroupNormalization"),
    KEEP("HardSigmoid"),
    KEEP("HardSwish"),
    {"Hardmax", follow_softmax, 0, 0},
    KEEP("Identity"),
    FIRST("InstanceNormalization"),
    KEEP("IsInf"),
    KEEP("IsNaN"),
    FIRST("LRN"),
    {"LSTM", follow_rnn, 0, 0},
    {"LayerNormalization", follow_norm, 0, 0},
    KEEP("LeakyRelu"),
    EACH("Less"),
    EACH("LessOrEqual"),
    KEEP("Log"),
    {"LogSoftmax", follow_softmax, 0, 0},
    {"LpNormalization", follow_axis, -1, 0},
    FIRST("LpPool"),
    {"MatMul", follow_matmul, 1, 0},
    {"MatMulInteger", follow_matmul, 1, 0},
    EACH("Max"),
    {"MaxPool", follow_maxpool, 0, 0},
    NEVER("MaxUnpool"),
    EACH("Mean"),
    EACH("Min"),
    KEEP("Mish"),
    EACH("Mod"),
    EACH("Mul"),
    NEVER("Multinomial"),
    KEEP("Neg"),
    NEVER("NonMaxSuppression"),
    NEVER("NonZero"),
    KEEP("Not"),
    {"OneHot", follow_onehot, 0, 0},
    EACH("Or"),
    EACH("PRelu"),
    {"Pad", follow_pad, 0, BIT(1)},
    EACH("Pow"),
    FIRST("QLinearConv"),
    {"QLinearMatMul", follow_matmul, 3, 0},
    {"QuantizeLinear", follow_quantize, 0, 0},
    {"RMSNormalization", follow_norm, 0, 0},
    {"RNN", follow_rnn, 0, 0},
    NEVER("RandomNormalLike"),
    NEVER("RandomUniformLike"),
    KEEP("Reciprocal"),
    REDUCE("ReduceL1"),
    REDUCE("ReduceL2"),
    REDUCE("ReduceLogSum"),
    REDUCE("ReduceLogSumExp"),
    REDUCE("ReduceMax"),
    REDUCE("ReduceMean"),
    REDUCE("ReduceMin"),
    REDUCE("ReduceProd"),
    REDUCE("ReduceSum"),
    REDUCE("ReduceSumSquare"),
    KEEP("Relu"),
    {"Reshape", follow_reshape, 0, BIT(1)},
    {"Resize", follow_resize, 0, BIT(3)},
    KEEP("Round"),
    {"ScatterElements", follow_scatter_elements, 0, 0},
    {"ScatterND", follow_scatter_nd, 0, 0},
    KEEP("Selu"),
    {"Shape", follow_shape, 0, 0},
    KEEP("Shrink"),
    KEEP("Sigmoid"),
    KEEP("Sign"),
    KEEP("Sin"),
    KEEP("Sinh"),
    {"Size", follow_shape, 0, 0},
    {"Slice", follow_slice, 0, BIT(1) | BIT(2)},
    {"Softmax", follow_softmax, 0, 0},
    KEEP("Softplus"),
    KEEP("Softsign"),
    {"SpaceToDepth", follow_first, 0, 0},
    {"Split", follow_split, 0, 0},
    KEEP("Sqrt"),
    {"Squeeze", follow_squeeze, 0, 0},
    EACH("Sub"),
    EACH("Sum"),
    KEEP("Swish"),
    KEEP("Tan"),
    KEEP("Tanh"),
    KEEP("ThresholdedRelu"),
    {"Tile", follow_tile, 0, 0},
    {"TopK", follow_topk, -1, 0},
    {"Transpose", follow_transpose, 0, 0},
    {"Trilu", follow_trilu, 0, 0},
    NEVER("Unique"),
    {"Unsqueeze", follow_unsqueeze, 0, 0},
    {"Upsample", follow_resize, 0, 0},
    EACH("Where"),
    EACH("Xor"),
};

static const follow_row rows_microsoft[] = {
    EACH("BiasGelu"),
    FIRST("ConvTransposeWithDynamicPads"),
    {"DequantizeLinear", follow_quantize, 0, 0},
    EACH("FastGelu"),
    FIRST("FusedConv"),
    {"FusedGemm", follow_gemm, 0, 0},
    KEEP("Gelu"),
    KEEP("Inverse"),
    {"MatMulNBits", follow_keep, 0, 0},
    {"QuantizeLinear", follow_quantize, 0, 0},
    KEEP("QuickGelu"),
    {"SimplifiedLayerNormalization", follow_norm, 0, 0},
    {"SkipLayerNormalization", follow_skipnorm, 0, 0},
    {"SkipSimplifiedLayerNormalization", follow_skipnorm, 0, 0},
};

static int order(const void *a, const void *b)
{
	const follow_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

const follow_row *follow_row_of(const op *o)
{
	const char *domain = o->node->domain ? o->node->domain : "";
	follow_row key = {.name = o->node->op};

	if (!*domain || strcmp(domain, "ai.onnx") == 0)
		return bsearch(&key, rows, sizeof rows / sizeof *rows, sizeof key, order);
	if (strcmp(domain, "com.microsoft") == 0)
		return bsearch(&key, rows_microsoft, sizeof rows_microsoft / sizeof *rows_microsoft,
			       sizeof key, order);
	return NULL;
}
