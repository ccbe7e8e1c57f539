/* op_ranges.h - clock alignment: converts the operators of an engine's profile to ranges on our
 * clock, within the runs that our clock timed.
 *
 *	DCK_TRY(op_ranges_align(&profile, &runs, own_thread, ranges, &n, &unsure_ns, err));
 *
 * The engine has a separate clock with a coarse tick. Each run bounds the offset of the clocks from
 * both sides, because the engine's interval of a run is within ours. The bounds of all runs
 * together leave a few microseconds. If they contradict each other, because one clock runs faster,
 * each run is aligned by its own bounds.
 *
 * A pure function, so that tests use exact numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_OP_RANGES_H
#define MEASURE_OP_RANGES_H

#include "deepclock/plugin.h"

enum { OP_LEVELS_MAX = 64 }; /* a deeper range is placed next to the deepest one */

/* All runs of the profile, as our clock timed them. */
typedef struct op_runs {
	const uint64_t *begin_ns, *end_ns;
	size_t from, to; /* whose operators are requested */
} op_runs;

typedef struct op_range {
	size_t event; /* of the profile */
	uint64_t begin_ns, end_ns;
	int64_t thread;
	uint32_t level; /* number of ranges that enclose it on its thread, in its run */
} op_range;

/* Writes the ranges of the requested runs to ret, which has capacity for all their events:
 * own_thread first, then thread by thread, each sorted by start. They nest exactly: each is within
 * its enclosing range and its run, and none overlaps the next. *ret_unsure_ns is the uncertainty of
 * the common offset, in ns. E_ENGINE: the times of the profile are impossible. */
dck_status op_ranges_align(const dck_profile *p, const op_runs *runs, int64_t own_thread,
			   op_range *ret, size_t *ret_n, uint64_t *ret_unsure_ns, dck_err *err);

#endif
