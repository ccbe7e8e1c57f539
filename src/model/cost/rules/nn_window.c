/* nn_window.c - convolutions and pools: positions of their windows, and costs.
 * Sizes: https://onnx.ai/onnx/operators/onnx__Conv.html, onnx__MaxPool.html,
 * onnx__ConvTranspose.html.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

#include <string.h>

const conv_form conv_plain = {.x = 0, .w = 1, .bias = 2, .add = OP_NO_INPUT};
const conv_form conv_fused = {.x = 0, .w = 1, .bias = 2, .add = 3};
const conv_form conv_integer = {
    .x = 0, .w = 1, .bias = OP_NO_INPUT, .add = OP_NO_INPUT, .dtype = ONNX_INT32};
/* Requantisation: scale, round, add the zero point, saturate at both ends. */
const conv_form conv_qlinear = {.x = 0,
				.w = 3,
				.bias = 8,
				.add = OP_NO_INPUT,
				.typed = 7,
				.layout = CHANNELS_AS_STATED,
				.extra = 5};
const transposed_form transposed_plain = {.pads = OP_NO_INPUT, .bias = 2};
const pool_form pool_plain = {.each = 1};
const pool_form pool_last = {.layout = CHANNELS_LAST, .each = 1};

/* --- windows --- */

/* An attribute with one positive number for each dimension; 1 where it is left out. */
static bool read_steps(op *o, const char *name, int n, int64_t *ret)
{
	size_t given = 0;
	const int64_t *v = op_attr_ints(o, name, &given);

	for (int i = 0; i < n; i++)
		ret[i] = 1;
	if (!v || !given)
		return true;
	if (given != (size_t)n)
		return op_unknown(o, "it has %zu %s for %d dimensions", given, name, n);
	for (int i = 0; i < n; i++) {
		if (v[i] < 1)
			return op_unknown(o, "its %s are not positive", name);
		ret[i] = v[i];
	}
	return true;
}

static bool read_pads(op *o, window *w)
{
	const char *text = op_attr_text(o, "auto_pad");
	size_t given = 0;
	const int64_t *v = op_attr_ints(o, "pads", &given);

	w->pad = PAD_EXPLICIT;
	if (text && (strcmp(text, "SAME_UPPER") == 0 || strcmp(text, "SAME_LOWER") == 0))
		w->pad = PAD_SAME;
	else if (text && strcmp(text, "VALID") == 0)
		w->pad = PAD_VALID;
	else if (text && *text && strcmp(text, "NOTSET") != 0)
		return op_unknown(o, "its auto_pad is not one of ONNX's");
	for (int i = 0; i < w->n; i++)
		w->begin[i] = w->end[i] = 0;
	if (w->pad != PAD_EXPLICIT || !v || !given)
		return true;
	if (given != 2 * (size_t)w->n)
		return op_unknown(o, "it has %zu pads for %d dimensions", given, w->n);
	for (int i = 0; i < w->n; i++) {
		w->begin[i] = v[i];
		w->end[i] = v[i + w->n];
	}
	return true;
}

static bool read_kernel(op *o, const sym_int *kernel, window *w)
{
	size_t given = 0;
	const int64_t *v = op_attr_ints(o, "kernel_shape", &given);

	if ((v && given && given != (size_t)w->n) || (!kernel && (!v || !given)))
		return op_unknown(o, "its kernel_shape does not fit %d dimensions", w->n);
	for (int i = 0; i < w->n; i++) {
		bool open = !kernel || !sym_known(kernel[i]);
		w->kernel[i] = v && given && open ? sym_const(v[i]) : kernel[i];
		if (v && given && !sym_is(w->kernel[i], v[i]))
			return op_unknown(o, "its kernel_shape is not that of its weights");
		if (sym_known(w->kernel[i]) && w->kernel[i].v < 1)
			return op_unknown(o, "its kernel has no size");
	}
	return true;
}

