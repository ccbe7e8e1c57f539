/* test_rank_usage.c - what a rank used, and whether that explains a straggler.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_usage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

int test_rank_usage(void);

static rank_usage usage_of(int64_t queue_ns, int64_t throttled_ns)
{
	rank_usage u = {.n = {[RANK_LIFETIME] = 1000000000}, .known = 1 << RANK_LIFETIME};

	u.n[RANK_RUN_QUEUE] = queue_ns;
	u.n[RANK_THROTTLED] = throttled_ns;
	u.known |= 1u << RANK_RUN_QUEUE;
	if (throttled_ns >= 0)
		u.known |= 1u << RANK_THROTTLED;
	return u;
}

static void the_cause_of_a_straggler(void **state)
{
	/* Rank 1 of 3 costs a fifth of a step; all wait 5 % for a CPU on a busy machine. */
	static const struct {
		int64_t queue_ns, throttled_ns;
		rank_resource cause;
	} cases[] = {
	    {250000000, 0, RANK_RUN_QUEUE},	    {50000000, 150000000, RANK_THROTTLED},
	    {250000000, 300000000, RANK_THROTTLED}, {140000000, 99000000, RANK_RESOURCES},
	    {250000000, -1, RANK_RUN_QUEUE},
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		const rank_usage all[] = {usage_of(50000000, 0),
					  usage_of(cases[k].queue_ns, cases[k].throttled_ns),
					  usage_of(50000000, 0)};
		const rank_usage *const usage[] = {&all[0], &all[1], &all[2]};
		double own = 0, others = 0;

		assert_int_equal(rank_cause_find(usage, 3, 1, 0.2, &own, &others), cases[k].cause);
		if (cases[k].cause == RANK_RUN_QUEUE) {
			assert_true(fabs(own - 0.25) < 1e-12);
			assert_true(fabs(others - 0.05) < 1e-12);
		}
	}
}

/* In the run queue as a whole all ranks are equally long, since they yield their CPU in
 * collectives; outside of these rank 1 is, for a quarter of half its lifetime. */
static void outside_of_collectives(void **state)
{
	rank_usage all[] = {usage_of(500000000, 0), usage_of(500000000, 0), usage_of(500000000, 0)};
	const rank_usage *const usage[] = {&all[0], &all[1], &all[2]};
	double own = 0, others = 0;

	(void)state;
	assert_int_equal(rank_cause_find(usage, 3, 1, 0.2, &own, &others), RANK_RESOURCES);
	for (size_t k = 0; k < 3; k++) {
		rank_usage_put(&all[k], RANK_WORK_QUEUE, k == 1 ? 125000000 : 25000000);
		rank_usage_put(&all[k], RANK_WORK_TIME, 500000000);
	}
	assert_int_equal(rank_cause_find(usage, 3, 1, 0.2, &own, &others), RANK_RUN_QUEUE);
	assert_true(fabs(own - 0.25) < 1e-12);
	assert_true(fabs(others - 0.05) < 1e-12);
	assert_int_equal(rank_cause_find(usage, 3, 0, 0.2, &own, &others), RANK_RESOURCES);
}

/* What is unknown explains nothing. */
static void an_unknown_usage(void **state)
{
	const rank_usage none = {0}, one = usage_of(900000000, 0);
	const rank_usage *const usage[] = {&none, &one};
	double own, others;

	(void)state;
	assert_int_equal(rank_cause_find(usage, 2, 1, 0.2, &own, &others), RANK_RESOURCES);
	assert_int_equal(rank_cause_find(usage, 2, 0, 0.2, &own, &others), RANK_RESOURCES);
	assert_true(isnan(rank_usage_share(&none, RANK_RUN_QUEUE)));
}

static void a_child_is_counted(void **state)
{
	rank_usage_start start;
	rank_usage u;
	pid_t pid;

	(void)state;
	rank_usage_begin(&start, false);
	pid = fork();
	if (pid == 0) {
		for (volatile uint64_t i = 0; i < 20000000; i++)
			;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	rank_usage_end(&start, NULL, &u);
	assert_true(u.known >> RANK_CPU & 1 && u.known >> RANK_MEMORY & 1);
	assert_true(u.n[RANK_CPU] > 0 && u.n[RANK_MEMORY] > 0);
	assert_true(u.n[RANK_LIFETIME] > 0);
	assert_false(u.known >> RANK_RUN_QUEUE & 1);
}

int test_rank_usage(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_cause_of_a_straggler),
	    cmocka_unit_test(outside_of_collectives),
	    cmocka_unit_test(an_unknown_usage),
	    cmocka_unit_test(a_child_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
