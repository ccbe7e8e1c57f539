/* rank_trace.h - one trace of all ranks of a job, on the clock of rank 0.
 *
 * Ranks of rank 0's boot share its clock; the times of another rank are mapped by the line through
 * its exchanges with rank 0 (rank_clock.h); without an exchange the wall clocks count. Each process
 * has the number of its rank's process, or a shifted one where two are equal. Its name has the
 * rank, as in each rank's trace, and before it the node, if there are several.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_TRACE_H
#define RANKS_RANK_TRACE_H

#include "profiler/ranks/rank_part.h"
#include "deepclock/record.h"

/* E_ARG: the readers of the format of that name do not accept gzip; E_IO: it cannot be written. */
dck_status rank_trace_check(const char *path, dck_err *err);
/* Merges files[size], by rank (NULL: there is none), into `path`. *ret: the facts of the merged
 * trace, @owned: dck_record_free(). E_ABSENT: there is no file; else as dck_trace_merge(). */
dck_status rank_trace_write(const char *path, const rank_part *parts, const char *const *files,
			    uint32_t size, dck_record **ret, dck_err *err);

#endif
