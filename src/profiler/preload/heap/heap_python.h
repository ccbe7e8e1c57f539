/* heap_python.h - Python's frames of a thread that allocates, beside its native ones.
 *
 * The calling thread stands still meanwhile, so what is read of its Python frames is one moment's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_PYTHON_H
#define HEAP_HEAP_PYTHON_H

#include "profiler/preload/heap/heap_thread.h"

/* The path of the calling thread's Python frames together with its native path `node`; `node`
 * itself where there are none. */
uint32_t heap_python_path(heap_state *s, heap_thread *t, uint32_t node);

#endif
