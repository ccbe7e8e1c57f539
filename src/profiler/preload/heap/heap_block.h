/* heap_block.h - allocation hooks, called by the interposers around the real functions.
 *
 * Other allocators (of a language runtime) may report their blocks through the same calls: a block
 * is identified by its address only.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_BLOCK_H
#define HEAP_HEAP_BLOCK_H

#include "profiler/preload/heap/heap_live.h"
#include "profiler/preload/heap/heap_walk.h"

/* An allocation succeeded. */
void heap_on_alloc(const void *p, size_t size, const heap_caller *from);
/* Before its end, for then another thread may get the address. */
void heap_on_free(const void *p);
/* A block that is about to be resized, and what became of it: the same where that failed. It counts
 * as freed, and as allocated again. */
heap_block heap_on_realloc_begin(const void *p);
void heap_on_realloc_end(const void *old, heap_block was, const void *p, size_t size,
			 const heap_caller *from);
/* The calling thread's own, while it is inside a hook; NULL: this is not to be recorded. */
heap_thread *hook_enter(heap_state **ret);
void heap_leave(void);
/* Libraries may have been unloaded. */
void heap_on_unload(void);

#endif
