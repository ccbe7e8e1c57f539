/* SPDX-License-Identifier: Apache-2.0 */
/* One parser of percentile names, for limits and for --statistic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/latency_limit.h"
#include "base/percentile.h"
#include "measure/plan.h"
#include "record/record_internal.h"

#include <stdio.h>
#include <string.h>

static void names(void **state)
{
	static const struct {
		const char *text;
		double p; /* 0: invalid */
	} cases[] = {
	    {"median", 0.5},   {"p50", 0.5},	   {"p75", 0.75},    {"p90", 0.9},
	    {"p9", 0.09},      {"p99", 0.99},	   {"p99.9", 0.999}, {"p999", 0.999},
	    {"p9999", 0.9999}, {"p99.99", 0.9999}, {"p97.5", 0.975}, {"", 0},
	    {"p", 0},	       {"mean", 0},	   {"P99", 0},	     {"99", 0},
	    {"p99x", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		double p = -1;

		assert_int_equal(percentile_parse(cases[i].text, &p), cases[i].p > 0);
		if (cases[i].p > 0 && !percentile_is(p, cases[i].p))
			fail_msg("%s: %g", cases[i].text, p);
		if (!(cases[i].p > 0))
			assert_true(p < 0);
	}
}

/* Limits and the plan parse the same names, and one statistic has one metric. */
static void one_name_everywhere(void **state)
{
	static const struct {
		const char *text, *tag;
	} cases[] = {
	    {"median", "latency/median"}, {"p50", "latency/median"},  {"p90", "latency/p90"},
	    {"p95", "latency/p95"},	  {"p99", "latency/p99"},     {"p99.9", "latency/p999"},
	    {"p999", "latency/p999"},	  {"p75", "latency/p75"},     {"p99.99", "latency/p99.99"},
	    {"p9999", "latency/p99.99"},  {"p97.5", "latency/p97.5"},
	};
	mem_arena *a = mem_arena_new(0);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char limit[40];
		const dck_metric_def *def;
		latency_limit of_limit;
		measure_plan plan;
		dck_plan p;
		double read;

		dck_plan_init(&p);
		p.statistic = cases[i].text;
		assert_int_equal(measure_plan_check(&p, &plan, NULL), DCK_OK);
		assert_string_equal(measure_plan_tag(&plan), cases[i].tag);
		snprintf(limit, sizeof limit, "%s<=5ms", cases[i].text);
		assert_int_equal(latency_limit_parse(limit, false, &of_limit, NULL), DCK_OK);
		assert_true(percentile_parse(cases[i].text, &read));
		assert_true(percentile_is(of_limit.p, read));
		def = record_find_def(cases[i].tag, a);
		assert_non_null(def);
		assert_int_equal(def->unit, DCK_UNIT_NS);
		assert_true(strcmp(def->name, "percentile") != 0);
	}
	assert_string_equal(record_find_def("latency/p75", a)->name, "p75");
	assert_null(record_find_def("latency/florp", a));
	mem_arena_free(a);
}

static void others(void **state)
{
	static const char *const good[] = {"mean", "min", "max"};
	static const char *const bad[] = {"avg", "p49", "p100", "p99.995", "stddev", "", "P90"};
	measure_plan plan;
	dck_plan p;
	dck_err err;

	(void)state;
	dck_plan_init(&p);
	assert_int_equal(measure_plan_check(&p, &plan, NULL), DCK_OK);
	assert_string_equal(measure_plan_statistic(&plan), "median");
	p.statistic = NULL;
	assert_int_equal(measure_plan_check(&p, &plan, NULL), DCK_OK);
	assert_string_equal(measure_plan_statistic(&plan), "median");
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		p.statistic = good[i];
		assert_int_equal(measure_plan_check(&p, &plan, NULL), DCK_OK);
		assert_string_equal(measure_plan_statistic(&plan), good[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		p.statistic = bad[i];
		assert_int_equal(measure_plan_check(&p, &plan, &err), DCK_E_ARG);
		assert_non_null(strstr(err.msg, "or a percentile from p50 to p99.99"));
	}
}

/* A percentile with a row in metrics.def and one without are estimated alike. */
static void estimated_alike(void **state)
{
	double x[2000], scratch[2 * 2000 + 100000];
	stat_estimate fixed, any;
	uint64_t r = 1;

	(void)state;
	assert_true(stat_scratch(2000) <= sizeof scratch / sizeof *scratch);
	for (size_t i = 0; i < 2000; i++) {
		r = r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		x[i] = (double)(r >> 40);
	}
	stat_estimate_one(STAT_P95, x, 2000, 0.95, scratch, &fixed);
	stat_estimate_quantile(0.95, x, 2000, 0.95, scratch, &any);
	assert_memory_equal(&fixed.value, &any.value, sizeof fixed.value);
	assert_memory_equal(&fixed.lo, &any.lo, sizeof fixed.lo);
	assert_memory_equal(&fixed.hi, &any.hi, sizeof fixed.hi);
	stat_estimate_quantile(0.75, x, 2000, 0.95, scratch, &any);
	assert_true(any.present && any.has_interval && any.lo < any.value && any.value < any.hi);
	assert_true(any.value > 0.7 * 16777216 && any.value < 0.8 * 16777216);
	stat_estimate_quantile(0.9999, x, 2000, 0.95, scratch, &any);
	assert_true(!any.present && any.n_needed > 2000);
}

int test_percentile(void);
int test_percentile(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names),
	    cmocka_unit_test(one_name_everywhere),
	    cmocka_unit_test(others),
	    cmocka_unit_test(estimated_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
