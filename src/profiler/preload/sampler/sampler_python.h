/* sampler_python.h - Python frames of the calling thread, in a signal handler.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLER_SAMPLER_PYTHON_H
#define SAMPLER_SAMPLER_PYTHON_H

#include "profiler/sample/sample_slots.h"

/* Searches the loaded libraries for an interpreter. Not for signal handlers. */
void sampler_python_find(void);
/* Reads the Python frames into the slot's words (sample_slots.h), after the space of the native
 * frames, which are unwound later. Returns the capacity left for native frames. */
uint32_t sampler_python_take(sample_slot *s, int tid);
/* Call after the native frames are written. */
void sampler_python_put(sample_slot *s);

#endif
