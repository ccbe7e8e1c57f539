/* perf_count.h - kernel and processor event counters (perf_event_open), by perf's names, for a
 * child that is started next and all its descendants.
 *
 *	perf_event e;
 *	perf_counter c;
 *
 *	if (perf_event_find("page-faults", &e) && perf_counter_open(&e, &c, &why))
 *		... start the child, wait for it ...
 *	perf_counter_read(&c, &counted);
 *	perf_counter_close(&c);
 *
 * It counts from the child's exec() on: the counter belongs to this thread, where it is never
 * enabled, and its children inherit it. So deepclock's own work is not counted, and the child's
 * work is counted completely.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_PERF_COUNT_H
#define OS_PERF_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct perf_event_def {
	const char *name, *alias; /* alias NULL: none */
	const char *help;
	uint32_t type; /* of perf_event_attr */
	uint64_t config;
	bool ns; /* a time, not a number of events */
} perf_event_def;

/* Returns the table of named events; static. Cache events ("L1-dcache-load-misses") and raw events
 * ("r01c0") are not in it. */
const perf_event_def *perf_event_defs(size_t *ret_n);
/* Writes the name of cache event i; false: i is past the last. */
bool perf_event_cache_name(size_t i, char *buf, size_t size);

typedef struct perf_event {
	char name[48]; /* as perf calls it */
	uint32_t type;
	uint64_t config;
	bool ns, hardware;
	bool user_only; /* the name had the suffix ":u" */
} perf_event;
bool perf_event_find(const char *name, perf_event *ret);

typedef struct perf_counter {
	int fd;		/* -1: none */
	bool user_only; /* kernel mode is not counted */
} perf_counter;
/* Opens a counter. false: *ret_why is the reason, static. ret NULL: only tests whether it can be
 * opened. */
bool perf_counter_open(const perf_event *e, perf_counter *ret, const char **ret_why);

typedef struct perf_counted {
	uint64_t value;
	/* Time for which it was enabled, and counted: less if events shared a register. */
	uint64_t enabled_ns, running_ns;
} perf_counted;
bool perf_counter_read(const perf_counter *c, perf_counted *ret);
void perf_counter_close(perf_counter *c);

#endif
