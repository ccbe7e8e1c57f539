/* tensor_compare.c - element-wise comparison of two tensors: absolute, relative, ULP and cosine
 * distance.
 *
 * compared_add() makes one pass and adds to the sums of compared_sum, which may cover any number of
 * tensors; another pass is needed before it where atol follows from the reference (rtol times its
 * root mean square). number_types[] has a loader for each element type; elements and running sums
 * are long double, so that 64-bit integers stay exact. Time is linear, memory constant.
 *
 * An element is within the tolerance if |b - a| <= atol + rtol |a|, as in numpy.allclose. NaN
 * equals NaN; any other pair with NaN or Inf that is not equal is outside. The ULP distance is the
 * difference of bit patterns mapped to ordered integers. compared_convert() rounds to nearest even,
 * with subnormals and overflow, for float16 and bfloat16 too (IEEE 754-2019, 4.3.1).
 *
 * These are pure functions. The caller guarantees equal shapes and types of number_types[].
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/verify/tensor_compare.h"
#include "base/dtype.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- elements as numbers. A long double is exact for 64-bit integers where its mantissa has 64
 * bits or more, as on x86-64 and AArch64. */

typedef long double (*load_fn)(const void *data, size_t i);

#define LOADER(name, type)                                               \
	static long double name(const void *data, size_t i)              \
	{                                                                \
		type v;                                                  \
		memcpy(&v, (const char *)data + i * sizeof v, sizeof v); \
		return (long double)v;                                   \
	}
LOADER(load_f32, float)
LOADER(load_f64, double)
LOADER(load_i8, int8_t)
LOADER(load_i16, int16_t)
LOADER(load_i32, int32_t)
LOADER(load_i64, int64_t)
LOADER(load_u8, uint8_t)
LOADER(load_u16, uint16_t)
LOADER(load_u32, uint32_t)
LOADER(load_u64, uint64_t)

static uint16_t tensor_word(const void *data, size_t i)
{
	uint16_t u;

	memcpy(&u, (const char *)data + 2 * i, sizeof u);
	return u;
}

static long double load_f16(const void *data, size_t i)
{
	const unsigned u = tensor_word(data, i), exponent = u >> 10 & 31, fraction = u & 1023;
	const double sign = u >> 15 ? -1 : 1;

	if (exponent == 31)
		return fraction ? (double)NAN : sign * HUGE_VAL;
	if (exponent == 0)
		return sign * ldexp((double)fraction, -24);
	return sign * ldexp((double)(fraction | 1024), (int)exponent - 25);
}

static long double load_bf16(const void *data, size_t i)
{
	const uint32_t u = (uint32_t)tensor_word(data, i) << 16;
	float f;

	memcpy(&f, &u, sizeof f);
	return (long double)f;
}

static long double load_bool(const void *data, size_t i)
{
	return ((const uint8_t *)data)[i] != 0;
}

/* Relative tolerances for whole networks, in which every layer rounds: float32 as ONNX's
 * own tests and PyTorch's exporter compare (rtol 1e-3), float64 as torch.testing.assert_close does;
 * the halves ten times their machine epsilon. Everything else is exact. */
static const struct number_type {
	uint8_t code, bits;
	load_fn load;
	unsigned parts; /* numbers in an element */
	double rtol;
} number_types[] = {
    {DCK_DTYPE_FLOAT, 32, load_f32, 1, 1e-3},	{DCK_DTYPE_FLOAT, 64, load_f64, 1, 1e-7},
    {DCK_DTYPE_FLOAT, 16, load_f16, 1, 1e-2},	{DCK_DTYPE_BFLOAT, 16, load_bf16, 1, 8e-2},
    {DCK_DTYPE_COMPLEX, 64, load_f32, 2, 1e-3}, {DCK_DTYPE_COMPLEX, 128, load_f64, 2, 1e-7},
    {DCK_DTYPE_INT, 8, load_i8, 1, 0},		{DCK_DTYPE_INT, 16, load_i16, 1, 0},
    {DCK_DTYPE_INT, 32, load_i32, 1, 0},	{DCK_DTYPE_INT, 64, load_i64, 1, 0},
    {DCK_DTYPE_UINT, 8, load_u8, 1, 0},		{DCK_DTYPE_UINT, 16, load_u16, 1, 0},
    {DCK_DTYPE_UINT, 32, load_u32, 1, 0},	{DCK_DTYPE_UINT, 64, load_u64, 1, 0},
    {DCK_DTYPE_BOOL, 8, load_bool, 1, 0},
};

/* Returns NULL for any other type. */
static const struct number_type *type_find(dck_dtype t)
{
	for (size_t i = 0; i < sizeof number_types / sizeof number_types[0]; i++)
		if (number_types[i].code == t.code && number_types[i].bits == t.bits)
			return &number_types[i];
	return NULL;
}

