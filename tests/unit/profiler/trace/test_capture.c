/* Recording only while a range of a given name is open: its contents, clipped ranges, all threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "scratch.h"
#include "profiler/trace/annotation/annotation.h"
#include "profiler/trace/capture.h"
#include "profiler/trace/drain.h"
#include "profiler/trace/zone_names.h"

/* --- a listener that logs its events */

static char told[4096];
static char names[16][32];
static uint32_t name_ids[16], nnames;
static bool is_use[64]; /* tracks of thread counters, which another test covers */

static void intern(void *self, uint32_t id, const trace_name *name)
{
	(void)self;
	name_ids[nnames] = id;
	snprintf(names[nnames++], sizeof names[0], "%.*s", (int)name->n, name->text);
}

static const char *name_of(uint32_t id)
{
	for (uint32_t i = 0; i < nnames; i++)
		if (name_ids[i] == id)
			return names[i];
	return "untold";
}

static void track(void *self, const trace_track *t)
{
	(void)self;
	is_use[t->id % 64] = t->kind == TRACE_COUNTER_TRACK && t->unit != DCK_UNIT_NONE;
	if (t->kind == TRACE_THREAD && t->name && strchr(t->name, ' '))
		strcat(strcat(told, t->name), ": ");
}

static void events(void *self, uint32_t id, const trace_event *e, size_t n)
{
	static const char *const forms[TRACE_KINDS] = {
	    [TRACE_BEGIN] = "(%s ",   [TRACE_END] = ") ",	   [TRACE_INSTANT] = "!%s ",
	    [TRACE_COUNTER] = "#%s ", [TRACE_ANNOTATION] = "%s= ", [TRACE_ASYNC_BEGIN] = "<%s ",
	    [TRACE_ASYNC_END] = "> ", [TRACE_FLOW_BEGIN] = "from "};

	(void)self;
	for (size_t i = 0; i < n && !is_use[id % 64]; i++) {
		const char *form = forms[e[i].kind], *name = name_of(e[i].name);
		char *p = told + strlen(told), *s;

		strcpy(p, form);
		if ((s = strstr(p, "%s")))
			sprintf(s, "%s%s", name, strstr(form, "%s") + 2);
	}
}

static drain *opened(const char *range, uint64_t times)
{
	static const drain_listener listener = {.intern = intern, .track = track, .events = events};
	const dck_list list = {.item = {range}, .n = range ? 1 : 0};
	drain *d = NULL;
	dck_err err;

	assert_true(zone_names_init() && thread_buffers_init() && block_pool_reserve(1 << 20));
	told[0] = '\0';
	nnames = 0;
	assert_int_equal(drain_new(&d, ticks_now(), UINT64_C(1) << 32, &listener, &err), DCK_OK);
	assert_true(capture_arm(&list, times));
	return d;
}

/* Expects exactly this log so far. */
static void closed(drain *d, const char *want)
{
	drain_round(d);
	drain_end(d, ticks_now());
	capture_disarm();
	if (want)
		assert_string_equal(told, want);
	drain_free(d);
}

static dck_zone_site site_a = {"a", __FILE__, __LINE__, 0}, site_b = {"b", __FILE__, __LINE__, 0},
		     step = {"step", __FILE__, __LINE__, 0};

static void in_range(dck_zone_site *site)
{
	dck_zone_push(site);
	dck_zone_pop();
}

/* --- one thread */

static void what_is_outside_is_not_told(void **state)
{
	drain *d = opened("step", 0);

	(void)state;
	for (int i = 0; i < 2; i++) {
		in_range(&site_a);
		dck_zone_mark(&site_a);
		dck_zone_counter(&site_a, 1);
		dck_zone_number(&site_a, 1);
		dck_zone_end(dck_zone_start(&site_a));
		dck_zone_push(&step);
		in_range(&site_b);
		dck_zone_mark(&site_b);
		dck_zone_number(&site_b, 1);
		dck_zone_pop();
	}
	drain_round(d);
	assert_int_equal(drain_counted(d)->events, 12);
	const capture_counts c = capture_counted(ticks_now());
	assert_int_equal(c.windows, 2);
	assert_true(c.ticks > 0);
	closed(d, "(step (b ) !b b= ) (step (b ) !b b= ) ");
}

static void a_range_from_before_is_not_told(void **state)
{
	drain *d = opened("step", 0);

	(void)state;
	dck_zone_push(&site_a);
	dck_zone_push(&step);
	in_range(&site_b);
	dck_zone_pop();
	dck_zone_pop();
	in_range(&step);
	assert_int_equal(drain_counted(d)->unmatched, 0);
	closed(d, "(step (b ) ) (step ) ");
}

