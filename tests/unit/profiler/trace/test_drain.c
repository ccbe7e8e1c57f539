/* The drain's output for single events; statistics of zones; ranges shared between threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "deepclock/zone.h"
#include "profiler/trace/drain.h"
#include "profiler/trace/thread_buffer.h"
#include "profiler/timeline/open_ranges.h"
#include "profiler/trace/zone_names.h"

/* --- a listener that logs its events */

static char told[4096];
static char names[16][32];
static uint32_t name_ids[16], nnames;
static bool is_use[64]; /* tracks of thread counters, which another test covers */

static const char *name_of(uint32_t id)
{
	for (uint32_t i = 0; i < nnames; i++)
		if (name_ids[i] == id)
			return names[i];
	return "untold";
}

static void intern(void *self, uint32_t id, const trace_name *name)
{
	(void)self;
	name_ids[nnames] = id;
	snprintf(names[nnames++], sizeof names[0], "%.*s", (int)name->n, name->text);
}

static void track(void *self, const trace_track *t)
{
	static const char *const kinds[] = {"process", "thread", "counter"};

	(void)self;
	is_use[t->id % 64] = t->kind == TRACE_COUNTER_TRACK && t->unit != DCK_UNIT_NONE;
	if (is_use[t->id % 64])
		return;
	/* The first thread name depends on how the test is run. */
	const bool named = t->kind == TRACE_COUNTER_TRACK ||
			   (t->kind == TRACE_THREAD && t->name && strchr(t->name, ' '));
	snprintf(told + strlen(told), sizeof told - strlen(told), "%s%s%s; ", kinds[t->kind],
		 named ? " " : "", named ? t->name : "");
}

static void events(void *self, uint32_t id, const trace_event *e, size_t n)
{
	(void)self;
	for (size_t i = 0; i < n && !is_use[id % 64]; i++) {
		char *p = told + strlen(told);
		size_t room = sizeof told - strlen(told);

		if (i)
			assert_true(e[i].ns >= e[i - 1].ns);
		switch ((trace_kind)e[i].kind) {
		case TRACE_BEGIN:
			snprintf(p, room, "(%s ", name_of(e[i].name));
			break;
		case TRACE_END:
			snprintf(p, room, ") ");
			break;
		case TRACE_INSTANT:
			snprintf(p, room, "!%s ", name_of(e[i].name));
			break;
		case TRACE_COUNTER:
			snprintf(p, room, "%u:%s=%g ", id, name_of(e[i].name), e[i].as.real);
			break;
		case TRACE_ANNOTATION:
			snprintf(p, room, "%s=%g ", name_of(e[i].name), e[i].as.real);
			break;
		case TRACE_ASYNC_BEGIN:
			snprintf(p, room, "<%s ", name_of(e[i].name));
			break;
		case TRACE_ASYNC_END:
			snprintf(p, room, "> ");
			break;
		case TRACE_FLOW_BEGIN:
			snprintf(p, room, "from ");
			break;
		case TRACE_FLOW_END:
			snprintf(p, room, "to ");
			break;
		case TRACE_FLOW_STEP:
		case TRACE_KINDS:
			break;
		}
	}
}

static dck_zone_site site_a = {"a", __FILE__, __LINE__, 0}, site_b = {"b", __FILE__, __LINE__, 0};

static drain *opened(void)
{
	static const drain_listener listener = {.intern = intern, .track = track, .events = events};
	drain *d = NULL;
	dck_err err;

	assert_true(zone_names_init() && thread_buffers_init() && block_pool_reserve(1 << 20));
	told[0] = '\0';
	nnames = 0;
	assert_int_equal(drain_new(&d, ticks_now(), UINT64_C(1) << 32, &listener, &err), DCK_OK);
	return d;
}

static const zone_stats *zone_of(const drain *d, uint32_t name)
{
	return zone_aggregate_of(drain_sums(d), name);
}

