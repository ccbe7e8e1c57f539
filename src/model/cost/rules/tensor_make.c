/* tensor_make.c - operators that make tensors: Constant, Range, Shape, Cast, random numbers.
 *
 * Constant propagation of shapes begins here. Shape and Size turn symbolic dimensions into
 * contents, Constant, ConstantOfShape and Range make known contents, and Cast passes contents on;
 * so the Reshape at the end of such a chain knows its sizes. Contents of more than ONNX_INTS_MAX
 * elements are not followed.
 *
 * A conversion preserves a whole number if the new type represents it exactly (math_holds()); a
 * real type rounds it (model/onnx/float_format.h), and for another that element is absent. Real
 * contents are doubles that the type holds.
 *
 * Buffers of ONNX_INTS_MAX numbers are on the stack, up to 24 KiB. Only Bernoulli and Multinomial
 * have FLOPs; making random numbers is not counted.
 * https://onnx.ai/onnx/operators/ has each operator.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/float_format.h"
#include "model/cost/infer.h"
#include "model/cost/rules/math_rules.h"
#include "model/cost/rules/tensor_rules.h"

#include <math.h>
#include <string.h>

static void tensor_constant_tensor(op *o, const onnx_tensor *t)
{
	val *v = infer_constant(o->infer, t);

	if (!v || !op_out(o, 0))
		return;
	op_set_val(o, 0, v);
	op_out(o, 0)->tensor = t;
}

static void shape_constant(op *o)
{
	const onnx_attribute *a;
	const sym_int *ints;
	size_t count;
	sym_int n;

	if ((a = op_attr(o, "value")) && a->t) {
		tensor_constant_tensor(o, a->t);
	} else if ((a = op_attr(o, "sparse_value")) && a->sparse && a->sparse->values) {
		sym_int dims[COST_RANK_MAX];
		const size_t rank = a->sparse->rank;
		for (size_t i = 0; i < rank && i < COST_RANK_MAX; i++)
			dims[i] = sym_const(a->sparse->dims[i]);
		op_set(o, 0, a->sparse->values->dtype, rank <= COST_RANK_MAX ? (int)rank : -1,
		       dims);
	} else if ((a = op_attr(o, "value_int"))) {
		n = sym_const(a->i);
		op_set(o, 0, ONNX_INT64, 0, NULL);
		op_set_ints(o, 0, &n, 1);
	} else if ((a = op_attr(o, "value_float"))) {
		double real = (double)a->f;
		op_set(o, 0, ONNX_FLOAT, 0, NULL);
		op_set_reals(o, 0, &real, 1);
	} else if ((a = op_attr(o, "value_string"))) {
		op_set(o, 0, ONNX_STRING, 0, NULL);
	} else if ((ints = op_list(o, "value_ints", OP_NO_INPUT, &count))) {
		n = sym_const((int64_t)count);
		op_set(o, 0, ONNX_INT64, 1, &n);
		op_set_ints(o, 0, ints, count);
	} else if ((a = op_attr(o, "value_floats"))) {
		double reals[ONNX_INTS_MAX];
		n = sym_const((int64_t)a->nfloats);
		op_set(o, 0, ONNX_FLOAT, 1, &n);
		for (size_t i = 0; i < a->nfloats && a->nfloats <= ONNX_INTS_MAX; i++)
			reals[i] = (double)a->floats[i];
		if (a->nfloats <= ONNX_INTS_MAX)
			op_set_reals(o, 0, reals, a->nfloats);
	} else if ((a = op_attr(o, "value_strings"))) {
		n = sym_const((int64_t)a->nstrings);
		op_set(o, 0, ONNX_STRING, 1, &n);
	} else
		op_unknown(o, "it has no value");
}

static void shape_constant_of_shape(op *o)
{
	const onnx_attribute *a = op_attr(o, "value");
	const onnx_tensor *t = a ? a->t : NULL;
	int64_t dtype = t ? t->dtype : ONNX_FLOAT;
	sym_int *dims;
	int rank;

	if (!tensor_dims_of(o, 0, &dims, &rank, "a size that is computed")) {
		if (op_out(o, 0))
			op_out(o, 0)->dtype = dtype;
		return;
	}
	op_set(o, 0, dtype, rank, dims);
	size_t n = op_small(op_out(o, 0));
	if (n == SIZE_MAX || (t && ((!t->ints && !t->reals) || t->elements != 1)))
		return;
	if (t && t->reals) {
		double *reals = mem_arena_array(o->arena, n, sizeof *reals);
		for (size_t i = 0; reals && i < n; i++)
			reals[i] = t->reals[0];
		if (reals)
			op_set_reals(o, 0, reals, n);
		return;
	}
	sym_int *ints = op_dims(o, n);
	for (size_t i = 0; i < n; i++)
		ints[i] = sym_const(t ? t->ints[0] : 0);
	op_set_ints(o, 0, ints, n);
}

/* Returns max(0, ceil((limit - start) / delta)). */
static sym_int range_length(op *o, sym_int start, sym_int limit, sym_int delta)
{
	sym_table *t = o->nums;
	sym_int span = sym_sub(t, limit, start), zero = sym_const(0);

	if (!sym_known(delta) || delta.v == 0 || delta.v == INT64_MIN)
		return sym_unknown(t, "its step is 0 or depends on values");
	if (delta.v < 0) {
		span = sym_sub(t, zero, span);
		delta = sym_const(-delta.v);
	}
	return sym_max(t, zero, sym_ceil_div(t, span, delta));
}

