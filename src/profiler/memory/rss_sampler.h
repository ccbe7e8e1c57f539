/* rss_sampler.h - looks at a program and its children at a steady rate, from a thread of its own:
 * what is resident, and what their heaps hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_MEMORY_WATCH_H
#define MEMORY_MEMORY_WATCH_H

#include "deepclock/base.h"

/* What a look finds, summed over the processes. */
typedef enum watch_part {
	WATCH_RSS,
	WATCH_ANONYMOUS,
	WATCH_FILE,
	WATCH_HEAP,
	WATCH_PARTS
} watch_part;

/* At most so many looks are kept: then every second one is, and from then on half as many. */
enum { WATCH_KEPT_MAX = 8192, WATCH_PROCESSES_MAX = 1024 };

typedef struct watched_process {
	long pid;
	uint64_t peak; /* of its resident memory, as the kernel knows it */
} watched_process;

typedef struct rss_samples {
	uint64_t *at_ns;	     /* @owned; since the program's beginning */
	double *values[WATCH_PARTS]; /* @owned */
	size_t n;
	uint64_t looks, cost_ns; /* made in all, and processor time of them */
	double peak[WATCH_PARTS];
	uint64_t peak_at_ns[WATCH_PARTS];
	double peak_share; /* of the sum in which what is shared counts once; 0: not known */
	watched_process *processes; /* @owned */
	size_t nprocesses, processes_left_out;
} rss_samples;

typedef struct rss_sampler rss_sampler;

/* directory: of the heaps' files, NULL: none are read. Borrowed until the end. */
dck_status rss_sampler_start(long pid, double rate_hz, const char *folder, rss_sampler **ret,
			     dck_err *err);
/* The process that is watched has ended. *ret is owned: rss_samples_done(). */
void rss_sampler_stop(rss_sampler *w, rss_samples *ret);
void rss_samples_done(rss_samples *l); /* {0} is allowed */

#endif
