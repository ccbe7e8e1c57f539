/* run_delays.h - the median of the runs that had their processors to themselves: in which no
 * thread of the process was runnable and waited for a processor.
 *
 *	run_delays_begin(&u, &phases);
 *	... measure_phase_measure(&phases, err) ...
 *	run_delays_record(&u, &phases, builder);
 *	run_delays_end(&u);
 *
 * The kernel counts such waits for each thread (os_run_delay). They are read before and after each
 * run, outside the clock, and time that a hypervisor took is added (loop.c). Waiting for a lock, a
 * device or I/O does not count. Not seen: other programs that share a cache, the memory or a core
 * without preempting, and a hypervisor that does not report the time it takes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_RUN_DELAYS_H
#define MEASURE_RUN_DELAYS_H

#include "measure/phases.h"
#include "os/os.h"
#include "record/build.h"

typedef struct run_delays {
	os_run_delay *delay; /* NULL: not read, because of `why`, or with a clock of the caller's */
	char why[160];
} run_delays;

/* Has the runs' delays read from now on, where that is possible and costs little. */
void run_delays_begin(run_delays *u, measure_phases *p);
/* Adds latency/undisturbed and latency/less_run_delay, or why they are absent, and the numbers of
 * runs. Returns the share of the runs that is undisturbed; NaN: it is not known. */
double run_delays_record(const run_delays *u, const measure_phases *p, record_builder *b);
/* Returns the median of the undisturbed ones of the samples, weighted for their lengths: those
 * since run_delays_begin(), which took took_ns. NaN: there is none, or, because of u->why, it
 * cannot be known which ones are. */
double run_delays_median(run_delays *u, const measure_phases *p, uint64_t took_ns);
void run_delays_end(run_delays *u); /* {0} is allowed */

#endif
