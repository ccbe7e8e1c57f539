/* cuda_clock.h - converts CUPTI's times to CLOCK_MONOTONIC. From CUPTI 11.7 on its records have
 * these times already (cuptiActivityRegisterTimestampCallback()); before, both clocks are read
 * together when a buffer of records is complete, and its records are converted by the last two
 * such pairs, which follows a drift of the clocks.
 *
 *	cuda_clock c = {0};
 *
 *	cuda_clock_pair(&c, theirs, ours);
 *	... a buffer is filled ...
 *	cuda_clock_pair(&c, theirs, ours);
 *	ns = cuda_clock_convert(&c, record->start);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CUDA_CUDA_CLOCK_H
#define CUDA_CUDA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cuda_clock {
	unsigned n; /* pairs */
	uint64_t theirs[2], ours[2];
} cuda_clock; /* {0}: the clocks are one */

/* Adds a pair of readings; two closer than 100 ms have no
 * rate, which would be noise: of the first two the first stays alone, later the newer one replaces
 * the other. */
void cuda_clock_pair(cuda_clock *c, uint64_t theirs, uint64_t ours);
uint64_t cuda_clock_convert(const cuda_clock *c, uint64_t theirs);
uint64_t cuda_clock_now(void); /* CLOCK_MONOTONIC in ns */

#endif
