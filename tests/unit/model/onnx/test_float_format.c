/* SPDX-License-Identifier: Apache-2.0 */
/* The floating-point types of ONNX: values of bit patterns, and rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/onnx/float_format.h"

#include <math.h>

enum { F32 = 1, F16 = 10, F64 = 11, BF16 = 16, E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ };

static bool same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static double rounded(int64_t type, bool saturate, double x)
{
	assert_true(float_format_round(type, saturate, &x));
	return x;
}

static double value(int64_t type, uint64_t bits)
{
	double v = 0;

	assert_true(float_format_decode(type, bits, &v));
	return v;
}

/* Values from the tables in the formats' specifications. */
static void bits_have_values(void **state)
{
	static const struct {
		int64_t type;
		uint64_t bits;
		double value;
	} rows[] = {
	    {F16, 0x3c00, 1},
	    {F16, 0x7bff, 65504},
	    {F16, 0x0001, 0x1p-24},
	    {F16, 0xfc00, -INFINITY},
	    {F16, 0x7e00, NAN},
	    {F16, 0x3555, 0x1.554p-2},
	    {BF16, 0x3f80, 1},
	    {BF16, 0x7f7f, 0x1.fep127},
	    {BF16, 0x0001, 0x1p-133},
	    {BF16, 0x8000, -0.0},
	    {F32, 0x3fc00000, 1.5},
	    {F32, 1, 0x1p-149},
	    {F64, 0x3ff8000000000000, 1.5},
	    {F64, 1, 0x1p-1074},
	    {F64, 0x7fefffffffffffff, 0x1.fffffffffffffp1023},
	    {E4M3FN, 0x7e, 448},
	    {E4M3FN, 0x7f, NAN},
	    {E4M3FN, 0x01, 0x1p-9},
	    {E4M3FN, 0x80, -0.0},
	    {E4M3FN, 0x08, 0x1p-6},
	    {E4M3FNUZ, 0x7f, 240},
	    {E4M3FNUZ, 0x80, NAN},
	    {E4M3FNUZ, 0x01, 0x1p-10},
	    {E5M2, 0x7b, 57344},
	    {E5M2, 0x7c, INFINITY},
	    {E5M2, 0x7d, NAN},
	    {E5M2, 0x01, 0x1p-16},
	    {E5M2FNUZ, 0x7f, 57344},
	    {E5M2FNUZ, 0x80, NAN},
	    {E5M2FNUZ, 0x01, 0x1p-17},
	    {E5M2FNUZ, 0xff, -57344},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_true(same(value(rows[i].type, rows[i].bits), rows[i].value));
}

/* float16: NumPy's float16(x); the others computed by hand. */
static void numbers_are_rounded(void **state)
{
	static const struct {
		int64_t type;
		double x, saturated, plain;
	} rows[] = {
	    {F16, 1.0 / 3, 0.333251953125, 0.333251953125},
	    {F16, 65519.99, 65504, 65504},
	    {F16, 65520, INFINITY, INFINITY},
	    {F16, -1e300, -INFINITY, -INFINITY},
	    {F16, 0x1p-25, 0, 0},
	    {F16, -0x1p-25, -0.0, -0.0},
	    {F16, 0x1.8p-25, 0x1p-24, 0x1p-24},
	    {F16, 0x1.0000001p-25, 0x1p-24, 0x1p-24},
	    {F16, 0x1.002p0, 1, 1},
	    {F16, 0x1.006p0, 0x1.008p0, 0x1.008p0},
	    {F16, NAN, NAN, NAN},
	    {BF16, 1.0 / 3, 0.333984375, 0.333984375},
	    {BF16, 3.39e38, 0x1.fep127, 0x1.fep127},
	    {BF16, 3.4e38, INFINITY, INFINITY},
	    {BF16, 0x1p-134, 0, 0},
	    {F32, 0.1, 0x1.99999ap-4, 0x1.99999ap-4},
	    {F32, 1e39, INFINITY, INFINITY},
	    {F64, 0.1, 0.1, 0.1},
	    {F64, -0.0, -0.0, -0.0},
	    {E4M3FN, 1.0 / 3, 0.34375, 0.34375},
	    {E4M3FN, 463.9, 448, 448},
	    {E4M3FN, 464, 448, 448},
	    {E4M3FN, 464.1, 448, NAN},
	    {E4M3FN, -INFINITY, -448, NAN},
	    {E4M3FN, 0x1p-10, 0, 0},
	    {E4M3FN, 0x1.1p-10, 0x1p-9, 0x1p-9},
	    {E4M3FN, -0.0, -0.0, -0.0},
	    {E4M3FNUZ, 247.9, 240, 240},
	    {E4M3FNUZ, 248, 240, NAN},
	    {E4M3FNUZ, -0.0, 0, 0},
	    {E4M3FNUZ, -0x1p-11, 0, 0},
	    {E5M2, 1.0 / 3, 0.3125, 0.3125},
	    {E5M2, 61439, 57344, 57344},
	    {E5M2, 61440, 57344, INFINITY},
	    {E5M2, INFINITY, 57344, INFINITY},
	    {E5M2FNUZ, 61440, 57344, NAN},
	    {E5M2FNUZ, -1e9, -57344, NAN},
	    {E5M2FNUZ, 0x1p-18, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_true(same(rounded(rows[i].type, true, rows[i].x), rows[i].saturated));
		assert_true(same(rounded(rows[i].type, false, rows[i].x), rows[i].plain));
	}
	assert_false(float_format_is(7));
	assert_false(float_format_is(-1));
	assert_false(float_format_round(24, true, &(double){1}));
}

/* Every number of a type rounds to itself; between two adjacent numbers the nearer one, or the even
 * one in a tie. */
static void every_number_of_16_and_8_bits(void **state)
{
	static const struct {
		int64_t type;
		uint64_t last; /* bits of the largest number */
	} rows[] = {{F16, 0x7bff},    {BF16, 0x7f7f}, {E4M3FN, 0x7e},
		    {E4M3FNUZ, 0x7f}, {E5M2, 0x7b},   {E5M2FNUZ, 0x7f}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (uint64_t bits = 0; bits < rows[i].last; bits++) {
			const double a = value(rows[i].type, bits),
				     b = value(rows[i].type, bits + 1), middle = (a + b) / 2;

			assert_true(a < b);
			assert_true(same(rounded(rows[i].type, false, a), a));
			assert_true(rounded(rows[i].type, false, -b) == -b);
			assert_true(rounded(rows[i].type, false, middle) == (bits % 2 ? b : a));
			assert_true(rounded(rows[i].type, false, nextafter(middle, 0)) == a);
			assert_true(rounded(rows[i].type, false, nextafter(middle, INFINITY)) == b);
		}
	}
}

int test_float_format(void);
int test_float_format(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bits_have_values),
	    cmocka_unit_test(numbers_are_rounded),
	    cmocka_unit_test(every_number_of_16_and_8_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
