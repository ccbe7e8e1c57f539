/* Zones through the public header: the table is exact with any threads, signals and forks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deepclock/trace.h"
#include "deepclock/zone.h"

static void begin(uint64_t buffer_bytes)
{
	dck_trace_config config = {.buffer_bytes = buffer_bytes};
	dck_err err = {0};

	if (dck_trace_start(&config, &err) != DCK_OK)
		fail_msg("%s", err.msg);
}

static dck_record *end(void)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_trace_stop(&r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

/* A column of the zone's row; -1: the row is absent. */
static int64_t cell(const dck_record *r, const char *name, int column)
{
	const dck_table *t = dck_record_table(r, "zones");

	assert_non_null(t);
	for (size_t i = 0; i < t->nrows; i++)
		if (!strcmp(t->cells[i * t->ncolumns].value.as.text, name))
			return t->cells[i * t->ncolumns + (size_t)column].value.as.i;
	return -1;
}

static int64_t calls(const dck_record *r, const char *name)
{
	return cell(r, name, 1);
}

static int64_t fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	assert_non_null(f);
	return f->value.as.i;
}

static void assert_whole(const dck_record *r)
{
	assert_int_equal(fact(r, "dropped_events"), 0);
	assert_int_equal(fact(r, "unmatched_ends"), 0);
	assert_int_equal(fact(r, "unfinished_ranges"), 0);
}

enum { TOTAL = 2, SELF, MEAN, MIN, MAX };

static void nested_ranges_add_up(void **state)
{
	(void)state;
	begin(0);
	for (int i = 0; i < 30; i++) {
		DCK_PUSH("outer");
		DCK_PUSH("inner");
		DCK_POP();
		for (int j = 0; j < 2; j++) {
			DCK_ZONE("inner");
		}
		DCK_POP();
	}
	dck_record *r = end();
	assert_whole(r);
	assert_int_equal(calls(r, "outer"), 30);
	assert_int_equal(calls(r, "inner"), 90);
	assert_int_equal(cell(r, "inner", SELF), cell(r, "inner", TOTAL));
	assert_int_equal(cell(r, "outer", SELF), cell(r, "outer", TOTAL) - cell(r, "inner", TOTAL));
	assert_true(cell(r, "outer", MIN) <= cell(r, "outer", MAX));
	const dck_cell *mean = &dck_record_table(r, "zones")->cells[MEAN];
	assert_true(mean->level > 0.94 && mean->lo <= mean->value.as.r &&
		    mean->value.as.r <= mean->hi);
	assert_int_equal(fact(r, "events"), 240);
	dck_record_free(r);
}

static void recurse(int n)
{
	DCK_ZONE("recursive");
	if (n > 1)
		recurse(n - 1);
}

static void time_inside_itself_counts_once(void **state)
{
	(void)state;
	begin(0);
	recurse(5);
	dck_record *r = end();
	assert_int_equal(calls(r, "recursive"), 5);
	assert_int_equal(cell(r, "recursive", TOTAL), cell(r, "recursive", MAX));
	assert_int_equal(cell(r, "recursive", SELF), cell(r, "recursive", TOTAL));
	dck_record_free(r);
}

static void nothing_records_unless_started(void **state)
{
	dck_trace_config config = {0};
	dck_record *r = (dck_record *)&config;
	dck_err err;
	int asked = 0;

	(void)state;
	unsetenv("DEEPCLOCK_TRACE");
	DCK_NUMBER("number", ++asked);
	assert_int_equal(asked, 0);
	assert_int_equal(dck_trace_start(NULL, &err), DCK_OK);
	assert_int_equal(dck_trace_on, 0);
	assert_int_equal(dck_trace_stop(&r, &err), DCK_OK);
	assert_null(r);
	begin(0);
	assert_int_equal(dck_trace_start(NULL, &err), DCK_OK);
	assert_int_equal(dck_trace_start(&config, &err), DCK_E_ARG);
	DCK_NUMBER("number", ++asked);
	assert_int_equal(asked, 1);
	r = end();
	assert_int_equal(fact(r, "events"), 1);
	assert_int_equal(fact(r, "unmatched_ends"), 1); /* an unknown range id */
	dck_record_free(r);
}

