/* recorder.c - the recorder: one thread of the process that drains event buffers (drain.c) into the
 * sums and the trace file, and serves requests of other threads and of signal handlers.
 *
 * Requests are a lock-free request/acknowledge protocol: recorder_request_wait() sets a bit of
 * `pending`, takes a ticket from `requested_seq` and wakes the thread. The thread reads
 * `requested_seq` before it takes the requests, serves them, and stores that number in `acked_seq`,
 * a futex on which callers wait for a bounded time. So a ticket up to `acked_seq` is done.
 * recorder_request_wait() is async-signal-safe (signal-safety(7)).
 *
 * Until the thread has acknowledged RECORDER_END, or is joined, it alone uses drain, file and
 * results. It holds `work` in each round, so that no round is under way between recorder_quiesce()
 * and recorder_resume() around fork(). Callers of begin, end and forget exclude each other
 * (trace_start.c).
 *
 * The thread blocks all signals, and its own work is not recorded (thread_buffer_me.unseen). If it
 * is the last thread of the process, it finishes the recording and lets the process end
 * (end_if_last()). Signals that end the process request RECORDER_END and wait BOUND_NS at most.
 * Polls of the threads take at most 1 % of a CPU (POLL_TIMES).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/recorder.h"

#include "base/err.h"
#include "base/sink.h"
#include "deepclock/unstable.h"
#include "os/os.h"
#include "profiler/trace/capture.h"
#include "profiler/trace/clock_snapshot.h"
#include "profiler/trace/result/device_report.h"
#include "profiler/trace/result/zone_result.h"
#include "profiler/trace/thread_buffer.h"
#include "profiler/trace/thread_watch.h"
#include "profiler/trace/annotation/nvtx_emit.h"
#include "profiler/trace/trace_file.h"
#include "profiler/trace/trace_options.h"
#include "profiler/trace/waiting.h"
#include "profiler/trace/zone_names.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* The maximum time that an exiting program waits. */
#define BOUND_NS UINT64_C(2000000000)

enum {
	POLL_NS = 95000000,	      /* between two polls of the threads: with each flush */
	POLL_TIMES = 100,	      /* and this multiple of the time of a poll */
	CLOCKS_NS = 1000000000,	      /* between two readings of the other clocks */
	TERMINATIONS_NS = 1000000000, /* after which signals that end the process are watched */
	BUFFER_BYTES = 64 << 20,
	BUFFER_BYTES_MAX = 1 << 30,
	BUFFER_BYTES_LEAST = 1 << 20,
	BUFFER_LIMIT_PART = 32, /* of a limit of address space */
	WAITS_NS = 10000,
	PAIRS = 64,
	BATCHES = 16
};
/* The time without a free block from the drain after which a waiting thread gives up
 * (config.lossless). */
#define PATIENCE_NS UINT64_C(10000000000)

/* The recorder of this process; inactive while drain is NULL. */
static struct recorder {
	pthread_mutex_t work; /* held for each round of the drain */
	pthread_t thread;
	sigset_t mask; /* the signals that were blocked where the thread was started */
	bool outlived; /* other threads outlived the main thread */
	int other;     /* one of them, for os_threads_after_main() */
	drain *drain;
	trace_file *file; /* NULL: none is written */
	recorder_plan plan;
	/* The open result, for a program that later has another root or user; -1: not open. The
	 * program may have closed it. */
	int result_fd;
	os_file_id result_id;
	os_clock_state tsc;
	bool clock_known;
	uint64_t base, base_ns, lost; /* ticks, the system's clock, events, at the beginning */
	uint64_t clocks_ns;	      /* time of the last reading of other clocks */
	uint64_t poll_ns;	      /* when the threads are polled next */
	thread_buffer_waits waited;   /* at the beginning */
	zone_method method;
	/* Pending requests for the recorder thread, with request and acknowledge sequence numbers.
	 */
	_Atomic bool live;
	_Atomic int thread_id;
	_Atomic long process;
	_Atomic unsigned pending;
	_Atomic uint32_t requested_seq, acked_seq;
	_Atomic int signal; /* the signal that ends the process; 0: none */
	/* When the end was requested, in ticks: open ranges do not include our own work. 0: not yet
	 */
	_Atomic uint64_t left;
	/* Results. Owned by the recorder thread until it acknowledges the request or is joined. */
	dck_err went, ended; /* code 0: well */
	bool empty;	     /* no event */
	wire_out result;
} recorder = {.work = PTHREAD_MUTEX_INITIALIZER, .result_fd = -1};

