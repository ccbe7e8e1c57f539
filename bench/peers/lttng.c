/* lttng.c - a range of LTTng-UST: two tracepoints, the first with the name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_points.h"
#include "pair.h"

static void ranges(void)
{
	for (int i = 0; i < PAIR_TIMES; i++) {
		lttng_ust_tracepoint(deepclock_bench, begin, "range");
		lttng_ust_tracepoint(deepclock_bench, end);
		__asm__ volatile("" : : : "memory");
	}
}

int main(int argc, char **argv)
{
	return argc > 1 ? pair_run(ranges, argv[1]) : 2;
}
