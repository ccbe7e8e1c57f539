/* quant.c - the table of ONNX's quantised operators, and the rules it shares with ONNX
 * Runtime's. Quantising divides, rounds, adds the zero point and saturates at both ends: 5 FLOPs
 * for each element; dequantising subtracts and multiplies: 2. Zero points of matrix products are
 * not counted: engines fold them into the sums.
 * https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/rules/nn.h"

static int64_t type_of(const op *o, size_t i, int64_t otherwise)
{
	const val *v = op_in(o, i);

	return v && v->dtype ? v->dtype : otherwise;
}

static void same_shape(op *o, int64_t dtype)
{
	const val *x = op_in(o, 0);

	if (!x)
		op_unknown(o, "its input is missing");
	else if (x->kind == VAL_TENSOR && x->rank >= 0)
		op_set(o, 0, dtype, x->rank, x->dims);
	else
		op_set_unknown(o, 0, dtype, "%s", x->why ? x->why : "its input is no tensor");
}

void shape_quantize(op *o)
{
	int64_t stated = op_attr_int(o, "output_dtype", 0);

	/* A zero point whose type is not known must not become uint8. */
	if (!stated)
		stated = op_in(o, 2) ? op_in(o, 2)->dtype : ONNX_UINT8;
	same_shape(o, stated);
}

void shape_dequantize(op *o)
{
	int64_t stated = op_attr_int(o, "output_dtype", 0);

	same_shape(o, stated ? stated : type_of(o, 1, 0));
}

static void shape_dynamic_quantize(op *o)
{
	same_shape(o, ONNX_UINT8);
	op_set(o, 1, ONNX_FLOAT, 0, NULL);
	op_set(o, 2, ONNX_UINT8, 0, NULL);
}

static void shape_conv_integer(op *o)
{
	conv_shape(o, &conv_integer, ONNX_INT32);
}

static void cost_conv_integer(op *o)
{
	conv_cost(o, &conv_integer);
}

static conv_form qlinear_form(const op *o)
{
	conv_form f = conv_qlinear;

	f.channels_last = op_attr_int(o, "channels_last", 0) != 0;
	return f;
}

void shape_qlinear_conv(op *o)
{
	conv_form f = qlinear_form(o);

	conv_shape(o, &f, type_of(o, 7, 0));
}

void cost_qlinear_conv(op *o)
{
	conv_form f = qlinear_form(o);

	conv_cost(o, &f);
}

static void shape_matmul_integer(op *o)
{
	product_shape(o, 0, 1, false, false, ONNX_INT32);
}

static void cost_matmul_integer(op *o)
{
	ops_cost_macs(o, product_macs(o, 0, false), num_int(0));
}

static void shape_qlinear_matmul(op *o)
{
	product_shape(o, 0, 3, false, false, type_of(o, 7, 0));
}

static void cost_qlinear_matmul(op *o)
{
	ops_cost_macs(o, product_macs(o, 0, false), ops_times(o, 5, ops_elements_out(o)));
}

static const op_row rows[] = {
    {.name = "ConvInteger",
     .shape = shape_conv_integer,
     .cost = cost_conv_integer,
     .roles = ".pcc",
     .how = "as Conv; zero points are not counted"},
    {.name = "DequantizeLinear",
     .shape = shape_dequantize,
     .cost = cost_each,
     .flops = 2,
     .roles = ".cc",
     .how = "FLOPs per element: -, *"},
    {.name = "DynamicQuantizeLinear",
     .shape = shape_dynamic_quantize,
     .cost = cost_each_in,
     .flops = 7,
     .how = "FLOPs per element: min, max, /, round, +, and 2 to saturate"},
    {.name = "MatMulInteger",
     .shape = shape_matmul_integer,
     .cost = cost_matmul_integer,
     .roles = "ppcc",
     .how = "MACs: output elements x contracted size; zero points are not counted"},
    {.name = "QLinearConv",
     .shape = shape_qlinear_conv,
     .cost = cost_qlinear_conv,
     .roles = ".ccpccccp",
     .how = "as Conv; 5 FLOPs per output element to quantise it"},
    {.name = "QLinearMatMul",
     .shape = shape_qlinear_matmul,
     .cost = cost_qlinear_matmul,
     .roles = "pccpcccc",
     .how = "MACs: output elements x contracted size; 5 FLOPs per output element to quantise it"},
    {.name = "QuantizeLinear",
     .shape = shape_quantize,
     .cost = cost_each,
     .flops = 5,
     .roles = ".cc",
     .how = "FLOPs per element: /, round, +, and 2 to saturate"},
};

const op_family op_family_quant = {"", rows, sizeof rows / sizeof *rows};
