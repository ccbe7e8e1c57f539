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
	uint64_t wall_ns, cpu_ns, delay_ns, timeslices;
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

static bool counters_waited(void *self, uint64_t *ret_ns, uint64_t *ret_timeslices)
{
	const counters *c = self;

	*ret_ns = c->at.delay_ns;
	*ret_timeslices = c->at.timeslices;
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
	return DCK_OK;
}

static void test_waits_of_a_run(void **state)
{
	static const run_adds runs[] = {
	    {1000000, 1000000, 0, 0},	    /* undisturbed */
	    {3000000, 1000000, 2000000, 1}, /* preempted */
	    {1400000, 1000000, 0, 0},	    /* a hypervisor took 0.4 ms */
	    {1400000, 1000000, 0, 1},	    /* the program slept for 0.4 ms */
	    {3400000, 1000000, 2000000, 2}, /* preempted, and slept or was stolen from: unknown */
	    {1000000, 2000000, 0, 0},	    /* two threads */
	};
	static const double expected[] = {0, 2000000, 400000, 0, 2000000, 0};
	enum { N = sizeof runs / sizeof *runs };
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

	(void)state;
	assert_int_equal(measure_samples_init(&latency, N, false, NULL), DCK_OK);
	assert_int_equal(measure_samples_init(&delay, N, false, NULL), DCK_OK);
	assert_int_equal(measure_loop_take(&l, &to, N, NULL), DCK_OK);
	assert_int_equal(delay.n, N);
	for (size_t i = 0; i < N; i++)
		assert_true(delay.value[i] == expected[i]);
	measure_samples_done(&latency);
	measure_samples_done(&delay);
}

int test_loop_waits(void);
int test_loop_waits(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_waits_of_a_run)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
