/* test_trace_record.c - the record of a recording equals the record read from its file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "profiler/trace/result/zone_record.h"
#include "scratch.h"
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static void recurse(int depth)
{
	DCK_ZONE("recurse");
	if (depth > 0)
		recurse(depth - 1);
}

static void *work(void *self)
{
	(void)self;
	for (int i = 0; i < 200; i++) {
		DCK_ZONE("outer");
		for (int k = 0; k < 3; k++) {
			DCK_PUSH("inner");
			DCK_NUMBER("k", k);
			DCK_POP();
		}
		recurse(4);
		dck_range r = DCK_START("apart");
		DCK_COUNTER("i", i);
		DCK_MARK("here");
		DCK_END(r);
	}
	return NULL;
}

static int64_t number(const dck_cell *c)
{
	return c->value.kind == DCK_VALUE_INT ? c->value.as.i : (int64_t)c->value.as.r;
}

static const dck_cell *row(const dck_table *t, const char *name)
{
	for (size_t i = 0; i < t->nrows; i++)
		if (strcmp(t->cells[i * t->ncolumns].value.as.text, name) == 0)
			return &t->cells[i * t->ncolumns];
	fail_msg("no row %s", name);
	return NULL;
}

/* Writes the path of a node: "outer;recurse;recurse". */
static void path_of(const dck_tree *t, uint32_t node, char *ret)
{
	const uint32_t parent = t->nodes[node].parent;

	ret[0] = '\0';
	if (parent != DCK_TREE_ROOT) {
		path_of(t, parent, ret);
		strcat(ret, ";");
	}
	strcat(ret, t->frames[t->nodes[node].frame].name);
}

static void trees_are_equal(const dck_tree *a, const dck_tree *b)
{
	char x[256], y[256];
	double calls = 0;

	assert_non_null(a);
	assert_int_equal(a->nnodes, b->nnodes);
	/* recurse inside itself, four deep, inside outer; apart belongs to no thread, so it is in
	 * no path */
	assert_int_equal(a->nnodes, 2 + 5);
	for (uint32_t i = 0; i < a->nnodes; i++) {
		uint32_t k = 0;

		path_of(a, i, x);
		for (path_of(b, k, y); strcmp(x, y) != 0; path_of(b, k, y))
			assert_true(++k < b->nnodes);
		assert_true(a->weights[2 * i] == b->weights[2 * k]);
		assert_true(a->weights[2 * i + 1] == b->weights[2 * k + 1]);
		calls += a->weights[2 * i];
	}
	assert_true(calls == 4 * 200 * (1 + 3 + 5));
}

