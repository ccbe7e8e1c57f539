/* math_fold.c - elementwise arithmetic, comparison and logic: shapes, and constant folding of
 * contents if the contents of the inputs are known, symbolic numbers included.
 *
 * Real contents are computed only by operations that IEEE 754 rounds exactly (+ - * / sqrt and
 * rounding to whole numbers), each result rounded to the tensor's type, so that every engine gets
 * the same; exp and log differ in the last bit between engines, and a floor() after them would not.
 *
 * Each arithmetic operation, comparison and elementary function counts 1 FLOP.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/float_format.h"
#include "model/cost/rules/math_rules.h"

#include <math.h>
#include <string.h>

/* A whole number from whole numbers; absent: it is not known, or not whole. */
typedef sym_int whole_fn(op *o, int64_t dtype, sym_int a, sym_int b);
typedef double real_fn(const op *o, double a, double b);

/* The parameters of a row: how the operator computes contents from contents. One of the functions
 * may be missing. */
typedef struct fold {
	whole_fn *whole;
	real_fn *real;
} fold;

static sym_int unknown(op *o)
{
	return sym_unknown(o->nums, "the result of a %s depends on values", o->node->op);
}

/* A type represents all integers from the least to the most of its row exactly; {0, 0}: none. */
static struct span {
	int64_t least, most;
} span_of(int64_t dtype)
{
	static const struct span spans[] = {
	    [ONNX_FLOAT] = {-(1 << 24), 1 << 24},
	    [ONNX_UINT8] = {0, UINT8_MAX},
	    [ONNX_INT8] = {INT8_MIN, INT8_MAX},
	    [ONNX_UINT16] = {0, UINT16_MAX},
	    [ONNX_INT16] = {INT16_MIN, INT16_MAX},
	    [ONNX_INT32] = {INT32_MIN, INT32_MAX},
	    [ONNX_INT64] = {INT64_MIN, INT64_MAX},
	    [ONNX_BOOL] = {0, 1},
	    [ONNX_FLOAT16] = {-(1 << 11), 1 << 11},
	    [ONNX_DOUBLE] = {-((int64_t)1 << 53), (int64_t)1 << 53},
	    [ONNX_UINT32] = {0, UINT32_MAX},
	    [ONNX_UINT64] = {0, INT64_MAX},
	    [ONNX_BFLOAT16] = {-(1 << 8), 1 << 8},
	};

	return dtype > 0 && (size_t)dtype < sizeof spans / sizeof *spans ? spans[dtype]
									 : (struct span){0, 0};
}

bool math_holds(int64_t dtype, sym_int v)
{
	struct span s = span_of(dtype);

	return s.most > 0 && (!sym_known(v) || (v.v >= s.least && v.v <= s.most));
}

sym_int math_fit(op *o, int64_t dtype, sym_int v)
{
	if (math_holds(dtype, v))
		return v;
	return sym_unknown(o->nums, "the result of a %s overflows", o->node->op);
}

const sym_int *math_whole(const op *o, size_t input, size_t *ret_n)
{
	const val *v = op_in(o, input);

	if (!v || (!v->ints && !v->reals) || v->n > ONNX_INTS_MAX)
		return NULL;
	*ret_n = v->n;
	if (v->ints)
		return v->ints;
	sym_int *whole = mem_arena_array(o->arena, v->n, sizeof *whole);
	for (size_t i = 0; whole && i < v->n; i++) {
		if (!(fabs(v->reals[i]) <= 0x1p53) || v->reals[i] != floor(v->reals[i]) ||
		    (v->reals[i] == 0 && signbit(v->reals[i])))
			return NULL;
		whole[i] = sym_const((int64_t)v->reals[i]);
	}
	return whole;
}

/* --- whole numbers --- */

static bool both(sym_int a, sym_int b)
{
	return sym_known(a) && sym_known(b);
}

static sym_int not(sym_int a)
{
	return sym_known(a) ? sym_const(!a.v) : a;
}

