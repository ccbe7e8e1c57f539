/* cgroup.h - what the control groups of this process allow it, versions 1 and 2.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_CGROUP_H
#define OS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cgroup_limits {
	double cpus;	      /* the least quota on the way up; 0: none */
	int64_t memory_bytes; /* likewise */
	bool oom_known;	      /* the innermost group counts them, with those of the groups in it */
	uint64_t oom_kills;   /* processes that the kernel ended for want of memory */
	uint64_t throttled_ns, throttled_periods; /* summed over the way up; 0: not known */
} cgroup_limits;

/* root: put before /proc and before the mount points; "" but for tests. */
void cgroup_read(const char *root, cgroup_limits *ret);

#endif
