/* count_read.h - reads the files that a counted program wrote to the directory of its run
 * (count_file.h) and sums them over processes and threads, by function name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNT_COUNT_READ_H
#define COUNT_COUNT_READ_H

#include "profiler/count/count_functions.h"
#include "profiler/count/count_sampler.h"

typedef struct count_row {
	char name[64];
	uint32_t pid, threads; /* most threads at one time */
	uint64_t calls;
	double ns;
} count_row;

typedef struct count_results {
	uint32_t processes; /* processes that called instrumented functions */
	uint32_t too_many;  /* processes beyond the most that are read, which are in no sum */
	uint32_t lanes_failed;
	uint32_t no_space;	  /* processes without space for their file */
	uint32_t children_failed; /* the same, whose parent reports it */
	uint64_t held, limit;	  /* of the process with the least RLIMIT_AS; 0: none */
	int error;		  /* errno of threads and processes without files; 0: unknown */
	char missing_reason[512]; /* why lines are missing; "": they are known */
	id_table rows;		  /* count_row, from 0 on */
	bool sampled;		  /* a time of 0 is absent */
} count_results;

/* The program's first process, if it was killed: its end, by both clocks. pid 0: it was not. */
typedef struct count_killed {
	uint32_t pid;
	uint64_t ticks, ns;
} count_killed;

/* ns_per_tick: of the time stamp counter. sampler: has the self times, NULL: the program's clock.
 * Files that are damaged are left out. *ret is set in any case. */
dck_status count_read(const char *directory, double ns_per_tick, const count_killed *killed,
		      const count_sampler *sampler, count_functions *f, count_results *ret,
		      dck_err *err) DCK_MUST_USE;
void count_results_done(count_results *l);
/* The table of the processes. */
void count_results_put(const count_results *l, record_builder *b);

#endif
