/* sample_moment.h - one sample: when it was taken, and of what.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_MOMENT_H
#define SAMPLE_SAMPLE_MOMENT_H

#include <stdint.h>

typedef struct sample_moment {
	uint64_t at_ns, weight_ns; /* at_ns: os_perf_now_ns() */
	int32_t pid, tid;
	uint32_t path, unused;
} sample_moment;

#endif
