/* test_bench_trace.c - a program that records itself and measures: the runs, and the operators of
 * further runs, are inside the zone of the caller.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "deepclock/bench.h"
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "scratch.h"

typedef struct traced {
	dck_record *bench, *zones;
} traced;

/* The null engine keeps a processor busy for 1 ms; 0.2 of it count for "a" and 0.5 for "b". */
static const char *const options[] = {"ns=1000000", "operators=a:200000,b:500000"};

static void subject_make(dck_subject *s, size_t noptions)
{
	dck_subject_init(s);
	s->kind = DCK_SUBJECT_MODEL;
	s->text = "zoo:simplenet";
	s->model.engine = "null";
	for (size_t i = 0; i < noptions; i++)
		s->model.engine_option.item[s->model.engine_option.n++] = options[i];
}

static void plan_make(dck_plan *plan)
{
	dck_plan_init(plan);
	plan->runs = 7;
	plan->warmup = "4";
}

static int with_zones(void *arg)
{
	DCK_ZONE("its own");
	return *(int *)arg;
}

static traced bench_in_zone(const dck_subject *s, const dck_plan *plan)
{
	traced t = {NULL, NULL};
	dck_err err = {0};

	assert_int_equal(dck_trace_start(&(dck_trace_config){.path = NULL}, &err), DCK_OK);
	DCK_PUSH("caller");
	if (dck_bench(s, plan, NULL, &t.bench, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	DCK_POP();
	assert_int_equal(dck_trace_stop(&t.zones, &err), DCK_OK);
	return t;
}

static void done(traced *t)
{
	dck_record_free(t->bench);
	dck_record_free(t->zones);
}

/* Calls of a path such as "caller;bench x;measure;run"; 0: absent. */
static double calls_of(const dck_record *r, const char *path)
{
	const dck_tree *t = dck_record_tree(r, "zones");

	assert_non_null(t);
	for (uint32_t i = 0; i < t->nnodes; i++) {
		char text[400] = "", before[400];

		for (uint32_t k = i; k != DCK_TREE_ROOT; k = t->nodes[k].parent) {
			snprintf(before, sizeof before, "%s", text);
			snprintf(text, sizeof text, "%.100s%s%.290s",
				 t->frames[t->nodes[k].frame].name, before[0] ? ";" : "", before);
		}
		if (strcmp(text, path) == 0)
			return t->weights[2 * i];
	}
	return 0;
}

static dck_value fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	if (!f)
		fail_msg("no fact %s", key);
	return f->value;
}

static void runs_and_operators_are_in_their_zone(void **state)
{
	dck_subject s;
	dck_plan plan;

	(void)state;
	subject_make(&s, 2);
	plan_make(&plan);
	traced t = bench_in_zone(&s, &plan);
	assert_true(calls_of(t.zones, "caller") == 1);
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet") == 1);
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet;session") == 1);
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet;inputs") == 1);
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet;first run") == 1);
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet;warm-up;warm-up run") == 3);
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet;measure;run") == 7);
	const double n = (double)fact(t.bench, "profiled_runs").as.i;
	assert_true(n >= 2 && n <= 100);
	static const char *const inside[] = {"", ";a", ";b"};
	for (size_t i = 0; i < 3; i++) {
		char path[100];

		snprintf(path, sizeof path,
			 "caller;profile zoo:simplenet;profiled runs;profiled run%s", inside[i]);
		assert_true(calls_of(t.zones, path) == n);
	}
	assert_int_equal(fact(t.bench, "runs").as.i, 7);
	assert_int_equal(fact(t.bench, "runs_left_out").as.i, 0);
	assert_int_equal(fact(t.bench, "operators").as.i, 2 * (int64_t)n);
	assert_true(fact(t.bench, "profiled_ratio").as.r > 0);
	assert_non_null(dck_record_note(t.bench, "trace-profiled"));
	/* The caller owns the recording, and so its sums. */
	assert_null(dck_record_table(t.bench, "zones"));
	assert_int_equal(fact(t.zones, "moved_events").as.i, 0);
	assert_int_equal(fact(t.zones, "unmatched_ends").as.i, 0);
	done(&t);
}

static void an_engine_that_tells_nothing_has_runs_alone(void **state)
{
	dck_subject s;
	dck_plan plan;

	(void)state;
	subject_make(&s, 1);
	plan_make(&plan);
	traced t = bench_in_zone(&s, &plan);
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet;measure;run") == 7);
	assert_true(calls_of(t.zones, "caller;profile zoo:simplenet") == 0);
	assert_int_equal(fact(t.bench, "operators").kind, DCK_VALUE_ABSENT);
	assert_non_null(dck_record_note(t.bench, "trace-no-operators"));
	done(&t);
}

/* A group of runs is one range, and the samples removed by thinning are counted. */
static void groups_and_thinned_samples(void **state)
{
	dck_subject s;
	dck_plan plan;

	(void)state;
	subject_make(&s, 0);
	plan_make(&plan);
	plan.runs = 1000;
	plan.group = 5;
	plan.keep = 64;
	traced t = bench_in_zone(&s, &plan);
	/* 200 samples in a store of 64: one in four is kept. */
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet;measure;runs") == 50);
	assert_true(calls_of(t.zones, "caller;bench zoo:simplenet;measure;run") == 0);
	assert_int_equal(fact(t.bench, "runs").as.i, 250);
	assert_int_equal(fact(t.bench, "runs_left_out").as.i, 750);
	assert_int_equal(fact(t.zones, "moved_events").as.i, 0);
	done(&t);
}

static void a_function_with_zones_tells_of_itself(void **state)
{
	int result = 0;
	dck_subject s;
	dck_plan plan;

	(void)state;
	dck_subject_init(&s);
	s.text = "work";
	s.function = with_zones;
	s.arg = &result;
	plan_make(&plan);
	traced t = bench_in_zone(&s, &plan);
	assert_true(calls_of(t.zones, "caller;its own") >= 11);
	assert_true(calls_of(t.zones, "caller;bench function;measure;run") == 0);
	assert_int_equal(fact(t.bench, "runs").kind, DCK_VALUE_ABSENT);
	assert_int_equal(fact(t.zones, "moved_events").as.i, 0);
	done(&t);
}

static bool late;

static void on_progress(void *self, const dck_progress *p)
{
	(void)self;
	late = late || strcmp(p->phase, "profiled runs") == 0;
}

static bool is_late(void *self)
{
	(void)self;
	return late;
}

static void what_was_measured_stays_when_it_is_interrupted(void **state)
{
	const dck_observer watch = {.progress = on_progress, .cancelled = is_late};
	dck_subject s;
	dck_plan plan;
	dck_record *r = NULL;
	dck_err err = {0};

	(void)state;
	subject_make(&s, 2);
	plan_make(&plan);
	plan.trace = "interrupted.pftrace";
	assert_int_equal(dck_bench(&s, &plan, &watch, &r, &err), DCK_OK);
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "interrupted"));
	assert_null(dck_record_note(r, "trace-no-operators"));
	assert_int_equal(fact(r, "operators").kind, DCK_VALUE_ABSENT);
	assert_true(calls_of(r, "bench zoo:simplenet;measure;run") == 7);
	assert_true(calls_of(r, "profile zoo:simplenet") == 0);
	assert_int_equal(dck_trace_on, 0);
	dck_record_free(r);
}

