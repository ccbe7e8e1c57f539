/* trace_start.c - recording from its start to its end: the clock, the thread that drains, what
 * becomes of it in fork() and at exit.
 *
 *	DEEPCLOCK_TRACE=out.pftrace ./program
 *
 * records a program from its start, in a constructor, to its end, in a destructor. A child, made by
 * fork() or a program that this one started, writes into a file with its process number in its
 * name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "trace/lane.h"
#include "trace/trace_options.h"
#include "trace/trace_file.h"
#include "trace/zone_names.h"
#include "trace/zone_record.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int dck_trace_on;

enum {
	FLUSH_NS = 100000000,
	BUFFER_BYTES = 64 << 20,
	BUFFER_BYTES_MAX = 1 << 30,
	PAIRS = 64,
	BATCHES = 16
};

/* What records in this process; nothing does while drain is NULL. */
static struct recorder {
	pthread_mutex_t control; /* start, stop, fork: one at a time */
	pthread_mutex_t work;	 /* held for each round of the drain */
	pthread_t thread;
	_Atomic bool stop;
	drain *drain;
	trace_file *file;	 /* NULL: none is written */
	mem_arena *arena;	 /* of config's texts */
	dck_trace_config config; /* what was asked for; path NULL: no file */
	dck_clock clock;
	os_clock_state tsc;
	bool clock_known;
	bool claimed; /* the file that the environment names is ours */
	bool late;    /* the file is made with the first event */
	bool child;   /* of a process that records: its record is not the one that was asked for */
	uint64_t base, base_ns, lost; /* ticks, the system's clock, events, at the beginning */
	zone_method method;
} recorder = {.control = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_MUTEX_INITIALIZER};

/* --- the clock */

static void clock_choose(struct recorder *r)
{
	if (r->clock_known)
		return;
	r->clock_known = true;
	r->tsc.ns_per_tick_q32 = UINT64_C(1) << 32;
	r->method.clock = "CLOCK_MONOTONIC";
#if defined(__x86_64__)
	ticks_are_tsc = os_clock_tsc(&r->tsc, &r->clock);
	if (ticks_are_tsc)
		r->method.clock = "TSC";
#endif
	r->method.tick_hz = 1e9 * 0x1p32 / (double)r->tsc.ns_per_tick_q32;
}

/* Of a pair that is made and thrown away: what comes before the base is of no recording. */
static double pair_cost(const struct recorder *r)
{
	static dck_zone_site site = {"deepclock: cost of a range", __FILE__, __LINE__, 0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < BATCHES; i++) {
		uint64_t begin = ticks_now();
		for (int j = 0; j < PAIRS; j++) {
			dck_zone_push(&site);
			dck_zone_pop();
		}
		uint64_t took = ticks_now() - begin;
		if (took < least)
			least = took;
	}
	return (double)least * 1e9 / r->method.tick_hz / PAIRS;
}

static uint64_t lost_so_far(void)
{
	uint64_t n = lanes_lost();

	for (size_t i = 0; i < lanes_used(); i++)
		n += atomic_load(&lanes_at(i)->lost);
	return n;
}

/* --- the thread */

static bool round_of(struct recorder *r)
{
	pthread_mutex_lock(&r->work);
	bool more = drain_round(r->drain);
	if (r->file)
		trace_file_flush(r->file);
	pthread_mutex_unlock(&r->work);
	return more;
}

static void *drain_thread(void *arg)
{
	struct recorder *r = arg;

	pthread_setname_np(pthread_self(), "deepclock");
	while (!atomic_load(&r->stop)) {
		lanes_wait(FLUSH_NS);
		while (round_of(r) && !atomic_load(&r->stop))
			;
	}
	return NULL;
}

/* The program's signals are for its own threads. */
static bool thread_start(struct recorder *r)
{
	sigset_t all, old;

	atomic_store(&r->stop, false);
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &old))
		return false;
	bool made = !pthread_create(&r->thread, NULL, drain_thread, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return made;
}

/* --- start and stop; recorder.control is held */

static void on(bool is)
{
	__atomic_store_n(&dck_trace_on, is, __ATOMIC_SEQ_CST);
}

static void forget(struct recorder *r)
{
	drain_free(r->drain);
	mem_arena_free(r->arena);
	r->drain = NULL;
	r->file = NULL;
	r->arena = NULL;
	r->config = (dck_trace_config){0};
}

/* The clocks' times at the base, one after the other within a microsecond. */
static trace_about base_take(struct recorder *r)
{
	trace_about about = {0};
	struct timespec t;

	r->base = ticks_now();
	r->base_ns = os_now_ns();
	r->method.began_unix_ns = os_unix_ns();
	about.monotonic_ns = about.boottime_ns = r->base_ns;
	about.unix_ns = r->method.began_unix_ns;
	if (!clock_gettime(CLOCK_BOOTTIME, &t))
		about.boottime_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return about;
}

