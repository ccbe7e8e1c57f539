/* zones.c - what a range costs: a push and a pop through libdeepclock.so, while it records and
 * while it does not, beside the least that can record it: two readings of the time stamp counter
 * and two entries of 16 bytes.
 *
 * All run in turn in this process; ratios are of the same round. Recording keeps the table (name,
 * calls, times) and, in the second pair of rows, writes Perfetto's file; the drain runs beside it
 * on another processor where there is one. What it cannot take in time is dropped, and counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { ROUNDS = 41, PAIRS = 100000, RING = 65536, LONG = 100 };

#define LIMIT_RATIO  1.2
#define LIMIT_FILE   1.6
#define LIMIT_OFF_NS 0.5

static const char out[] = "bench_zones.pftrace";

typedef struct entry {
	uint64_t ticks, word;
} entry;

static entry ring[RING];

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of this thread: what other programs take is no cost of a range. */
static uint64_t cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return read_clock(CLOCK_MONOTONIC);
#endif
}

static void bare(void)
{
	uint32_t at = 0;

	for (int i = 0; i < PAIRS; i++) {
		ring[at++ % RING] = (entry){ticks(), 1};
		ring[at++ % RING] = (entry){ticks(), 2};
		__asm__ volatile("" : : : "memory");
	}
}

static void zones(void)
{
	for (int i = 0; i < PAIRS; i++) {
		DCK_PUSH("range");
		DCK_POP();
		__asm__ volatile("" : : : "memory");
	}
}

static void nothing(void)
{
	for (int i = 0; i < PAIRS; i++)
		__asm__ volatile("" : : : "memory");
}

static double time_of(void (*f)(void))
{
	uint64_t begin = cpu_ns();

	f();
	return (double)(cpu_ns() - begin) / PAIRS;
}

/* path NULL: the table alone; times: rounds in one recording. */
static double recorded(const char *path, int times, uint64_t *dropped)
{
	dck_trace_config config = {.path = path};
	dck_record *r;
	dck_err err;

	if (dck_trace_start(&config, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	double ns = 0;
	for (int i = 0; i < times; i++)
		ns += time_of(zones) / times;
	if (dck_trace_stop(&r, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	*dropped += (uint64_t)dck_record_fact(r, "trace", "dropped_events")->value.as.i;
	dck_record_free(r);
	return ns;
}

static int less(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double row(const char *name, double *x)
{
	qsort(x, ROUNDS, sizeof *x, less);
	printf("  %-34s %8.2f  %8.2f to %.2f\n", name, x[ROUNDS / 2], x[0], x[ROUNDS - 1]);
	return x[ROUNDS / 2];
}

int main(void)
{
	double least[ROUNDS], on[ROUNDS], off[ROUNDS], ratio[ROUNDS], file[ROUNDS],
	    file_ratio[ROUNDS];
	uint64_t dropped = 0, file_dropped = 0;

	bare();
	zones();
	for (int i = 0; i < ROUNDS; i++) {
		least[i] = time_of(bare);
		on[i] = recorded(NULL, 1, &dropped);
		file[i] = recorded(out, 1, &file_dropped);
		off[i] = time_of(zones) - time_of(nothing);
		ratio[i] = on[i] / least[i];
		file_ratio[i] = file[i] / least[i];
	}
	printf("a push and a pop, %d rounds of %d in turn (ns: median, least to greatest)\n",
	       ROUNDS, PAIRS);
	row("two time stamps, two entries", least);
	row("recorded, through libdeepclock.so", on);
	double r = row("  as a ratio", ratio);
	row("and written to a file", file);
	double w = row("  as a ratio", file_ratio), o = row("not recorded", off);
	printf(
	    "  limits: ratios %.1f and %.1f, not recorded %.1f ns; events dropped: %llu and %llu of "
	    "%llu\n",
	    LIMIT_RATIO, LIMIT_FILE, LIMIT_OFF_NS, (unsigned long long)dropped,
	    (unsigned long long)file_dropped, 2ull * PAIRS * ROUNDS);
	/* More than the memory holds: here the drain must follow. */
	uint64_t long_dropped = 0;
	double long_ns = recorded(out, LONG, &long_dropped);
	printf("  %d in one go, to a file: %.2f ns, ratio %.2f, dropped %.1f %%\n", LONG * PAIRS,
	       long_ns, long_ns / least[ROUNDS / 2],
	       100 * (double)long_dropped / (2.0 * LONG * PAIRS));
	remove(out);
	return r <= LIMIT_RATIO && w <= LIMIT_FILE && o <= LIMIT_OFF_NS ? 0 : 1;
}
