/* nn.h - what the rules of neural network, quantised and ONNX Runtime's operators share:
 * windows, products, recurrence, attention.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_NN_H
#define COST_RULES_NN_H

#include "cost/op.h"

/* FLOPs of one application of an activation function as its definition is written; below 0: not
 * known. Names as in the attributes of fused and recurrent operators, in any case. */
int64_t activation_flops(const char *name);
/* The same for the attribute of that name of each of `elements`; no such attribute: 0. */
num activation_cost(op *o, const char *attribute, num elements);

/* --- windows: convolutions and pools --- */

typedef enum window_pad { PAD_EXPLICIT, PAD_SAME, PAD_VALID } window_pad;
typedef struct window {
	int n; /* spatial dimensions */
	window_pad pad;
	bool ceil, pool;
	num kernel[COST_RANK_MAX];
	int64_t stride[COST_RANK_MAX], dilation[COST_RANK_MAX];
	int64_t begin[COST_RANK_MAX], end[COST_RANK_MAX];
} window;
/* From the attributes; kernel: from the weights, NULL: attribute kernel_shape. False after
 * op_unknown(). */
bool window_read(op *o, int n, const num *kernel, window *ret);
/* How many places window i has along an axis of that size. */
num window_places(op *o, const window *w, int i, num size);

/* A convolution: which inputs are what. */
typedef struct conv_form {
	size_t x, w, bias, add; /* OP_ABSENT: has none */
	bool channels_last;
	int64_t extra; /* FLOPs for each output element besides bias and activation */
} conv_form;
extern const conv_form conv_plain, conv_integer, conv_qlinear;
void conv_shape(op *o, const conv_form *f, int64_t dtype);
void conv_cost(op *o, const conv_form *f);
void conv_transpose_shape(op *o, const int64_t *pads, size_t npads, bool pads_known);
void conv_transpose_cost(op *o, size_t bias);

void pool_shape(op *o, bool channels_last);
/* `each` FLOPs for each element of a window, `once` for each output element. */
void pool_cost(op *o, int64_t each, int64_t once);
void pool_global_shape(op *o, bool channels_last);

/* --- products --- */

/* numpy.matmul of two shapes. */
void product_set(op *o, const num *a, int na, const num *b, int nb, int64_t dtype);
/* Of inputs a and b, transposed in their last two dimensions if asked. */
void product_shape(op *o, size_t a, size_t b, bool ta, bool tb, int64_t dtype);
/* Its MACs: elements of the output times the contracted size. */
num product_macs(op *o, size_t a, bool ta);
/* A [.., K] times a weight given by its sizes: [.., n]. */
void product_rows_shape(op *o, size_t a, num n, int64_t dtype);

/* --- recurrence --- */

typedef struct cell {
	int64_t gates;	 /* LSTM 4, GRU 3, RNN 1 */
	bool transposed; /* weights are [directions, input, gates * hidden] */
	int64_t adds;	 /* FLOPs of a unit and step besides products, bias and activations */
	const char *activations[3];
} cell;
extern const cell cell_lstm, cell_gru, cell_rnn;
void cell_shape(op *o, const cell *c);
void cell_cost(op *o, const cell *c);

/* --- attention --- */

/* Sizes of one attention; what is not known is none. */
typedef struct heads {
	num batch, q_heads, kv_heads, q_len, total; /* total: keys, past ones too */
	num size, v_size;			    /* of a head */
	int64_t each;				    /* FLOPs for each score besides the products */
	num projection;				    /* MACs of input projections */
	num extra;				    /* other FLOPs */
} heads;
/* [batch, length, heads * size] or [batch, heads, length, size]. */
void heads_read(op *o, const val *v, int64_t count, num *ret_batch, num *ret_heads, num *ret_len,
		num *ret_size);
/* The length of input i, a [batch, heads, length, size]; 0: left out. */
num heads_past(op *o, size_t i);
/* q k' and p v over all keys, masked or not, plus the projections. */
void heads_cost(op *o, const heads *h);

/* --- others that several tables name --- */

void shape_layer_norm(op *o);
void cost_layer_norm(op *o);
void shape_causal_conv(op *o);
void cost_causal_conv(op *o);
void shape_linear_attention(op *o);
void cost_linear_attention(op *o);
void cost_rotary(op *o);
void shape_quantize(op *o);
void shape_dequantize(op *o);
void shape_qlinear_conv(op *o);
void cost_qlinear_conv(op *o);

#endif
