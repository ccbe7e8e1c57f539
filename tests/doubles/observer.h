/* observer.h - lets the double of CUPTI (cupti.c) observe the calls of the double of the driver
 * (cuda.c), which is internal in NVIDIA's libraries.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DOUBLES_OBSERVER_H
#define DOUBLES_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

enum { CUDA_OBSERVED_KERNEL, CUDA_OBSERVED_COPY, CUDA_OBSERVED_SET };

/* A command that has been executed, on the host's clock. */
typedef struct cuda_observed {
	int kind;
	uint64_t begin_ns, end_ns, bytes;
	uint32_t device, stream, correlation;
	unsigned char copy_kind; /* of CUPTI */
	const char *name;	 /* of a kernel */
} cuda_observed;

typedef struct cuda_observer {
	/* parameters and result: of calls that allocate, at their end; else NULL */
	void (*call)(const char *function, uint32_t correlation, bool begins,
		     const void *parameters, const unsigned *result);
	void (*executed)(const cuda_observed *o); /* under the driver's lock */
} cuda_observer;

__attribute__((visibility("default"))) void cuda_double_observe(const cuda_observer *o);
__attribute__((visibility("default"))) void cuda_double_call(const char *function, bool begins);

#endif
