/* test_perf_roots.c - of a thread that is sampled twice, once counts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/perf_roots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static bool takes(perf_roots *r, uint64_t at_ns, int tid, int root)
{
	const sample_event e = {.kind = SAMPLE_TAKEN, .at_ns = at_ns, .pid = 1, .tid = tid};

	return perf_roots_counts(r, &e, root);
}

static bool forks(perf_roots *r, uint64_t at_ns, int by, int tid, int root)
{
	const sample_event e = {.kind = SAMPLE_FORK,
				.at_ns = at_ns,
				.pid = 1,
				.tid = tid,
				.as.fork = {.parent_pid = 1, .parent_tid = by}};

	return perf_roots_counts(r, &e, root);
}

/* Each event of a program that deepclock started counts. */
static void without_attaching_all_count(void **state)
{
	perf_roots r = {0};

	(void)state;
	assert_true(takes(&r, 1, 10, 0));
	assert_true(forks(&r, 2, 10, 11, 0));
	assert_true(takes(&r, 3, 11, 0));
	perf_roots_done(&r);
}

/* Thread 10 made thread 11 while it was followed; 11 then was followed too. */
static void a_followed_thread_counts_by_its_own_events(void **state)
{
	perf_roots r = {0};

	(void)state;
	perf_roots_follow(&r, 10, 40);
	perf_roots_follow(&r, 11, 90);
	perf_roots_settle(&r, 100);
	assert_true(forks(&r, 50, 10, 11, 10));
	assert_true(takes(&r, 60, 11, 10));
	assert_false(takes(&r, 101, 11, 10));
	assert_true(takes(&r, 101, 11, 11));
	assert_true(takes(&r, 102, 10, 10));
	/* What thread 11 makes has the events of both. */
	assert_false(forks(&r, 110, 11, 12, 10));
	assert_true(forks(&r, 110, 11, 12, 11));
	assert_false(takes(&r, 120, 12, 10));
	assert_true(takes(&r, 120, 12, 11));
	perf_roots_done(&r);
}

/* Its number is that of a thread that was followed. */
static void a_new_thread_counts_by_its_makers_events(void **state)
{
	perf_roots r = {0};

	(void)state;
	perf_roots_follow(&r, 10, 40);
	perf_roots_follow(&r, 11, 90);
	perf_roots_settle(&r, 100);
	assert_true(forks(&r, 200, 10, 11, 10));
	assert_true(takes(&r, 201, 11, 10));
	assert_false(takes(&r, 201, 11, 11));
	/* One whose beginning was lost counts by the first event. */
	assert_true(takes(&r, 202, 13, 11));
	assert_false(takes(&r, 202, 13, 10));
	/* An event that is not known, and lost records, of no thread, count. */
	assert_true(takes(&r, 203, 11, 0));
	assert_true(perf_roots_counts(&r, &(sample_event){.kind = SAMPLE_LOST}, 11));
	perf_roots_done(&r);
}

int test_perf_roots(void);
int test_perf_roots(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_attaching_all_count),
	    cmocka_unit_test(a_followed_thread_counts_by_its_own_events),
	    cmocka_unit_test(a_new_thread_counts_by_its_makers_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
