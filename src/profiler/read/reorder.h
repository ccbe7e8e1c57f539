/* reorder.h - reorder buffer: sorts the events of a file into batches of one track, ordered by
 * time, as formats require.
 *
 * It holds REORDER_MAX events. When it is full all are flushed, so that memory is bounded; an event
 * from before the flushed ones gets the time of the last event of its track, and is counted. The
 * sort is stable, but the longest of the ranges that begin at one time comes first, where their
 * ends are known.
 *
 *	if (!reorder_push(a, track, &e, 0)) {
 *		reorder_flush(a, base_ns, &to, self);
 *		reorder_push(a, track, &e, 0);
 *	}
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READ_REORDER_H
#define READ_REORDER_H

#include "profiler/timeline/pending_ranges.h"

enum { REORDER_MAX = 1 << 16 };

typedef struct reorder_buffer reorder_buffer;

dck_status reorder_new(reorder_buffer **ret, dck_err *err);
void reorder_free(reorder_buffer *a); /* NULL is allowed */
/* Adds an event. A number follows its range's begin, or precedes its end, and has the same time.
 * end_ns: of a begin and what belongs to it, if the range's end is known; else 0. false: the buffer
 * is full. */
bool reorder_push(reorder_buffer *a, uint32_t track, const trace_event *e, uint64_t end_ns);
/* Returns the earliest buffered time; UINT64_MAX: empty. */
uint64_t reorder_first_ns(const reorder_buffer *a);
typedef struct reorder_to {
	/* Returns the track of an event, which was added to `track`. */
	uint32_t (*track_of)(void *self, uint32_t track, const trace_event *e);
	void (*give)(void *self, uint32_t track, trace_event *e, size_t n);
} reorder_to;

/* Passes all events to `to`; times are relative to base_ns, earlier times become 0. */
void reorder_flush(reorder_buffer *a, uint64_t base_ns, const reorder_to *to, void *self);
uint64_t reorder_late(const reorder_buffer *a); /* events whose time was changed */
bool reorder_failed(const reorder_buffer *a);	/* no memory for its tracks: events are missing */

#endif
