/* float_format.c - IEEE 754's binary formats, bfloat16, and the types of 8 bits of
 * https://onnx.ai/onnx/technical/float8.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/float_format.h"

#include <math.h>
#include <stddef.h>

/* The meaning of the bit patterns with the largest exponent. */
typedef enum float_specials {
	FLOAT_IEEE,	   /* infinity and NaN */
	FLOAT_FINITE,	   /* numbers, except the largest mantissa: NaN */
	FLOAT_FINITE_ZERO, /* numbers; NaN is what would be -0 */
} float_specials;

typedef struct float_format {
	int exponent, mantissa, bias; /* bits; a format without them does not exist */
	float_specials specials;
} float_format;

/* By their number in ONNX (base/dtype.c). */
static const float_format formats[] = {
    [1] = {8, 23, 127, FLOAT_IEEE},    [10] = {5, 10, 15, FLOAT_IEEE},
    [11] = {11, 52, 1023, FLOAT_IEEE}, [16] = {8, 7, 127, FLOAT_IEEE},
    [17] = {4, 3, 7, FLOAT_FINITE},    [18] = {4, 3, 8, FLOAT_FINITE_ZERO},
    [19] = {5, 2, 15, FLOAT_IEEE},     [20] = {5, 2, 16, FLOAT_FINITE_ZERO},
};

static const float_format *float_format_find(int64_t onnx)
{
	if (onnx < 0 || (size_t)onnx >= sizeof formats / sizeof *formats || !formats[onnx].mantissa)
		return NULL;
	return &formats[onnx];
}

bool float_format_is(int64_t onnx)
{
	return float_format_find(onnx) != NULL;
}

static double float_largest(const float_format *f)
{
	const int top = (1 << f->exponent) - 1 - f->bias - (f->specials == FLOAT_IEEE);
	const int missing = f->specials == FLOAT_FINITE ? 2 : 1;

	return ldexp(2 - ldexp(missing, -f->mantissa), top);
}

double float_format_even(double x)
{
	double r = floor(x), rest = x - r;

	if (rest < 0.5 || (rest == 0.5 && fmod(r, 2) == 0))
		return r;
	return r + 1;
}

bool float_format_round(int64_t onnx, bool saturate, double *x)
{
	const float_format *f = float_format_find(onnx);
	int e;

	if (!f)
		return false;
	if (isnan(*x))
		return true;
	const bool negative = signbit(*x), small = f->exponent + f->mantissa < 8;
	const double largest = float_largest(f);
	double v = fabs(*x);

	if (f->mantissa < 52 && v > 0 && !isinf(v)) {
		frexp(v, &e);
		const int least = 1 - f->bias, unit = (e - 1 > least ? e - 1 : least) - f->mantissa;

		v = ldexp(float_format_even(ldexp(v, -unit)), unit);
	}
	if (v > largest)
		v = small && saturate		? largest
		    : f->specials == FLOAT_IEEE ? (double)INFINITY
						: (double)NAN;
	if (v == 0 && f->specials == FLOAT_FINITE_ZERO)
		*x = 0;
	else
		*x = negative ? -v : v;
	return true;
}

bool float_format_decode(int64_t onnx, uint64_t bits, double *ret)
{
	const float_format *f = float_format_find(onnx);

	if (!f)
		return false;
	const int width = f->exponent + f->mantissa;
	const uint64_t mantissa = bits & (((uint64_t)1 << f->mantissa) - 1);
	const uint64_t top = ((uint64_t)1 << f->exponent) - 1;
	const uint64_t exponent = (bits >> f->mantissa) & top;
	const bool negative = (bits >> width) & 1;
	const uint64_t one = exponent ? (uint64_t)1 << f->mantissa : 0; /* the leading bit */
	double v =
	    ldexp((double)(mantissa | one), (exponent ? (int)exponent : 1) - f->bias - f->mantissa);

	if (f->specials == FLOAT_IEEE && exponent == top)
		v = mantissa ? (double)NAN : (double)INFINITY;
	else if (f->specials == FLOAT_FINITE && exponent == top &&
		 mantissa == ((uint64_t)1 << f->mantissa) - 1)
		v = (double)NAN;
	else if (f->specials == FLOAT_FINITE_ZERO && negative && v == 0)
		v = (double)NAN;
	*ret = negative ? -v : v;
	return true;
}
