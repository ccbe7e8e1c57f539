/* rng.h - the generator of random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014). The same seed gives the same numbers on every
 * platform. It is not for secrets.
 *
 *	uint64_t state = seed;
 *	size_t k = rng_below(&state, n); // 0 to n - 1
 *
 * The functions are inline because whole tensors are filled with them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

#define RNG_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Mixes 64 bits: each bit of the result depends on all bits of z. */
static inline uint64_t rng_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Returns the i-th number of a key's stream, in any order of i. */
static inline uint64_t rng_at(uint64_t key, uint64_t i)
{
	return rng_mix(key + i * RNG_STEP);
}

/* Returns the next number of a stream; the initial state is the seed. */
static inline uint64_t rng_next(uint64_t *state)
{
	return rng_mix(*state += RNG_STEP);
}

/* Returns 0 to n - 1; uniform to one in 2^32 / n. */
static inline size_t rng_below(uint64_t *state, size_t n)
{
	return (size_t)(((rng_next(state) >> 32) * (uint64_t)n) >> 32);
}

#endif
