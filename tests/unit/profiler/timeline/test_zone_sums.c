/* Open ranges, and the sums of ended ranges by name and by call path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "profiler/timeline/zone_aggregate.h"

enum { A = 1, B, C, NAMES = 3000 };

static zone_aggregate sums, device;
static zone_stack thread, queue;

static int begin_test(void **state)
{
	(void)state;
	zone_aggregate_done(&sums);
	zone_aggregate_done(&device);
	zone_stack_done(&thread);
	zone_stack_done(&queue);
	device.enqueuers = &sums;
	queue.stream = true;
	return 0;
}

static void begin(uint64_t ns, uint32_t name)
{
	assert_true(zone_aggregate_begin(&sums, &thread, ns, name));
}

static void end(uint64_t ns)
{
	assert_int_equal(zone_aggregate_end(&sums, &thread, ns, true), ZONE_ENDED);
}

static void assert_zone(uint32_t name, uint64_t calls, uint64_t total, uint64_t self)
{
	const zone_stats *z = zone_aggregate_of(&sums, name);

	assert_non_null(z);
	assert_int_equal(z->calls, calls);
	assert_int_equal(z->total_ns, total);
	assert_int_equal(z->self_ns, self);
}

static void a_range_inside_its_own_name_counts_once_in_total(void **state)
{
	(void)state;
	begin(0, A);
	begin(10, B);
	begin(20, A);
	end(50);
	end(60);
	end(100);
	assert_zone(A, 2, 100, 50 + 30);
	assert_zone(B, 1, 50, 20);
	assert_int_equal(sums.paths.n, 1 + 3);
	assert_int_equal(zone_aggregate_end(&sums, &thread, 100, true), ZONE_UNMATCHED);
}

/* Ranges of several threads may sum to more than a time can be. */
static void sums_end_at_292_years(void **state)
{
	zone_stats z = {0};

	(void)state;
	for (int i = 0; i < 5; i++)
		zone_stats_add(&z, ZONE_SUM_MAX - 7, ZONE_SUM_MAX - 7, true);
	assert_int_equal(z.calls, 5);
	assert_true(z.total_ns == ZONE_SUM_MAX);
	assert_true(z.self_ns == ZONE_SUM_MAX);
	assert_true(z.sum_ns == ZONE_SUM_MAX);
	assert_true(z.max_ns == ZONE_SUM_MAX - 7);
	zone_stats_done(&z);
}

static void a_leaf_is_a_begin_and_an_end(void **state)
{
	(void)state;
	assert_true(zone_aggregate_leaf(&sums, &thread, 0, 5, A));
	begin(10, A);
	assert_true(zone_aggregate_leaf(&sums, &thread, 20, 50, A));
	assert_true(zone_aggregate_leaf(&sums, &thread, 50, 51, B));
	end(100);
	assert_zone(A, 3, 95, 5 + 30 + 59);
	assert_zone(B, 1, 1, 1);
	assert_int_equal(sums.paths.n, 1 + 3);
}

/* In any order of the children each has one path, also where the prediction fails. */
static void children_in_any_order_have_one_path_each(void **state)
{
	uint64_t calls[NAMES] = {0}, seed = 1;

	(void)state;
	begin(0, A);
	for (uint64_t k = 0; k < 20000; k++) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		const uint32_t name = k < 5000 ? (uint32_t)(k % 7) : (uint32_t)(seed >> 33) % 50;
		assert_true(zone_aggregate_leaf(&sums, &thread, k, k + 1, name));
		calls[name]++;
	}
	end(20000);
	assert_int_equal(sums.paths.n, 1 + 1 + 50);
	for (uint32_t i = 2; i < sums.paths.n; i++) {
		assert_int_equal(sums.paths.rows[i].parent, 1);
		assert_int_equal(sums.paths.rows[i].calls, calls[sums.paths.rows[i].name]);
	}
	assert_int_equal(sums.paths.rows[1].total_ns, 20000);
}

/* Deeper than the path limit: the table stays exact. */
static void ranges_on_no_path_are_in_the_table(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NAMES; i++)
		begin(i, 10 + i);
	begin(NAMES, 10);	     /* the outermost range has this name too */
	begin(NAMES + 1, 9 + NAMES); /* so has the innermost range without a path */
	begin(NAMES + 2, 9);
	for (uint64_t i = 0; i < NAMES + 3; i++)
		end(NAMES + 3 + i);
	assert_true(sums.paths.n <= 1 + PATH_TRIE_DEPTH_MAX);
	assert_int_equal(sums.paths.lost, NAMES + 3 - PATH_TRIE_DEPTH_MAX);
	assert_zone(9, 1, 1, 1);
	assert_zone(10, 2, 2 * NAMES + 5, 2 + 2);
	assert_zone(9 + NAMES, 2, 7, 2 + 2);
	assert_int_equal(thread.pathless, 0);
	assert_int_equal(thread.hidden.n, 0);
	/* The time of ranges without a path belongs to the last range with one. */
	assert_int_equal(sums.paths.rows[1].total_ns, 2 * NAMES + 5);
}

