/* count_events.h - the events that are counted for one run: by the kernel's counters
 * (os/perf_count.h) where they are granted, else from what it reports of a child that has ended.
 *
 *	count_events e;
 *
 *	DCK_TRY(count_events_open(&e, &config->events, err));
 *	... start the program from this thread, wait for it ...
 *	count_events_put(&e, &usage, elapsed_ns, b);
 *	count_events_done(&e);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNT_COUNT_EVENTS_H
#define COUNT_COUNT_EVENTS_H

#include "deepclock/count.h"
#include "os/os.h"
#include "os/counters/perf_count.h"
#include "record/build.h"

enum { COUNT_EVENTS_MAX = 64 };

typedef struct count_event {
	perf_event event;
	perf_counter counter;
	const char *why; /* it is not open; NULL: it is */
	int told;	 /* the place in what the kernel reports at the end; -1: none */
} count_event;

typedef struct count_events {
	count_event all[COUNT_EVENTS_MAX];
	size_t n;
} count_events;

/* E_ARG: there is no such event; the sentence names the nearest. */
dck_status count_events_open(count_events *e, const dck_list *names, dck_err *err) DCK_MUST_USE;
void count_events_done(count_events *e);
/* Metrics "counter/NAME". usage NULL: the program did not end. */
void count_events_put(const count_events *e, const os_child_usage *usage, uint64_t elapsed_ns,
		      record_builder *b);
/* One of them, as it was counted: scaled where it shared a register with others, and absent where
 * it never had one. */
void count_event_put(const count_event *e, const perf_counted *c, const char *tag,
		     record_builder *b);

#endif