/* --- the clock */

static void clock_choose(struct recorder *r)
{
	if (r->clock_known)
		return;
	r->clock_known = true;
	r->method.clock = "CLOCK_MONOTONIC";
#if defined(__x86_64__)
	r->tsc.ns_per_tick_q32 = trace_tick_from_env();
	ticks_are_tsc = os_clock_tsc(&r->tsc, NULL);
	if (ticks_are_tsc)
		r->method.clock = "TSC";
#endif
	if (!TICKS_QUICK())
		r->tsc.ns_per_tick_q32 = UINT64_C(1) << 32;
	ticks_ns_q32 = r->tsc.ns_per_tick_q32;
	r->method.tick_hz = 1e9 * 0x1p32 / (double)r->tsc.ns_per_tick_q32;
}

/* Measures a push with its pop. These events come before the base, so they are in no recording. */
static double pair_cost(const struct recorder *r)
{
	static dck_zone_site site = {NVTX_EMIT_NOT, __FILE__, __LINE__, 0};
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
	uint64_t n = thread_buffers_lost();

	for (size_t i = 0; i < thread_buffers_used(); i++)
		n += atomic_load(&thread_buffers_at(i)->lost);
	return n;
}

/* --- what other clocks show */

/* Reads the clocks now, at *ret_ticks of the events' clock. */
static trace_header clocks_now(const struct recorder *r, uint64_t *ret_ticks)
{
	trace_header about;

	clock_snapshot((double)r->tsc.ns_per_tick_q32 * 0x1p-32, ret_ticks, &about);
	return about;
}

static trace_header base_take(struct recorder *r)
{
	const trace_header about = clocks_now(r, &r->base);

	r->base_ns = r->clocks_ns = about.monotonic_ns;
	r->method.began_unix_ns = about.unix_ns;
	return about;
}

/* Writes a snapshot of the clocks to the file, which shows the drift of the events' clock, and what
 * was lost until then. ends: the file is dumped or closed next. */
static void recorder_clocks_put(struct recorder *r, bool ends)
{
	const char *signal = os_signal_name(atomic_load(&r->signal));
	uint64_t ticks;
	trace_header now = clocks_now(r, &ticks);

	r->clocks_ns = now.monotonic_ns;
	now.losses.dropped = lost_so_far() - r->lost + drain_counted(r->drain)->lost;
	if (signal)
		snprintf(now.losses.signal, sizeof now.losses.signal, "%s", signal);
	trace_file_clocks(r->file, drain_ns(r->drain, ticks), &now, ends);
}

/* --- resource use of the threads */

static void threads_poll(struct recorder *r, bool last, uint64_t ticks)
{
	const uint64_t cpu = os_thread_cpu_ns();

	/* A file that is made with the first event is not made for this. */
	const bool file = !r->plan.late || drain_counted(r->drain)->events;
	const bool inside = last || !capture_armed() || capture_open();

	const watch_look how = {.emit = file && inside,
				.last = last,
				/* Of the newest events it would displace those before a hang. */
				.beat = !r->plan.config.last};
	drain_poll_threads(r->drain, &how, ticks);
	const uint64_t took = os_thread_cpu_ns() - cpu;
	const uint64_t pause = took * POLL_TIMES > POLL_NS ? took * POLL_TIMES : POLL_NS;
	r->poll_ns = os_now_ns() + pause;
	r->method.looks++;
	r->method.looks_cpu_ns += took;
}

/* --- on and off */

