/* fill.c - counter-based generation of weights: value i of parameter s depends only on (seed, s,
 * i), so they can be made in any order and in pieces.
 *
 * Bits: base/rng.h. Normal values: the sum of four 16-bit uniforms of
 * one such word (Irwin-Hall, n = 4), which has the right mean and deviation, lighter tails
 * (none past 3.46 deviations) and costs one word: weights need no better, and half a gigabyte of
 * them takes well under a second.
 *
 * Each value is one integer times one float (or plus one), each rounded once: no compiler or
 * processor can make other bytes of it. No value is subnormal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/onnx_builder.h"
#include "base/rng.h"

#include <string.h>

/* sqrt(4 * (65536^2 - 1) / 12): the deviation of the sum. */
#define SUM_DEVIATION 37837.226f
#define SUM_MEAN      131070

static void put32(uint8_t *to, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	to[0] = (uint8_t)bits;
	to[1] = (uint8_t)(bits >> 8);
	to[2] = (uint8_t)(bits >> 16);
	to[3] = (uint8_t)(bits >> 24);
}

static void fill_normal(uint64_t key, uint64_t from, size_t count, float scale, uint8_t *to)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t w = rng_at(key, from + i);
		int32_t sum =
		    (int32_t)((w & 0xffff) + (w >> 16 & 0xffff) + (w >> 32 & 0xffff) + (w >> 48)) -
		    SUM_MEAN;
		put32(to + 4 * i, (float)sum * scale);
	}
}

static void fill_uniform(uint64_t key, uint64_t from, size_t count, float low, float width,
			 uint8_t *to)
{
	for (size_t i = 0; i < count; i++) {
		float u = (float)(rng_at(key, from + i) >> 40) * 0x1p-24f * width; /* exact */
		put32(to + 4 * i, low + u);
	}
}

static void fill_count(uint64_t from, size_t count, uint8_t *to)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned b = 0; b < 8; b++)
			to[8 * i + b] = (uint8_t)((from + i) >> (8 * b));
}

size_t fill_values(const onnx_builder_param *p, uint64_t seed, uint64_t stream, uint64_t from,
		   size_t count, uint8_t *to)
{
	uint64_t key = rng_mix(rng_at(seed, 1) + stream);

	switch (p->fill) {
	case NET_NORMAL:
		fill_normal(key, from, count, p->a / SUM_DEVIATION, to);
		return 4 * count;
	case NET_UNIFORM:
		fill_uniform(key, from, count, p->a, p->b, to);
		return 4 * count;
	case NET_COUNT:
		break;
	}
	fill_count(from, count, to);
	return 8 * count;
}