/* Integers are divided towards zero, as in C. */
static sym_int whole_div(op *o, int64_t dtype, sym_int a, sym_int b)
{
	sym_int exact;

	if (sym_is(b, 0))
		return unknown(o);
	if (both(a, b)) {
		if (a.v == INT64_MIN || (onnx_dtype_real(dtype) && a.v % b.v != 0))
			return unknown(o);
		return sym_const(a.v / b.v);
	}
	if (sym_div_exact(o->nums, a, b, &exact))
		return exact;
	if (onnx_dtype_real(dtype) || sym_lower_bound(o->nums, a) < 0 ||
	    sym_lower_bound(o->nums, b) < 1)
		return unknown(o);
	return sym_floor_div(o->nums, a, b);
}

static sym_int whole_mod(op *o, int64_t dtype, sym_int a, sym_int b)
{
	bool c_style = op_flag(o, "fmod");
	sym_int exact;

	(void)dtype;
	if (sym_is(b, 0))
		return unknown(o);
	if (both(a, b)) {
		if (b.v == -1)
			return sym_const(0);
		int64_t rest = a.v % b.v;
		if (!c_style && rest && (rest < 0) != (b.v < 0))
			rest += b.v;
		return sym_const(rest);
	}
	if (sym_div_exact(o->nums, a, b, &exact))
		return sym_const(0);
	if (sym_lower_bound(o->nums, b) < 1 || (c_style && sym_lower_bound(o->nums, a) < 0))
		return unknown(o);
	return sym_sub(o->nums, a, sym_mul(o->nums, b, sym_floor_div(o->nums, a, b)));
}

static sym_int whole_pow(op *o, int64_t dtype, sym_int a, sym_int b)
{
	sym_int p = sym_const(1);

	(void)dtype;
	if (!sym_known(b) || b.v < 0 || b.v > 64)
		return unknown(o);
	for (int64_t i = 0; i < b.v; i++)
		p = sym_mul(o->nums, p, a);
	return p;
}

/* 1: a < b for all values of the symbols; 0: a >= b for all; absent: it depends. */
static sym_int whole_less(op *o, int64_t dtype, sym_int a, sym_int b)
{
	(void)dtype;
	if (both(a, b))
		return sym_const(a.v < b.v);
	if (sym_lower_bound(o->nums, sym_sub(o->nums, b, a)) > 0)
		return sym_const(1);
	if (sym_lower_bound(o->nums, sym_sub(o->nums, a, b)) >= 0)
		return sym_const(0);
	return unknown(o);
}

static sym_int whole_equal(op *o, int64_t dtype, sym_int a, sym_int b)
{
	(void)dtype;
	if (sym_unknown_reason(a) || sym_unknown_reason(b))
		return unknown(o);
	if (sym_same(a, b))
		return sym_const(1);
	if (both(a, b) || sym_lower_bound(o->nums, sym_sub(o->nums, b, a)) > 0 ||
	    sym_lower_bound(o->nums, sym_sub(o->nums, a, b)) > 0)
		return sym_const(0);
	return unknown(o);
}

static sym_int whole_shift(op *o, int64_t dtype, sym_int a, sym_int b)
{
	const char *to = op_attr_text(o, "direction");

	(void)dtype;
	if (!both(a, b) || a.v < 0 || b.v < 0 || b.v > 62 || !to)
		return unknown(o);
	if (strcmp(to, "RIGHT") == 0)
		return sym_const(a.v >> b.v);
	return sym_mul(o->nums, a, sym_const((int64_t)1 << b.v));
}

/* Defines a whole_fn that is one expression of a and b, or of a alone. */
#define WHOLE(name, result)                                                     \
	static sym_int whole_##name(op *o, int64_t dtype, sym_int a, sym_int b) \
	{                                                                       \
		(void)o, (void)dtype, (void)b;                                  \
		return result;                                                  \
	}

