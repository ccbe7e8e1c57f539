/* worker.h - runs a measurement in a fresh process: what process start decides (addresses, memory
 * placement) varies again, and running out of memory ends that process and not ours.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_WORKER_H
#define MEASURE_WORKER_H

#include "deepclock/bench.h"
#include "base/mem.h"

/* How a worker ended. */
typedef enum worker_end {
	WORKER_DONE,	  /* *ret is its record, which may be incomplete */
	WORKER_MEMORY,	  /* it exceeded the limit, or the system ran out of memory */
	WORKER_FAILED,	  /* the subject or the program failed; `why` is the error */
	WORKER_CANCELLED, /* and it had nothing to report */
} worker_end;

typedef struct worker_job {
	const dck_subject *subject; /* no FUNCTION: another process does not have it */
	const dck_plan *plan;	    /* plan->program is started; plan->processes counts as 1 */
	uint64_t memory_bytes;	    /* limit of resident memory; 0: none */
	/* Limit of address space for private data; 0: none. It stops one huge allocation before it
	 * is touched; not for engines that reserve much more than they use. */
	uint64_t data_bytes;
	/* The command that measures, and its options; NULL: bench, with the plan. */
	const char *command;
	const dck_opt *options;
	const void *config;	   /* config that `options` describe */
	bool quiet;		   /* its stderr is not shown to the user */
	const dck_observer *watch; /* polled for cancellation; NULL: none */
	bool *ret_crashed;	   /* of worker_record(): as in a result; NULL: not wanted */
} worker_job;

typedef struct worker_result {
	worker_end end;
	dck_record *record;	 /* with DONE: owned, dck_record_free(); else NULL */
	uint64_t peak_rss_bytes; /* of the process; 0: unknown */
	bool crashed;		 /* FAILED without a word of the worker */
	dck_err why; /* error reported by the worker, code and message; empty with DONE */
} worker_result;

/* Returns why a fresh process cannot measure the subject, or with that clock, as this one does;
 * NULL: it can. */
const char *worker_obstacle(const dck_subject *s, const dck_clock *clock);

/* Runs `PROGRAM COMMAND OPTIONS --worker-fd N SUBJECT` to its end. Fails only if no worker could be
 * run (E_UNSUP: no program, or a function; E_NOMEM, E_IO); *ret has how the worker ended. */
dck_status worker_run(const worker_job *job, worker_result *ret, dck_err *err);

/* Runs a worker that must return a record; fails with the error that the worker reported. */
dck_status worker_record(const worker_job *job, dck_record **ret, dck_err *err);

/* A worker that stays, and answers one request after the other until it is closed. */
typedef struct worker_link {
	long pid; /* 0: none */
	int fd;
} worker_link;

/* Starts `PROGRAM bench OPTIONS --worker-trials --worker-fd N SUBJECT`, job->plan's options
 * included. Fails as worker_run() does. */
dck_status worker_link_open(const worker_job *job, worker_link *ret, dck_err *err);
/* Sends a request and waits for the answer of n bytes. E_ENGINE: the worker has ended, and how;
 * E_VERSION: it is another program's; E_CANCEL: `watch` cancelled. */
dck_status worker_link_ask(worker_link *l, const void *request, size_t request_n, void *ret,
			   size_t n, const dck_observer *watch, dck_err *err);
/* Ends the worker and waits for it. {0} is allowed. */
void worker_link_close(worker_link *l);

/* Reads why a worker's record is incomplete. */
void worker_incomplete_text(const dck_record *r, char *buf, size_t size);

/* Finds the deepclock program for a caller that names none. Returns its path, owned by the arena:
 * the one beside this library, or else in PATH, if it is of this version, since it reads the
 * options of its own. NULL: there is none; *ret_why: what was searched (owned by the arena;
 * NULL: no memory). */
const char *worker_program_find(mem_arena *a, const char **ret_why);

/* Returns the word by which the program takes a model: "./-x.onnx" for a name that reads as an
 * option or another kind of subject. NULL: no memory. */
const char *worker_model_word(mem_arena *a, const char *text);
/* Appends the options of a config that differ from their defaults to argv[*n ...], each as one word
 * "--name=value". `max` is the capacity of argv; the words live in the arena. E_LIMIT: too many. */
dck_status worker_words(mem_arena *a, const dck_opt *table, const void *cfg, const char **argv,
			size_t max, size_t *n, dck_err *err);
/* Makes the identity of a search, one word per line: version, model with a hash of its content,
 * processor, and the options that differ from their defaults. *ret is owned by the arena. */
dck_status worker_key(mem_arena *a, const dck_subject *s, const dck_opt *table, const void *config,
		      const char **ret, dck_err *err);

#endif
