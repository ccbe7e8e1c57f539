/* backfill.h - records ranges after the fact, e.g. the samples of a measurement or the operators of
 * an engine's profile. They are written to the calling thread's track with their original
 * timestamps.
 *
 *	past p;
 *
 *	dck_past_begin(&p, clock_ns());
 *	... this thread works, and makes no events ...
 *	if (dck_past_end(&p, clock_ns())) {
 *		dck_past_push(&p, dck_past_name(NULL, "run"), begin_ns);
 *		dck_past_pop(&p, end_ns);
 *	}
 *
 * Times are on a steady clock of the caller, which is read at the beginning and at the end together
 * with the recording's clock. Write them in order. Events of a thread are ordered, so past events
 * must precede all later events of the thread: dck_past_end() checks this.
 *
 * The functions are exported: where a process has two copies of the recorder (libdeepclock_zones
 * and libdeepclock), both write to the first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_BACKFILL_H
#define TRACE_BACKFILL_H

#include "profiler/trace/thread_buffer.h"

typedef struct past {
	bool on;		  /* a recording is active since the beginning */
	uintptr_t at;		  /* slot of the thread's next event at the beginning */
	uint64_t ns[2], ticks[2]; /* readings of the caller's clock and of the recording's */
	thread_buffer_self own;	  /* while events of another thread are written */
} past;

DCK_API void dck_past_begin(past *p, uint64_t ns);
/* Ends the interval. false: no recording, or this thread recorded other events since the beginning:
 * then write no events. May be called again for later events. */
DCK_API bool dck_past_end(past *p, uint64_t ns);

/* Returns the id of a name, with this category if it is new (NULL: none); truncates long names. */
DCK_API uint32_t dck_past_name(const char *category, const char *text);
DCK_API void dck_past_push(const past *p, uint32_t name, uint64_t ns);
DCK_API void dck_past_pop(const past *p, uint64_t ns);
/* Adds a number to the innermost range. */
DCK_API void dck_past_number(const past *p, uint32_t name, double value, uint64_t ns);

/* Until dck_past_thread_end() the events belong to that thread, which records none itself. false:
 * too many threads. */
DCK_API bool dck_past_thread_begin(past *p, int tid, const char *name);
DCK_API void dck_past_thread_end(past *p);

#endif
