/* other_process.c - other processes, by the files of /proc.
 *
 * Each function reads one file, which may be missing at any time: a process ends while it is looked
 * at. /proc/PID/stat has the state of the main thread, which may end before the others, and
 * /proc/PID/task/TID/syscall needs the rights of ptrace(2), which the state does not.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/process/other_process.h"

#include "os/file/text.h"
#include "os/os.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Returns the fields after the name in /proc/PID/stat, or of a thread (tid not 0): the name may
 * contain spaces and brackets. */
static const char *stat_rest(int pid, int tid, char *buf, size_t size)
{
	char path[64];

	if (tid)
		snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	else
		snprintf(path, sizeof path, "/proc/%d/stat", pid);
	const char *end = text_read(path, buf, size) ? strrchr(buf, ')') : NULL;
	return end && end[1] == ' ' ? end + 2 : NULL;
}

bool os_process_runs(int pid)
{
	char buf[1024];
	const char *rest = stat_rest(pid, 0, buf, sizeof buf);
	long threads;

	if (!rest)
		return false;
	if (*rest != 'Z' && *rest != 'X')
		return true;
	/* The state is that of the main thread, which may end before the others. */
	return *rest == 'Z' &&
	       sscanf(rest,
		      "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
		      &threads) == 1 &&
	       threads > 1;
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

bool os_process_thread_name(int pid, int tid, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", pid, tid);
	return text_read(path, ret, size);
}

bool os_process_used(int pid, uint64_t *ret_user_ns, uint64_t *ret_system_ns)
{
	char buf[1024];
	const char *rest = stat_rest(pid, 0, buf, sizeof buf);
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

bool os_process_maps(int pid, const char *text, bool unread)
{
	enum { MAPS_MAX = 64 << 20 };
	dck_buffer maps = {0};
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	if (os_read_file(path, MAPS_MAX, &maps, NULL) != DCK_OK)
		return unread;
	const bool found = maps.n && memmem(maps.data, maps.n, text, strlen(text));
	dck_buffer_done(&maps);
	return found;
}

static bool thread_sleeps(int pid, int tid)
{
	char buf[1024];
	const char *rest = stat_rest(pid, tid, buf, sizeof buf);

	return rest && *rest && strchr("SDTt", *rest);
}

bool os_thread_blocked_call(int pid, int tid, os_blocked_call *ret)
{
	char path[64], text[256];
	long call;
	uint64_t sp, pc;

	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", pid, tid);
	if (!text_read(path, text, sizeof text)) {
		if (!thread_sleeps(pid, tid))
			return false;
		*ret = (os_blocked_call){.call = -1, .unread = true};
		return true;
	}
	if (strncmp(text, "running", 7) == 0)
		return false;
	if (sscanf(text, "-1 0x%" SCNx64 " 0x%" SCNx64, &sp, &pc) == 2)
		call = -1;
	else if (sscanf(text, "%ld %*x %*x %*x %*x %*x %*x 0x%" SCNx64 " 0x%" SCNx64, &call, &sp,
			&pc) != 3)
		return false;
	*ret = (os_blocked_call){.sp = sp, .pc = pc, .call = call};
	return true;
}

bool os_thread_timeslices(int pid, int tid, os_timeslices *ret)
{
	char path[64], text[128];

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
	return text_read(path, text, sizeof text) &&
	       sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret->cpu_ns, &ret->queued_ns,
		      &ret->turns) == 3;
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

/* --- processes by a variable of their environment */

/* Returns whether the initial environment of the process has the variable. *ret_empty: it has no
 * variable, as a process has none for a moment inside execve(). */
static bool has_variable(const char *pid, const char *variable, bool *ret_empty)
{
	enum { ENVIRON_MAX = 1 << 21 }; /* more than the kernel passes to a program by default */
	dck_buffer text = {0};
	char path[64];
	bool found = false;

	snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
	if (os_read_file(path, ENVIRON_MAX, &text, NULL) == DCK_OK)
		for (const char *at = (const char *)text.data, *end = at + text.n;
		     !found && at < end; at += strnlen(at, (size_t)(end - at)) + 1)
			found = strncmp(at, variable, (size_t)(end - at)) == 0;
	*ret_empty = text.n == 0;
	dck_buffer_done(&text);
	return found;
}

/* A kernel thread and a process that has ended have no program. */
static bool has_program(const char *pid)
{
	char path[64], to[8];

	snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
	return readlink(path, to, sizeof to) > 0;
}

/* The same, and waits for the end of an execve() of the process. */
static bool is_marked(const char *pid, const char *mark)
{
	bool empty = true, found = false;

	for (int i = 0; i < 5 && empty; i++) {
		found = has_variable(pid, mark, &empty);
		if (empty && (!has_program(pid) || !os_sleep_ns(1000000, NULL, NULL)))
			break;
	}
	return found;
}

bool os_processes_marked(const char *mark, os_marked *ret)
{
	DIR *all = opendir("/proc");
	char path[64];

	*ret = (os_marked){0};
	for (struct dirent *e; all && (e = readdir(all));) {
		const long pid = strtol(e->d_name, NULL, 10);

		if (pid <= 0 || !is_marked(e->d_name, mark) || ret->n++ > 0)
			continue;
		ret->pid = pid;
		snprintf(path, sizeof path, "/proc/%ld/comm", pid);
		text_read(path, ret->name, sizeof ret->name);
	}
	if (all)
		closedir(all);
	return ret->n > 0;
}
