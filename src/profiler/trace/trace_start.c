/* trace_start.c - starts and ends a recording: by calls, the environment, fork(), and the start and
 * exit of the process.
 *
 *	DEEPCLOCK_TRACE=out.pftrace ./program
 *
 * records a program from its start, in a constructor, to its end, in a destructor. A child process,
 * of fork() or a program that this one started, writes into a file with its process id in the name.
 * recorder.h does the recording.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/zone.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "profiler/trace/thread_buffer.h"
#include "profiler/trace/annotation/nvtx_emit.h"
#include "profiler/trace/device_track.h"
#include "profiler/trace/recorder.h"
#include "profiler/trace/result/child_result.h"
#include "profiler/trace/result/lost_children.h"
#include "profiler/trace/trace_file.h"
#include "profiler/trace/trace_options.h"
#include "profiler/trace/waiting.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest wait at the exit of a program. */
#define BOUND_NS UINT64_C(2000000000)

static struct start_state {
	pthread_mutex_t control; /* start, stop, fork: one at a time */
	bool claimed;		 /* this process owns the file that the environment names */
	bool child;		 /* of a recording process: its result is not the requested one */
	bool asked;		 /* the recording was requested by the environment alone */
	long owner;		 /* owner of the file, before it was claimed */
} start_state = {.control = PTHREAD_MUTEX_INITIALIZER};

/* --- start and stop; start_state.control is held */

/* The process that owns the file; 0: none yet. */
static const char owner_name[] = "DEEPCLOCK_TRACE_BY";

static long owner_get(void)
{
	const char *text = secure_getenv(owner_name);

	return text ? strtol(text, NULL, 10) : 0;
}

/* Overwrites the variable's text if it has space, as `deepclock trace` provides: a shell passes on
 * its initial environment, regardless of later calls of setenv(). */
static void owner_set(long pid)
{
	char *there = secure_getenv(owner_name), text[24];

	snprintf(text, sizeof text, "%010ld", pid);
	if (there && strlen(there) == strlen(text))
		memcpy(there, text, strlen(text));
	else
		setenv(owner_name, text, 1);
}

/* Path where the parent expects the result; NULL: no parent. The file is created empty at start, so
 * the parent can distinguish a killed recorder from a program that never recorded. */
static const char *result_asked(mem_arena *a)
{
	const char *path = secure_getenv("DEEPCLOCK_TRACE_RESULT");

	return path && *path ? mem_arena_dup(a, path) : NULL;
}

/* Makes the names of a child's files from the parent's names. Without a result *ret_result
 * stays. */
static dck_status child_names(mem_arena *a, const char *result, const char *path,
			      const char **ret_result, const char **ret_path, dck_err *err)
{
	return result ? trace_child_names(a, result, path, ret_result, ret_path, err)
		      : trace_file_of_child(a, path, os_process_id(), ret_path, err);
}

/* Preserves the recording of this process from before exec(). */
static dck_status keep_beside(mem_arena *a, const char *result, const char *path, dck_err *err)
{
	const char *said = NULL, *beside;
	uint64_t bytes;

	DCK_TRY(child_names(a, result, path, &said, &beside, err));
	if (os_path_kind(path, &bytes) != OS_FILE)
		return DCK_OK;
	os_path_rename(path, beside);
	if (said)
		trace_child_became(said);
	return DCK_OK;
}

/* Claims the file that the environment names. A program started by a recording one creates a
 * separate file, with its first event. A program that replaced this one by exec(), often a script
 * or a wrapper, continues under its name, and the earlier recording is preserved under another
 * name. */
static dck_status start_claim(struct start_state *s, recorder_plan *p, dck_err *err)
{
	const char *result = result_asked(p->arena);
	const long owner = owner_get(), self = os_process_id();

	if (result)
		lost_children_map(result);
	s->owner = owner;
	s->child = owner && owner != self;
	/* If a parent without a recording starts several programs, the first owns the file. */
	if (!owner && result && !s->claimed)
		s->child = !os_file_create_exclusive(result);
	p->late = s->child;
	if (s->child)
		return child_names(p->arena, result, p->config.path, &p->result, &p->config.path,
				   err);
	if (owner && !s->claimed)
		DCK_TRY(keep_beside(p->arena, result, p->config.path, err));
	p->result = result;
	owner_set(self);
	s->claimed = true;
	return DCK_OK;
}

static void fork_prepare(void);
static void fork_parent(void);
static void fork_child(void);

/* quick_exit() runs no destructor. */
static void quick_exit_saves(void)
{
	(void)dck_trace_leave();
}

