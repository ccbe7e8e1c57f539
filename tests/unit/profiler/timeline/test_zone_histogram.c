/* Percentiles of call durations, compared with those of the sorted times, in bounded memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "scratch.h"
#include "stat/stat.h"
#include "profiler/timeline/zone_histogram.h"
#include "profiler/timeline/zone_percentiles.h"
#include "profiler/timeline/zone_table.h"
#include "profiler/timeline/zone_aggregate.h"

static uint64_t room;

static zone_histogram empty(void)
{
	room = 1 << 20;
	return (zone_histogram){.cap = &room};
}

static void classes_follow_each_other(void **state)
{
	uint32_t last = 0;

	(void)state;
	assert_int_equal(zone_histogram_class(0), 0);
	assert_int_equal(zone_histogram_class(255), 255);
	for (uint64_t ns = 1; ns < UINT64_C(1) << 62; ns += 1 + ns / 1000) {
		const uint32_t class = zone_histogram_class(ns);

		assert_in_range(class, last, last + 1);
		last = class;
	}
	assert_int_equal(zone_histogram_class(UINT64_MAX), 256 + 56 * 128 - 1);
}

/* Typical distributions of times: uniform, long-tailed, bimodal, constant. */
static double drawn(uint64_t *r, int kind)
{
	const double u = (double)(rng_next(r) >> 11) * 0x1p-53;

	switch (kind) {
	case 0:
		return floor(1000 * u);
	case 1:
		return floor(exp(4 + 12 * u));
	case 2:
		return floor(u < 0.7 ? 5000 + 100 * u : 9e6 * (1 + u));
	case 3:
		return floor(1e4 / pow(1.0001 - u, 1.5));
	default:
		return 123456789;
	}
}

static void quantiles_are_as_near_as_they_say(void **state)
{
	enum { N = 20000, KINDS = 5 };
	static const double ps[] = {0, 0.5, 0.9, 0.99, 0.999, 1};
	static double x[N];
	uint64_t r = 7;

	(void)state;
	for (int kind = 0; kind < KINDS; kind++) {
		zone_histogram h = empty();

		for (int i = 0; i < N; i++) {
			x[i] = drawn(&r, kind);
			zone_histogram_add(&h, (uint64_t)x[i]);
		}
		stat_sort(x, N);
		for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++) {
			const double want = stat_quantile_sorted(x, N, ps[i]);
			double got = NAN;

			assert_true(zone_histogram_quantile(&h, ps[i], &got));
			if (fabs(got - want) > 0.004 * want)
				fail_msg("kind %d, p %g: %.17g, not %.17g", kind, ps[i], got, want);
		}
		zone_histogram_done(&h);
		assert_int_equal(room, 1 << 20);
	}
}

static void small_times_are_exact(void **state)
{
	zone_histogram h = empty();
	double got;

	(void)state;
	assert_false(zone_histogram_quantile(&h, 0.5, &got));
	zone_histogram_add(&h, 40);
	zone_histogram_add(&h, 10);
	zone_histogram_add(&h, 30);
	assert_true(zone_histogram_quantile(&h, 0.5, &got) && got == 30);
	assert_true(zone_histogram_quantile(&h, 0.75, &got) && got == 35);
	zone_histogram_done(&h);
}

static void memory_has_a_bound(void **state)
{
	zone_histogram h = empty(), other = empty();
	double got;

	(void)state;
	/* Values over the whole range, in both directions. */
	for (int i = 63; i >= 0; i -= 2)
		zone_histogram_add(&h, UINT64_C(1) << i);
	for (int i = 0; i < 63; i += 2)
		zone_histogram_add(&h, UINT64_C(1) << i);
	assert_true(zone_histogram_quantile(&h, 0, &got) && got == 1);
	assert_true(h.n <= 256 + 56 * 128);
	/* The memory budget is too small for another histogram with these values. */
	room = 256;
	zone_histogram_add(&other, 1000);
	assert_true(zone_histogram_quantile(&other, 0.5, &got));
	zone_histogram_add(&other, 1000000);
	zone_histogram_add(&other, 1000);
	assert_false(zone_histogram_quantile(&other, 0.5, &got));
	assert_int_equal(room, 0);
	zone_histogram_done(&other);
	zone_histogram_done(&h);
}