/* The outermost range of the name counts. */
static void a_range_inside_its_own(void **state)
{
	drain *d = opened("step", 0);

	(void)state;
	dck_zone_push(&step);
	in_range(&step);
	in_range(&site_a);
	dck_zone_pop();
	in_range(&site_b);
	assert_int_equal(capture_counted(ticks_now()).windows, 1);
	closed(d, "(step (step ) (a ) ) ");
}

static void only_so_many_times(void **state)
{
	drain *d = opened("step", 2);

	(void)state;
	for (int i = 0; i < 5; i++) {
		in_range(&step);
		in_range(&site_a);
	}
	assert_int_equal(capture_counted(ticks_now()).windows, 2);
	closed(d, "(step ) (step ) ");
}

/* A range open at the end of a window is closed there, whatever it does later. */
static void what_reaches_over_the_end_is_cut(void **state)
{
	const uint32_t a = zone_name_intern("a", "", 0);
	drain *d = opened("step", 0);

	(void)state;
	dck_zone_push(&step);
	thread_buffer_put(ticks_now(), LANE_WORD(LANE_PUSH, a) | LANE_STACK(9));
	dck_zone_pop(); /* in_range(&step) belonged to the first stack */
	assert_false(capture_open());
	thread_buffer_put(ticks_now(), LANE_WORD(LANE_MARK, a));
	thread_buffer_put(ticks_now(), LANE_WORD(LANE_POP, 0) | LANE_STACK(9));
	drain_round(d);
	assert_int_equal(drain_counted(d)->unfinished, 1);
	assert_int_equal(drain_counted(d)->unmatched, 0);
	closed(d, "(step (a continued= ) ) (a unended= ) ");
}

/* A range that any thread may end is whole if it started inside; it may be the requested range. */
static void ranges_of_no_thread(void **state)
{
	drain *d = opened("step", 0);

	(void)state;
	dck_zone_push(&step);
	dck_range inside = dck_zone_start(&site_a);
	dck_zone_pop();
	dck_range outside = dck_zone_start(&site_b);
	dck_zone_end(inside);
	dck_range all = dck_zone_start(&step);
	in_range(&site_b);
	dck_zone_end(outside);
	dck_zone_end(all);
	in_range(&site_b);
	assert_int_equal(capture_counted(ticks_now()).windows, 2);
	drain_round(d);
	assert_int_equal(drain_counted(d)->unmatched, 0);
	closed(d, "(step <a from ) > <step (b ) > ");
}

/* --- names and stacks */

static bool opens(const char *range, const char *name)
{
	drain *d = opened(range, 0);

	annotation_push(5, annotation_id(name, NULL));
	const bool is = capture_open();
	annotation_pop(5);
	assert_false(capture_open());
	closed(d, NULL);
	return is;
}

static void names_as_the_table_has_them_or_with_a_domain_behind(void **state)
{
	(void)state;
	assert_true(opens("mine:step", "mine:step"));
	assert_true(opens("step@mine", "mine:step"));
	assert_true(opens("step@*", "mine:step"));
	assert_true(opens("step@*", "step"));
	assert_true(opens("mail@home", "mail@home"));
	assert_false(opens("step", "mine:step"));
	assert_false(opens("step@yours", "mine:step"));
	assert_false(opens("step@ine", "mine:step"));
	assert_false(opens("tep@*", "mine:step"));
	assert_false(opens("step@mine", "mine-step"));
}

/* A pop of another domain does not end a range of this one. */
static void domains_are_stacks_of_their_own(void **state)
{
	const uint32_t range = annotation_id("step", NULL), other = annotation_id("other", NULL);
	drain *d = opened("step", 0);

	(void)state;
	annotation_push(30, range);
	annotation_push(31, other);
	annotation_push(30, other);
	annotation_pop(31);
	annotation_pop(30);
	assert_true(capture_open());
	annotation_push(31, range); /* a separate window, which ends later */
	annotation_pop(30);
	assert_true(capture_open());
	annotation_pop(31);
	assert_false(capture_open());
	assert_int_equal(capture_counted(ticks_now()).windows, 1);
	closed(d, NULL);
}

static void names_of_threads_are_always_told(void **state)
{
	drain *d = opened("step", 0);

	(void)state;
	annotation_thread((uint32_t)gettid(), "worker 1");
	closed(d, "worker 1: ");
}

/* --- several threads */

typedef struct turn {
	pthread_barrier_t barrier;
} turn;

