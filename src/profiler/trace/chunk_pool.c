/* chunk_pool.c - lock-free, async-signal-safe free list of blocks.
 *
 * A block's memory is touched at its first use: a program with few events uses little memory. The
 * list's head has a block's number and a version counter, which prevents the ABA problem.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/thread_buffer.h"

#include "os/os.h"

#include <string.h>

enum { BLOCKS_MAX = 16384 }; /* 1 GiB */

static event_chunk *blocks[BLOCKS_MAX + 1];    /* by number, from 1 on */
static _Atomic uint32_t nblocks, touched;      /* there are; were ever taken, the lowest numbers */
static _Atomic uint32_t blocks_given, waiting; /* blocks; threads */
static _Atomic uint64_t head;		       /* changes << 32 | number; number 0: empty */

static void pool_push(event_chunk *b)
{
	uint64_t was = atomic_load_explicit(&head, memory_order_relaxed), is;

	do {
		atomic_store_explicit(&b->free_next, (uint32_t)was, memory_order_relaxed);
		is = ((was >> 32) + 1) << 32 | b->number;
	} while (!atomic_compare_exchange_weak_explicit(&head, &was, is, memory_order_release,
							memory_order_relaxed));
}

bool block_pool_reserve(uint64_t bytes)
{
	const uint32_t have = atomic_load(&nblocks);
	uint32_t want = BLOCKS_MAX;

	if (bytes / LANE_BLOCK < BLOCKS_MAX)
		want = bytes < LANE_BLOCK ? 1 : (uint32_t)(bytes / LANE_BLOCK);
	if (want <= have)
		return true;
	const size_t more = want - have;
	/* One more than is needed, of which alignment takes its part. */
	uintptr_t p = (uintptr_t)os_pages_reserve((more + 1) * LANE_BLOCK);
	if (!p)
		return false;
	p = (p + LANE_MASK) & ~(uintptr_t)LANE_MASK;
	for (size_t i = 0; i < more; i++)
		blocks[have + i + 1] = (event_chunk *)(p + i * LANE_BLOCK);
	atomic_store(&nblocks, want);
	return true;
}

/* Takes a block that was never used; NULL: none. */
static event_chunk *pool_touch(void)
{
	uint32_t n = atomic_load(&touched);

	do {
		if (n >= atomic_load(&nblocks))
			return NULL;
	} while (!atomic_compare_exchange_weak(&touched, &n, n + 1));
	blocks[n + 1]->number = n + 1;
	return blocks[n + 1];
}

/* Takes a freed block; NULL: none. */
static event_chunk *pool_pop(void)
{
	uint64_t was = atomic_load_explicit(&head, memory_order_acquire), is;
	event_chunk *b;

	do {
		if (!(uint32_t)was)
			return NULL;
		b = blocks[(uint32_t)was];
		is = ((was >> 32) + 1) << 32 |
		     atomic_load_explicit(&b->free_next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&head, &was, is, memory_order_acquire,
							memory_order_acquire));
	return b;
}

event_chunk *chunk_alloc(void)
{
	event_chunk *b = pool_pop();

	if (!b)
		b = pool_touch();
	if (!b)
		return NULL;
	b->next = NULL;
	b->end = 0;
	b->read = LANE_FIRST;
	return b;
}

void chunk_free(event_chunk *b)
{
	memset((char *)b + LANE_FIRST, 0, LANE_BLOCK - LANE_FIRST);
	pool_push(b);
	atomic_fetch_add(&blocks_given, 1);
	if (atomic_load(&waiting))
		os_futex_wake(&blocks_given);
}

uint32_t block_pool_size(void)
{
	return atomic_load_explicit(&nblocks, memory_order_relaxed);
}

uint32_t block_pool_given(void)
{
	return atomic_load(&blocks_given);
}

void block_pool_wait(uint32_t seen, uint64_t ns)
{
	atomic_fetch_add(&waiting, 1);
	os_futex_wait(&blocks_given, seen, ns);
	atomic_fetch_sub(&waiting, 1);
}

void block_pool_forget(void)
{
	atomic_store(&nblocks, 0);
	atomic_store(&touched, 0);
	atomic_store(&waiting, 0);
	atomic_store_explicit(&head, 0, memory_order_relaxed);
}
