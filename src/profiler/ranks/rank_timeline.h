/* rank_timeline.h - the ranges of all ranks in two steps: the one with the longest waits, and, to
 * compare it with, one whose waits are the median.
 *
 *	rank_timeline_make(&job, &t, err);
 *	... t.range[i] ...
 *
 * Times are of rank 0's clock, since the first begin of the step at any rank.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_TIMELINE_H
#define RANKS_RANK_TIMELINE_H

#include "profiler/ranks/rank_job.h"

/* Ranks that are shown, and ranges of each; more fit on no screen. */
enum { TIMELINE_STEPS = 2, TIMELINE_RANKS = 64, TIMELINE_RANGES = 100 };

typedef struct rank_span {
	size_t member, step; /* step: of the analysed ones */
	rank_kind kind;
	const char *name;
	int64_t begin_ns, end_ns;
} rank_span;

typedef struct rank_timeline {
	rank_span *span; /* in the arena of the job; by step, rank and begin */
	size_t n;
	size_t ranks_left_out, spans_left_out;
} rank_timeline;

/* E_NOMEM, E_IO. A job without collectives of several ranks has none. */
dck_status rank_timeline_make(const rank_job *j, rank_timeline *ret, dck_err *err);

#endif
