/* math.c - the table of arithmetic, comparison, logic, reductions and linear algebra. Each
 * arithmetic operation, comparison and elementary function counts 1 FLOP.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/rules/math_rules.h"
#include "cost/rules/nn.h"

#define EACH	 "FLOPs: 1 per output element"
#define EACH_IN	 "FLOPs: 1 per input element"
#define WINDOW	 "FLOPs per element: 2 *, cos, -"
#define LESS_ONE "FLOPs per output element: one less than there are inputs"

#define ROW(op, rule)                               \
	{                                           \
		op, rule, cost_each, 1, .how = EACH \
	}

static const op_row rows[] = {
    ROW("Abs", shape_math_unary),
    ROW("Acos", shape_math_unary),
    ROW("Acosh", shape_math_unary),
    ROW("Add", shape_math_binary),
    ROW("And", shape_math_compare),
    {"ArgMax", shape_arg, cost_each_in, 1, .how = EACH_IN},
    {"ArgMin", shape_arg, cost_each_in, 1, .how = EACH_IN},
    ROW("Asin", shape_math_unary),
    ROW("Asinh", shape_math_unary),
    ROW("Atan", shape_math_unary),
    ROW("Atanh", shape_math_unary),
    ROW("BitShift", shape_math_binary),
    ROW("BitwiseAnd", shape_math_binary),
    ROW("BitwiseNot", shape_math_unary),
    ROW("BitwiseOr", shape_math_binary),
    ROW("BitwiseXor", shape_math_binary),
    {"BlackmanWindow", shape_window, cost_each, 8, .traffic = TRAFFIC_WRITE, .roles = "c",
     .how = "FLOPs per element: 4 *, 2 cos, +, -"},
    ROW("Ceil", shape_math_unary),
    ROW("Cos", shape_math_unary),
    ROW("Cosh", shape_math_unary),
    {"CumProd", shape_cumulate, cost_each, 1, .roles = ".c", .how = EACH},
    {"CumSum", shape_cumulate, cost_each, 1, .roles = ".c", .how = EACH},
    {"DFT", shape_dft, cost_dft, .roles = ".c",
     .how = "FLOPs: 5 n log2(n) per complex transform, half of it per real one"},
    {"Det", shape_det, cost_det, .how = "FLOPs of Gaussian elimination"},
    ROW("Div", shape_math_binary),
    {"Einsum", shape_einsum, cost_einsum, .roles = "p",
     .how = "MACs: product of the sizes of all indices of two operands; more operands from left to "
	    "right; one operand: 1 FLOP per element where it sums"},
    ROW("Equal", shape_math_compare),
    ROW("Erf", shape_math_unary),
    ROW("Exp", shape_math_unary),
    ROW("Floor", shape_math_unary),
    {"Gemm", shape_gemm, cost_gemm, .roles = "p",
     .how = "MACs: output elements x contracted size; FLOPs besides: 1 per output element for C, 1 "
	    "per output element for alpha and 1 per element of C for beta where they are not 1"},
    ROW("Greater", shape_math_compare),
    ROW("GreaterOrEqual", shape_math_compare),
    {"HammingWindow", shape_window, cost_each, 4, .traffic = TRAFFIC_WRITE, .roles = "c",
     .how = WINDOW},
    {"HannWindow", shape_window, cost_each, 4, .traffic = TRAFFIC_WRITE, .roles = "c",
     .how = WINDOW},
    ROW("IsInf", shape_math_unary_bool),
    ROW("IsNaN", shape_math_unary_bool),
    ROW("Less", shape_math_compare),
    ROW("LessOrEqual", shape_math_compare),
    ROW("Log", shape_math_unary),
    {"MatMul", shape_product, cost_product, .form = &product_plain, .roles = "p",
     .how = "MACs: output elements x contracted size"},
    {"Max", shape_math_variadic, cost_math_variadic, .how = LESS_ONE},
    {"Mean", shape_math_variadic, cost_math_mean,
     .how = "FLOPs per output element: one for each input: the additions and a division"},
    {"MelWeightMatrix", shape_mel, cost_mel, .traffic = TRAFFIC_WRITE, .roles = "c"},
    {"Min", shape_math_variadic, cost_math_variadic, .how = LESS_ONE},
    ROW("Mod", shape_math_binary),
    ROW("Mul", shape_math_binary),
    ROW("Neg", shape_math_unary),
    ROW("Not", shape_math_unary),
    ROW("Or", shape_math_compare),
    ROW("Pow", shape_math_binary),
    ROW("Reciprocal", shape_math_unary),
    {"ReduceL1", shape_reduce, cost_each_in, 2, .roles = ".c",
     .how = "FLOPs per input element: abs, +"},
    {"ReduceL2", shape_reduce, cost_in_out, 1, .flops_in = 2, .roles = ".c",
     .how = "FLOPs: 2 per input element (*, +), sqrt per output element"},
    {"ReduceLogSum", shape_reduce, cost_in_out, 1, .flops_in = 1, .roles = ".c",
     .how = "FLOPs: 1 per input element, log per output element"},
    {"ReduceLogSumExp", shape_reduce, cost_in_out, 1, .flops_in = 2, .roles = ".c",
     .how = "FLOPs: 2 per input element (exp, +), log per output element"},
    {"ReduceMax", shape_reduce, cost_each_in, 1, .roles = ".c", .how = EACH_IN},
    {"ReduceMean", shape_reduce, cost_in_out, 1, .flops_in = 1, .roles = ".c",
     .how = "FLOPs: 1 per input element, a division per output element"},
    {"ReduceMin", shape_reduce, cost_each_in, 1, .roles = ".c", .how = EACH_IN},
    {"ReduceProd", shape_reduce, cost_each_in, 1, .roles = ".c", .how = EACH_IN},
    {"ReduceSum", shape_reduce, cost_each_in, 1, .roles = ".c", .how = EACH_IN},
    {"ReduceSumSquare", shape_reduce, cost_each_in, 2, .roles = ".c",
     .how = "FLOPs per input element: *, +"},
    ROW("Round", shape_math_unary),
    {"STFT", shape_stft, cost_stft, .roles = ".ccc",
     .how = "FLOPs: per frame 5 n log2(n), half of it of a real signal, and 1 per element for the "
	    "window"},
    ROW("Sign", shape_math_unary),
    ROW("Sin", shape_math_unary),
    ROW("Sinh", shape_math_unary),
    ROW("Sqrt", shape_math_unary),
    ROW("Sub", shape_math_binary),
    {"Sum", shape_math_variadic, cost_math_variadic, .how = LESS_ONE},
    ROW("Tan", shape_math_unary),
    ROW("Xor", shape_math_compare),
};

const op_family op_family_math = {"", rows, sizeof rows / sizeof *rows};
