/* clock_snapshot.h - what several clocks show at one instant of the clock of recorded events: each
 * is read between two readings of that clock, several times, and the closest pair counts.
 *
 *	trace_header clocks;
 *	uint64_t at;
 *
 *	clock_snapshot(ns_per_tick, &at, &clocks);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_CLOCK_SNAPSHOT_H
#define TRACE_CLOCK_SNAPSHOT_H

#include "profiler/timeline/timeline.h"

/* Reads all clocks at the same instant, *ret_ticks; sets all of *ret. */
void clock_snapshot(double ns_per_tick, uint64_t *ret_ticks, trace_header *ret);
/* Reads CLOCK_MONOTONIC and the clock of events at the same instant. */
void clock_snapshot_pair(uint64_t *ret_ns, uint64_t *ret_ticks);

#endif