/* Starts a recording. config NULL: as the environment requests; without a request nothing
 * starts. */
static dck_status start_with(struct start_state *s, const dck_trace_config *config,
			     recorder_plan *p, dck_err *err)
{
	static bool fork_watched, quick_exit_watched;

	if (config) {
		DCK_TRY(trace_config_copy(p->arena, config, &p->config, err));
	} else {
		DCK_TRY(trace_environment_get(p->arena, &p->config, err));
		if (!p->config.path)
			return DCK_OK;
		DCK_TRY(start_claim(s, p, err));
	}
	DCK_TRY(trace_config_check(&p->config, err));
	p->config.path = trace_path_absolute(p->arena, p->config.path);
	DCK_NEED(!mem_arena_failed(p->arena), err, "for the name of a trace");
	if (!fork_watched && pthread_atfork(fork_prepare, fork_parent, fork_child))
		DCK_FAIL(err, E_UNSUP, "the system cannot report when the process forks");
	fork_watched = true;
	/* Without it quick_exit() loses the end of the recording, and nothing else does. */
	quick_exit_watched = quick_exit_watched || at_quick_exit(quick_exit_saves) == 0;
	return recorder_begin(p, err);
}

static dck_status start_start(struct start_state *s, const dck_trace_config *config, dck_err *err)
{
	recorder_plan plan = {.on = &dck_trace_on};

	if (recorder_begun() && !config)
		return DCK_OK;
	if (recorder_begun())
		DCK_FAIL(
		    err, E_ARG,
		    "this process records a timeline already (deepclock trace started it, or trace() "
		    "did): end that first");
	if (!config && !trace_environment_names())
		return DCK_OK;
	plan.arena = mem_arena_new(0);
	DCK_NEED(plan.arena, err, "to record");
	s->asked = !config;
	dck_status st = start_with(s, config, &plan, err);
	if (!recorder_begun())
		mem_arena_free(plan.arena);
	return st;
}

dck_status dck_trace_start(const dck_trace_config *config, dck_err *err)
{
	pthread_mutex_lock(&start_state.control);
	dck_status st = start_start(&start_state, config, err);
	pthread_mutex_unlock(&start_state.control);
	return st;
}

static dck_status start_end(struct start_state *s, wire_out *ret, dck_err *err)
{
	dck_status st = DCK_OK;

	pthread_mutex_lock(&s->control);
	if (recorder_begun()) {
		device_tracks_end();
		st = recorder_end(ret, err);
	}
	pthread_mutex_unlock(&s->control);
	return st;
}

dck_status dck_recorder_end(dck_result_take *take, void *self, dck_err *err)
{
	wire_out result = {0};

	const dck_status st = start_end(&start_state, &result, err);
	const dck_status taken = !result.n	? DCK_OK
				 : st == DCK_OK ? take(self, result.data, result.n, err)
						: take(self, result.data, result.n, NULL);
	wire_out_done(&result);
	return st == DCK_OK ? taken : st;
}

dck_status dck_trace_end(dck_err *err)
{
	return start_end(&start_state, NULL, err);
}

static dck_status dump(dck_err *err)
{
	if (!recorder_begun() || !recorder_begun()->config.path)
		DCK_FAIL(err, E_ARG, "nothing is recorded into a file");
	if (!recorder_request_wait(RECORDER_DUMP, UINT64_MAX))
		DCK_FAIL(err, E_ARG, "the recording has ended");
	return recorder_last_status(err);
}

dck_status dck_trace_dump(dck_err *err)
{
	pthread_mutex_lock(&start_state.control);
	dck_status st = dump(err);
	pthread_mutex_unlock(&start_state.control);
	return st;
}

/* --- without a lock: the caller may be in a signal handler */

bool dck_trace_flush(void)
{
	return waits_handed_to() ? waits_handed_to()->flush()
				 : recorder_request_wait(RECORDER_FLUSH, BOUND_NS);
}

bool dck_trace_leave(void)
{
	return waits_handed_to() ? waits_handed_to()->leave()
				 : recorder_request_wait(RECORDER_END, BOUND_NS);
}

/* --- fork and exit */

static void fork_prepare(void)
{
	pthread_mutex_lock(&start_state.control);
	device_tracks_fork_begin();
	recorder_quiesce();
}

static void fork_parent(void)
{
	recorder_resume();
	device_tracks_fork_end();
	pthread_mutex_unlock(&start_state.control);
}

