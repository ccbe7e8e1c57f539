/* test_run_delays.c - the median of undisturbed runs, from delays that the test sets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "deepclock/record.h"
#include "measure/run_delays.h"
#include "record/record_begin.h"

int test_run_delays(void);

enum { RUNS = 100 };

/* Of 100 runs of 1 us, the first `known` have a known delay of 0. */
static dck_record *record_with(size_t known)
{
	measure_phases p = {.plan.asked.level = 0.95, .measured_ns = UINT64_MAX};
	record_builder *b = record_new();
	run_delays u = {0};
	dck_record *ret = NULL;
	dck_err err;

	if (os_run_delay_open(&u.delay, &err) != DCK_OK) {
		record_drop(b);
		print_message("skipped: %s\n", err.msg);
		skip();
	}
	assert_int_equal(measure_samples_init(&p.latency, RUNS, true, NULL), DCK_OK);
	assert_int_equal(measure_samples_init(&p.delay, RUNS, true, NULL), DCK_OK);
	for (size_t i = 0; i < RUNS; i++) {
		measure_samples_push(&p.latency, i, 1000.0 + (double)(i * 37 % RUNS));
		measure_samples_push(&p.delay, i, i < known ? 0 : NAN);
	}
	run_delays_record(&u, &p, b);
	run_delays_end(&u);
	measure_samples_done(&p.latency);
	measure_samples_done(&p.delay);
	assert_int_equal(record_finish(b, &ret, NULL), DCK_OK);
	return ret;
}

static void all_known(void **state)
{
	dck_record *r = record_with(RUNS);

	(void)state;
	assert_true(dck_record_value(r, "latency/undisturbed") == 1049.5);
	assert_true(dck_record_metric(r, "latency/undisturbed")->level > 0);
	dck_record_free(r);
}

/* Runs that became shorter than expected: the first ones do not stand for all of them. */
static void few_known(void **state)
{
	static const char *const tags[] = {"latency/undisturbed", "latency/less_run_delay"};
	dck_record *r = record_with(13);

	(void)state;
	for (int i = 0; i < 2; i++) {
		const dck_metric *m = dck_record_metric(r, tags[i]);

		assert_int_equal(m->value.kind, DCK_VALUE_ABSENT);
		assert_string_equal(m->value.as.text,
				    "of 100 runs the delays of 13 are known: the runs became too "
				    "short to read them around each");
	}
	dck_record_free(r);
}

int test_run_delays(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_known),
	    cmocka_unit_test(few_known),
	};

	return cmocka_run_group_tests_name("run_delays", tests, NULL, NULL);
}
