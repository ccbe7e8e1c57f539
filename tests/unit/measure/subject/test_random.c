/* test_random.c - random inputs, value by value. The expected numbers were computed by an
 * independent SplitMix64 with integers of any length.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const dck_dtype float32 = {DCK_DTYPE_FLOAT, 32, 1};

static void floats_are_pinned(void **state)
{
	static const uint32_t f32[] = {0x3e892216, 0x3ec3762d, 0x3e854964, 0xbf3a21ed};
	static const double f64[] = {0x1.12442c8a6bc77p-2, 0x1.86ec5a59b220fp-2,
				     0x1.0a92c8c38e31ep-2, -0x1.7443d9121e6fap-1};
	static const uint16_t f16[] = {0x3449, 0x361c, 0x342a, 0xb9d1};
	static const uint16_t bf16[] = {0x3e89, 0x3ec3, 0x3e85, 0xbf3a};
	float f[4];
	double d[4];
	uint16_t h[4];

	(void)state;
	assert_true(random_fill(f, 4, float32, 0, 0, 1, 0));
	assert_memory_equal(f, f32, sizeof f);
	assert_true(random_fill(d, 4, (dck_dtype){DCK_DTYPE_FLOAT, 64, 1}, 0, 0, 1, 0));
	assert_memory_equal(d, f64, sizeof d);
	assert_true(random_fill(h, 4, (dck_dtype){DCK_DTYPE_FLOAT, 16, 1}, 0, 0, 1, 0));
	assert_memory_equal(h, f16, sizeof h);
	assert_true(random_fill(h, 4, (dck_dtype){DCK_DTYPE_BFLOAT, 16, 1}, 0, 0, 1, 0));
	assert_memory_equal(h, bf16, sizeof h);
	/* A complex number takes two of them. */
	assert_true(random_fill(f, 2, (dck_dtype){DCK_DTYPE_COMPLEX, 64, 1}, 0, 0, 1, 0));
	assert_memory_equal(f, f32, sizeof f);
	assert_true(random_fill(d, 2, (dck_dtype){DCK_DTYPE_COMPLEX, 128, 1}, 0, 0, 1, 0));
	assert_memory_equal(d, f64, sizeof d);
}

static void integers_are_pinned(void **state)
{
	static const int64_t rows[] = {26336, 11237, 28799, 1381, 23728, 6687};
	static const int8_t bytes[] = {-15, 46, -69, -18, 93, -49, 101, -101};
	static const int16_t words[] = {-3, -5, 1, 5, 1, -1, -3, 3};
	static const uint8_t truths[] = {1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 1};
	int64_t i64[6];
	int32_t i32[6];
	int8_t i8[8];
	int16_t i16[8];
	uint8_t u8[16];

	(void)state;
	assert_true(random_fill(i64, 6, (dck_dtype){DCK_DTYPE_INT, 64, 1}, 0, 30521, 1, 0));
	assert_memory_equal(i64, rows, sizeof rows);
	assert_true(random_fill(i32, 6, (dck_dtype){DCK_DTYPE_INT, 32, 1}, 0, 30521, 1, 0));
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(i32[i], rows[i]);
	assert_true(random_fill(i8, 8, (dck_dtype){DCK_DTYPE_INT, 8, 1}, -128, 127, 7, 3));
	assert_memory_equal(i8, bytes, sizeof bytes);
	assert_true(random_fill(i16, 8, (dck_dtype){DCK_DTYPE_INT, 16, 1}, -5, 5, 42, 5));
	assert_memory_equal(i16, words, sizeof words);
	assert_true(random_fill(u8, 16, (dck_dtype){DCK_DTYPE_BOOL, 8, 1}, -7, 99, 1, 0));
	assert_memory_equal(u8, truths, sizeof truths);
}

