/* heap_paths.h - call-path trie: frames, which are code addresses, and nodes, each a frame that was
 * called through another node. Threads consult their own cache first (heap_walk.c); this shared
 * table has one lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_PATHS_H
#define HEAP_HEAP_PATHS_H

#include "profiler/preload/heap/heap_state.h"
#include "profiler/unwind/unwind.h"

typedef struct heap_place {
	uint64_t place; /* as in heap_frame */
	uint32_t frame; /* 0: it did not fit */
	unwind_rule rule;
} heap_place;

struct heap_paths *heap_paths_new(heap_state *s); /* NULL: no memory */
/* Returns the frame of a code address, and its unwind rule. */
heap_place heap_place_get(heap_state *s, uint64_t place);
/* Returns the frame of something other than native code, by a unique key. `describe` describes it
 * the first time, and returns false if it does not fit. 0: it did not fit. */
typedef bool heap_describe_fn(heap_state *s, void *self, heap_frame *ret);
uint32_t heap_frame_get(heap_state *s, uint64_t key, heap_describe_fn *describe, void *self);
/* Stores two consecutive strings among the names, by their key; HEAP_NO_TEXT: no space. Only
 * `describe` may call it. */
uint32_t heap_texts_put(heap_state *s, uint64_t key, const char *a, const char *b);
/* Returns the node of that frame below `parent`; `parent` itself if the table is full. */
uint32_t heap_node_get(heap_state *s, uint32_t parent, uint32_t frame);
/* Discards cached addresses of unloaded code. */
void heap_modules_check(heap_state *s);

#endif
