/* math_signal.c - Fourier transforms and the windows before them.
 *
 * A transform of n complex numbers counts 5 n log2(n) FLOPs, of n real ones half of it, rounded up:
 * the number that benchmarks of fast transforms use (http://www.fftw.org/speed/method.html).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/math_rules.h"

#include <math.h>

/* FLOPs of one transform; absent where n is open, because a polynomial has no logarithm. */
static sym_int transform_flops(op *o, sym_int n, bool real)
{
	if (sym_unknown_reason(n))
		return n;
	if (!sym_known(n))
		return sym_unknown(o->nums, "the length %s of its transform is open",
				   sym_text(o->nums, n));
	if (n.v < 2)
		return sym_const(0);
	if (n.v > (int64_t)1 << 48)
		return sym_unknown(o->nums, "its transform is too long");
	return sym_const((int64_t)ceil((real ? 2.5 : 5.0) * (double)n.v * log2((double)n.v)));
}

static sym_int signal_half(op *o, sym_int n)
{
	return sym_add(o->nums, sym_floor_div(o->nums, n, sym_const(2)), sym_const(1));
}

/* The length that an input states; a fresh number where it depends on values. */
static sym_int stated_length(op *o, size_t input, sym_int otherwise)
{
	sym_int n;

	if (!op_in(o, input))
		return otherwise;
	return op_int_run(o, input, &n) ? n
					: op_fresh(o, "the length that one of its inputs gives");
}

static bool dft_axis(op *o, const val *x, int *ret)
{
	int64_t axis = op_attr_int(o, "axis", 1);
	sym_int n;

	if (o->opset == 0 || o->opset >= 20) {
		axis = -2;
		if (op_in(o, 2)) {
			if (!op_int_run(o, 2, &n) || !sym_known(n)) {
				op_set_unknown(o, 0, x->dtype, "its axis depends on values");
				return false;
			}
			axis = n.v;
		}
	}
	return op_axis(o, axis, x->rank, ret);
}

/* The length of the transform along its axis. */
static sym_int dft_length(op *o, const val *x, int axis, bool to_real)
{
	sym_int n = x->dims[axis];

	if (to_real)
		n = op_times(o, 2, sym_sub(o->nums, n, sym_const(1)));
	return stated_length(o, 1, n);
}

static void shape_dft(op *o)
{
	const val *x = op_need_rank(o, 0, 2);
	bool one = op_flag(o, "onesided"), inverse = op_flag(o, "inverse");
	int axis;

	if (!x || !dft_axis(o, x, &axis))
		return;
	sym_int *dims = op_copy_dims(o, x, 0);
	sym_int n = dft_length(o, x, axis, one && inverse);
	dims[axis] = one && !inverse ? signal_half(o, n) : n;
	dims[x->rank - 1] = sym_const(one && inverse ? 1 : 2);
	op_set(o, 0, x->dtype, x->rank, dims);
}

static void cost_dft(op *o)
{
	const val *x = op_in(o, 0), *y = op_out(o, 0);
	bool one = op_flag(o, "onesided"), inverse = op_flag(o, "inverse");
	int axis;

	if (!x || !y || x->rank < 2 || y->rank < 2 || !dft_axis(o, x, &axis)) {
		op_flops_unknown(o, "its shapes are not known");
		return;
	}
	bool real = (one && inverse) || sym_is(x->dims[x->rank - 1], 1);
	sym_int count = sym_const(1);
	for (int i = 0; i < x->rank - 1; i++)
		if (i != axis)
			count = sym_mul(o->nums, count, x->dims[i]);
	sym_int length = one && !inverse ? stated_length(o, 1, x->dims[axis]) : y->dims[axis];
	op_cost_flops(o, sym_mul(o->nums, count, transform_flops(o, length, real)));
}