bool window_read(op *o, int n, const sym_int *kernel, window *w)
{
	if (n < 0 || n > COST_RANK_MAX)
		return op_unknown(o, "its input has too few dimensions");
	w->n = n;
	w->pool = false;
	w->ceil = op_flag(o, "ceil_mode");
	return read_kernel(o, kernel, w) && read_steps(o, "strides", n, w->stride) &&
	       read_steps(o, "dilations", n, w->dilation) && read_pads(o, w);
}

/* Returns the extent of a window: dilation * (kernel - 1) + 1. */
static sym_int window_span(op *o, const window *w, int i)
{
	sym_int steps = sym_sub(o->nums, w->kernel[i], sym_const(1));

	return sym_add(o->nums, op_times(o, w->dilation[i], steps), sym_const(1));
}

/* How many places window i has along an axis of that size. */
static sym_int window_places(op *o, const window *w, int i, sym_int size)
{
	sym_table *t = o->nums;
	sym_int stride = sym_const(w->stride[i]), one = sym_const(1);

	if (w->pad == PAD_SAME && w->pool && w->dilation[i] != 1 && !sym_is(w->kernel[i], 1))
		return sym_unknown(
		    t, "what SAME means for a pool with dilations differs among engines");
	if (w->pad == PAD_SAME)
		return sym_ceil_div(t, size, stride);
	sym_int before = sym_add(t, size, sym_const(w->begin[i])), span = window_span(o, w, i);
	sym_int room = sym_sub(t, sym_add(t, before, sym_const(w->end[i])), span);
	/* A window that is larger than what it is over by less than a stride has a place of the
	 * ceiling. Others are unknown although ONNX Runtime gives pools a place of them: a usual
	 * size that leads to one is too small for the model. */
	if (sym_known(room) && room.v < 0 && !(w->ceil && room.v > -w->stride[i]))
		return sym_unknown(t, "its window is larger than its input");
	if (!w->ceil)
		return sym_add(t, sym_floor_div(t, room, stride), one);
	/* A window that would start in the padding at the end is omitted. None does if that
	 * padding and a stride together are not longer than the window. */
	sym_int places = sym_add(t, sym_ceil_div(t, room, stride), one);
	sym_int reach = sym_sub(t, sym_sub(t, span, sym_const(w->end[i])), stride);
	if (sym_known(reach) && reach.v >= 0)
		return places;
	return sym_min(t, places, sym_ceil_div(t, before, stride));
}

/* --- convolution --- */

/* Checks that weights and input agree in the number of dimensions and channels: `channel` is the
 * input's channel axis, `own` the weights' (for each group). False after op_unknown(). */
static bool weights_fit(op *o, const val *x, int channel, const val *w, int own, int64_t group)
{
	if (w->rank != x->rank)
		return op_unknown(o, "its weights have %d dimensions and its input %d", w->rank,
				  x->rank);
	if (group < 1)
		return op_unknown(o, "its attribute group is %lld, which must be 1 or more",
				  (long long)group);
	sym_int has = x->dims[channel], each = w->dims[own];
	if (!sym_known(has) || !sym_known(each))
		return true;
	sym_int all = op_times(o, group, each);
	if (sym_is(all, has.v))
		return true;
	return op_misfit(o, "its weights are for another number of channels than its input has");
}

static bool channels_last(const op *o, layout l)
{
	return l == CHANNELS_LAST || (l == CHANNELS_AS_STATED && op_flag(o, "channels_last"));
}

void shape_conv(op *o)
{
	const conv_form *f = o->row->form;
	const val *x = op_need_rank(o, f->x, 2), *w = x ? op_need(o, f->w) : NULL;
	bool last = channels_last(o, f->layout);
	int channel = last && x ? x->rank - 1 : 1, first = last ? 1 : 2;
	window win;

	if (!x || !w)
		return;
	if (!weights_fit(o, x, channel, w, 1, op_attr_int(o, "group", 1)) ||
	    !window_read(o, x->rank - 2, w->dims + 2, &win))
		return;
	sym_int *dims = op_dims(o, (size_t)x->rank);
	dims[0] = x->dims[0];
	dims[channel] = w->dims[0];
	for (int i = 0; i < win.n; i++)
		dims[first + i] = window_places(o, &win, i, x->dims[first + i]);
	op_set(o, 0, f->dtype ? f->dtype : op_type(o, f->typed, 0), x->rank, dims);
}

