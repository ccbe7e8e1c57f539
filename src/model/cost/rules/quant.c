/* quant.c - the table of ONNX's quantised operators, and the rules it shares with ONNX
 * Runtime's. Quantising divides, rounds, adds the zero point and saturates at both ends: 5 FLOPs
 * for each element; dequantising subtracts and multiplies: 2. Zero points of matrix products are
 * not counted: engines fold them into the sums.
 * https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

void shape_quantize(op *o)
{
	int64_t stated = op_attr_int(o, "output_dtype", 0);

	/* Without a zero point the output is uint8; with one of unknown type it is not known. */
	if (!stated)
		stated = op_in(o, 2) ? op_in(o, 2)->dtype : ONNX_UINT8;
	op_set_typed(o, stated);
}

void shape_dequantize(op *o)
{
	int64_t stated = op_attr_int(o, "output_dtype", 0);

	op_set_typed(o, stated ? stated : op_type(o, 1, 0));
}

static void shape_dynamic_quantize(op *o)
{
	op_set_typed(o, ONNX_UINT8);
	op_set(o, 1, ONNX_FLOAT, 0, NULL);
	op_set(o, 2, ONNX_UINT8, 0, NULL);
}

static const product_form matmul_integer = {
    .a = 0, .b = 1, .bias = OP_NO_INPUT, .dtype = ONNX_INT32};
static const product_form qlinear_matmul = {
    .a = 0, .b = 3, .bias = OP_NO_INPUT, .typed = 7, .each = 5};

static const op_row quant_rows[] = {
    {"ConvInteger", shape_conv, cost_conv, .form = &conv_integer, .roles = ".pcc",
     .how = "as Conv; zero points are not counted"},
    {"DequantizeLinear", shape_dequantize, cost_each, 2, .roles = ".cc",
     .how = "FLOPs per element: -, *"},
    {"DynamicQuantizeLinear", shape_dynamic_quantize, cost_each_in, 7,
     .how = "FLOPs per element: min, max, /, round, +, and 2 to saturate"},
    {"MatMulInteger", shape_product, cost_product, .form = &matmul_integer, .roles = "ppcc",
     .how = "MACs: output elements x contracted size; zero points are not counted"},
    {"QLinearConv", shape_conv, cost_conv, .form = &conv_qlinear, .roles = ".ccpccccp",
     .how = "as Conv; 5 FLOPs per output element to quantise it"},
    {"QLinearMatMul", shape_product, cost_product, .form = &qlinear_matmul, .roles = "pccpcccc",
     .how = "MACs: output elements x contracted size; 5 FLOPs per output element to quantise it"},
    {"QuantizeLinear", shape_quantize, cost_each, 5, .roles = ".cc",
     .how = "FLOPs per element: /, round, +, and 2 to saturate"},
};

const op_family op_family_quant = {"", quant_rows, sizeof quant_rows / sizeof *quant_rows};
