/* test_thread_watch.c - thread counters in the record, in the file read back, and compared with the
 * system's: for threads that record nothing, for many threads, for threads that exit at once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "os/os.h"
#include "record/record_begin.h"
#include "scratch.h"
#include "profiler/trace/drain.h"
#include "profiler/trace/thread_watch.h"
#include "profiler/trace/waiting.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { LOOKS_US = 300000 }; /* time for at least one poll of the threads */

static void burn(uint64_t ns)
{
	const uint64_t begin = os_thread_cpu_ns();

	while (os_thread_cpu_ns() - begin < ns)
		;
}

static int64_t number(const dck_cell *c)
{
	assert_int_equal(c->value.kind, DCK_VALUE_INT);
	return c->value.as.i;
}

static size_t column(const dck_table *t, const char *key)
{
	for (size_t k = 0; k < t->ncolumns; k++)
		if (!strcmp(t->columns[k].key, key))
			return k;
	fail_msg("no column %s", key);
	return 0;
}

/* The only row of the thread with this name. */
static const dck_cell *row(const dck_table *t, const char *name)
{
	const dck_cell *found = NULL;

	for (size_t i = 0; i < t->nrows; i++)
		if (!strcmp(t->cells[i * t->ncolumns].value.as.text, name)) {
			assert_null(found);
			found = &t->cells[i * t->ncolumns];
		}
	if (!found)
		fail_msg("no row %s", name);
	return found;
}

static int64_t cell(const dck_table *t, const char *name, const char *key)
{
	return number(&row(t, name)[column(t, key)]);
}

static bool is_absent(const dck_table *t, const char *name, const char *key)
{
	return row(t, name)[column(t, key)].value.kind == DCK_VALUE_ABSENT;
}

static const dck_table *threads_of(const dck_record *r)
{
	const dck_table *t = dck_record_table(r, "threads");

	assert_non_null(t);
	return t;
}

static int64_t fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	assert_non_null(f);
	return f->value.as.i;
}

static void begin(const char *path)
{
	/* On a busy machine many short threads exit before a chunk is free again. */
	const dck_trace_config c = {.path = path, .lossless = true};
	dck_err err;

	if (dck_trace_start(&c, &err) != DCK_OK)
		fail_msg("%s", err.msg);
}

/* Also reads the file, which must be equal in each cell. */
static dck_record *end(const char *path)
{
	dck_record *live = NULL, *read = NULL;
	dck_err err;

	if (dck_trace_stop(&live, &err) != DCK_OK || dck_trace_read(path, &read, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	const dck_table *a = threads_of(live), *b = threads_of(read);
	assert_int_equal(a->nrows, b->nrows);
	assert_int_equal(a->ncolumns, b->ncolumns);
	for (size_t i = 0; i < a->nrows * a->ncolumns; i++) {
		const dck_value *x = &a->cells[i].value, *y = &b->cells[i].value;

		if (x->kind != y->kind)
			fail_msg("%s of row %zu: %d, %d", a->columns[i % a->ncolumns].key,
				 i / a->ncolumns, (int)x->kind, (int)y->kind);
		if (x->kind == DCK_VALUE_TEXT)
			assert_string_equal(x->as.text, y->as.text);
		else if (x->kind == DCK_VALUE_INT && x->as.i != y->as.i)
			fail_msg("%s of row %zu: %lld, %lld", a->columns[i % a->ncolumns].key,
				 i / a->ncolumns, (long long)x->as.i, (long long)y->as.i);
	}
	assert_int_equal(fact(live, "threads"), fact(read, "threads"));
	dck_record_free(read);
	return live;
}

/* --- */

typedef struct work {
	const char *name; /* the name that it sets; NULL: none */
	bool zones;
	_Atomic uint64_t cpu_ns; /* at its end */
	_Atomic bool begun, leave;
} work;

static void *burner(void *arg)
{
	work *w = arg;

	if (w->name)
		pthread_setname_np(pthread_self(), w->name);
	w->begun = true;
	if (w->zones)
		DCK_PUSH("burn");
	burn(20000000);
	if (w->zones)
		DCK_POP();
	while (!w->leave)
		usleep(10000);
	w->cpu_ns = os_thread_cpu_ns();
	return NULL;
}

static void what_a_thread_used_is_known(void **state)
{
	work with = {.name = "with zones", .zones = true}, without = {.name = "without"};
	work *all[] = {&with, &without};
	pthread_t t[2];

	(void)state;
	begin("a.pftrace");
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, burner, all[i]), 0);
	burn(5000000);
	usleep(LOOKS_US);
	with.leave = true;
	pthread_join(t[0], NULL);
	dck_record *r = end("a.pftrace");
	without.leave = true;
	pthread_join(t[1], NULL);
	const dck_table *table = threads_of(r);
	/* This thread reported its end itself, after it had left our function. */
	const uint64_t cpu = (uint64_t)cell(table, "with zones", "cpu");
	assert_true(cpu >= with.cpu_ns && cpu < with.cpu_ns + 10000000);
	assert_int_equal(cell(table, "with zones", "zones"), 1);
	assert_int_equal(cell(table, "with zones", "major_faults"), 0);
	/* That thread was still running when the recording ended. */
	assert_in_range(cell(table, "without", "cpu"), 20000000, without.cpu_ns);
	assert_int_equal(cell(table, "without", "zones"), 0);
	assert_true(cell(table, "without", "voluntary") > 0);
	assert_true(cell(table, "without", "minor_faults") >= 0);
	assert_true(cell(table, "without", "lifetime") >= 20000000);
	assert_true(cell(table, "without", "lifetime") <= fact(r, "elapsed"));
	assert_true(is_absent(table, "without", "waited"));
	/* The recorder's thread is not listed. */
	for (size_t i = 0; i < table->nrows; i++)
		assert_string_not_equal(table->cells[i * table->ncolumns].value.as.text,
					"deepclock");
	dck_record_free(r);
}

