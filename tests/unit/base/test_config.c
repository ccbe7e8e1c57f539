/* SPDX-License-Identifier: Apache-2.0 */
/* Configs of callers compiled with another version: at most struct_size bytes of them are written
 * or read. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/opt_text.h"
#include "deepclock/deepclock.h"

/* The config in an older, in the present and in a later version. */
typedef struct config_old {
	uint32_t struct_size;
	uint64_t a;
} config_old;
typedef struct config_now {
	uint32_t struct_size;
	uint64_t a, b;
} config_now;
typedef struct config_new {
	uint32_t struct_size;
	uint64_t a, b, c;
} config_new;

static const dck_opt first[] = {
    DCK_OPTION(COUNT, config_now, a, "a", "N", "5", "the first"),
    {0},
};
static const dck_opt second[] = {
    DCK_OPTION(COUNT, config_now, b, "b", "N", "7", "the second", .min = 2),
    {0},
};
static const dck_opt *const tables[] = {first, second, NULL};

static void now_init(config_now *c)
{
	opt_config_init(c, sizeof *c, sizeof *c, tables);
}

static void of_an_older_caller(void **state)
{
	struct {
		config_old c;
		unsigned char behind[16];
	} caller;
	config_now own;

	(void)state;
	memset(&caller, 0x5a, sizeof caller);
	opt_config_init(&caller.c, sizeof caller.c, sizeof own, tables);
	assert_int_equal(caller.c.struct_size, sizeof caller.c);
	assert_int_equal(caller.c.a, 5);
	for (size_t i = 0; i < sizeof caller.behind; i++)
		assert_int_equal(caller.behind[i], 0x5a);
	caller.c.a = 6;
	assert_int_equal(OPT_CONFIG_GET(&caller.c, &own, now_init, NULL, first, second), DCK_OK);
	assert_int_equal(own.a, 6);
	assert_int_equal(own.b, 7); /* and not the bytes after the caller's struct */
	assert_int_equal(own.struct_size, sizeof own);
}

static void of_a_newer_caller(void **state)
{
	config_new c;
	config_now own;
	dck_err err = {0};

	(void)state;
	memset(&c, 0x5a, sizeof c);
	opt_config_init(&c, sizeof c, sizeof own, tables);
	assert_int_equal(c.struct_size, sizeof c);
	assert_int_equal(c.b, 7);
	assert_int_equal(c.c, 0);
	c.b = 8;
	assert_int_equal(OPT_CONFIG_GET(&c, &own, now_init, &err, first, second), DCK_OK);
	assert_int_equal(own.b, 8);
	c.c = 1;
	own.b = 9;
	assert_int_equal(OPT_CONFIG_GET(&c, &own, now_init, &err, first, second), DCK_E_VERSION);
	assert_non_null(strstr(err.msg, "older than the program"));
}

static void none_and_not_initialised(void **state)
{
	config_now c = {0}, own;
	dck_err err = {0};

	(void)state;
	assert_int_equal(OPT_CONFIG_GET(NULL, &own, now_init, &err, first, second), DCK_OK);
	assert_int_equal(own.a, 5);
	assert_int_equal(OPT_CONFIG_GET(&c, &own, now_init, &err, first, second), DCK_E_ARG);
	assert_string_equal(err.msg, "a config has struct_size 0: initialise it with now_init()");
	now_init(&c);
	c.b = 1;
	assert_int_equal(OPT_CONFIG_GET(&c, &own, now_init, &err, first, second), DCK_E_ARG);
	assert_string_equal(err.msg, "option 'b': '1' is less than the least it takes, 2");
	memset(&c, 0xff, sizeof c);
	assert_int_equal(OPT_CONFIG_GET(&c, &own, now_init, &err, first, second), DCK_E_ARG);
}

/* Calls each init function in memory that ends with the struct, and with a caller's struct of two
 * members. */
#define INITIALISED(type, init)                                             \
	do {                                                                \
		const size_t two = 2 * sizeof(uint64_t);                    \
		type *c = malloc(sizeof *c);                                \
		unsigned char *less = malloc(sizeof *c);                    \
		assert_non_null(c);                                         \
		assert_non_null(less);                                      \
		memset(less, 0x5a, sizeof *c);                              \
		init(c);                                                    \
		assert_int_equal(c->struct_size, sizeof *c);                \
		init##_sized((type *)(void *)less, (uint32_t)two);          \
		assert_int_equal(((type *)(void *)less)->struct_size, two); \
		for (size_t i = two; i < sizeof *c; i++)                    \
			assert_int_equal(less[i], 0x5a);                    \
		free(less);                                                 \
		free(c);                                                    \
	} while (0)

