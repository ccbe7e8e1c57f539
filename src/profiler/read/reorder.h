/* reorder.h - events as a file has them, brought into the form that a format wants: batches of one
 * track, in the order of their times.
 *
 * It holds ARRANGE_MAX events. When it is full all of them are given away, so that memory is
 * bounded; an event that belongs before some that are gone gets the time of the last of its track,
 * and is counted. Events of equal time keep their order.
 *
 *	if (!reorder_push(a, track, &e)) {
 *		reorder_flush(a, base_ns, give, self);
 *		reorder_push(a, track, &e);
 *	}
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_ARRANGE_H
#define IMPORT_ARRANGE_H

#include "profiler/timeline/pending_ranges.h"

enum { ARRANGE_MAX = 1 << 16 };

typedef struct arranger arranger;

dck_status arrange_new(arranger **ret, dck_err *err);
void arrange_free(arranger *a); /* NULL is allowed */
/* A number stands behind its range's begin, or before its end, and has the time of that. false: it
 * is full. */
bool reorder_push(arranger *a, uint32_t track, const trace_event *e);
/* The earliest time of what it holds; UINT64_MAX: it holds nothing. */
uint64_t arrange_first_ns(const arranger *a);
/* Gives all events away; times since base_ns, those before it at 0. */
void reorder_flush(arranger *a, uint64_t base_ns,
		   void (*give)(void *self, uint32_t track, const trace_event *e, size_t n),
		   void *self);
uint64_t arrange_late(const arranger *a); /* events whose time was changed */
bool arrange_failed(const arranger *a);	  /* no memory for its tracks: events are missing */

#endif
