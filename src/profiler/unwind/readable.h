/* readable.h - whether memory of this very process may be read, in a signal handler and inside
 * malloc too: no allocation, no lock, errno stays.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_READABLE_H
#define STACK_READABLE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Probes by rt_sigprocmask() with an invalid request: the kernel reads the set of signals (the
 * eight bytes around the address) before it rejects the request. Address 0 means no set and is not
 * rejected. */
static inline bool memory_readable(uint64_t address)
{
	const int kept = errno;
	const bool can = syscall(SYS_rt_sigprocmask, ~0, address & ~UINT64_C(7), NULL, 8L) == -1 &&
			 errno != EFAULT;

	errno = kept;
	return can;
}

#endif
