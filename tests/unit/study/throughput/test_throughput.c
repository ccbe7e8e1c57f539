/* test_throughput.c - the search called from a C program, with the null engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/throughput.h"
#include "deepclock/report.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct fixture {
	dck_subject subject;
	dck_throughput_config config;
	dck_record *record;
	dck_err err;
	char program[1024];
} fixture;

static fixture *fixture_new(void)
{
	fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	snprintf(f->program, sizeof f->program, "%s", built_file("../deepclock"));
	dck_subject_init(&f->subject);
	dck_throughput_config_init(&f->config);
	f->subject.kind = DCK_SUBJECT_MODEL;
	f->subject.text = "zoo:simplenet";
	f->subject.model.engine = "null";
	f->subject.model.engine_option = (dck_list){.item = {"sleep_ns=1000000"}, .n = 1};
	f->config.program = f->program;
	f->config.batch = "1,2";
	f->config.rounds = 2;
	f->config.point_time_ns = 20000000;
	return f;
}

static void fixture_free(fixture *f)
{
	dck_record_free(f->record);
	free(f);
}

static dck_status search(fixture *f, const dck_observer *watch)
{
	return dck_throughput(&f->subject, &f->config, watch, &f->record, &f->err);
}

static void test_record(void **state)
{
	fixture *f = fixture_new();
	const dck_table *t;
	const dck_metric *m;

	(void)state;
	f->config.title = "a title";
	if (search(f, NULL) != DCK_OK)
		fail_msg("%s", f->err.msg);
	assert_string_equal(f->record->command, "a title");
	assert_false(f->record->incomplete);
	assert_true(f->record->began_unix_ns > 0);
	t = dck_record_table(f->record, "throughput/points");
	assert_non_null(t);
	assert_int_equal(t->nrows, 2);
	double rates[2];
	for (size_t row = 0; row < 2; row++) {
		const dck_cell *rate = dck_table_cell(t, row, "throughput");

		assert_int_equal(dck_table_cell(t, row, "batch")->value.as.i, row + 1);
		rates[row] = rate->value.as.r;
		assert_true(rate->value.as.r > 0 && rate->level > 0.9);
		assert_true(rate->lo <= rate->value.as.r && rate->value.as.r <= rate->hi);
		assert_true(dck_table_cell(t, row, "latency")->value.as.r >= 1e6);
		assert_true(dck_table_cell(t, row, "memory")->value.as.i > 1 << 20);
		assert_true(dck_table_cell(t, row, "trials")->value.as.i >= 3);
		/* Twice the work with twice the batch: 2 x 101,632 MACs and some additions. */
		const double flops = dck_table_cell(t, row, "flops")->value.as.r;
		const double one = flops / rate->value.as.r;
		assert_true(one > 2e5 && one < 2.1e5);
	}
	m = dck_record_metric(f->record, "throughput/best");
	assert_non_null(m);
	assert_true(m->level > 0);
	/* A sleep of 1 ms gives batch 2 twice the rate, unless other programs delay just its
	 * trials. */
	if (rates[1] > 1.1 * rates[0]) {
		assert_int_equal((int)dck_record_value(f->record, "throughput/best_batch"), 2);
		assert_int_equal((int)dck_record_value(f->record, "throughput/knee_batch"), 2);
	} else {
		assert_in_range((int)dck_record_value(f->record, "throughput/knee_batch"), 1, 2);
	}
	assert_int_equal(dck_record_series(f->record, "throughput/by_batch")->n, 2);
	assert_non_null(dck_record_fact(f->record, "host", "cpu"));
	assert_null(dck_record_fact(f->record, "subject", "items_per_run"));
	fixture_free(f);
}

static void refused(fixture *f, dck_status code, const char *part)
{
	const dck_status status = search(f, NULL);

	if (status != code || !strstr(f->err.msg, part))
		fail_msg("%d: %s", status, f->err.msg);
	assert_null(f->record);
	fixture_free(f);
}