/* r->config is set. On failure nothing is left of it. */
static dck_status begin(struct recorder *r, dck_err *err)
{
	const trace_file_config file = {.path = r->config.path,
					.max_size = r->config.max_size,
					.last = r->config.last,
					.late = r->late};
	drain_listener listener = {0};
	trace_file_said said;
	dck_status st = DCK_OK;

	r->lost = lost_so_far();
	const trace_about about = base_take(r);
	if (file.path)
		st = trace_file_open(&r->file, &file, &about, err);
	if (r->file)
		listener = trace_file_listener(r->file);
	if (st == DCK_OK)
		st = drain_new(&r->drain, r->base, r->tsc.ns_per_tick_q32, &listener, err);
	if (st == DCK_OK && !thread_start(r))
		st = err_set(err, DCK_E_UNSUP, __FILE__, __LINE__,
			     "the system gives no thread to record with");
	if (st != DCK_OK) {
		if (r->file)
			trace_file_close(r->file, &said, NULL);
		forget(r);
		return st;
	}
	on(true);
	return DCK_OK;
}

static void fork_prepare(void);
static void fork_parent(void);
static void fork_child(void);

/* What is made once and stays. */
static dck_status prepare(struct recorder *r, uint64_t buffer_bytes, dck_err *err)
{
	static bool watched;

	r->method.buffer_bytes = !buffer_bytes			   ? BUFFER_BYTES
				 : buffer_bytes > BUFFER_BYTES_MAX ? BUFFER_BYTES_MAX
								   : buffer_bytes;
	DCK_NEED(zone_names_init() && block_pool_reserve(r->method.buffer_bytes), err,
		 "for the events");
	if (!lanes_init() || (!watched && pthread_atfork(fork_prepare, fork_parent, fork_child)))
		DCK_FAIL(err, E_UNSUP, "the system cannot tell when a thread ends");
	watched = true;
	clock_choose(r);
	r->method.pair_ns = pair_cost(r);
	return DCK_OK;
}

/* A file is found again after chdir(). */
static const char *absolute(mem_arena *a, const char *path)
{
	char here[4096];

	if (!path || path[0] == '/' || !os_folder_here(here, sizeof here))
		return path;
	return mem_arena_fmt(a, "%s/%s", here, path);
}

/* The file that the environment names. A program that was started by one that records makes a file
 * of its own. */
static dck_status claim(struct recorder *r, dck_err *err)
{
	const char *owner = getenv("DEEPCLOCK_TRACE_BY");
	char self[24];

	snprintf(self, sizeof self, "%ld", os_process_id());
	/* Of this number, but not by this code: from before an exec(). */
	r->child = owner && *owner && (strcmp(owner, self) != 0 || !r->claimed);
	if (r->child)
		return trace_file_of_child(r->arena, r->config.path, os_process_id(),
					   &r->config.path, err);
	setenv("DEEPCLOCK_TRACE_BY", self, 1);
	r->claimed = true;
	return DCK_OK;
}

/* Where who started this program looks for its record; NULL: nowhere. */
static const char *record_path(const struct recorder *r)
{
	const char *path = r->child ? NULL : secure_getenv("DEEPCLOCK_TRACE_RECORD");

	return path && *path ? path : NULL;
}

/* An empty file there tells that the program records, should it not come to its end. */
static void record_announce(const struct recorder *r)
{
	int fd;

	if (record_path(r) && os_open_append(record_path(r), &fd, NULL) == DCK_OK)
		os_close(fd);
}

/* config NULL: what the environment says, which may be nothing: then nothing begins. */
static dck_status start_with(struct recorder *r, const dck_trace_config *config, dck_err *err)
{
	r->late = false;
	r->arena = mem_arena_new(0);
	DCK_NEED(r->arena, err, "to record");
	if (config) {
		DCK_TRY(trace_config_copy(r->arena, config, &r->config, err));
	} else {
		DCK_TRY(trace_environment_get(r->arena, &r->config, err));
		if (!r->config.path)
			return DCK_OK;
		DCK_TRY(claim(r, err));
	}
	r->config.path = absolute(r->arena, r->config.path);
	if (mem_arena_failed(r->arena))
		return ERR_NO_MEMORY(err, "for the name of a trace");
	record_announce(r);
	DCK_TRY(prepare(r, r->config.buffer_bytes, err));
	return begin(r, err);
}

