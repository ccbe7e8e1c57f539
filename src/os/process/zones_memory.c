/* zones_memory.c - the allocator of libdeepclock_zones: pages of the kernel, never malloc. A crash
 * or _exit() may interrupt a thread inside malloc, whose lock the recorder's thread would wait for,
 * while the interrupted thread waits for the recorder.
 *
 * Blocks are powers of two with a header, in one free list for each size; larger ones are mapped
 * alone. libdeepclock, whose allocator the program may choose, is built without this file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/base.h"
#include "os/os.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LEAST = 64, SIZES = 11, PIECE = 1 << 18 };

typedef struct zones_block {
	size_t bytes; /* with this header */
	struct zones_block *next;
	_Alignas(max_align_t) char data[];
} zones_block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static zones_block *unused[SIZES];
static char *piece;
static size_t piece_left;

/* Returns the list for blocks of that size; SIZES: none. */
static int size_of(size_t bytes)
{
	int k = 0;

	while (k < SIZES && (size_t)LEAST << k < bytes)
		k++;
	return k;
}

static zones_block *block_cut(size_t bytes)
{
	if (piece_left < bytes) {
		char *more = os_pages_reserve(PIECE);

		if (!more)
			return NULL;
		piece = more;
		piece_left = PIECE;
	}
	zones_block *b = (zones_block *)(void *)piece;
	piece += bytes;
	piece_left -= bytes;
	b->bytes = bytes;
	return b;
}

static void *zones_alloc(void *self, size_t bytes)
{
	const size_t all = bytes + sizeof(zones_block);
	const int k = size_of(all);
	zones_block *b;

	(void)self;
	if (all < bytes)
		return NULL;
	if (k == SIZES) {
		b = os_pages_reserve(all);
		if (b)
			b->bytes = all;
		return b ? b->data : NULL;
	}
	pthread_mutex_lock(&lock);
	b = unused[k];
	if (b)
		unused[k] = b->next;
	else
		b = block_cut((size_t)LEAST << k);
	pthread_mutex_unlock(&lock);
	return b ? b->data : NULL;
}

static zones_block *block_of(void *p)
{
	return (zones_block *)(void *)((char *)p - offsetof(zones_block, data));
}

static void zones_release(void *self, void *old)
{
	zones_block *b = block_of(old);
	const int k = size_of(b->bytes);

	(void)self;
	if (k == SIZES) {
		os_pages_free(b, b->bytes);
		return;
	}
	pthread_mutex_lock(&lock);
	b->next = unused[k];
	unused[k] = b;
	pthread_mutex_unlock(&lock);
}

static void *zones_resize(void *self, void *old, size_t bytes)
{
	const size_t had = old ? block_of(old)->bytes - sizeof(zones_block) : 0;

	if (old && bytes <= had)
		return old;
	void *to = zones_alloc(self, bytes);
	if (to && old) {
		memcpy(to, old, had);
		zones_release(self, old);
	}
	return to;
}

static void zones_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void zones_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* Before any other constructor of the library. */
__attribute__((constructor(101))) static void zones_memory_begins(void)
{
	static const dck_allocator pages = {zones_alloc, zones_resize, zones_release, NULL};

	if (pthread_atfork(zones_lock, zones_unlock, zones_unlock) == 0)
		dck_set_allocator(&pages);
}
