/* test_worker.c - a measurement in a fresh process: its options as arguments, how it ends, its
 * memory limit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/worker.h"
#include "deepclock/load.h"
#include "fault_alloc.h"
#include "os/os.h"
#include "scratch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define WORDS 64

typedef struct fixture {
	dck_subject subject;
	dck_plan plan;
	worker_job job;
	worker_result result;
	dck_err err;
	char program[1024];
} fixture;

/* A short measurement of the null engine. */
static fixture *fixture_new(void)
{
	fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	snprintf(f->program, sizeof f->program, "%s", built_file("../deepclock"));
	dck_subject_init(&f->subject);
	dck_plan_init(&f->plan);
	f->subject.kind = DCK_SUBJECT_MODEL;
	f->subject.text = "zoo:simplenet";
	f->subject.model.engine = "null";
	f->plan.runs = 10;
	f->plan.warmup = "0";
	f->plan.program = f->program;
	f->job = (worker_job){.subject = &f->subject, .plan = &f->plan, .quiet = true};
	return f;
}

static void fixture_free(fixture *f)
{
	dck_record_free(f->result.record);
	free(f);
}

static void run(fixture *f, worker_end end)
{
	if (worker_run(&f->job, &f->result, &f->err) != DCK_OK)
		fail_msg("%s", f->err.msg);
	if (f->result.end != end)
		fail_msg("ended as %d: %s", f->result.end, f->result.why.msg);
	assert_int_equal(f->result.record != NULL, end == WORKER_DONE);
}

/* --- arguments */

static void same(const char **argv, size_t n, const char *const *want)
{
	for (size_t i = 0; i < n; i++) {
		assert_non_null(want[i]);
		assert_string_equal(argv[i], want[i]);
	}
	assert_null(want[n]);
}

static void test_words(void **state)
{
	static const char *const plan_words[] = {"--statistic=p99",
						 "--precision=0.050000000000000003",
						 "--max-time=1500000000ns",
						 "--runs=7",
						 "--warmup=3",
						 NULL};
	static const char *const model_words[] = {
	    "--engine=null", "--engine-option=ns=5", "--opt=basic", "--batch=8",
	    "--dim=N=4",     "--dim=M=a b",	     NULL};
	mem_arena *a = mem_arena_new(0);
	const char *argv[WORDS];
	dck_subject s;
	dck_plan p;
	size_t n = 0;

	(void)state;
	dck_plan_init(&p);
	assert_int_equal(worker_words(a, dck_plan_options, &p, argv, WORDS, &n, NULL), DCK_OK);
	assert_int_equal(n, 0);
	p.statistic = "p99";
	p.precision = 0.05;
	p.max_time_ns = 1500000000;
	p.runs = 7;
	p.warmup = "3";
	assert_int_equal(worker_words(a, dck_plan_options, &p, argv, WORDS, &n, NULL), DCK_OK);
	same(argv, n, plan_words);

	dck_subject_init(&s);
	s.model.engine = "null";
	s.model.engine_option = (dck_list){.item = {"ns=5"}, .n = 1};
	s.model.opt = 1;
	s.model.batch = 8;
	s.model.dim = (dck_list){.item = {"N=4", "M=a b"}, .n = 2};
	n = 0;
	assert_int_equal(worker_words(a, dck_model_options, &s.model, argv, WORDS, &n, NULL),
			 DCK_OK);
	same(argv, n, model_words);
	mem_arena_free(a);
}

/* The arguments parse back to the same config. */
static void test_words_read_back(void **state)
{
	mem_arena *a = mem_arena_new(0);
	const char *argv[WORDS];
	dck_plan p, q;
	size_t n = 0;

	(void)state;
	dck_plan_init(&p);
	dck_plan_init(&q);
	p.precision = 1.0 / 3;
	p.level = 0.987654321;
	p.min_runs = 123456789;
	p.time_ns = 999999999999;
	assert_int_equal(worker_words(a, dck_plan_options, &p, argv, WORDS, &n, NULL), DCK_OK);
	for (size_t i = 0; i < n; i++) {
		char name[64];
		const char *equals = strchr(argv[i], '=');

		snprintf(name, sizeof name, "%.*s", (int)(equals - argv[i] - 2), argv[i] + 2);
		assert_int_equal(dck_opt_set(dck_plan_options, &q, name, equals + 1, NULL), DCK_OK);
	}
	assert_memory_equal(&p.precision, &q.precision, sizeof p.precision);
	assert_memory_equal(&p.level, &q.level, sizeof p.level);
	assert_int_equal(q.min_runs, 123456789);
	assert_int_equal(q.time_ns, 999999999999);
	mem_arena_free(a);
}

