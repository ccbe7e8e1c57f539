/* cuda_records.h - CUPTI's records of kernels, copies and sets, as ranges on the tracks of their
 * streams (device_track.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CUDA_CUDA_RECORDS_H
#define CUDA_CUDA_RECORDS_H

#include "device/cupti_find.h"

/* Allocates; false: no memory. own_clock: CUPTI's times are not CLOCK_MONOTONIC. */
bool cuda_records_init(const cupti_functions *f, bool own_clock);
/* The callbacks of cuptiActivityRegisterCallbacks(). */
void cuda_records_requested(uint8_t **buffer, size_t *size, size_t *records_max);
void cuda_records_completed(cupti_context context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid);
/* Reports the last counts to the recorder. */
void cuda_records_end(void);

#endif
