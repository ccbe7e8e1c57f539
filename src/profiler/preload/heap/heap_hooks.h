/* heap_hooks.h - common to the interposed functions that allocate.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_HOOKS_H
#define HEAP_HEAP_HOOKS_H

#include "profiler/preload/heap/heap_block.h"

/* Returns whether the library whose malloc() the hooks call has that code: what it maps is for the
 * blocks that they record. libc's own maps past the interposed functions. */
bool heap_is_allocator(uint64_t pc);

#define HOOK __attribute__((visibility("default"), noinline))

/* Records a block of n bytes, unless p is NULL. */
#define BORN(p, n)                                              \
	do {                                                    \
		if (p) {                                        \
			const heap_caller caller = HEAP_CALLER; \
			heap_on_alloc(p, n, &caller);           \
		}                                               \
	} while (0)

/* What the calling thread's aligned operator new was asked for, which rounds the size up for the
 * allocation that follows; size 0: nothing. */
typedef struct heap_request {
	size_t size, align;
} heap_request;
extern _Thread_local heap_request heap_asked __attribute__((tls_model("initial-exec")));

#endif
