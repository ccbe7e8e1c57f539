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

/* Where the channels of a tensor are. */
typedef enum layout {
	CHANNELS_SECOND,
	CHANNELS_LAST,
	CHANNELS_AS_STATED /* last if the attribute channels_last says so */
} layout;

/* The form of a row of a convolution: which inputs are what. */
typedef struct conv_form {
	size_t x, w, bias, add; /* OP_ABSENT: has none */
	layout layout;
	size_t typed;  /* the input whose type the output has; 0 where dtype is stated */
	int64_t dtype; /* 0: that of the input */
	int64_t extra; /* FLOPs for each output element besides bias and activation */
} conv_form;
extern const conv_form conv_plain, conv_integer, conv_qlinear, conv_fused;
void shape_conv(op *o);
void cost_conv(op *o);

/* Of a transposed one. */
typedef struct transposed_form {
	size_t pads, bias;
} transposed_form;
extern const transposed_form transposed_plain;
void shape_conv_transpose(op *o);
void cost_conv_transpose(op *o);

/* The form of a row of a pool: FLOPs for each element of a window, and for each output element. */
typedef struct pool_form {
	layout layout;
	int64_t each, once;
} pool_form;
extern const pool_form pool_plain, pool_last;
void shape_pool(op *o);
void cost_pool(op *o);
/* A window as large as the input. */
void shape_global_pool(op *o);

/* --- products --- */

/* numpy.matmul of two shapes. */
void product_set(op *o, const num *a, int na, const num *b, int nb, int64_t dtype);
/* Of inputs a and b, transposed in their last two dimensions if asked. */
void product_shape(op *o, size_t a, size_t b, bool ta, bool tb, int64_t dtype);
/* Its MACs: elements of the output times the contracted size. */
num product_macs(op *o, size_t a, bool ta);
/* A [.., K] times a weight given by its sizes: [.., n]. */
void product_rows_shape(op *o, size_t a, num n, int64_t dtype);

/* The form of a row of a product: which inputs are what, and what is computed besides. */
typedef struct product_form {
	size_t a, b;
	bool transposes; /* by the attributes transA and transB */
	size_t typed;	 /* the input whose type the output has; 0 where dtype is stated */
	int64_t dtype;	 /* 0: that of the input */
	/* FLOPs: one for each output element where there is this input, so many for each, so many
	 * for each element of a, and those of the attribute `activation`. */
	size_t bias;
	int64_t each, each_a;
	bool activates;
} product_form;
extern const product_form product_plain;
void shape_product(op *o);
void cost_product(op *o);
/* MACs, `each` FLOPs for each output element, and those of the attribute `activation`. */
void product_cost(op *o, num macs, int64_t each);

/* --- recurrence --- */

/* The form of a row. */
typedef struct cell {
	int64_t gates;	 /* LSTM 4, GRU 3, RNN 1 */
	bool transposed; /* weights are [directions, input, gates * hidden] */
	int64_t adds;	 /* FLOPs of a unit and step besides products, bias and activations */
	const char *activations[3];
} cell;
void shape_cell(op *o);
void cost_cell(op *o);
extern const cell cell_lstm, cell_gru, cell_rnn;

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

#endif
