/* heap_live.h - table of live blocks by address: size and call path.
 *
 * Small blocks have an entry of 8 bytes for each 16 bytes of address space, in tables that are
 * mapped when they are first needed: no lock, no search, since a block belongs to the thread that
 * has it. Larger blocks, sampled blocks and addresses outside the tables are in hash tables with
 * one lock each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_LIVE_H
#define HEAP_HEAP_LIVE_H

#include "profiler/preload/heap/heap_state.h"

typedef struct heap_block {
	uint64_t size;
	uint32_t node; /* 0: unknown */
} heap_block;

struct heap_live *heap_live_new(heap_state *s); /* NULL: no memory */
/* Inserts a block. Returns the previous block at the address, whose end was not recorded. */
heap_block heap_live_put(heap_state *s, const void *p, heap_block block);
heap_block heap_live_take(heap_state *s, const void *p);

#endif