static void every_config(void **state)
{
	(void)state;
	INITIALISED(dck_plan, dck_plan_init);
	INITIALISED(dck_compare_config, dck_compare_config_init);
	INITIALISED(dck_accuracy_config, dck_accuracy_config_init);
	INITIALISED(dck_cost_config, dck_cost_config_init);
	INITIALISED(dck_load_config, dck_load_config_init);
	INITIALISED(dck_generate_config, dck_generate_config_init);
	INITIALISED(dck_machine_config, dck_machine_init);
	INITIALISED(dck_pitfalls_config, dck_pitfalls_config_init);
	INITIALISED(dck_profile_config, dck_profile_config_init);
	INITIALISED(dck_throughput_config, dck_throughput_config_init);
	INITIALISED(dck_tune_config, dck_tune_config_init);
	INITIALISED(dck_history_config, dck_history_config_init);
	INITIALISED(dck_history_trend_config, dck_history_trend_config_init);
	INITIALISED(dck_sample_config, dck_sample_config_init);
	INITIALISED(dck_memory_config, dck_memory_config_init);
	INITIALISED(dck_count_config, dck_count_config_init);
	INITIALISED(dck_overhead_config, dck_overhead_config_init);
}

static int work(void *arg)
{
	++*(unsigned *)arg;
	return 0;
}

/* A program that was compiled when dck_plan ended with `title`. */
static void an_older_plan_measures(void **state)
{
	const volatile uint32_t size = offsetof(dck_plan, title); /* not a constant */
	dck_plan *plan = malloc(size);
	dck_subject s;
	dck_record *r;
	unsigned calls = 0;

	(void)state;
	assert_non_null(plan);
	dck_plan_init_sized(plan, size);
	plan->runs = 20;
	plan->warmup = "0";
	dck_subject_init(&s);
	s.function = work;
	s.arg = &calls;
	s.command.output = NULL; /* not given */
	assert_int_equal(dck_bench(&s, plan, NULL, &r, NULL), DCK_OK);
	assert_true(calls >= 20);
	assert_null(r->command);
	dck_record_free(r);
	free(plan);
}

static void every_call_refuses_zeroes(void **state)
{
	const char *const argv[] = {"true", NULL};
	char *const *words = (char *const *)(uintptr_t)argv;
	dck_subject s;
	dck_record *r = NULL;
	dck_history *h = NULL;
	dck_history_trend *t = NULL;
	dck_err err = {0};

	(void)state;
	dck_subject_init(&s);
	const dck_alternative two[] = {{"a", &s}, {"b", &s}};
#define REFUSED(call)                                  \
	do {                                           \
		assert_int_equal(call, DCK_E_ARG);     \
		if (!strstr(err.msg, "struct_size 0")) \
			fail_msg("%s", err.msg);       \
		err.msg[0] = '\0';                     \
	} while (0)
	REFUSED(dck_bench(&s, &(dck_plan){0}, NULL, &r, &err));
	REFUSED(dck_compare(two, 2, &(dck_compare_config){0}, NULL, &r, &err));
	REFUSED(dck_rank(two, 2, &(dck_compare_config){0}, NULL, &r, &err));
	REFUSED(dck_compare_records(NULL, 0, &(dck_compare_config){0}, &r, &err));
	REFUSED(dck_accuracy(two, 2, &(dck_accuracy_config){0}, NULL, &r, &err));
	REFUSED(dck_cost(&s, &(dck_cost_config){0}, NULL, &r, &err));
	REFUSED(dck_load(&s, &(dck_load_config){0}, NULL, &r, &err));
	REFUSED(dck_generate(&s, &(dck_generate_config){0}, NULL, &r, &err));
	REFUSED(dck_machine(&(dck_machine_config){0}, NULL, &r, &err));
	REFUSED(dck_pitfalls(&s, &(dck_pitfalls_config){0}, NULL, &r, &err));
	REFUSED(dck_profile_model(&s, &(dck_plan){0}, NULL, NULL, &r, &err));
	REFUSED(dck_profile_model(&s, NULL, &(dck_profile_config){0}, NULL, &r, &err));
	REFUSED(dck_throughput(&s, &(dck_throughput_config){0}, NULL, &r, &err));
	REFUSED(dck_history_open(&(dck_history_config){0}, &h, &err));
	REFUSED(dck_history_trend_get(NULL, NULL, &(dck_history_trend_config){0}, &t, &err));
	REFUSED(dck_sample(&(dck_sample_config){0}, &(dck_program){.argv = words}, &r, &err));
	REFUSED(dck_memory_program_run(&(dck_memory_config){0}, &(dck_program){.argv = words}, &r,
				       &err));
	REFUSED(
	    dck_count_program_run(&(dck_count_config){0}, &(dck_program){.argv = words}, &r, &err));
	REFUSED(dck_overhead(&(dck_overhead_config){0}, words, &r, &err));
#undef REFUSED
}

