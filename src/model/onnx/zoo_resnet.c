/* zoo_resnet.c - residual networks as torchvision defines them: torchvision/models/resnet.py,
 * after He et al. 2015 (arXiv:1512.03385); in bottlenecks the 3x3 convolution has the stride.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/zoo.h"

/* The last normalisation of a block: trained networks scale the branch down, and so the sum
 * over many blocks stays in range. */
#define BRANCH_GAMMA 0.25

static const char *conv_norm(onnx_builder *n, const char *prefix, const char *conv,
			     const char *norm, const char *x, const zoo_conv *c, double gamma)
{
	x = zoo_add_conv(n, onnx_builder_text(n, "%s%s", prefix, conv), x, c);
	return zoo_add_norm(n, onnx_builder_text(n, "%s%s", prefix, norm), x, c->out, gamma);
}

static const char *shortcut(onnx_builder *n, const char *prefix, const char *x, int64_t in,
			    int64_t out, int64_t stride)
{
	if (in == out && stride == 1)
		return x;
	return conv_norm(n, prefix, "downsample.0", "downsample.1", x,
			 &(zoo_conv){in, out, 1, stride, .pad = 0}, 1);
}

static const char *resnet_join(onnx_builder *n, const char *prefix, const char *path, const char *y,
			       const char *x)
{
	y = NET_NODE(n, onnx_builder_scope(n, path), "Add", y, x);
	return zoo_add_relu(n, onnx_builder_text(n, "%srelu", prefix), y);
}

static const char *basic_block(onnx_builder *n, const char *path, const char *x, int64_t in,
			       int64_t width, int64_t stride)
{
	const char *prefix = onnx_builder_text(n, "%s.", path), *y;

	y = conv_norm(n, prefix, "conv1", "bn1", x, &(zoo_conv){in, width, 3, stride, .pad = 1}, 1);
	y = zoo_add_relu(n, onnx_builder_text(n, "%srelu", prefix), y);
	y = conv_norm(n, prefix, "conv2", "bn2", y, &(zoo_conv){width, width, 3, 1, .pad = 1},
		      BRANCH_GAMMA);
	return resnet_join(n, prefix, path, y, shortcut(n, prefix, x, in, width, stride));
}

static const char *bottleneck(onnx_builder *n, const char *path, const char *x, int64_t in,
			      int64_t width, int64_t stride)
{
	const char *prefix = onnx_builder_text(n, "%s.", path), *y;
	int64_t out = 4 * width;

	y = conv_norm(n, prefix, "conv1", "bn1", x, &(zoo_conv){in, width, 1, 1, .pad = 0}, 1);
	y = zoo_add_relu(n, onnx_builder_text(n, "%srelu", prefix), y);
	y = conv_norm(n, prefix, "conv2", "bn2", y, &(zoo_conv){width, width, 3, stride, .pad = 1},
		      1);
	y = zoo_add_relu(n, onnx_builder_text(n, "%srelu", prefix), y);
	y = conv_norm(n, prefix, "conv3", "bn3", y, &(zoo_conv){width, out, 1, 1, .pad = 0},
		      BRANCH_GAMMA);
	return resnet_join(n, prefix, path, y, shortcut(n, prefix, x, in, out, stride));
}

typedef struct resnet_block {
	const char *(*add)(onnx_builder *n, const char *path, const char *x, int64_t in,
			   int64_t width, int64_t stride);
	int64_t expansion;
} resnet_block;

static void resnet(onnx_builder *n, const zoo_size *s, const resnet_block *b, const int depths[4])
{
	int64_t in = 64, width = 64;
	const char *x;

	zoo_image_values(n, s, 1000);
	x = conv_norm(n, "", "conv1", "bn1", "input", &(zoo_conv){3, 64, 7, 2, .pad = 3}, 1);
	x = zoo_add_relu(n, "relu", x);
	x = zoo_add_max_pool(n, "maxpool", x, 3, 2, 1, false);
	for (int stage = 0; stage < 4; stage++, width *= 2) {
		for (int i = 0; i < depths[stage]; i++) {
			int64_t stride = stage > 0 && i == 0 ? 2 : 1;
			x = b->add(n, onnx_builder_text(n, "layer%d.%d", stage + 1, i), x, in,
				   width, stride);
			in = width * b->expansion;
		}
	}
	x = NET_NODE(n, "/avgpool", "GlobalAveragePool", x);
	x = onnx_builder_node(n, "", "Flatten", NET_IN(x), NET_AXIS(1));
	onnx_builder_name_next(n, "output");
	zoo_add_gemm(n, "fc", x, in, 1000);
}

void zoo_resnet18(onnx_builder *n, const zoo_size *s)
{
	resnet(n, s, &(resnet_block){basic_block, 1}, (const int[4]){2, 2, 2, 2});
}

void zoo_resnet50(onnx_builder *n, const zoo_size *s)
{
	resnet(n, s, &(resnet_block){bottleneck, 4}, (const int[4]){3, 4, 6, 3});
}