/* The time inside a range whose start was lost is not self time of the enclosing range. */
static void a_lost_range_hides_nothing(void **state)
{
	(void)state;
	assert_true(zone_aggregate_begin(&sums, &thread, 0, ZONE_LOST));
	begin(0, A);
	assert_true(zone_aggregate_begin(&sums, &thread, 10, ZONE_LOST));
	begin(20, B);
	end(50);
	assert_int_equal(zone_aggregate_end(&sums, &thread, 60, true), ZONE_ENDED_LOST);
	end(100);
	assert_int_equal(zone_aggregate_end(&sums, &thread, 100, true), ZONE_ENDED_LOST);
	assert_zone(A, 1, 100, 70);
	assert_zone(B, 1, 30, 30);
	assert_int_equal(sums.paths.n, 1 + 2);
}

/* They are concurrent with the threads' ranges: in the tree their time would count twice. */
static void ranges_of_no_thread_are_in_the_table_only(void **state)
{
	uint64_t unmatched;

	(void)state;
	begin(0, A);
	assert_true(zone_aggregate_range(&sums, 0, 7, false, B, 10));
	assert_true(zone_aggregate_range(&sums, 0, 8, false, C, 10));
	assert_true(zone_aggregate_range(&sums, 0, 7, true, 0, 30));
	assert_true(zone_aggregate_range(&sums, 0, 9, true, 0, 40));
	assert_true(zone_aggregate_range(&sums, 0, 6, false, 0, 10)); /* without a name */
	assert_true(zone_aggregate_range(&sums, 0, 6, true, 0, 15));
	end(50);
	assert_int_equal(zone_aggregate_close_ranges(&sums, 60, NULL, &unmatched), 1);
	assert_int_equal(unmatched, 1);
	assert_zone(A, 1, 50, 50);
	assert_int_equal(zone_aggregate_of(&sums, 0)->total_ns, 5);
	assert_int_equal(zone_aggregate_of(&sums, B)->total_ns, 20);
	assert_true(zone_aggregate_of(&sums, B)->self_unknown);
	assert_int_equal(zone_aggregate_of(&sums, C)->unfinished, 1);
	assert_int_equal(sums.paths.n, 1 + 1);
	assert_int_equal(sums.paths.rows[1].total_ns, 50);
	assert_int_equal(sums.paths.lost, 0);
}

static uint64_t closed_ns[1000];
static size_t nclosed;

static void closed_keep(void *self, const zone_closed *r)
{
	(void)self;
	closed_ns[nclosed++] = r->begin_ns;
}

/* What is left open ends in the order of time, wherever the table has it. */
static void ranges_without_an_end_are_in_order(void **state)
{
	uint64_t unmatched, id = 1;

	(void)state;
	nclosed = 0;
	sums.ended = closed_keep;
	for (uint64_t i = 0; i < 1000; i++, id = id * 5 % 4099)
		assert_true(zone_aggregate_range(&sums, 0, id, i % 3 == 0, B, id % 100));
	assert_int_equal(zone_aggregate_close_ranges(&sums, 100, NULL, &unmatched), 666);
	assert_int_equal(unmatched, 334);
	assert_int_equal(nclosed, 666);
	for (size_t i = 1; i < nclosed; i++)
		assert_true(closed_ns[i - 1] <= closed_ns[i]);
}

static void ranges_of_no_thread_are_below_their_root(void **state)
{
	(void)state;
	sums.async_root = path_trie_child(&sums.paths, 0, A);
	assert_true(zone_aggregate_range(&sums, 0, 7, false, B, 10));
	assert_true(zone_aggregate_range(&sums, 0, 7, true, 0, 30));
	assert_int_equal(sums.paths.n, 1 + 2);
	assert_int_equal(sums.paths.rows[2].parent, 1);
	assert_int_equal(sums.paths.rows[2].total_ns, 20);
}

/* --- time of devices */

static void enqueue(uint64_t flow)
{
	zone_aggregate_enqueued(&sums, &thread, flow);
}

static void device_begin(uint64_t ns, uint32_t name, uint64_t flow)
{
	assert_true(zone_aggregate_begin(&device, &queue, ns, name));
	if (flow)
		zone_stack_top(&queue)->flow = flow;
}

