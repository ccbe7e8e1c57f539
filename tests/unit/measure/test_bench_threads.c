/* test_bench_threads.c - messages that an engine logs from several threads concurrently become a
 * few notes, and two measurements may run concurrently. Meant for ThreadSanitizer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <cmocka.h>

#include "deepclock/bench.h"

static dck_record *measure_plugin(void)
{
	dck_subject s;
	dck_plan plan;
	dck_record *r = NULL;
	dck_err err = {0};

	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_PLUGIN;
	s.text = getenv("LOGGING_PLUGIN"); /* the plug-in's path; the build sets it */
	assert_non_null(s.text);
	dck_plan_init(&plan);
	plan.runs = 50;
	plan.warmup = "3";
	if (dck_bench(&s, &plan, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static void warnings_become_a_few_notes(void **state)
{
	dck_record *r = measure_plugin();
	size_t warnings = 0;

	(void)state;
	for (size_t i = 0; i < r->nnotes; i++)
		if (strcmp(r->notes[i].code, "engine-warning") == 0) {
			warnings++;
			assert_non_null(strstr(r->notes[i].text, "a worker warns of "));
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(r->notes[i].text, r->notes[k].text);
			assert_true((warnings == 4) == ends_with(r->notes[i].text, " (and more)"));
		}
	assert_int_equal(warnings, 4);
	dck_record_free(r);
}

static int work(void *arg)
{
	volatile double *sum = arg;

	for (int i = 0; i < 10000; i++)
		*sum += i;
	return 0;
}

/* A separate function, because the loader locks internally, which no sanitizer observes. */
static void *measure(void *arg)
{
	dck_record **ret = arg;
	double sum = 0;
	dck_subject s;
	dck_plan plan;

	dck_subject_init(&s);
	s.function = work;
	s.arg = &sum;
	dck_plan_init(&plan);
	plan.runs = 50;
	plan.warmup = "3";
	if (dck_bench(&s, &plan, NULL, ret, NULL) != DCK_OK)
		*ret = NULL;
	return NULL;
}

static void two_at_the_same_time(void **state)
{
	dck_record *r[2] = {NULL, NULL};
	pthread_t other;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, measure, &r[1]), 0);
	measure(&r[0]);
	pthread_join(other, NULL);
	for (int i = 0; i < 2; i++) {
		assert_non_null(r[i]);
		assert_true(dck_record_value(r[i], "runs/count") == 50);
		dck_record_free(r[i]);
	}
}

int test_bench_threads(void);
int test_bench_threads(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(warnings_become_a_few_notes),
	    cmocka_unit_test(two_at_the_same_time),
	};

	return cmocka_run_group_tests_name("bench_threads", tests, NULL, NULL);
}