static void test_words_too_many(void **state)
{
	mem_arena *a = mem_arena_new(0);
	const char *argv[4] = {0};
	dck_plan p;
	dck_err err = {0};
	size_t n = 2;

	(void)state;
	dck_plan_init(&p);
	p.runs = 1;
	p.keep = 100;
	assert_int_equal(worker_words(a, dck_plan_options, &p, argv, 4, &n, &err), DCK_E_LIMIT);
	assert_string_equal(err.msg, "the worker's command has more than 3 words");
	assert_int_equal(n, 2);
	mem_arena_free(a);
}

/* --- ends of workers */

static void test_done(void **state)
{
	fixture *f = fixture_new();

	(void)state;
	f->subject.model.batch = 3;
	run(f, WORKER_DONE);
	assert_int_equal((int)dck_record_value(f->result.record, "runs/count"), 10);
	assert_false(f->result.record->incomplete);
	assert_true(f->result.peak_rss_bytes > 1 << 20);
	fixture_free(f);
}

/* Another command measures: its record is returned, and its failure is reported alike. */
static void test_command(void **state)
{
	fixture *f = fixture_new();
	dck_load_config load;
	const dck_fact *items;

	(void)state;
	dck_load_config_init(&load);
	load.streams = 3;
	load.time_ns = 100000000;
	f->job.command = "load";
	f->job.options = dck_load_options;
	f->job.config = &load;
	f->subject.model.batch = 4;
	f->subject.model.engine_option = (dck_list){.item = {"sleep_ns=1000000"}, .n = 1};
	run(f, WORKER_DONE);
	assert_memory_equal(f->result.record->command, "deepclock load ", 15);
	assert_true(dck_record_value(f->result.record, "throughput/items") > 0);
	assert_true(dck_record_value(f->result.record, "latency/median") >= 1000000);
	items = dck_record_fact(f->result.record, "subject", "items_per_run");
	assert_non_null(items);
	dck_record_free(f->result.record);
	f->subject.text = "zoo:florp";
	run(f, WORKER_FAILED);
	assert_int_equal(f->result.why.code, DCK_E_ARG);
	fixture_free(f);
}

/* The message of the worker itself, not that a process exited. */
static void test_failed(void **state)
{
	fixture *f = fixture_new();

	(void)state;
	f->subject.text = "zoo:florp";
	run(f, WORKER_FAILED);
	assert_int_equal(f->result.why.code, DCK_E_ARG);
	assert_string_equal(f->result.why.msg,
			    "no built-in network 'florp'; 'deepclock zoo' lists them");
	f->subject.text = "zoo:simplenet";
	f->subject.model.engine_option = (dck_list){.item = {"fail_at=1"}, .n = 1};
	run(f, WORKER_FAILED);
	assert_int_equal(f->result.why.code, DCK_E_ENGINE);
	assert_string_equal(f->result.why.msg, "run 1 fails, as requested by option 'fail_at'");
	fixture_free(f);
}

static void test_no_worker(void **state)
{
	fixture *f = fixture_new();

	(void)state;
	f->plan.program = NULL;
	assert_int_equal(worker_run(&f->job, &f->result, &f->err), DCK_E_UNSUP);
	f->plan.program = f->program;
	f->subject.kind = DCK_SUBJECT_FUNCTION;
	assert_int_equal(worker_run(&f->job, &f->result, &f->err), DCK_E_UNSUP);
	f->subject.kind = DCK_SUBJECT_MODEL;
	f->plan.program = "./there-is-no-such-program";
	assert_int_equal(worker_run(&f->job, &f->result, &f->err), DCK_E_ABSENT);
	fixture_free(f);
}

/* A program that is not deepclock: it leaves no record. */
static void test_no_record(void **state)
{
	fixture *f = fixture_new();

	(void)state;
	f->plan.program = "/bin/false";
	run(f, WORKER_FAILED);
	assert_string_equal(f->result.why.msg,
			    "a fresh process ended with exit status 1 and no record");
	fixture_free(f);
}

