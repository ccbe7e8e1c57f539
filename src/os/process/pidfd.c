/* pidfd.c - the end of a child as something to poll.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/process/pidfd.h"

#include "os/os.h"

#include <limits.h>
#include <poll.h>
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
