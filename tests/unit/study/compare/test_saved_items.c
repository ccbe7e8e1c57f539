/* test_saved_items.c - comparison of records whose runs process different numbers of items.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "saved_build.h"
#include <math.h>

/* A record of runs with n items that take v. */
static dck_record *batch(const char *name, int64_t n, double v)
{
	const double rate = 1e9 * (double)n / v;
	record_builder *b = saved_begin(name, name);

	record_fact_int(b, "subject", "items_per_run", DCK_UNIT_ONE, n);
	record_metric_interval(b, "latency/median", v, v * 0.99, v * 1.01, 0.95, "made up");
	record_metric_interval(b, "throughput/items", rate, rate * 0.99, rate * 1.01, 0.95,
			       "made up");
	return saved_end(b);
}

static void items_per_second_decide_where_items_differ(void **state)
{
	dck_record *one = batch("batch 1", 1, 8e6), *many = batch("batch 64", 64, 10e6), *r;
	dck_compare_config c;

	(void)state;
	dck_compare_config_init(&c);
	r = compare_two(one, many, NULL);
	assert_string_equal(fact_text(r, "compare", "metric"), "throughput/items");
	assert_true(fabs(dck_record_value(r, "compare/ratio") - 10.0 / 8 / 64) < 1e-12);
	assert_string_equal(fact_text(r, "compare", "verdict"), "faster");
	assert_null(dck_record_note(r, "items-differ"));
	if (strstr(fact_text(r, "result", "answer"),
		   "items per second: batch 64 is 51.2 times faster than batch 1 [") !=
	    fact_text(r, "result", "answer"))
		fail_msg("%s", fact_text(r, "result", "answer"));
	dck_record_free(r);
	/* The time per run is compared on request, with a warning, and if the items are equal. */
	c.metric = "latency/median";
	r = compare_two(one, many, &c);
	assert_string_equal(fact_text(r, "compare", "verdict"), "slower");
	assert_non_null(dck_record_note(r, "items-differ"));
	dck_record_free(r);
	r = compare_two(one, one, NULL);
	assert_string_equal(fact_text(r, "compare", "metric"), "latency/median");
	dck_record_free(r);
	dck_record_free(one);
	dck_record_free(many);
}

static void the_answer_states_the_change_of_the_rate(void **state)
{
	dck_record *a = batch("a", 1, 1e9 / 999), *b = batch("b", 2, 2e9 / 915), *r;

	(void)state;
	r = compare_two(a, b, NULL);
	assert_non_null(strstr(fact_text(r, "result", "answer"), "b is 8.41 % slower than a ["));
	dck_record_free(r);
	r = compare_two(b, a, NULL);
	assert_non_null(strstr(fact_text(r, "result", "answer"), "a is 9.18 % faster than b ["));
	dck_record_free(r);
	dck_record_free(a);
	dck_record_free(b);
}

int test_saved_items(void);
int test_saved_items(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_answer_states_the_change_of_the_rate),
	    cmocka_unit_test(items_per_second_decide_where_items_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
