/* test_pitfalls.c - the pitfalls for runs of known duration, with exact numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/mem.h"
#include "study/pitfalls/pitfall.h"
#include <math.h>

/* A world in which only runs take time. */
typedef struct world {
	uint64_t ns, cpu_ns, runs;
	uint64_t cpu_per_ns; /* busy processors */
	uint64_t (*run_ns)(uint64_t run);
	uint64_t fail_at, cancel_at; /* 0: never */
} world;

static uint64_t world_now(void *self)
{
	return ((world *)self)->ns;
}

static uint64_t world_cpu(void *self)
{
	return ((world *)self)->cpu_ns;
}

static int world_run(void *self)
{
	world *w = self;
	const uint64_t ns = w->run_ns(w->runs++);

	w->ns += ns;
	w->cpu_ns += ns * w->cpu_per_ns;
	return w->fail_at > 0 && w->runs >= w->fail_at ? 7 : 0;
}

static bool world_cancelled(void *self)
{
	const world *w = self;

	return w->cancel_at > 0 && w->runs >= w->cancel_at;
}

static dck_status try_world(world *w, const char *only, dck_record **ret, dck_err *err)
{
	const dck_clock clock = {.name = "fake",
				 .now_ns = world_now,
				 .cpu_ns = world_cpu,
				 .self = w,
				 .tick_ns = 1,
				 .cost_ns = 1};
	const dck_observer watch = {.self = w, .cancelled = world_cancelled};
	dck_pitfalls_config c;
	dck_subject s;

	dck_subject_init(&s);
	s.function = world_run;
	s.arg = w;
	dck_pitfalls_config_init(&c);
	c.time_ns = 1000000000;
	c.clock = &clock;
	c.only = only;
	return dck_pitfalls(&s, &c, &watch, ret, err);
}

