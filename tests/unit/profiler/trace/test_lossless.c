/* Threads that block on a full buffer of four chunks, instead of dropping events: in a separate
 * process, because a buffer never shrinks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "profiler/trace/drain.h"
#include "profiler/trace/thread_buffer.h"

enum { BLOCKS = 4, THREADS = 3, PAIRS = 100000, FULL = BLOCKS * LANE_BLOCK / 16 };

static int64_t fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	assert_non_null(f);
	return f->value.as.i;
}

static void *flood(void *arg)
{
	(void)arg;
	for (int i = 0; i < PAIRS; i++) {
		DCK_ZONE("outer");
		DCK_PUSH("inner");
		DCK_POP();
	}
	return NULL;
}

static void nothing_is_dropped(void **state)
{
	const dck_trace_config c = {.buffer_bytes = BLOCKS * LANE_BLOCK, .lossless = true};
	pthread_t thread[THREADS];
	dck_record *r = NULL;

	(void)state;
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, flood, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	assert_int_equal(fact(r, "dropped_events"), 0);
	assert_int_equal(fact(r, "unmatched_ends"), 0);
	assert_int_equal(fact(r, "events"), 4 * THREADS * PAIRS);
	/* Three threads write events faster than one drain reads them. */
	assert_true(fact(r, "buffer_full_waits") > 0);
	assert_true(fact(r, "buffer_full_time") > 0);
	dck_record_free(r);
}

/* --- without a drain */

static dck_zone_site site = {"lossless", __FILE__, __LINE__, 0};

static uint64_t lost(void)
{
	uint64_t n = thread_buffers_lost();

	for (size_t i = 0; i < thread_buffers_used(); i++)
		n += atomic_load(&thread_buffers_at(i)->lost);
	return n;
}

/* Writes more events than fit. */
static void fill(void)
{
	for (int i = 0; i < FULL; i++) {
		dck_zone_push(&site);
		dck_zone_pop();
	}
}

static void empty(void)
{
	drain *d = NULL;

	thread_buffers_block_when_full(0);
	thread_buffer_me.nonblocking = false;
	assert_int_equal(drain_new(&d, 0, UINT64_C(1) << 32, NULL, NULL), DCK_OK);
	while (drain_round(d))
		;
	drain_free(d);
}

static void waiting_has_an_end(void **state)
{
	const thread_buffer_waits before = thread_buffers_waited();
	const uint64_t lost_before = lost();

	(void)state;
	thread_buffers_block_when_full(50000000);
	errno = 77;
	fill();
	assert_int_equal(errno, 77);
	assert_true(lost() > lost_before);
	assert_int_equal(thread_buffers_waited().n, before.n + 1); /* and no further waits */
	assert_true(thread_buffers_waited().ns - before.ns >= 50000000);
	empty();
}

static void on_signal(int number)
{
	(void)number;
	fill();
}

static void a_handler_never_waits(void **state)
{
	const thread_buffer_waits before = thread_buffers_waited();
	const uint64_t lost_before = lost();
	struct sigaction act = {.sa_handler = on_signal};

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
	thread_buffers_block_when_full(UINT64_C(3600) * 1000000000);
	raise(SIGUSR1);
	assert_true(lost() > lost_before);
	assert_int_equal(thread_buffers_waited().n, before.n);
	empty();
}

/* A child of _Fork(), which runs no handlers, has no drain that could make room. */
static void a_child_never_waits(void **state)
{
	int status = -1;

	(void)state;
	thread_buffers_block_when_full(UINT64_C(3600) * 1000000000);
	const pid_t child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
	if (child == 0) {
		alarm(10);
		fill();
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	empty();
}

static void *wait_for_room(void *arg)
{
	(void)arg;
	fill();
	return NULL;
}

/* A waiting thread continues when blocking is switched off. */
static void the_end_of_waiting_wakes(void **state)
{
	const thread_buffer_waits before = thread_buffers_waited();
	pthread_t thread;

	(void)state;
	thread_buffers_block_when_full(UINT64_C(3600) * 1000000000);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_room, NULL), 0);
	usleep(50000);
	thread_buffers_block_when_full(0);
	pthread_join(thread, NULL);
	assert_true(thread_buffers_waited().n <= before.n + 1);
	empty();
}

/* Consecutive handlers, without limit, while their thread switches its chunk: they fill the rest of
 * the chunk and write nothing beyond it. */
static void handlers_stay_in_their_block(void **state)
{
	drain *d = NULL;
	uint64_t made = 0;

	(void)state;
	assert_int_equal(drain_new(&d, ticks_now(), UINT64_C(1) << 32, NULL, NULL), DCK_OK);
	do {
		dck_zone_push(&site);
		dck_zone_pop();
		made += 2;
	} while ((thread_buffer_me.next & LANE_MASK) < LANE_SOFT - 64);
	const uintptr_t block = thread_buffer_me.next & ~(uintptr_t)LANE_MASK;
	const uint64_t lost_before = lost();
	thread_buffer_me.busy = 1;
	for (int i = 0; i < 1000; i++) {
		dck_zone_push(&site);
		dck_zone_number(&site, i);
		dck_zone_pop();
		made += 3;
		assert_true(thread_buffer_me.next < block + LANE_BLOCK);
	}
	thread_buffer_me.busy = 0;
	assert_true(lost() > lost_before);
	for (int i = 0; i < 10; i++) {
		dck_zone_push(&site);
		dck_zone_pop();
		made += 2;
	}
	assert_true((thread_buffer_me.next & ~(uintptr_t)LANE_MASK) != block);
	drain_round(d);
	assert_int_equal(drain_counted(d)->events, made - (lost() - lost_before));
	drain_free(d);
}

int test_lossless(void);
int test_lossless(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_dropped),
	    cmocka_unit_test(waiting_has_an_end),
	    cmocka_unit_test(a_handler_never_waits),
	    cmocka_unit_test(a_child_never_waits),
	    cmocka_unit_test(the_end_of_waiting_wakes),
	    cmocka_unit_test(handlers_stay_in_their_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