static void *other_thread(void *arg)
{
	turn *t = arg;

	dck_zone_push(&site_a); /* from before the window */
	pthread_barrier_wait(&t->barrier);
	pthread_barrier_wait(&t->barrier); /* the window is open */
	in_range(&site_b);
	dck_zone_push(&site_b);
	pthread_barrier_wait(&t->barrier);
	pthread_barrier_wait(&t->barrier); /* the window is closed */
	dck_zone_pop();
	dck_zone_pop();
	in_range(&site_a);
	return NULL;
}

static void a_window_is_of_all_threads(void **state)
{
	drain *d = opened("step", 0);
	pthread_t thread;
	turn t;

	(void)state;
	assert_int_equal(pthread_barrier_init(&t.barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, other_thread, &t), 0);
	pthread_barrier_wait(&t.barrier);
	dck_zone_push(&step);
	pthread_barrier_wait(&t.barrier);
	pthread_barrier_wait(&t.barrier);
	dck_zone_pop();
	pthread_barrier_wait(&t.barrier);
	assert_int_equal(pthread_join(thread, NULL), 0);
	drain_round(d);
	assert_int_equal(drain_counted(d)->unfinished, 1);
	closed(d, "(step ) (b ) (b unended= ) ");
}

enum { THREADS = 4, ROUNDS = 3000 };

static _Atomic bool over;
static _Atomic unsigned looks;

static void *steps(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		/* Waits until the drain has made space for all events. */
		const unsigned now = atomic_load(&looks);
		while (i % 200 == 0 && atomic_load(&looks) - now < 2)
			;
		in_range(&site_a);
		dck_zone_push(&step);
		in_range(&site_b);
		dck_zone_pop();
	}
	return unused;
}

static void *drains(void *arg)
{
	for (; !atomic_load(&over); atomic_fetch_add(&looks, 1))
		drain_round(arg);
	return NULL;
}

/* Windows open and close on all threads at once while the drain polls. */
static void no_window_is_lost_among_threads(void **state)
{
	drain *d = opened("step", 0);
	pthread_t thread[THREADS], drainer;

	(void)state;
	atomic_store(&over, false);
	drain_free(d);
	dck_err err;
	assert_int_equal(drain_new(&d, ticks_now(), UINT64_C(1) << 32, NULL, &err), DCK_OK);
	assert_int_equal(pthread_create(&drainer, NULL, drains, d), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, steps, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	atomic_store(&over, true);
	assert_int_equal(pthread_join(drainer, NULL), 0);
	assert_false(capture_open());
	while (drain_round(d))
		;
	drain_end(d, ticks_now());
	const capture_counts c = capture_counted(ticks_now());
	const zone_stats *z = zone_aggregate_of(drain_sums(d), step.id);
	assert_int_equal(c.left_out, 0);
	assert_in_range(c.windows, 1, THREADS * ROUNDS);
	assert_int_equal(z->calls + z->unfinished, THREADS * ROUNDS);
	assert_true(z->total_ns <= THREADS * c.ticks);
	capture_disarm();
	drain_free(d);
}

/* --- many windows */

static void windows_without_room_are_counted(void **state)
{
	enum { MANY = 10000, KEPT = 4096 };
	drain *d = opened("step", 0);

	(void)state;
	told[0] = '\0';
	for (int i = 0; i < MANY; i++)
		in_range(&step);
	capture_counts c = capture_counted(ticks_now());
	assert_int_equal(c.windows, KEPT);
	assert_int_equal(c.left_out, MANY - KEPT);
	capture_disarm();
	drain_free(d);
	/* With a drain that polls them there is space for any number. */
	dck_err err;
	assert_int_equal(drain_new(&d, ticks_now(), UINT64_C(1) << 32, NULL, &err), DCK_OK);
	assert_true(capture_arm(&(dck_list){.item = {"step"}, .n = 1}, 0));
	for (int i = 0; i < MANY; i++) {
		in_range(&step);
		if (i % 1000 == 0)
			drain_round(d);
	}
	drain_round(d);
	drain_end(d, ticks_now());
	c = capture_counted(ticks_now());
	assert_int_equal(c.windows, MANY);
	assert_int_equal(c.left_out, 0);
	assert_int_equal(zone_aggregate_of(drain_sums(d), step.id)->calls, MANY);
	capture_disarm();
	drain_free(d);
}

/* --- recordings */

static int64_t fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	assert_non_null(f);
	return f->value.as.i;
}

static dck_record *recorded(const char *range, void (*work)(void))
{
	const dck_trace_config config = {.path = "out.pftrace",
					 .capture_ranges = {.item = {range}, .n = 1}};
	dck_record *r = NULL;
	dck_err err;

	assert_int_equal(dck_trace_start(&config, &err), DCK_OK);
	work();
	assert_int_equal(dck_trace_stop(&r, &err), DCK_OK);
	return r;
}

