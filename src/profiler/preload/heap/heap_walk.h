/* heap_walk.h - walks the stack of the allocating thread and returns its path.
 *
 * Frames are unwound by cached rules (unwind/unwind.h). At a frame that the last stack of this
 * thread had too, with the same registers, the cached stack words of the outer frames are compared
 * instead of unwound again: the same values at the same addresses lead to the same frames.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_WALK_H
#define HEAP_HEAP_WALK_H

#include "profiler/preload/heap/heap_thread.h"

/* The frame that called a hook. */
typedef struct heap_caller {
	uint64_t pc, sp, fp;
} heap_caller;

#define HEAP_CALLER                                                                        \
	{                                                                                  \
		(uintptr_t) __builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa(), \
		    *(const uintptr_t *)__builtin_frame_address(0)                         \
	}

uint32_t heap_walk(heap_state *s, heap_thread *t, const heap_caller *from);
/* The same for a mapping. */
uint32_t heap_walk_mapping(heap_state *s, heap_thread *t, const heap_caller *from);

#endif
