/* process_memory.c - memory of another process, or our own where it may not be there.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"

#include <errno.h>
#include <sys/uio.h>

bool os_process_read(void *pid, uint64_t address, void *to, size_t n)
{
	struct iovec here = {.iov_base = to, .iov_len = n};
	struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = n};

	return process_vm_readv(*(const int *)pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* Yama (Documentation/admin-guide/LSM/Yama.rst); 0: it is not enabled. */
static int ptrace_scope(void)
{
	char text[2] = "0";
	int fd = os_open_read("/proc/sys/kernel/yama/ptrace_scope");

	if (fd >= 0) {
		if (os_read_at(fd, text, 1, 0) != 1)
			text[0] = '0';
		os_close(fd);
	}
	return text[0] - '0';
}

dck_status os_process_readable(int pid, dck_err *err)
{
	char byte;
	struct iovec here = {&byte, 1}, nowhere = {NULL, 1};
	int e;

	/* EFAULT is returned only after the permission check, so it proves access. */
	if (process_vm_readv(pid, &here, 1, &nowhere, 1, 0) >= 0 || errno == EFAULT)
		return DCK_OK;
	e = errno;
	if (e == ESRCH)
		DCK_FAIL(err, E_ABSENT, "there is no process %d", pid);
	if (e != EPERM)
		DCK_FAIL_ERRNO(err, E_IO, e, "the memory of process %d cannot be read", pid);
	if (ptrace_scope() > 0)
		DCK_FAIL(err, E_IO,
			 "the memory of process %d may not be read: it is another user's, or not "
			 "a child process (kernel.yama.ptrace_scope is %d); start the program "
			 "through deepclock, or be root",
			 pid, ptrace_scope());
	DCK_FAIL(err, E_IO,
		 "the memory of process %d may not be read: it is another user's, or protected; be "
		 "that user, or root",
		 pid);
}
