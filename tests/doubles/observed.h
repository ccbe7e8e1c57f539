/* observed.h - the part of the double of the driver (cuda.c) that lets another library see what it
 * does, the real time, and the library that it loads into the program. It is included once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DOUBLES_OBSERVED_H
#define DOUBLES_OBSERVED_H

#include "double.h"
#include "observer.h"

#include <dlfcn.h>
#include <math.h>
#include <time.h>

static const cuda_observer *observer;
static uint32_t ncorrelations;
/* Of the outermost open call of this thread: CUPTI gives its id to the records of its work. */
static __thread struct {
	unsigned depth;
	uint32_t correlation;
	bool has_parameters; /* a call that allocates or frees */
	uint64_t parameters[2];
	unsigned result;
} calling;

static void parameters_are(uint64_t first, uint64_t second)
{
	calling.has_parameters = true;
	calling.parameters[0] = first;
	calling.parameters[1] = second;
}

static double real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void real_sleep(double ns)
{
	nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1e9), .tv_nsec = (long)fmod(ns, 1e9)},
		  NULL);
}

static bool is_real(void)
{
	return setting("CUDA_DOUBLE_REAL_TIME", 0) != 0;
}

/* Also for a runtime that calls the driver, which a test may be. */
void cuda_double_call(const char *function, bool begins)
{
	if (begins) {
		const uint32_t correlation =
		    __atomic_add_fetch(&ncorrelations, 1, __ATOMIC_RELAXED);

		if (calling.depth++ == 0 || setting("CUDA_DOUBLE_INNER_CALLS", 0))
			calling.correlation = correlation;
		if (observer)
			observer->call(function, correlation, true, NULL, NULL);
	} else {
		if (observer)
			observer->call(function, 0, false,
				       calling.has_parameters ? calling.parameters : NULL,
				       &calling.result);
		calling.has_parameters = false;
		calling.depth--;
	}
}

void cuda_double_observe(const cuda_observer *o)
{
	observer = o;
}

static void observed(int kind, double begin_ns, double end_ns, uint64_t bytes, int device,
		     uint32_t stream, uint32_t correlation, unsigned char copy_kind,
		     const char *name)
{
	const cuda_observed o = {kind,	      (uint64_t)begin_ns, (uint64_t)end_ns,
				 bytes,	      (uint32_t)device,	  stream,
				 correlation, copy_kind,	  name};

	observer->executed(&o);
}

/* The library of CUDA_INJECTION64_PATH, once. */
static inline void injection_load(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	static bool loaded;
	void *library = path && *path && !loaded ? dlopen(path, RTLD_NOW) : NULL;
	void *found = library ? dlsym(library, "InitializeInjection") : NULL;
	int (*begin)(void);

	if (library)
		loaded = true;
	if (found) {
		memcpy(&begin, &found, sizeof begin);
		begin();
	}
}

#endif
