/* zoo.h - builders of the built-in networks; zoo.c has the table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_ZOO_H
#define MODEL_ZOO_H

#include "model/onnx/onnx_builder.h"

/* Requested sizes, checked against the table's limits; NET_OPEN: symbolic. */
typedef struct zoo_size {
	int64_t batch, height, width, seq;
	/* Of a decoder: tokens in its cache, and its dimensions. */
	int64_t past, layers, hidden, heads, kv_heads, vocabulary;
	int64_t positions; /* rows of its table of positions; 0: it has none */
} zoo_size;
#define ZOO_HEAD_MAX 512 /* width of a head */

/* zoo_resnet.c, zoo_cnn.c, zoo_bert.c, zoo_decoder.c, zoo_small.c */
void zoo_resnet18(onnx_builder *n, const zoo_size *s);
void zoo_resnet50(onnx_builder *n, const zoo_size *s);
void zoo_mobilenet_v2(onnx_builder *n, const zoo_size *s);
void zoo_vgg16(onnx_builder *n, const zoo_size *s);
void zoo_squeezenet1_1(onnx_builder *n, const zoo_size *s);
void zoo_bert_base(onnx_builder *n, const zoo_size *s);
void zoo_bert_mini(onnx_builder *n, const zoo_size *s);
void zoo_llama(onnx_builder *n, const zoo_size *s);
void zoo_gpt(onnx_builder *n, const zoo_size *s);
void zoo_simplenet(onnx_builder *n, const zoo_size *s);
void zoo_two_layer(onnx_builder *n, const zoo_size *s);
void zoo_conv2d(onnx_builder *n, const zoo_size *s);
void zoo_matmul(onnx_builder *n, const zoo_size *s);

/* --- zoo_layers.c: layers whose parameters have torch's names. `path` is the module's path
 * ("layer1.0.conv1"): its parameters are path.weight and path.bias. */
typedef struct zoo_conv {
	int64_t in, out, kernel, stride, pad, groups; /* groups 0: 1 */
	bool bias;
} zoo_conv;
const char *zoo_add_conv(onnx_builder *n, const char *path, const char *x, const zoo_conv *c);
/* Add the parameter path.what, of normal or uniform values, and return its name. */
const char *zoo_normal(onnx_builder *n, const char *path, const char *what, double deviation,
		       size_t rank, const int64_t *dims);
const char *zoo_uniform(onnx_builder *n, const char *path, const char *what, double from,
			double width, size_t rank, const int64_t *dims);
/* Adds a normalisation. gamma: its mean scale; 1, or less at the end of a residual branch. */
const char *zoo_add_norm(onnx_builder *n, const char *path, const char *x, int64_t channels,
			 double gamma);
const char *zoo_add_relu(onnx_builder *n, const char *path, const char *x);
const char *zoo_add_relu6(onnx_builder *n, const char *path, const char *x);
const char *zoo_add_max_pool(onnx_builder *n, const char *path, const char *x, int64_t kernel,
			     int64_t stride, int64_t pad, bool ceil_mode);
/* Adds y = x W^T + b on two dimensions, as Gemm. */
const char *zoo_add_gemm(onnx_builder *n, const char *path, const char *x, int64_t in, int64_t out);
/* Declares "input" [batch, 3, height, width] and "output" [batch, classes]. */
void zoo_image_values(onnx_builder *n, const zoo_size *s, int64_t classes);

#endif
