/* sample_overhead.h - measures the cost of a sample to the sampled program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_OVERHEAD_H
#define SAMPLE_SAMPLE_OVERHEAD_H

#include "os/counters/perf_sampling.h"

/* Returns ns per sample, measured on this thread in about 0.1 s: a loop with and without perf_event
 * at 40 kHz, alternately. 0: unknown. The thread keeps a few sampling descriptors open until it
 * exits. */
double sample_overhead_of_perf(const os_perf_config *c);
/* Returns the cost of a signal to the calling thread with an empty handler, in ns. */
double sample_overhead_of_signal(void);

#endif