static dck_record *measure(world *w, const char *only)
{
	dck_record *r = NULL;
	dck_err err;

	if (try_world(w, only, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static const char *verdict(const dck_record *r, const char *key)
{
	const dck_table *t = dck_record_table(r, "pitfalls/mistakes");

	for (size_t i = 0; t && i < t->nrows; i++)
		if (strcmp(dck_table_cell(t, i, "mistake")->value.as.text, key) == 0)
			return dck_table_cell(t, i, "verdict")->value.as.text;
	return "no such row";
}

static size_t rows(const dck_record *r, const char *table)
{
	const dck_table *t = dck_record_table(r, table);

	return t ? t->nrows : 0;
}

#define near(value, wanted) assert_true(fabs((value) - (wanted)) < 1e-9)

/* Every tenth run takes twice as long. */
static uint64_t tenth(uint64_t run)
{
	return run % 10 == 3 ? 2000000 : 1000000;
}

static void luck_is_exact(void **state)
{
	world w = {.run_ns = tenth, .cpu_per_ns = 1};
	dck_record *r = measure(&w, "one-sample,mean-of-5,few-for-tail");

	(void)state;
	/* p95 of single runs is 2 ms; means of five alternate between 1.2 and 1 ms; fifty runs
	 * contain five long ones, so their p99 equals that of all runs. */
	near(dck_record_value(r, "pitfalls/one-sample"), 2);
	near(dck_record_value(r, "pitfalls/mean-of-5"), 1.2);
	near(dck_record_value(r, "pitfalls/few-for-tail"), 1);
	assert_string_equal(verdict(r, "one-sample"), "harm");
	assert_string_equal(verdict(r, "mean-of-5"), "harm");
	assert_string_equal(verdict(r, "few-for-tail"), "no harm here");
	assert_int_equal(rows(r, "pitfalls/mistakes"), 3);
	assert_int_equal(rows(r, "pitfalls/remedies"), 2);
	dck_record_free(r);
}

static uint64_t steady(uint64_t run)
{
	(void)run;
	return 1000000;
}

static void processors_are_counted(void **state)
{
	world w = {.run_ns = steady, .cpu_per_ns = 2};
	dck_record *r = measure(&w, "cpu-for-wall,wall-for-cpu");
	const dck_table *t = dck_record_table(r, "pitfalls/mistakes");

	(void)state;
	near(dck_record_value(r, "pitfalls/cpu-for-wall"), 2);
	near(dck_record_value(r, "pitfalls/wall-for-cpu"), 0.5);
	near(dck_table_cell(t, 0, "number")->value.as.r +
		 dck_table_cell(t, 1, "number")->value.as.r,
	     3000000);
	assert_string_equal(verdict(r, "cpu-for-wall"), "harm");
	dck_record_free(r);
}

/* Without variation no row may claim an error. */
static void what_is_steady_is_not_harmed(void **state)
{
	world w = {.run_ns = steady, .cpu_per_ns = 1};
	dck_record *r = measure(&w, "one-sample,mean-of-5,few-for-tail,cpu-for-wall,no-warmup,"
				    "first-call-in-10,first-call-in-100,session-inside,a-then-b,"
				    "busy-neighbour");

	(void)state;
	near(dck_record_value(r, "pitfalls/resolution"), 0);
	assert_int_equal(rows(r, "pitfalls/mistakes"), 10);
	assert_int_equal(rows(r, "pitfalls/remedies"), 0);
	near(dck_record_value(r, "pitfalls/first-call-in-100"), 1);
	near(dck_record_value(r, "pitfalls/a-then-b"), 1);
	assert_string_equal(verdict(r, "session-inside"), "no harm here");
	assert_null(dck_record_note(r, "coarse-resolution"));
	dck_record_free(r);
}

/* Groups of runs take up to five times as long, at random: smaller errors are not distinguished. */
static uint64_t by_chunks(uint64_t run)
{
	return 1000000 + rng_at(0, run / 9 + 1) % 4000000;
}

static void an_unsteady_machine_resolves_little(void **state)
{
	world w = {.run_ns = by_chunks, .cpu_per_ns = 1};
	dck_record *r = measure(&w, "no-warmup,first-call-in-10");

	(void)state;
	assert_true(dck_record_value(r, "pitfalls/resolution") > 0.1);
	assert_non_null(dck_record_note(r, "coarse-resolution"));
	assert_string_equal(verdict(r, "no-warmup"), "not resolved");
	dck_record_free(r);
}

static void what_cannot_be_made_says_why(void **state)
{
	world w = {.run_ns = steady, .cpu_per_ns = 1};
	dck_record *r = measure(&w, "denormals,profiler-on,batch-divided,no-sync");
	const dck_metric *m = dck_record_metric(r, "pitfalls/denormals");

	(void)state;
	assert_int_equal(m->value.kind, DCK_VALUE_ABSENT);
	assert_non_null(strstr(m->value.as.text, "inputs"));
	assert_string_equal(verdict(r, "batch-divided"), "not measured");
	assert_string_equal(verdict(r, "profiler-on"), "not measured");
	assert_false(r->incomplete);
	dck_record_free(r);
}

static void an_interruption_keeps_the_rows(void **state)
{
	world w = {.run_ns = steady, .cpu_per_ns = 1};
	dck_record *r = measure(&w, "one-sample,mean-of-5,few-for-tail,cpu-for-wall");
	const uint64_t all = w.runs;

	(void)state;
	dck_record_free(r);
	w = (world){.run_ns = steady, .cpu_per_ns = 1, .cancel_at = all - 50};
	r = measure(&w, "one-sample,mean-of-5,few-for-tail,cpu-for-wall");
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "interrupted"));
	assert_int_equal(rows(r, "pitfalls/mistakes"), 3);
	near(dck_record_value(r, "pitfalls/one-sample"), 1);
	assert_null(dck_record_metric(r, "pitfalls/cpu-for-wall"));
	dck_record_free(r);
	/* Cancelled in the reference measurement: the record has only that. */
	w = (world){.run_ns = steady, .cpu_per_ns = 1, .cancel_at = 500};
	r = measure(&w, "one-sample");
	assert_true(r->incomplete);
	assert_int_equal(rows(r, "pitfalls/mistakes"), 0);
	assert_true(dck_record_value(r, "latency/median") > 0);
	dck_record_free(r);
}

static void a_failure_is_a_reason(void **state)
{
	world w = {.run_ns = steady, .cpu_per_ns = 1};
	dck_record *r = measure(&w, "one-sample,cpu-for-wall");
	const uint64_t all = w.runs;

	(void)state;
	dck_record_free(r);
	w = (world){.run_ns = steady, .cpu_per_ns = 1, .fail_at = all - 50};
	r = measure(&w, "one-sample,cpu-for-wall");
	assert_string_equal(verdict(r, "one-sample"), "no harm here");
	assert_string_equal(verdict(r, "cpu-for-wall"), "not measured");
	assert_non_null(
	    strstr(dck_record_metric(r, "pitfalls/cpu-for-wall")->value.as.text, "returned 7"));
	dck_record_free(r);
	/* Fails before any pitfall is measured. */
	w = (world){.run_ns = steady, .cpu_per_ns = 1, .fail_at = 700};
	r = measure(&w, "one-sample");
	assert_true(r->incomplete);
	assert_int_equal(rows(r, "pitfalls/mistakes"), 0);
	dck_record_free(r);
}

static uint64_t nothing(uint64_t run)
{
	(void)run;
	return 0;
}

static void bad_lists_are_refused(void **state)
{
	static const char *const lists[] = {"no-such", "", "one-sample,", "one-sample no-warmup"};
	dck_record *r = NULL;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		world w = {.run_ns = nothing};

		assert_int_equal(try_world(&w, lists[i], &r, &err), DCK_E_ARG);
		assert_non_null(strstr(err.msg, "--only names"));
		assert_int_equal(w.runs, 0);
	}
}