static bool range_reals(op *o, int64_t dtype, sym_int *ret)
{
	static const double one = 1;
	size_t n;
	const double *v[3] = {[2] = &one};
	double reals[ONNX_INTS_MAX];

	for (size_t i = 0; i < 3; i++)
		if ((i < 2 || op_has(o, i)) && (!(v[i] = op_reals(o, i, &n)) || n != 1))
			return false;
	double length = ceil((*v[1] - *v[0]) / *v[2]);
	if (!(fabs(length) <= 0x1p53))
		return false;
	*ret = sym_const(length > 0 ? (int64_t)length : 0);
	op_set(o, 0, dtype, 1, ret);
	if (ret->v > ONNX_INTS_MAX)
		return true;
	for (int64_t i = 0; i < ret->v; i++) {
		reals[i] = *v[0] + (double)i * *v[2];
		if (dtype == ONNX_FLOAT)
			reals[i] = (double)(float)reals[i];
	}
	op_set_reals(o, 0, reals, (size_t)ret->v);
	return true;
}

void shape_range(op *o)
{
	const val *v = op_given(o, 0);
	sym_int part[3] = {[2] = sym_const(1)}, n;

	if (!v)
		return;
	bool whole = op_int(o, 0, &part[0]) && op_int(o, 1, &part[1]) &&
		     (!op_has(o, 2) || op_int(o, 2, &part[2]));
	if (!whole && range_reals(o, v->dtype, &n))
		return;
	n = whole ? range_length(o, part[0], part[1], part[2]) : sym_unknown(o->nums, "computed");
	if (sym_unknown_reason(n))
		n = op_fresh(o, "the length of a range");
	op_set(o, 0, v->dtype, 1, &n);
	if (!sym_known(n) || n.v > ONNX_INTS_MAX)
		return;
	sym_int *ints = op_dims(o, (size_t)n.v);
	for (int64_t i = 0; i < n.v; i++)
		ints[i] = sym_add(o->nums, part[0], op_times(o, i, part[2]));
	op_set_ints(o, 0, ints, (size_t)n.v);
}

static int64_t tensor_clamp(int64_t at, int rank)
{
	at += at < 0 ? rank : 0;
	return at < 0 ? 0 : at > rank ? rank : at;
}

