/* cuda_work.h - what this process executes on NVIDIA's GPUs, by CUPTI: how long each kernel, copy
 * and set of memory took on its device, and when the call that enqueued it began on the host.
 *
 *	if (cuda_work_begin(&why))
 *		... runs ...
 *	n = cuda_work_end(&works);
 *	... works[i].called_ns, works[i].took_ns ...
 *	mem_free(works);
 *
 * CUPTI serves one recording at a time in a process. While it lasts each call costs a callback.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_CUDA_WORK_H
#define DEVICE_CUDA_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cuda_work {
	uint64_t called_ns; /* CLOCK_REALTIME, the clock of C++'s high_resolution_clock */
	uint64_t took_ns;   /* on the device */
	uint64_t began_ns;  /* there, on that clock too; never before its call */
} cuda_work;

/* Starts recording. false: *ret_why is the reason, static. */
bool cuda_work_begin(const char **ret_why);
/* Ends the recording, of work that has ended; the caller waits for the device before. Returns the
 * number of works in order of their calls, *ret is owned (mem_free()). 0: none, none was begun, or
 * some were lost, so that the rest would mislead. */
size_t cuda_work_end(cuda_work **ret);

#endif
