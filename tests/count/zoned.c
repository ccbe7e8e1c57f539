/* zoned.c [_exit|kill|exec|fork|apart] - counted functions together with zones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	for (int i = 0; i < 100; i++)
		step();
	if (!strcmp(what, "_exit"))
		_exit(0);
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