static dck_status start(struct recorder *r, const dck_trace_config *config, dck_err *err)
{
	if (r->drain && !config)
		return DCK_OK;
	if (r->drain)
		DCK_FAIL(err, E_ARG, "it records already; stop that first");
	dck_status st = start_with(r, config, err);
	if (!r->drain)
		forget(r);
	return st;
}

static dck_status stop(struct recorder *r, dck_record **ret, dck_err *err)
{
	dck_status st = DCK_OK;
	dck_record *record = NULL;
	dck_err e = {0};
	trace_file_said said;

	on(false);
	atomic_store(&r->stop, true);
	lanes_wake();
	pthread_join(r->thread, NULL);
	while (drain_round(r->drain))
		;
	uint64_t end = ticks_now(), end_ns = os_now_ns();
	drain_end(r->drain, end);
	r->method.took_ns = drain_ns(r->drain, end);
	r->method.dropped = lost_so_far() - r->lost;
	r->method.drift_ratio = NAN;
	if (end_ns - r->base_ns >= 1000000000u)
		r->method.drift_ratio =
		    (double)r->method.took_ns / (double)(end_ns - r->base_ns) - 1;
	if (r->file)
		st = trace_file_close(r->file, &said, &e);
	dck_status made =
	    zone_record(r->drain, &r->method, r->file ? &said : NULL, r->config.path,
			st == DCK_OK ? NULL : e.msg, &record, st == DCK_OK ? &e : NULL);
	if (st == DCK_OK)
		st = made;
	forget(r);
	/* For who started this program, also of a file that is not whole. */
	if (record && record_path(r) && st == DCK_OK)
		st = dck_record_save(record, record_path(r), &e);
	else if (record && record_path(r))
		made = dck_record_save(record, record_path(r), NULL);
	if (st != DCK_OK && err)
		*err = e;
	if (ret && st == DCK_OK)
		*ret = record;
	else
		dck_record_free(record);
	return st;
}

dck_status dck_trace_start(const dck_trace_config *config, dck_err *err)
{
	pthread_mutex_lock(&recorder.control);
	dck_status st = start(&recorder, config, err);
	pthread_mutex_unlock(&recorder.control);
	return st;
}

dck_status dck_trace_stop(dck_record **ret, dck_err *err)
{
	dck_status st = DCK_OK;

	pthread_mutex_lock(&recorder.control);
	if (recorder.drain)
		st = stop(&recorder, ret, err);
	else if (ret)
		*ret = NULL;
	pthread_mutex_unlock(&recorder.control);
	return st;
}

static dck_status dump(struct recorder *r, dck_err *err)
{
	if (!r->file)
		DCK_FAIL(err, E_ARG, "nothing is recorded into a file");
	drain_round(r->drain);
	return trace_file_dump(r->file, err);
}

dck_status dck_trace_dump(dck_err *err)
{
	pthread_mutex_lock(&recorder.control);
	pthread_mutex_lock(&recorder.work);
	dck_status st = dump(&recorder, err);
	pthread_mutex_unlock(&recorder.work);
	pthread_mutex_unlock(&recorder.control);
	return st;
}

/* --- fork and exit */

static void fork_prepare(void)
{
	pthread_mutex_lock(&recorder.control);
	pthread_mutex_lock(&recorder.work);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&recorder.work);
	pthread_mutex_unlock(&recorder.control);
}

/* Without a file, as after any other failure, it is not recorded. */
static void child_begin(struct recorder *r, const dck_trace_config *config)
{
	r->arena = mem_arena_new(0);
	if (!r->arena || trace_config_copy(r->arena, config, &r->config, NULL) != DCK_OK ||
	    trace_file_of_child(r->arena, config->path, os_process_id(), &r->config.path, NULL) !=
		DCK_OK ||
	    !block_pool_reserve(r->method.buffer_bytes) || begin(r, NULL) != DCK_OK)
		forget(r);
}

/* The child has one thread, and none that drains. What was in the lanes is the parent's, as its
 * file is; when there was one, the child makes its own with its first event. */
static void fork_child(void)
{
	struct recorder *r = &recorder;
	const dck_trace_config config = r->config;
	mem_arena *parents = r->arena;
	const bool recorded = r->drain && config.path;

	on(false);
	r->child = r->late = true;
	lanes_forget();
	block_pool_forget();
	trace_file_abandon(r->file);
	r->arena = NULL; /* config's texts are still needed */
	forget(r);
	if (recorded)
		child_begin(r, &config);
	mem_arena_free(parents);
	fork_parent();
}

/* A program that is linked with the library needs no line of code to be recorded. */
__attribute__((constructor)) static void process_begins(void)
{
	dck_status st = dck_trace_start(NULL, NULL);

	(void)st; /* nobody listens yet */
}

__attribute__((destructor)) static void process_ends(void)
{
	dck_trace_stop(NULL, NULL);
}
