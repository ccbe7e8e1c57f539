/* Tests of perfetto_read.c: ranges on tracks without a thread, and state that a sequence lost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace_foreign.h"

enum { LANE = 99 };
static const char main_thread[] = "thread 4/5 'main'  of 'process 4/0 ''  of '''";
static const char other_thread[] = "thread 4/6 'other'  of 'process 4/0 ''  of '''";
static const char foreign_thread[] = "thread 7/8 'far'  of 'process 7/0 ''  of '''";

/* A sequence whose events are by default of that track. */
static void sequence(foreign *x, uint32_t id, int64_t track)
{
	packet(x, id);
	wire_put_int(&x->w, PF_PACKET_FLAGS, PF_FLAG_CLEARED);
	size_t defaults = wire_begin(&x->w, PF_PACKET_DEFAULTS);
	size_t one = wire_begin(&x->w, PF_DEFAULTS_TRACK_EVENT);
	wire_put_int(&x->w, PF_EVENT_TRACK, track);
	wire_end(&x->w, one);
	wire_end(&x->w, defaults);
	packet_end(x);
}

/* Sequences 3, 4 and 5, of two threads of a process and one of another. */
static void threads(foreign *x)
{
	thread(x, 77, 4, 5, "main");
	thread(x, 78, 4, 6, "other");
	thread(x, 79, 7, 8, "far");
	for (uint32_t i = 3; i < 6; i++)
		sequence(x, i, 74 + i);
}

static void lane(foreign *x, int64_t parent)
{
	packet(x, 2);
	size_t track = wire_begin(&x->w, PF_PACKET_TRACK);
	wire_put_int(&x->w, PF_TRACK_UUID, LANE);
	wire_put_int(&x->w, PF_TRACK_PARENT, parent);
	wire_end(&x->w, track);
	packet_end(x);
}

static void put(foreign *x, uint32_t by, int64_t ns, int64_t track, const char *name)
{
	stamp(x, by, ns, 0);
	event(x, name ? PF_BEGIN : PF_END, track, name);
	event_end(x);
}

typedef struct old_event {
	char phase;
	const char *name, *category;
	uint32_t id_field;
	int64_t id, us;
} old_event;

static void put_old(foreign *x, uint32_t by, int64_t ns, int64_t track, old_event e)
{
	stamp(x, by, ns, 0);
	x->event = wire_begin(&x->w, PF_PACKET_TRACK_EVENT);
	wire_put_int(&x->w, PF_EVENT_TRACK, track);
	wire_put_text(&x->w, PF_EVENT_NAME, e.name);
	if (e.category)
		wire_put_text(&x->w, PF_EVENT_CATEGORY, e.category);
	size_t legacy = wire_begin(&x->w, PF_EVENT_LEGACY);
	wire_put_int(&x->w, PF_LEGACY_PHASE, e.phase);
	if (e.us)
		wire_put_int(&x->w, PF_LEGACY_DURATION_US, e.us);
	if (e.id_field)
		wire_put_int(&x->w, e.id_field, e.id);
	wire_end(&x->w, legacy);
	event_end(x);
}

/* The order in the file is that of the threads' buffers. */
static void ranges_may_end_on_another_thread(void **state)
{
	static const char orders[][5] = {"bBeE", "eEbB", "beBE", "ebBE", "BbEe"};

	(void)state;
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		foreign x = {0};
		trace_read_facts facts;
		unsigned long long id[4];

		threads(&x);
		lane(&x, 77);
		for (const char *p = orders[i]; *p; p++)
			put(&x, *p == 'b' || *p == 'B' ? 3 : 4,
			    *p == 'b'	? 20
			    : *p == 'e' ? 50
			    : *p == 'B' ? 60
					: 65,
			    LANE,
			    *p == 'b'	? "r1"
			    : *p == 'B' ? "r2"
					: NULL);
		put(&x, 4, 20, 78, "z");
		assert_int_equal(sscanf(told(&x, main_thread, &facts),
					"async begin 0 r1 %llu\nasync end 30 %llu\n"
					"async begin 40 r2 %llu\nasync end 45 %llu\n",
					&id[0], &id[1], &id[2], &id[3]),
				 4);
		assert_true(id[0] == id[1] && id[2] == id[3]);
		assert_string_equal(told(&x, other_thread, &facts), "begin 0 z\n");
		wire_out_done(&x.w);
	}
}

static void a_lane_belongs_to_the_process_above_it(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	threads(&x);
	lane(&x, 79);
	put(&x, 3, 2, LANE, "r");
	put(&x, 3, 3, LANE, NULL);
	assert_string_equal(told(&x, foreign_thread, &facts),
			    "async begin 0 r 99\nasync end 1 99\n");
	wire_out_done(&x.w);
}

static void complete_events_of_a_lane_end(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	threads(&x);
	lane(&x, 77);
	put_old(&x, 3, 2000, LANE, (old_event){'X', "r", .us = 2});
	put(&x, 3, 9000, 77, "z");
	assert_string_equal(told(&x, main_thread, &facts),
			    "async begin 0 r 99\nasync end 2000 99\nbegin 7000 z\n");
	wire_out_done(&x.w);
}

static void the_longer_of_equal_begins_is_outside(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	threads(&x);
	put_old(&x, 3, 5000, 77, (old_event){'X', "child", .us = 5});
	put_old(&x, 3, 7000, 77, (old_event){'X', "leaf", .us = 1});
	put_old(&x, 3, 5000, 77, (old_event){'X', "parent", .us = 10});
	put_old(&x, 3, 5000, 77, (old_event){'X', "root", .us = 10});
	put_old(&x, 3, 5000, 77, (old_event){'X', "whole", .us = 11});
	assert_string_equal(
	    told(&x, main_thread, &facts),
	    "begin 0 whole\nbegin 0 parent\nbegin 0 root\nbegin 0 child\n"
	    "begin 2000 leaf\nend 3000\nend 5000\nend 10000\nend 10000\nend 11000\n");
	wire_out_done(&x.w);
}

