/* op_events.h - the operators of profiled runs, appended run by run in their order of execution, by
 * engines whose runtimes report durations alone: an operator begins where the one before it ended.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_OP_EVENTS_H
#define ENGINE_OP_EVENTS_H

#include "base/mem.h"
#include "deepclock/plugin.h"
#include "os/os.h"

typedef struct op_events {
	os_fair_lock lock;
	dck_op_event *events;
	uint64_t *run_ns;
	size_t nevents, events_cap, nruns, runs_cap;
	size_t last; /* first event of the last run */
} op_events;

typedef struct op_time {
	const char *name;
	size_t name_bytes;
	const char *type, *provider; /* provider NULL: unknown */
	uint64_t ns;
} op_time;

/* Appends a run that took run_ns, with its n operators. Texts are copied to `a`, and shared with
 * the run before, which mostly had the same. From any thread. */
dck_status op_events_run(op_events *p, mem_arena *a, uint64_t run_ns, const op_time *times,
			 size_t n, dck_err *err);
/* Returns all runs; durations are in whole microseconds. Borrowed. */
dck_profile op_events_profile(const op_events *p);
void op_events_done(op_events *p);

#endif