static void events_are_told_in_order(void **state)
{
	drain *d = opened();

	(void)state;
	dck_zone_push(&site_a);
	dck_zone_number(&site_b, 32);
	dck_zone_number(&site_b, NAN); /* left out, and counted, as an infinite one */
	dck_zone_push(&site_b);
	dck_zone_mark(&site_a);
	dck_zone_pop();
	dck_range r = dck_zone_start(&site_a);
	dck_zone_pop();
	dck_zone_end(r);
	dck_zone_counter(&site_a, 0.5);
	dck_zone_counter(&site_b, 2);
	dck_zone_counter(&site_a, INFINITY);
	dck_zone_counter(&site_a, 0.25);
	drain_round(d);
	drain_end(d, ticks_now());
	assert_string_equal(told, "process; thread; (a b=32 (b !a ) <a from ) > counter a; 3:a=0.5 "
				  "3:a=0.25 counter b; 4:b=2 ");
	assert_int_equal(drain_counted(d)->not_finite, 2);
	drain_free(d);
}

static void *end_inside(void *range)
{
	dck_zone_push(&site_b);
	dck_zone_end(*(const dck_range *)range);
	dck_zone_pop();
	return NULL;
}

static void *start_inside(void *ret)
{
	dck_zone_push(&site_b);
	*(dck_range *)ret = dck_zone_start(&site_a);
	dck_zone_pop();
	return NULL;
}

