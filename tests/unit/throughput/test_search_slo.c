/* test_search_slo.c - limits on latency as the command line writes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "throughput/search_slo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void reads(const char *text, const char *name, const char *tag, double limit_ns)
{
	search_slo slo = {0};
	dck_err err = {0};

	if (search_slo_parse(text, &slo, &err) != DCK_OK)
		fail_msg("%s: %s", text, err.msg);
	assert_string_equal(slo.name, name);
	assert_string_equal(slo.tag, tag);
	assert_true(slo.limit_ns >= limit_ns && slo.limit_ns <= limit_ns);
}

static void test_reads(void **state)
{
	(void)state;
	reads("p99<=20ms", "p99", "latency/p99", 20e6);
	reads("p99<20ms", "p99", "latency/p99", 20e6);
	reads("  median <= 1.5s", "median", "latency/median", 1.5e9);
	reads("p50<=7us", "median", "latency/median", 7000);
	reads("mean<=1m", "mean", "latency/mean", 60e9);
	reads("p90<=3ms", "p90", "latency/p90", 3e6);
	reads("p95<=3ms", "p95", "latency/p95", 3e6);
	reads("p999<=3ms", "p99.9", "latency/p999", 3e6);
	reads("p99.9<=3ms", "p99.9", "latency/p999", 3e6);
	reads("max<=3ms", "max", "latency/max", 3e6);
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {
	    "",		"p99",	    "20ms",    "p99<=",	    "p99<=20",	"<=20ms",
	    "p98<=2ms", "p99>=2ms", "p99=2ms", "p99<=-2ms", "p99<=0ms", "p99<=2ms,max<=3ms",
	    "p9 9<=2ms"};
	search_slo slo = {.runs = 7};
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		if (search_slo_parse(wrong[i], &slo, &err) != DCK_E_ARG)
			fail_msg("'%s' is read", wrong[i]);
		assert_non_null(strstr(err.msg, "write it as STAT<=TIME, such as p99<=20ms; STAT "
						"is median, mean, p90, p95, p99, p999 or max"));
		assert_int_equal(slo.runs, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reads),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("search_slo", tests, NULL, NULL);
}
