/* test_count_events.c - events that shared a processor register are scaled and marked; events that
 * never had one are absent. No such registers are needed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/count/count_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static dck_record *record_of(perf_counted c, bool asked_user, bool got_user)
{
	const count_event e = {.event = {.name = "cpu-cycles", .user_only = asked_user},
			       .counter = {.user_only = got_user}};
	record_builder *b = record_new();
	dck_record *r;

	count_event_put(&e, &c, "counter/cpu-cycles", b);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(r->nmetrics, 1);
	return r;
}

static void what_was_counted_all_the_time_is_exact(void **state)
{
	(void)state;
	dck_record *r =
	    record_of((perf_counted){(UINT64_C(1) << 53) + 1, 4000, 4000}, false, false);
	const dck_metric *m = &r->metrics[0];

	assert_int_equal(m->value.kind, DCK_VALUE_INT);
	assert_true(m->value.as.i == (INT64_C(1) << 53) + 1);
	assert_string_equal(m->how, "counted by the kernel");
	dck_record_free(r);
	r = record_of((perf_counted){0, 0, 0}, false, false); /* the program never ran */
	assert_int_equal(r->metrics[0].value.kind, DCK_VALUE_INT);
	assert_true(r->metrics[0].value.as.i == 0);
	dck_record_free(r);
}

static void what_shared_a_register_is_scaled(void **state)
{
	(void)state;
	dck_record *r = record_of((perf_counted){300, 4000, 1000}, false, true);
	const dck_metric *m = &r->metrics[0];

	assert_int_equal(m->value.kind, DCK_VALUE_REAL);
	assert_true(m->value.as.r == 1200);
	assert_string_equal(m->how,
			    "counted outside the kernel alone, since this user may see no more "
			    "in 25.0 % of the time, and scaled: several events shared a counter");
	dck_record_free(r);
	/* Without the request for more, the remark is left out. */
	r = record_of((perf_counted){300, 4000, 1000}, true, true);
	assert_non_null(strstr(r->metrics[0].how, "counted by the kernel in 25.0 %"));
	dck_record_free(r);
}

static void what_never_had_a_register_is_absent(void **state)
{
	(void)state;
	dck_record *r = record_of((perf_counted){0, 4000, 0}, false, false);

	assert_int_equal(r->metrics[0].value.kind, DCK_VALUE_ABSENT);
	assert_non_null(strstr(r->metrics[0].value.as.text, "never got"));
	dck_record_free(r);
}

int test_count_events(void);
int test_count_events(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_was_counted_all_the_time_is_exact),
	    cmocka_unit_test(what_shared_a_register_is_scaled),
	    cmocka_unit_test(what_never_had_a_register_is_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
