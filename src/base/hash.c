/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/rng.h"
#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *p = bytes; n > 0; n--, p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text));
}

uint64_t hash_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * RNG_STEP;
	return hash ^ hash >> 29;
}