static void shape_shape(op *o)
{
	const val *v = op_in(o, 0);
	sym_int n;

	if (!v || v->rank < 0 || v->kind != VAL_TENSOR) {
		n = op_fresh(o, "the number of dimensions");
		op_set(o, 0, ONNX_INT64, 1, &n);
		return;
	}
	int64_t begin = tensor_clamp(op_attr_int(o, "start", 0), v->rank);
	int64_t end = tensor_clamp(op_attr_int(o, "end", v->rank), v->rank);
	n = sym_const(end > begin ? end - begin : 0);
	op_set(o, 0, ONNX_INT64, 1, &n);
	if (n.v > 0)
		op_set_ints(o, 0, v->dims + begin, (size_t)n.v);
	else
		op_set_ints(o, 0, &n, 0);
}

static void shape_size(op *o)
{
	sym_int n = op_elements(o, op_in(o, 0));

	op_set(o, 0, ONNX_INT64, 0, NULL);
	if (op_in(o, 0))
		op_set_ints(o, 0, &n, 1);
}

/* --- types --- */

/* Beyond the largest number of a type of 8 bits. */
static bool cast_saturates(const op *o)
{
	return op_attr_int(o, "saturate", 1) != 0;
}

static double cast_real(const op *o, double x, int64_t to)
{
	(void)float_format_round(to, cast_saturates(o), &x);
	return x;
}

static sym_int cast_whole(op *o, sym_int n, int64_t to)
{
	double real = sym_known(n) ? (double)n.v : (double)NAN;

	if (to == ONNX_BOOL && (sym_known(n) || sym_lower_bound(o->nums, n) > 0))
		return sym_const(!sym_is(n, 0));
	if (sym_known(n) ? math_holds(to, n)
			 : to == ONNX_INT64 || to == ONNX_INT32 || onnx_dtype_real(to))
		return n;
	if (fabs(real) <= 0x1p53 && float_format_round(to, cast_saturates(o), &real) &&
	    isfinite(real))
		return sym_const((int64_t)real);
	return sym_unknown(o->nums, "a conversion changes its value");
}

static void cast_contents(op *o, const val *v, int64_t to)
{
	sym_int ints[ONNX_INTS_MAX];
	double reals[ONNX_INTS_MAX];
	const bool real = float_format_is(to);

	if ((!v->ints && !v->reals) || v->n > ONNX_INTS_MAX ||
	    !(real || math_holds(to, sym_const(0))))
		return;
	for (size_t i = 0; i < v->n; i++) {
		if (v->ints)
			ints[i] = cast_whole(o, v->ints[i], to);
		else if (real)
			reals[i] = cast_real(o, v->reals[i], to);
		else if (to == ONNX_BOOL)
			ints[i] = sym_const(v->reals[i] != 0);
		else if (fabs(v->reals[i]) < 0x1p53)
			ints[i] = cast_whole(o, sym_const((int64_t)v->reals[i]), to);
		else
			return;
	}
	if (v->ints || !real)
		op_set_ints(o, 0, ints, v->n);
	else
		op_set_reals(o, 0, reals, v->n);
}

static void cast(op *o, int64_t to)
{
	const val *v = op_given(o, 0);

	if (!v)
		return;
	op_same(o, 0, v);
	if (!op_out(o, 0))
		return;
	op_out(o, 0)->dtype = to;
	if (v->kind == VAL_TENSOR && v->rank >= 0)
		cast_contents(o, v, to);
}

static void shape_cast(op *o)
{
	const onnx_attribute *a = op_attr(o, "to");

	/* In opset 1 the type is a text, which is not read. */
	cast(o, a && a->i > 0 ? a->i : 0);
}

/* The same bits mean other numbers in another type, so the contents are forgotten. */
static void shape_bit_cast(op *o)
{
	val *out = op_out(o, 0);

	shape_cast(o);
	if (out) {
		out->ints = NULL;
		out->reals = NULL;
		out->n = 0;
	}
}

static void shape_cast_like(op *o)
{
	const val *like = op_in(o, 1);

	cast(o, like ? like->dtype : 0);
}

