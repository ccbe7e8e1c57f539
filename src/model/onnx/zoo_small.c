/* zoo_small.c - networks of one or two layers, for tests, teaching and floors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/zoo.h"
#include "model/onnx/onnx.h"

#include <math.h>

/* Two linear layers with a ReLU between them. */
static void two_linear(onnx_builder *n, const zoo_size *s, int64_t in, int64_t hidden, int64_t out,
		       const char *const paths[3])
{
	const char *x;

	onnx_builder_input(n, "input", ONNX_FLOAT, NET_SYMBOLS("batch"), NET_DIMS(s->batch, in));
	onnx_builder_output(n, "output", ONNX_FLOAT, NET_SYMBOLS("batch"), NET_DIMS(s->batch, out));
	x = zoo_add_gemm(n, paths[0], "input", in, hidden);
	x = zoo_add_relu(n, paths[1], x);
	onnx_builder_name_next(n, "output");
	zoo_add_gemm(n, paths[2], x, hidden, out);
}

void zoo_simplenet(onnx_builder *n, const zoo_size *s)
{
	two_linear(n, s, 784, 128, 10, (const char *const[]){"fc1", "relu", "fc2"});
}

void zoo_two_layer(onnx_builder *n, const zoo_size *s)
{
	two_linear(n, s, 1000, 100, 10, (const char *const[]){"linear1", "relu", "linear2"});
}

void zoo_conv2d(onnx_builder *n, const zoo_size *s)
{
	onnx_builder_input(n, "input", ONNX_FLOAT, NET_SYMBOLS("batch"),
			   NET_DIMS(s->batch, 3, s->height, s->width));
	onnx_builder_output(n, "output", ONNX_FLOAT, NET_SYMBOLS("batch"),
			    NET_DIMS(s->batch, 64, s->height, s->width));
	onnx_builder_name_next(n, "output");
	zoo_add_conv(n, "conv", "input", &(zoo_conv){3, 64, 3, 1, .pad = 1, .bias = true});
}

#define MATMUL_N 1024
void zoo_matmul(onnx_builder *n, const zoo_size *s)
{
	const char *weight;

	onnx_builder_input(n, "input", ONNX_FLOAT, NET_SYMBOLS("batch", "seq"),
			   NET_DIMS(s->batch, s->seq, MATMUL_N));
	onnx_builder_output(n, "output", ONNX_FLOAT, NET_SYMBOLS("batch", "seq"),
			    NET_DIMS(s->batch, s->seq, MATMUL_N));
	weight = onnx_builder_normal(n, "weight", 1 / sqrt(MATMUL_N), NET_DIMS(MATMUL_N, MATMUL_N));
	onnx_builder_name_next(n, "output");
	NET_NODE(n, "", "MatMul", "input", weight);
}
