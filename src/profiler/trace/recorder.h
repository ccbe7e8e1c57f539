/* recorder.h - what records in this process: the clock, and the thread that drains the lanes into
 * the table and the file.
 *
 *	recorder_begin(&plan, err);
 *	recorder_request_wait(RECORDER_FLUSH, bound_ns);
 *	recorder_end(&record, err);
 *
 * That thread alone touches the file and the table while it lives; others ask it, by
 * recorder_request_wait(), which takes no lock and no memory. So it can be asked by a handler of a
 * signal, also when the thread that got the signal holds any lock of the process.
 *
 * recorder_begin(), recorder_end() and recorder_after_fork() are called by one thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_RECORDER_H
#define TRACE_RECORDER_H

#include "base/mem.h"
#include "deepclock/trace.h"

typedef struct recorder_plan {
	dck_trace_config config; /* path absolute; NULL: no file */
	const char *record;	 /* the file for the record, for who started us; NULL: none */
	bool late;		 /* the file is made with the first event */
	int *on;		 /* not 0 while it records */
	mem_arena *arena;	 /* of all these texts; @owned by the recorder once it has begun */
} recorder_plan;

typedef enum recorder_request {
	RECORDER_FLUSH = 1,	 /* what was recorded until now is in the file afterwards */
	RECORDER_DUMP = 2,	 /* the newest events are */
	RECORDER_DUMP_ASIDE = 8, /* they are in a file of their own */
	RECORDER_END = 4	 /* all is closed, and the record is saved */
} recorder_request;

/* On failure the plan's arena is the caller's still. */
dck_status recorder_begin(const recorder_plan *plan, dck_err *err);
/* Of what was begun and not yet ended or forgotten; NULL: there is nothing. */
const recorder_plan *recorder_begun(void);
/* Asks, and waits for at most so long; false: nothing records in this process, or it was not done
 * in time. Also in signal handlers; errno is kept. */
bool recorder_request_wait(recorder_request wish, uint64_t bound_ns);
/* How the last one asked for went: RECORDER_FLUSH and RECORDER_DUMP. */
dck_status recorder_last_status(dck_err *err);
dck_status recorder_end(dck_record **ret, dck_err *err); /* ret NULL: not wanted */

/* Around fork(): nothing is under way between these two. */
void recorder_quiesce(void);
void recorder_resume(void);
/* In the child: what was begun is the parent's. Returns its plan, whose arena is the caller's now;
 * zeroed: nothing was. */
recorder_plan recorder_after_fork(void);

#endif