static void a_file_of_its_own(void **state)
{
	dck_subject s;
	dck_plan plan;
	dck_record *r = NULL, *again = NULL;
	dck_err err = {0};

	(void)state;
	subject_make(&s, 2);
	plan_make(&plan);
	plan.trace = "own.pftrace";
	assert_int_equal(dck_bench(&s, &plan, NULL, &r, &err), DCK_OK);
	assert_int_equal(dck_trace_on, 0);
	assert_true(calls_of(r, "bench zoo:simplenet;measure;run") == 7);
	assert_int_equal(dck_trace_read("own.pftrace", &again, &err), DCK_OK);
	assert_true(calls_of(again, "bench zoo:simplenet;measure;run") == 7);
	assert_true(calls_of(again, "profile zoo:simplenet;profiled runs;profiled run;b") ==
		    (double)fact(r, "profiled_runs").as.i);
	dck_record_free(again);
	dck_record_free(r);

	/* Without a trace file there is no measurement, and a failed recording is ended. */
	plan.trace = "no/such/folder.pftrace";
	assert_int_equal(dck_bench(&s, &plan, NULL, &r, &err), DCK_E_IO);
	plan.trace = "own.pftrace";
	s.text = "missing.onnx";
	assert_int_equal(dck_bench(&s, &plan, NULL, &r, &err), DCK_E_ABSENT);
	assert_int_equal(dck_trace_on, 0);
	plan.processes = 2;
	assert_int_equal(dck_bench(&s, &plan, NULL, &r, &err), DCK_E_ARG);
}

int test_bench_trace(void);
int test_bench_trace(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_and_operators_are_in_their_zone),
	    cmocka_unit_test(an_engine_that_tells_nothing_has_runs_alone),
	    cmocka_unit_test(groups_and_thinned_samples),
	    cmocka_unit_test(a_function_with_zones_tells_of_itself),
	    SCRATCH_TEST(a_file_of_its_own),
	    SCRATCH_TEST(what_was_measured_stays_when_it_is_interrupted),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