static void what_was_before_is_of_no_recording(void **state)
{
	work w = {.name = "before"};
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, burner, &w), 0);
	while (!w.begun || os_process_cpu_ns() < 20000000)
		usleep(1000);
	usleep(200000);
	begin("a.pftrace");
	DCK_MARK("here");
	dck_record *r = end("a.pftrace");
	assert_true(cell(threads_of(r), "before", "cpu") < 20000000);
	w.leave = true;
	pthread_join(t, NULL);
	dck_record_free(r);
}

static void a_thread_gets_its_name_late(void **state)
{
	work w[2] = {{.name = NULL}, {.zones = true}};
	pthread_t t[2];

	(void)state;
	begin("a.pftrace");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&t[i], NULL, burner, &w[i]), 0);
		while (!w[i].begun)
			usleep(1000);
	}
	usleep(LOOKS_US);
	pthread_setname_np(t[0], "late 0");
	pthread_setname_np(t[1], "late 1");
	usleep(LOOKS_US);
	dck_record *r = end("a.pftrace");
	assert_int_equal(cell(threads_of(r), "late 0", "zones"), 0);
	assert_int_equal(cell(threads_of(r), "late 1", "zones"), 1);
	for (int i = 0; i < 2; i++) {
		w[i].leave = true;
		pthread_join(t[i], NULL);
	}
	dck_record_free(r);
}

static void *short_life(void *unused)
{
	DCK_ZONE("short");
	return unused;
}

/* Sums the rows, including the row of all other threads: the CPU time of the process. */
static uint64_t cpu_of_all(const dck_table *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nrows; i++)
		sum += (uint64_t)number(&t->cells[i * t->ncolumns + column(t, "cpu")]);
	return sum;
}

static void ten_thousand_short_threads(void **state)
{
	enum { THREADS = 10000 };

	(void)state;
	const uint64_t before = os_process_cpu_ns();
	begin("a.pftrace");
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;

		assert_int_equal(pthread_create(&t, NULL, short_life, NULL), 0);
		pthread_join(t, NULL);
	}
	dck_record *r = end("a.pftrace");
	const uint64_t used = os_process_cpu_ns() - before;
	const dck_table *t = threads_of(r);
	int64_t zones = 0;
	assert_int_equal(t->nrows, 1001);
	for (size_t i = 0; i < t->nrows; i++)
		zones += number(&t->cells[i * t->ncolumns + column(t, "zones")]);
	assert_int_equal(fact(r, "dropped_events"), 0);
	assert_int_equal(zones, THREADS);
	assert_true(fact(r, "threads") >= THREADS);
	assert_true(cpu_of_all(t) <= used);
	assert_true(cell(t, "(other threads)", "cpu") > 0);
	dck_record_free(r);
}

