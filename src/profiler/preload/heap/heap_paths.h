/* heap_paths.h - call paths, each kept once: places in the code as frames, and nodes that are a
 * frame called through another node. Threads ask tables of their own first (heap_walk.c); these
 * here have one lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_PATHS_H
#define HEAP_HEAP_PATHS_H

#include "profiler/preload/heap/heap_state.h"
#include "profiler/unwind/unwind.h"

typedef struct heap_place {
	uint64_t place; /* as in heap_frame */
	uint32_t frame; /* 0: it found no room */
	unwind_rule rule;
} heap_place;

struct heap_paths *heap_paths_new(heap_state *s); /* NULL: no memory */
/* The frame of a place in the code, and how it finds its caller. */
heap_place heap_place_get(heap_state *s, uint64_t place);
/* A frame that is no place in native code, by a key that no other one has. `tell` describes it
 * the first time, and returns false if that does not fit. 0: it did not fit. */
typedef bool heap_describe_fn(heap_state *s, void *self, heap_frame *ret);
uint32_t heap_frame_get(heap_state *s, uint64_t key, heap_describe_fn *tell, void *self);
/* Two texts, by a key of theirs, one behind the other among the names; 0: no room. From `tell`
 * only. */
uint32_t heap_texts_put(heap_state *s, uint64_t key, const char *a, const char *b);
/* The path through `parent` to that frame; `parent` itself where there is no room. */
uint32_t heap_node_get(heap_state *s, uint32_t parent, uint32_t frame);
/* Code may have been unloaded: what is known of its places is forgotten. */
void heap_modules_check(heap_state *s);

#endif
