/* limits.c - resource limits of this process and of a child, and available memory. A child's are
 * set from outside after the child has started: nothing may be done in the child (proc.c), and a
 * limit applies to later allocations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "os/counters/cgroup.h"
#include "os/process/cleanup.h"
#include "os/file/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t os_address_space_limit(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_AS, &l) == 0 && l.rlim_cur != RLIM_INFINITY ? l.rlim_cur : 0;
}

uint64_t os_file_size_limit(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur != RLIM_INFINITY ? l.rlim_cur
									       : UINT64_MAX;
}

uint64_t os_address_space_used(void)
{
	uint64_t pages;

	return text_read_uint("/proc/self/statm", &pages) ? pages * (uint64_t)sysconf(_SC_PAGESIZE)
							  : 0;
}

bool os_child_limit_data(pid_t pid, uint64_t bytes)
{
	const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
	return prlimit(pid, RLIMIT_DATA, &limit, NULL) == 0;
}

void os_child_oom_first(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/oom_score_adj", (long)pid);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* Raising it needs no privilege; a sandbox may still refuse, and nothing depends on it. */
	ssize_t written = write(fd, "1000", 4);
	(void)written;
	close(fd);
}

uint64_t os_child_rss(pid_t pid)
{
	char path[64], buf[128];
	uint64_t pages;
	snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
	if (!text_read(path, buf, sizeof buf) || sscanf(buf, "%*s %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void os_child_kill(pid_t pid)
{
	cleanup_kill_process(pid);
}

bool os_oom_kills(const char *root, uint64_t *ret)
{
	char path[512], text[32768];
	cgroup_limits limits;

	cgroup_read(root, &limits);
	*ret = limits.oom_kills;
	snprintf(path, sizeof path, "%.200s/proc/vmstat", root);
	return limits.oom_known ||
	       (text_read(path, text, sizeof text) && text_find_uint(text, "oom_kill", ret));
}

uint64_t os_memory_available(const char *root)
{
	char path[512], text[4096];
	uint64_t kib, bytes = 0;
	cgroup_limits limits = {0};

	snprintf(path, sizeof path, "%.200s/proc/meminfo", root);
	if (text_read(path, text, sizeof text) && text_find_uint(text, "MemAvailable:", &kib) &&
	    kib <= UINT64_MAX >> 10)
		bytes = kib << 10;
	cgroup_read(root, &limits);
	if (limits.memory_left > 0 && (bytes == 0 || limits.memory_left < bytes))
		bytes = limits.memory_left;
	return bytes;
}