static void on(struct recorder *r)
{
	r->method.waits_ns = r->plan.config.waits_ns ? r->plan.config.waits_ns : WAITS_NS;
	const double ticks = (double)r->method.waits_ns * r->method.tick_hz / 1e9;
	waits_from(r->plan.config.no_waits ? UINT64_MAX : (uint64_t)ticks);
	atomic_fetch_add(&trace_recordings, 1);
	__atomic_or_fetch(r->plan.on, LISTEN_RECORD, __ATOMIC_SEQ_CST);
}

static void off(struct recorder *r)
{
	waits_from(UINT64_MAX);
	__atomic_and_fetch(r->plan.on, ~LISTEN_RECORD, __ATOMIC_SEQ_CST);
}

/* Returns why blocking calls are not recorded, or NULL if they are. */
static const char *waits_absent(const struct recorder *r)
{
	const char *why = secure_getenv("DEEPCLOCK_TRACE_WAITS_WHY");

	if (r->plan.config.no_waits)
		return "--no-waits";
	if (waits_seen())
		return NULL;
	return why && *why ? why : "deepclock trace has not started this program";
}

/* --- the thread's work; recorder.work is held */

static void dump_aside(struct recorder *r)
{
	if (!r->file)
		return;
	recorder_clocks_put(r, true);
	if (trace_file_dump_aside(r->file, (unsigned)r->method.dumps + 1, NULL) == DCK_OK)
		r->method.dumps++;
	else
		r->method.dumps_failed++;
}

/* If a program is slow again and again, the first files show why. */
enum { LIMIT_DUMPS_MAX = 100 };

static void limits_look(struct recorder *r)
{
	const uint64_t over = drain_over(r->drain);

	if (over == r->method.over)
		return;
	r->method.over = over;
	if (r->method.dumps < LIMIT_DUMPS_MAX)
		dump_aside(r);
	else
		r->method.dumps_left_out++;
}

static void captures_count(struct recorder *r, uint64_t end)
{
	const capture_counts c = capture_counted(end);

	r->method.capture = capture_armed() ? &r->plan.config.capture_ranges : NULL;
	r->method.captures = c.windows;
	r->method.captures_left_out = c.left_out;
	r->method.captured_ns = (uint64_t)((double)c.ticks * 1e9 / r->method.tick_hz);
	r->method.capture_near = c.windows ? NULL : capture_nearest();
}

static const char *recorder_name_of(void *self, uint32_t name)
{
	(void)self;
	return zone_name_get(name)->text;
}

static void recorder_failed(struct recorder *r, const dck_err *e)
{
	if (!r->ended.code)
		r->ended = *e;
}

/* said: the result of the file; NULL: none was written. */
static dck_status recorder_result_write(struct recorder *r, const trace_file_said *said,
					dck_err *err)
{
	const thread_watch *watch = drain_watch(r->drain);
	zone_result result = {.method = r->method,
			      .program = program_invocation_name,
			      .counts = *drain_counted(r->drain),
			      .threads = watch->threads,
			      .threads_left_out = watch->left_out,
			      .path = said ? r->plan.config.path : NULL,
			      .failed = r->ended.code ? r->ended.msg : NULL,
			      .sums = drain_sums(r->drain),
			      .device = drain_device_sums(r->drain),
			      .device_report = device_report_get(),
			      .name_of = recorder_name_of};

	if (said)
		result.said = *said;
	DCK_NEED(!result.sums->failed && !result.device->failed, err, "for the table of zones");
	DCK_TRY(
	    thread_watch_table(watch, r->method.waits_absent, &result.table, &result.process, err));
	zone_result_write(&result, &r->result);
	mem_free(result.table.rows);
	DCK_NEED(!r->result.failed, err, "for the result of the recording");
	return DCK_OK;
}

static void recorder_result_open(struct recorder *r)
{
	if (!r->plan.result || r->plan.late ||
	    os_open_append(r->plan.result, &r->result_fd, NULL) != DCK_OK ||
	    !os_fd_id(r->result_fd, &r->result_id))
		r->result_fd = -1;
}

