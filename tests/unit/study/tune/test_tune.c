/* test_tune.c - the search called from a C program, with the null engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/tune.h"
#include "deepclock/report.h"
#include "fault_alloc.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct fixture {
	dck_subject subject;
	dck_tune_config config;
	dck_record *record;
	dck_err err;
	char program[1024];
	unsigned asked, most; /* of the observer: cancelled when it is asked more often */
} fixture;

static fixture *fixture_new(void)
{
	fixture *f = calloc(1, sizeof *f);
	FILE *space = fopen("space.txt", "w");

	assert_non_null(f);
	assert_non_null(space);
	fputs("sleep_ns=2000000,4000000\n", space);
	fclose(space);
	snprintf(f->program, sizeof f->program, "%s", built_file("../deepclock"));
	dck_subject_init(&f->subject);
	dck_tune_config_init(&f->config);
	f->subject.kind = DCK_SUBJECT_MODEL;
	f->subject.text = "zoo:simplenet";
	f->subject.model.engine = "null";
	f->subject.model.engine_option = (dck_list){.item = {"sleep_ns=16000000"}, .n = 1};
	f->config.program = f->program;
	f->config.space = "space.txt";
	f->config.trial_ns = 20000000;
	f->config.max_time_ns = 30000000000;
	return f;
}

static void fixture_free(fixture *f)
{
	dck_record_free(f->record);
	free(f);
}

static dck_status search(fixture *f, const dck_observer *watch)
{
	return dck_tune(&f->subject, &f->config, watch, &f->record, &f->err);
}

static void test_record(void **state)
{
	static const char *const tables[] = {"tune/front", "tune/effects", "tune/configurations"};
	fixture *f = fixture_new();
	const dck_table *t;

	(void)state;
	f->config.title = "a title";
	if (search(f, NULL) != DCK_OK)
		fail_msg("%s", f->err.msg);
	assert_string_equal(f->record->command, "a title");
	assert_false(f->record->incomplete);
	for (size_t i = 0; i < 3; i++)
		assert_non_null(dck_record_table(f->record, tables[i]));
	t = dck_record_table(f->record, "tune/configurations");
	assert_int_equal(t->nrows, 3);
	assert_string_equal(dck_table_cell(t, 0, "configuration")->value.as.text, "default");
	assert_true(dck_table_cell(t, 0, "latency")->value.as.r >= 16e6);
	assert_true(dck_table_cell(t, 0, "memory")->value.as.i > 1 << 20);
	/* No engine of that name has outputs, so there are no lines for it. */
	assert_null(dck_record_table(f->record, "tune/apply"));
	assert_non_null(dck_record_fact(f->record, "tune", "command"));
	fixture_free(f);
}

static void assert_refused(fixture *f, dck_status code, const char *part)
{
	assert_int_equal(search(f, NULL), code);
	if (!strstr(f->err.msg, part))
		fail_msg("%s", f->err.msg);
	fixture_free(f);
}

static void test_refused(void **state)
{
	const dck_array array = {.name = "x"};
	fixture *f = fixture_new();

	(void)state;
	f->subject.kind = DCK_SUBJECT_PLUGIN;
	assert_refused(f, DCK_E_ARG, "only a model");
	f = fixture_new();
	f->config.goal = 2;
	assert_refused(f, DCK_E_ARG, "goal");
	f = fixture_new();
	f->config.only = "opt";
	f->config.skip = "threads";
	assert_refused(f, DCK_E_ARG, "exclude each other");
	f = fixture_new();
	f->config.max_time_ns = 0;
	assert_refused(f, DCK_E_ARG, "option 'max-time'");
	f = fixture_new();
	f->subject.model.arrays = (dck_arrays){&array, 1};
	assert_refused(f, DCK_E_UNSUP, "numpy.save()");
	f = fixture_new();
	f->config.program = "no/such/program";
	assert_int_not_equal(search(f, NULL), DCK_OK);
	fixture_free(f);
	f = fixture_new();
	f->config.struct_size = 0;
	assert_refused(f, DCK_E_ARG, "dck_tune_config_init");
}

static bool cancelled(void *self)
{
	fixture *f = self;

	return f->asked++ >= f->most;
}

/* At once there is nothing; later there is an incomplete record. */
static void test_cancelled(void **state)
{
	fixture *f = fixture_new();
	const dck_observer watch = {.self = f, .cancelled = cancelled};

	(void)state;
	assert_int_equal(search(f, &watch), DCK_E_CANCEL);
	fixture_free(f);
	f = fixture_new();
	f->most = 12;
	const dck_observer later = {.self = f, .cancelled = cancelled};
	if (search(f, &later) == DCK_OK) {
		assert_true(f->record->incomplete);
		assert_non_null(dck_record_note(f->record, "interrupted"));
	} else {
		assert_int_equal(f->err.code, DCK_E_CANCEL);
	}
	fixture_free(f);
}

/* The n-th allocation fails, for the early ones: an error or no harm, and nothing is leaked. The
 * search is cancelled after its first questions, so it is short. */
static void test_no_memory(void **state)
{
	(void)state;
	for (size_t n = 1; n < 40; n++) {
		fixture *f = fixture_new();
		const dck_observer watch = {.self = f, .cancelled = cancelled};
		fault_alloc faults;
		dck_status status;

		fault_alloc_begin(&faults, n);
		status = search(f, &watch);
		dck_set_allocator(NULL);
		assert_int_equal(faults.out, 0);
		assert_true(status == DCK_E_NOMEM || status == DCK_E_CANCEL);
		fixture_free(f);
	}
}

int test_tune(void);
int test_tune(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_record),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_cancelled),
	    cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("tune", tests, scratch_begin, scratch_end);
}