static void percentiles_are_read(void **state)
{
	zone_percentiles p = {.n = 7};
	char name[16];
	dck_err err;

	(void)state;
	assert_int_equal(zone_percentiles_read("p50,p99.9,median,p999,p90", &p, &err), DCK_OK);
	assert_int_equal(p.n, 3);
	assert_string_equal(zone_percentile_name(p.p[0], name), "p50");
	assert_string_equal(zone_percentile_name(p.p[1], name), "p99.9");
	assert_string_equal(zone_percentile_name(p.p[2], name), "p90");
	assert_true(zone_percentile_calls(0.5) == 1 && zone_percentile_calls(0.9) == 36);
	assert_int_equal(zone_percentiles_read(NULL, &p, &err), DCK_OK);
	assert_int_equal(p.n, 0);
	static const char *const wrong[] = {"p20",
					    "90",
					    "p",
					    "p50,,p90",
					    "p50 p90",
					    "p100",
					    "p99999999999999999999",
					    ",",
					    "p51,p52,p53,p54,p55,p56,p57,p58,p59"};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(zone_percentiles_read(wrong[i], &p, &err), DCK_E_ARG);
}

/* --- values of a recording, and its file */

static const dck_cell *cell(const dck_record *r, const char *name, const char *key)
{
	const dck_table *t = &r->tables[0];

	for (size_t i = 0; i < t->nrows; i++)
		for (size_t k = 0; k < t->ncolumns; k++)
			if (!strcmp(t->cells[i * t->ncolumns].value.as.text, name) &&
			    !strcmp(t->columns[k].key, key))
				return &t->cells[i * t->ncolumns + k];
	fail_msg("no %s of %s", key, name);
	return NULL;
}

static void a_file_says_what_the_recording_said(void **state)
{
	const dck_trace_config config = {.path = "out.pftrace", .percentiles = "p50,p99"};
	dck_trace_reading how = {.percentiles = "p50,p99"};
	dck_record *r, *read;
	dck_err err;

	(void)state;
	assert_int_equal(dck_trace_start(&config, &err), DCK_OK);
	for (int i = 0; i < 400; i++) {
		DCK_PUSH("often");
		DCK_POP();
		if (i < 3) {
			DCK_PUSH("seldom");
			DCK_POP();
		}
	}
	assert_int_equal(dck_trace_stop(&r, &err), DCK_OK);
	assert_int_equal(dck_trace_read_with("out.pftrace", &how, &read, &err), DCK_OK);
	for (int i = 0; i < 2; i++) {
		const dck_cell *p50 = cell(i ? read : r, "often", "p50"),
			       *p99 = cell(i ? read : r, "often", "p99"),
			       *none = cell(i ? read : r, "seldom", "p99");

		assert_int_equal(p50->value.kind, DCK_VALUE_REAL);
		assert_true(p50->value.as.r <= p99->value.as.r);
		assert_true(p50->value.as.r == cell(r, "often", "p50")->value.as.r);
		assert_true(p99->value.as.r == cell(r, "often", "p99")->value.as.r);
		assert_int_equal(cell(i ? read : r, "seldom", "p50")->value.kind, DCK_VALUE_REAL);
		assert_int_equal(none->value.kind, DCK_VALUE_ABSENT);
		assert_string_equal(none->value.as.text, "it needs 368 calls, and 3 ended");
	}
	dck_record_free(r);
	dck_record_free(read);
	how.percentiles = "p1";
	assert_int_equal(dck_trace_read_with("out.pftrace", &how, &read, &err), DCK_E_ARG);
}

int test_zone_histogram(void);
int test_zone_histogram(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(classes_follow_each_other),
	    cmocka_unit_test(quantiles_are_as_near_as_they_say),
	    cmocka_unit_test(small_times_are_exact),
	    cmocka_unit_test(memory_has_a_bound),
	    cmocka_unit_test(percentiles_are_read),
	    SCRATCH_TEST(a_file_says_what_the_recording_said),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
