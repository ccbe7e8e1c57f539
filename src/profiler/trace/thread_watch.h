/* thread_watch.h - polls all threads of the process, also threads that record nothing: their tracks
 * on the timeline, their names, and their resource use as counters (timeline/thread_table.h).
 *
 *	thread_watch_begin(&w, &listener);
 *	track = thread_watch_lane(&w, lane);
 *	thread_watch_look(&w, &(watch_look){.ns = ns, .emit = true}); ... now and then
 *	thread_watch_lane_end(&w, &end);
 *	thread_watch_look(&w, &(watch_look){.ns = ns, .emit = true, .last = true});
 *	thread_watch_table(&w, NULL, &table, &process, err);
 *	thread_watch_done(&w);
 *
 * A poll reads each thread's CPU time, and the other counters only of threads that ran since the
 * last poll. The use between a thread's last poll and its exit is known if it had a buffer; else it
 * is only in the sums of the process. Of the exited threads those with the most CPU time are
 * retained.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_THREAD_WATCH_H
#define TRACE_THREAD_WATCH_H

#include "os/os.h"
#include "profiler/timeline/pending_ranges.h"
#include "profiler/timeline/thread_table.h"
#include "profiler/trace/drain.h"
#include "profiler/trace/thread_buffer.h"

enum { WATCH_PROCESS_TRACK = 1 };
enum { WATCH_NAMES_MAX = 4096 }; /* names of threads without a row */
/* Further threads have no counters, so that the reader's limit is not exceeded. */
enum { WATCH_COUNTED_MAX = 16384 };

typedef struct watched {
	int tid;
	uint32_t track;	  /* 0: not emitted */
	const char *said; /* name set by the program; NULL: none */
	char name[16];	  /* name of the system */
	bool looked, muted;
	bool mapped, over;	    /* its id maps to this row; it exited, and all is emitted */
	uint32_t round;		    /* number of the last poll that found it */
	uint64_t began_ns, seen_ns; /* began UINT64_MAX: not known yet; seen: time of the last poll,
				       or of its exit */
	os_thread_counters before, uses;    /* at the start of the recording, now */
	uint64_t emitted[OS_USES];	    /* last emitted value plus one; 0: none */
	int64_t share;			    /* last emitted share, in 1/10000 */
	uint32_t counters[THREAD_COUNTERS]; /* tracks; 0: none yet */
	uint64_t zones, waited_ns;
} watched;

typedef struct thread_watch {
	drain_listener to;
	uint32_t tracks;      /* assigned ids, of any kind */
	uint64_t threads;     /* thread tracks */
	uint64_t boottime_ns; /* at the start */
	uint64_t looked_ns;   /* time of the last poll */
	watched process;      /* sums of all threads */
	uint64_t resident;    /* last emitted value */
	watched *rows;	      /* @owned */
	size_t n, cap, over;
	thread_process dropped;	    /* sums of threads without a row */
	hash_map live;		    /* row index plus one, by thread id */
	hash_map names;		    /* by thread id, of threads without a row */
	uint64_t counted, left_out; /* threads with counters; threads beyond the limit */
	uint32_t round;
	bool no_list; /* the system does not list the threads */
	bool failed;
} thread_watch;

void thread_watch_begin(thread_watch *w, const drain_listener *to);
void thread_watch_done(thread_watch *w);

/* Returns the track of a thread whose buffer is new. */
uint32_t thread_watch_lane(thread_watch *w, const thread_buffer *l);
/* Sets a thread's name, given by the program: zone_names.h. */
void thread_watch_name(thread_watch *w, int tid, uint32_t name);

typedef struct watch_end {
	int tid;
	const thread_buffer *ended; /* NULL: the recording ends, not the thread */
	uint64_t first_ns, ns;	    /* first_ns UINT64_MAX: it had no events */
	uint64_t zones, waited_ns;
} watch_end;
void thread_watch_lane_end(thread_watch *w, const watch_end *end);

typedef struct watch_look {
	uint64_t ns;
	bool emit; /* emits now; else stores the values for later */
	bool last;
	/* Emits the CPU time of the process even if it did not change: a range that is open if
	 * the process is killed lasted until then at least. */
	bool beat;
} watch_look;
/* Polls the threads. Only the draining thread may call it. */
void thread_watch_look(thread_watch *w, const watch_look *how);

/* Makes the table "threads": ret->rows is owned, mem_free(); *ret_process is its only process.
 * waits_absent: why waits are not recorded; NULL: they are. */
dck_status thread_watch_table(const thread_watch *w, const char *waits_absent, thread_table *ret,
			      thread_process *ret_process, dck_err *err);

#endif
