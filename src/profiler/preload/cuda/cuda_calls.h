/* cuda_calls.h - the calls of CUDA's runtime and driver as ranges of their threads, and the arrows
 * from them to the work that they enqueued.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CUDA_CUDA_CALLS_H
#define CUDA_CUDA_CALLS_H

#include "device/cupti_find.h"

/* Where a call's arrow leads: dck_device_flow(). */
typedef enum call_seen {
	CALL_UNKNOWN, /* the call was not recorded, or too many followed */
	CALL_UNRECORDED /* it was called outside the recording, or of --capture-range */,
	CALL_RECORDED
} call_seen;

/* Allocates; false: no memory. */
bool cuda_calls_init(void);
/* Requests the calls that launch, copy, set, wait or allocate, by their names. */
void cuda_calls_enable(const cupti_functions *f, cupti_subscriber subscriber);
void cuda_calls_callback(void *self, cupti_domain domain, cupti_call call, const void *data);
/* Finds the arrow of the call with that correlation; any thread. */
call_seen cuda_calls_find(uint32_t correlation, uint64_t *ret_flow);
/* Returns the number of calls; *ret_enqueued: number of calls with an arrow. */
uint64_t cuda_calls_count(uint64_t *ret_enqueued);

#endif
