/* Tests of os/clock.c. No absolute time is asserted, only that time passes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void clock_is_sound(const dck_clock *c)
{
	assert_non_null(c->name);
	assert_true(c->tick_ns > 0);
	assert_true(c->cost_ns > 0);
	assert_true(c->cost_ns < 1e6);
	/* Consecutive readings take one cost each, so that no step is much shorter. */
	assert_true(c->tick_ns < 1e8);
	uint64_t last = c->now_ns(c->self);
	for (int i = 0; i < 100000; i++) {
		uint64_t now = c->now_ns(c->self);
		assert_true(now >= last);
		last = now;
	}
}

static void the_system_clock(void **state)
{
	(void)state;
	dck_clock c;
	os_clock_monotonic(&c);
	assert_null(c.cpu_ns);
	clock_is_sound(&c);
	uint64_t begin = c.now_ns(c.self);
	assert_true(os_sleep_ns(20000000, NULL, NULL));
	assert_true(c.now_ns(c.self) - begin >= 19900000); /* slewing moves the two clocks apart */
}

/* Records are compared and grouped in trends by the clock's name. */
static void noise_does_not_choose_the_clock(void **state)
{
	dck_clock first, c;

	(void)state;
	os_clock_monotonic(&first);
	for (int i = 0; i < 500; i++) {
		os_clock_monotonic(&c);
		assert_string_equal(c.name, first.name);
	}
}

static void the_counter_agrees_with_the_system(void **state)
{
	(void)state;
	dck_clock c, t = {.name = "untouched"};
	os_clock_state s = {0}, told;
	if (!os_clock_tsc(&s, &t)) {
		assert_string_equal(t.name, "untouched");
		print_message("skipped: this machine has no time stamp counter to be trusted\n");
		skip();
	}
	os_clock_monotonic(&c);
	clock_is_sound(&t);
	/* The best of several tries: an interruption between the two readings is not an error. */
	double best = INFINITY;
	for (int i = 0; i < 5; i++) {
		uint64_t t0 = t.now_ns(t.self), c0 = c.now_ns(c.self);
		os_sleep_ns(50000000, NULL, NULL);
		uint64_t t1 = t.now_ns(t.self), c1 = c.now_ns(c.self);
		best = fmin(best, fabs((double)(t1 - t0) / (double)(c1 - c0) - 1));
	}
	assert_true(best < 1e-3);
	/* The state of another process, which need not calibrate again. */
	told = (os_clock_state){.ns_per_tick_q32 = s.ns_per_tick_q32 + 1};
	assert_true(os_clock_tsc(&told, &t));
	assert_int_equal(told.ns_per_tick_q32, s.ns_per_tick_q32 + 1);
}

static void cpu_time_is_work_not_waiting(void **state)
{
	(void)state;
	uint64_t wall = os_now_ns(), cpu = os_process_cpu_ns();
	volatile unsigned x = 0;
	while (os_process_cpu_ns() - cpu < 5000000)
		x++;
	wall = os_now_ns();
	cpu = os_process_cpu_ns();
	os_sleep_ns(100000000, NULL, NULL);
	assert_true(os_process_cpu_ns() - cpu < (os_now_ns() - wall) / 2);
}

static void the_date(void **state)
{
	(void)state;
	assert_true(os_unix_ns() > INT64_C(1700000000) * 1000000000); /* after November 2023 */
}

static bool at_second(void *self)
{
	return ++*(int *)self == 2;
}

static void on_alarm(int number)
{
	(void)number;
}

static void sleeping(void **state)
{
	(void)state;
	int asked = 0;
	uint64_t begin = os_now_ns();
	assert_true(os_sleep_ns(0, NULL, NULL));
	assert_true(os_sleep_ns(30000000, NULL, NULL));
	assert_true(os_now_ns() - begin >= 30000000);
	assert_false(os_sleep_ns(UINT64_MAX, at_second, &asked));
	assert_int_equal(asked, 2);
	struct sigaction a = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &a, NULL);
	ualarm(20000, 0);
	assert_false(os_sleep_ns(UINT64_C(3600000000000), NULL, NULL));
}

int test_os_clock(void);
int test_os_clock(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_system_clock),
	    cmocka_unit_test(noise_does_not_choose_the_clock),
	    cmocka_unit_test(the_counter_agrees_with_the_system),
	    cmocka_unit_test(cpu_time_is_work_not_waiting),
	    cmocka_unit_test(the_date),
	    cmocka_unit_test(sleeping),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
