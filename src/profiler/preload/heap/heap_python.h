/* heap_python.h - Python frames of the allocating thread, combined with its native frames.
 *
 * The walk runs on the calling thread, so its Python frames do not change during it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_PYTHON_H
#define HEAP_HEAP_PYTHON_H

#include "profiler/preload/heap/heap_thread.h"

/* Returns the path of the calling thread's Python frames joined with its native path `node`;
 * `node` without Python frames. */
uint32_t heap_python_path(heap_state *s, heap_thread *t, uint32_t node);
/* In a new process: gives a lock that another thread of its parent may have held. */
void heap_python_forget(void);
/* The interpreter's library was unloaded. */
void heap_python_unload(heap_state *s);

#endif
