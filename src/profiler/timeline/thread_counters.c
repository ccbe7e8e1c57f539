/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/thread_table.h"

#include <string.h>

const thread_counter thread_counters[THREAD_COUNTERS] = {
    [OS_USE_CPU] = {"CPU time", DCK_UNIT_NS},
    [OS_THREAD_RUN_DELAY] = {"run queue wait", DCK_UNIT_NS},
    [OS_USE_MINOR] = {"minor page faults", DCK_UNIT_ONE},
    [OS_USE_MAJOR] = {"major page faults", DCK_UNIT_ONE},
    [OS_USE_VOLUNTARY] = {"voluntary switches", DCK_UNIT_ONE},
    [OS_USE_INVOLUNTARY] = {"involuntary switches", DCK_UNIT_ONE},
    [THREAD_SHARE] = {"CPU share", DCK_UNIT_ONE},
    [THREAD_RESIDENT] = {"resident memory", DCK_UNIT_BYTE},
};

int thread_counter_named(const char *name)
{
	for (int k = 0; name && k < THREAD_COUNTERS; k++)
		if (!strcmp(name, thread_counters[k].name))
			return k;
	return -1;
}

int thread_counter_of(const trace_track *t)
{
	const int k = t->kind == TRACE_COUNTER_TRACK ? thread_counter_named(t->name) : -1;

	/* A counter that the program defines has no unit. */
	return k >= 0 && t->unit == thread_counters[k].unit ? k : -1;
}