static void *sleeper(void *arg)
{
	const work *w = arg;

	while (!w->leave)
		usleep(100000);
	return NULL;
}

static void five_hundred_at_once(void **state)
{
	enum { THREADS = 500 };
	static pthread_t t[THREADS];
	work w = {.leave = false};

	(void)state;
	begin("a.pftrace");
	DCK_MARK("here");
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, sleeper, &w), 0);
	usleep(LOOKS_US);
	dck_record *r = end("a.pftrace");
	assert_in_range(threads_of(r)->nrows, THREADS + 1, THREADS + 3);
	assert_true(fact(r, "threads") > THREADS);
	w.leave = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	dck_record_free(r);
}

static void *waiter(void *unused)
{
	static dck_zone_site site = {"wait: sleep", __FILE__, __LINE__, 0};

	pthread_setname_np(pthread_self(), "waiter");
	dck_wait wait = {.what = &site, .fd = -1, .bytes = -1};
	dck_wait_begin(&wait);
	usleep(30000);
	dck_wait_end(&wait);
	DCK_ZONE("work");
	return unused;
}

static void waits_are_added_up(void **state)
{
	pthread_t t;

	(void)state;
	begin("a.pftrace");
	assert_int_equal(pthread_create(&t, NULL, waiter, NULL), 0);
	pthread_join(t, NULL);
	DCK_MARK("here");
	dck_record *r = end("a.pftrace");
	assert_true(cell(threads_of(r), "waiter", "waited") >= 30000000);
	assert_int_equal(cell(threads_of(r), "waiter", "zones"), 2);
	dck_record_free(r);
}

/* --- the values reported */

static char told[1 << 16];
static double last[64];
static uint64_t last_ns[64];

static void track(void *self, const trace_track *t)
{
	(void)self;
	snprintf(told + strlen(told), sizeof told - strlen(told), "%u of %u: %s; ", t->id,
		 t->parent, t->name ? t->name : "");
}

static void events(void *self, uint32_t id, const trace_event *e, size_t n)
{
	(void)self;
	for (size_t i = 0; i < n; i++) {
		last[id % 64] = e[i].as.real;
		last_ns[id % 64] = e[i].ns;
	}
}

static const os_thread_counters six = {.n = {5000, 0, 6, 0, 7, 8},
				       .known = 1u << OS_USE_CPU | 1u << OS_USE_MINOR |
						1u << OS_USE_MAJOR};

static void the_end_of_a_lane_tells_all(void **state)
{
	static const drain_listener listener = {.track = track, .events = events};
	const thread_buffer l = {.tid = 1 << 30, .name = "gone", .uses = six};
	thread_watch w;

	(void)state;
	thread_watch_begin(&w, &listener);
	told[0] = '\0';
	assert_int_equal(thread_watch_lane(&w, &l), 2);
	thread_watch_lane_end(
	    &w, &(watch_end){.tid = l.tid, .ended = &l, .first_ns = 10, .ns = 30, .zones = 1});
	/* Without major faults none are reported. */
	assert_string_equal(told, "2 of 1: gone; 3 of 2: CPU time; 4 of 2: minor page faults; ");
	assert_true(last[3] == 5000 && last[4] == 6);
	/* Reported only once. */
	told[0] = '\0';
	thread_watch_look(&w, &(watch_look){.ns = 40, .emit = false, .last = true});
	assert_string_equal(told, "");
	thread_watch_done(&w);
}

