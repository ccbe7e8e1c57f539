/* nesting.h - tracks the open ranges of each thread while it processes events, aggregates the table
 * and emits the timeline to its listener.
 *
 * Ranges of one stack nest, but ranges of two stacks need not: one may end while another that began
 * inside it continues. The inner range is then emitted in pieces, so that the output nests: it ends
 * with the mark PF_CONTINUED, and begins again after the end of the outer. In the table it is one
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
enum { NESTING_STARTS_MAX = 1 << 16 }; /* further ranges have no arrow */

typedef struct nesting_thread {
	uint32_t serial, track; /* serial 0: unused */
	uint32_t tid;		/* 0: it ended, or a device's queue */
	bool device;		/* its ranges are a device's */
	zone_stack open;
	uint64_t first_ns, last_ns; /* first UINT64_MAX: nothing emitted on its track */
	/* The current window of its events (capture.h), and whether they are inside it. */
	uint32_t window;
	bool inside;
} nesting_thread;

/* An event of a thread buffer: its word, and its value, if any. */
typedef struct nesting_input {
	uint64_t ns, word, value;
} nesting_input;

typedef struct nesting_counter {
	uint64_t ns;
	uint32_t name, order;
	double value;
} nesting_counter;

typedef struct nesting_name {
	bool emitted;
	uint32_t counter; /* its track; 0: none yet */
	uint64_t counter_ns;
} nesting_name;

typedef struct nesting {
	drain_listener to;
	drain_counts counts;
	zone_aggregate sums, device; /* device: of the devices' ranges */
	nesting_name *names;
	size_t nnames;
	thread_watch watch;	   /* it assigns track ids */
	uint32_t unfinished;	   /* name of the mark on unfinished ranges */
	uint32_t continued;	   /* name of the mark on pieces */
	hash_map starts;	   /* tracks of ranges that any thread may end, by id; see flow() */
	nesting_counter *counters; /* counter values of this round */
	size_t ncounters, counters_cap;
	trace_event batch[NESTING_BATCH]; /* events of the current thread */
	size_t nbatch;
} nesting;

void nesting_init(nesting *f, const drain_listener *to);
void nesting_done(nesting *f);
void nesting_thread_done(nesting_thread *t);
/* Starts a thread, for a buffer that is new or has a new owner. */
void nesting_thread_begin(nesting *f, nesting_thread *t, const thread_buffer *l);
void nesting_events(nesting *f, nesting_thread *t, const nesting_input *e, size_t n);
/* Close the open ranges of a thread; nesting_thread_end() also ends the thread. ended: its buffer;
 * NULL: only the recording ends. */
void nesting_thread_close(nesting *f, nesting_thread *t, uint64_t ns);
void nesting_thread_end(nesting *f, nesting_thread *t, uint64_t ns, const thread_buffer *ended);
/* Ends a thread without events. */
void nesting_thread_left(nesting *f, const thread_buffer *ended, uint64_t ns);
/* Emits the batch of this thread. */
void nesting_flush(nesting *f, nesting_thread *t);
/* Emits the counters of a round by time, because several threads may set one. */
void nesting_flush_counters(nesting *f);
/* Closes ranges that any thread could still have ended. */
void nesting_end(nesting *f, uint64_t ns);

#endif
