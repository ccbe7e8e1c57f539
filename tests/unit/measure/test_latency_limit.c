/* test_latency_limit.c - limits on latency in the syntax of the command line, common to all
 * commands.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/latency_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void reads(const char *text, limit_kind kind, double p, double ns, const char *statistic,
		  const char *plain)
{
	latency_limit l = {0};
	dck_err err = {0};

	if (latency_limit_parse(text, false, &l, &err) != DCK_OK)
		fail_msg("%s: %s", text, err.msg);
	assert_int_equal(l.kind, kind);
	if (kind == LIMIT_PERCENTILE)
		assert_float_equal(l.p, p, 1e-12);
	assert_true(l.ns >= ns && l.ns <= ns);
	assert_string_equal(l.statistic, statistic);
	assert_string_equal(l.text, plain);
}

static void test_reads(void **state)
{
	(void)state;
	reads("p99<=20ms", LIMIT_PERCENTILE, 0.99, 20e6, "p99", "p99<=20ms");
	reads("p99<20ms", LIMIT_PERCENTILE, 0.99, 20e6, "p99", "p99<=20ms");
	reads("  median <= 1.5s", LIMIT_PERCENTILE, 0.5, 1.5e9, "median", "median<=1.5s");
	reads("p50<=7us", LIMIT_PERCENTILE, 0.5, 7000, "median", "p50<=7us");
	reads("p90<=3ms", LIMIT_PERCENTILE, 0.9, 3e6, "p90", "p90<=3ms");
	reads("p95<=3ms", LIMIT_PERCENTILE, 0.95, 3e6, "p95", "p95<=3ms");
	reads("p98<=2ms", LIMIT_PERCENTILE, 0.98, 2e6, "p98", "p98<=2ms");
	reads("p99.5<=2ms", LIMIT_PERCENTILE, 0.995, 2e6, "p99.5", "p99.5<=2ms");
	reads("p999<=3ms", LIMIT_PERCENTILE, 0.999, 3e6, "p99.9", "p999<=3ms");
	reads(" p99.9 < 1.5 s ", LIMIT_PERCENTILE, 0.999, 1.5e9, "p99.9", "p99.9<=1.5s");
	reads("p9999<=3ms", LIMIT_PERCENTILE, 0.9999, 3e6, "p99.99", "p9999<=3ms");
	reads("mean<=1m", LIMIT_MEAN, 0, 60e9, "mean", "mean<=1m");
	reads("max<=3ms", LIMIT_MAX, 0, 3e6, "max", "max<=3ms");
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {"",
					    "p99",
					    "20ms",
					    "p99<=",
					    "p99<=20",
					    "<=20ms",
					    "p99>=2ms",
					    "p99=2ms",
					    "p99<=-2ms",
					    "p99<=0ms",
					    "p9 9<=2ms",
					    "p49<=1s",
					    "p100<=1s",
					    "p99.999<=1s",
					    "99<=1s",
					    "p<=1s",
					    "min<=1s",
					    "average<=1s",
					    "p99<=1s;p90<=2s",
					    "p99<=2ms,max<=3ms",
					    "p99.0000000000000<=1s"};
	latency_limit l = {.ns = 7};
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		if (latency_limit_parse(wrong[i], false, &l, &err) != DCK_E_ARG)
			fail_msg("'%s' is read", wrong[i]);
		assert_non_null(
		    strstr(err.msg, "write it as STAT<=TIME, such as p99<=20ms; STAT is mean, max, "
				    "median or a percentile from p50 to p99.99"));
		assert_true(l.ns >= 7 && l.ns <= 7);
	}
}

static void test_worse(void **state)
{
	static const dck_verdict order[] = {DCK_VERDICT_MET, DCK_VERDICT_INCONCLUSIVE,
					    DCK_VERDICT_VIOLATED};

	(void)state;
	for (int a = 0; a < 3; a++)
		for (int b = 0; b < 3; b++)
			assert_int_equal(latency_limit_worse(order[a], order[b]),
					 order[a > b ? a : b]);
	assert_string_equal(latency_limit_word(DCK_VERDICT_MET), "met");
	assert_string_equal(latency_limit_word(DCK_VERDICT_VIOLATED), "violated");
	assert_string_equal(latency_limit_word(DCK_VERDICT_INCONCLUSIVE), "inconclusive");
}

/* Of a server that generates: the quantity is before the statistic. */
static void test_quantities(void **state)
{
	latency_limit l;

	(void)state;
	assert_int_equal(latency_limit_parse("ttft-p99 <= 0.5s", true, &l, NULL), DCK_OK);
	assert_int_equal(l.quantity, LIMIT_TTFT);
	assert_string_equal(l.statistic, "ttft-p99");
	assert_string_equal(l.text, "ttft-p99<=0.5s");
	assert_int_equal(latency_limit_parse("tpot-mean<30ms", true, &l, NULL), DCK_OK);
	assert_int_equal(l.quantity, LIMIT_TPOT);
	assert_int_equal(l.kind, LIMIT_MEAN);
	assert_int_equal(latency_limit_parse("p99<=1s", true, &l, NULL), DCK_OK);
	assert_int_equal(l.quantity, LIMIT_LATENCY);
	assert_int_equal(latency_limit_parse("ttft-p99<=1s", false, &l, NULL), DCK_E_ARG);
	assert_int_equal(latency_limit_parse("ttft-<=1s", true, &l, NULL), DCK_E_ARG);
}

int test_latency_limit(void);
int test_latency_limit(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reads),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_quantities),
	    cmocka_unit_test(test_worse),
	};

	return cmocka_run_group_tests_name("latency_limit", tests, NULL, NULL);
}
