/* recorder.h - the recorder of this process: the clock, and the thread that drains the event
 * buffers into the table and the file.
 *
 *	recorder_begin(&plan, err);
 *	recorder_request_wait(RECORDER_FLUSH, bound_ns);
 *	recorder_end(&result, err);
 *
 * Only this thread accesses the file and the table; other threads send it requests by
 * recorder_request_wait(), which takes no lock and allocates nothing. So a signal handler may call
 * it while its thread holds any lock of the process.
 *
 * recorder_begin(), recorder_end() and recorder_after_fork() are called by one thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_RECORDER_H
#define TRACE_RECORDER_H

#include "base/mem.h"
#include "base/wire.h"
#include "deepclock/trace.h"

typedef struct recorder_plan {
	dck_trace_config config; /* path absolute; NULL: no file */
	const char *result;	 /* file of the result, for the parent process; NULL: none */
	bool late;		 /* create the file at the first event */
	int *on;		 /* set to not 0 while recording */
	mem_arena *arena; /* has all these strings; @owned by the recorder after recorder_begin() */
} recorder_plan;

typedef enum recorder_request {
	RECORDER_FLUSH = 1,	 /* write all events so far to the file */
	RECORDER_DUMP = 2,	 /* write the newest events */
	RECORDER_DUMP_ASIDE = 8, /* write them to a separate file */
	RECORDER_END = 4	 /* close everything and save the result */
} recorder_request;

/* Starts recording. On failure the caller still owns the plan's arena. */
dck_status recorder_begin(const recorder_plan *plan, dck_err *err);
/* Returns the plan of the active recording; NULL: none. */
const recorder_plan *recorder_begun(void);
/* Sends a request and waits up to bound_ns; false: nothing records in this process, or a timeout.
 * Async-signal-safe; preserves errno. */
bool recorder_request_wait(recorder_request request, uint64_t bound_ns);
/* Returns the result of the last RECORDER_FLUSH or RECORDER_DUMP. */
dck_status recorder_last_status(dck_err *err);
/* Stops recording. *ret: the message of zone_result.h, owned, wire_out_done(); ret may be NULL. */
dck_status recorder_end(wire_out *ret, dck_err *err);
bool recorder_ended_empty(void); /* the last recording that ended had no event */

/* Pause and resume around fork(): no operation runs in between. */
void recorder_quiesce(void);
void recorder_resume(void);
/* Drops the parent's recording in a forked child. Returns its plan, whose arena the caller now
 * owns; zeroed: none was active. */
recorder_plan recorder_after_fork(void);

#endif
