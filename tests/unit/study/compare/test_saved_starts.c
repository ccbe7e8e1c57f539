/* test_saved_starts.c - comparison of records of several starts: what is shown and what decides.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "saved_build.h"
#include <math.h>
#include <stdio.h>

static dck_record *with_starts(const char *name, const double *medians, size_t n, double median)
{
	record_builder *b = saved_begin(name, name);
	char tag[64];

	record_fact_int(b, "method", "processes", DCK_UNIT_ONE, (int64_t)n);
	record_metric_real(b, "latency/median", median, "median of the starts");
	for (size_t i = 0; i < n; i++) {
		const double x[] = {medians[i] + 10, medians[i] - 10, medians[i]};

		snprintf(tag, sizeof tag, "latency/process/%zu", i + 1);
		record_series(b, tag, DCK_UNIT_NS, NULL, x, 3, 0);
	}
	return saved_end(b);
}

static void the_table_has_what_the_records_report(void **state)
{
	static const double from[] = {100, 101, 99, 160}, to[] = {120, 121, 119, 120};
	dck_record *a = with_starts("a", from, 4, 100.5), *b = with_starts("b", to, 4, 120), *r;
	const dck_table *t;

	(void)state;
	r = compare_two(a, b, NULL);
	t = dck_record_table(r, "compare/alternatives");
	assert_true(dck_table_cell(t, 0, "time")->value.as.r == 100.5);
	assert_true(dck_table_cell(t, 1, "time")->value.as.r == 120);
	assert_true(fabs(dck_record_value(r, "compare/ratio") - 120.0 / 115) < 1e-12);
	assert_non_null(strstr(dck_record_note(r, "ratio-of-times")->text, "1.19"));
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

static dck_record *with_runs_of(const char *kind)
{
	record_builder *b = saved_begin("a", "a");
	double x[50];

	for (size_t i = 0; i < 50; i++)
		x[i] = 100 + (double)(i * 7 % 50) / 50;
	record_fact_text(b, "subject", "kind", kind);
	record_metric_absent(b, "latency/median", "made up");
	record_series(b, "latency", DCK_UNIT_NS, NULL, x, 50, 0);
	return saved_end(b);
}

static void a_program_starts_for_every_run(void **state)
{
	static const char *const kinds[] = {"model", "command"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		dck_record *a = with_runs_of(kinds[i]), *b = with_runs_of(kinds[i]);
		dck_record *r = compare_two(a, b, NULL);

		assert_true((dck_record_note(r, "one-process") != NULL) == (i == 0));
		dck_record_free(r);
		dck_record_free(a);
		dck_record_free(b);
	}
}

int test_saved_starts(void);
int test_saved_starts(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_table_has_what_the_records_report),
	    cmocka_unit_test(a_program_starts_for_every_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
