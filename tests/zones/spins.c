/* spins.c - a thread that works in light() before a zone "work" and in heavy() inside it for three
 * times the CPU time.
 *
 *	spins_program
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "deepclock/zone.h"

#define APART static __attribute__((noinline))

static volatile uint64_t sink;

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A macro, because a function would add a frame; samples rarely hit the clock reading. */
#define SPIN(ns)                                                                 \
	do {                                                                     \
		for (const int64_t end = cpu_ns() + (ns); cpu_ns() < end;)       \
			for (int i = 0; i < 100000; i++)                         \
				sink = sink * UINT64_C(6364136223846793005) + 1; \
	} while (0)

APART void light(void)
{
	SPIN(200000000);
}

APART void heavy(void)
{
	SPIN(600000000);
}

static void *work(void *unused)
{
	light();
	DCK_PUSH("work");
	heavy();
	DCK_POP();
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	return pthread_join(thread, NULL);
}