static void recordings_do_not_see_each_other(void **state)
{
	(void)state;
	begin(0);
	DCK_PUSH("left open");
	DCK_PUSH("first");
	DCK_POP();
	dck_record *r = end();
	assert_int_equal(calls(r, "first"), 1);
	assert_int_equal(calls(r, "left open"), 1);
	assert_int_equal(fact(r, "unfinished_ranges"), 1);
	dck_record_free(r);

	begin(0);
	DCK_PUSH("second");
	DCK_POP();
	DCK_POP(); /* ends "left open" */
	r = end();
	assert_int_equal(calls(r, "first"), -1);
	assert_int_equal(calls(r, "left open"), -1);
	assert_int_equal(calls(r, "second"), 1);
	assert_int_equal(fact(r, "unmatched_ends"), 1);
	assert_int_equal(fact(r, "unfinished_ranges"), 0);
	dck_record_free(r);
}

static void recording_may_start_inside_a_range(void **state)
{
	dck_range early = DCK_START("early");

	(void)state;
	{
		DCK_ZONE("around");
		begin(0);
		DCK_PUSH("in it");
	}
	DCK_POP();
	DCK_END(early);
	dck_record *r = end();
	assert_int_equal(calls(r, "around"), -1);
	assert_int_equal(calls(r, "early"), -1);
	assert_int_equal(calls(r, "in it"), 1);
	assert_whole(r);
	dck_record_free(r);
}

static void an_unfinished_range_has_no_mean(void **state)
{
	(void)state;
	begin(0);
	DCK_PUSH("open");
	dck_range range = DCK_START("open range");
	dck_record *r = end();
	const dck_table *t = dck_record_table(r, "zones");
	assert_int_equal(t->nrows, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(t->cells[i * t->ncolumns + 1].value.as.i, 1);
		assert_int_equal(t->cells[i * t->ncolumns + MEAN].value.kind, DCK_VALUE_ABSENT);
	}
	assert_int_equal(fact(r, "unfinished_ranges"), 2);
	dck_record_free(r);
	DCK_END(range);
	DCK_POP();
}

/* --- threads */

enum { THREADS = 8, LOOPS = 20000 };

static void *work(void *arg)
{
	DCK_PUSH("thread");
	for (int i = 0; i < LOOPS; i++) {
		DCK_ZONE("loop");
	}
	if (!arg)
		DCK_POP();
	return NULL;
}

static void run_threads(void *(*f)(void *), void *arg)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, f, arg), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void threads_end_and_nothing_is_lost(void **state)
{
	int leave_open = 1;

	(void)state;
	begin(0);
	run_threads(work, NULL);
	run_threads(work, &leave_open);
	dck_record *r = end();
	assert_int_equal(fact(r, "dropped_events"), 0);
	assert_int_equal(calls(r, "loop"), 2 * THREADS * LOOPS);
	assert_int_equal(calls(r, "thread"), 2 * THREADS);
	assert_int_equal(fact(r, "unfinished_ranges"), THREADS);
	assert_int_equal(fact(r, "unmatched_ends"), 0);
	assert_int_equal(fact(r, "threads") >= 2 * THREADS, true);
	dck_record_free(r);
}

static void *one_zone(void *arg)
{
	(void)arg;
	DCK_ZONE("short");
	return NULL;
}

/* More threads in sequence than chunks: the chunks of exited threads are reused. */
static void many_short_threads(void **state)
{
	(void)state;
	begin(0);
	for (int i = 0; i < 200; i++)
		run_threads(one_zone, NULL);
	dck_record *r = end();
	assert_whole(r);
	assert_int_equal(calls(r, "short"), 200 * THREADS);
	dck_record_free(r);
}

static dck_range ranges[LOOPS];
static _Atomic int started, ended;

static void *end_ranges(void *arg)
{
	(void)arg;
	for (int i; (i = atomic_fetch_add(&ended, 1)) < LOOPS;) {
		while (atomic_load(&started) <= i)
			;
		DCK_END(ranges[i]);
	}
	return NULL;
}

