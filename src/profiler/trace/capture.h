/* capture.h - recording only while a range of some name is open anywhere in the process
 * (--capture-range).
 *
 *	capture_arm(&names, 0);            from now on only what happens inside them
 *	capture_put(LANE_WORD(...));     in place of thread_buffer_put(): outside nothing is written
 *	capture_window_get(i, &w);         the drain: from when to when they were open
 *	capture_disarm();
 *
 * While ranges of these names are open, on whatever threads, there is a window. Threads look
 * whether there is one before they write an event; the drain looks at its time, and cuts what
 * reaches over a window's end. The end time is read only after the window is marked closing, so no
 * event that the drain already accepted falls outside it.
 *
 * A pop has no name: each thread counts, from the range that opened its window on, the depth of
 * that range's stack. All of it may run in signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_CAPTURE_H
#define TRACE_CAPTURE_H

#include "deepclock/opt.h"
#include "profiler/trace/thread_buffer.h"

/* In ticks. */
typedef struct capture_window {
	uint64_t begin, end; /* end UINT64_MAX: it is open */
} capture_window;

typedef struct capture_counts {
	uint64_t windows, ticks; /* so far, the one that is open too; together */
	uint64_t left_out;	 /* since the drain was too far behind */
} capture_counts;

extern _Atomic bool capture_on;
/* The clock of zones is one instruction, and they are of no concern to us here, nor to anybody but
 * the recorder: they need not ask. Set by zone.c. */
extern _Atomic bool zones_plain;
static inline bool capture_armed(void)
{
	return __builtin_expect(atomic_load_explicit(&capture_on, memory_order_relaxed), 0);
}

/* Whether events are written now. */
bool capture_open(void);

/* Events of the program, of this moment; false: this one is not written. */
bool capture_put_armed(uint64_t word, uint64_t value, bool has_value);
static inline void capture_put(uint64_t word)
{
	if (capture_armed())
		capture_put_armed(word, 0, false);
	else
		thread_buffer_put(ticks_now(), word);
}
static inline bool capture_put_value(uint64_t word, uint64_t value)
{
	if (capture_armed())
		return capture_put_armed(word, value, true);
	thread_buffer_put_value(ticks_now(), word, value);
	return true;
}

/* --- for the recorder */

/* names: as the table shows them, or NAME@DOMAIN, or NAME@* for any domain and none. times: so many
 * windows at most; 0: all. n 0: nothing is armed. false: no memory. */
bool capture_arm(const dck_list *names, uint64_t times);
void capture_disarm(void);
/* Window number i, from 0 on; false: it has not begun yet. Of one that was released nothing is
 * known. */
bool capture_window_get(uint32_t i, capture_window *ret);
/* Windows before this one are released. */
uint32_t capture_released(void);
/* Windows that may be released now: there are many, and those before this one have ended by
 * `ticks`; the caller needs them no more when it says so. */
uint32_t capture_releasable(uint64_t ticks);
void capture_release(uint32_t before);
/* Up to that time. */
capture_counts capture_counted(uint64_t now);
/* The name of a range that was met, and is nearest to one of those that were asked for; NULL: none
 * is near. */
const char *capture_nearest(void);

#endif
