/* heap_hooks.h - common to the interposed functions that allocate.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_HOOKS_H
#define HEAP_HEAP_HOOKS_H

#include "profiler/preload/heap/heap_block.h"

#define HOOK __attribute__((visibility("default"), noinline))

/* Records a block of n bytes, unless p is NULL. */
#define BORN(p, n)                                              \
	do {                                                    \
		if (p) {                                        \
			const heap_caller caller = HEAP_CALLER; \
			heap_on_alloc(p, n, &caller);           \
		}                                               \
	} while (0)

/* Size that the calling thread's operator new was asked for, which rounds it up for the aligned
 * allocation that follows; 0: none. */
extern _Thread_local size_t heap_asked __attribute__((tls_model("initial-exec")));

/* After dlclose(): forgets operators that were unloaded. */
void heap_operators_check(void);

#endif