static void another_thread_may_end_a_range(void **state)
{
	pthread_t t[2];

	(void)state;
	begin(0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, end_ranges, NULL), 0);
	for (int i = 0; i < LOOPS; i++) {
		ranges[i] = DCK_START("range");
		atomic_store(&started, i + 1);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	DCK_END(ranges[7]); /* ended a second time */
	dck_record *r = end();
	assert_int_equal(calls(r, "range"), LOOPS);
	assert_int_equal(fact(r, "unmatched_ends"), 1);
	assert_int_equal(fact(r, "unfinished_ranges"), 0);
	dck_record_free(r);
}

/* --- signals */

static _Atomic int handled, quiet;

static void on_signal(int number)
{
	(void)number;
	DCK_ZONE("handler");
	DCK_NUMBER("signal", number);
	DCK_PUSH("in handler");
	DCK_POP();
	handled++;
}

static void *send_signals(void *to)
{
	while (!atomic_load(&quiet))
		pthread_kill(*(pthread_t *)to, SIGUSR1);
	return NULL;
}

/* Pops in a handler close the handler's ranges, never the range that it interrupted. */
static void a_handler_may_record(void **state)
{
	struct sigaction act = {.sa_handler = on_signal}, old;
	pthread_t me = pthread_self(), sender;

	(void)state;
	sigaction(SIGUSR1, &act, &old);
	begin(0);
	DCK_PUSH("main");
	DCK_POP();
	assert_int_equal(pthread_create(&sender, NULL, send_signals, &me), 0);
	int n = 0;
	while (atomic_load(&handled) < 2000 || n < 200000) {
		DCK_PUSH("main");
		DCK_PUSH("within");
		DCK_POP();
		DCK_POP();
		n++;
	}
	atomic_store(&quiet, 1);
	pthread_join(sender, NULL);
	sigaction(SIGUSR1, &act, NULL);
	dck_record *r = end();
	sigaction(SIGUSR1, &old, NULL);
	if (fact(r, "dropped_events") == 0) {
		assert_int_equal(calls(r, "main"), n + 1);
		assert_int_equal(calls(r, "within"), n);
		assert_int_equal(calls(r, "handler"), handled);
		assert_whole(r);
	}
	dck_record_free(r);
}

/* --- full buffers, and fork: in a child with new memory */

