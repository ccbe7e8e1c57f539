/* random.h - reproducible random tensors: values depend only on the seed, the stream and the
 * position (base/rng.h), the same on every platform.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_RANDOM_H
#define SUBJECT_RANDOM_H

#include "deepclock/plugin.h"

/* Fills n elements of type t at p. Floats: standard normal, no denormals. Integers: uniform in low
 * to high, both inclusive, which must be within the type. Booleans: 0 or 1. `stream` separates
 * inputs and sets. Returns false for a type without such values. */
bool random_fill(void *p, size_t n, dck_dtype t, int64_t low, int64_t high, uint64_t seed,
		 uint64_t stream);
/* Fill integers and booleans only, or floats uniform in [low, high). */
bool random_fill_integers(void *p, size_t n, dck_dtype t, int64_t low, int64_t high, uint64_t seed,
			  uint64_t stream);
bool random_fill_reals(void *p, size_t n, dck_dtype t, double low, double high, uint64_t seed,
		       uint64_t stream);

#endif
