/* drain.h - takes what threads have written into their lanes: makes times of ticks, follows which
 * ranges are open, adds up the table, and emits the timeline to its listener.
 *
 *	drain_new(&d, base, q32, NULL, err);
 *	while (it records)
 *		drain_round(d);
 *	drain_end(d, ticks_now());
 *	... drain_sums(d), drain_counted(d) ...
 *
 * Its memory is bounded by the names, the threads, and the depth of open ranges.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_DRAIN_H
#define TRACE_DRAIN_H

#include "profiler/timeline/timeline.h"
#include "profiler/timeline/zone_aggregate.h"

/* Who listens; any member may be NULL. The numbers of names are those of zone_names.h; of tracks: 1
 * is the process, then threads and counters. */
typedef struct drain_listener {
	void *self;
	void (*intern)(void *self, uint32_t id, const trace_name *name);
	void (*track)(void *self, const trace_track *t);
	/* No events follow on the track of a thread that ended, or of its counter. Many threads end
	 * before the first of these calls. */
	void (*track_end)(void *self, uint32_t track);
	void (*events)(void *self, uint32_t track, const trace_event *e, size_t n);
} drain_listener;

typedef struct drain_counts {
	uint64_t events;     /* taken, of this recording */
	uint64_t unmatched;  /* pops and ends of ranges that were not open, or had begun before */
	uint64_t unfinished; /* ranges that the end of a thread or of the recording closed */
	uint64_t moved; /* events of an earlier time than already emitted: emitted with that time */
	uint64_t lost;	/* by the drain itself: no memory, ranges nested too deep */
} drain_counts;

typedef struct drain drain;

/* Events before `base` are not of this recording; a tick is ns_per_tick_q32 / 2^32 ns. listener
 * NULL: none; copied. */
dck_status drain_new(drain **ret, uint64_t base, uint64_t ns_per_tick_q32,
		     const drain_listener *listener, dck_err *err);
void drain_free(drain *d); /* NULL is allowed */
/* Before the first round: ranges that take so long are counted (zone_limits.h). Borrowed. */
void drain_limit(drain *d, const dck_list *limits);
/* Before the first round: percentiles that the table is to have. */
void drain_want(drain *d, const zone_percentiles *p);
uint64_t drain_over(const drain *d); /* such ranges so far */
/* Takes what is there; true: whole blocks were, and there may be more. */
bool drain_round(drain *d);
/* Polls what all threads use (thread_watch.h). tells: also emits it. last: nothing follows
 * but drain_end(). */
void drain_poll_threads(drain *d, bool tells, bool last, uint64_t ticks);
/* Closes what is open, at that time. */
void drain_end(drain *d, uint64_t ticks);

uint64_t drain_ns(const drain *d, uint64_t ticks); /* since base; 0: before it */
const zone_aggregate *drain_sums(const drain *d);
const drain_counts *drain_counted(const drain *d);
const struct thread_watch *drain_watch(const drain *d);

#endif
