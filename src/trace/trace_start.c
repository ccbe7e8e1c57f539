/* trace_start.c - recording from its start to its end: the clock, the thread that drains, what
 * becomes of it in fork() and at exit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"

#include "base/err.h"
#include "os/os.h"
#include "trace/lane.h"
#include "trace/zone_names.h"
#include "trace/zone_record.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

int dck_trace_on;

enum { FLUSH_NS = 100000000, BUFFER_BYTES = 64 << 20, PAIRS = 64, BATCHES = 16 };

/* What records in this process; nothing does while drain is NULL. */
static struct recorder {
	pthread_mutex_t control; /* start, stop, fork: one at a time */
	pthread_mutex_t work;	 /* held for each round of the drain */
	pthread_t thread;
	_Atomic bool stop;
	drain *drain;
	dck_clock clock;
	os_clock_state tsc;
	bool clock_known;
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

static dck_status begin(struct recorder *r, dck_err *err)
{
	r->lost = lost_so_far();
	r->method.began_unix_ns = os_unix_ns();
	r->base_ns = os_now_ns();
	r->base = ticks_now();
	DCK_TRY(drain_new(&r->drain, r->base, r->tsc.ns_per_tick_q32, NULL, err));
	if (!thread_start(r)) {
		drain_free(r->drain);
		r->drain = NULL;
		DCK_FAIL(err, E_UNSUP, "the system gives no thread to record with");
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

	r->method.buffer_bytes = buffer_bytes ? buffer_bytes : BUFFER_BYTES;
	DCK_NEED(zone_names_init() && block_pool_reserve(r->method.buffer_bytes), err,
		 "for the events");
	if (!lanes_init() || (!watched && pthread_atfork(fork_prepare, fork_parent, fork_child)))
		DCK_FAIL(err, E_UNSUP, "the system cannot tell when a thread ends");
	watched = true;
	clock_choose(r);
	r->method.pair_ns = pair_cost(r);
	return DCK_OK;
}

static dck_status start(struct recorder *r, const dck_trace_config *config, dck_err *err)
{
	const char *path = config ? config->path : secure_getenv("DEEPCLOCK_TRACE");

	if (r->drain) {
		if (!config)
			return DCK_OK;
		DCK_FAIL(err, E_ARG, "it records already; stop that first");
	}
	if (!config && (!path || !*path))
		return DCK_OK;
	if (path)
		DCK_FAIL(err, E_UNSUP, "this version writes no file of a trace");
	DCK_TRY(prepare(r, config->buffer_bytes, err));
	return begin(r, err);
}

static dck_status stop(struct recorder *r, dck_record **ret, dck_err *err)
{
	dck_status st = DCK_OK;

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
	if (ret)
		st = zone_record(r->drain, &r->method, ret, err);
	drain_free(r->drain);
	r->drain = NULL;
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

/* The child has one thread, and none that drains. What was in the lanes is the parent's. */
static void fork_child(void)
{
	struct recorder *r = &recorder;

	on(false);
	lanes_forget();
	block_pool_forget();
	drain_free(r->drain);
	r->drain = NULL;
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
