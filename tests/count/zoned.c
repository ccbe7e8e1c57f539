/* zoned.c [_exit|interrupted|kill|exec|fork|apart] - counted functions together with zones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deepclock/zone.h"

static volatile int done;

__attribute__((noinline)) static void work(void)
{
	done++;
}

__attribute__((noinline)) static void step(void)
{
	DCK_ZONE("step");
	for (int i = 0; i < 5; i++) {
		DCK_PUSH("inner");
		work();
		DCK_POP();
	}
}

static void exits(int signal)
{
	(void)signal;
	_exit(0);
}

/* With a second thread malloc takes its lock. */
__attribute__((no_instrument_function)) static void *waits(void *p)
{
	for (;;)
		pause();
	return p;
}

/* A handler calls _exit(), mostly inside malloc. */
static void interrupted(void)
{
	const struct itimerval soon = {.it_value.tv_usec = 50000};
	void *blocks[64];
	pthread_t t;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_create(&t, NULL, waits, NULL);
	signal(SIGALRM, exits);
	setitimer(ITIMER_REAL, &soon, NULL);
	sigemptyset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (;;) {
		for (size_t i = 0; i < 64; i++)
			blocks[i] = malloc(3000 + i * 64);
		for (size_t i = 0; i < 64; i++)
			free(blocks[i]);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	for (int i = 0; i < 100; i++)
		step();
	if (!strcmp(what, "_exit"))
		_exit(0);
	if (!strcmp(what, "interrupted"))
		interrupted();
	if (!strcmp(what, "kill")) {
		sleep(2); /* the recorded events reach the file */
		raise(SIGKILL);
	}
	if (!strcmp(what, "exec")) {
		sleep(2);
		execl(argv[0], argv[0], (char *)NULL);
	}
	if (!strcmp(what, "fork")) {
		const pid_t child = fork();

		if (child == 0) {
			step();
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	if (!strcmp(what, "apart")) {
		dck_range r = DCK_START("apart");
		step();
		DCK_END(r);
	}
	return 0;
}
