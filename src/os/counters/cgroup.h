/* cgroup.h - limits and counters of this process's control groups, versions 1 and 2.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_CGROUP_H
#define OS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cgroup_limits {
	double cpus;	      /* the least quota of the group and its ancestors; 0: none */
	int64_t memory_bytes; /* likewise */
	/* With a limit: what the processes of a group may still have of it, page cache that can be
	 * dropped included; the least of the groups, at least 1. */
	uint64_t memory_left;
	bool oom_known;	      /* the innermost group counts oom_kills, with its subgroups' */
	uint64_t oom_kills;   /* processes killed because memory ran out */
	bool throttled_known; /* some group counts it */
	uint64_t throttled_ns, throttled_periods; /* sum over the ancestors */
} cgroup_limits;

/* Reads the limits. root: prefix of /proc and of the mount points; "" except in tests. */
void cgroup_read(const char *root, cgroup_limits *ret);

#endif
