/* thread_sums.h - what a timeline contains of its threads and of what they used (thread_table.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_THREAD_SUMS_H
#define IMPORT_THREAD_SUMS_H

#include "profiler/timeline/pending_ranges.h"
#include "profiler/timeline/thread_table.h"

typedef struct thread_sums {
	id_table tracks;
	string_table names;
	uint64_t threads; /* tracks of these */
} thread_sums;

dck_status thread_sums_init(thread_sums *s, dck_err *err);
void thread_sums_done(thread_sums *s); /* {0} is allowed */
void thread_sums_track(thread_sums *s, const trace_track *t);
/* true: they are of a counter of thread_table.h. */
bool thread_sums_events(thread_sums *s, uint32_t track, const trace_event *e, size_t n);
/* At the end of a track: its ranges. */
void thread_sums_ranges(thread_sums *s, uint32_t track, uint64_t zones, uint64_t waited_ns);
/* The table "threads". */
dck_status thread_sums_put(const thread_sums *s, record_builder *b, dck_err *err);

#endif
