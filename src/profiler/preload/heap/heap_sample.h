/* heap_sample.h - sampling of allocations: a Poisson process over the allocated bytes.
 *
 * Each byte is a sample with probability 1 / interval, independently of all others. So the distance
 * to a thread's next sample is exponential, and a block of n bytes, which takes n + 1 of them (an
 * empty block takes one), is sampled with probability p = 1 - exp(-(n + 1) / interval). A sampled
 * block stands for 1 / p blocks and n / p bytes (Horvitz and Thompson, JASA 1952), and so sums of
 * these are unbiased. After each sample another distance is drawn; the exponential distribution has
 * no memory, so what happened before changes nothing.
 *
 * A sampled block counts at a node of its size (HEAP_SIZE) below its path, as n / p bytes. From the
 * number of samples of each size the reader computes estimates and intervals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_SAMPLE_H
#define HEAP_HEAP_SAMPLE_H

#include "profiler/preload/heap/heap_thread.h"

/* Bytes until the calling thread's next sample. 0: it has not begun, or nothing is sampled. */
extern _Thread_local uint64_t heap_gap __attribute__((tls_model("initial-exec")));

/* Draws the distance to the next sample, in whole bytes: exponential, rounded down. */
uint64_t heap_sample_gap(uint64_t *random, uint64_t interval);
/* Returns n / p, rounded: the bytes that a sampled block of n bytes stands for. */
uint64_t heap_sample_weight(uint64_t n, uint64_t interval);
/* Draws heap_gap. */
void heap_sample_next(const heap_state *s, heap_thread *t);
/* Returns the node of a size below that one; 0: it does not fit, and is counted as lost. */
uint32_t heap_sample_node(heap_state *s, heap_thread *t, uint32_t path, uint64_t size);

/* --- the fast paths, of a nanosecond or two: they use what is set after a first allocation in
 * sampled mode, and so need not ask for the state. fork() clears both in the child; one
 * of another clone() goes on with copies until it enters a hook. */

/* Counts a block of n bytes that is not sampled. false: it may be one. */
static inline bool heap_sample_skips(size_t n)
{
	const uint64_t gap = heap_gap;

	if (__builtin_expect(gap <= n, 0))
		return false;
	heap_gap = gap - n - 1;
	return true;
}

/* A counting filter (Fan, Cao, Almeida and Broder, SIGCOMM 1998, with one hash function): the
 * number of live sampled blocks by a hash of their address. NULL: see heap_gap. */
extern _Atomic uint16_t *_Atomic heap_filter;

static inline _Atomic uint16_t *heap_sample_count(_Atomic uint16_t *filter, const void *p)
{
	const uint64_t address = (uintptr_t)p;

	return &filter[(address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - HEAP_FILTER_BITS)];
}

/* true: the block is not a sampled one. */
static inline bool heap_sample_spares(const void *p)
{
	_Atomic uint16_t *filter = atomic_load_explicit(&heap_filter, memory_order_acquire);

	return filter && !atomic_load_explicit(heap_sample_count(filter, p), memory_order_relaxed);
}

/* In a child of fork(). */
void heap_sample_forked(void);

#endif
