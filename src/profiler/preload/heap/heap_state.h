/* heap_state.h - the state of this library in a process, in private pages that a child of fork()
 * does not inherit. The child's first allocation makes a new state and a new file, so it inherits
 * no lock or count; a child of vfork() uses the parent's state, because it shares its memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_STATE_H
#define HEAP_HEAP_STATE_H

#include "profiler/preload/heap/heap_region.h"

#include <stdbool.h>
#include <time.h>

/* Cold paths are noinline, so that the hot path spills no registers for them. */
#define HEAP_APART __attribute__((noinline))

static inline uint64_t heap_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A spinlock, held for a few nanoseconds. */
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

/* Returns whether a Python interpreter finalises. */
typedef int heap_ending(void);

typedef struct heap_state {
	_Atomic uint32_t phase;	   /* heap_phase */
	uint32_t generation;	   /* unique to each process */
	uint64_t interval;	   /* as in the header */
	_Atomic uint16_t *sampled; /* heap_filter; NULL: each allocation is recorded */
	uint32_t timed_mask;	   /* of the calls of a thread one in timed_mask + 1 is timed */
	heap_header *header;
	heap_node *nodes;
	heap_frame *frames;
	heap_module *modules;
	char *names;
	struct heap_live *live;
	struct heap_paths *paths;
	struct heap_ranges *ranges;
	_Atomic uint32_t lane;	     /* index for the next thread */
	_Atomic uint32_t python;     /* heap_python_is */
	heap_ending *_Atomic ending; /* NULL: no known interpreter, or `held` is written */
} heap_state;

enum { HEAP_FILTER_BITS = 16 };
enum heap_phase { HEAP_NEW, HEAP_BEGINS, HEAP_ON, HEAP_OFF };
/* An interpreter: none, until other libraries are loaded; a library of it was loaded; found. */
enum heap_python_is { HEAP_PYTHON_NONE, HEAP_PYTHON_LOADED, HEAP_PYTHON_FOUND };

extern heap_state *heap_now; /* a page that fork() wipes; NULL: not initialised */

/* Returns the state; NULL: allocations are not recorded. */
heap_state *heap_begin(void);
static inline heap_state *heap_get(void)
{
	heap_state *s = heap_now;

	if (__builtin_expect(s && atomic_load_explicit(&s->phase, memory_order_acquire) == HEAP_ON,
			     1))
		return s;
	return heap_begin();
}

/* Allocates zeroed pages that a forked child does not inherit, and counts them as the tool's; NULL:
 * no memory. */
void *heap_pages(heap_state *s, size_t bytes);
void heap_pages_free(heap_state *s, void *p, size_t bytes);

/* Allocates disk space for this number of bytes of a part. false: the disk is full. */
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