compared_limits compared_limits_of(dck_dtype a, dck_dtype b, const compared_limits *asked)
{
	const struct number_type *x = type_find(a), *y = type_find(b);
	compared_limits l = asked ? *asked : (compared_limits){NAN, NAN};

	if (isnan(l.rtol))
		l.rtol = fmax(x ? x->rtol : 0, y ? y->rtol : 0);
	return l;
}

static size_t tensor_count_of(const dck_tensor *t)
{
	size_t n = 1;

	for (int32_t d = 0; d < t->rank; d++)
		n *= (size_t)t->dim[d];
	return n;
}

bool compared_load(const dck_tensor *t, size_t first, size_t n, double *ret)
{
	const struct number_type *type = type_find(t->dtype);

	if (!type || type->parts != 1)
		return false;
	for (size_t i = 0; i < n; i++)
		ret[i] = (double)type->load(t->data, first + i);
	return true;
}

/* --- units in the last place: bit patterns of floats of one type, with the sign folded, are
 * integers in the same order. Source: Dawson, Comparing Floating Point Numbers (2012). */

static uint64_t ordered(const void *data, size_t i, unsigned bytes)
{
	const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
	uint64_t u = 0;

	if (bytes == 2)
		u = tensor_word(data, i);
	else if (bytes == 4) {
		uint32_t v;

		memcpy(&v, (const char *)data + 4 * i, sizeof v);
		u = v;
	} else {
		memcpy(&u, (const char *)data + 8 * i, sizeof u);
	}
	return u & sign ? sign - (u & (sign - 1)) : sign + u;
}

/* Returns the bytes of a number of these types, or 0 if they have no ULP distance. */
static unsigned ulp_bytes(dck_dtype a, dck_dtype b)
{
	if (a.code != b.code || a.bits != b.bits)
		return 0;
	switch (a.code) {
	case DCK_DTYPE_FLOAT:
	case DCK_DTYPE_BFLOAT:
		return a.bits / 8u;
	case DCK_DTYPE_COMPLEX:
		return a.bits / 16u;
	}
	return 0;
}

/* --- sums */

static double atol_make(const dck_tensor *a, load_fn load, size_t n, double rtol)
{
	long double sum = 0;
	uint64_t finite = 0;

	for (size_t i = 0; i < n; i++) {
		const long double v = load(a->data, i);

		if (!isfinite(v))
			continue;
		sum += v * v;
		finite++;
	}
	return finite > 0 ? rtol * (double)sqrtl(sum / (long double)finite) : 0;
}

static void worst_take(compared_sum *s, size_t i, uint64_t set, long double a, long double b,
		       double excess)
{
	if (s->differing > 1 && !(excess > s->worst_excess))
		return;
	s->worst = i;
	s->worst_set = set;
	s->worst_of_all = s->elements + i;
	s->worst_a = (double)a;
	s->worst_b = (double)b;
	s->worst_excess = excess;
}

/* Adds a pair that is not finite on both sides. */
static void strange_add(compared_sum *s, size_t i, uint64_t set, long double a, long double b)
{
	s->nan_a += isnan(a) != 0;
	s->nan_b += isnan(b) != 0;
	s->inf_a += isinf(a) != 0;
	s->inf_b += isinf(b) != 0;
	if ((isnan(a) && isnan(b)) || a == b)
		return;
	s->differing++;
	s->unlike++;
	s->outside++;
	worst_take(s, i, set, a, b, HUGE_VAL);
}

static void tensor_range_add(compared_sum *s, double a, double b)
{
	const bool first = s->finite == 0;

	s->least_a = first ? a : fmin(s->least_a, a);
	s->most_a = first ? a : fmax(s->most_a, a);
	s->least_b = first ? b : fmin(s->least_b, b);
	s->most_b = first ? b : fmax(s->most_b, b);
}

double compared_add(compared_sum *s, const dck_tensor *a, const dck_tensor *b,
		    const compared_limits *limits)
{
	const struct number_type *type = type_find(a->dtype);
	const load_fn load_a = type->load, load_b = type_find(b->dtype)->load;
	const unsigned parts = type->parts;
	const unsigned bytes = ulp_bytes(a->dtype, b->dtype);
	const size_t n = tensor_count_of(a) * parts;
	const double rtol = limits->rtol;
	const double atol = isnan(limits->atol) ? atol_make(a, load_a, n, rtol) : limits->atol;

	s->has_ulp = bytes > 0;
	for (size_t i = 0; i < n; i++) {
		const long double x = load_a(a->data, i), y = load_b(b->data, i);
		const long double size = fabsl(x);
		double apart;

		if (!isfinite(x) || !isfinite(y)) {
			strange_add(s, i / parts, s->sets, x, y);
			continue;
		}
		tensor_range_add(s, (double)x, (double)y);
		s->finite++;
		s->dot += x * y;
		s->aa += x * x;
		s->bb += y * y;
		if (size == 0)
			s->zeros++;
		if (x == y)
			continue;
		apart = (double)fabsl(y - x);
		s->differing++;
		s->sum_abs += apart;
		s->max_abs = fmax(s->max_abs, apart);
		if (size > 0) {
			s->sum_rel += apart / size;
			s->max_rel = fmax(s->max_rel, (double)(apart / size));
		}
		if (bytes > 0) {
			const uint64_t u = ordered(a->data, i, bytes),
				       v = ordered(b->data, i, bytes), ulp = u > v ? u - v : v - u;

			if (ulp > s->max_ulp)
				s->max_ulp = ulp;
		}
		const double excess = apart - (atol + rtol * (double)size);
		s->outside += excess > 0;
		worst_take(s, i / parts, s->sets, x, y, excess);
	}
	s->n += n;
	s->elements += n / parts;
	s->sets++;
	return atol;
}

