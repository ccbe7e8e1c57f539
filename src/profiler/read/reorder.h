/* reorder.h - reorder buffer: sorts the events of a file into batches of one track, ordered by
 * time, as formats require.
 *
 * It holds ARRANGE_MAX events. When it is full all are flushed, so that memory is bounded; an event
 * from before the flushed ones gets the time of the last event of its track, and is counted. The
 * sort is stable.
 *
 *	if (!reorder_push(a, track, &e)) {
 *		reorder_flush(a, base_ns, give, self);
 *		reorder_push(a, track, &e);
 *	}
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READ_REORDER_H
#define READ_REORDER_H

#include "profiler/timeline/pending_ranges.h"

enum { ARRANGE_MAX = 1 << 16 };

typedef struct arranger arranger;

dck_status arrange_new(arranger **ret, dck_err *err);
void arrange_free(arranger *a); /* NULL is allowed */
/* Adds an event. A number follows its range's begin, or precedes its end, and has the same time.
 * false: the buffer is full. */
bool reorder_push(arranger *a, uint32_t track, const trace_event *e);
/* Returns the earliest buffered time; UINT64_MAX: empty. */
uint64_t arrange_first_ns(const arranger *a);
/* Passes all events to the callback; times are relative to base_ns, earlier times become 0. */
void reorder_flush(arranger *a, uint64_t base_ns,
		   void (*give)(void *self, uint32_t track, const trace_event *e, size_t n),
		   void *self);
uint64_t arrange_late(const arranger *a); /* events whose time was changed */
bool arrange_failed(const arranger *a);	  /* no memory for its tracks: events are missing */

#endif
