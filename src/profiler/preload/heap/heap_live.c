/* heap_live.c - live blocks by address: a radix table of two levels for small ones, sharded hash
 * tables for the others, and the counting filter of sampled ones.
 *
 * An entry of a small block is one word, written by the thread that has the block. The hash tables
 * use linear probing with backward-shift deletion (Knuth, TAOCP 3, 6.4, algorithm R), and grow to
 * twice their size at a load of 3/4. A sampled block is in the hash tables alone; its filter slot
 * (heap_sample.h) is not 0 from before the program has the block until it frees it. A slot that
 * reached its maximum stays there, so that no sampled block is overlooked.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_live.h"

#include "profiler/preload/heap/heap_sample.h"

#include <string.h>

enum {
	ADDRESS_BITS = 48,
	TABLE_BITS = 26, /* 64 MiB of addresses have one table */
	GRAIN_BITS = 4,
	SMALL_MAX = 1024, /* larger ones would take a page of a table for a few blocks */
	SHARDS = 64,
	FIRST_ROOM = 256, /* entries */
};
#define TABLES	    ((size_t)1 << (ADDRESS_BITS - TABLE_BITS))
#define TABLE_BYTES (((size_t)1 << (TABLE_BITS - GRAIN_BITS)) * sizeof(uint64_t))

/* An entry of a table: size above, node below; 0: no block. */
typedef _Atomic uint64_t small_block;

typedef struct large_block {
	uint64_t address; /* 0: free */
	heap_block block;
} large_block;

typedef struct shard {
	alignas(64) heap_lock lock;
	large_block *rows;
	size_t n, cap; /* cap: a power of two */
} shard;

struct heap_live {
	shard shards[SHARDS];
	small_block *_Atomic tables[TABLES];
};

struct heap_live *heap_live_new(heap_state *s)
{
	return heap_pages(s, sizeof(struct heap_live));
}

/* --- small ones */

HEAP_APART static small_block *table_make(heap_state *s, small_block *_Atomic *at)
{
	small_block *none = NULL, *made = heap_pages(s, TABLE_BYTES);

	if (!made || atomic_compare_exchange_strong(at, &none, made))
		return made;
	heap_pages_free(s, made, TABLE_BYTES);
	return none;
}

/* Returns the entry of a small block. NULL: none, and not `make`, or no memory. */
static inline small_block *entry_of(heap_state *s, uint64_t address, bool make)
{
	if (address >> ADDRESS_BITS || address & ((1u << GRAIN_BITS) - 1))
		return NULL;
	small_block *_Atomic *at = &s->live->tables[address >> TABLE_BITS];
	small_block *table = atomic_load_explicit(at, memory_order_acquire);
	if (!table && (!make || !(table = table_make(s, at))))
		return NULL;
	return &table[(address & (((uint64_t)1 << TABLE_BITS) - 1)) >> GRAIN_BITS];
}

static heap_block unpacked(uint64_t packed)
{
	return (heap_block){.size = packed >> 32, .node = (uint32_t)packed};
}

/* --- large ones */

static uint64_t live_hash(uint64_t address)
{
	address = (address >> 3) * UINT64_C(0x9E3779B97F4A7C15);
	return address ^ address >> 29;
}

static large_block *live_row_find(const shard *d, uint64_t address)
{
	size_t i = (size_t)(live_hash(address) >> 6) & (d->cap - 1);

	while (d->rows[i].address && d->rows[i].address != address)
		i = (i + 1) & (d->cap - 1);
	return &d->rows[i];
}

static bool live_grow(heap_state *s, shard *d)
{
	const shard old = *d;
	const size_t cap = old.cap ? 2 * old.cap : FIRST_ROOM;
	large_block *rows = heap_pages(s, cap * sizeof *rows);

	if (!rows)
		return old.n + 1 < old.cap;
	d->rows = rows;
	d->cap = cap;
	for (size_t i = 0; i < old.cap; i++)
		if (old.rows[i].address)
			*live_row_find(d, old.rows[i].address) = old.rows[i];
	if (old.rows)
		heap_pages_free(s, old.rows, old.cap * sizeof *rows);
	return true;
}

