/* drain.h - consumer of the thread buffers: converts ticks to times, tracks open ranges, aggregates
 * the table, and emits the timeline to its listener.
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

struct watch_look; /* thread_watch.h */

/* The listener; any member may be NULL. Name ids are from zone_names.h; track 1 is the process,
 * then threads, counters and devices' queues. */
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
	uint64_t events;     /* drained events of this recording */
	uint64_t unmatched;  /* pops and ends of ranges that were not open, or started before the
				recording */
	uint64_t unfinished; /* ranges closed by the end of a thread or of the recording */
	uint64_t moved;	     /* events before the last emitted time: emitted with that time */
	uint64_t lost;	     /* by the drain itself: no memory, too many open ranges */
	uint64_t not_finite; /* values of counters and numbers: they are left out */
} drain_counts;

typedef struct drain drain;

/* Makes a drain. Events before `base` do not belong to this recording; a tick is ns_per_tick_q32 /
 * 2^32 ns. listener NULL: none; copied. */
dck_status drain_new(drain **ret, uint64_t base, uint64_t ns_per_tick_q32,
		     const drain_listener *listener, dck_err *err);
void drain_free(drain *d); /* NULL is allowed */
/* Sets limits (zone_limits.h), before the first round: longer ranges are counted. Borrowed. */
void drain_limit(drain *d, const dck_list *limits);
/* Sets the percentiles of the table, before the first round. */
void drain_want(drain *d, const zone_percentiles *p);
uint64_t drain_over(const drain *d); /* number of ranges over their limit */
/* Drains all events; true: there were whole blocks, and more may follow. */
bool drain_round(drain *d);
/* Polls the resource use of all threads (thread_watch.h), `how` at `ticks` instead of how->ns.
 * how->last: only drain_end() follows; how->beat is ignored while no range is open. */
void drain_poll_threads(drain *d, const struct watch_look *how, uint64_t ticks);
/* Closes all open ranges at that time. */
void drain_end(drain *d, uint64_t ticks);

uint64_t drain_ns(const drain *d, uint64_t ticks); /* since base; 0: before it */
const zone_aggregate *drain_sums(const drain *d);
const zone_aggregate *drain_device_sums(const drain *d); /* of the ranges on devices' tracks */
const drain_counts *drain_counted(const drain *d);
const struct thread_watch *drain_watch(const drain *d);

#endif
