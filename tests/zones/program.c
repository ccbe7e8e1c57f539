/* program.c
 * [open|fail|fork|forks|killed-child|leave|kill|killed|_exit|quick|renamed|daemon|chroot|setuid|crash|exec|execl|execlp|execle|interrupt|slow|unmatched|close]
 * - a program like a user's: zones, and no other line for deepclock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deepclock/trace.h"
#include "deepclock/zone.h"

static void step(void)
{
	DCK_ZONE("step");
	DCK_PUSH("forward");
	DCK_NUMBER("batch", 32);
	for (volatile int i = 0; i < 10000; i++)
		;
	DCK_POP();
	DCK_COUNTER("loss", 0.5);
}

static void interrupted(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "renamed"))
		prctl(PR_SET_NAME, "renamed");
	DCK_MARK("begin");
	for (int i = 0; i < 20; i++)
		step();
	printf("the program's own output\n");
	fflush(stdout);
	if (!strcmp(what, "open")) {
		DCK_PUSH("open");
		exit(0);
	}
	/* Long enough for the recorded events to reach the file. */
	if (!strcmp(what, "kill") || !strcmp(what, "_exit"))
		sleep(2);
	if (!strcmp(what, "kill"))
		raise(SIGKILL);
	if (!strcmp(what, "killed"))
		raise(SIGKILL);
	if (!strcmp(what, "crash"))
		abort();
	if (!strcmp(what, "daemon")) {
		if (daemon(1, 0))
			return 1;
		step();
		sleep(3);
	}
	if (!strcmp(what, "_exit"))
		_exit(0);
	if (!strcmp(what, "quick"))
		quick_exit(0);
	if ((!strcmp(what, "chroot") && (chroot("room") || chdir("/"))) ||
	    (!strcmp(what, "setuid") && setuid(65534)))
		return 77;
	/* Like daemons and ssh: the descriptor numbers are then reused for other files. */
	if (!strcmp(what, "close")) {
		sleep(1);
		for (int fd = 3; fd < 100; fd++)
			close(fd);
		for (int i = 0; i < 20; i++)
			if (open("mine", O_CREAT | O_WRONLY, 0600) < 0)
				return 1;
		step();
		sleep(1);
	}
	if (!strcmp(what, "exec")) {
		dck_trace_flush();
		execl(argv[0], argv[0], (char *)NULL);
	}
	if (!strcmp(what, "execl"))
		execl(argv[0], argv[0], "execlp", (char *)NULL);
	if (!strcmp(what, "execlp"))
		execlp(argv[0], argv[0], "execle", (char *)NULL);
	if (!strcmp(what, "execle"))
		execle(argv[0], argv[0], "", (char *)NULL, environ);
	/* Two calls that take 900 ms, far apart, and a short one. */
	for (int i = 0; i < 3 && !strcmp(what, "slow"); i++) {
		DCK_PUSH("slow");
		usleep(i == 1 ? 10 : 900000);
		DCK_POP();
		usleep(500000);
	}
	/* Saves something slowly when interrupted. */
	if (!strcmp(what, "interrupt")) {
		signal(SIGINT, interrupted);
		pause();
		sleep(3);
		step();
		printf("saved\n");
	}
	if (!strcmp(what, "fork") && fork() == 0) {
		step();
		return 0;
	}
	if (!strcmp(what, "unmatched")) {
		if (fork() == 0) {
			step();
			DCK_POP();
			exit(0);
		}
		DCK_POP();
		DCK_POP();
	}
	/* Eight children, inside a zone of the parent. */
	if (!strcmp(what, "forks")) {
		DCK_ZONE("wait");
		for (int i = 0; i < 8; i++)
			if (fork() == 0) {
				step();
				exit(0);
			}
		while (wait(NULL) > 0)
			;
	}
	if (!strcmp(what, "killed-child") && fork() == 0) {
		step();
		DCK_PUSH("left open");
		sleep(2);
		raise(SIGKILL);
	}
	/* A child that still runs when the parent has exited, with its events in its file. */
	if (!strcmp(what, "leave")) {
		if (fork() == 0) {
			step();
			close(STDOUT_FILENO);
			close(STDERR_FILENO);
			sleep(10);
			return 0;
		}
		sleep(2);
		return 0;
	}
	wait(NULL);
	return !strcmp(what, "fail") ? 3 : 0;
}