static void choices_and_bounds_are_checked(void **state)
{
	static const char *const none[] = {NULL};
	char *const *empty = (char *const *)(uintptr_t)none;
	const char *const argv[] = {"true", NULL};
	dck_program p = {.argv = (char *const *)(uintptr_t)argv};
	static const double rates[] = {0, (double)NAN, 1e300, -1};
	dck_record *r = NULL;
	dck_count_config count;
	dck_memory_config memory;
	dck_trace_config trace;
	dck_load_config load;
	dck_plan plan;
	dck_subject s;
	dck_err err = {0};

	(void)state;
#define REFUSED(call, text)                        \
	do {                                       \
		assert_int_equal(call, DCK_E_ARG); \
		if (!strstr(err.msg, text))        \
			fail_msg("%s", err.msg);   \
	} while (0)
	dck_count_config_init(&count);
	count.times = 9;
	REFUSED(dck_count_program_run(&count, &p, &r, &err), "option 'times': 9 is none");
	dck_count_config_init(&count);
	count.sort = -1;
	REFUSED(dck_count_program_run(&count, &p, &r, &err), "option 'sort': -1 is none");
	REFUSED(dck_count_program_run(NULL, &(dck_program){0}, &r, &err), "no program to start");
	REFUSED(dck_count_program_run(NULL, &(dck_program){.argv = empty}, &r, &err),
		"no program to start");
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		dck_memory_config_init(&memory);
		memory.rate_hz = rates[i];
		REFUSED(dck_memory_program_run(&memory, &p, &r, &err), "option 'rate'");
	}
	assert_int_equal(dck_opt_defaults(dck_trace_options, &trace, &err), DCK_OK);
	trace.path = "unused.json";
	REFUSED(dck_trace_program_run(&trace, &(dck_program){0}, &r, &err), "no program to start");
	trace.children = 3;
	REFUSED(dck_trace_program_run(&trace, &p, &r, &err), "option 'children'");
	REFUSED(dck_ranks_run(NULL, &(dck_program){0}, &r, NULL, &err), "no program to start");
	REFUSED(dck_overhead(NULL, NULL, &r, &err), "no program to start");
	REFUSED(dck_overhead(NULL, p.argv, &r, &err), "no deepclock program");
	dck_subject_init(&s);
	dck_load_config_init(&load);
	load.arrivals = 2;
	REFUSED(dck_load(&s, &load, NULL, &r, &err), "option 'arrivals'");

	dck_plan_init(&plan);
	s.kind = DCK_SUBJECT_MODEL;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "has no text");
	REFUSED(dck_profile_model(&s, &plan, NULL, NULL, &r, &err), "has no text");
	s.kind = DCK_SUBJECT_PLUGIN;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "has no text");
	s.kind = DCK_SUBJECT_COMMAND;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "has no words");
	s.kind = DCK_SUBJECT_MODEL;
	s.text = "zoo:mlp";
	s.model.opt = -3;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "option 'opt'");
	s.model.opt = 0;
	s.model.transfers = 9;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "option 'transfers'");
	s.model.transfers = 0;
	s.model.shape.n = 3;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "option 'shape': item 1 of 3");
	s.model.shape.n = DCK_LIST_MAX + 1;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "option 'shape': a list of 65");
	plan.group = 1000000001;
	s.model.shape.n = 0;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "option 'group'");
	s.model.seed = UINT64_MAX;
	plan.group = 0;
	REFUSED(dck_bench(&s, &plan, NULL, &r, &err), "option 'seed'");
}