WHOLE(add, sym_add(o->nums, a, b))
WHOLE(sub, sym_sub(o->nums, a, b))
WHOLE(mul, sym_mul(o->nums, a, b))
WHOLE(max, sym_max(o->nums, a, b))
WHOLE(min, sym_min(o->nums, a, b))
WHOLE(greater, whole_less(o, dtype, b, a))
WHOLE(less_equal, not(whole_less(o, dtype, b, a)))
WHOLE(greater_equal, not(whole_less(o, dtype, a, b)))
WHOLE(and, sym_is(a, 0) || sym_is(b, 0) ? sym_const(0) : both(a, b) ? sym_const(1) : unknown(o))
WHOLE(or, (sym_known(a) && a.v) || (sym_known(b) && b.v) ? sym_const(1)
	  : both(a, b)					 ? sym_const(0)
							 : unknown(o))
WHOLE(xor, both(a, b) ? sym_const(!a.v != !b.v) : unknown(o))
WHOLE(bit_and, both(a, b) ? sym_const((a.v & b.v)) : unknown(o))
WHOLE(bit_or, both(a, b) ? sym_const(a.v | b.v) : unknown(o))
WHOLE(bit_xor, both(a, b) ? sym_const(a.v ^ b.v) : unknown(o))
WHOLE(same, a)
WHOLE(neg, sym_sub(o->nums, sym_const(0), a))
WHOLE(sign, sym_known(a)		      ? sym_const((a.v > 0) - (a.v < 0))
	    : sym_lower_bound(o->nums, a) > 0 ? sym_const(1)
					      : unknown(o))
WHOLE(not, sym_known(a) ? sym_const(!a.v) : unknown(o))
WHOLE(bit_not, !sym_known(a)		   ? unknown(o)
	       : dtype == ONNX_UINT64	   ? unknown(o)
	       : span_of(dtype).least == 0 ? sym_const(span_of(dtype).most - a.v)
					   : sym_const(~a.v))
/* For IsNaN and IsInf: a whole number is neither. */
WHOLE(neither, sym_known(a) ? sym_const(0) : unknown(o))

static sym_int whole_abs(op *o, int64_t dtype, sym_int a, sym_int b)
{
	if (sym_unknown_reason(a) || sym_lower_bound(o->nums, a) >= 0)
		return a;
	sym_int minus = whole_neg(o, dtype, a, b);
	return sym_known(a) || sym_lower_bound(o->nums, minus) >= 0 ? minus : unknown(o);
}

/* --- reals --- */

/* Defines a real_fn that is one expression. */
#define REAL(name, result)                                         \
	static double real_##name(const op *o, double a, double b) \
	{                                                          \
		(void)o, (void)b;                                  \
		return result;                                     \
	}

REAL(add, a + b)
REAL(sub, a - b)
REAL(mul, (a * b))
REAL(div, a / b)
REAL(pow, b == 2 ? a * a : b == 1 ? a : b == 0.5 ? sqrt(a) : (double)NAN)
REAL(max, isnan(a) || isnan(b) ? (double)NAN : fmax(a, b))
REAL(min, isnan(a) || isnan(b) ? (double)NAN : fmin(a, b))
REAL(less, a < b)
REAL(less_equal, a <= b)
REAL(greater, a > b)
REAL(greater_equal, a >= b)
REAL(equal, a == b)
REAL(neg, -a)
REAL(abs, fabs(a))
REAL(sign, (double)((a > 0) - (a < 0)))
REAL(floor, floor(a))
REAL(ceil, ceil(a))
REAL(round, float_format_even(a))
REAL(sqrt, sqrt(a))
REAL(reciprocal, 1 / a)
REAL(is_nan, isnan(a) != 0)
REAL(is_inf, isinf(a) && op_attr_int(o, a > 0 ? "detect_positive" : "detect_negative", 1) != 0)