static void end_elsewhere(dck_range r)
{
	pthread_t other;

	assert_int_equal(pthread_create(&other, NULL, end_inside, &r), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
}

/* A flow from the range around the start to that around the end, if on another thread. */
static void a_range_that_ends_elsewhere_is_an_arrow(void **state)
{
	drain *d = opened();

	(void)state;
	dck_zone_push(&site_a);
	end_elsewhere(dck_zone_start(&site_a));
	dck_range here = dck_zone_start(&site_a), outside;
	dck_zone_push(&site_b);
	dck_zone_end(here);
	dck_zone_pop();
	dck_zone_pop();
	outside = dck_zone_start(&site_a); /* outside of any range */
	dck_zone_push(&site_b);
	dck_zone_end(outside);
	dck_zone_pop();
	drain_round(d);
	drain_end(d, ticks_now());
	assert_string_equal(told, "process; thread; (a <a from <a from (b > ) ) <a (b > ) "
				  "thread; (b > to ) ");
	drain_free(d);
	/* Without a range around the start there is nothing that an arrow leaves. */
	d = opened();
	end_elsewhere(dck_zone_start(&site_a));
	drain_round(d);
	drain_end(d, ticks_now());
	assert_string_equal(told, "process; thread; <a thread; (b > ) ");
	drain_free(d);
	/* The end is read before its start. */
	pthread_t other;
	d = opened();
	assert_int_equal(pthread_create(&other, NULL, start_inside, &here), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	dck_zone_push(&site_a);
	dck_zone_end(here);
	dck_zone_pop();
	drain_round(d);
	drain_end(d, ticks_now());
	assert_string_equal(told, "process; thread; (a > to ) thread; (b <a from ) ");
	drain_free(d);
}

static void an_open_range_is_closed_and_marked(void **state)
{
	drain *d = opened();

	(void)state;
	dck_zone_push(&site_a);
	dck_zone_push(&site_b);
	drain_round(d);
	drain_end(d, ticks_now());
	assert_string_equal(told, "process; thread; (a (b unended=1 ) unended=1 ) ");
	assert_int_equal(drain_counted(d)->unfinished, 2);
	drain_free(d);
	dck_zone_pop();
	dck_zone_pop();
}

/* Like a signal handler's: its events are stored before the event that it interrupted. */
static void events_of_a_handler_find_their_place(void **state)
{
	drain *d = opened();

	(void)state;
	uint64_t t = ticks_now();
	uint32_t a = zone_name_intern("a", "", 0), b = zone_name_intern("b", "", 0);
	thread_buffer_put(t + 2, LANE_WORD(LANE_PUSH, b));
	thread_buffer_put_value(t + 3, LANE_WORD(LANE_NUMBER, a), 0);
	thread_buffer_put(t + 4, LANE_WORD(LANE_POP, 0));
	thread_buffer_put(t + 1, LANE_WORD(LANE_PUSH, a));
	thread_buffer_put(t + 5, LANE_WORD(LANE_POP, 0));
	drain_round(d);
	drain_end(d, ticks_now());
	assert_string_equal(told, "process; thread; (a (b a=0 ) ) ");
	/* Too late for its position: reported at the last time emitted. */
	thread_buffer_put(t, LANE_WORD(LANE_PUSH, b));
	thread_buffer_put(t + 6, LANE_WORD(LANE_POP, 0));
	drain_round(d);
	assert_int_equal(drain_counted(d)->moved, 1);
	assert_int_equal(drain_counted(d)->unmatched, 0);
	drain_free(d);
}

/* A reserved, unwritten slot: the events after it wait. */
static void a_hole_is_waited_for(void **state)
{
	drain *d = opened();

	(void)state;
	dck_zone_mark(&site_a);
	uint64_t t = ticks_now();
	uintptr_t hole = local_fetch_add(&thread_buffer_me.next, sizeof(thread_buffer_entry));
	dck_zone_mark(&site_b);
	drain_round(d);
	assert_string_equal(told, "process; thread; !a ");
	thread_buffer_write(hole, t, LANE_WORD(LANE_MARK, site_a.id));
	drain_round(d);
	assert_string_equal(told, "process; thread; !a !a !b ");
	drain_free(d);
}

static void what_was_lost_keeps_the_nesting(void **state)
{
	drain *d = opened();
	uint32_t a = zone_name_intern("a", "", 0);

	(void)state;
	dck_zone_push(&site_a);
	dck_zone_push(&site_b);
	/* The pop of b and two pushes were lost. */
	thread_buffer_put_value(ticks_now(), LANE_WORD(LANE_GAP, 0), UINT64_C(1) << 32 | 2);
	thread_buffer_put(ticks_now(), LANE_WORD(LANE_PUSH, a));
	for (int i = 0; i < 4; i++)
		dck_zone_pop();
	drain_round(d);
	drain_end(d, ticks_now());
	assert_string_equal(told, "process; thread; (a (b unended=1 ) (a ) ) ");
	assert_int_equal(drain_counted(d)->unmatched, 0);
	drain_free(d);
}

static void put_at(uint64_t ticks, thread_buffer_kind kind, uint32_t name, uint32_t stack)
{
	thread_buffer_put(ticks, LANE_WORD(kind, name) | LANE_STACK(stack));
}

/* Events with future times are drained when these times have passed. */
static void round_after(drain *d, uint64_t ticks)
{
	while (ticks_now() < ticks)
		;
	drain_round(d);
	drain_end(d, ticks_now());
}

/* Ranges of two stacks: a ends while b, which started inside it, continues, with c inside. */
static void ranges_of_two_stacks_may_cross(void **state)
{
	drain *d = opened();
	const uint32_t a = zone_name_intern("a", "", 0), b = zone_name_intern("b", "", 0),
		       c = zone_name_intern("c", "", 0);
	const uint64_t t = ticks_now();

	(void)state;
	put_at(t, LANE_PUSH, a, 1);
	put_at(t + 10, LANE_PUSH, b, 2);
	put_at(t + 30, LANE_PUSH, c, 2);
	put_at(t + 60, LANE_POP, 0, 1);
	put_at(t + 100, LANE_POP, 0, 2);
	put_at(t + 150, LANE_POP, 0, 3); /* that stack has no open range */
	put_at(t + 210, LANE_POP, 0, 2);
	put_at(t + 220, LANE_POP, 0, 2);
	round_after(d, t + 1000);
	assert_string_equal(told, "process; thread; (a (b (c continued=1 ) continued=1 ) ) "
				  "(b (c ) ) ");
	const zone_stats *const want[] = {
	    &(zone_stats){.calls = 1, .total_ns = 60, .self_ns = 10, .min_ns = 60, .max_ns = 60},
	    &(zone_stats){
		.calls = 1, .total_ns = 200, .self_ns = 130, .min_ns = 200, .max_ns = 200},
	    &(zone_stats){.calls = 1, .total_ns = 70, .self_ns = 70, .min_ns = 70, .max_ns = 70}};
	const uint32_t ids[] = {a, b, c};
	for (int i = 0; i < 3; i++) {
		const zone_stats *got = zone_of(d, ids[i]);

		assert_int_equal(got->calls, want[i]->calls);
		assert_int_equal(got->total_ns, want[i]->total_ns);
		assert_int_equal(got->self_ns, want[i]->self_ns);
		assert_int_equal(got->min_ns, want[i]->min_ns);
		assert_int_equal(got->max_ns, want[i]->max_ns);
		assert_int_equal(got->unfinished, 0);
	}
	assert_int_equal(drain_counted(d)->unmatched, 2);
	assert_int_equal(drain_counted(d)->unfinished, 0);
	drain_free(d);
}

/* The same name on both stacks: the time in which either is open counts once. */
static void crossing_ranges_of_one_name(void **state)
{
	drain *d = opened();
	const uint32_t a = zone_name_intern("a", "", 0);
	const uint64_t t = ticks_now();

	(void)state;
	put_at(t, LANE_PUSH, a, 1);
	put_at(t + 10, LANE_PUSH, a, 2);
	put_at(t + 60, LANE_POP, 0, 1);
	put_at(t + 100, LANE_PUSH, a, 1);
	put_at(t + 300, LANE_POP, 0, 2); /* split twice: the first ends, the second continues */
	put_at(t + 310, LANE_POP, 0, 1);
	round_after(d, t + 1000);
	const zone_stats *z = zone_of(d, a);
	assert_int_equal(z->calls, 3);
	assert_int_equal(z->total_ns, 310);
	assert_int_equal(z->sum_ns, 60 + 290 + 210);
	assert_int_equal(z->self_ns, 310);
	drain_free(d);
}

/* More than can be split: no range ends before the thread does. */
static void too_many_pieces_are_none(void **state)
{
	enum { INSIDE = 65 };
	drain *d = opened();
	const uint32_t a = zone_name_intern("a", "", 0), b = zone_name_intern("b", "", 0);
	uint64_t t = ticks_now();

	(void)state;
	put_at(t, LANE_PUSH, a, 1);
	for (int i = 0; i < INSIDE; i++)
		put_at(t, LANE_PUSH, b, 2);
	put_at(t, LANE_POP, 0, 1);
	for (int i = 0; i < INSIDE; i++)
		put_at(t, LANE_POP, 0, 2);
	round_after(d, t + 1000);
	assert_int_equal(drain_counted(d)->unmatched, 1);
	assert_int_equal(zone_of(d, a)->unfinished, 1);
	assert_int_equal(zone_of(d, b)->calls, INSIDE);
	drain_free(d);
}

static void threads_are_named(void **state)
{
	const uint32_t name = zone_name_intern("worker 1", "", 0);
	drain *d = opened();

	(void)state;
	thread_buffer_put_value(ticks_now(), LANE_WORD(LANE_THREAD, name), (uint64_t)gettid());
	thread_buffer_put_value(ticks_now(), LANE_WORD(LANE_THREAD, name),
				1); /* of no thread of this process */
	drain_round(d);
	assert_string_equal(told, "process; thread; thread worker 1; ");
	drain_free(d);
}

static void too_deep_is_counted(void **state)
{
	enum { DEPTH = 70000, MOST = 65536 };
	drain *d = opened();

	(void)state;
	told[0] = '\0';
	drain_free(d);
	dck_err err;
	assert_int_equal(drain_new(&d, ticks_now(), UINT64_C(1) << 32, NULL, &err), DCK_OK);
	for (int i = 0; i < DEPTH; i++) {
		dck_zone_push(&site_a);
		if (i % 1000 == 0)
			drain_round(d);
	}
	for (int i = 0; i < DEPTH; i++) {
		dck_zone_pop();
		if (i % 1000 == 0)
			drain_round(d);
	}
	drain_round(d);
	assert_int_equal(drain_counted(d)->lost, 2 * (DEPTH - MOST));
	assert_int_equal(zone_of(d, site_a.id)->calls, MOST);
	assert_int_equal(drain_counted(d)->unmatched, 0);
	drain_free(d);
}

static void too_many_open_are_counted(void **state)
{
	enum { MORE = 5 };
	drain *d;
	dck_err err;

	(void)state;
	assert_int_equal(drain_new(&d, ticks_now(), UINT64_C(1) << 32, NULL, &err), DCK_OK);
	for (int i = 0; i < OPEN_RANGES_MAX + MORE; i++) {
		dck_zone_start(&site_a);
		if (i % 1000 == 0)
			drain_round(d);
	}
	drain_round(d);
	assert_int_equal(drain_counted(d)->lost, MORE);
	assert_int_equal(drain_counted(d)->unmatched, 0);
	drain_free(d);
}

static void ticks_become_nanoseconds(void **state)
{
	drain *d;
	dck_err err;
	const uint64_t q32 = UINT64_C(1651910498); /* 2.6 GHz */

	(void)state;
	assert_int_equal(drain_new(&d, 1000, q32, NULL, &err), DCK_OK);
	assert_int_equal(drain_ns(d, 999), 0);
	for (unsigned i = 0; i < 63; i++) {
		uint64_t t = (UINT64_C(1) << i) + 12345;
		__extension__ typedef unsigned __int128 wide;

		assert_int_equal(drain_ns(d, 1000 + t), (uint64_t)(((wide)t * q32) >> 32));
	}
	drain_free(d);
}

/* --- statistics of a zone */

static void means_have_intervals(void **state)
{
	zone_stats z = {0};
	double mean, lo, hi;

	(void)state;
	assert_false(zone_stats_mean(&z, 0.95, &mean, &lo, &hi));
	for (uint64_t i = 1; i <= 9; i++)
		zone_stats_add(&z, i * 10, i, true);
	assert_false(zone_stats_mean(&z, 0.95, &mean, &lo, &hi));
	assert_true(fabs(mean - 50) < 1e-9);
	zone_stats_add(&z, 100, 10, false);
	/* 10 to 100: 55 +- 2.262 * 30.277 / sqrt(10) */
	assert_true(zone_stats_mean(&z, 0.95, &mean, &lo, &hi));
	assert_true(fabs(mean - 55) < 1e-9 && fabs(hi - 55 - 21.6586) < 1e-3 &&
		    fabs(55 - lo - 21.6586) < 1e-3);
	assert_int_equal(z.total_ns, 450);
	assert_int_equal(z.self_ns, 55);
	assert_int_equal(z.min_ns, 10);
	assert_int_equal(z.max_ns, 100);
	zone_stats_done(&z);
}

/* Runs of 100 equal values: assuming independence, the interval would be ten times too narrow. */
static void neighbours_that_are_alike_widen_the_interval(void **state)
{
	zone_stats z = {0};
	double mean, lo, hi;
	unsigned seed = 1;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		seed = seed * 1103515245u + 12345u;
		for (int j = 0; j < 100; j++)
			zone_stats_add(&z, seed >> 16 & 1 ? 200 : 100, 0, true);
	}
	assert_true(zone_stats_mean(&z, 0.95, &mean, &lo, &hi));
	/* sd 50, 1000 independent values: half-width about 2.03 * 50 / sqrt(1000) = 3.2. */
	assert_true(hi - mean > 1.5 && hi - mean < 6);
	assert_true(z.nbatches >= ZONE_BATCHES / 2 && z.nbatches < ZONE_BATCHES);
	assert_int_equal(z.calls, 100000);
	zone_stats_done(&z);
}

/* --- ranges */

static void ranges_match_in_any_order(void **state)
{
	enum { N = 5000 };
	open_ranges o = {0};
	open_range got;
	bool lost;

	(void)state;
	/* Every third has its end first. */
	for (uint64_t i = 1; i <= N; i++)
		assert_false(open_ranges_match(
		    &o, &(open_range){.id = i, .name = 7, .ends = i % 3 == 0, .ns = i}, &got,
		    &lost));
	assert_int_equal(o.n, N);
	for (uint64_t k = 0; k < N; k++) {
		uint64_t i = k * 2741 % N + 1;
		open_range r = {.id = i, .name = 7, .ends = i % 3 != 0, .ns = 2 * i};

		assert_true(open_ranges_match(&o, &r, &got, &lost));
		assert_int_equal(got.ns, i);
	}
	assert_int_equal(o.n, 0);
	assert_false(open_ranges_match(&o, &(open_range){.id = 1}, &got, &lost));
	assert_false(lost);
	assert_false(open_ranges_match(&o, &(open_range){.id = 1}, &got, &lost));
	assert_true(lost);
	open_ranges_done(&o);
}

/* --- names */

static void *bring_names(void *arg)
{
	uint32_t *ids = arg;
	char name[32];

	for (uint32_t i = 0; i < 2000; i++) {
		snprintf(name, sizeof name, "name %u", i);
		ids[i] = zone_name_intern(name, "file.c", i);
	}
	return NULL;
}

static void a_name_has_one_number(void **state)
{
	static uint32_t ids[4][2000];
	pthread_t t[4];

	(void)state;
	assert_true(zone_names_init());
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, bring_names, ids[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	for (uint32_t i = 0; i < 2000; i++) {
		char name[32];

		snprintf(name, sizeof name, "name %u", i);
		assert_string_equal(zone_name_get(ids[0][i])->text, name);
		assert_int_equal(zone_name_get(ids[0][i])->n, strlen(name));
		for (int k = 1; k < 4; k++)
			assert_int_equal(ids[k][i], ids[0][i]);
	}
}

static void too_many_names_are_one(void **state)
{
	char name[32];
	uint32_t last = 0;

	(void)state;
	for (int i = 0; i < ZONE_NAMES_MAX + 10; i++) {
		snprintf(name, sizeof name, "many %d", i);
		last = zone_name_intern(name, "file.c", 1);
	}
	assert_string_equal(zone_name_get(last)->text, "(other names)");
	assert_int_equal(zone_name_intern("many 0", "other.c", 2),
			 zone_name_intern("many 0", "", 0));
	assert_string_equal(zone_name_get(zone_name_intern("many 0", "", 0))->text, "many 0");
}

int test_drain(void);
int test_drain(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(events_are_told_in_order),
	    cmocka_unit_test(a_range_that_ends_elsewhere_is_an_arrow),
	    cmocka_unit_test(an_open_range_is_closed_and_marked),
	    cmocka_unit_test(events_of_a_handler_find_their_place),
	    cmocka_unit_test(a_hole_is_waited_for),
	    cmocka_unit_test(what_was_lost_keeps_the_nesting),
	    cmocka_unit_test(ranges_of_two_stacks_may_cross),
	    cmocka_unit_test(crossing_ranges_of_one_name),
	    cmocka_unit_test(too_many_pieces_are_none),
	    cmocka_unit_test(threads_are_named),
	    cmocka_unit_test(too_deep_is_counted),
	    cmocka_unit_test(too_many_open_are_counted),
	    cmocka_unit_test(ticks_become_nanoseconds),
	    cmocka_unit_test(means_have_intervals),
	    cmocka_unit_test(neighbours_that_are_alike_widen_the_interval),
	    cmocka_unit_test(ranges_match_in_any_order),
	    cmocka_unit_test(a_name_has_one_number),
	    cmocka_unit_test(too_many_names_are_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
