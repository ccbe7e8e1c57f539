/* perf_count.h - counters of the kernel and the processor by the names that perf gives them
 * (perf_event_open), for a child that is started next and all that it starts.
 *
 *	perf_event e;
 *	perf_counter c;
 *
 *	if (perf_event_find("page-faults", &e) && perf_counter_open(&e, &c, &why))
 *		... start the child, wait for it ...
 *	perf_counter_read(&c, &counted);
 *	perf_counter_close(&c);
 *
 * It counts from the child's exec() on: the counter is this thread's own, which its children
 * inherit, and it itself never begins. So nothing of ours is counted, and nothing of the child is
 * missed.
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

/* Those with names of their own; static. Beside them there are the events of caches
 * ("L1-dcache-load-misses") and raw ones ("r01c0"). */
const perf_event_def *perf_event_defs(size_t *ret_n);
/* The i-th of the caches' names; false: there is none. */
bool perf_event_cache_name(size_t i, char *buf, size_t size);

typedef struct perf_event {
	char name[48]; /* as perf calls it */
	uint32_t type;
	uint64_t config;
	bool ns, hardware;
	bool user_only; /* ":u" was behind the name */
} perf_event;
bool perf_event_find(const char *name, perf_event *ret);

typedef struct perf_counter {
	int fd;		/* -1: none */
	bool user_only; /* what the kernel does for the program is not counted */
} perf_counter;
/* false: *ret_why says why, static. ret NULL: only whether it could be opened. */
bool perf_counter_open(const perf_event *e, perf_counter *ret, const char **ret_why);

typedef struct perf_counted {
	uint64_t value;
	/* The time it was wanted, and that it was counted: fewer where several shared one register.
	 */
	uint64_t enabled_ns, running_ns;
} perf_counted;
bool perf_counter_read(const perf_counter *c, perf_counted *ret);
void perf_counter_close(perf_counter *c);

#endif
