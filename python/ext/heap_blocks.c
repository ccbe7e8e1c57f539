/* heap_blocks.c - hash table of blocks with linear probing. Removal leaves no tombstone: the slots
 * that follow shift back, so lookups are as fast after a billion blocks as at first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "heap_blocks.h"
#include <stdlib.h>

enum { FIRST_BITS = 12 };

static size_t slot_of(const heap_blocks *t, uintptr_t at)
{
	/* Fibonacci hashing (Knuth, vol. 3, 6.4); block addresses are multiples of 16. */
	return (size_t)(((uint64_t)at >> 4) * 0x9E3779B97F4A7C15u >> t->shift);
}

static void put(heap_blocks *t, const heap_block *b)
{
	size_t i = slot_of(t, b->at);

	while (t->slots[i].at)
		i = (i + 1) & t->mask;
	t->slots[i] = *b;
}

/* Doubles the table. */
static bool grow(heap_blocks *t)
{
	const unsigned bits = t->slots ? 64 - t->shift + 1 : FIRST_BITS;
	heap_blocks made = {
	    .slots = calloc((size_t)1 << bits, sizeof *made.slots),
	    .n = t->n,
	    .mask = ((size_t)1 << bits) - 1,
	    .shift = 64 - bits,
	};

	if (!made.slots)
		return false;
	for (size_t i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].at)
			put(&made, &t->slots[i]);
	free(t->slots);
	*t = made;
	return true;
}

bool heap_blocks_add(heap_blocks *t, const heap_block *b)
{
	if ((!t->slots || t->n + 1 > t->mask / 4 * 3) && !grow(t))
		return false;
	put(t, b);
	t->n++;
	return true;
}

heap_block *heap_blocks_find(const heap_blocks *t, const void *at)
{
	if (!t->slots)
		return NULL;
	for (size_t i = slot_of(t, (uintptr_t)at); t->slots[i].at; i = (i + 1) & t->mask)
		if (t->slots[i].at == (uintptr_t)at)
			return &t->slots[i];
	return NULL;
}

void heap_blocks_remove(heap_blocks *t, heap_block *b)
{
	size_t hole = (size_t)(b - t->slots);

	for (size_t i = (hole + 1) & t->mask; t->slots[i].at; i = (i + 1) & t->mask) {
		const size_t wanted = slot_of(t, t->slots[i].at);

		/* A block must not move before its home slot. */
		if (((i - wanted) & t->mask) >= ((i - hole) & t->mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole].at = 0;
	t->n--;
}

size_t heap_blocks_bytes(const heap_blocks *t)
{
	return t->slots ? (t->mask + 1) * sizeof *t->slots : 0;
}

void heap_blocks_done(heap_blocks *t)
{
	free(t->slots);
	*t = (heap_blocks){0};
}
