/* test_thread_table.c - ratios with a denominator of zero are absent, with a reason.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/thread_table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void a_thread_without_a_lifetime_has_no_share(void **state)
{
	const os_thread_counters cpu = {.n = {[OS_USE_CPU] = 500}, .known = 1u << OS_USE_CPU};
	thread_row rows[] = {
	    {.process = 1, .tid = 7, .name = "short", .began_ns = 9, .ended_ns = 9, .uses = cpu},
	    {.process = 1, .tid = 8, .name = "long", .ended_ns = 1000, .uses = cpu},
	    {.process = 1, .tid = 9, .name = "busy", .ended_ns = 499, .uses = cpu},
	    {.process = 1, .tid = 10, .name = "late", .ended_ns = 400, .uses = cpu},
	};
	const thread_process process = {.id = 1};
	thread_table t = {.rows = rows,
			  .n = sizeof rows / sizeof rows[0],
			  .processes = &process,
			  .nprocesses = 1,
			  .waits_absent = "not measured"};
	record_builder *b = record_new();
	dck_record *r;

	(void)state;
	for (int k = 0; k < OS_USES; k++)
		t.absent[k] = "not measured";
	thread_table_put(&t, b);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_table *table = dck_record_table(r, "threads");
	assert_non_null(table);
	size_t share = 0;
	while (strcmp(table->columns[share].key, "cpu_share") != 0)
		share++;
	for (size_t i = 0; i < table->nrows; i++) {
		const dck_cell *row = table->cells + i * table->ncolumns;
		const dck_value *v = &row[share].value;

		if (strcmp(row[0].value.as.text, "long") == 0) {
			assert_true(v->kind == DCK_VALUE_REAL && v->as.r >= 0.5 && v->as.r <= 0.5);
		} else if (strcmp(row[0].value.as.text, "busy") == 0) {
			assert_true(v->kind == DCK_VALUE_REAL && v->as.r >= 1 && v->as.r <= 1);
		} else if (strcmp(row[0].value.as.text, "late") == 0) {
			assert_int_equal(v->kind, DCK_VALUE_ABSENT);
		} else {
			assert_int_equal(v->kind, DCK_VALUE_ABSENT);
			assert_string_equal(v->as.text, "its lifetime is 0");
		}
	}
	dck_record_free(r);
}

int test_thread_table(void);
int test_thread_table(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_thread_without_a_lifetime_has_no_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
