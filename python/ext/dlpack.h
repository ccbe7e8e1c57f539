/* dlpack.h - DLPack's tensor struct in the layout of versions 0.x, passed in a capsule named
 * "dltensor".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_DLPACK_H
#define DCK_PYTHON_DLPACK_H

#include <stdint.h>

typedef struct dl_tensor {
	void *data;
	int32_t device_type, device_id;
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
	dl_tensor tensor;
	void *manager;
	void (*deleter)(struct dl_managed *self); /* NULL: nothing is to be freed */
} dl_managed;

enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 }; /* CPU-accessible */
#define DL_CAPSULE	 "dltensor"
#define DL_CAPSULE_TAKEN "used_dltensor" /* the consumer renames it, and calls the deleter */

#endif