static int in_child(int (*f)(void))
{
	int status = -1;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	/* ThreadSanitizer cannot follow a child that starts threads; under AddressSanitizer a
	 * thread missing in the child may hold an allocator lock, so that the child blocks. */
	(void)f;
	skip();
#endif
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(f());
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Recorded and dropped events add up to all events, and the nesting stays correct. */
static int flood(void)
{
	enum { PAIRS = 2000000 };
	dck_record *r = NULL;
	dck_err err;

	if (dck_trace_start(&(dck_trace_config){.buffer_bytes = 4 * 65536}, &err) != DCK_OK)
		return 1;
	for (int i = 0; i < PAIRS; i++) {
		if (i % 16 == 0)
			DCK_PUSH("sixteen");
		DCK_PUSH("one");
		DCK_POP();
		if (i % 16 == 15)
			DCK_POP();
	}
	if (dck_trace_stop(&r, &err) != DCK_OK)
		return 2;
	int64_t dropped = fact(r, "dropped_events"), events = fact(r, "events");
	if (events + dropped != 2 * PAIRS + PAIRS / 8)
		return 3;
	if (calls(r, "one") > PAIRS || calls(r, "sixteen") > PAIRS / 16 ||
	    fact(r, "unmatched_ends"))
		return 4;
	/* Inner ranges are no longer than outer ones, unless a dropped pop left one open. */
	if (cell(r, "one", TOTAL) > cell(r, "sixteen", TOTAL) && !dropped)
		return 5;
	const dck_note *note = NULL;
	for (size_t i = 0; i < r->nnotes; i++)
		if (!strcmp(r->notes[i].code, "trace-dropped"))
			note = &r->notes[i];
	if (!note != !dropped)
		return 6;
	dck_record_free(r);
	return 0;
}

static void what_finds_no_room_is_counted(void **state)
{
	(void)state;
	assert_int_equal(in_child(flood), 0);
}

static void on_alarm(int number)
{
	(void)number;
	for (int i = 0; i < 40; i++) {
		DCK_ZONE("handler");
		DCK_NUMBER("i", i);
	}
	handled++;
}

/* Handlers also run while their thread switches its chunk or finds none. */
static int flood_with_handlers(void)
{
	enum { PAIRS = 1000000 };
	struct sigaction act = {.sa_handler = on_alarm};
	struct itimerval often = {.it_interval.tv_usec = 50, .it_value.tv_usec = 50}, never = {0};
	dck_record *r = NULL;
	dck_err err;

	handled = 0;
	sigaction(SIGALRM, &act, NULL);
	if (dck_trace_start(&(dck_trace_config){.buffer_bytes = 4 * 65536}, &err) != DCK_OK)
		return 1;
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < PAIRS; i++) {
		DCK_PUSH("outer");
		DCK_PUSH("inner");
		DCK_POP();
		DCK_POP();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	if (dck_trace_stop(&r, &err) != DCK_OK)
		return 2;
	int64_t dropped = fact(r, "dropped_events"), events = fact(r, "events");
	if (events + dropped != 4 * PAIRS + 3 * 40 * handled)
		return 3;
	/* Values of dropped ranges are dropped too; ranges left open were closed. */
	if (!dropped && (fact(r, "unmatched_ends") || fact(r, "unfinished_ranges")))
		return 4;
	if (calls(r, "inner") > PAIRS || calls(r, "outer") > PAIRS)
		return 5;
	dck_record_free(r);
	return 0;
}

static void handlers_in_a_flood_are_counted(void **state)
{
	(void)state;
	assert_int_equal(in_child(flood_with_handlers), 0);
}

static int record_in_child(void)
{
	dck_record *r = NULL;
	dck_err err;

	if (dck_trace_on)
		return 1;
	DCK_POP();
	if (dck_trace_stop(&r, &err) != DCK_OK || r)
		return 2;
	if (dck_trace_start(&(dck_trace_config){0}, &err) != DCK_OK)
		return 3;
	run_threads(one_zone, NULL);
	DCK_POP(); /* ends the parent's range */
	if (dck_trace_stop(&r, &err) != DCK_OK)
		return 4;
	if (calls(r, "short") != THREADS || calls(r, "parent") != -1)
		return 5;
	dck_record_free(r);
	return 0;
}

static void a_forked_child_begins_anew(void **state)
{
	(void)state;
	begin(0);
	DCK_PUSH("parent");
	assert_int_equal(in_child(record_in_child), 0);
	DCK_POP();
	dck_record *r = end();
	assert_whole(r);
	assert_int_equal(calls(r, "parent"), 1);
	assert_int_equal(calls(r, "short"), -1);
	dck_record_free(r);
}

#define TWO_ZONES(a, b) \
	DCK_ZONE(a);    \
	DCK_ZONE(b)

static void two_zones_have_one_line(void **state)
{
	(void)state;
	begin(0);
	{
		TWO_ZONES("left", "right");
	}
	dck_record *r = end();
	assert_int_equal(calls(r, "left"), 1);
	assert_int_equal(calls(r, "right"), 1);
	dck_record_free(r);
}

int test_zone(void);
int test_zone(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_records_unless_started),
	    cmocka_unit_test(nested_ranges_add_up),
	    cmocka_unit_test(time_inside_itself_counts_once),
	    cmocka_unit_test(recordings_do_not_see_each_other),
	    cmocka_unit_test(recording_may_start_inside_a_range),
	    cmocka_unit_test(an_unfinished_range_has_no_mean),
	    cmocka_unit_test(threads_end_and_nothing_is_lost),
	    cmocka_unit_test(many_short_threads),
	    cmocka_unit_test(another_thread_may_end_a_range),
	    cmocka_unit_test(a_handler_may_record),
	    cmocka_unit_test(what_finds_no_room_is_counted),
	    cmocka_unit_test(handlers_in_a_flood_are_counted),
	    cmocka_unit_test(two_zones_have_one_line),
	    cmocka_unit_test(a_forked_child_begins_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