static bool recorder_result_is_open(const struct recorder *r)
{
	os_file_id id;

	return r->result_fd >= 0 && os_fd_id(r->result_fd, &id) &&
	       id.device == r->result_id.device && id.number == r->result_id.number;
}

static void recorder_result_close(struct recorder *r)
{
	if (recorder_result_is_open(r))
		os_close(r->result_fd);
	r->result_fd = -1;
}

/* Writes the result to its open file. Half of one would be no result. */
static dck_status recorder_result_append(struct recorder *r, dck_err *err)
{
	dck_sink out;

	dck_sink_fd(&out, r->result_fd);
	sink_put(&out, r->result.data, r->result.n);
	const dck_status status = dck_sink_finish(&out, err);
	if (status != DCK_OK)
		(void)os_truncate(r->result_fd, r->plan.result, 0, NULL);
	return status;
}

static void recorder_result_save(struct recorder *r)
{
	dck_replace *file;
	dck_sink out;
	dck_err e = {0};
	int fd;

	dck_status status = dck_replace_open(r->plan.result, &file, &fd, &e);
	if (status == DCK_OK) {
		dck_sink_fd(&out, fd);
		sink_put(&out, r->result.data, r->result.n);
		status = dck_sink_finish(&out, &e);
		if (status == DCK_OK)
			status = os_replace_commit_unsynced(file, &e);
		else
			dck_replace_abort(file);
	} else if (recorder_result_is_open(r)) {
		status = recorder_result_append(r, &e);
	}
	recorder_result_close(r);
	if (status != DCK_OK)
		recorder_failed(r, &e);
}

static void recorder_finish(struct recorder *r)
{
	trace_file_said said;
	dck_err e;

	while (drain_round(r->drain))
		;
	if (r->method.limited && r->file)
		limits_look(r);
	uint64_t end = ticks_now(), end_ns = os_now_ns();
	threads_poll(r, true, end);
	drain_end(r->drain, atomic_load(&r->left) ? atomic_load(&r->left) : end);
	r->method.recorder_cpu_ns = os_thread_cpu_ns();
	r->method.took_ns = drain_ns(r->drain, end);
	captures_count(r, end);
	r->method.dropped = lost_so_far() - r->lost;
	r->method.lossless = r->plan.config.lossless;
	r->method.waits = thread_buffers_waited().n - r->waited.n;
	r->method.waited_ns = thread_buffers_waited().ns - r->waited.ns;
	r->method.waits_absent = waits_absent(r);
	r->method.address_space_limit = os_address_space_limit();
	r->method.signal = os_signal_name(atomic_load(&r->signal));
	r->method.drift_ratio = NAN;
	if (end_ns - r->base_ns >= 1000000000u)
		r->method.drift_ratio =
		    (double)r->method.took_ns / (double)(end_ns - r->base_ns) - 1;
	const bool has_file = r->file;
	if (has_file) {
		recorder_clocks_put(r, true);
		trace_file_close(r->file, &said, &r->ended);
	}
	r->file = NULL;
	r->empty = !drain_counted(r->drain)->events;
	r->result.failed = recorder_result_write(r, has_file ? &said : NULL, &e) != DCK_OK;
	if (r->result.failed)
		recorder_failed(r, &e);
	/* For the process that started this program, also if the file is incomplete. */
	if (!r->result.failed && r->plan.result && (!has_file || said.made))
		recorder_result_save(r);
}

static void recorder_write_out(struct recorder *r, bool dump)
{
	r->went = (dck_err){0};
	if (r->file)
		recorder_clocks_put(r, false);
	if (r->file && (dump || r->plan.config.last))
		trace_file_dump(r->file, &r->went);
	else if (r->file)
		trace_file_flush(r->file, true);
}

static void serve(struct recorder *r, unsigned requests)
{
	drain_round(r->drain);
	if (requests & (RECORDER_DUMP | RECORDER_FLUSH))
		recorder_write_out(r, requests & RECORDER_DUMP);
	if (requests & RECORDER_DUMP_ASIDE)
		dump_aside(r);
	if (requests & RECORDER_END) {
		off(r);
		thread_buffers_block_when_full(0);
		recorder_finish(r);
		atomic_store(&r->live, false);
	}
}

