/* cuda_memory.h - the device memory that the program has allocated by CUDA's calls: a counter on
 * the timeline, and its peak.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CUDA_CUDA_MEMORY_H
#define CUDA_CUDA_MEMORY_H

#include "device/cupti_api.h"

#include <stdbool.h>

typedef enum memory_call {
	MEMORY_NONE,
	MEMORY_ALLOC, /* parameters: cupti_alloc */
	MEMORY_FREE   /* parameters: cupti_free */
} memory_call;

/* Returns what a call of that name of CUPTI does with memory. */
memory_call cuda_memory_call_of(const char *name);
/* At the end of an outermost call: follows the memory, and writes the counter if `records`. */
void cuda_memory_called(memory_call call, const cupti_call_data *data, bool records);
uint64_t cuda_memory_peak(void); /* bytes */

#endif