static void test_refused(void **state)
{
	fixture *f = fixture_new();

	(void)state;
	f->config.program = NULL;
	refused(f, DCK_E_UNSUP, "fresh processes");
	f = fixture_new();
	f->subject.kind = DCK_SUBJECT_COMMAND;
	refused(f, DCK_E_ARG, "only a model has a batch size");
	f = fixture_new();
	f->config.batch = "0";
	refused(f, DCK_E_ARG, "--batch is '0'");
	f = fixture_new();
	f->config.batch = "";
	refused(f, DCK_E_ARG, "--batch is ''");
	f = fixture_new();
	f->config.min_batch = 0;
	refused(f, DCK_E_ARG, "option 'min-batch'");
	f = fixture_new();
	f->config.rounds = 1;
	refused(f, DCK_E_ARG, "option 'rounds'");
	f = fixture_new();
	f->config.slo = "p99";
	refused(f, DCK_E_ARG, "--slo is 'p99'");
	f = fixture_new();
	f->config.threads = "1,2,3,4,5,6,7,8,9";
	f->config.in_flight = "1,2,3,4,5,6,7,8,9";
	refused(f, DCK_E_LIMIT, "make 81 settings");
	f = fixture_new();
	f->config.in_flight =
	    "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
	    "28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,"
	    "51,52,53,54,55,56,57,58,59,60,61,62,63,64,65";
	refused(f, DCK_E_LIMIT, "more than 64 numbers");
	f = fixture_new();
	f->config.program = "./there-is-no-such-program";
	refused(f, DCK_E_ABSENT, "there is no program");
	f = fixture_new();
	f->subject.text = "zoo:florp";
	refused(f, DCK_E_ARG, "florp");
}

static void test_no_memory_at_all(void **state)
{
	fixture *f = fixture_new();
	const dck_table *t;

	(void)state;
	f->config.memory_bytes = 4096;
	assert_int_equal(search(f, NULL), DCK_OK);
	assert_non_null(dck_record_note(f->record, "no-batch-fits"));
	assert_true(isnan(dck_record_value(f->record, "throughput/best")));
	t = dck_record_table(f->record, "throughput/points");
	assert_int_equal(t->nrows, 1);
	assert_string_equal(dck_table_cell(t, 0, "status")->value.as.text, "memory");
	assert_int_equal(dck_table_cell(t, 0, "throughput")->value.kind, DCK_VALUE_ABSENT);
	fixture_free(f);
}

typedef struct watcher {
	size_t progress;
	size_t cancel_after; /* number of progress calls */
} watcher;

static void on_progress(void *self, const dck_progress *p)
{
	watcher *w = self;

	assert_non_null(p->phase);
	assert_true(isnan(p->done_ratio) || (p->done_ratio >= 0 && p->done_ratio <= 1));
	w->progress++;
}

static bool on_cancelled(void *self)
{
	const watcher *w = self;

	return w->progress >= w->cancel_after;
}

static void test_cancelled(void **state)
{
	fixture *f = fixture_new();
	watcher w = {.cancel_after = 0};
	const dck_observer watch = {.self = &w, .progress = on_progress, .cancelled = on_cancelled};

	(void)state;
	assert_int_equal(search(f, &watch), DCK_E_CANCEL);
	/* Cancelled in the third trial or soon after it. */
	w = (watcher){.cancel_after = 3};
	assert_int_equal(search(f, &watch), DCK_OK);
	assert_true(f->record->incomplete);
	assert_non_null(dck_record_note(f->record, "interrupted"));
	assert_non_null(dck_record_table(f->record, "throughput/points"));
	fixture_free(f);
}

/* A program that runs deepclock twice and fails from then on. */
static void test_fails_later(void **state)
{
	fixture *f = fixture_new();
	char script[1200];

	(void)state;
	snprintf(script, sizeof script,
		 "#!/bin/sh\necho x >> count\n"
		 "test $(wc -l < count) -gt 2 && exit 3\nexec '%s' \"$@\"\n",
		 f->program);
	snprintf(f->program, sizeof f->program, "%s", scratch_text("./script", script));
	assert_int_equal(search(f, NULL), DCK_OK);
	/* The measured trials are in the record, which states that it is incomplete. */
	assert_true(f->record->incomplete);
	assert_non_null(dck_record_note(f->record, "engine-failed"));
	assert_string_equal(dck_record_note(f->record, "point-failed")->text,
			    "batch 1 failed: a fresh process ended with exit status 3 and no "
			    "record");
	const dck_table *t = dck_record_table(f->record, "throughput/points");
	assert_int_equal(t->nrows, 2);
	assert_true(dck_table_cell(t, 1, "throughput")->value.as.r > 0);
	fixture_free(f);
}

/* Every setting has rows, and the best result names its setting. */
static void test_in_flight(void **state)
{
	fixture *f = fixture_new();
	const dck_table *t;

	(void)state;
	f->config.batch = "4";
	f->config.in_flight = "1,2";
	f->config.point_time_ns = 100000000;
	if (search(f, NULL) != DCK_OK)
		fail_msg("%s", f->err.msg);
	t = dck_record_table(f->record, "throughput/points");
	assert_int_equal(t->nrows, 2);
	assert_int_equal(dck_table_cell(t, 1, "in_flight")->value.as.i, 2);
	assert_int_equal(dck_record_fact(f->record, "throughput", "best_in_flight")->value.as.i, 2);
	fixture_free(f);
}

