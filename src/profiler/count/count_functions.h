/* count_functions.h - from the calls of threads (thread_cct.h) to the table of functions and the
 * tree of calls in a record.
 *
 *	count_functions f;
 *
 *	DCK_TRY(count_functions_init(&f, err));
 *	count_functions_add(&f, lane, ns_per_tick, &overhead, frame_of, self);
 *	status = count_functions_put(&f, "self", 0, b, err);
 *	count_functions_done(&f);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNT_COUNT_FUNCTIONS_H
#define COUNT_COUNT_FUNCTIONS_H

#include "record/tree/cct.h"
#include "profiler/count/thread_cct.h"

/* The file of frames that are zones, as "thread" is that of threads. */
#define COUNT_ZONE "zone"

#define COUNT_NO_SAMPLE "no sample was taken in it"

/* Overhead of an empty call: in the function's own time, and in its caller's; only their sum is
 * known if times are sampled. */
typedef struct call_overhead {
	double inside_ns, outside_ns;
} call_overhead;

typedef struct count_functions {
	cct paths;
	uint64_t zones; /* number of entries of zones; not in the counters below */
	uint64_t calls, primitive, lost, rest, left, unmatched;
	int full;			/* errno of a lane whose file could not grow; 0: none */
	uint32_t nodes_max, frames_max; /* the least of lanes that reached it */
	double self_ns, cost_ns;	/* of all functions */
	double price_ns;		/* the largest overhead of a call in any process */
	uint32_t lanes, threads;
	/* Set by the caller: the self times of functions are estimates from samples; the column
	 * "overhead" is left out. */
	bool sampled;
	uint64_t samples;
	double effective; /* effective sample size */
} count_functions;

dck_status count_functions_init(count_functions *f, dck_err *err) DCK_MUST_USE;
void count_functions_done(count_functions *f);

/* Adds the counts of a lane. It may be damaged, and its thread may still run. frame_of returns the
 * frame's id of each path; 0: no memory. end: of its process, 0: unknown. */
dck_status count_functions_add(count_functions *f, const thread_cct *lane, double ns_per_tick,
			       const call_overhead *price, uint64_t end,
			       uint32_t (*frame_of)(void *self, count_functions *f,
						    uint64_t function),
			       void *self, dck_err *err) DCK_MUST_USE;

/* Adds to a path that was made in f->paths. */
void count_functions_path(count_functions *f, uint32_t path, double calls, double self_ns,
			  double cost_ns);

/* Writes table "functions" in an order of dck_count_sorts, tree "calls", facts on the overhead,
 * notes on losses, the answer. Nothing may be added afterwards. */
dck_status count_functions_put(count_functions *f, const char *sort, uint64_t top,
			       record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