#define NAN_SHARE 0.9 /* the others of fewer NaN are evidence */

/* A single finite element is not degenerate: whether it is constant is unknown. */
const char *compared_degenerate(const compared_sum *s, char *buf, size_t size)
{
	const unsigned long long n = s->n, nan = s->nan_a < s->nan_b ? s->nan_a : s->nan_b;
	const double least = fmin(s->least_a, s->least_b), most = fmax(s->most_a, s->most_b);

	if (n == 0)
		snprintf(buf, size, "it has no elements");
	else if (nan == n)
		snprintf(buf, size, "all of its %llu elements are NaN in both", n);
	else if (nan > 0 && (double)nan >= NAN_SHARE * (double)n)
		snprintf(buf, size, "%llu of its %llu elements are NaN in both", nan, n);
	else if (n > 1 && s->finite == 0)
		snprintf(buf, size, "none of its %llu elements is finite", n);
	else if (n < 2 || s->finite < n || s->least_a < s->most_a || s->least_b < s->most_b)
		return NULL;
	else if (least < most)
		mem_print(buf, size, "all of its %llu elements are %.6g, and %.6g in the other", n,
			  s->most_a, s->most_b);
	else
		mem_print(buf, size, "all of its %llu elements are %.6g in both", n, s->most_a);
	return buf;
}

double compared_mean_abs(const compared_sum *s)
{
	return s->finite > 0 ? (double)(s->sum_abs / (long double)s->finite) : NAN;
}

double compared_mean_rel(const compared_sum *s)
{
	const uint64_t n = s->finite - s->zeros;

	return n > 0 ? (double)(s->sum_rel / (long double)n) : NAN;
}

double compared_cosine_gap(const compared_sum *s)
{
	if (!(s->aa > 0) || !(s->bb > 0))
		return NAN;
	if (s->differing == s->unlike) /* all finite elements are equal */
		return 0;
	return (double)fmaxl(1 - s->dot / (sqrtl(s->aa) * sqrtl(s->bb)), 0);
}

/* --- conversion between floating types */

/* Rounds to `digits` binary digits, to nearest even. least: the smallest exponent of a last digit.
 * A result above `most` becomes infinite. */
static double tensor_round_to(double v, int digits, int least, double most)
{
	int exponent;

	if (!isfinite(v) || v == 0)
		return v;
	(void)frexp(v, &exponent);
	exponent = exponent - digits > least ? exponent - digits : least;
	v = ldexp(nearbyint(ldexp(v, -exponent)), exponent);
	return fabs(v) > most ? copysign(HUGE_VAL, v) : v;
}

static uint16_t tensor_half_bits(double v)
{
	const uint16_t sign = signbit(v) ? 0x8000 : 0;
	int exponent;

	v = fabs(tensor_round_to(v, 11, -24, 65504));
	if (isnan(v))
		return 0x7e00;
	if (isinf(v))
		return sign | 0x7c00;
	if (v < 0x1p-14)
		return (uint16_t)(sign | (uint16_t)ldexp(v, 24));
	(void)frexp(v, &exponent);
	return (uint16_t)(sign | (uint16_t)((exponent + 14) << 10) |
			  ((uint16_t)ldexp(v, 11 - exponent) & 1023));
}

static uint16_t tensor_bfloat_bits(double v)
{
	const float f = (float)tensor_round_to(v, 8, -133, 0x1.fep127);
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return (uint16_t)(u >> 16 | (isnan(v) ? 0x40u : 0));
}

bool compared_convert(dck_tensor *to, const dck_tensor *from)
{
	const struct number_type *type = type_find(from->dtype);

	if (!dtype_is_float(to->dtype) || !dtype_is_float(from->dtype) || !type)
		return false;
	for (size_t i = 0, n = tensor_count_of(from); i < n; i++) {
		const double v = (double)type->load(from->data, i);

		if (to->dtype.bits == 64)
			((double *)to->data)[i] = v;
		else if (to->dtype.bits == 32)
			((float *)to->data)[i] = (float)v;
		else
			((uint16_t *)to->data)[i] = to->dtype.code == DCK_DTYPE_BFLOAT
							? tensor_bfloat_bits(v)
							: tensor_half_bits(v);
	}
	return true;
}