/* Runs a shell script as the worker, to end in ways that a correct worker does not. */
static void scripted(fixture *f, const char *script)
{
	char text[1024];

	snprintf(text, sizeof text,
		 "#!/bin/sh\nfor w in \"$@\"; do case $w in --worker-fd=*) "
		 "fd=${w#--worker-fd=};; esac; done\n%s\n",
		 script);
	snprintf(f->program, sizeof f->program, "%s", scratch_text("./script", text));
	assert_int_equal(worker_run(&f->job, &f->result, &f->err), DCK_OK);
}

/* What has no option, and names of files that read as something else. */
static void test_other_words(void **state)
{
	static const struct {
		const char *model, *word;
	} rows[] = {{"zoo:simplenet", " zoo:simplenet"},
		    {"a/b.onnx", " a/b.onnx"},
		    {"/a:b.onnx", " /a:b.onnx"},
		    {"-b.onnx", " ./-b.onnx"},
		    {"cmd:b.onnx", " ./cmd:b.onnx"}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fixture *f = fixture_new();
		const size_t n = strlen(rows[i].word);

		f->subject.text = rows[i].model;
		f->plan.enough_ns = i == 0 ? 2000000000 : 0;
		scripted(f, "printf '!-2 %s' \"$*\" >&$fd");
		const char *why = f->result.why.msg;
		assert_true(strlen(why) > n);
		assert_string_equal(why + strlen(why) - n, rows[i].word);
		assert_int_equal(strstr(why, " --worker-enough=2000000000ns ") != NULL, i == 0);
		fixture_free(f);
	}
}

/* The kernel's counters identify the killer. */
#define KILLED "a fresh process was killed by signal 9 from outside and left no record"

