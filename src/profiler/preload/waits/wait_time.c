/* wait_time.c - sleep, signals, and children that end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#if __GLIBC_PREREQ(2, 28)
#include <threads.h>
#endif
#include <time.h>
#include <unistd.h>

WAITS(int, nanosleep, "wait: sleep", (const struct timespec *time, struct timespec *rest),
      (time, rest))
WAITS(int, clock_nanosleep, "wait: sleep",
      (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),
      (clock, flags, time, rest))
WAITS(int, usleep, "wait: sleep", (useconds_t us), (us))
WAITS(unsigned, sleep, "wait: sleep", (unsigned seconds), (seconds))

#if __GLIBC_PREREQ(2, 28)
WAITS(int, thrd_sleep, "wait: sleep", (const struct timespec *time, struct timespec *rest),
      (time, rest))
#endif

WAITS(int, sigwait, "wait: signal", (const sigset_t *restrict set, int *restrict ret), (set, ret))
WAITS(int, sigwaitinfo, "wait: signal", (const sigset_t *restrict set, siginfo_t *restrict info),
      (set, info))
WAITS(int, sigtimedwait, "wait: signal",
      (const sigset_t *restrict set, siginfo_t *restrict info,
       const struct timespec *restrict time),
      (set, info, time))
WAITS(int, sigsuspend, "wait: signal", (const sigset_t *mask), (mask))
WAITS(int, pause, "wait: signal", (void), ())
WAITS(pid_t, waitpid, "wait: child", (pid_t pid, int *status, int options), (pid, status, options))
WAITS(pid_t, wait3, "wait: child", (int *status, int options, struct rusage *usage),
      (status, options, usage))
WAITS(pid_t, wait4, "wait: child", (pid_t pid, int *status, int options, struct rusage *usage),
      (pid, status, options, usage))
WAITS(int, waitid, "wait: child", (idtype_t type, id_t id, siginfo_t *info, int options),
      (type, id, info, options))

/* libc waits for these children by calls that are not interposed. */
WAITS(int, system, "wait: child", (const char *command), (command))
WAITS(int, pclose, "wait: child", (FILE * f), (f))

PRELOAD pid_t wait(int *status)
{
	pid_t (*const real)(int *) = REAL(wait);
	WAIT("wait: child");
	return real(status);
}
