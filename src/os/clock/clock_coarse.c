/* clock_coarse.c - clocks whose resolution is too coarse for measurements, to show their effect.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <time.h>

static uint64_t now_coarse(void *self)
{
	struct timespec t;

	(void)self;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool os_clock_coarse(dck_clock *ret)
{
	struct timespec step;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &step))
		return false;
	*ret = (dck_clock){.name = "CLOCK_MONOTONIC_COARSE",
			   .now_ns = now_coarse,
			   .tick_ns = (double)step.tv_sec * 1e9 + (double)step.tv_nsec};
	return true;
}

static uint64_t now_seconds(void *self)
{
	(void)self;
	return (uint64_t)time(NULL) * 1000000000u;
}

bool os_clock_seconds(dck_clock *ret)
{
	*ret = (dck_clock){.name = "time()", .now_ns = now_seconds, .tick_ns = 1e9};
	return true;
}
