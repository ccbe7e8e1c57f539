/* nn.h - shared rules of neural-network, quantised and ONNX Runtime's operators: windows, products,
 * recurrence, attention.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_NN_H
#define COST_RULES_NN_H

#include "model/cost/op.h"

/* Returns the FLOPs of one application of an activation function, by its definition; below 0: the
 * name is not known. Names are as in attributes of fused and recurrent operators, in upper or lower
 * case. */
int64_t activation_flops(const char *name);
/* Returns the FLOPs for `elements` elements of the function that the attribute names; 0 if there is
 * no such attribute. */
sym_int activation_cost(op *o, const char *attribute, sym_int elements);

/* --- windows: convolutions and pools --- */

typedef enum window_pad { PAD_EXPLICIT, PAD_SAME, PAD_VALID } window_pad;
typedef struct window {
	int n; /* spatial dimensions */
	window_pad pad;
	bool ceil, pool;
	sym_int kernel[COST_RANK_MAX];
	int64_t stride[COST_RANK_MAX], dilation[COST_RANK_MAX];
	int64_t begin[COST_RANK_MAX], end[COST_RANK_MAX];
} window;
/* Reads a window of n dimensions from the attributes. kernel: its sizes, from the weights; NULL:
 * the attribute kernel_shape has them. False after op_unknown(). */
bool window_read(op *o, int n, const sym_int *kernel, window *ret);

/* The axis of the channels of a tensor. */
typedef enum layout {
	CHANNELS_SECOND,
	CHANNELS_LAST,
	CHANNELS_AS_STATED /* last where the attribute channels_last is not 0 */
} layout;

/* The parameters of a row of a convolution: indices of the inputs. */
typedef struct conv_form {
	size_t x, w, bias, add; /* OP_NO_INPUT: it has no such input */
	layout layout;
	size_t typed;  /* the input whose type the output has, unless `dtype` is stated */
	int64_t dtype; /* 0: as that input */
	int64_t extra; /* FLOPs for each output element besides bias and activation */
} conv_form;
extern const conv_form conv_plain, conv_integer, conv_qlinear, conv_fused;
void shape_conv(op *o);
void cost_conv(op *o);

/* The parameters of a row of a transposed convolution: the inputs with the pads and the bias. */
typedef struct transposed_form {
	size_t pads, bias;
} transposed_form;
extern const transposed_form transposed_plain;
void shape_conv_transpose(op *o);
void cost_conv_transpose(op *o);

/* The parameters of a row of a pool: FLOPs for each element of a window, and for each output
 * element. */
typedef struct pool_form {
	layout layout;
	int64_t each, once;
} pool_form;
extern const pool_form pool_plain, pool_last;
void shape_pool(op *o);
void cost_pool(op *o);
/* A pool whose window is the whole input. */
void shape_global_pool(op *o);

/* --- products --- */

/* Sets output 0 to the product of two shapes, as numpy.matmul does. */
void product_set(op *o, const sym_int *a, int na, const sym_int *b, int nb, int64_t dtype);
/* Does it for the inputs a and b; ta and tb: their last two dimensions are swapped first. */
void product_shape(op *o, size_t a, size_t b, bool ta, bool tb, int64_t dtype);
/* Returns the MACs of a product: elements of the output times the contracted size, which is that of
 * input b where input a leaves it open. b == a: the sizes of b are not in a shape. */
sym_int product_macs(op *o, size_t a, bool ta, size_t b, bool tb);
/* Sets output 0 to [.., n]: the product of input a, [.., K], and a weight of [K, n]. */
void product_rows_shape(op *o, size_t a, sym_int n, int64_t dtype);

/* The parameters of a row of a product: indices of the inputs, and other operations. */
typedef struct product_form {
	size_t a, b;	 /* b == a: it has a shape of another kind */
	bool transposes; /* the attributes transA and transB swap dimensions */
	size_t typed;	 /* the input whose type the output has, unless `dtype` is stated */
	int64_t dtype;	 /* 0: as that input */
	/* FLOPs besides the products: 1 for each output element if the node has the input `bias`;
	 * `each` for each output element; `each_a` for each element of a; and FLOPs of the
	 * attribute `activation`. */
	size_t bias;
	int64_t each, each_a;
	bool activates;
} product_form;
extern const product_form product_plain;
void shape_product(op *o);
void cost_product(op *o);
/* Sets the cost: MACs, `each` FLOPs for each output element, and FLOPs of the attribute
 * `activation`. */
void product_cost(op *o, sym_int macs, int64_t each);

/* --- recurrence --- */

/* The parameters of a row of a recurrent cell. */
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

/* The sizes of one attention; a size that is not known is absent. */
typedef struct heads {
	sym_int batch, q_heads, kv_heads, q_len,
	    total;	      /* total: all keys, including the past's keys */
	sym_int size, v_size; /* of a head */
	int64_t each;	      /* FLOPs for each score besides the products */
	sym_int projection;   /* MACs of input projections */
	sym_int extra;	      /* other FLOPs */
} heads;
/* Reads the sizes of v, which is [batch, length, heads * size] or [batch, heads, length, size]. */
void heads_read(op *o, const val *v, int64_t count, sym_int *ret_batch, sym_int *ret_heads,
		sym_int *ret_len, sym_int *ret_size);
/* Returns the length of input i, which is [batch, heads, length, size]; 0 if it is left out. */
sym_int heads_past(op *o, size_t i);
/* Sets the cost: scores of all keys, masked or not, their products with the values, and the
 * projections. h NULL: they are not known. */
void heads_cost(op *o, const heads *h);

/* --- other rules that several tables use --- */

void shape_layer_norm(op *o);
void cost_layer_norm(op *o);
void shape_causal_conv(op *o);
void cost_causal_conv(op *o);
void shape_linear_attention(op *o);
void cost_linear_attention(op *o);
void shape_delta_net(op *o);
void cost_delta_net(op *o);
void cost_rotary(op *o);
void shape_quantize(op *o);
void shape_dequantize(op *o);

#endif