static double real_mod(const op *o, double a, double b)
{
	double rest = fmod(a, b);

	/* The remainder has the divisor's sign, unless the model requests C's fmod(). */
	if (!op_flag(o, "fmod") && rest != 0 && (rest < 0) != (b < 0))
		rest += b;
	return rest;
}

/* --- contents --- */

static bool all_whole(const double *r, size_t n, sym_int *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (!(fabs(r[i]) <= 0x1p53) || r[i] != floor(r[i]))
			return false;
		ret[i] = sym_const((int64_t)r[i]);
	}
	return true;
}

static void set_reals(op *o, const double *r, size_t n)
{
	sym_int *whole = op_dims(o, n);

	if (whole && all_whole(r, n, whole))
		op_set_ints(o, 0, whole, n);
	else
		op_set_reals(o, 0, r, n);
}

/* Contents of floats are stored only if all are known; contents of integers, which may be shapes,
 * if at least one is. */
static bool fold_usable(const sym_int *r, size_t n, bool every)
{
	size_t none = 0;

	for (size_t i = 0; i < n; i++)
		none += sym_unknown_reason(r[i]) != NULL;
	return !none || (!every && none < n);
}

static void fold_binary(op *o, size_t a, size_t b)
{
	const fold *f = o->row->form;
	const val *va = op_in(o, a), *vb = op_in(o, b), *out = op_out(o, 0);
	size_t na = 0, nb = 0, n = op_small(out);

	if (!f || !va || !vb || n == SIZE_MAX || !(va->ints || va->reals) ||
	    !(vb->ints || vb->reals) || op_small(va) == SIZE_MAX || op_small(vb) == SIZE_MAX ||
	    va->rank > out->rank || vb->rank > out->rank)
		return;
	const sym_int *ia = math_whole(o, a, &na), *ib = math_whole(o, b, &nb);
	if (ia && ib && f->whole) {
		sym_int *r = op_dims(o, n);
		for (size_t i = 0; i < n; i++) {
			sym_int x = ia[op_source(va, out, i)], y = ib[op_source(vb, out, i)];
			/* An unsigned number from 2^63 on is stored as a negative one. */
			r[i] = math_holds(va->dtype, x) && math_holds(vb->dtype, y)
				   ? math_fit(o, out->dtype, f->whole(o, va->dtype, x, y))
				   : unknown(o);
		}
		if (fold_usable(r, n, onnx_dtype_real(va->dtype))) {
			op_set_ints(o, 0, r, n);
			return;
		}
	}
	const double *ra = onnx_dtype_real(va->dtype) ? op_reals(o, a, &na) : NULL;
	const double *rb = ra ? op_reals(o, b, &nb) : NULL;
	double *r = ra && rb && f->real ? mem_arena_array(o->arena, n, sizeof *r) : NULL;
	if (!r)
		return;
	for (size_t i = 0; i < n; i++) {
		r[i] = f->real(o, ra[op_source(va, out, i)], rb[op_source(vb, out, i)]);
		/* Rounded once more from a double, which has at least twice the digits and two,
		 * a result is the same as if rounded once (Figueroa 1995). */
		if ((out->dtype != ONNX_BOOL && !float_format_round(out->dtype, false, &r[i])) ||
		    (isnan(r[i]) && strcmp(o->row->name, "Pow") == 0))
			return;
	}
	set_reals(o, r, n);
}

/* --- rules --- */

static void unary(op *o, int64_t dtype)
{
	const val *x = op_in(o, 0);

	op_set_typed(o, dtype);
	if (x && (x->ints || x->reals))
		fold_binary(o, 0, 0);
}

static void shape_unary(op *o)
{
	unary(o, op_type(o, 0, 0));
}

static void shape_unary_bool(op *o)
{
	unary(o, ONNX_BOOL);
}

/* Before opset 7 the second operand is broadcast over dimensions of the first from `axis` on, if
 * `broadcast` is set, and the result always has the shape of the first. */
