/* pidfd.h - waiting for the end of a child with poll() (pidfd, Linux 5.3).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_PIDFD_H
#define OS_PIDFD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

int pidfd_open_child(pid_t pid); /* -1: not supported here */
/* Waits until the child has ended (it is not reaped) or until the deadline (os_now_ns()); true: it
 * has ended. pidfd may be -1. */
bool pidfd_wait(int pidfd, pid_t pid, uint64_t deadline_ns);
/* Returns the milliseconds until the deadline, rounded up, for poll(). */
int pidfd_ms_left(uint64_t deadline_ns);

#endif