static void three_steps(void)
{
	for (int i = 0; i < 3; i++) {
		in_range(&site_a);
		dck_zone_push(&step);
		in_range(&site_b);
		dck_zone_pop();
	}
}

static size_t rows(const dck_record *r)
{
	assert_string_equal(r->tables[0].name, "zones");
	return r->tables[0].nrows;
}

static void the_record_says_how_often(void **state)
{
	dck_record *r = recorded("step", three_steps), *read;
	dck_err err;

	(void)state;
	assert_int_equal(fact(r, "captures"), 3);
	assert_true(fact(r, "captured") > 0 && fact(r, "captured") < fact(r, "elapsed"));
	assert_string_equal(dck_record_fact(r, "trace", "capture_range")->value.as.text, "step");
	assert_null(dck_record_note(r, "trace-not-captured"));
	assert_int_equal(rows(r), 2);
	assert_int_equal(dck_trace_read("out.pftrace", &read, &err), DCK_OK);
	assert_int_equal(rows(read), 2);
	dck_record_free(read);
	dck_record_free(r);
	/* The next recording contains all ranges again. */
	const dck_trace_config all = {.path = "all.pftrace"};
	assert_int_equal(dck_trace_start(&all, &err), DCK_OK);
	three_steps();
	assert_int_equal(dck_trace_stop(&r, &err), DCK_OK);
	assert_int_equal(rows(r), 3);
	assert_null(dck_record_fact(r, "trace", "captures"));
	dck_record_free(r);
}

static void a_name_that_never_comes_is_told(void **state)
{
	dck_record *r = recorded("stpe", three_steps);
	const dck_note *note = dck_record_note(r, "trace-not-captured");

	(void)state;
	assert_non_null(note);
	assert_non_null(strstr(note->text, "no range called 'stpe' was opened"));
	assert_non_null(strstr(note->text, "there is one called 'step'"));
	assert_int_equal(rows(r), 0);
	dck_record_free(r);
}

static void wrong_names_are_refused(void **state)
{
	dck_trace_config config = {.capture_ranges = {.item = {"@mine"}, .n = 1}};
	dck_err err;

	(void)state;
	assert_int_equal(dck_trace_start(&config, &err), DCK_E_ARG);
	assert_string_equal(err.msg, "'@mine' is not a range: NAME, or NAME@DOMAIN");
	config = (dck_trace_config){.capture_times = 3};
	assert_int_equal(dck_trace_start(&config, &err), DCK_E_ARG);
}

/* A range open at the fork belongs to the parent; the child's own ranges are recorded. */
static void a_child_has_windows_of_its_own(void **state)
{
	const dck_trace_config config = {.path = "out.pftrace",
					 .capture_ranges = {.item = {"step"}, .n = 1}};
	dck_record *r = NULL;
	dck_err err;
	int status;

	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	skip(); /* The sanitizers cannot follow a child that starts threads. */
#endif
	assert_int_equal(dck_trace_start(&config, &err), DCK_OK);
	dck_zone_push(&step);
	const pid_t child = fork();
	in_range(&site_a);
	dck_zone_pop();
	if (child == 0) {
		three_steps();
		bool good = dck_trace_stop(&r, NULL) == DCK_OK;
		good = good && r && r->tables[0].nrows == 2 &&
		       dck_record_fact(r, "trace", "captures")->value.as.i == 3;
		_exit(!good);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(dck_trace_stop(&r, &err), DCK_OK);
	assert_int_equal(fact(r, "captures"), 1);
	assert_int_equal(rows(r), 2);
	dck_record_free(r);
}

int test_capture(void);
int test_capture(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_outside_is_not_told),
	    cmocka_unit_test(a_range_from_before_is_not_told),
	    cmocka_unit_test(a_range_inside_its_own),
	    cmocka_unit_test(only_so_many_times),
	    cmocka_unit_test(what_reaches_over_the_end_is_cut),
	    cmocka_unit_test(ranges_of_no_thread),
	    cmocka_unit_test(names_as_the_table_has_them_or_with_a_domain_behind),
	    cmocka_unit_test(domains_are_stacks_of_their_own),
	    cmocka_unit_test(names_of_threads_are_always_told),
	    cmocka_unit_test(a_window_is_of_all_threads),
	    cmocka_unit_test(no_window_is_lost_among_threads),
	    cmocka_unit_test(windows_without_room_are_counted),
	    SCRATCH_TEST(the_record_says_how_often),
	    SCRATCH_TEST(a_name_that_never_comes_is_told),
	    SCRATCH_TEST(wrong_names_are_refused),
	    SCRATCH_TEST(a_child_has_windows_of_its_own),
	};

	dck_trace_on = LISTEN_RECORD;
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
