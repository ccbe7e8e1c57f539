/* capture.h - restricts recording to the time in which a range with a given name is open in any
 * thread (--capture-range).
 *
 *	capture_arm(&names, 0);            from now on only what happens inside them
 *	capture_put(LANE_WORD(...));     in place of thread_buffer_put(): outside nothing is written
 *	capture_window_get(i, &w);         the drain: from when to when they were open
 *	capture_disarm();
 *
 * A window is open while ranges of these names are open on any thread. Threads check for an open
 * window before they write an event; the drain checks the event's time, and clips ranges at a
 * window's end. The end time is read only after the window is marked closing, so no event that the
 * drain already accepted falls outside it.
 *
 * A pop has no name: each thread counts the depth of the stack of the range that opened its window.
 * Everything is async-signal-safe.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_CAPTURE_H
#define TRACE_CAPTURE_H

#include "deepclock/opt.h"
#include "profiler/trace/thread_buffer.h"

/* In ticks. */
typedef struct capture_window {
	uint64_t begin, end; /* end UINT64_MAX: still open */
} capture_window;

typedef struct capture_counts {
	uint64_t windows, ticks; /* number with the open window; total time */
	uint64_t left_out;	 /* omitted because the drain was too slow */
} capture_counts;

extern _Atomic bool capture_on;
/* The clock of zones is one instruction, and only the recorder uses the zones, so they skip the
 * checks. Set by zone.c. */
extern _Atomic bool zones_plain;
static inline bool capture_armed(void)
{
	return __builtin_expect(atomic_load_explicit(&capture_on, memory_order_relaxed), 0);
}

/* Returns whether events are written now. */
bool capture_open(void);

/* Writes an event of the program with the current time; false: not written. */
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

/* Arms the capture. names: as in the table, or NAME@DOMAIN, or NAME@* for any domain or none.
 * times: maximum number of windows; 0: no limit. n 0: does not arm. false: no memory. */
bool capture_arm(const dck_list *names, uint64_t times);
void capture_disarm(void);
/* Returns window i, from 0; false: not opened yet. Released windows are unavailable. */
bool capture_window_get(uint32_t i, capture_window *ret);
/* Returns the first window that is not released. */
uint32_t capture_released(void);
/* Returns the window before which all may be released: there are many, and they ended by `ticks`.
 * The caller then releases them when it no longer needs them. */
uint32_t capture_releasable(uint64_t ticks);
void capture_release(uint32_t before);
/* Returns the counts up to that time. */
capture_counts capture_counted(uint64_t now);
/* Returns the observed range name nearest to a requested one; NULL: none is near. */
const char *capture_nearest(void);

#endif
