/* count_events.h - performance events counted in one run: by perf_event_open(2) (os/perf_count.h)
 * where it is permitted, else from the resource usage of the exited child.
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
	const char *why; /* reason why it is not open; NULL: open */
	int usage_row;	 /* its row of the resource usage; -1: none */
} count_event;

typedef struct count_events {
	count_event all[COUNT_EVENTS_MAX];
	size_t n;
} count_events;

/* E_ARG: unknown event; the message names the nearest. */
dck_status count_events_open(count_events *e, const dck_list *names, dck_err *err) DCK_MUST_USE;
void count_events_done(count_events *e);
/* Writes metrics "counter/NAME". usage NULL: the program did not exit. */
void count_events_put(const count_events *e, const os_child_usage *usage, uint64_t elapsed_ns,
		      record_builder *b);
/* Returns the value of an event with a row of the resource usage: the kernel's counter of all
 * processes if it is open and complete, else the usage, which lacks those that were not waited
 * for. */
uint64_t count_events_value(const count_events *e, const char *name, const os_child_usage *usage);
/* Writes one event: scaled if it was multiplexed, absent if it was never scheduled on a counter. */
void count_event_put(const count_event *e, const perf_counted *c, const char *tag,
		     record_builder *b);

#endif
