/* sampler_python.h - Python frames of the calling thread, in a signal handler.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLER_SAMPLER_PYTHON_H
#define SAMPLER_SAMPLER_PYTHON_H

#include "profiler/sample/sample_slots.h"

/* Looks for an interpreter among the libraries that are loaded now. Not in a handler. */
void sampler_python_find(void);
/* Into the slot's words, as sample_slots.h says; they begin behind the native frames, which are
 * taken afterwards: returns how many native ones there is room for. */
uint32_t sampler_python_take(sample_slot *s, int tid);
/* When the native frames are there. */
void sampler_python_put(sample_slot *s);

#endif