static void tensor_shape_one_hot(op *o)
{
	const val *v = op_need(o, 0), *values = op_in(o, 2);
	size_t n;
	const double *real = op_reals(o, 1, &n);
	sym_int depth;
	int axis;

	if (!v)
		return;
	if (!op_int(o, 1, &depth) || sym_unknown_reason(depth))
		depth = real && n == 1 && fabs(*real) < 0x1p53 ? sym_const((int64_t)*real)
							       : op_fresh(o, "the depth");
	if (!op_axis(o, op_attr_int(o, "axis", -1), v->rank + 1, &axis))
		return;
	sym_int *dims = op_dims(o, (size_t)v->rank + 1);
	for (int i = 0, k = 0; i <= v->rank; i++)
		dims[i] = i == axis ? depth : v->dims[k++];
	op_set(o, 0, values ? values->dtype : 0, v->rank + 1, dims);
}

/* The rule of EyeLike, RandomNormalLike and Bernoulli: the shape of the input, and the type that an
 * attribute states. */
static void shape_like_typed(op *o)
{
	op_set_typed(o, tensor_dtype_attr(o, "dtype", op_type(o, 0, 0)));
}

static void shape_random(op *o)
{
	size_t n = 0;
	const int64_t *shape = op_attr_ints(o, "shape", &n);

	if (!shape || n > COST_RANK_MAX) {
		op_unknown(o, "it has no shape");
		return;
	}
	sym_int *dims = op_dims(o, n);
	for (size_t i = 0; i < n; i++)
		dims[i] = sym_const(shape[i]);
	op_set(o, 0, tensor_dtype_attr(o, "dtype", ONNX_FLOAT), (int)n, dims);
}

static void shape_multinomial(op *o)
{
	const val *v = op_need_rank(o, 0, 2);

	if (!v)
		return;
	sym_int dims[2] = {v->dims[0], sym_const(op_attr_int(o, "sample_size", 1))};
	op_set(o, 0, tensor_dtype_attr(o, "dtype", ONNX_INT32), 2, dims);
}

static const op_row tensor_make_rows[] = {
    {"Bernoulli", shape_like_typed, cost_each, 1, .how = "FLOPs: 1 comparison per element"},
    {"BitCast", shape_bit_cast, .traffic = TRAFFIC_VIEW},
    {"Cast", .shape = shape_cast},
    {"CastLike", shape_cast_like, .traffic = TRAFFIC_FIRST},
    {"Constant", shape_constant, .traffic = TRAFFIC_WRITE},
    {"ConstantOfShape", shape_constant_of_shape, .traffic = TRAFFIC_WRITE, .roles = "c"},
    {"EyeLike", shape_like_typed, .traffic = TRAFFIC_WRITE},
    {"Multinomial", shape_multinomial, cost_each_in, 2,
     .how = "FLOPs per class: a sum and a comparison"},
    {"OneHot", tensor_shape_one_hot, .roles = ".c"},
    {"RandomNormal", shape_random, .traffic = TRAFFIC_WRITE,
     .how = "random numbers are not counted"},
    {"RandomNormalLike", shape_like_typed, .traffic = TRAFFIC_WRITE,
     .how = "random numbers are not counted"},
    {"RandomUniform", shape_random, .traffic = TRAFFIC_WRITE,
     .how = "random numbers are not counted"},
    {"RandomUniformLike", shape_like_typed, .traffic = TRAFFIC_WRITE,
     .how = "random numbers are not counted"},
    {"Range", shape_range, .traffic = TRAFFIC_WRITE, .roles = "c"},
    {"Shape", shape_shape, .traffic = TRAFFIC_SHAPE},
    {"Size", shape_size, .traffic = TRAFFIC_SHAPE},
};

const op_family op_family_tensor_make = {"", tensor_make_rows,
					 sizeof tensor_make_rows / sizeof *tensor_make_rows};
