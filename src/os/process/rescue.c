/* rescue.c - a process that hangs in a library still reports what it knows: a copy of it goes on at
 * a place outside, and the hung one waits for the copy.
 *
 * The copy is made by the bare system call, since fork() asks for locks that the library may hold.
 * Where it needs one of these itself, it hangs in turn, and is killed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/counters/counters.h"
#include "os/os.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A handler can reach only static variables. Of the first thread alone, where the handler jumps:
 * others may measure at the same time. */
static jmp_buf *volatile outside;
static volatile bool is_copy;

void os_rescue_to(jmp_buf *place)
{
	if (syscall(SYS_gettid) == getpid())
		outside = place;
}

bool os_rescued(void)
{
	return is_copy;
}

int dck_rescue(unsigned seconds)
{
	const struct timespec tick = {.tv_nsec = 20000000};
	jmp_buf *const to = outside;
	sigset_t none;
	int status;

	if (!to)
		return -1;
	counters_keep();
	const long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		is_copy = true;
		outside = NULL;
		sigemptyset(&none);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
		longjmp(*to, 1);
	}
	for (unsigned i = 0; pid > 0 && i < seconds * 50; i++) {
		if (waitpid((pid_t)pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		nanosleep(&tick, NULL);
	}
	if (pid > 0) {
		kill((pid_t)pid, SIGKILL);
		waitpid((pid_t)pid, &status, 0);
	}
	return -1;
}
