/* thread_table.h - resource use of threads, as counters of a timeline and as the table "threads" of
 * a record.
 *
 * A thread's counters are children of its track, the process's counters of the process track. All
 * except the share are sums from the start of the recording, so that the last value is the total.
 * An unchanged value is not emitted again, except at the thread's end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_THREAD_TABLE_H
#define TIMELINE_THREAD_TABLE_H

#include "os/os.h"
#include "record/build.h"
#include "profiler/timeline/timeline.h"

/* After the members of os_thread_counter: the share of one CPU since the previous value; for the
 * process only, its memory. */
enum { THREAD_SHARE = OS_USES, THREAD_RESIDENT, THREAD_COUNTERS };

typedef struct thread_counter {
	const char *name;
	dck_unit unit;
} thread_counter;
extern const thread_counter thread_counters[THREAD_COUNTERS];

/* Return the counter of a name or a track; -1: none. */
int thread_counter_named(const char *name);
int thread_counter_of(const trace_track *t);

typedef struct thread_row {
	uint32_t process; /* thread_process.id */
	int32_t pid, tid;
	const char *name; /* NULL: unknown */
	uint64_t began_ns, ended_ns;
	os_thread_counters uses; /* none known: added to another row of the same thread */
	uint64_t zones, waited_ns;
} thread_row;

/* The sums of all threads of a process, including threads without a row. */
typedef struct thread_process {
	uint32_t id; /* unique, unlike the pid, e.g. after exec() */
	int32_t pid;
	os_thread_counters uses;
	uint64_t threads, zones; /* sums over threads without a row */
} thread_process;

typedef struct thread_table {
	thread_row *rows; /* sorted by thread_table_put() */
	size_t n;
	const thread_process *processes;
	size_t nprocesses;
	const char *absent[OS_USES]; /* why a value is absent */
	const char *waits_absent;
} thread_table;

/* Writes the table; writes nothing if no thread's use is known. */
void thread_table_put(const thread_table *t, record_builder *b);

#endif