/* Every number is checked by its row, as on the command line. */
static void numbers_are_checked(void **state)
{
	const char *const argv[] = {"true", NULL};
	dck_program p = {.argv = (char *const *)(uintptr_t)argv};
	static const double shares[] = {0, (double)NAN, -1, 2, (double)INFINITY};
	static const double margins[] = {(double)NAN, -1, (double)INFINITY};
	dck_alternative two[] = {{"a", NULL}, {"b", NULL}};
	dck_history_trend *t = NULL;
	dck_record *r = NULL;
	dck_subject s;
	dck_err err = {0};
	unsigned calls = 0;

	(void)state;
	dck_subject_init(&s);
	s.function = work;
	s.arg = &calls;
	two[0].subject = two[1].subject = &s;
#define WITH(type, init, member, amount, call, option)  \
	do {                                            \
		type c;                                 \
		init(&c);                               \
		c.member = (amount);                    \
		REFUSED(call, "option '" option "': "); \
	} while (0)
#define COMPARED(member, amount, option)                                  \
	WITH(dck_compare_config, dck_compare_config_init, member, amount, \
	     dck_compare(two, 2, &c, NULL, &r, &err), option)
#define SAVED(member, amount, option)                                     \
	WITH(dck_compare_config, dck_compare_config_init, member, amount, \
	     dck_compare_records(NULL, 0, &c, &r, &err), option)
#define PLANNED(member, amount, option) \
	WITH(dck_plan, dck_plan_init, member, amount, dck_bench(&s, &c, NULL, &r, &err), option)
#define LOADED(member, amount, option)                              \
	WITH(dck_load_config, dck_load_config_init, member, amount, \
	     dck_load(&s, &c, NULL, &r, &err), option)
	for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
		COMPARED(level, shares[i], "level");
		SAVED(level, shares[i], "level");
		PLANNED(level, shares[i], "level");
		LOADED(confidence, shares[i], "confidence");
	}
	for (size_t i = 0; i < sizeof margins / sizeof margins[0]; i++) {
		COMPARED(margin, margins[i], "margin");
		SAVED(margin, margins[i], "margin");
		SAVED(run_to_run, margins[i], "run-to-run");
		WITH(dck_history_trend_config, dck_history_trend_config_init, min_change,
		     margins[i], dck_history_trend_get(NULL, NULL, &c, &t, &err), "min-change");
	}
	COMPARED(rounds, UINT64_MAX, "rounds");
	PLANNED(max_time_ns, 0, "max-time");
	PLANNED(keep, UINT64_MAX, "keep");
	PLANNED(keep, 1, "keep");
	LOADED(rate_hz, 1e10, "rate");
	LOADED(rate_hz, (double)NAN, "rate");
	LOADED(keep, UINT64_MAX, "keep");
	WITH(dck_sample_config, dck_sample_config_init, rate, UINT64_MAX,
	     dck_sample(&c, &p, &r, &err), "rate");
	WITH(dck_sample_config, dck_sample_config_init, source, 9, dck_sample(&c, &p, &r, &err),
	     "source");
	WITH(dck_generate_config, dck_generate_config_init, seed, UINT64_MAX,
	     dck_generate(&s, &c, NULL, &r, &err), "seed");
	dck_alternative unnamed[] = {two[0], {NULL, &s}};
	REFUSED(dck_compare(unnamed, 2, NULL, NULL, &r, &err), "subject 2 has no name");
	const double scales[] = {0, -1, 1e9, (double)NAN};
	for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
		REFUSED(dck_figure_png("", 0, scales[i], NULL, &err), "the scale of the image");
	REFUSED(dck_report("csv", NULL, 0, &(dck_style){.ops = {.by = 99}}, NULL, &err),
		"option 'by'");
	REFUSED(dck_report("csv", NULL, 0, &(dck_style){.ops = {.sort = -1}}, NULL, &err),
		"option 'sort'");
	assert_string_equal(dck_severity_text((dck_severity)9), "?");
	const dck_trace_config trace = {.path = "unused.json", .buffer_bytes = 1};
	REFUSED(dck_trace_program_run(&trace, &p, &r, &err), "option 'buffer'");
	assert_int_equal(calls, 0);
#undef REFUSED
}

int test_config(void);
int test_config(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_an_older_caller),
	    cmocka_unit_test(of_a_newer_caller),
	    cmocka_unit_test(none_and_not_initialised),
	    cmocka_unit_test(every_config),
	    cmocka_unit_test(an_older_plan_measures),
	    cmocka_unit_test(every_call_refuses_zeroes),
	    cmocka_unit_test(choices_and_bounds_are_checked),
	    cmocka_unit_test(numbers_are_checked),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
