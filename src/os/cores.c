/* cores.c - how many cores, not hardware threads, this process may use.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "os/text.h"

#include <sched.h>
#include <stdio.h>

/* thread_siblings_list names the core's hardware threads, the same text for each of them. Its
 * first one stands for the core, or, when that one is not ours, the first that is. */
static bool is_first_of_core(const cpu_set_t *mine, int cpu)
{
	char path[96], list[256];
	unsigned from, to;
	int used;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
		 cpu);
	if (!text_read(path, list, sizeof(list)))
		return true;
	for (const char *at = list; sscanf(at, "%u%n", &from, &used) == 1;) {
		at += used;
		to = from;
		if (*at == '-' && sscanf(at, "-%u%n", &to, &used) == 1)
			at += used;
		for (unsigned i = from; i <= to && i < (unsigned)cpu; i++)
			if (CPU_ISSET(i, mine))
				return false;
		if (*at++ != ',')
			break;
	}
	return true;
}

unsigned os_cores_allowed(void)
{
	cpu_set_t mine;
	unsigned n = 0;

	if (sched_getaffinity(0, sizeof mine, &mine) != 0)
		return os_cpus_allowed(); /* more processors than the set has room for */
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &mine) && is_first_of_core(&mine, cpu))
			n++;
	return n > 0 ? n : 1;
}
