/* zoo_cnn.c - convolutional networks other than residual networks, as torchvision defines
 * them (torchvision/models/mobilenetv2.py, vgg.py, squeezenet.py).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/zoo.h"

/* --- MobileNetV2: Sandler et al. 2018 (arXiv:1801.04381), table 2 */
static const char *conv_norm_relu6(onnx_builder *n, const char *path, const char *x,
				   const zoo_conv *c)
{
	x = zoo_add_conv(n, onnx_builder_text(n, "%s.0", path), x, c);
	x = zoo_add_norm(n, onnx_builder_text(n, "%s.1", path), x, c->out, 1);
	return zoo_add_relu6(n, onnx_builder_text(n, "%s.2", path), x);
}

static const char *inverted_residual(onnx_builder *n, const char *path, const char *x, int64_t in,
				     int64_t out, int64_t stride, int64_t expand)
{
	int64_t hidden = in * expand;
	const char *y = x;
	int part = 0;

	if (expand != 1)
		y = conv_norm_relu6(n, onnx_builder_text(n, "%s.conv.%d", path, part++), y,
				    &(zoo_conv){in, hidden, 1, 1, .pad = 0});
	y = conv_norm_relu6(n, onnx_builder_text(n, "%s.conv.%d", path, part++), y,
			    &(zoo_conv){hidden, hidden, 3, stride, .pad = 1, .groups = hidden});
	y = zoo_add_conv(n, onnx_builder_text(n, "%s.conv.%d", path, part++), y,
			 &(zoo_conv){hidden, out, 1, 1, .pad = 0});
	y = zoo_add_norm(n, onnx_builder_text(n, "%s.conv.%d", path, part), y, out, 1);
	if (stride == 1 && in == out)
		y = NET_NODE(n, onnx_builder_scope(n, path), "Add", x, y);
	return y;
}

void zoo_mobilenet_v2(onnx_builder *n, const zoo_size *s)
{
	static const struct {
		int expand, channels, repeat, stride;
	} stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
		      {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
	int64_t in = 32;
	int index = 1;
	const char *x;

	zoo_image_values(n, s, 1000);
	x = conv_norm_relu6(n, "features.0", "input", &(zoo_conv){3, in, 3, 2, .pad = 1});
	for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
		for (int k = 0; k < stages[i].repeat; k++) {
			x = inverted_residual(n, onnx_builder_text(n, "features.%d", index++), x,
					      in, stages[i].channels, k == 0 ? stages[i].stride : 1,
					      stages[i].expand);
			in = stages[i].channels;
		}
	}
	x = conv_norm_relu6(n, onnx_builder_text(n, "features.%d", index), x,
			    &(zoo_conv){in, 1280, 1, 1, .pad = 0});
	x = NET_NODE(n, "", "GlobalAveragePool", x);
	x = onnx_builder_node(n, "", "Flatten", NET_IN(x), NET_AXIS(1));
	onnx_builder_name_next(n, "output");
	zoo_add_gemm(n, "classifier.1", x, 1280, 1000);
}

/* --- VGG-16: Simonyan and Zisserman 2014 (arXiv:1409.1556), configuration D, without
 * normalisation. */
