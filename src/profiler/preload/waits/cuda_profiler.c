/* cuda_profiler.c - the range "cudaProfilerApi", from cudaProfilerStart() to cudaProfilerStop() of
 * CUDA's runtime, or the functions of its driver: --capture-range takes it, as nsys does. If the
 * program has no CUDA library these functions succeed, so that it is recorded without a GPU too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <dlfcn.h>
#include <string.h>

int cudaProfilerStart(void);
int cudaProfilerStop(void);
int cuProfilerStart(void);
int cuProfilerStop(void);

static uint64_t open_range; /* its id; 0: none is open */

/* Calls the next definition of that name (RTLD_NEXT). It is resolved at each call, since the
 * program may load CUDA later. */
static int real_call(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	int (*call)(void) = NULL;

	if (found)
		memcpy(&call, &found, sizeof call);
	return call ? call() : 0;
}

static int profiler_started(const char *name)
{
	const dck_range r = DCK_START("cudaProfilerApi");
	uint64_t none = 0;

	if (!__atomic_compare_exchange_n(&open_range, &none, r.id, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		DCK_END(r);
	return real_call(name);
}

static int stopped(const char *name)
{
	const int status = real_call(name);
	const dck_range r = {__atomic_exchange_n(&open_range, 0, __ATOMIC_ACQ_REL)};

	DCK_END(r);
	return status;
}

PRELOAD int cudaProfilerStart(void)
{
	return profiler_started("cudaProfilerStart");
}

PRELOAD int cudaProfilerStop(void)
{
	return stopped("cudaProfilerStop");
}

PRELOAD int cuProfilerStart(void)
{
	return profiler_started("cuProfilerStart");
}

PRELOAD int cuProfilerStop(void)
{
	return stopped("cuProfilerStop");
}
