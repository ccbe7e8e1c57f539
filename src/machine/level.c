/* level.c - working-set size that is served by one level of the memory hierarchy.
 *
 * A walk that is repeated finds in a cache what fits into it, and in a cache that drops the oldest
 * first nothing of what does not. So a working set is well below the level's size (half of it) and
 * well above the size of the previous level.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include <stddef.h>

const char *const machine_level_names[MACHINE_LEVELS] = {"l1", "l2", "l3", "dram"};

#define MIB (UINT64_C(1) << 20)

/* The part of a cache that one of our threads gets where several use it. */
static uint64_t level_share(const machine_cache *c, unsigned threads)
{
	unsigned users = c->ours < threads ? c->ours : threads;
	return users > 1 ? c->bytes / users : c->bytes;
}

uint64_t machine_l3_total(const machine_topology *t)
{
	/* Without an L3 the L2 is the last level before memory. */
	const machine_cache *c = t->cache[2].bytes ? &t->cache[2] : &t->cache[1];
	return c->bytes * (c->count > 0 ? c->count : 1);
}

static uint64_t dram_bytes(const machine_topology *t, bool quick, const char **ret_why)
{
	const uint64_t l3 = machine_l3_total(t);
	const uint64_t least = quick ? 128 * MIB : 256 * MIB, most = quick ? 512 * MIB : 1024 * MIB;
	uint64_t bytes = 4 * l3;

	/* Four times the caches where that is cheap, twice where they are huge. */
	if (bytes > most)
		bytes = 2 * l3 > most ? 2 * l3 : most;
	if (bytes < least)
		bytes = least;
	if (t->available_bytes > 0 && bytes > t->available_bytes / 4)
		bytes = t->available_bytes / 4;
	if (bytes < 16 * MIB) {
		*ret_why = "too little memory is free to measure with";
		return 0;
	}
	return bytes;
}

uint64_t machine_level_bytes(const machine_topology *t, machine_level level, unsigned threads,
			     bool quick, const char **ret_why)
{
	const uint64_t l1 = level_share(&t->cache[0], threads),
		       l2 = level_share(&t->cache[1], threads);
	const uint64_t l3 = level_share(&t->cache[2], threads);
	uint64_t bytes = 0;

	switch (level) {
	case MACHINE_L1:
		bytes = l1 / 2;
		*ret_why = "the system does not report the size of the L1 cache";
		break;
	case MACHINE_L2:
		bytes = l2 / 2;
		*ret_why = "the system does not report the size of an L2 cache";
		if (bytes > 0 && bytes < l1 + l1 / 4) {
			*ret_why = "a thread's part of the L2 cache is hardly larger than its L1";
			bytes = 0;
		}
		break;
	case MACHINE_L3:
		/* Half of the L3, because an exclusive L2 holds other lines. No more than eight
		 * times the L2: an L3 is shared with others, in a virtual machine with unknown
		 * ones. */
		bytes = l3 > 0 ? l2 + l3 / 2 : 0;
		bytes = bytes > 8 * l2 && l2 > 0 ? 8 * l2 : bytes;
		*ret_why = "the system reports no L3 cache";
		if (bytes > 0 && bytes < l2 + l2 / 4) {
			*ret_why = "a thread's part of the L3 cache is hardly larger than its L2";
			bytes = 0;
		}
		break;
	case MACHINE_DRAM:
	case MACHINE_LEVELS:
		return dram_bytes(t, quick, ret_why);
	}
	bytes = bytes / 4096 * 4096;
	if (t->available_bytes > 0 && bytes * threads > t->available_bytes / 8) {
		*ret_why = "too little memory is free to measure with";
		return 0;
	}
	return bytes;
}
