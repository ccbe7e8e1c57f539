/* zoo_layers.c - the layers that several built-in networks share.
 *
 * Initial values: convolutions Kaiming normal over the inputs of one output (He et al. 2015,
 * arXiv:1502.01852), matrices 1/sqrt(inputs); normalisation as a trained network has it, near
 * mean 0 and variance 1. They keep activations in a sane range through all layers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/zoo.h"
#include "model/onnx/onnx.h"

#include <math.h>

const char *zoo_normal(onnx_builder *n, const char *path, const char *what, double deviation,
		       size_t rank, const int64_t *dims)
{
	return onnx_builder_normal(n, onnx_builder_text(n, "%s.%s", path, what), deviation, rank,
				   dims);
}

const char *zoo_uniform(onnx_builder *n, const char *path, const char *what, double from,
			double width, size_t rank, const int64_t *dims)
{
	return onnx_builder_uniform(n, onnx_builder_text(n, "%s.%s", path, what), from, width, rank,
				    dims);
}

const char *zoo_add_conv(onnx_builder *n, const char *path, const char *x, const zoo_conv *c)
{
	int64_t groups = c->groups ? c->groups : 1, k = c->kernel, s = c->stride, p = c->pad;
	int64_t in = c->in / groups;
	const char *weight = zoo_normal(n, path, "weight", sqrt(2.0 / (double)(in * k * k)),
					NET_DIMS(c->out, in, k, k));
	const char *bias = c->bias ? zoo_normal(n, path, "bias", 0.05, NET_DIMS(c->out)) : NULL;

	return onnx_builder_node(n, onnx_builder_scope(n, path), "Conv", NET_IN(x, weight, bias),
				 NET_ATTRS({"dilations", NET_INTS, .ints = {1, 1}, .n = 2},
					   {"group", NET_INT, .i = groups},
					   {"kernel_shape", NET_INTS, .ints = {k, k}, .n = 2},
					   {"pads", NET_INTS, .ints = {p, p, p, p}, .n = 4},
					   {"strides", NET_INTS, .ints = {s, s}, .n = 2}));
}

const char *zoo_add_norm(onnx_builder *n, const char *path, const char *x, int64_t channels,
			 double gamma)
{
	const char *weight = zoo_uniform(n, path, "weight", gamma / 2, gamma, NET_DIMS(channels));
	const char *bias = zoo_normal(n, path, "bias", 0.1, NET_DIMS(channels));
	const char *mean = zoo_normal(n, path, "running_mean", 0.1, NET_DIMS(channels));
	const char *var = zoo_uniform(n, path, "running_var", 0.5, 1.0, NET_DIMS(channels));

	return onnx_builder_node(
	    n, onnx_builder_scope(n, path), "BatchNormalization",
	    NET_IN(x, weight, bias, mean, var),
	    NET_ATTRS({"epsilon", NET_FLOAT, .f = 1e-5f}, {"momentum", NET_FLOAT, .f = 0.9f}));
}

const char *zoo_add_relu(onnx_builder *n, const char *path, const char *x)
{
	return NET_NODE(n, onnx_builder_scope(n, path), "Relu", x);
}

const char *zoo_add_relu6(onnx_builder *n, const char *path, const char *x)
{
	const char *scope = onnx_builder_scope(n, path);
	const char *low = onnx_builder_const_float(n, scope, 0);
	const char *high = onnx_builder_const_float(n, scope, 6);

	return NET_NODE(n, scope, "Clip", x, low, high);
}

const char *zoo_add_max_pool(onnx_builder *n, const char *path, const char *x, int64_t kernel,
			     int64_t stride, int64_t pad, bool ceil_mode)
{
	return onnx_builder_node(
	    n, onnx_builder_scope(n, path), "MaxPool", NET_IN(x),
	    NET_ATTRS({"ceil_mode", NET_INT, .i = ceil_mode},
		      {"kernel_shape", NET_INTS, .ints = {kernel, kernel}, .n = 2},
		      {"pads", NET_INTS, .ints = {pad, pad, pad, pad}, .n = 4},
		      {"strides", NET_INTS, .ints = {stride, stride}, .n = 2}));
}

const char *zoo_add_gemm(onnx_builder *n, const char *path, const char *x, int64_t in, int64_t out)
{
	const char *weight = zoo_normal(n, path, "weight", 1 / sqrt((double)in), NET_DIMS(out, in));
	const char *bias = zoo_normal(n, path, "bias", 0.02, NET_DIMS(out));

	return onnx_builder_node(n, onnx_builder_scope(n, path), "Gemm", NET_IN(x, weight, bias),
				 NET_ATTRS({"alpha", NET_FLOAT, .f = 1},
					   {"beta", NET_FLOAT, .f = 1},
					   {"transB", NET_INT, .i = 1}));
}

void zoo_image_values(onnx_builder *n, const zoo_size *s, int64_t classes)
{
	onnx_builder_input(n, "input", ONNX_FLOAT, NET_SYMBOLS("batch"),
			   NET_DIMS(s->batch, 3, s->height, s->width));
	onnx_builder_output(n, "output", ONNX_FLOAT, NET_SYMBOLS("batch"),
			    NET_DIMS(s->batch, classes));
}
