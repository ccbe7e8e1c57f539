/* wait_time.c - sleep, signals, and children that end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#if __GLIBC_PREREQ(2, 28)
#include <threads.h>
#endif
#include <time.h>
#include <unistd.h>

PRELOAD int nanosleep(const struct timespec *time, struct timespec *rest)
{
	WAIT("wait: sleep");
	return REAL(nanosleep)(time, rest);
}

PRELOAD int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			    struct timespec *rest)
{
	WAIT("wait: sleep");
	return REAL(clock_nanosleep)(clock, flags, time, rest);
}

PRELOAD int usleep(useconds_t us)
{
	WAIT("wait: sleep");
	return REAL(usleep)(us);
}

PRELOAD unsigned sleep(unsigned seconds)
{
	WAIT("wait: sleep");
	return REAL(sleep)(seconds);
}

#if __GLIBC_PREREQ(2, 28)
PRELOAD int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
	WAIT("wait: sleep");
	return REAL(thrd_sleep)(time, rest);
}
#endif

PRELOAD int sigwait(const sigset_t *restrict set, int *restrict ret)
{
	WAIT("wait: signal");
	return REAL(sigwait)(set, ret);
}

PRELOAD int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	WAIT("wait: signal");
	return REAL(sigwaitinfo)(set, info);
}

PRELOAD int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
			 const struct timespec *restrict time)
{
	WAIT("wait: signal");
	return REAL(sigtimedwait)(set, info, time);
}

PRELOAD int sigsuspend(const sigset_t *mask)
{
	WAIT("wait: signal");
	return REAL(sigsuspend)(mask);
}

PRELOAD int pause(void)
{
	WAIT("wait: signal");
	return REAL(pause)();
}

PRELOAD pid_t waitpid(pid_t pid, int *status, int options)
{
	WAIT("wait: child");
	return REAL(waitpid)(pid, status, options);
}

PRELOAD pid_t wait3(int *status, int options, struct rusage *usage)
{
	WAIT("wait: child");
	return REAL(wait3)(status, options, usage);
}

PRELOAD pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	WAIT("wait: child");
	return REAL(wait4)(pid, status, options, usage);
}

PRELOAD int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	WAIT("wait: child");
	return REAL(waitid)(type, id, info, options);
}

PRELOAD pid_t wait(int *status)
{
	pid_t (*const real)(int *) = REAL(wait);
	WAIT("wait: child");
	return real(status);
}
