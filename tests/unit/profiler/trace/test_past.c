/* test_past.c - retroactive events have their true times, between the other events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "profiler/trace/backfill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static dck_record *record_of(void (*work)(void))
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_trace_start(&(dck_trace_config){.path = NULL}, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	work();
	if (dck_trace_stop(&r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

/* The total of a path such as "live;a;b", and its number of calls; -1: absent. */
static double total_of(const dck_record *r, const char *path, double *ret_calls)
{
	const dck_tree *t = dck_record_tree(r, "zones");
	double self = -1;

	assert_non_null(t);
	for (uint32_t i = 0; i < t->nnodes; i++) {
		char text[200] = "", before[200];

		for (uint32_t k = i; k != DCK_TREE_ROOT; k = t->nodes[k].parent) {
			snprintf(before, sizeof before, "%s", text);
			snprintf(text, sizeof text, "%.90s%s%.90s",
				 t->frames[t->nodes[k].frame].name, before[0] ? ";" : "", before);
		}
		if (strcmp(text, path) != 0)
			continue;
		*ret_calls = t->weights[2 * i];
		self = t->weights[2 * i + 1];
	}
	return self;
}

static int64_t fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	assert_non_null(f);
	return f->value.as.i;
}

/* Uses a clock with 1000 ticks for the duration of the work. */
static void work_told_later(void)
{
	past p;

	DCK_ZONE("live");
	dck_past_begin(&p, 5000);
	usleep(2000);
	assert_true(dck_past_end(&p, 6000));
	dck_past_push(&p, dck_past_name(NULL, "whole"), 5000);
	dck_past_push(&p, dck_past_name(NULL, "half"), 5250);
	dck_past_number(&p, dck_past_name(NULL, "n"), 3, 5250);
	dck_past_pop(&p, 5750);
	dck_past_push(&p, dck_past_name(NULL, "half"), 5750);
	dck_past_pop(&p, 5750);
	/* After the last clock reading: its end. */
	dck_past_pop(&p, 9999);
}

static void they_stand_where_they_were(void **state)
{
	double whole_calls, half_calls, calls;
	dck_record *r = record_of(work_told_later);

	(void)state;
	const double whole = total_of(r, "live;whole", &whole_calls);
	const double half = total_of(r, "live;whole;half", &half_calls);
	assert_true(total_of(r, "live", &calls) >= 0);
	assert_true(whole_calls == 1 && half_calls == 2 && calls == 1);
	/* Both halves are equal, within one tick of the clock. */
	assert_true(half > 900000 && whole > half - 10 && whole < half + 10);
	assert_int_equal(fact(r, "moved_events"), 0);
	assert_int_equal(fact(r, "unmatched_ends"), 0);
	dck_record_free(r);
}

static void work_of_other_events(void)
{
	past p;

	dck_past_begin(&p, 1);
	DCK_MARK("meanwhile");
	assert_false(dck_past_end(&p, 2));
	/* Events from here on are accepted. */
	dck_past_begin(&p, 2);
	assert_true(dck_past_end(&p, 3));
	assert_true(dck_past_end(&p, 4));
}

static void events_in_between_forbid_it(void **state)
{
	(void)state;
	dck_record_free(record_of(work_of_other_events));
}

static void nothing_is_told_when_nothing_records(void **state)
{
	past p;

	(void)state;
	dck_past_begin(&p, 1);
	assert_false(dck_past_end(&p, 2));
}

static void work_of_others(void)
{
	past p;

	DCK_ZONE("live");
	dck_past_begin(&p, 1000);
	usleep(1000);
	assert_true(dck_past_end(&p, 2000));
	for (int tid = 900001; tid < 900004; tid++) {
		assert_true(dck_past_thread_begin(&p, tid, "a name that is longer than fifteen"));
		for (uint64_t i = 0; i < 5000; i++) { /* more than a chunk holds */
			dck_past_push(&p, dck_past_name(NULL, "theirs"), 1000 + i / 10);
			dck_past_pop(&p, 1000 + i / 10);
		}
		dck_past_thread_end(&p);
	}
	DCK_PUSH("mine");
	DCK_POP();
}

static void other_threads_have_their_own_lanes(void **state)
{
	double calls;
	dck_record *r = record_of(work_of_others);

	(void)state;
	assert_int_equal(fact(r, "threads"), 4);
	assert_true(total_of(r, "live;mine", &calls) >= 0 && calls == 1);
	assert_true(total_of(r, "theirs", &calls) >= 0 && calls == 15000);
	assert_int_equal(fact(r, "dropped_events"), 0);
	assert_int_equal(fact(r, "moved_events"), 0);
	dck_record_free(r);
}

static void long_names_are_cut(void **state)
{
	char name[1000];

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	const uint32_t cut = dck_past_name(NULL, name);
	name[300] = '\0';
	assert_int_equal(dck_past_name(NULL, name), cut);
	name[200] = '\0';
	assert_int_not_equal(dck_past_name(NULL, name), cut);
}

int test_past(void);
int test_past(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(they_stand_where_they_were),
	    cmocka_unit_test(events_in_between_forbid_it),
	    cmocka_unit_test(nothing_is_told_when_nothing_records),
	    cmocka_unit_test(other_threads_have_their_own_lanes),
	    cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