/* Starts recording in a child; without a file, or after any other failure, it is not recorded. */
static void child_begin(const recorder_plan *parents)
{
	recorder_plan plan = {.on = &dck_trace_on, .late = true, .arena = mem_arena_new(0)};

	if (!plan.arena ||
	    trace_config_copy(plan.arena, &parents->config, &plan.config, NULL) != DCK_OK ||
	    child_names(plan.arena, parents->result, parents->config.path, &plan.result,
			&plan.config.path, NULL) != DCK_OK ||
	    recorder_begin(&plan, NULL) != DCK_OK)
		mem_arena_free(plan.arena);
}

/* If the parent recorded into a file, the child creates its own at its first event. */
static void fork_child(void)
{
	dck_trace_on &= ~LISTEN_RECORD;
	start_state.child = true;
	const recorder_plan parents = recorder_after_fork();
	if (parents.config.path)
		child_begin(&parents);
	mem_arena_free(parents.arena);
	fork_parent();
}

/* --- two copies of this library in one process */

/* Ends this copy's recording. Mostly it has just started, and leaves nothing; otherwise its data
 * are preserved under another name, as before exec(). */
static void yield(struct start_state *s, const recorder_plan *plan)
{
	mem_arena *a = mem_arena_new(0);
	const char *path = a ? mem_arena_dup(a, plan->config.path) : NULL;
	const char *said = a && plan->result ? mem_arena_dup(a, plan->result) : NULL;

	const dck_status st = recorder_end(NULL, NULL);
	s->claimed = false;
	if (st == DCK_OK && path && recorder_ended_empty()) {
		os_file_remove(path);
		if (said)
			os_file_remove(said);
		if (!s->child)
			owner_set(s->owner);
	}
	mem_arena_free(a);
}

bool dck_recorder_delegate(const dck_recorder *to)
{
	const bool fits = to->wait_bytes == sizeof(dck_wait);

	pthread_mutex_lock(&start_state.control);
	const bool ours = !recorder_begun() || start_state.asked;
	if (recorder_begun() && ours)
		yield(&start_state, recorder_begun());
	if (ours && fits)
		waits_delegate_to(to);
	pthread_mutex_unlock(&start_state.control);
	return ours && fits && waits_seen();
}

/* If this copy's symbols are visible in the process, all callers use one copy, whichever comes
 * first. In a program that is statically linked with the library they mostly are not visible: then
 * there are two. */
static void others_yield(void)
{
	static const dck_recorder us = {.wait_bytes = sizeof(dck_wait),
					.wait_begin = dck_wait_begin,
					.wait_end = dck_wait_end,
					.flush = dck_trace_flush,
					.leave = dck_trace_leave};
	dck_status (*const begin)(const dck_trace_config *, dck_err *) = dck_trace_start;
	bool (*first)(const dck_recorder *);
	void *own, *found = os_symbol_default("dck_trace_start");

	memcpy(&own, &begin, sizeof own); /* ISO C has no cast from a function to an object */
	if (!found || found == own)
		return;
	found = os_symbol_default("dck_recorder_delegate");
	if (!found)
		return;
	memcpy(&first, &found, sizeof first);
	if (first(&us))
		dck_waits_seen();
}

/* For the library that `deepclock count` preloads, which ends the recording at _exit(). */
static void exits_watch(void)
{
	bool (*volatile ends)(void) = dck_trace_leave;
	void (*leaves_by)(bool (*)(void));
	void *found = os_symbol_default("dck_count_leaves_by");

	if (!found)
		return;
	memcpy(&leaves_by, &found, sizeof leaves_by);
	leaves_by(ends);
}

/* Reports it, unless deepclock started the program and reports itself; and once: a child, or what
 * exec() brings, inherits the variable and has the same failure. */
static void start_failed(const dck_err *err, long owner)
{
	if (owner || secure_getenv("DEEPCLOCK_TRACE_RESULT"))
		return;
	fprintf(stderr, "deepclock: DEEPCLOCK_TRACE: the program runs, but is not recorded: %s\n",
		err->msg);
	owner_set(os_process_id());
}

/* Records a program that is linked with the library without a line of code. */
__attribute__((constructor)) static void process_begins(void)
{
	dck_err err;
	/* The first copy of the process: a compiler might take a direct call for that of this one.
	 */
	dck_status (*volatile start)(const dck_trace_config *, dck_err *) = dck_trace_start;

	nvtx_emit_begin(&dck_trace_on);
	if (secure_getenv("DEEPCLOCK_TRACE")) {
		others_yield();
		exits_watch();
	}
	const long owner = owner_get();
	if (start(NULL, &err) != DCK_OK)
		start_failed(&err, owner);
}

__attribute__((destructor)) static void process_leaves(void)
{
	(void)start_end(&start_state, NULL, NULL); /* of this copy: the first one ends its own */
}
