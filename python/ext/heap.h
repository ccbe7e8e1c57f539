/* heap.h - what others in this extension ask of the recorder of Python's allocations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_HEAP_H
#define DCK_PYTHON_HEAP_H

#include <stdint.h>

/* Bytes that the recording of that number holds now, and the most since the last look; 0 where it
 * has ended. */
void heap_look(uint32_t number, uint64_t *ret_now, uint64_t *ret_peak);

#endif
