/* nesting.h - the state of each thread after its events so far: which ranges are open. It adds up
 * the table and emits the timeline to its listener.
 *
 * Ranges of one stack nest, but those of two stacks need not: one may end while another that began
 * inside it goes on. That one is emitted in pieces, so that all that is emitted nests: it ends with
 * the mark PF_CONTINUED, and begins again behind the end of the other. In the table it is one
 * range.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_NESTING_H
#define TRACE_NESTING_H

#include "profiler/trace/drain.h"
#include "profiler/trace/thread_buffer.h"
#include "profiler/trace/thread_watch.h"
#include "profiler/timeline/zone_aggregate.h"

enum { NESTING_BATCH = 512 };
enum { NESTING_STARTS_MAX = 1 << 16 }; /* of further ranges no arrow is known */

typedef struct nesting_thread {
	uint32_t serial, track; /* serial 0: not met yet */
	uint32_t tid;		/* 0: it ended */
	zone_stack open;
	uint64_t first_ns, last_ns; /* first UINT64_MAX: nothing was emitted on its track */
	/* The window that its events have come to (capture.h), and whether they are in it. */
	uint32_t window;
	bool inside;
} nesting_thread;

/* An event as it comes out of a lane: its word, and the value of one that has one. */
typedef struct nesting_input {
	uint64_t ns, word, value;
} nesting_input;

typedef struct nesting_counter {
	uint64_t ns;
	uint32_t name, order;
	double value;
} nesting_counter;

typedef struct nesting_name {
	bool told;
	uint32_t counter; /* its track; 0: none yet */
	uint64_t counter_ns;
} nesting_name;

typedef struct nesting {
	drain_listener to;
	drain_counts counts;
	zone_aggregate sums;
	nesting_name *names;
	size_t nnames;
	thread_watch watch;  /* it gives the numbers of tracks */
	uint32_t unfinished; /* the name of the mark on ranges that did not end */
	uint32_t continued;  /* and on pieces */
	hash_map starts;     /* of ranges that any thread may end, by id: the track; see flow() */
	nesting_counter *counters; /* of this round */
	size_t ncounters, counters_cap;
	trace_event batch[NESTING_BATCH]; /* of the current thread */
	size_t nbatch;
} nesting;

void nesting_init(nesting *f, const drain_listener *to);
void nesting_done(nesting *f);
void nesting_thread_done(nesting_thread *t);
/* A lane that was not met yet, or now belongs to another thread. */
void nesting_thread_begin(nesting *f, nesting_thread *t, const thread_buffer *l);
void nesting_events(nesting *f, nesting_thread *t, const nesting_input *e, size_t n);
/* Closes all that is open in this thread; the same when the thread has ended. ended: its lane;
 * NULL: only the recording ends. */
void nesting_thread_close(nesting *f, nesting_thread *t, uint64_t ns);
void nesting_thread_end(nesting *f, nesting_thread *t, uint64_t ns, const thread_buffer *ended);
/* A thread has ended of which nothing came. */
void nesting_thread_left(nesting *f, const thread_buffer *ended, uint64_t ns);
/* Emits what was collected of this thread. */
void nesting_flush(nesting *f, nesting_thread *t);
/* The end of a round: counters, which several threads may set, in the order of their times. */
void nesting_flush_counters(nesting *f);
/* Ranges that any thread could still have ended. */
void nesting_end(nesting *f, uint64_t ns);

#endif