/* The high half of a product of two 64-bit numbers, all carries included. */
static void wide_ranges_are_pinned(void **state)
{
	static const uint64_t raw[] = {0xdce423fc82c0d5b8, 0x5e41ab087439611e, 0xf18d6ce93d6cf1ee,
				       0x0b95f66d327e8d78};
	static const uint64_t half[] = {0x6e97ea6d272ea611, 0x2f30fbab7374f53d, 0x78f0191b0e099586,
					0x05ccf75faecbcad5};
	static const uint64_t most[] = {0xdce423fba5dcb1bc, 0x5e41ab0815f7b615, 0xf18d6ce84bdf8505,
					0x0b95f66d26e8970a};
	const uint64_t least = (uint64_t)INT64_MIN;
	const dck_dtype t = {DCK_DTYPE_INT, 64, 1};
	uint64_t v[4];

	(void)state;
	assert_true(random_fill(v, 4, t, INT64_MIN, INT64_MAX, 1, 0));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(v[i], least + raw[i]);
	assert_true(random_fill(v, 4, t, INT64_MIN, 0x002bdc545d6b4b86, 1, 0));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(v[i], least + half[i]);
	assert_true(random_fill(v, 4, t, INT64_MIN, 0x7fffffff00000000, 1, 0));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(v[i], least + most[i]);
	assert_true(random_fill(v, 4, t, -9, -9, 1, 0));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(v[i], (uint64_t)-9);
}

static void floats_are_normal_and_never_denormal(void **state)
{
	enum { N = 200000 };
	static float f[N];
	static uint16_t h[N];
	double sum = 0, squares = 0, most = 0;
	size_t beyond = 0;

	(void)state;
	assert_true(random_fill(f, N, float32, 0, 0, 12, 3));
	for (size_t i = 0; i < N; i++) {
		sum += (double)f[i];
		squares += (double)f[i] * (double)f[i];
		most = fmax(most, fabs((double)f[i]));
		beyond += fabsf(f[i]) > 1.96f;
		assert_true(f[i] == 0 || fabsf(f[i]) > 0x1p-126f);
	}
	/* Five standard errors: 1/sqrt(N); for the squares sqrt((kurtosis - 1) / N). */
	assert_true(fabs(sum / N) < 0.0112);
	assert_true(fabs(squares / N - 1) < 0.0158);
	assert_true(most < 4.9 && most > 3.5);
	assert_in_range(beyond, N / 1000 * 45, N / 1000 * 55);
	assert_true(random_fill(h, N, (dck_dtype){DCK_DTYPE_FLOAT, 16, 1}, 0, 0, 12, 3));
	for (size_t i = 0; i < N; i++) {
		const unsigned exponent = (h[i] >> 10) & 31u;

		assert_true(exponent < 31 && (exponent > 0 || (h[i] & 0x3ff) == 0));
	}
}

static void seed_stream_and_position_alone_decide(void **state)
{
	float a[64], b[64];

	(void)state;
	random_fill(a, 64, float32, 0, 0, 1, 0);
	random_fill(b, 32, float32, 0, 0, 1, 0);
	assert_memory_equal(a, b, 32 * sizeof *b);
	random_fill(b, 64, float32, 0, 0, 2, 0);
	assert_memory_not_equal(a, b, sizeof a);
	random_fill(b, 64, float32, 0, 0, 1, 1);
	assert_memory_not_equal(a, b, sizeof a);
	assert_true(random_fill(NULL, 0, float32, 0, 0, 1, 0));
}

static void types_without_values_are_refused(void **state)
{
	static const dck_dtype types[] = {
	    {DCK_DTYPE_OTHER, 0, 1},
	    {DCK_DTYPE_FLOAT, 8, 1},
	    {DCK_DTYPE_BFLOAT, 32, 1},
	    {DCK_DTYPE_COMPLEX, 32, 1},
	    {DCK_DTYPE_INT, 4, 1},
	    {DCK_DTYPE_UINT, 128, 1},
	    {3, 64, 1},
	};
	char room[16];

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++)
		assert_false(random_fill(room, 1, types[i], 0, 1, 1, 0));
}

int test_random(void);
int test_random(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(floats_are_pinned),
	    cmocka_unit_test(integers_are_pinned),
	    cmocka_unit_test(wide_ranges_are_pinned),
	    cmocka_unit_test(floats_are_normal_and_never_denormal),
	    cmocka_unit_test(seed_stream_and_position_alone_decide),
	    cmocka_unit_test(types_without_values_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
