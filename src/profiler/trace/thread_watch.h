/* thread_watch.h - the threads of the process, also those that record nothing: their tracks on the
 * timeline, their names, and what each uses, as counters (timeline/thread_table.h).
 *
 *	thread_watch_begin(&w, &listener);
 *	track = thread_watch_lane(&w, lane);
 *	thread_watch_look(&w, &(watch_look){.ns = ns, .tells = true}); ... now and then
 *	thread_watch_lane_end(&w, &end);
 *	thread_watch_look(&w, &(watch_look){.ns = ns, .tells = true, .last = true});
 *	thread_watch_put(&w, NULL, b, err);
 *	thread_watch_done(&w);
 *
 * A look asks for each thread's CPU time, and for the rest only of those that ran since. What a
 * thread did between its last look and its end is known where it had a lane; else it is only in the
 * sums of the process. Of threads that ended those with the most CPU time are kept.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_THREAD_WATCH_H
#define TRACE_THREAD_WATCH_H

#include "os/os.h"
#include "record/build.h"
#include "profiler/timeline/pending_ranges.h"
#include "profiler/timeline/thread_table.h"
#include "profiler/trace/drain.h"
#include "profiler/trace/thread_buffer.h"

enum { WATCH_PROCESS_TRACK = 1 };
enum { WATCH_NAMES_MAX = 4096 }; /* of threads that are not met yet */
/* Further threads have no counters, so that files can be read again. */
enum { WATCH_COUNTED_MAX = 16384 };

typedef struct watched {
	int tid;
	uint32_t track;	  /* 0: not told */
	const char *said; /* its name, by the program; NULL: it says none */
	char name[16];	  /* by the system */
	bool looked, muted;
	bool mapped, over; /* its number stands for it; it ended, and all is emitted */
	uint32_t round;	   /* of the look that saw it last */
	uint64_t began_ns,
	    seen_ns; /* began UINT64_MAX: not known yet; seen: by a look, or its end */
	os_thread_counters before, uses;    /* when the recording began, now */
	uint64_t told[OS_USES];		    /* plus one; 0: nothing */
	int64_t share;			    /* that was emitted, in 1/10000 */
	uint32_t counters[THREAD_COUNTERS]; /* tracks; 0: none yet */
	uint64_t zones, waited_ns;
} watched;

typedef struct thread_watch {
	drain_listener to;
	uint32_t tracks;      /* given so far, of whatever kind */
	uint64_t threads;     /* tracks of these */
	uint64_t boottime_ns; /* at the beginning */
	uint64_t looked_ns;   /* the last look */
	watched process;      /* all of them together */
	uint64_t resident;    /* that was emitted */
	watched *rows;	      /* @owned */
	size_t n, room, over;
	thread_process dropped;	    /* of threads that are no rows any more */
	hash_map live;		    /* by number: the row, plus one */
	hash_map names;		    /* by number, of threads that are not met yet */
	uint64_t counted, left_out; /* threads with counters; without, for want of room */
	uint32_t round;
	bool no_list; /* the system does not list the threads */
	bool failed;
} thread_watch;

void thread_watch_begin(thread_watch *w, const drain_listener *to);
void thread_watch_done(thread_watch *w);

/* The track of a thread whose lane began. */
uint32_t thread_watch_lane(thread_watch *w, const thread_buffer *l);
/* The program says what a thread of it is called: zone_names.h. */
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
	bool tells; /* emits now; else what is seen is kept for later */
	bool last;
} watch_look;
/* By the thread that drains. */
void thread_watch_look(thread_watch *w, const watch_look *how);

/* The table "threads". waits_absent: why none is seen; NULL: they are. */
dck_status thread_watch_put(const thread_watch *w, const char *waits_absent, record_builder *b,
			    dck_err *err);

#endif