/* Returns whether the process must not end before its recording is saved. */
static bool recorder_has_place(const struct recorder *r)
{
	return r->plan.config.path || r->plan.result;
}

/* Runs one round. Returns true if full blocks were read, and more may follow. */
static bool round_of(struct recorder *r)
{
	/* In this order: a request with this number, or a lower one, was stored before. */
	const uint32_t requested = atomic_load(&r->requested_seq);
	const unsigned requests = atomic_exchange(&r->pending, 0);
	bool more = false;

	pthread_mutex_lock(&r->work);
	if (requests)
		serve(r, requests);
	else
		more = drain_round(r->drain);
	if (r->method.limited && r->file)
		limits_look(r);
	if (atomic_load(&r->live) && os_now_ns() >= r->poll_ns)
		threads_poll(r, false, ticks_now());
	if (r->file && os_now_ns() - r->clocks_ns >= CLOCKS_NS)
		recorder_clocks_put(r, false);
	if (r->file)
		trace_file_flush(r->file, false);
	pthread_mutex_unlock(&r->work);
	atomic_store(&r->acked_seq, requested);
	if (requests)
		os_futex_wake(&r->acked_seq);
	return more && atomic_load(&r->live);
}

/* The process ends with its last thread, which must not be this one. After pthread_exit() in the
 * main thread the C library calls exit() in the last thread that returns: here, with the program's
 * own signal mask. Where the main thread left with a status, by a call of the kernel, the C library
 * still counts it. Linux since 5.17 takes the status of the last thread for that of the process:
 * here the main thread's, unless others outlived it. A signal that ended the main thread alone, as
 * by SECCOMP_RET_KILL_THREAD, ends the process. */
static void end_if_last(struct recorder *r)
{
	int status;
	const unsigned threads = os_threads_after_main(&status, &r->other);

	r->outlived = r->outlived || threads > 1;
	if (threads != 1)
		return;
	atomic_fetch_or(&r->pending, RECORDER_END);
	round_of(r);
	if (status && !r->outlived)
		os_thread_exit(status);
	pthread_sigmask(SIG_SETMASK, &r->mask, NULL);
}

static void *drain_thread(void *arg)
{
	struct recorder *r = arg;
	bool hooked = !recorder_has_place(r);

	thread_buffer_me.nonblocking = true;
	thread_buffer_me.unseen = true;
	atomic_store(&r->thread_id, os_thread_id());
	pthread_setname_np(pthread_self(), "deepclock");
	while (atomic_load(&r->live)) {
		const bool woken = thread_buffers_wait(TRACE_FLUSH_NS);
		while (round_of(r))
			;
		/* The last thread wakes no other. */
		if (!woken && atomic_load(&r->live))
			end_if_last(r);
		/* Python, for one, turns SIGINT into an exception only if it finds the default
		 * action when it starts. */
		if (!hooked && os_now_ns() - r->base_ns > TERMINATIONS_NS) {
			hooked = true;
			os_signals_watch_terminations();
		}
	}
	return NULL;
}

/* The program's signals are for its own threads. */
static bool thread_start(struct recorder *r)
{
	sigset_t all;

	atomic_store(&r->pending, 0);
	atomic_store(&r->signal, 0);
	atomic_store(&r->left, 0);
	r->outlived = false;
	r->other = 0;
	r->method.dumps = r->method.dumps_failed = r->method.dumps_left_out = r->method.over = 0;
	r->method.looks = r->method.looks_cpu_ns = 0;
	r->poll_ns = r->base_ns + POLL_NS;
	r->method.limited = r->plan.config.limits.n > 0;
	atomic_store(&r->process, os_process_id());
	atomic_store(&r->live, true);
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &r->mask))
		return false;
	bool made = !pthread_create(&r->thread, NULL, drain_thread, r);
	pthread_sigmask(SIG_SETMASK, &r->mask, NULL);
	return made;
}

/* --- requests */

static void left_now(struct recorder *r)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&r->left, &none, ticks_now());
}

