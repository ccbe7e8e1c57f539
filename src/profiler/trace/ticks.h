/* ticks.h - the clock of recorded events: the processor's time stamp counter if the kernel uses it
 * as a clock source, else the system's clock in nanoseconds.
 *
 * No fence: instructions next to a range may overlap it by some cycles, but a fence would double
 * the cost of a range.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TICKS_H
#define TRACE_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Whether the clock is read in one instruction, and that. */
#if defined(__x86_64__)
#include <x86intrin.h>
extern bool ticks_are_tsc; /* constant while anything records */
#define TICKS_QUICK() ticks_are_tsc
#define TICKS_READ()  __rdtsc()
#else
#define TICKS_QUICK() false
#define TICKS_READ()  0
#endif

extern uint64_t ticks_ns_q32; /* ns of a tick, times 2^32; constant while anything records */

static inline uint64_t ticks_of_system(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t ticks_now(void)
{
	return TICKS_QUICK() ? TICKS_READ() : ticks_of_system();
}

#endif