HEAP_APART static heap_block large_put(heap_state *s, uint64_t address, heap_block block)
{
	shard *d = &s->live->shards[live_hash(address) % SHARDS];
	heap_block before = {0};

	heap_lock_take(&d->lock);
	if (4 * (d->n + 1) <= 3 * d->cap || live_grow(s, d)) {
		large_block *row = live_row_find(d, address);

		before = row->block;
		d->n += !row->address;
		*row = (large_block){address, block};
	} else {
		before = block; /* no memory: as if it had ended at once */
	}
	heap_lock_give(&d->lock);
	return before;
}

/* Backward-shift deletion (linear probing): no row may follow a free slot of its probe sequence. */
static void row_remove(shard *d, large_block *row)
{
	const size_t mask = d->cap - 1;
	size_t gap = (size_t)(row - d->rows), i = gap;

	for (;;) {
		i = (i + 1) & mask;
		if (!d->rows[i].address)
			break;
		const size_t home = (size_t)(live_hash(d->rows[i].address) >> 6) & mask;
		if (((i - home) & mask) >= ((i - gap) & mask)) {
			d->rows[gap] = d->rows[i];
			gap = i;
		}
	}
	memset(&d->rows[gap], 0, sizeof d->rows[gap]);
	d->n--;
}

HEAP_APART static heap_block large_take(heap_state *s, uint64_t address)
{
	shard *d = &s->live->shards[live_hash(address) % SHARDS];
	heap_block found = {0};

	heap_lock_take(&d->lock);
	if (d->n) {
		large_block *row = live_row_find(d, address);

		found = row->block;
		if (row->address)
			row_remove(d, row);
	}
	heap_lock_give(&d->lock);
	return found;
}

/* --- both */

HEAP_APART static heap_block sampled_put(heap_state *s, const void *p, heap_block block)
{
	_Atomic uint16_t *count = heap_sample_count(s->sampled, p);
	const heap_block before = large_put(s, (uintptr_t)p, block);
	uint16_t n = atomic_load_explicit(count, memory_order_relaxed);

	while (!before.node && n < UINT16_MAX &&
	       !atomic_compare_exchange_weak(count, &n, (uint16_t)(n + 1)))
		;
	return before;
}

HEAP_APART static heap_block sampled_take(heap_state *s, const void *p)
{
	_Atomic uint16_t *count = heap_sample_count(s->sampled, p);
	const heap_block found = large_take(s, (uintptr_t)p);
	uint16_t n = atomic_load_explicit(count, memory_order_relaxed);

	while (found.node && n < UINT16_MAX &&
	       !atomic_compare_exchange_weak(count, &n, (uint16_t)(n - 1)))
		;
	return found;
}

heap_block heap_live_put(heap_state *s, const void *p, heap_block block)
{
	if (s->sampled)
		return sampled_put(s, p, block);

	const uint64_t address = (uintptr_t)p;
	small_block *at = entry_of(s, address, block.size <= SMALL_MAX);

	if (!at)
		return large_put(s, address, block);
	const uint64_t before = atomic_load_explicit(at, memory_order_relaxed);
	if (block.size <= SMALL_MAX) {
		atomic_store_explicit(at, block.size << 32 | block.node, memory_order_relaxed);
		return unpacked(before);
	}
	if (before)
		atomic_store_explicit(at, 0, memory_order_relaxed);
	const heap_block large = large_put(s, address, block);
	return before ? unpacked(before) : large;
}

heap_block heap_live_take(heap_state *s, const void *p)
{
	if (s->sampled)
		return sampled_take(s, p);

	const uint64_t address = (uintptr_t)p;
	small_block *at = entry_of(s, address, false);
	const uint64_t found = at ? atomic_load_explicit(at, memory_order_relaxed) : 0;

	if (found) {
		atomic_store_explicit(at, 0, memory_order_relaxed);
		return unpacked(found);
	}
	return large_take(s, address);
}