static sym_int stft_length(op *o, const val *x)
{
	const val *frame_window = op_in(o, 2);
	sym_int n = x->dims[1];

	if (frame_window && frame_window->kind == VAL_TENSOR && frame_window->rank == 1)
		return frame_window->dims[0];
	return stated_length(o, 3, n);
}

static void shape_stft(op *o)
{
	const val *x = op_need_rank(o, 0, 2);
	sym_int step, dims[4], n;

	if (!x)
		return;
	if (x->rank > 3) {
		op_unknown(o, "its signal has %d dimensions, not 3", x->rank);
		return;
	}
	n = stft_length(o, x);
	dims[0] = x->dims[0];
	dims[1] = op_fresh(o, "the number of frames");
	if (op_int_run(o, 1, &step) && sym_lower_bound(o->nums, step) >= 1)
		dims[1] = sym_add(o->nums, sym_const(1),
				  sym_floor_div(o->nums, sym_sub(o->nums, x->dims[1], n), step));
	dims[2] = op_attr_int(o, "onesided", 1) != 0 ? signal_half(o, n) : n;
	dims[3] = sym_const(2);
	op_set(o, 0, x->dtype, 4, dims);
}

static void cost_stft(op *o)
{
	const val *x = op_in(o, 0), *y = op_out(o, 0);

	if (!x || !y || x->rank < 2 || y->rank != 4) {
		op_flops_unknown(o, "its shapes are not known");
		return;
	}
	bool real = x->rank < 3 || sym_is(x->dims[2], 1);
	sym_int n = stft_length(o, x), each = transform_flops(o, n, real);
	if (op_in(o, 2)) /* each frame times the window */
		each = sym_add(o->nums, each, real ? n : op_times(o, 2, n));
	op_cost_flops(o, sym_mul(o->nums, each, sym_mul(o->nums, y->dims[0], y->dims[1])));
}

static void shape_window(op *o)
{
	sym_int n = stated_length(o, 0, sym_const(-1));

	if (sym_is(n, -1)) {
		op_unknown(o, "its size is missing");
		return;
	}
	op_set(o, 0, op_attr_int(o, "output_datatype", ONNX_FLOAT), 1, &n);
}

static void shape_mel(op *o)
{
	sym_int bins = stated_length(o, 0, sym_const(-1)),
		length = stated_length(o, 1, sym_const(-1));

	if (sym_is(bins, -1) || sym_is(length, -1)) {
		op_unknown(o, "an input is missing");
		return;
	}
	sym_int dims[2] = {signal_half(o, length), bins};
	op_set(o, 0, op_attr_int(o, "output_datatype", ONNX_FLOAT), 2, dims);
}

static void cost_mel(op *o)
{
	op_flops_unknown(o, "which elements it computes depends on values");
}

#define WINDOW "FLOPs per element: 2 *, cos, -"

static const op_row math_signal_rows[] = {
    {"BlackmanWindow", shape_window, cost_each, 8, .traffic = TRAFFIC_WRITE, .roles = "c",
     .how = "FLOPs per element: 4 *, 2 cos, +, -"},
    {"DFT", shape_dft, cost_dft, .roles = ".c",
     .how = "FLOPs: 5 n log2(n) per complex transform, half of it per real one"},
    {"HammingWindow", shape_window, cost_each, 4, .traffic = TRAFFIC_WRITE, .roles = "c",
     .how = WINDOW},
    {"HannWindow", shape_window, cost_each, 4, .traffic = TRAFFIC_WRITE, .roles = "c",
     .how = WINDOW},
    {"MelWeightMatrix", shape_mel, cost_mel, .traffic = TRAFFIC_WRITE, .roles = "c",
     .how = "not known: it depends on values"},
    {"STFT", shape_stft, cost_stft, .roles = ".ccc",
     .how = "FLOPs: per frame 5 n log2(n), half of it of a real signal, "
	    "and 1 per element for the window"},
};

const op_family op_family_math_signal = {"", math_signal_rows,
					 sizeof math_signal_rows / sizeof *math_signal_rows};
