/* thread_table.h - what threads used: as counters of a timeline, and as the table "threads" of a
 * record.
 *
 * A thread's counters lie below its track, those of the whole process below the process's. All but
 * the share are sums since the recording began, so that the last value is the total. A value that
 * did not change is not told again, except at the thread's end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_THREAD_TABLE_H
#define TIMELINE_THREAD_TABLE_H

#include "os/os.h"
#include "record/build.h"
#include "profiler/timeline/timeline.h"

/* Behind those of os_thread_counter: the share of one CPU since the value before; of the process
 * alone, its memory. */
enum { THREAD_SHARE = OS_USES, THREAD_RESIDENT, THREAD_COUNTERS };

typedef struct thread_counter {
	const char *name;
	dck_unit unit;
} thread_counter;
extern const thread_counter thread_counters[THREAD_COUNTERS];

/* Which one a track is, or what is called so; -1: none of these. */
int thread_counter_named(const char *name);
int thread_counter_of(const trace_track *t);

typedef struct thread_row {
	uint32_t process; /* thread_process.id */
	int32_t pid, tid;
	const char *name; /* NULL: not known */
	uint64_t began_ns, ended_ns;
	os_thread_counters uses; /* none known: the row adds to another one of the same thread */
	uint64_t zones, waited_ns;
} thread_row;

/* All threads of a process together, those that are not in the table too. */
typedef struct thread_process {
	uint32_t id; /* a number may come again, as after exec() */
	int32_t pid;
	os_thread_counters uses;
	uint64_t threads, zones; /* of threads that are not among the rows */
} thread_process;

typedef struct thread_table {
	thread_row *rows; /* put into another order */
	size_t n;
	const thread_process *processes;
	size_t nprocesses;
	const char *absent[OS_USES]; /* why a value is */
	const char *waits_absent;
} thread_table;

/* Nothing where it is not known of any thread what it used. */
void thread_table_put(const thread_table *t, record_builder *b);

#endif
