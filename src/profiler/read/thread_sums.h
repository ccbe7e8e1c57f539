/* thread_sums.h - sums of a timeline's threads: their times and counters (thread_table.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_THREAD_SUMS_H
#define IMPORT_THREAD_SUMS_H

#include "profiler/timeline/pending_ranges.h"
#include "profiler/timeline/thread_table.h"

typedef struct thread_sums {
	id_table tracks;
	string_table names;
	uint64_t threads; /* number of thread tracks */
} thread_sums;

dck_status thread_sums_init(thread_sums *s, dck_err *err);
void thread_sums_done(thread_sums *s); /* {0} is allowed */
void thread_sums_track(thread_sums *s, const trace_track *t);
/* Returns true for events of a counter of thread_table.h. */
bool thread_sums_events(thread_sums *s, uint32_t track, const trace_event *e, size_t n);
/* Adds the ranges of a track, at its end. */
void thread_sums_ranges(thread_sums *s, uint32_t track, uint64_t zones, uint64_t waited_ns);
/* Writes table "threads". */
dck_status thread_sums_put(const thread_sums *s, record_builder *b, dck_err *err);

#endif