static bool old_broadcast(op *o, int64_t dtype)
{
	const val *a;

	if (o->opset <= 0 || o->opset >= 7)
		return false;
	a = op_need(o, 0);
	if (a)
		op_set(o, 0, dtype, a->rank, a->dims);
	return true;
}

static void binary(op *o, int64_t dtype)
{
	const val *b = op_in(o, 1);
	sym_int n = b && b->kind == VAL_TENSOR && b->rank >= 0 ? op_elements(o, b) : sym_const(0);

	if (!op_in(o, 1)) {
		op_unknown(o, "its second input is missing");
		return;
	}
	if (old_broadcast(o, dtype)) {
		/* The contents are followed only where the second operand is one number, for which
		 * it does not matter how it is spread. */
		if (sym_is(n, 1))
			fold_binary(o, 0, 1);
		return;
	}
	if (dtype == ONNX_BOOL)
		shape_broadcast_bool(o);
	else
		shape_broadcast(o);
	if (op_out(o, 0) && op_out(o, 0)->rank >= 0)
		fold_binary(o, 0, 1);
}

static void shape_binary(op *o)
{
	const val *a = op_in(o, 0);

	binary(o, a ? a->dtype : 0);
	if (strcmp(o->node->op, "Pow") != 0) /* its exponent may have another type */
		op_one_type(o, NULL, 2);
}

static void shape_compare(op *o)
{
	binary(o, ONNX_BOOL);
	op_one_type(o, NULL, 2);
}

/* Contents of more than two inputs: each further input has the shape of the output, or one element.
 */
static void fold_variadic(op *o)
{
	const fold *f = o->row->form;
	const val *out = op_out(o, 0);
	size_t n = out ? out->n : 0;

	if (!f || !out || !(out->ints) || n > ONNX_INTS_MAX)
		return;
	sym_int *r = op_dims(o, n);
	memcpy(r, out->ints, n * sizeof *r);
	op_out(o, 0)->ints = NULL;
	op_out(o, 0)->n = 0;
	for (size_t k = 2; k < o->made->nin; k++) {
		size_t m = 0;
		const sym_int *x = math_whole(o, k, &m);
		if (!x || (m != n && m != 1))
			return;
		for (size_t i = 0; i < n; i++)
			r[i] = math_fit(o, out->dtype,
					f->whole(o, out->dtype, r[i], x[m == 1 ? 0 : i]));
	}
	if (fold_usable(r, n, onnx_dtype_real(out->dtype)))
		op_set_ints(o, 0, r, n);
}

static void shape_variadic(op *o)
{
	shape_broadcast(o);
	op_one_type(o, NULL, o->made->nin);
	if (!op_out(o, 0) || op_out(o, 0)->rank < 0)
		return;
	const val *first = op_in(o, 0);
	if (o->made->nin == 1 && first && (first->ints || first->reals)) {
		if (first->ints)
			op_set_ints(o, 0, first->ints, first->n);
		else
			op_set_reals(o, 0, first->reals, first->n);
		return;
	}
	/* The first two inputs make the contents that the further ones change. */
	if (o->made->nin > 1)
		fold_binary(o, 0, 1);
	if (o->made->nin > 2)
		fold_variadic(o);
	if (o->made->nin > 2 && op_out(o, 0)->reals) {
		op_out(o, 0)->reals = NULL;
		op_out(o, 0)->n = 0;
	}
}

static void cost_variadic(op *o)
{
	op_cost_flops(
	    o, op_times(o, o->made->nin ? (int64_t)o->made->nin - 1 : 0, op_elements_out(o)));
}

static void cost_mean(op *o)
{
	op_cost_flops(o, op_times(o, (int64_t)o->made->nin, op_elements_out(o)));
}

#define ELEMENTWISE(op, rule)                           \
	{                                               \
		op, rule, cost_each, 1, .how = HOW_EACH \
	}
