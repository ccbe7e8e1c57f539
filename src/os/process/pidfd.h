/* pidfd.h - waiting for the end of a child with poll() (pidfd, Linux 5.3).
 *
 * Older kernels have no pidfd, and the sandboxes of some containers refuse it: there a thread waits
 * for the child, so that its end is seen as early.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_PIDFD_H
#define OS_PIDFD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

int pidfd_open_child(pid_t pid); /* -1: not supported here */
/* A descriptor that poll() reports when the child has ended. */
typedef struct pidfd_end {
	int fd;	   /* -1: there is none */
	int other; /* the thread's end of a pipe; -1: `fd` is a pidfd */
	pid_t pid;
	pthread_t thread;
} pidfd_end;
/* Opens it; *ret stays where it is until it is closed. */
void pidfd_end_open(pid_t pid, pidfd_end *ret);
void pidfd_end_close(pidfd_end *e); /* after the child has ended */
/* Waits until the child has ended (it is not reaped) or until the deadline (os_now_ns()); true: it
 * has ended. pidfd may be -1. */
bool pidfd_wait(int pidfd, pid_t pid, uint64_t deadline_ns);
/* Returns what to add to a message where a child cannot be waited for, because of this error: "" or
 * the cause. Static. */
const char *pidfd_reaped_text(int error);
/* Returns the milliseconds until the deadline, rounded up, for poll(). */
int pidfd_ms_left(uint64_t deadline_ns);

#endif
