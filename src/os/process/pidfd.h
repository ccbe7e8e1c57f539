/* pidfd.h - the end of a child as something to poll (Linux 5.3).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_PIDFD_H
#define OS_PIDFD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

int pidfd_open_child(pid_t pid); /* -1: not offered here */
/* Waits until the child has ended (it is not reaped) or the deadline, a time of os_now_ns(), is
 * over; true: it has ended. pidfd may be -1. */
bool pidfd_wait(int pidfd, pid_t pid, uint64_t deadline_ns);
/* Milliseconds until the deadline, rounded up, for poll(). */
int pidfd_ms_left(uint64_t deadline_ns);

#endif
