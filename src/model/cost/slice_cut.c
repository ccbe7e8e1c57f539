/* slice_cut.c - the bounds of Slice.
 * https://onnx.ai/onnx/operators/onnx__Slice.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/slice_cut.h"

/* Turns a position that is counted from the end into one from the beginning, and clamps it to
 * [least, most]. */
static sym_int slice_place(op *o, sym_int at, sym_int size, sym_int least, sym_int most)
{
	sym_table *t = o->nums;

	if (sym_known(at) && at.v >= SLICE_FAR && !sym_known(size))
		return most;
	if (sym_known(at) && at.v <= -SLICE_FAR)
		return least;
	if (sym_known(at) ? at.v < 0 : sym_lower_bound(t, sym_sub(t, sym_const(0), at)) >= 1)
		at = sym_add(t, at, size);
	else if (!sym_known(at) && sym_lower_bound(t, at) < 0)
		return sym_unknown(t, "the sign of %s is not known", sym_text(t, at));
	return sym_min(t, sym_max(t, at, least), most);
}

sym_int slice_length(op *o, sym_int size, const slice_cut *c, sym_int *ret_begin)
{
	sym_table *t = o->nums;
	sym_int one = sym_const(1), zero = sym_const(0), begin, end, span, step;

	if (!sym_known(c->step) || c->step.v == 0 || c->step.v == INT64_MIN)
		return sym_unknown(t, "its step is 0 or depends on values");
	if (c->step.v < 0 && (sym_is(c->end, INT32_MAX) || sym_is(c->end, INT64_MAX)))
		return sym_unknown(t, "where it ends differs: ONNX takes such an end as the last "
				      "element, ONNX Runtime takes all of them");
	if (c->step.v > 0) {
		begin = slice_place(o, c->begin, size, zero, size);
		end = slice_place(o, c->end, size, zero, size);
		span = sym_sub(t, end, begin);
		step = c->step;
	} else {
		sym_int last = sym_sub(t, size, one);
		begin = slice_place(o, c->begin, size, zero, last);
		end = slice_place(o, c->end, size, sym_const(-1), last);
		span = sym_sub(t, begin, end);
		step = sym_const(-c->step.v);
	}
	*ret_begin = begin;
	return sym_ceil_div(t, sym_max(t, span, zero), step);
}

slice_state slice_read(op *o, int rank, slice_cut *ret, size_t *ret_n)
{
	size_t nstarts = 0, nends = 0, naxes = 0, nsteps = 0;
	const sym_int *s = op_list(o, "starts", 1, &nstarts), *e = op_list(o, "ends", 2, &nends);
	const sym_int *a = op_list(o, "axes", 3, &naxes), *p = op_list(o, "steps", 4, &nsteps);
	const sym_int computed = sym_unknown(o->nums, "computed");
	const val *length = op_in(o, 1);
	size_t n = s ? nstarts : e ? nends : a ? naxes : SIZE_MAX;

	if (n == SIZE_MAX && length && length->rank == 1 && sym_known(length->dims[0]) &&
	    length->dims[0].v <= COST_RANK_MAX)
		n = (size_t)length->dims[0].v;
	if (n == SIZE_MAX || (!a && op_in(o, 3)))
		return SLICE_OPEN;
	if (n > (size_t)rank || (s && nstarts != n) || (e && nends != n) || (a && naxes != n) ||
	    (p && nsteps != n)) {
		op_unknown(o, "its starts, ends, axes and steps are not equally many");
		return SLICE_INVALID;
	}
	for (size_t i = 0; i < n; i++) {
		if (a && !sym_known(a[i])) {
			op_unknown(o, "its axes depend on values");
			return SLICE_INVALID;
		}
		if (!op_axis(o, a ? a[i].v : (int64_t)i, rank, &ret[i].axis))
			return SLICE_INVALID;
		ret[i].begin = s ? s[i] : computed;
		ret[i].end = e ? e[i] : computed;
		ret[i].step = p ? p[i] : op_in(o, 4) ? computed : sym_const(1);
	}
	*ret_n = n;
	return SLICE_READ;
}
