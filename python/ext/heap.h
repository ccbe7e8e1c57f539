/* heap.h - interface of the Python allocation profiler for other files of this extension.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_HEAP_H
#define DCK_PYTHON_HEAP_H

#include <stdint.h>

/* Reads the bytes that recording `number` holds, and the peak since the last call; 0 if it has
 * ended. */
void heap_look(uint32_t number, uint64_t *ret_now, uint64_t *ret_peak);

#endif
