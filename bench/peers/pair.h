/* pair.h - one range of a peer compared with the bare pair and with deepclock's, in one process:
 * rounds of each in turn, thread CPU time of a range in nanoseconds, one line per round. C and C++.
 *
 * Include it once, in the peer's only file; bench/zone_peers.py builds, runs and summarises.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIR_H
#define PAIR_H

#include "deepclock/trace.h"
#include "deepclock/zone.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { PAIR_ROUNDS = 21, PAIR_TIMES = 20000, PAIR_RING = 65536 };

/* uftrace instruments every function without this attribute. */
#define PAIR_OWN static __attribute__((no_instrument_function, unused))

typedef struct pair_entry {
	uint64_t ticks, word;
} pair_entry;

static pair_entry pair_ring[PAIR_RING];

PAIR_OWN uint64_t pair_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

PAIR_OWN inline uint64_t pair_ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return pair_clock(CLOCK_MONOTONIC);
#endif
}

PAIR_OWN inline void pair_keep(uint32_t *at, uint64_t word)
{
	pair_entry *e = &pair_ring[(*at)++ % PAIR_RING];

	e->ticks = pair_ticks();
	e->word = word;
}

/* Lower bound: two readings of the counter, two entries of 16 bytes. */
PAIR_OWN void pair_bare(void)
{
	uint32_t at = 0;

	for (int i = 0; i < PAIR_TIMES; i++) {
		pair_keep(&at, 1);
		pair_keep(&at, 2);
		__asm__ volatile("" : : : "memory");
	}
}

PAIR_OWN void pair_deepclock(void)
{
	for (int i = 0; i < PAIR_TIMES; i++) {
		DCK_PUSH("range");
		DCK_POP();
		__asm__ volatile("" : : : "memory");
	}
}

/* CPU time of this thread: threads that move events elsewhere count only if they slow this one. */
PAIR_OWN double pair_time(void (*f)(void))
{
	const uint64_t begin = pair_clock(CLOCK_THREAD_CPUTIME_ID);

	f();
	return (double)(pair_clock(CLOCK_THREAD_CPUTIME_ID) - begin) / PAIR_TIMES;
}

/* peer: PAIR_TIMES ranges. path: deepclock's file. */
PAIR_OWN int pair_run(void (*peer)(void), const char *path)
{
	dck_trace_config config;
	dck_record *r;
	dck_err err;

	memset(&config, 0, sizeof config);
	config.path = path;
	if (dck_trace_start(&config, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	for (int i = -1; i < PAIR_ROUNDS; i++) {
		const double bare = pair_time(pair_bare), ours = pair_time(pair_deepclock),
			     theirs = pair_time(peer);

		if (i >= 0) /* the first is a warm-up */
			printf("%.4f %.4f %.4f\n", bare, ours, theirs);
	}
	if (dck_trace_stop(&r, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	const int whole = dck_record_fact(r, "trace", "dropped_events")->value.as.i == 0;
	dck_record_free(r);
	if (!whole)
		fprintf(stderr, "deepclock dropped events: it was faster for that\n");
	return !whole;
}

#endif
