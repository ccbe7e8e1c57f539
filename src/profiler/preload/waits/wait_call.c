/* wait_call.c - syscall(), by which Rust's locks, C++'s atomics and other libraries wait in the
 * kernel themselves, and some leave. Other calls pass through it as they are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool waits(long number, long operation)
{
	switch (number == SYS_futex ? operation & FUTEX_CMD_MASK : -1) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_WAIT_REQUEUE_PI:
		return true;
	default:
		return false;
	}
}

PRELOAD long syscall(long number, ...)
{
	long a[6];
	va_list list;

	/* The maximum number of arguments; arguments that the caller did not pass are not used. */
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_exit_group)
		dck_trace_leave();
	if (!waits(number, a[1]))
		return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	WAIT("wait: futex");
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
