/* backfill.h - ranges whose times are known only afterwards: what a measurement keeps in memory
 * while its clock runs, what an engine's profile contains. They are written to the calling thread's
 * track with their original timestamps.
 *
 *	past p;
 *
 *	past_begin(&p, clock_ns());
 *	... this thread works, and makes no events ...
 *	if (past_end(&p, clock_ns())) {
 *		backfill_push(&p, past_name(NULL, "run"), begin_ns);
 *		past_pop(&p, end_ns);
 *	}
 *
 * Times are of a clock of the caller's, which goes evenly: it is read at the beginning and at the
 * end, and the recording's beside it. They are written in their order. Since the events of a thread
 * are in order, those of the past must come before all that the thread did since: past_end() says
 * whether that is so.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_PAST_H
#define TRACE_PAST_H

#include "profiler/trace/thread_buffer.h"

typedef struct past {
	bool on;		  /* it records, and did at the beginning */
	uintptr_t at;		  /* where the thread's next event went at the beginning */
	uint64_t ns[2], ticks[2]; /* of the caller's clock and of the recording's */
	thread_buffer_self own;	  /* while events of another thread are written */
} past;

void past_begin(past *p, uint64_t ns);
/* false: nothing records, or this thread made other events since the beginning. Nothing may be told
 * then. May be called again for what came later. */
bool past_end(past *p, uint64_t ns);

/* The number of a name, of that category if it is new (NULL: none); a long one is cut. */
uint32_t past_name(const char *category, const char *text);
void backfill_push(const past *p, uint32_t name, uint64_t ns);
void past_pop(const past *p, uint64_t ns);
/* Of the innermost range. */
void past_number(const past *p, uint32_t name, double value, uint64_t ns);

/* From here to past_thread_end() the events are those of that thread, which makes none itself.
 * false: no more threads can be recorded. */
bool past_thread_begin(past *p, int tid, const char *name);
void past_thread_end(past *p);

#endif
