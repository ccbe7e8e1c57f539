/* SPDX-License-Identifier: Apache-2.0 */
#include "os/process/other_process.h"

#include "os/file/text.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Returns the fields after the name in /proc/PID/stat: the name may contain spaces and brackets. */
static const char *stat_rest(int pid, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	const char *end = text_read(path, buf, size) ? strrchr(buf, ')') : NULL;
	return end && end[1] == ' ' ? end + 2 : NULL;
}

bool os_process_runs(int pid)
{
	char buf[1024];
	const char *rest = stat_rest(pid, buf, sizeof buf);

	return rest && *rest != 'Z' && *rest != 'X';
}

bool os_process_threads_each(int pid, void (*f)(void *self, int tid), void *self)
{
	char path[64];
	struct dirent *entry;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *directory = opendir(path);
	if (!directory)
		return false;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			f(self, atoi(entry->d_name));
	closedir(directory);
	return true;
}

bool os_process_used(int pid, uint64_t *ret_user_ns, uint64_t *ret_system_ns)
{
	char buf[1024];
	const char *rest = stat_rest(pid, buf, sizeof buf);
	const long ticks = sysconf(_SC_CLK_TCK);
	uint64_t user, system;

	if (!rest || ticks <= 0 ||
	    sscanf(rest, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64, &user,
		   &system) != 2)
		return false;
	*ret_user_ns = user * (1000000000u / (uint64_t)ticks);
	*ret_system_ns = system * (1000000000u / (uint64_t)ticks);
	return true;
}

bool os_thread_blocked_call(int pid, int tid, os_blocked_call *ret)
{
	char path[64], text[256];
	long call;
	uint64_t sp, pc;

	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", pid, tid);
	if (!text_read(path, text, sizeof text) || strncmp(text, "running", 7) == 0)
		return false;
	if (sscanf(text, "-1 0x%" SCNx64 " 0x%" SCNx64, &sp, &pc) == 2)
		call = -1;
	else if (sscanf(text, "%ld %*x %*x %*x %*x %*x %*x 0x%" SCNx64 " 0x%" SCNx64, &call, &sp,
			&pc) != 3)
		return false;
	*ret = (os_blocked_call){.sp = sp, .pc = pc, .call = call};
	return true;
}

bool os_thread_timeslices(int pid, int tid, uint64_t *ret_cpu_ns, uint64_t *ret_turns)
{
	char path[64], text[128];

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
	return text_read(path, text, sizeof text) &&
	       sscanf(text, "%" SCNu64 " %*u %" SCNu64, ret_cpu_ns, ret_turns) == 2;
}

bool os_process_huge_pages(int pid, uint64_t *ret)
{
	char path[64], text[2048];
	uint64_t kib;

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
	if (!text_read(path, text, sizeof text) || !text_find_uint(text, "AnonHugePages:", &kib))
		return false;
	*ret = kib * 1024;
	return true;
}

uint64_t os_process_memory(int pid, uint64_t address, void *to, uint64_t n)
{
	struct iovec here = {to, n}, there = {(void *)(uintptr_t)address, n};
	const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	return got < 0 ? 0 : (uint64_t)got;
}
