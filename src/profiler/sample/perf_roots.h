/* perf_roots.h - which of a thread's events count, where a running process was attached.
 *
 * Threads inherit the events of the thread that made them. A thread that was made while its process
 * was attached may have events of its maker and events that were opened for it: each of its records
 * comes twice. Of a thread that was followed the events opened for it count from then on; before,
 * and of any other thread, those that count of its maker. A root is the followed thread for which
 * an event was opened.
 *
 *	perf_roots_follow(&r, tid, now_ns);	after its events were opened
 *	perf_roots_settle(&r, now_ns);		at the end of attaching, before records are read
 *	perf_roots_counts(&r, &event, root)	for each record in order of time
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_PERF_ROOTS_H
#define SAMPLE_PERF_ROOTS_H

#include "base/id_table.h"
#include "profiler/sample/sample_event.h"

typedef struct perf_roots {
	hash_map of;	   /* the root that counts, of each thread */
	hash_map followed; /* row in `since` plus one, of each thread that was followed */
	uint64_t *since;   /* @owned */
	size_t n, cap;
	uint64_t settled_ns; /* 0: no process was attached, and each event counts */
} perf_roots;

void perf_roots_follow(perf_roots *r, int tid, uint64_t now_ns);
void perf_roots_settle(perf_roots *r, uint64_t now_ns);
/* Returns whether a record of an event of that root counts. root 0: it is not known. */
bool perf_roots_counts(perf_roots *r, const sample_event *e, int root);
void perf_roots_done(perf_roots *r);

#endif
