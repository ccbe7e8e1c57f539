/* test_looks.c - the polling rate of blocked threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "profiler/sample/offcpu_poll.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { HALT_NS = 200000000 };

static volatile sig_atomic_t halts;

static void on_alarm(int sig)
{
	const struct timespec halt = {.tv_nsec = HALT_NS};

	(void)sig;
	halts++;
	nanosleep(&halt, NULL);
}

/* An interruption during a poll does not count as work, and the next poll is on time. */
static void halted(void **state)
{
	const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	const struct itimerval soon = {.it_value = {.tv_usec = 20}};
	const dck_sample_config config = {0};
	bool inside = false;
	sample_profile *p;
	offcpu_poll l;

	(void)state;
	assert_int_equal(sample_profile_new(&config, &p, NULL), DCK_OK);
	assert_int_equal(offcpu_poll_init(&l, 4096, NULL), DCK_OK);
	sample_profile_watch(p, getpid());
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	for (uint64_t now = 1; !inside; now++) {
		l.next_ns = 0;
		assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
		const sig_atomic_t before = halts;
		offcpu_poll_take(&l, p, now);
		inside = halts > before;
	}
	/* If the interruption counted as work, the next poll would be 20 interruptions later. Half
	 * of that allows for CPU time counted in ticks of 10 ms, or while the hypervisor runs
	 * another machine. */
	assert_true(l.next_ns < UINT64_C(10) * HALT_NS);
	signal(SIGALRM, SIG_DFL);
	offcpu_poll_done(&l);
	sample_profile_free(p);
}

int test_looks(void);
int test_looks(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(halted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