bool recorder_request_wait(recorder_request request, uint64_t bound_ns)
{
	struct recorder *r = &recorder;
	const int error = errno;
	const bool unseen = thread_buffer_me.unseen;

	/* A child between vfork() and exec() has our memory, but is another process. */
	if (!atomic_load(&r->live) || atomic_load(&r->process) != os_process_id())
		return false;
	if (request & RECORDER_END)
		left_now(r);
	atomic_fetch_or(&r->pending, request);
	const uint32_t ticket = atomic_fetch_add(&r->requested_seq, 1) + 1;
	thread_buffers_wake();
	const uint64_t from = os_now_ns();
	const bool ourselves = atomic_load(&r->thread_id) == os_thread_id();
	bool done = false;
	thread_buffer_me.unseen = true; /* this wait is not one of the program's */
	for (;;) {
		const uint32_t acked = atomic_load(&r->acked_seq);
		const uint64_t gone = os_now_ns() - from;

		done = (int32_t)(acked - ticket) >= 0;
		if (done || ourselves || gone >= bound_ns || !atomic_load(&r->live))
			break;
		os_futex_wait(&r->acked_seq, acked,
			      bound_ns - gone < TRACE_FLUSH_NS ? bound_ns - gone : TRACE_FLUSH_NS);
	}
	thread_buffer_me.unseen = unseen;
	errno = error;
	return done;
}

dck_status recorder_last_status(dck_err *err)
{
	struct recorder *r = &recorder;

	pthread_mutex_lock(&r->work);
	const dck_status st = err_forward(&r->went, err);
	pthread_mutex_unlock(&r->work);
	return st;
}

static void recorder_on_end(int signal)
{
	atomic_store(&recorder.signal, signal);
	(void)recorder_request_wait(RECORDER_END, BOUND_NS);
}

/* The program may continue. If it gets thousands of such signals, it waits at most every
 * TRACE_FLUSH_NS, as often as its file is written anyway. */
static void on_handled(int signal)
{
	static _Atomic uint64_t last_ns;
	const uint64_t now = os_now_ns();

	(void)signal;
	if (now - atomic_exchange(&last_ns, now) >= TRACE_FLUSH_NS)
		(void)recorder_request_wait(RECORDER_FLUSH, BOUND_NS);
}

static void recorder_on_asked(int signal)
{
	(void)signal;
	(void)recorder_request_wait(RECORDER_DUMP_ASIDE, 0);
}

/* --- begin and end */

static void trace_forget(struct recorder *r)
{
	drain_free(r->drain);
	r->drain = NULL;
	r->file = NULL;
	recorder_result_close(r);
	r->plan = (recorder_plan){0};
	wire_out_done(&r->result);
	r->went = r->ended = (dck_err){0};
	atomic_store(&r->live, false);
	capture_disarm();
}

/* Returns the size of the buffer if none is requested: less where address space is limited. */
static uint64_t buffer_usual(void)
{
	const uint64_t part = os_address_space_limit() / BUFFER_LIMIT_PART;

	return !part || part > BUFFER_BYTES ? BUFFER_BYTES
	       : part < BUFFER_BYTES_LEAST  ? BUFFER_BYTES_LEAST
					    : part;
}

/* Allocates what stays until the process ends; a child allocates it again. */
static dck_status recorder_prepare(struct recorder *r, dck_err *err)
{
	const uint64_t asked = r->plan.config.buffer_bytes;

	r->method.buffer_bytes = !asked || asked == BUFFER_BYTES ? buffer_usual()
				 : asked > BUFFER_BYTES_MAX	 ? BUFFER_BYTES_MAX
								 : asked;
	DCK_NEED(zone_names_init() && block_pool_reserve(r->method.buffer_bytes), err,
		 "for the events");
	if (!thread_buffers_init())
		DCK_FAIL(err, E_UNSUP, "the system cannot report when a thread ends");
	if (!r->clock_known) {
		clock_choose(r);
		r->method.pair_ns = pair_cost(r);
	}
	return DCK_OK;
}