/* Each place of the output takes one multiply-accumulate for each weight of each channel's filter:
 * so MACs are places times weights. */
void cost_conv(op *o)
{
	const conv_form *f = o->row->form;
	const val *y = op_out(o, 0), *w = op_in(o, f->w);
	sym_int outputs, places, weights, extra;

	if (!y || y->rank < 2 || !w || w->rank < 1) {
		op_cost_unknown(o, "%s", y && y->why ? y->why : "its shapes are not known");
		return;
	}
	int first = channels_last(o, f->layout) ? 1 : 2;
	outputs = op_elements(o, y);
	weights = op_elements(o, w);
	places = y->dims[0];
	for (int i = 0; i < y->rank - 2; i++)
		places = sym_mul(o->nums, places, y->dims[first + i]);
	extra = op_times(o, f->extra + op_has(o, f->bias) + op_has(o, f->add), outputs);
	extra = sym_add(o->nums, extra, activation_cost(o, "activation", outputs));
	op_cost_macs(o, sym_mul(o->nums, places, weights), extra);
}

/* --- transposed convolution --- */

static sym_int transposed_size(op *o, const window *w, int i, sym_int size, int64_t more)
{
	sym_table *t = o->nums;
	sym_int steps = op_times(o, w->stride[i], sym_sub(t, size, sym_const(1)));
	sym_int span = sym_add(t, window_span(o, w, i), sym_const(more));
	sym_int all = sym_add(t, steps, span);

	/* SAME cuts the output to stride times size, where it is longer. */
	if (w->pad == PAD_SAME)
		return sym_min(t, all, op_times(o, w->stride[i], size));
	all = sym_sub(t, all, sym_const(w->begin[i]));
	return sym_sub(t, all, sym_const(w->end[i]));
}

/* The attribute output_shape may state the batch and the channels too. False: the attribute is
 * missing, or after op_unknown() it does not fit. */
static bool explicit_shape(op *o, int n, sym_int *dims)
{
	size_t given = 0;
	const int64_t *v = op_attr_ints(o, "output_shape", &given);

	if (!v || !given)
		return false;
	if (given == (size_t)n + 2)
		v += 2;
	else if (given != (size_t)n)
		return op_unknown(o, "it has an output_shape for %zu dimensions, not %d", given, n);
	for (int i = 0; i < n; i++)
		dims[2 + i] = sym_const(v[i]);
	return true;
}

/* Reads the pads that an input states, two for each dimension of the window. *ret_open: they depend
 * on values. False after op_unknown(). */
static bool stated_pads(op *o, size_t input, window *w, bool *ret_open)
{
	size_t n = 0;
	const sym_int *pads = op_ints(o, input, &n);

	*ret_open = op_has(o, input) && (!pads || n > 2 * COST_RANK_MAX);
	for (size_t i = 0; pads && i < n; i++)
		*ret_open |= !sym_known(pads[i]);
	if (*ret_open || !n)
		return true;
	if (n != 2 * (size_t)w->n)
		return op_unknown(o, "it has %zu pads for %d dimensions", n, w->n);
	for (int i = 0; i < w->n && w->pad == PAD_EXPLICIT; i++) {
		w->begin[i] = pads[i].v;
		w->end[i] = pads[i + w->n].v;
	}
	return true;
}

