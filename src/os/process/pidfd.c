/* pidfd.c - the end of a child as something to poll.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/process/pidfd.h"

#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int pidfd_open_child(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

/* Leaves the child for the caller to reap. */
static void *end_await(void *self)
{
	pidfd_end *e = self;
	siginfo_t info;

	while (waitid(P_PID, (id_t)e->pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
		;
	close(e->other);
	return NULL;
}

void pidfd_end_open(pid_t pid, pidfd_end *ret)
{
	sigset_t all, before;
	int ends[2];

	*ret = (pidfd_end){.fd = pidfd_open_child(pid), .other = -1, .pid = pid};
	if (ret->fd >= 0 || pipe2(ends, O_CLOEXEC) != 0)
		return;
	ret->other = ends[1];
	/* Signals are for the threads that wait for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const bool made = pthread_create(&ret->thread, NULL, end_await, ret) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (made) {
		ret->fd = ends[0];
		return;
	}
	close(ends[0]);
	close(ends[1]);
	ret->other = -1;
}

void pidfd_end_close(pidfd_end *e)
{
	if (e->other >= 0)
		pthread_join(e->thread, NULL);
	if (e->fd >= 0)
		close(e->fd);
	e->fd = e->other = -1;
}

int pidfd_ms_left(uint64_t deadline_ns)
{
	uint64_t now = os_now_ns();
	uint64_t ms = now < deadline_ns ? (deadline_ns - now + 999999) / 1000000 : 0;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

bool pidfd_wait(int pidfd, pid_t pid, uint64_t deadline_ns)
{
	for (;;) {
		siginfo_t info = {0};
		/* WNOWAIT: the caller reaps it, and its usage with it. */
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return true;
		int ms = pidfd_ms_left(deadline_ns);
		if (ms == 0)
			return false;
		struct pollfd p = {.fd = pidfd, .events = POLLIN};
		/* Without a descriptor poll() only sleeps. */
		poll(&p, pidfd >= 0 ? 1 : 0, pidfd >= 0 || ms < 5 ? ms : 5);
	}
}

const char *pidfd_reaped_text(int error)
{
	return error == ECHILD ? ", since this program ignores SIGCHLD or waits for all of its "
				 "children (restore SIGCHLD to SIG_DFL)"
			       : "";
}