/* A local id is one of its process. Ids 2 and 1 with the categories 1 and 2 differ, too. */
static void ids_have_a_scope(void **state)
{
	foreign x = {0};
	trace_read_facts facts;
	unsigned long long id[8];

	(void)state;
	threads(&x);
	for (int end = 0; end < 2; end++) {
		const char phase = end ? 'e' : 'b';

		put_old(&x, 3, 1 + end, 77,
			(old_event){phase, "l", "c", .id_field = PF_LEGACY_LOCAL_ID, .id = 5});
		put_old(&x, 5, 1 + end, 79,
			(old_event){phase, "l", "c", .id_field = PF_LEGACY_LOCAL_ID, .id = 5});
		for (int i = 0; i < 8; i++)
			put_old(&x, 3, 1 + end, 77,
				(old_event){phase, "g", i & 1 ? "d" : "c", .id_field = PF_LEGACY_ID,
					    .id = i / 2});
	}
	const char *text = told(&x, foreign_thread, &facts);
	assert_int_equal(
	    sscanf(text, "async begin 0 l of c %llu\nasync end 1 %llu\n", &id[0], &id[1]), 2);
	assert_true(id[0] == id[1]);
	text = told(&x, main_thread, &facts);
	assert_int_equal(sscanf(text, "async begin 0 l of c %llu\n", &id[1]), 1);
	assert_true(id[0] != id[1]);
	for (int i = 0; i < 8; i++) {
		text = strstr(text, "\n") + 1;
		assert_int_equal(sscanf(text, "async begin 0 g of %*c %llu\n", &id[i]), 1);
		for (int k = 0; k < i; k++)
			assert_true(id[i] != id[k]);
	}
	wire_out_done(&x.w);
}

/* --- state */

static void flagged(foreign *x, int64_t flags, bool dropped)
{
	stamp(x, 3, 1, 0);
	wire_put_int(&x->w, PF_PACKET_FLAGS, flags);
	if (dropped)
		wire_put_int(&x->w, PF_PACKET_DROPPED, 1);
}

static void flagged_begin(foreign *x, bool dropped)
{
	flagged(x, PF_FLAG_NEEDED, dropped);
	event(x, PF_BEGIN, 77, NULL);
	wire_put_int(&x->w, PF_EVENT_NAME_IID, 1);
	event_end(x);
}

static void name(foreign *x, bool dropped, const char *text)
{
	flagged(x, PF_FLAG_CLEARED | PF_FLAG_NEEDED, dropped);
	size_t all = wire_begin(&x->w, PF_PACKET_INTERNED);
	size_t one = wire_begin(&x->w, PF_INTERNED_EVENT_NAMES);
	wire_put_int(&x->w, PF_NAME_IID, 1);
	wire_put_text(&x->w, PF_NAME_TEXT, text);
	wire_end(&x->w, one);
	wire_end(&x->w, all);
	packet_end(x);
}

static void packets_without_their_state_are_skipped(void **state)
{
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	thread(&x, 77, 4, 5, "main");
	flagged_begin(&x, true); /* the first ones of a ring buffer were overwritten */
	flagged_begin(&x, false);
	name(&x, true, "alpha"); /* the service sets it in the first packet */
	flagged_begin(&x, false);
	flagged_begin(&x, true);
	flagged_begin(&x, false);
	put(&x, 3, 1, 77, "own"); /* needs none */
	name(&x, false, "beta");
	flagged_begin(&x, false);
	assert_string_equal(told(&x, main_thread, &facts),
			    "begin 0 alpha\nbegin 0 own\nbegin 0 beta\n");
	assert_int_equal(facts.stateless, 4);
	assert_int_equal(facts.skipped, 4);
	wire_out_done(&x.w);
}

static void incremental_counters_start_again_with_the_state(void **state)
{
	static const int64_t values[] = {100, 5, 110, 1};
	foreign x = {0};
	trace_read_facts facts;

	(void)state;
	for (int i = 0; i < 4; i++) {
		if (i % 2 == 0) {
			flagged(&x, PF_FLAG_CLEARED, false);
			size_t track = wire_begin(&x.w, PF_PACKET_TRACK);
			wire_put_int(&x.w, PF_TRACK_UUID, 50);
			wire_put_text(&x.w, PF_TRACK_NAME, "c");
			size_t counter = wire_begin(&x.w, PF_TRACK_COUNTER);
			wire_put_int(&x.w, PF_COUNTER_INCREMENTAL, 1);
			wire_end(&x.w, counter);
			wire_end(&x.w, track);
			packet_end(&x);
		}
		stamp(&x, 3, i, 0);
		event(&x, PF_COUNTER, 50, NULL);
		wire_put_int(&x.w, PF_EVENT_COUNTER_INT, values[i]);
		event_end(&x);
	}
	assert_string_equal(told(&x, "counter 0/0 'c'  of ''", &facts),
			    "counter 0 100\ncounter 1 105\ncounter 2 110\ncounter 3 111\n");
	wire_out_done(&x.w);
}

int test_trace_lanes(void);
int test_trace_lanes(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges_may_end_on_another_thread),
	    cmocka_unit_test(a_lane_belongs_to_the_process_above_it),
	    cmocka_unit_test(complete_events_of_a_lane_end),
	    cmocka_unit_test(the_longer_of_equal_begins_is_outside),
	    cmocka_unit_test(ids_have_a_scope),
	    cmocka_unit_test(packets_without_their_state_are_skipped),
	    cmocka_unit_test(incremental_counters_start_again_with_the_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
