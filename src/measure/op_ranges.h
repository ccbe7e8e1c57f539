/* op_ranges.h - the operators of an engine's profile as ranges on our clock, inside the runs that
 * our clock saw.
 *
 *	DCK_TRY(op_ranges_align(&profile, &runs, own_thread, ranges, &n, &unsure_ns, err));
 *
 * The engine has a clock of its own, with a coarse tick. Each run compares the two: by the engine's
 * clock it lies within what ours saw of it, so it bounds the difference of the clocks from both
 * sides. The bounds of all runs together leave a few microseconds. Where they contradict each
 * other, since one clock goes faster, each run is placed by its own bounds.
 *
 * A pure function, so that it is tested to exact numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_OP_RANGES_H
#define MEASURE_OP_RANGES_H

#include "deepclock/plugin.h"

enum { OP_LEVELS_MAX = 64 }; /* what nests deeper is put beside */

/* All runs of the profile, as our clock saw them. */
typedef struct op_runs {
	const uint64_t *begin_ns, *end_ns;
	size_t from, to; /* whose operators are wanted */
} op_runs;

typedef struct op_range {
	size_t event; /* of the profile */
	uint64_t begin_ns, end_ns;
	int64_t thread;
	uint32_t level; /* so many are around it on its thread, in its run */
} op_range;

/* ret: room for the events of those runs; in it those of own_thread first, then thread by thread,
 * each in the order of their beginnings. They nest exactly: each lies within what is around it, and
 * within its run, and none overlaps the next. *ret_unsure_ns: how far all may be off together.
 * E_ENGINE: the times of the profile are impossible. */
dck_status op_ranges_align(const dck_profile *p, const op_runs *runs, int64_t own_thread,
			   op_range *ret, size_t *ret_n, uint64_t *ret_unsure_ns, dck_err *err);

#endif
