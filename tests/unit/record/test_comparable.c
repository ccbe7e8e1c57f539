/* test_comparable.c - the effect of a difference between two records on comparisons and trends.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/build.h"
#include "record/comparable.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static dck_record *record_of(const char *section, const char *key, const char *value)
{
	record_builder *b = record_new();
	dck_record *r = NULL;
	char *end;
	const int64_t number = strtoll(value, &end, 10);

	record_fact_text(b, "engine", "name", "ort");
	if (*end)
		record_fact_text(b, section, key, value);
	else
		record_fact_int(b, section, key, DCK_UNIT_ONE, number);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static bool apart(const dck_record *a, const dck_record *b, comparable_trend part)
{
	return comparable_key(a, part, 0) != comparable_key(b, part, 0);
}

/* Two values of a fact: the group of differences that a comparison uses (NONE: no group), and the
 * effect on a trend. */
static void differences(void **state)
{
	static const struct {
		const char *section, *key, *a, *b;
		comparable_group group;
		comparable_trend trend;
	} all[] = {{"host", "cpu", "X", "Y", COMPARABLE_MACHINE, TREND_MACHINE},
		   {"host", "kernel", "Linux 6.1 x86_64", "Linux 6.1 aarch64", COMPARABLE_MACHINE,
		    TREND_MACHINE},
		   {"host", "kernel", "Linux 6.1 x86_64", "Linux 6.2 x86_64", COMPARABLE_STATE,
		    TREND_TOGETHER},
		   {"host", "memory", "1000", "1001", COMPARABLE_NONE, TREND_TOGETHER},
		   {"host", "memory", "1000", "2000", COMPARABLE_STATE, TREND_TOGETHER},
		   {"host", "somewhat", "X", "Y", COMPARABLE_NONE, TREND_TOGETHER},
		   {"device", "name", "X", "Y", COMPARABLE_NONE, TREND_MACHINE},
		   {"method", "clock", "TSC", "wall", COMPARABLE_METHOD, TREND_METHOD},
		   {"method", "group", "1", "8", COMPARABLE_METHOD, TREND_METHOD},
		   {"method", "group", "8", "16", COMPARABLE_NONE, TREND_TOGETHER},
		   {"method", "processes", "1", "5", COMPARABLE_STATE, TREND_METHOD},
		   {"method", "trial", "in this process", "a fresh process", COMPARABLE_STATE,
		    TREND_METHOD},
		   {"load", "scenario", "server", "offline", COMPARABLE_METHOD, TREND_METHOD},
		   {"plan", "seed", "1", "2", COMPARABLE_STATE, TREND_TOGETHER},
		   {"subject", "input/x", "1x3 float32, normal(0,1), seed 1",
		    "1x3 float32, normal(0,1), seed 22", COMPARABLE_NONE, TREND_TOGETHER},
		   {"subject", "input/x", "1x3 float32, normal(0,1), seed 1",
		    "1x4 float32, normal(0,1), seed 1", COMPARABLE_SUBJECT, TREND_METHOD},
		   {"subject", "input/x", "seed 1", "seed 2", COMPARABLE_SUBJECT, TREND_METHOD},
		   {"subject", "nodes", "3", "4", COMPARABLE_SUBJECT, TREND_TOGETHER},
		   {"engine", "threads", "1", "2", COMPARABLE_SETTING, TREND_METHOD},
		   {"engine", "version", "1.1", "1.2", COMPARABLE_SETTING, TREND_TOGETHER},
		   {"engine", "build", "one", "another", COMPARABLE_NONE, TREND_TOGETHER},
		   {"engine", "novel", "X", "Y", COMPARABLE_NONE, TREND_METHOD},
		   {"plan", "batch", "1", "2", COMPARABLE_SETTING, TREND_METHOD},
		   {"plan", "runs", "20", "30", COMPARABLE_NONE, TREND_TOGETHER},
		   {"plan", "requests", "20", "30", COMPARABLE_NONE, TREND_TOGETHER},
		   {"compare", "subject/b", "b.onnx", "c.onnx", COMPARABLE_NONE, TREND_METHOD},
		   {"plan", "novel", "X", "Y", COMPARABLE_NONE, TREND_METHOD},
		   {"cost", "convention", "ours", "theirs", COMPARABLE_SETTING, TREND_METHOD},
		   {"accuracy", "items", "10", "20", COMPARABLE_SUBJECT, TREND_METHOD}};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		dck_record *a = record_of(all[i].section, all[i].key, all[i].a),
			   *b = record_of(all[i].section, all[i].key, all[i].b);
		comparable_differences found;

		comparable_differ(a, b, "latency/median", &found);
		for (int g = 0; g < COMPARABLE_GROUPS; g++)
			/* A different kernel also counts as a different version. */
			if ((g != COMPARABLE_STATE || all[i].group >= COMPARABLE_STATE) &&
			    found.count[g] != (g == (int)all[i].group && g != COMPARABLE_NONE))
				fail_msg("%s %s '%s' and '%s': %zu in group %d", all[i].section,
					 all[i].key, all[i].a, all[i].b, found.count[g], g);
		for (int t = TREND_MACHINE; t <= TREND_METHOD; t++)
			if (apart(a, b, (comparable_trend)t) != (t == (int)all[i].trend))
				fail_msg("%s %s '%s' and '%s': trend %d", all[i].section,
					 all[i].key, all[i].a, all[i].b, t);
		/* What prevents a comparison also separates trends. */
		if (found.count[COMPARABLE_MACHINE] + found.count[COMPARABLE_METHOD] > 0)
			assert_int_not_equal(all[i].trend, TREND_TOGETHER);
		dck_record_free(a);
		dck_record_free(b);
	}
}

/* The order of facts has no effect; the prefix of the key has. */
static void keys(void **state)
{
	record_builder *b[2] = {record_new(), record_new()};
	dck_record *r[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		record_fact_text(b[i], "engine", i ? "opt" : "name", i ? "all" : "ort");
		record_fact_absent(b[i], "plan", "batch", i ? "not given" : "worded otherwise");
		record_fact_text(b[i], "engine", i ? "name" : "opt", i ? "ort" : "all");
		record_fact_bool(b[i], "host", "smt", true);
		assert_int_equal(record_finish(b[i], &r[i], NULL), DCK_OK);
	}
	assert_false(apart(r[0], r[1], TREND_METHOD));
	assert_false(apart(r[0], r[1], TREND_MACHINE));
	assert_true(comparable_key(r[0], TREND_METHOD, 0) != comparable_key(r[0], TREND_METHOD, 1));
	assert_true(comparable_key(r[0], TREND_METHOD, 0) !=
		    comparable_key(r[0], TREND_MACHINE, 0));
	dck_record_free(r[0]);
	dck_record_free(r[1]);
}

/* "gpu" was requested of one, and both ran on the same provider. */
static void requested_devices(void **state)
{
	record_builder *b[2] = {record_new(), record_new()};
	comparable_differences found;
	dck_record *r[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		record_fact_text(b[i], "engine", "provider", "webgpu");
		record_fact_text(b[i], "plan", "device", i ? "gpu" : "webgpu");
		assert_int_equal(record_finish(b[i], &r[i], NULL), DCK_OK);
	}
	comparable_differ(r[0], r[1], "latency/median", &found);
	assert_int_equal(found.count[COMPARABLE_SETTING], 0);
	dck_record_free(r[0]);
	dck_record_free(r[1]);
}

int test_comparable(void);
int test_comparable(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(differences), cmocka_unit_test(keys),
					   cmocka_unit_test(requested_devices)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
