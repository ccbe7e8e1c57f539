/* heap_state.h - all that this library keeps in a process: pages of its own, that a child made by
 * fork() does not get. There the first allocation makes new ones, with a file of its own, so no
 * lock and no count of the parent is met again; a child of vfork() has the parent's, whose memory
 * it is in.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_STATE_H
#define HEAP_HEAP_STATE_H

#include "profiler/preload/heap/heap_region.h"

#include <stdbool.h>

/* Cold paths are noinline, so that the hot path spills no registers for them. */
#define HEAP_APART __attribute__((noinline))

/* A lock that is held for a few nanoseconds. */
typedef _Atomic uint32_t heap_lock;

void heap_lock_wait(heap_lock *l);
static inline void heap_lock_take(heap_lock *l)
{
	if (atomic_exchange_explicit(l, 1, memory_order_acquire))
		heap_lock_wait(l);
}
static inline void heap_lock_give(heap_lock *l)
{
	atomic_store_explicit(l, 0, memory_order_release);
}

struct heap_live;
struct heap_paths;
struct heap_ranges;

/* Whether an interpreter of Python finalises. */
typedef int heap_ending(void);

typedef struct heap_state {
	_Atomic uint32_t phase; /* heap_phase */
	uint32_t generation;	/* another one in each process */
	heap_header *header;
	heap_node *nodes;
	heap_frame *frames;
	heap_module *modules;
	char *names;
	struct heap_live *live;
	struct heap_paths *paths;
	struct heap_ranges *ranges;
	_Atomic uint32_t lane;	     /* of the next thread */
	_Atomic uint32_t python;     /* heap_python_is */
	heap_ending *_Atomic ending; /* NULL: no interpreter is known, or what it held is kept */
} heap_state;

enum heap_phase { HEAP_NEW, HEAP_BEGINS, HEAP_ON, HEAP_OFF };
/* An interpreter: there is none; a library of one was loaded; where it is, is known; it is not. */
enum heap_python_is {
	HEAP_PYTHON_NONE,
	HEAP_PYTHON_LOADED,
	HEAP_PYTHON_FOUND,
	HEAP_PYTHON_UNKNOWN
};

extern heap_state *heap_now; /* a page that fork() wipes; NULL: before anything */

/* The state, where allocations are recorded; NULL: they are not. */
heap_state *heap_begin(void);
static inline heap_state *heap_get(void)
{
	heap_state *s = heap_now;

	if (__builtin_expect(s && atomic_load_explicit(&s->phase, memory_order_acquire) == HEAP_ON,
			     1))
		return s;
	return heap_begin();
}

/* Zeroed pages that a forked child does not get; NULL: none. They are counted as the tool's. */
void *heap_pages(heap_state *s, size_t bytes);
void heap_pages_free(heap_state *s, void *p, size_t bytes);

/* Makes sure that the file has room for so many bytes of a part. false: the disk is full. */
typedef enum heap_part {
	HEAP_HEAD,
	HEAP_NAMES,
	HEAP_FRAMES,
	HEAP_NODES,
	HEAP_HELD,
	HEAP_PARTS
} heap_part;
bool heap_room(heap_part part, size_t bytes);

#endif