static dck_status recording_start(struct recorder *r, dck_err *err)
{
	const trace_file_config file = {.path = r->plan.config.path,
					.max_size = r->plan.config.max_size,
					.last = r->plan.config.last,
					.late = r->plan.late,
					.announce = r->plan.late ? r->plan.result : NULL};
	drain_listener listener = {0};
	zone_percentiles percentiles;

	DCK_TRY(zone_percentiles_read(r->plan.config.percentiles, &percentiles, err));
	const uint64_t used = os_address_space_used();
	DCK_TRY(recorder_prepare(r, err));
	recorder_result_open(r);
	r->lost = lost_so_far();
	r->waited = thread_buffers_waited();
	const trace_header about = base_take(r);
	if (file.path)
		DCK_TRY(trace_file_open(&r->file, &file, &about, err));
	if (r->file)
		listener = trace_file_listener(r->file);
	DCK_TRY(drain_new(&r->drain, r->base, r->tsc.ns_per_tick_q32, &listener, err));
	drain_limit(r->drain, &r->plan.config.limits);
	drain_want(r->drain, &percentiles);
	DCK_NEED(capture_arm(&r->plan.config.capture_ranges, r->plan.config.capture_times), err,
		 "for the ranges that are recorded");
	if (!thread_start(r))
		DCK_FAIL(err, E_UNSUP, "the system gives no thread to record with");
	const uint64_t now = os_address_space_used();
	r->method.address_space = used && now > used ? now - used : 0;
	return DCK_OK;
}

dck_status recorder_begin(const recorder_plan *plan, dck_err *err)
{
	struct recorder *r = &recorder;
	trace_file_said said;

	r->plan = *plan;
	/* Before the thread starts, which watches other signals with the same hooks. */
	if (recorder_has_place(r))
		os_signals_watch(&(os_signal_hooks){recorder_on_end, on_handled, recorder_on_asked},
				 plan->config.dump_on ? os_signal_read(plan->config.dump_on) : 0);
	dck_status st = recording_start(r, err);
	if (st == DCK_OK) {
		thread_buffers_block_when_full(plan->config.lossless ? PATIENCE_NS : 0);
		on(r);
		return DCK_OK;
	}
	os_signals_forget();
	if (r->file)
		trace_file_close(r->file, &said, NULL);
	trace_forget(r);
	return st;
}

const recorder_plan *recorder_begun(void)
{
	/* Not in a child that was made by no fork() of the C library. */
	return recorder.drain && atomic_load(&recorder.process) == os_process_id() ? &recorder.plan
										   : NULL;
}

dck_status recorder_end(wire_out *ret, dck_err *err)
{
	struct recorder *r = &recorder;

	left_now(r);
	off(r);
	(void)recorder_request_wait(RECORDER_END, 0);
	/* exit() may run on that thread itself, as the last one. */
	if (!pthread_equal(r->thread, pthread_self()))
		pthread_join(r->thread, NULL);
	os_signals_forget();
	const dck_status st = err_forward(&r->ended, err);
	if (ret && !r->result.failed) { /* of an incomplete file too */
		*ret = r->result;
		r->result = (wire_out){0};
	}
	mem_arena_free(r->plan.arena);
	trace_forget(r);
	return st;
}

bool recorder_ended_empty(void)
{
	return recorder.empty;
}

/* --- fork */

void recorder_quiesce(void)
{
	pthread_mutex_lock(&recorder.work);
	thread_buffer_me.nonblocking = true;
}

void recorder_resume(void)
{
	thread_buffer_me.nonblocking = false;
	pthread_mutex_unlock(&recorder.work);
}

/* The child has one thread, and no recorder. Events in the lanes and the file are the parent's. */
recorder_plan recorder_after_fork(void)
{
	struct recorder *r = &recorder;
	const recorder_plan plan = r->drain ? r->plan : (recorder_plan){0};

	waits_from(UINT64_MAX);
	thread_buffers_forget();
	block_pool_forget();
	trace_file_abandon(r->file);
	trace_forget(r);
	return plan;
}
