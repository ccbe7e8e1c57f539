/* sample_overhead.h - what a sample takes from the program that it is of.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_OVERHEAD_H
#define SAMPLE_SAMPLE_OVERHEAD_H

#include "os/counters/perf_sampling.h"

/* In ns, measured on this thread in about 0.1 s: a loop under perf_event at 40 kHz and without, in
 * turns. 0: not known. The thread keeps a few descriptors' worth of sampling until it ends. */
double sample_overhead_of_perf(const os_perf_config *c);
/* A signal to the calling thread, whose handler does nothing. */
double sample_overhead_of_signal(void);

#endif
