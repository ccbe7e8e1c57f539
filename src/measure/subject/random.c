/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/random.h"
#include "base/rng.h"
#include <string.h>

typedef struct generator {
	uint64_t key, counter;
} generator;

static uint64_t random_next(generator *g)
{
	return rng_at(g->key, g->counter++);
}

/* Sum of eight 16-bit uniforms, standardised (Irwin-Hall): near enough to normal for inputs,
 * bounded by 4.9, and exact on every platform because it needs no library function. */
static double normal(generator *g)
{
	uint64_t a = random_next(g), b = random_next(g), sum = 0;

	for (int i = 0; i < 4; i++) {
		sum += (a >> (16 * i)) & 0xffff;
		sum += (b >> (16 * i)) & 0xffff;
	}
	return ((double)sum - 8 * 32767.5) / (65536 * 0.816496580927726); /* sqrt(8/12) */
}

/* In [0, 1), of 53 bits. */
static double random_uniform(generator *g)
{
	return (double)(random_next(g) >> 11) * 0x1p-53;
}

/* The high 64 bits of the product, by halves, since C has no type of 128. */
static uint64_t product_high(uint64_t a, uint64_t b)
{
	const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	const uint64_t middle =
	    a1 * b0 + (a0 * b0 >> 32); /* at most 2^64 - 2^32: no carry is lost */

	return a1 * b1 + (middle >> 32) + ((a0 * b1 + (uint32_t)middle) >> 32);
}

/* Uniform in [0, n): the high half of the product (Lemire 2019, without its rejection: the bias is
 * below 2^-32 for the ranges of indices). 0: all of 64 bits. */
static uint64_t below(generator *g, uint64_t n)
{
	return n == 0 ? random_next(g) : product_high(random_next(g), n);
}

static uint32_t float_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

/* Returns a number below 2^-14 in steps of 2^-24, rounded to nearest even. */
static uint32_t half_denormal(float magnitude)
{
	const float steps = magnitude * 0x1p24f; /* exact */
	const uint32_t whole = (uint32_t)steps;
	const float rest = steps - (float)whole;

	return whole + (rest > 0.5f || (rest >= 0.5f && (whole & 1)));
}

/* Round to nearest even; the values here are far from overflow. Without `denormal` small ones
 * become 0: such numbers would be slow for reasons that no real input has. */
static uint16_t random_half_bits(float f, bool denormal)
{
	uint32_t u = float_bits(f), sign = (u >> 16) & 0x8000, magnitude = u & 0x7fffffff;

	if (magnitude < 0x38800000) /* 2^-14 */
		return (uint16_t)(sign | (denormal ? half_denormal(sign ? -f : f) : 0));
	magnitude += 0xfff + ((magnitude >> 13) & 1);
	return (uint16_t)(sign | ((magnitude - 0x38000000) >> 13));
}

static uint16_t random_bfloat_bits(float f)
{
	uint32_t u = float_bits(f);

	return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

/* span NULL: standard normal; else uniform from span[0] to span[1]. */
static bool fill_floats(void *p, size_t n, dck_dtype t, const double *span, generator *g)
{
	for (size_t i = 0; i < n; i++) {
		double v = span ? span[0] + (span[1] - span[0]) * random_uniform(g) : normal(g);

		if (t.code == DCK_DTYPE_BFLOAT && t.bits == 16)
			((uint16_t *)p)[i] = random_bfloat_bits((float)v);
		else if (t.code == DCK_DTYPE_FLOAT && t.bits == 16)
			((uint16_t *)p)[i] = random_half_bits((float)v, span != NULL);
		else if ((t.code == DCK_DTYPE_FLOAT && t.bits == 32) ||
			 (t.code == DCK_DTYPE_COMPLEX && t.bits == 64))
			((float *)p)[i] = (float)v;
		else if ((t.code == DCK_DTYPE_FLOAT && t.bits == 64) ||
			 (t.code == DCK_DTYPE_COMPLEX && t.bits == 128))
			((double *)p)[i] = v;
		else
			return false;
	}
	return true;
}

static bool fill_integers(void *p, size_t n, unsigned bits, int64_t low, int64_t high, generator *g)
{
	const uint64_t span = (uint64_t)high - (uint64_t)low + 1; /* 0: all of 64 bits */

	for (size_t i = 0; i < n; i++) {
		uint64_t v = (uint64_t)low + below(g, span);

		switch (bits) {
		case 8:
			((uint8_t *)p)[i] = (uint8_t)v;
			break;
		case 16:
			((uint16_t *)p)[i] = (uint16_t)v;
			break;
		case 32:
			((uint32_t *)p)[i] = (uint32_t)v;
			break;
		case 64:
			((uint64_t *)p)[i] = v;
			break;
		default:
			return false;
		}
	}
	return true;
}

static generator generator_init(uint64_t seed, uint64_t stream)
{
	return (generator){.key = rng_at(seed, stream + 1)};
}

bool random_fill(void *p, size_t n, dck_dtype t, int64_t low, int64_t high, uint64_t seed,
		 uint64_t stream)
{
	generator g = generator_init(seed, stream);

	switch (t.code) {
	case DCK_DTYPE_FLOAT:
	case DCK_DTYPE_BFLOAT:
		return fill_floats(p, n, t, NULL, &g);
	case DCK_DTYPE_COMPLEX:
		return fill_floats(p, 2 * n, t, NULL, &g);
	case DCK_DTYPE_INT:
	case DCK_DTYPE_UINT:
		return fill_integers(p, n, t.bits, low, high, &g);
	case DCK_DTYPE_BOOL:
		return fill_integers(p, n, 8, 0, 1, &g);
	}
	return false;
}

bool random_fill_integers(void *p, size_t n, dck_dtype t, int64_t low, int64_t high, uint64_t seed,
			  uint64_t stream)
{
	generator g = generator_init(seed, stream);

	return fill_integers(p, n, t.bits, low, high, &g);
}

bool random_fill_reals(void *p, size_t n, dck_dtype t, double low, double high, uint64_t seed,
		       uint64_t stream)
{
	const double span[2] = {low, high};
	generator g = generator_init(seed, stream);

	return (t.code == DCK_DTYPE_FLOAT || t.code == DCK_DTYPE_BFLOAT) &&
	       fill_floats(p, n, t, span, &g);
}