#define FOLD(op, rule, whole, real)                                            \
	{                                                                      \
		op, rule, cost_each, 1, .how = HOW_EACH, .form = &(const fold) \
		{                                                              \
			whole, real                                            \
		}                                                              \
	}
#define LESS_ONE "FLOPs per output element: one less than there are inputs"

static const op_row math_fold_rows[] = {
    FOLD("Abs", shape_unary, whole_abs, real_abs),
    ELEMENTWISE("Acos", shape_unary),
    ELEMENTWISE("Acosh", shape_unary),
    FOLD("Add", shape_binary, whole_add, real_add),
    FOLD("And", shape_compare, whole_and, NULL),
    ELEMENTWISE("Asin", shape_unary),
    ELEMENTWISE("Asinh", shape_unary),
    ELEMENTWISE("Atan", shape_unary),
    ELEMENTWISE("Atanh", shape_unary),
    FOLD("BitShift", shape_binary, whole_shift, NULL),
    FOLD("BitwiseAnd", shape_binary, whole_bit_and, NULL),
    FOLD("BitwiseNot", shape_unary, whole_bit_not, NULL),
    FOLD("BitwiseOr", shape_binary, whole_bit_or, NULL),
    FOLD("BitwiseXor", shape_binary, whole_bit_xor, NULL),
    FOLD("Ceil", shape_unary, whole_same, real_ceil),
    ELEMENTWISE("Cos", shape_unary),
    ELEMENTWISE("Cosh", shape_unary),
    FOLD("Div", shape_binary, whole_div, real_div),
    FOLD("Equal", shape_compare, whole_equal, real_equal),
    ELEMENTWISE("Erf", shape_unary),
    ELEMENTWISE("Exp", shape_unary),
    FOLD("Floor", shape_unary, whole_same, real_floor),
    FOLD("Greater", shape_compare, whole_greater, real_greater),
    FOLD("GreaterOrEqual", shape_compare, whole_greater_equal, real_greater_equal),
    FOLD("IsInf", shape_unary_bool, whole_neither, real_is_inf),
    FOLD("IsNaN", shape_unary_bool, whole_neither, real_is_nan),
    FOLD("Less", shape_compare, whole_less, real_less),
    FOLD("LessOrEqual", shape_compare, whole_less_equal, real_less_equal),
    ELEMENTWISE("Log", shape_unary),
    {"Max", shape_variadic, cost_variadic, .form = &(const fold){whole_max, real_max},
     .how = LESS_ONE},
    {"Mean", shape_variadic, cost_mean,
     .how = "FLOPs per output element: one for each input: the additions and a division"},
    {"Min", shape_variadic, cost_variadic, .form = &(const fold){whole_min, real_min},
     .how = LESS_ONE},
    FOLD("Mod", shape_binary, whole_mod, real_mod),
    FOLD("Mul", shape_binary, whole_mul, real_mul),
    FOLD("Neg", shape_unary, whole_neg, real_neg),
    FOLD("Not", shape_unary, whole_not, NULL),
    FOLD("Or", shape_compare, whole_or, NULL),
    FOLD("Pow", shape_binary, whole_pow, real_pow),
    FOLD("Reciprocal", shape_unary, NULL, real_reciprocal),
    FOLD("Round", shape_unary, whole_same, real_round),
    FOLD("Sign", shape_unary, whole_sign, real_sign),
    ELEMENTWISE("Sin", shape_unary),
    ELEMENTWISE("Sinh", shape_unary),
    FOLD("Sqrt", shape_unary, NULL, real_sqrt),
    FOLD("Sub", shape_binary, whole_sub, real_sub),
    {"Sum", shape_variadic, cost_variadic, .form = &(const fold){whole_add, real_add},
     .how = LESS_ONE},
    ELEMENTWISE("Tan", shape_unary),
    FOLD("Xor", shape_compare, whole_xor, NULL),
};

const op_family op_family_math_fold = {"", math_fold_rows,
				       sizeof math_fold_rows / sizeof *math_fold_rows};
