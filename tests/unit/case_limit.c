/* case_limit.c - a unit test case that hangs ends its program, with its name, after CASE_SECONDS
 * (tests/limit.py) or the seconds in the variable of that name, however busy the machine. Linked
 * into each cmocka program with --wrap: tests need no call.
 *
 * It uses a separate timer, because cases use alarm(). fork() does not inherit it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

enum { CASES_MAX = 128 };

static const struct CMUnitTest *cases, *running;
static timer_t timer;
static unsigned seconds = CASE_SECONDS;

static void on_time_up(int number)
{
	char text[256];

	(void)number;
	const int n = snprintf(text, sizeof text, "\n%s: still running after %u s and killed\n",
			       running->name, seconds);

	/* Kills the children too if this process leads a group, as under Meson or a shell. */
	if (write(STDERR_FILENO, text, (size_t)n) == n && getpgrp() == getpid())
		kill(0, SIGKILL);
	_exit(1);
}

static void limit(unsigned n)
{
	const struct itimerspec at = {.it_value.tv_sec = n};

	timer_settime(timer, 0, &at, NULL);
}

/* cmocka calls it before each case, in order. */
static int case_begins(void **state)
{
	running = running ? running + 1 : cases;
	limit(seconds);
	return running->setup_func ? running->setup_func(state) : 0;
}

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction begin, CMFixtureFunction end);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction begin, CMFixtureFunction end);

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction begin, CMFixtureFunction end)
{
	static struct CMUnitTest limited[CASES_MAX];
	const int number = SIGRTMAX - 3; /* QEMU does not support signal 64 */
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
	const struct sigaction action = {.sa_handler = on_time_up};
	const char *given = getenv("CASE_SECONDS");

	if (given && atoi(given) > 0)
		seconds = (unsigned)atoi(given);
	if (n > CASES_MAX || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    sigaction(number, &action, NULL) != 0) {
		fprintf(stderr, "%s: its cases cannot be limited\n", name);
		return 1;
	}
	memcpy(limited, tests, n * sizeof *tests);
	for (size_t i = 0; i < n; i++)
		limited[i].setup_func = case_begins;
	cases = tests;
	running = NULL;
	const int failed = __real__cmocka_run_group_tests(name, limited, n, begin, end);

	limit(0);
	timer_delete(timer);
	return failed;
}
