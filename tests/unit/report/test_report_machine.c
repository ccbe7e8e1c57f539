/* test_report_machine.c - a machine's limits as text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "record/build.h"

static void tables(void **state)
{
	static const struct {
		const char *text;
		dck_style style;
	} all[] = {{"record_machine.txt", {.utf8 = false}},
		   {"record_machine_narrow.txt", {.utf8 = true, .width = 60}}};
	dck_record *r = golden_record("record_machine.json");
	const dck_record *one = r;

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		dck_buffer got = golden_report("text", &one, 1, &all[i].style);
		golden_compare(&got, all[i].text);
		dck_buffer_done(&got);
	}
	dck_record_free(r);
}

/* A record with almost no content, and tags longer than a row's name. */
static void little(void **state)
{
	dck_record *r = NULL;
	record_builder *b = record_new();

	(void)state;
	record_metric_absent(b, "peak/fp32/1", "none");
	record_fact_int(b, "machine", "threads", DCK_UNIT_ONE, 2);
	record_metric_real(b, "peak/fp64/avx512/all", 1234.5e9, "x");
	record_metric_real(b, "peak/fp64/all", 0.5e9, "x");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, NULL);
	assert_non_null(strstr(got.data, "\n  avx512               1,235"));
	assert_non_null(strstr(got.data, "\n  best                  0.50           -"));
	assert_non_null(strstr(got.data, "\n  peak/fp32/1 absent: none\n"));
	dck_buffer_done(&got);
	dck_record_free(r);
}

int test_report_machine(void);
int test_report_machine(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tables),
	    cmocka_unit_test(little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