static void test_ends(void **state)
{
	static const struct {
		const char *script;
		uint64_t data_bytes;
		worker_end end;
		const char *why;
	} rows[] = {
	    {"kill -9 $$", 0, WORKER_FAILED, KILLED},
	    {"kill -9 $$", 1 << 30, WORKER_FAILED, KILLED},
	    {"kill -SEGV $$", 0, WORKER_FAILED,
	     "a fresh process was killed by signal 11 and left no record"},
	    {"kill -ABRT $$", 0, WORKER_FAILED,
	     "a fresh process was killed by signal 6 and left no record"},
	    {"kill -ABRT $$", 1 << 30, WORKER_MEMORY,
	     "a fresh process was killed by signal 6 and left no record, probably out of "
	     "memory"},
	    {"exit 127", 1 << 30, WORKER_MEMORY,
	     "a fresh process ended with exit status 127 and no record, probably out of memory"},
	    {"exit 127", 0, WORKER_FAILED,
	     "a fresh process ended with exit status 127 and no record"},
	    {"exit 1", 1 << 30, WORKER_FAILED,
	     "a fresh process ended with exit status 1 and no record"},
	    /* The code decides, not the message. */
	    {"printf '!-1 the arena: std::bad_alloc' >&$fd", 0, WORKER_MEMORY,
	     "the arena: std::bad_alloc"},
	    {"printf '!-2 half of the memory' >&$fd", 0, WORKER_FAILED, "half of the memory"},
	    {"printf '!-1 no memory for 5 bytes' >&$fd", 0, WORKER_MEMORY, "no memory for 5 bytes"},
	    {"printf '!-8 it broke' >&$fd", 0, WORKER_FAILED, "it broke"},
	    {"printf '!x' >&$fd", 0, WORKER_FAILED, "x"},
	    {"echo '{\"schema\": 1' >&$fd; kill -9 $$", 0, WORKER_FAILED, KILLED},
	    {"echo '{}' >&$fd", 0, WORKER_FAILED, NULL},
	    {"echo 'nonsense' >&$fd", 0, WORKER_FAILED, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fixture *f = fixture_new();

		f->job.data_bytes = rows[i].data_bytes;
		scripted(f, rows[i].script);
		if (f->result.end != rows[i].end)
			fail_msg("%s: ended as %d: %s", rows[i].script, f->result.end,
				 f->result.why.msg);
		if (rows[i].why)
			assert_string_equal(f->result.why.msg, rows[i].why);
		else
			assert_true(strlen(f->result.why.msg) > 0);
		assert_null(f->result.record);
		fixture_free(f);
	}
}

/* --- memory: the sample stores are reserved and touched, so --keep takes memory. */

static void test_memory_limit(void **state)
{
	fixture *f = fixture_new();

	(void)state;
	f->plan.keep = 2097152;
	f->job.memory_bytes = 32 << 20;
	run(f, WORKER_MEMORY);
	assert_int_equal(f->result.why.code, DCK_E_NOMEM);
	assert_non_null(strstr(f->result.why.msg, "32.0 MiB are allowed"));
	assert_true(f->result.peak_rss_bytes > 32 << 20);
	/* The same with enough memory. */
	f->job.memory_bytes = (uint64_t)8 << 30;
	run(f, WORKER_DONE);
	fixture_free(f);
}

/* The former peak of the parent is not the peak of the worker. */
static void test_large_parent(void **state)
{
	const size_t bytes = (size_t)300 << 20;
	fixture *f = fixture_new();
	char *much = malloc(bytes);

	(void)state;
	assert_non_null(much);
	memset(much, 1, bytes);
	assert_int_equal(much[bytes / 2], 1);
	free(much);
	f->job.memory_bytes = 200 << 20;
	run(f, WORKER_DONE);
	assert_true(f->result.peak_rss_bytes < 200 << 20);
	fixture_free(f);
}

static void test_data_limit(void **state)
{
	fixture *f;

	(void)state;
	if (os_sanitizer_name())
		skip();
	f = fixture_new();
	f->plan.keep = 2097152;
	f->job.data_bytes = 96 << 20;
	run(f, WORKER_MEMORY);
	/* Refused before the memory was touched. */
	assert_true(f->result.peak_rss_bytes < 96 << 20);
	fixture_free(f);
}

/* --- Ctrl-C */

static bool after_a_while(void *self)
{
	uint64_t *asked = self;

	return ++*asked > 40; /* about two seconds: a busy machine has started by then */
}

static void test_cancelled(void **state)
{
	fixture *f = fixture_new();
	uint64_t asked = 0;
	const dck_observer watch = {.self = &asked, .cancelled = after_a_while};

	(void)state;
	f->plan.runs = 0;
	f->plan.time_ns = 60000000000;
	/* Few samples: the record is small at any time of the cancellation. */
	f->subject.model.engine_option = (dck_list){.item = {"sleep_ns=1000000"}, .n = 1};
	f->job.watch = &watch;
	f->job.memory_bytes = (uint64_t)8 << 30;
	assert_int_equal(worker_run(&f->job, &f->result, &f->err), DCK_OK);
	/* It was cancelled and reports the runs so far. */
	assert_int_equal(f->result.end, WORKER_DONE);
	assert_true(f->result.record->incomplete);
	fixture_free(f);
}

static void test_no_memory(void **state)
{
	fault_alloc fault;
	dck_status status;

	(void)state;
	for (size_t nth = 1;; nth++) {
		fixture *f = fixture_new();

		f->plan.program = "/bin/false";
		fault_alloc_begin(&fault, nth);
		status = worker_run(&f->job, &f->result, &f->err);
		dck_set_allocator(NULL);
		assert_int_equal(fault.out, 0);
		fixture_free(f);
		if (status == DCK_OK)
			break;
		assert_int_equal(status, DCK_E_NOMEM);
	}
	assert_true(fault.calls > 3);
}

int test_worker(void);
int test_worker(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_words),	   cmocka_unit_test(test_words_read_back),
	    cmocka_unit_test(test_words_too_many), cmocka_unit_test(test_done),
	    cmocka_unit_test(test_command),	   cmocka_unit_test(test_failed),
	    cmocka_unit_test(test_no_worker),	   cmocka_unit_test(test_no_record),
	    cmocka_unit_test(test_ends),	   cmocka_unit_test(test_memory_limit),
	    cmocka_unit_test(test_large_parent),   cmocka_unit_test(test_data_limit),
	    cmocka_unit_test(test_cancelled),	   cmocka_unit_test(test_no_memory),
	    cmocka_unit_test(test_other_words),
	};

	return cmocka_run_group_tests_name("worker", tests, scratch_begin, scratch_end);
}
