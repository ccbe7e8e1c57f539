/* test_saved_counts.c - comparison of records of exact counts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "saved_build.h"
#include <math.h>

static void counts_compare_exactly(void **state)
{
	static const struct {
		int64_t from, to;
		double margin;
		const char *verdict;
		int gate;
		const char *answer; /* without a ratio */
	} cases[] = {
	    {1000, 1000, 0, "same", 0, NULL},
	    {1000, 1001, 0, "slower", 3, NULL},
	    {1000, 999, 0, "faster", 0, NULL},
	    {1000, 1009, 0.01, "same", 0, NULL},
	    {1000, 1011, 0.01, "slower", 3, NULL},
	    {0, 0, 0, "same", 0, "b is the same as a: both values are 0"},
	    {0, 0, 0.01, "same", 0, "b is the same as a: both values are 0"},
	    {0, 5, 0.01, "slower", 3, "b is worse than a: one value is 0"},
	    {5, 0, 0.01, "faster", 0, "b is better than a: one value is 0"},
	    {-5, 5, 0.01, "undecided", 4, "b: undecided"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		dck_record *a = counted("a", "cost/flops", cases[i].from);
		dck_record *b = counted("b", "cost/flops", cases[i].to), *r;
		dck_compare_config c = plain();

		c.margin = cases[i].margin;
		r = compare_two(a, b, &c); /* chosen by default: the records have it */
		verdict_is(r, cases[i].verdict, cases[i].gate);
		if (!cases[i].answer) {
			near(dck_record_value(r, "compare/ratio"),
			     (double)cases[i].to / (double)cases[i].from);
		} else {
			assert_true(isnan(dck_record_value(r, "compare/ratio")));
			assert_non_null(strstr(fact_text(r, "result", "answer"), cases[i].answer));
		}
		assert_int_equal(dck_record_metric(r, "compare/ratio")->level, 0);
		assert_null(dck_record_note(r, "not-interleaved"));
		dck_record_free(r);
		dck_record_free(a);
		dck_record_free(b);
	}
}

static void counts_do_not_depend_on_the_machine(void **state)
{
	record_builder *b = saved_begin("b", "b");
	dck_record *from = counted("a", "cost/flops", 10), *to, *r;

	(void)state;
	record_fact_text(b, "host", "cpu", "another processor");
	record_fact_text(b, "method", "clock", "another clock");
	record_metric_int(b, "cost/flops", 10, "counted");
	to = saved_end(b);
	r = compare_two(from, to, NULL);
	verdict_is(r, "same", 0);
	dck_record_free(r);
	dck_record_free(from);
	dck_record_free(to);
}

int test_saved_counts(void);
int test_saved_counts(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_compare_exactly),
	    cmocka_unit_test(counts_do_not_depend_on_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
