/* heap_sample.h - sampling of allocations: a Poisson process over the allocated bytes.
 *
 * Each byte is a sample with probability 1 / interval, independently of all others. So the distance
 * to a thread's next sample is exponential, and a block of n bytes, which takes n + 1 of them (an
 * empty block takes one), is sampled with probability p = 1 - exp(-(n + 1) / interval). A sampled
 * block stands for 1 / p blocks and n / p bytes (Horvitz and Thompson, JASA 1952), and so sums of
 * these are unbiased. A distance is drawn anew after each sample; the exponential distribution has
 * no memory, so what happened before changes nothing.
 *
 * A sampled block counts at a node of its size (HEAP_SIZE) below its path, as n / p bytes. From the
 * number of samples of each size the reader computes estimates and intervals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_SAMPLE_H
#define HEAP_HEAP_SAMPLE_H

#include "profiler/preload/heap/heap_thread.h"

/* Bytes until the calling thread's next sample. */
extern _Thread_local uint64_t heap_gap __attribute__((tls_model("initial-exec")));

/* Draws the distance to the next sample, in whole bytes: exponential, rounded down. */
uint64_t heap_sample_gap(uint64_t *random, uint64_t interval);
/* Returns n / p, rounded: the bytes that a sampled block of n bytes stands for. */
uint64_t heap_sample_weight(uint64_t n, uint64_t interval);
/* Starts the sampling of the calling thread. */
void heap_sample_begin(const heap_state *s, heap_thread *t);
/* Returns the node of a size below that one; 0: it does not fit, and is counted as lost. */
uint32_t heap_sample_node(heap_state *s, heap_thread *t, uint32_t path, uint64_t size);

/* The fast paths, of a few nanoseconds. In a child of fork() the page of the state is empty, so
 * they return false. */

/* Counts a block of n bytes that is not sampled. false: it may be one. */
static inline bool heap_sample_skips(size_t n)
{
	heap_state *s = heap_now;

	if (!s || !atomic_load_explicit(&s->interval, memory_order_acquire) || heap_gap <= n)
		return false;
	heap_gap -= (uint64_t)n + 1;
	return true;
}

/* A counting filter (Fan, Cao, Almeida and Broder, SIGCOMM 1998, with one hash function): the
 * number of live sampled blocks by a hash of their address. */
static inline _Atomic uint16_t *heap_sample_count(heap_state *s, const void *p)
{
	const uint64_t address = (uintptr_t)p;

	return &s->sampled[(address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >>
			   (64 - HEAP_FILTER_BITS)];
}

/* true: the block is not a sampled one. */
static inline bool heap_sample_spares(const void *p)
{
	heap_state *s = heap_now;

	return s && atomic_load_explicit(&s->interval, memory_order_acquire) &&
	       !atomic_load_explicit(heap_sample_count(s, p), memory_order_relaxed);
}

#endif