static void the_file_says_what_the_recording_says(void **state)
{
	const dck_trace_config c = {.path = "a.pftrace"};
	pthread_t thread[3];
	dck_record *live = NULL, *read = NULL;
	dck_err err;

	(void)state;
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, NULL), 0);
	work(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(dck_trace_stop(&live, NULL), DCK_OK);
	if (dck_trace_read("a.pftrace", &read, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	const dck_table *a = dck_record_table(live, "zones"), *b = dck_record_table(read, "zones");
	assert_int_equal(a->nrows, b->nrows);
	assert_int_equal(a->nrows, 4);
	for (size_t i = 0; i < a->nrows; i++) {
		const dck_cell *want = &a->cells[i * a->ncolumns];
		const dck_cell *got = row(b, want->value.as.text);

		for (size_t k = 1; k < a->ncolumns; k++)
			if (strcmp(a->columns[k].key, "mean") != 0)
				assert_int_equal(number(&want[k]), number(&got[k]));
	}
	assert_int_equal(row(b, "inner")[1].value.as.i, 4 * 200 * 3);
	assert_int_equal(row(b, "recurse")[1].value.as.i, 4 * 200 * 5);
	/* A sanitizer may run a thread of its runtime. */
	const int64_t threads = dck_record_fact(live, "trace", "threads")->value.as.i;
	assert_true(threads >= 4);
	assert_int_equal(dck_record_fact(read, "trace", "threads")->value.as.i, threads);
	assert_non_null(dck_record_fact(read, "result", "answer"));
	trees_are_equal(dck_record_tree(live, "zones"), dck_record_tree(read, "zones"));
	assert_false(read->incomplete);
	dck_record_free(live);
	dck_record_free(read);
}

/* Also of a range that any thread may end: it has no duration in the file either. */
static void a_range_that_never_ends_has_no_duration(void **state)
{
	static const char *const paths[] = {"open.pftrace", "open.json"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		dck_record *of[2];
		dck_err err;

		assert_int_equal(dck_trace_start(&(dck_trace_config){.path = paths[i]}, NULL),
				 DCK_OK);
		(void)DCK_START("open");
		DCK_MARK("later");
		assert_int_equal(dck_trace_stop(&of[0], NULL), DCK_OK);
		if (dck_trace_read(paths[i], &of[1], &err) != DCK_OK)
			fail_msg("%s", err.msg);
		for (int k = 0; k < 2; k++) {
			const dck_cell *r = row(dck_record_table(of[k], "zones"), "open");

			assert_int_equal(r[1].value.as.i, 1);
			assert_int_equal(r[4].value.kind, DCK_VALUE_ABSENT);
			dck_record_free(of[k]);
		}
	}
}

static void what_a_killed_program_left_is_read(void **state)
{
	const struct timespec pause = {.tv_sec = 2};
	dck_record *r = NULL;

	(void)state;
	const pid_t child = fork();
	if (child == 0) {
		const dck_trace_config c = {.path = "killed.pftrace"};

		if (dck_trace_start(&c, NULL) != DCK_OK)
			_exit(1);
		DCK_PUSH("never ends");
		work(NULL);
		nanosleep(&pause, NULL); /* the drain polls during it */
		raise(SIGKILL);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(dck_trace_read("killed.pftrace", &r, NULL), DCK_OK);
	const dck_table *t = dck_record_table(r, "zones");
	assert_int_equal(row(t, "outer")[1].value.as.i, 200);
	assert_int_equal(row(t, "never ends")[1].value.as.i, 1);
	assert_int_equal(row(t, "never ends")[4].value.kind, DCK_VALUE_ABSENT);
	dck_record_free(r);
	/* Truncated in the middle of a packet. */
	assert_int_equal(system("head -c 3001 killed.pftrace > cut.pftrace"), 0);
	assert_int_equal(dck_trace_read("cut.pftrace", &r, NULL), DCK_OK);
	dck_record_free(r);
}

static void no_trace(void **state)
{
	dck_record *r = NULL;
	dck_err err;

	(void)state;
	assert_int_equal(dck_trace_read("nowhere.pftrace", &r, &err), DCK_E_ABSENT);
	assert_int_equal(system("echo no trace > a.json"), 0);
	assert_int_equal(dck_trace_read("a.json", &r, &err), DCK_E_FORMAT);
	assert_null(r);
}

/* The result of another process is not trusted: a percentile below 0 became a rank below 0. */
static void percentile_is_checked(void **state)
{
	static const double bad[] = {-1, -1e-9, 2, NAN, 1e300};
	uint8_t bytes[10] = {0xa9, 0x06}; /* field 101, 64 bits */
	dck_record *r = NULL;
	dck_err err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		memcpy(bytes + 2, &bad[i], sizeof bad[i]);
		assert_int_equal(DCK_E_FORMAT, zone_record_read(bytes, sizeof bytes, &r, &err));
		assert_non_null(strstr(err.msg, "a percentile is not from 0 to 1"));
	}
}

int test_trace_record(void);
int test_trace_record(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(the_file_says_what_the_recording_says),
	    SCRATCH_TEST(a_range_that_never_ends_has_no_duration),
	    SCRATCH_TEST(what_a_killed_program_left_is_read),
	    SCRATCH_TEST(no_trace),
	    cmocka_unit_test(percentile_is_checked),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