/* Of a process that does nothing the timeline goes on while a range is open. */
static void a_beat_tells_the_time(void **state)
{
	static const drain_listener listener = {.track = track, .events = events};
	thread_watch w;

	(void)state;
	thread_watch_begin(&w, &listener);
	for (uint64_t ns = 40; ns <= 60; ns += 10) {
		thread_watch_look(&w, &(watch_look){.ns = ns, .emit = true, .beat = true});
		assert_int_equal(last_ns[w.process.counters[OS_USE_CPU]], ns);
	}
	thread_watch_done(&w);
}

static _Atomic int burns;
static _Atomic bool enough;

static void *burn_on(void *unused)
{
	(void)unused;
	burns = os_thread_id();
	while (!enough)
		burn(100000);
	return NULL;
}

/* The thread's own report of its end is older than the poll that saw it exiting. */
static void what_a_look_saw_is_not_taken_back(void **state)
{
	static const drain_listener listener = {.track = track, .events = events};
	const watched *t = NULL;
	pthread_t thread;
	thread_watch w;

	(void)state;
	thread_watch_begin(&w, &listener);
	assert_int_equal(pthread_create(&thread, NULL, burn_on, NULL), 0);
	while (!burns)
		usleep(1000);
	for (uint64_t ns = 1; !t || t->emitted[OS_USE_CPU] < 1000000; ns++) {
		usleep(1000);
		thread_watch_look(&w, &(watch_look){.ns = ns, .emit = true});
		for (size_t i = 0; i < w.n; i++)
			t = w.rows[i].tid == burns ? &w.rows[i] : t;
	}
	const uint64_t seen = t->emitted[OS_USE_CPU];
	const thread_buffer l = {.tid = burns, .uses = six};
	thread_watch_lane_end(&w, &(watch_end){.tid = l.tid, .ended = &l, .first_ns = 1, .ns = 1});
	assert_true(t->over && t->emitted[OS_USE_CPU] >= seen);
	enough = true;
	assert_int_equal(pthread_join(thread, NULL), 0);
	thread_watch_done(&w);
}

/* Of exited threads those with the most CPU time stay; the others are counted. */
static void the_rows_are_bounded(void **state)
{
	enum { THREADS = 20000 };
	thread_watch w;

	(void)state;
	thread_watch_begin(&w, NULL);
	for (int i = 0; i < THREADS; i++) {
		thread_buffer l = {.tid = (1 << 30) + i, .uses = six};

		l.uses.n[OS_USE_CPU] = (uint64_t)(i * 7919LL % THREADS) + 1;
		thread_watch_lane(&w, &l);
		thread_watch_lane_end(
		    &w,
		    &(watch_end){.tid = l.tid, .ended = &l, .first_ns = 1, .ns = 2, .zones = 1});
	}
	assert_true(w.n < 5000);
	assert_int_equal(w.left_out,
			 THREADS - WATCH_COUNTED_MAX + (w.counted + w.left_out - THREADS));
	record_builder *b = record_begin("test");
	dck_record *r;
	thread_process process;
	thread_table table;
	assert_int_equal(thread_watch_table(&w, NULL, &table, &process, NULL), DCK_OK);
	thread_table_put(&table, b);
	mem_free(table.rows);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_table *t = threads_of(r);
	assert_int_equal(t->nrows, 1001);
	for (size_t i = 0; i < 1000; i++) {
		const dck_cell *c = &t->cells[i * t->ncolumns];

		assert_int_equal(number(&c[column(t, "cpu")]), THREADS - i);
	}
	assert_int_equal(cell(t, "(other threads)", "zones"), THREADS - 1000);
	dck_record_free(r);
	thread_watch_done(&w);
}

int test_thread_watch(void);
int test_thread_watch(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(what_was_before_is_of_no_recording),
	    SCRATCH_TEST(what_a_thread_used_is_known),
	    SCRATCH_TEST(a_thread_gets_its_name_late),
	    SCRATCH_TEST(ten_thousand_short_threads),
	    SCRATCH_TEST(five_hundred_at_once),
	    SCRATCH_TEST(waits_are_added_up),
	    SCRATCH_TEST(a_beat_tells_the_time),
	    SCRATCH_TEST(the_end_of_a_lane_tells_all),
	    SCRATCH_TEST(what_a_look_saw_is_not_taken_back),
	    SCRATCH_TEST(the_rows_are_bounded),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
