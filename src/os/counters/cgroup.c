/* cgroup.c - finds the groups through /proc/self/cgroup and /proc/self/mountinfo (proc(5),
 * cgroups(7)) and walks up to the mount point: any group on the way may hold the limit, and each
 * that has one has what its processes use of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/counters/cgroup.h"

#include "base/commas.h"
#include "os/file/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024, FILE_BYTES = 32768 };

/* Version 1 writes "no limit" as the largest multiple of a page. */
static const uint64_t memory_no_limit = UINT64_C(1) << 60;

static bool group_file(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_BYTES + 64];
	int n = snprintf(path, sizeof path, "%s/%s", dir, name);
	return n > 0 && (size_t)n < sizeof path && text_read(path, buf, size);
}

static void take_cpus(double quota, double period, cgroup_limits *ret)
{
	double cpus = quota / period;
	if (quota > 0 && period > 0 && (ret->cpus == 0 || cpus < ret->cpus))
		ret->cpus = cpus;
}

/* cache: key in memory.stat of the files' pages that were not used lately. */
static void take_memory(const char *dir, const char *limit, const char *usage, const char *cache,
			cgroup_limits *ret)
{
	char buf[FILE_BYTES], *end;
	uint64_t v, used = 0, dropped = 0, left;

	if (!group_file(dir, limit, buf, sizeof buf))
		return;
	v = strtoull(buf, &end, 10);
	if (end == buf || v >= memory_no_limit)
		return;
	if (ret->memory_bytes == 0 || (int64_t)v < ret->memory_bytes)
		ret->memory_bytes = (int64_t)v;
	if (group_file(dir, usage, buf, sizeof buf))
		used = strtoull(buf, NULL, 10);
	if (group_file(dir, "memory.stat", buf, sizeof buf))
		text_find_uint(buf, cache, &dropped);
	used = dropped < used ? used - dropped : 0;
	left = used < v ? v - used : 1;
	if (ret->memory_left == 0 || left < ret->memory_left)
		ret->memory_left = left;
}

static void take_oom(const char *dir, const char *file, cgroup_limits *ret)
{
	char buf[512];

	if (!ret->oom_known && group_file(dir, file, buf, sizeof buf))
		ret->oom_known = text_find_uint(buf, "oom_kill", &ret->oom_kills);
}

static void take_throttling(const char *dir, const char *key, uint64_t ns_per_unit,
			    cgroup_limits *ret)
{
	char buf[2048];
	uint64_t v;
	if (!group_file(dir, "cpu.stat", buf, sizeof buf))
		return;
	if (text_find_uint(buf, key, &v)) {
		ret->throttled_known = true;
		ret->throttled_ns += v * ns_per_unit;
	}
	if (text_find_uint(buf, "nr_throttled", &v))
		ret->throttled_periods += v;
}

/* --- one reader per version and controller; each takes one directory */

static void read_v2(const char *dir, cgroup_limits *ret)
{
	char buf[128];
	double quota, period;
	if (group_file(dir, "cpu.max", buf, sizeof buf) &&
	    sscanf(buf, "%lf %lf", &quota, &period) == 2)
		take_cpus(quota, period, ret);
	take_memory(dir, "memory.max", "memory.current", "inactive_file", ret);
	take_oom(dir, "memory.events", ret);
	take_throttling(dir, "throttled_usec", 1000, ret);
}

static void read_v1_cpu(const char *dir, cgroup_limits *ret)
{
	char quota[64], period[64];
	if (group_file(dir, "cpu.cfs_quota_us", quota, sizeof quota) &&
	    group_file(dir, "cpu.cfs_period_us", period, sizeof period))
		take_cpus(strtod(quota, NULL), strtod(period, NULL), ret);
	take_throttling(dir, "throttled_time", 1, ret);
}

static void read_v1_memory(const char *dir, cgroup_limits *ret)
{
	take_memory(dir, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
		    ret);
	take_oom(dir, "memory.oom_control", ret);
}

/* controller "": the unified hierarchy (version 2). */
static const struct hierarchy {
	const char *type, *controller;
	void (*read)(const char *dir, cgroup_limits *ret);
} hierarchies[] = {
    {"cgroup2", "", read_v2},
    {"cgroup", "cpu", read_v1_cpu},
    {"cgroup", "memory", read_v1_memory},
};

/* Our group in the hierarchy: lines are "ID:CONTROLLERS:PATH". */
static bool group_path(const char *root, const struct hierarchy *h, char *ret, size_t size)
{
	char path[PATH_BYTES], buf[FILE_BYTES], *at = buf, *line;
	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	if (!text_read(path, buf, sizeof buf))
		return false;
	while ((line = text_line(&at))) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		if (commas_have(controllers + 1, h->controller)) {
			text_copy(ret, size, group);
			return true;
		}
	}
	return false;
}

/* Where it is mounted, and which group the mount shows as its root. A line of mountinfo is
 * "ID PARENT DEV ROOT MOUNTPOINT OPTIONS ... - TYPE SOURCE SUPER_OPTIONS". */
static bool group_mount(const char *root, const struct hierarchy *h, char *ret_mount, char *ret_top,
			size_t size)
{
	char path[PATH_BYTES], buf[FILE_BYTES], *at = buf, *line;
	snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
	if (!text_read(path, buf, sizeof buf))
		return false;
	while ((line = text_line(&at))) {
		char top[512], mount[512], type[64], options[512] = "";
		const char *tail = strstr(line, " - ");
		if (!tail || sscanf(line, "%*s %*s %*s %511s %511s", top, mount) != 2 ||
		    sscanf(tail, " - %63s %*s %511s", type, options) < 1)
			continue;
		if (strcmp(type, h->type) ||
		    (*h->controller && !commas_have(options, h->controller)))
			continue;
		text_copy(ret_mount, size, mount);
		text_copy(ret_top, size, top);
		return true;
	}
	return false;
}

/* Whether a part of the path is "..": a name may contain two points. */
static bool climbs(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/..")); at += 3)
		if (!at[3] || at[3] == '/')
			return true;
	return false;
}

static void read_hierarchy(const char *root, const struct hierarchy *h, cgroup_limits *ret)
{
	char group[512], mount[512], top[512], dir[PATH_BYTES];
	if (!group_path(root, h, group, sizeof(group)) ||
	    !group_mount(root, h, mount, top, sizeof mount))
		return;
	/* In a container the mount may show only our own part of the tree, and the path may name
	 * the whole of it, or climb out of it with "..". */
	const char *below = group;
	size_t n = strcmp(top, "/") ? strlen(top) : 0;
	if (!strncmp(group, top, n) && (group[n] == '/' || !group[n]))
		below = group + n;
	else
		below = "";
	if (climbs(below) || !strcmp(below, "/"))
		below = "";
	size_t floor = (size_t)snprintf(dir, sizeof dir, "%s%s", root, mount);
	int len = snprintf(dir, sizeof dir, "%s%s%s", root, mount, below);
	if (len < 0 || (size_t)len >= sizeof dir)
		return;
	for (;;) {
		h->read(dir, ret);
		char *slash = strrchr(dir, '/');
		if (!slash || (size_t)(slash - dir) < floor)
			break;
		*slash = '\0';
	}
}

void cgroup_read(const char *root, cgroup_limits *ret)
{
	*ret = (cgroup_limits){0};
	for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++)
		read_hierarchy(root, &hierarchies[i], ret);
}
