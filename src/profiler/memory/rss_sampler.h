/* rss_sampler.h - samples the resident memory and the heaps of a program and its children at a
 * fixed rate, in a separate thread.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_RSS_SAMPLER_H
#define MEMORY_RSS_SAMPLER_H

#include "deepclock/base.h"

/* The values of a sample, summed over the processes. */
typedef enum watch_part {
	WATCH_RSS,
	WATCH_ANONYMOUS,
	WATCH_FILE,
	WATCH_HEAP,
	WATCH_PARTS
} watch_part;

/* Maximum number of stored samples: beyond it every second one is dropped, and the stored rate is
 * halved. */
enum { WATCH_KEPT_MAX = 8192, WATCH_PROCESSES_MAX = 4096 };

typedef struct rss_samples {
	uint64_t *at_ns;	     /* @owned; since the program's start */
	double *values[WATCH_PARTS]; /* @owned */
	size_t n;
	uint64_t looks, cost_ns; /* number of samples, and their CPU time */
	double peak[WATCH_PARTS];
	uint64_t peak_at_ns[WATCH_PARTS];
	double peak_share; /* peak of the sum that counts shared memory once; 0: unknown */
	bool cut;	   /* WATCH_PROCESSES_MAX processes were found at a time */
} rss_samples;

typedef struct rss_sampler rss_sampler;

/* Starts sampling. Times of samples count from began_ns (monotonic). directory: directory of the
 * heap files, borrowed until the end; NULL: reads none. */
dck_status rss_sampler_start(long pid, double rate_hz, uint64_t began_ns, const char *directory,
			     rss_sampler **ret, dck_err *err);
/* Stops sampling, after the process has exited. *ret is owned: rss_samples_done(). */
void rss_sampler_stop(rss_sampler *w, rss_samples *ret);
void rss_samples_done(rss_samples *l); /* {0} is allowed */

#endif