/* --- the end of the interval that is farther off */

static void luck_takes_the_farther_end(void **state)
{
	const size_t n = 1000;
	double *x = mem_alloc(n * sizeof *x);
	dck_pitfalls_config c;
	pitfall p = {.asked = &c};
	pitfall_finding f;

	(void)state;
	dck_pitfalls_config_init(&c);
	p.scratch =
	    mem_alloc((stat_scratch(PIT_SINGLES_MAX) + PIT_SINGLES_MAX) * sizeof *p.scratch);
	for (size_t i = 0; i < n; i++) /* 10 % each far below and far above, well mixed */
		x[i] = i * 617 % n < 100 ? 50 : i * 617 % n < 900 ? 100 : 150;
	f = (pitfall_finding){0};
	pitfall_sampling_error(&p, x, n, 100, &f);
	near(f.factor, 0.5); /* a factor of 0.5 is farther from 1 than 1.5 */
	near(f.number_ns, 50);
	assert_true(f.has_interval && f.lo <= 0.5 && f.hi >= 0.5 && f.hi < 1);
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] < 60 ? 0 : x[i];
	f = (pitfall_finding){0};
	pitfall_sampling_error(&p, x, n, 100, &f);
	assert_true(f.certain); /* a clock that reads 0 */
	near(f.factor, 0);
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] < 60 ? 80 : x[i];
	f = (pitfall_finding){0};
	pitfall_sampling_error(&p, x, n, 100, &f);
	near(f.factor, 1.5);
	assert_true(f.has_interval && f.lo > 1 && !f.certain);
	mem_free(p.scratch);
	mem_free(x);
}

static void keys_are_distinct(void **state)
{
	const dck_pitfall *a, *b;

	(void)state;
	for (size_t i = 0; (a = dck_pitfall_get(i)); i++) {
		assert_true(strlen(a->key) <= 18 && strcspn(a->key, ", ") == strlen(a->key));
		assert_true(a->what[0] && a->why[0] && a->remedy[0]);
		for (size_t k = 0; k < i && (b = dck_pitfall_get(k)); k++)
			assert_string_not_equal(a->key, b->key);
	}
	assert_null(dck_pitfall_get(1000));
}

int test_pitfalls(void);
int test_pitfalls(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(luck_is_exact),
	    cmocka_unit_test(processors_are_counted),
	    cmocka_unit_test(what_is_steady_is_not_harmed),
	    cmocka_unit_test(an_unsteady_machine_resolves_little),
	    cmocka_unit_test(what_cannot_be_made_says_why),
	    cmocka_unit_test(an_interruption_keeps_the_rows),
	    cmocka_unit_test(a_failure_is_a_reason),
	    cmocka_unit_test(bad_lists_are_refused),
	    cmocka_unit_test(luck_takes_the_farther_end),
	    cmocka_unit_test(keys_are_distinct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
