/* test_op_ranges.c - operators aligned from an engine's clock to ours, with exact numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "measure/op_ranges.h"

enum { MOST = 32, OWN = 7 };

typedef struct placed {
	op_range r[MOST];
	size_t n;
	uint64_t unsure_ns;
	dck_status status;
	dck_err err;
} placed;

static placed place(const dck_profile *p, const uint64_t *begin_ns, const uint64_t *end_ns,
		    size_t from)
{
	placed got = {.n = 0};
	const op_runs runs = {begin_ns, end_ns, from, p->nruns};

	assert_true(p->nevents <= MOST);
	got.status = op_ranges_align(p, &runs, OWN, got.r, &got.n, &got.unsure_ns, &got.err);
	return got;
}

/* "7:0 100-150 7:1 110-120": thread, level, begin and end of each. */
static const char *told(const placed *got)
{
	static char text[1000];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < got->n; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld:%u %llu-%llu",
				      i ? " " : "", (long long)got->r[i].thread, got->r[i].level,
				      (unsigned long long)got->r[i].begin_ns,
				      (unsigned long long)got->r[i].end_ns);
	return text;
}

/* run, begin, duration, depth */
#define EVENT(r, b, d, de)                                                                      \
	{                                                                                       \
		.name = "o", .type = "", .run = r, .begin_ns = b, .duration_ns = d, .depth = de \
	}

static dck_profile profile(const dck_op_event *e, size_t n, const uint64_t *run_begin_ns,
			   const uint64_t *run_ns, size_t nruns)
{
	return (dck_profile){.struct_size = sizeof(dck_profile),
			     .resolution_ns = 1,
			     .events = e,
			     .nevents = n,
			     .nruns = nruns,
			     .run_ns = run_ns,
			     .run_begin_ns = run_begin_ns};
}

static void runs_bound_the_clocks_difference(void **state)
{
	/* The first run bounds the offset to 9,000 to 9,100, the second to 8,980 to 9,040. */
	static const uint64_t run_begin[] = {1000, 3000}, run[] = {100, 200};
	static const uint64_t begin[] = {10000, 11980}, end[] = {10200, 12240};
	static const dck_op_event e[] = {EVENT(0, 1010, 50, 0), EVENT(1, 3010, 20, 0),
					 EVENT(1, 3040, 150, 0)};
	const dck_profile p = profile(e, 3, run_begin, run, 2);

	(void)state;
	placed got = place(&p, begin, end, 0);
	assert_int_equal(got.status, DCK_OK);
	assert_string_equal(told(&got), "7:0 10030-10080 7:0 12030-12050 7:0 12060-12210");
	assert_int_equal(got.unsure_ns, 20 + 1);
	/* All runs give bounds of the clock offset, also those left out of the result. */
	got = place(&p, begin, end, 1);
	assert_string_equal(told(&got), "7:0 12030-12050 7:0 12060-12210");
	assert_int_equal(got.unsure_ns, 20 + 1);
}

static void clocks_that_drift_are_followed(void **state)
{
	/* 0 to 10, then 100 to 120, then 90 to 105: no offset satisfies all runs. */
	static const uint64_t run_begin[] = {100, 200, 300}, run[] = {50, 50, 50};
	static const uint64_t begin[] = {100, 300, 390}, end[] = {160, 370, 455};
	static const dck_op_event e[] = {EVENT(0, 110, 10, 0), EVENT(1, 210, 10, 0),
					 EVENT(2, 310, 10, 0)};
	const dck_profile p = profile(e, 3, run_begin, run, 3);

	(void)state;
	placed got = place(&p, begin, end, 0);
	assert_string_equal(told(&got), "7:0 115-125 7:0 310-320 7:0 410-420");
	assert_int_equal(got.unsure_ns, 10 + 1);
}

static void nothing_leaves_its_run(void **state)
{
	/* An engine whose run is longer than the interval measured, and operators outside. */
	static const uint64_t run_begin[] = {1000}, run[] = {500}, begin[] = {100}, end[] = {200};
	static const dck_op_event e[] = {EVENT(0, 0, 20, 0), EVENT(0, 1010, 60, 0),
					 EVENT(0, 1070, 400, 0), EVENT(0, 1480, 10, 0)};
	const dck_profile p = profile(e, 4, run_begin, run, 1);

	(void)state;
	placed got = place(&p, begin, end, 0);
	assert_string_equal(told(&got), "7:0 100-100 7:0 110-170 7:0 170-200 7:0 200-200");
}

