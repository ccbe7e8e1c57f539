/* For how long a run had no processor, from known counters: waits in the run queue, and time that a
 * hypervisor took.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/loop.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* What each run adds to the counters. */
typedef struct run_adds {
	uint64_t wall_ns, cpu_ns, delay_ns, timeslices, other_ns;
} run_adds;

typedef struct counters {
	const run_adds *next;
	run_adds at;
} counters;

static uint64_t counters_now(void *self)
{
	return ((counters *)self)->at.wall_ns;
}

static uint64_t counters_cpu(void *self)
{
	return ((counters *)self)->at.cpu_ns;
}

static bool counters_waited(void *self, os_run_delays *ret)
{
	counters *c = self;

	*ret = (os_run_delays){c->at.delay_ns, c->at.timeslices, c->at.other_ns, 0};
	c->at.other_ns = 0;
	return true;
}

static dck_status counters_run(dck_engine_context *context, dck_err *err)
{
	counters *c = (counters *)context;
	const run_adds *a = c->next++;

	(void)err;
	c->at.wall_ns += a->wall_ns;
	c->at.cpu_ns += a->cpu_ns;
	c->at.delay_ns += a->delay_ns;
	c->at.timeslices += a->timeslices;
	c->at.other_ns += a->other_ns;
	return DCK_OK;
}

enum { RUNS_MAX = 8 };

/* Makes n runs, and compares their delays. */
static void delays_check(const run_adds *runs, const double *expected, size_t n)
{
	static const dck_engine ops = {.struct_size = sizeof ops, .run = counters_run};
	counters c = {.next = runs};
	const dck_clock clock = {.now_ns = counters_now, .cpu_ns = counters_cpu, .self = &c};
	subject_target target = {
	    .engine.ops = &ops, .context = (dck_engine_context *)&c, .pool = 1};
	measure_loop l = {.clock = &clock,
			  .target = &target,
			  .group = 1,
			  .run_ns = 1e6,
			  .waited = counters_waited,
			  .waited_self = &c};
	measure_samples latency, delay;
	phase_samples to = {.latency = &latency, .delay = &delay};

	assert_int_equal(measure_samples_init(&latency, RUNS_MAX, false, NULL), DCK_OK);
	assert_int_equal(measure_samples_init(&delay, RUNS_MAX, false, NULL), DCK_OK);
	assert_int_equal(measure_loop_take(&l, &to, n, NULL), DCK_OK);
	assert_int_equal(delay.n, n);
	for (size_t i = 0; i < n; i++)
		assert_true(delay.value[i] == expected[i]);
	measure_samples_done(&latency);
	measure_samples_done(&delay);
}

static void waits_of_a_run(void **state)
{
	static const run_adds runs[] = {
	    {1000000, 1000000, 0, 0, 0},       /* undisturbed */
	    {3000000, 1000000, 2000000, 1, 0}, /* preempted */
	    {1400000, 1000000, 0, 0, 0},       /* a hypervisor took 0.4 ms */
	    {1400000, 1000000, 0, 1, 0},       /* the program slept for 0.4 ms */
	    {3400000, 1000000, 2000000, 2,
	     0},			 /* preempted, and slept or was stolen from: unknown */
	    {1000000, 2000000, 0, 0, 0}, /* two threads */
	};
	static const double expected[] = {0, 2000000, 400000, 0, 2000000, 0};

	(void)state;
	delays_check(runs, expected, sizeof runs / sizeof *runs);
}

/* A worker thread waits while the other one makes runs alone. The kernel counts the wait in the run
 * in which it ends. */
static void a_wait_longer_than_a_run(void **state)
{
	static const run_adds runs[] = {
	    {1000000, 2000000, 0, 0, 0},
	    {1000000, 1500000, 0, 0, 0}, /* it begins */
	    {1000000, 1000000, 0, 0, 0},
	    {1000000, 1500000, 1750000, 1, 1750000}, /* it ends */
	    {1000000, 2000000, 0, 0, 0},
	    {1000000, 1900000, 100000, 1, 100000}, /* it may have begun before this run */
	};
	static const double expected[] = {0, 750000, 1000000, 1750000, 100000, 100000};

	(void)state;
	delays_check(runs, expected, sizeof runs / sizeof *runs);
}

int test_loop_waits(void);
int test_loop_waits(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(waits_of_a_run),
					   cmocka_unit_test(a_wait_longer_than_a_run)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