void zoo_vgg16(onnx_builder *n, const zoo_size *s)
{
	static const int layers[] = {64, 64,  0,   128, 128, 0,	  256, 256, 256,
				     0,	 512, 512, 512, 0,   512, 512, 512, 0}; /* 0: pool */
	int64_t in = 3, kh, kw;
	int index = 0;
	const char *x = "input";

	zoo_image_values(n, s, 1000);
	for (size_t i = 0; i < sizeof(layers) / sizeof *layers; i++) {
		const char *path = onnx_builder_text(n, "features.%d", index++);
		if (layers[i] == 0) {
			x = zoo_add_max_pool(n, path, x, 2, 2, 0, false);
			continue;
		}
		x = zoo_add_conv(n, path, x,
				 &(zoo_conv){in, layers[i], 3, 1, .pad = 1, .bias = true});
		x = zoo_add_relu(n, onnx_builder_text(n, "features.%d", index++), x);
		in = layers[i];
	}
	/* Adaptive pooling to 7x7; the table lets only sizes through that it divides evenly. */
	kh = s->height / 32 / 7;
	kw = s->width / 32 / 7;
	x = onnx_builder_node(n, "/avgpool", "AveragePool", NET_IN(x),
			      NET_ATTRS({"kernel_shape", NET_INTS, .ints = {kh, kw}, .n = 2},
					{"strides", NET_INTS, .ints = {kh, kw}, .n = 2}));
	x = onnx_builder_node(n, "", "Flatten", NET_IN(x), NET_AXIS(1));
	x = zoo_add_gemm(n, "classifier.0", x, (int64_t)512 * 7 * 7, 4096);
	x = zoo_add_relu(n, "classifier.1", x);
	x = zoo_add_gemm(n, "classifier.3", x, 4096, 4096);
	x = zoo_add_relu(n, "classifier.4", x);
	onnx_builder_name_next(n, "output");
	zoo_add_gemm(n, "classifier.6", x, 4096, 1000);
}

/* --- SqueezeNet 1.1: Iandola et al. 2016 (arXiv:1602.07360), 1.1 by its authors' repository */
static const char *fire(onnx_builder *n, const char *path, const char *x, int64_t in,
			int64_t squeeze, int64_t expand)
{
	const char *one, *three;

	x = zoo_add_conv(n, onnx_builder_text(n, "%s.squeeze", path), x,
			 &(zoo_conv){in, squeeze, 1, 1, .pad = 0, .bias = true});
	x = zoo_add_relu(n, onnx_builder_text(n, "%s.squeeze_activation", path), x);
	one = zoo_add_conv(n, onnx_builder_text(n, "%s.expand1x1", path), x,
			   &(zoo_conv){squeeze, expand, 1, 1, .pad = 0, .bias = true});
	one = zoo_add_relu(n, onnx_builder_text(n, "%s.expand1x1_activation", path), one);
	three = zoo_add_conv(n, onnx_builder_text(n, "%s.expand3x3", path), x,
			     &(zoo_conv){squeeze, expand, 3, 1, .pad = 1, .bias = true});
	three = zoo_add_relu(n, onnx_builder_text(n, "%s.expand3x3_activation", path), three);
	return onnx_builder_node(n, onnx_builder_scope(n, path), "Concat", NET_IN(one, three),
				 NET_AXIS(1));
}

void zoo_squeezenet1_1(onnx_builder *n, const zoo_size *s)
{
	static const struct {
		int squeeze, expand; /* 0: pool */
	} layers[] = {{0, 0}, {16, 64},	 {16, 64},  {0, 0},    {32, 128}, {32, 128},
		      {0, 0}, {48, 192}, {48, 192}, {64, 256}, {64, 256}};
	int64_t in = 64;
	const char *x;

	zoo_image_values(n, s, 1000);
	x = zoo_add_conv(n, "features.0", "input",
			 &(zoo_conv){3, in, 3, 2, .pad = 0, .bias = true});
	x = zoo_add_relu(n, "features.1", x);
	for (size_t i = 0; i < sizeof(layers) / sizeof *layers; i++) {
		const char *path = onnx_builder_text(n, "features.%d", (int)i + 2);
		if (layers[i].squeeze == 0) {
			x = zoo_add_max_pool(n, path, x, 3, 2, 0, true);
			continue;
		}
		x = fire(n, path, x, in, layers[i].squeeze, layers[i].expand);
		in = (int64_t)2 * layers[i].expand;
	}
	x = zoo_add_conv(n, "classifier.1", x, &(zoo_conv){in, 1000, 1, 1, .pad = 0, .bias = true});
	x = zoo_add_relu(n, "classifier.2", x);
	x = NET_NODE(n, "/classifier/classifier.3", "GlobalAveragePool", x);
	onnx_builder_name_next(n, "output");
	onnx_builder_node(n, "", "Flatten", NET_IN(x), NET_AXIS(1));
}