static void bodies_nest(void **state)
{
	/* Times are rounded down: an operator of the body seems to end after its loop, and another
	 * starts there. */
	static const uint64_t run_begin[] = {0}, run[] = {1000}, begin[] = {5000}, end[] = {6000};
	static const dck_op_event e[] = {
	    EVENT(0, 100, 300, 0), EVENT(0, 100, 100, 1), EVENT(0, 200, 150, 1),
	    EVENT(0, 250, 150, 2), EVENT(0, 401, 20, 1),  EVENT(0, 401, 100, 0),
	    EVENT(0, 450, 100, 0),
	};
	const dck_profile p = profile(e, 7, run_begin, run, 1);

	(void)state;
	placed got = place(&p, begin, end, 0);
	assert_string_equal(told(&got), "7:0 5100-5400 7:1 5100-5200 7:1 5200-5350 7:2 5250-5350 "
					"7:1 5400-5400 7:0 5401-5501 7:0 5501-5550");
}

static void each_thread_has_its_own(void **state)
{
	static const uint64_t run_begin[] = {0, 1000}, run[] = {500, 500};
	static const uint64_t begin[] = {0, 1000}, end[] = {500, 1500};
	static const dck_op_event e[] = {EVENT(0, 10, 50, 0), EVENT(0, 20, 50, 0),
					 EVENT(0, 30, 10, 0), EVENT(1, 1010, 50, 0),
					 EVENT(1, 1020, 50, 0)};
	static const int64_t threads[] = {3, OWN, 9, OWN, 3};
	dck_profile p = profile(e, 5, run_begin, run, 2);

	(void)state;
	p.threads = threads;
	placed got = place(&p, begin, end, 0);
	assert_string_equal(told(&got),
			    "7:0 20-70 7:0 1010-1060 3:0 10-60 3:0 1020-1070 9:0 30-40");
	assert_int_equal(got.r[0].event, 1);
}

static void deep_ones_are_put_beside(void **state)
{
	static const uint64_t run_begin[] = {0}, run[] = {1000}, begin[] = {0}, end[] = {1000};
	dck_op_event e[OP_LEVELS_MAX + 3];
	op_range r[OP_LEVELS_MAX + 3];
	uint64_t unsure_ns;
	size_t n;
	dck_err err;

	(void)state;
	for (uint32_t i = 0; i < OP_LEVELS_MAX + 3; i++)
		e[i] = (dck_op_event)EVENT(0, i, 500, i);
	const dck_profile p = profile(e, OP_LEVELS_MAX + 3, run_begin, run, 1);
	const op_runs runs = {begin, end, 0, 1};
	assert_int_equal(op_ranges_align(&p, &runs, OWN, r, &n, &unsure_ns, &err), DCK_OK);
	for (size_t i = 0; i < n; i++)
		assert_true(r[i].level < OP_LEVELS_MAX && r[i].begin_ns <= r[i].end_ns);
}

static void times_that_cannot_be_are_refused(void **state)
{
	static const uint64_t begin[] = {0}, end[] = {10}, small[] = {1}, huge[] = {UINT64_MAX};
	static const dck_op_event ok[] = {EVENT(0, 1, 1, 0)}, bad[] = {EVENT(0, 1, INT64_MAX, 0)};
	const dck_profile wrong[] = {profile(ok, 1, huge, small, 1), profile(ok, 1, small, huge, 1),
				     profile(bad, 1, small, small, 1)};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		placed got = place(&wrong[i], begin, end, 0);
		assert_int_equal(got.status, DCK_E_ENGINE);
	}
}

int test_op_ranges(void);
int test_op_ranges(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_bound_the_clocks_difference),
	    cmocka_unit_test(clocks_that_drift_are_followed),
	    cmocka_unit_test(nothing_leaves_its_run),
	    cmocka_unit_test(bodies_nest),
	    cmocka_unit_test(each_thread_has_its_own),
	    cmocka_unit_test(deep_ones_are_put_beside),
	    cmocka_unit_test(times_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