void shape_conv_transpose(op *o)
{
	const transposed_form *f = o->row->form;
	bool open;
	const val *x = op_need_rank(o, 0, 2), *w = x ? op_need(o, 1) : NULL;
	size_t given = 0, shaped = 0;
	const int64_t *more = op_attr_ints(o, "output_padding", &given);
	window win;

	if (!x || !w)
		return;
	if (!weights_fit(o, x, 1, w, 0, 1) || !window_read(o, x->rank - 2, w->dims + 2, &win))
		return;
	if (given && given != (size_t)win.n) {
		op_unknown(o, "it has %zu output_padding for %d dimensions", given, win.n);
		return;
	}
	if (!stated_pads(o, f->pads, &win, &open))
		return;
	sym_int *dims = op_dims(o, (size_t)x->rank);
	dims[0] = x->dims[0];
	dims[1] = op_times(o, op_attr_int(o, "group", 1), w->dims[1]);
	op_attr_ints(o, "output_shape", &shaped);
	if (shaped && !explicit_shape(o, win.n, dims))
		return;
	for (int i = 0; i < win.n && !shaped; i++)
		dims[2 + i] = !open || win.pad != PAD_EXPLICIT
				  ? transposed_size(o, &win, i, x->dims[2 + i], given ? more[i] : 0)
				  : op_fresh(o, "a size that its pads decide");
	op_set(o, 0, x->dtype, x->rank, dims);
}

/* Each place of the input is multiplied with every weight of its channels' filters. */
void cost_conv_transpose(op *o)
{
	const transposed_form *f = o->row->form;
	const val *x = op_in(o, 0), *w = op_in(o, 1), *y = op_out(o, 0);
	sym_int places;

	if (!x || x->rank < 2 || !w || w->rank < 1 || !y || y->rank < 0) {
		op_cost_unknown(o, "%s", y && y->why ? y->why : "its shapes are not known");
		return;
	}
	places = sym_mul(o->nums, x->dims[0], op_product(o, x->dims + 2, (size_t)x->rank - 2));
	op_cost_macs(o, sym_mul(o->nums, places, op_elements(o, w)),
		     op_has(o, f->bias) ? op_elements(o, y) : sym_const(0));
}

/* --- pools --- */

void shape_pool(op *o)
{
	const pool_form *f = o->row->form;
	const val *x = op_need_rank(o, 0, 2);
	int first = channels_last(o, f->layout) ? 1 : 2;
	window win;

	if (!x || !window_read(o, x->rank - 2, NULL, &win))
		return;
	win.pool = true;
	sym_int *dims = op_copy_dims(o, x, 0);
	for (int i = 0; i < win.n; i++)
		dims[first + i] = window_places(o, &win, i, x->dims[first + i]);
	op_set(o, 0, x->dtype, x->rank, dims);
	/* MaxPool's second output: where the largest elements were */
	op_set(o, 1, ONNX_INT64, x->rank, dims);
}

void cost_pool(op *o)
{
	const pool_form *f = o->row->form;
	const val *x = op_in(o, 0);
	sym_int outputs = op_elements_out(o), window_size = sym_const(1);
	size_t given = 0;
	const int64_t *k = op_attr_ints(o, "kernel_shape", &given);

	if (!x || x->rank < 2 || !k || given != (size_t)x->rank - 2) {
		op_cost_unknown(o, "its window is not known");
		return;
	}
	for (size_t i = 0; i < given; i++)
		window_size = sym_mul(o->nums, window_size, sym_const(k[i]));
	sym_int per_output =
	    sym_add(o->nums, op_times(o, f->each, window_size), sym_const(f->once));
	op_cost_flops(o, sym_mul(o->nums, outputs, per_output));
}

void shape_global_pool(op *o)
{
	const pool_form *f = o->row->form;
	const val *x = op_need_rank(o, 0, 2);
	bool last = channels_last(o, f->layout);

	if (!x)
		return;
	sym_int *dims = op_dims(o, (size_t)x->rank);
	for (int i = 0; i < x->rank; i++)
		dims[i] = i == 0 || i == (last ? x->rank - 1 : 1) ? x->dims[i] : sym_const(1);
	op_set(o, 0, x->dtype, x->rank, dims);
}
