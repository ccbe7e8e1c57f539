/* device_kernels.h - the kernels that measure a device's limits, in the language of each driver.
 *
 * Every source has one kernel, `work`:
 *
 * - peaks: work(buffer out, 32-bit n). Each work item does n steps of independent multiply-adds,
 *   and writes 64 bytes to out. Of a matrix, the 32 work items of a warp do them together.
 * - memory: work(buffer a, buffer b, buffer c, 32-bit n). Each work group reads and writes its part
 *   of n x its size elements of 16 bytes, in which neighbouring work items access neighbouring
 *   elements; n is a multiple of 4.
 * - empty: work(), which does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOFLINE_DEVICE_KERNELS_H
#define ROOFLINE_DEVICE_KERNELS_H

typedef enum device_work {
	DEVICE_WORK_FP64,
	DEVICE_WORK_FP32,
	DEVICE_WORK_FP16,
	DEVICE_WORK_BF16,
	DEVICE_WORK_INT8,
	DEVICE_WORK_FP16_MATRIX,
	DEVICE_WORK_BF16_MATRIX,
	DEVICE_WORK_INT8_MATRIX,
	DEVICE_WORK_READ, /* the first that is not a peak */
	DEVICE_WORK_COPY,
	DEVICE_WORK_TRIAD,
	DEVICE_WORK_EMPTY,
	DEVICE_WORKS
} device_work;

/* `amount` is that of one step of one work item: FLOPs (of integers: operations), or bytes read and
 * written. */
typedef struct device_program {
	const char *source;
	double amount;
} device_program;

/* Returns the program of a language. NULL: no program in that language. */
const device_program *device_program_find(const char *language, device_work work);

#endif
