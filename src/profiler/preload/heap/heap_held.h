/* heap_held.h - snapshot of live bytes when the code of a Python program has ended: the interpreter
 * then frees nearly everything, module by module, so that little would remain to be reported as a
 * leak.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_HELD_H
#define HEAP_HEAP_HELD_H

#include "profiler/preload/heap/heap_state.h"

void heap_held_keep(heap_state *s);

/* Call before a block is counted as freed: the first call after the interpreter has started to
 * finalise copies the live bytes of each path. */
static inline void heap_held_check(heap_state *s)
{
	heap_ending *ending = atomic_load_explicit(&s->ending, memory_order_relaxed);

	if (ending && __builtin_expect(ending(), 0))
		heap_held_keep(s);
}

#endif
