/* worker.h - a measurement in a fresh process: what a start decides (addresses, memory placement)
 * is drawn again, and running out of memory ends that process and not ours.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_WORKER_H
#define MEASURE_WORKER_H

#include "deepclock/bench.h"
#include "base/mem.h"

/* How a worker ended. */
typedef enum worker_end {
	WORKER_DONE,	  /* *ret is its record, which may be incomplete */
	WORKER_MEMORY,	  /* it needed more than the limit, or the system had no more */
	WORKER_FAILED,	  /* the subject or the program failed; `why` says how */
	WORKER_CANCELLED, /* and it had nothing to report */
} worker_end;

typedef struct worker_job {
	const dck_subject *subject; /* no FUNCTION: another process does not have it */
	const dck_plan *plan;	    /* plan->program is started; plan->processes counts as 1 */
	uint64_t memory_bytes;	    /* that may be resident at any time; 0: as much as there is */
	/* Address space for data of its own; 0: no limit. It stops one huge allocation at once,
	 * before it is touched; not for engines that reserve much more than they use. */
	uint64_t data_bytes;
	/* The command that measures, with the options that say how; NULL: bench, with the plan. */
	const char *command;
	const dck_opt *options;
	const void *config;	   /* what `options` are of */
	bool quiet;		   /* what it writes to stderr is not for the user */
	const dck_observer *watch; /* cancelled() is asked; NULL: none */
} worker_job;

typedef struct worker_result {
	worker_end end;
	dck_record *record;	 /* with DONE: owned, dck_record_free(); else NULL */
	uint64_t peak_rss_bytes; /* of the process; 0: not known */
	dck_err why; /* what the worker itself said, code and sentence; with DONE nothing */
} worker_result;

/* Runs `PROGRAM COMMAND OPTIONS --worker-fd N SUBJECT` to its end. Fails only when no worker could
 * be run at all (E_UNSUP: no program, or a function; E_NOMEM, E_IO); how the worker ended is in
 * *ret.
 */
dck_status worker_run(const worker_job *job, worker_result *ret, dck_err *err);

/* The same for a worker that must leave a record: it fails with what the worker said. */
dck_status worker_record(const worker_job *job, dck_record **ret, dck_err *err);

/* The options that make a config what it is, each as one word "--name=value"; those that hold their
 * default are left out. Appended to argv[*n ...], of which there are `max`; the words live in the
 * arena. E_LIMIT: too many. */
dck_status worker_words(mem_arena *a, const dck_opt *table, const void *cfg, const char **argv,
			size_t max, size_t *n, dck_err *err);

#endif