/* --- a function: runs of 5 ms, which fail beyond `most` items. Twice the items give twice the
 * rate, and a trial has enough runs for a median that other programs do not halve. */

typedef struct batched {
	uint64_t batch, most, trials, threads, budget;
	dck_status beyond;
} batched;

static int batched_run(void *arg)
{
	const batched *b = arg;

	usleep(5000);
	return b->batch > b->most;
}

static dck_status batched_prepare(void *self, uint64_t batch, uint64_t threads, uint64_t memory,
				  dck_err *err)
{
	batched *b = self;

	(void)err;
	b->batch = batch;
	b->threads = threads;
	b->budget = memory;
	b->trials++;
	return DCK_OK;
}

static dck_status batched_finish(void *self, uint64_t *ret_peak_bytes, dck_err *err)
{
	const batched *b = self;

	*ret_peak_bytes = b->batch << 20;
	if (b->batch <= b->most)
		return DCK_OK;
	*err = (dck_err){.code = b->beyond};
	snprintf(err->msg, sizeof err->msg, "%llu are too many", (unsigned long long)b->batch);
	return b->beyond;
}

static double batched_flops(void *self, uint64_t batch)
{
	(void)self;
	return 10.0 * (double)batch;
}

static fixture *function_new(batched *b, dck_batches *how)
{
	fixture *f = fixture_new();

	dck_subject_init(&f->subject);
	f->subject.text = "f";
	f->subject.function = batched_run;
	f->subject.arg = b;
	*how = (dck_batches){.self = b,
			     .prepare = batched_prepare,
			     .finish = batched_finish,
			     .flops = batched_flops};
	f->config.program = NULL;
	f->config.batches = how;
	f->config.batch = NULL;
	return f;
}

static void test_function(void **state)
{
	batched b = {.most = 6, .beyond = DCK_E_NOMEM};
	dck_batches how;
	fixture *f = function_new(&b, &how);
	const dck_table *t;

	(void)state;
	f->config.memory_bytes = 1 << 30;
	f->config.point_time_ns = 150000000;
	if (search(f, NULL) != DCK_OK)
		fail_msg("%s", f->err.msg);
	assert_false(f->record->incomplete);
	assert_int_equal(b.budget, 1 << 30);
	t = dck_record_table(f->record, "throughput/points");
	assert_true(t->nrows >= 4);
	for (size_t i = 0; i < t->nrows; i++) {
		const int64_t batch = dck_table_cell(t, i, "batch")->value.as.i;
		const dck_cell *rate = dck_table_cell(t, i, "throughput");

		const dck_value *memory = &dck_table_cell(t, i, "memory")->value;

		/* Of one that ran out of memory the peak is not known. */
		assert_int_equal(memory->kind == DCK_VALUE_ABSENT, batch > 6);
		if (batch <= 6)
			assert_int_equal(memory->as.i, batch << 20);
		assert_int_equal(rate->value.kind == DCK_VALUE_ABSENT, batch > 6);
		if (batch <= 6)
			assert_true(fabs(dck_table_cell(t, i, "flops")->value.as.r /
					     (10 * rate->value.as.r) -
					 1) < 1e-9);
	}
	assert_non_null(dck_record_note(f->record, "point-memory"));
	assert_true(dck_record_value(f->record, "throughput/best_batch") <= 6);
	fixture_free(f);
}

static void test_function_fails(void **state)
{
	batched b = {.most = 0, .beyond = DCK_E_ENGINE};
	dck_batches how;
	fixture *f = function_new(&b, &how);

	(void)state;
	assert_int_equal(search(f, NULL), DCK_E_ENGINE);
	assert_string_equal(f->err.msg, "1 are too many");
	b.beyond = DCK_E_CANCEL;
	assert_int_equal(search(f, NULL), DCK_E_CANCEL);
	b.beyond = DCK_E_NOMEM;
	assert_int_equal(search(f, NULL), DCK_OK);
	assert_non_null(dck_record_note(f->record, "no-batch-fits"));
	assert_int_equal(b.trials, 3);
	f->config.in_flight = "1,2";
	assert_int_equal(search(f, NULL), DCK_E_UNSUP);
	f->config.in_flight = NULL;
	f->config.batches = NULL;
	assert_int_equal(search(f, NULL), DCK_E_ARG);
	fixture_free(f);
}

int test_throughput(void);
int test_throughput(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_record),	     cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_no_memory_at_all), cmocka_unit_test(test_cancelled),
	    cmocka_unit_test(test_fails_later),	     cmocka_unit_test(test_in_flight),
	    cmocka_unit_test(test_function),	     cmocka_unit_test(test_function_fails),
	};

	return cmocka_run_group_tests_name("throughput", tests, scratch_begin, scratch_end);
}