static void device_end(uint64_t ns)
{
	assert_int_equal(zone_aggregate_end(&device, &queue, ns, true), ZONE_ENDED);
}

static uint64_t device_ns(uint32_t name)
{
	const zone_stats *z = zone_aggregate_of(&sums, name);

	return z ? z->device_ns : UINT64_MAX;
}

static void time_on_a_device_counts_in_the_zones_that_enqueued_it(void **state)
{
	(void)state;
	begin(0, A);
	begin(10, B);
	begin(20, A); /* inside its own name: once */
	enqueue(7);
	end(30);
	end(40);
	enqueue(8);
	end(50);
	enqueue(9); /* in no zone */
	device_begin(100, C, 7);
	device_end(400);
	device_begin(400, C, 7); /* a second end of the arrow, as of a graph */
	device_end(500);
	device_begin(500, C, 8);
	device_end(520);
	device_begin(600, C, 9);
	device_end(700);
	device_begin(700, C, 1234); /* of no known call */
	device_end(800);
	assert_int_equal(device_ns(A), 300 + 100 + 20);
	assert_int_equal(device_ns(B), 300 + 100);
	assert_zone(A, 2, 50, 20 + 10);
	assert_int_equal(zone_aggregate_of(&device, C)->calls, 5);
}

static void nested_ranges_of_a_device_count_once(void **state)
{
	(void)state;
	begin(0, A);
	enqueue(1);
	begin(10, B);
	enqueue(2);
	end(20);
	end(30);
	device_begin(100, A, 1);
	device_begin(110, B, 2);
	device_begin(120, C, 0); /* without an arrow: that of the range around it */
	device_end(150);
	device_end(160);
	device_end(200);
	assert_int_equal(device_ns(A), 100);
	assert_int_equal(device_ns(B), 50);
}

static void a_zone_around_kernels_does_not_count_them_twice(void **state)
{
	zone_stack zones = {0};

	(void)state;
	begin(0, A);
	enqueue(1);
	begin(10, B);
	enqueue(2);
	end(20);
	end(30);
	assert_true(zone_aggregate_begin(&device, &zones, 100, A));
	zone_stack_top(&zones)->flow = 1;
	assert_int_equal(zone_aggregate_end(&device, &zones, 200, true), ZONE_ENDED);
	assert_int_equal(zone_stats_device_ns(zone_aggregate_of(&sums, A)), 100);
	device_begin(110, C, 2);
	device_end(150);
	assert_int_equal(zone_stats_device_ns(zone_aggregate_of(&sums, A)), 40);
	assert_int_equal(zone_stats_device_ns(zone_aggregate_of(&sums, B)), 40);
	zone_stack_done(&zones);
}

static void the_newest_arrows_are_known(void **state)
{
	(void)state;
	begin(0, A);
	for (uint64_t i = 1; i <= 2 * ZONE_FLOWS_MAX + 1; i++)
		enqueue(i);
	end(10);
	device_begin(100, C, 2 * ZONE_FLOWS_MAX + 1);
	device_end(101);
	device_begin(110, C, ZONE_FLOWS_MAX + 1);
	device_end(120);
	assert_int_equal(device_ns(A), 11);
	device_begin(200, C, ZONE_FLOWS_MAX); /* too many followed */
	device_end(300);
	assert_int_equal(device_ns(A), 11);
	assert_false(sums.failed);
}

int test_zone_sums(void);
int test_zone_sums(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_range_inside_its_own_name_counts_once_in_total, begin_test),
	    cmocka_unit_test(sums_end_at_292_years),
	    cmocka_unit_test_setup(a_leaf_is_a_begin_and_an_end, begin_test),
	    cmocka_unit_test_setup(children_in_any_order_have_one_path_each, begin_test),
	    cmocka_unit_test_setup(ranges_on_no_path_are_in_the_table, begin_test),
	    cmocka_unit_test_setup(a_lost_range_hides_nothing, begin_test),
	    cmocka_unit_test_setup(ranges_of_no_thread_are_in_the_table_only, begin_test),
	    cmocka_unit_test_setup(ranges_without_an_end_are_in_order, begin_test),
	    cmocka_unit_test_setup(ranges_of_no_thread_are_below_their_root, begin_test),
	    cmocka_unit_test_setup(time_on_a_device_counts_in_the_zones_that_enqueued_it,
				   begin_test),
	    cmocka_unit_test_setup(nested_ranges_of_a_device_count_once, begin_test),
	    cmocka_unit_test_setup(a_zone_around_kernels_does_not_count_them_twice, begin_test),
	    cmocka_unit_test_setup(the_newest_arrows_are_known, begin_test),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	begin_test(NULL);
	return failed;
}
