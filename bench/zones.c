/* zones.c - overhead of a range: a push and a pop through libdeepclock.so, recorded and not
 * recorded, compared with a lower bound: two readings of the time stamp counter and two entries of
 * 16 bytes.
 *
 * All run in turn in this process; ratios are within a round. Recording updates the table (name,
 * calls, times) and, in the second pair of rows, writes Perfetto's file; the drain thread runs on
 * another processor if possible. Events that do not fit into the buffer are dropped and counted.
 *
 * A range that is not recorded costs less than the resolution of the clock. So its cost is the
 * minimum of many short rounds, without and with the macros in turn, of ten unrolled pairs in a
 * loop: other programs on the core can only lengthen a round, and rarely disturb a short one.
 *
 *	bench_zones [PAIRS [FILE]]	number of pairs in one run (default 10000000), to FILE
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/zone.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum {
	ROUNDS = 41,
	PAIRS = 100000,
	RING = 65536,
	LONG = 100,
	OFF_ROUNDS = 4000,
	OFF_PAIRS = 20000
};

#define LIMIT_RATIO  1.2
#define LIMIT_FILE   1.6
#define LIMIT_OFF_NS 0.5

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

/* CPU time of this thread, which excludes other programs. */
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

#define TEN(x)	x x x x x x x x x x
#define BARRIER __asm__ volatile("" : : : "memory");
#define PAIR               \
	DCK_PUSH("range"); \
	DCK_POP();         \
	BARRIER

static void off_zones(void)
{
	for (int i = 0; i < OFF_PAIRS / 10; i++) {
		TEN(PAIR)
	}
}

static void off_nothing(void)
{
	for (int i = 0; i < OFF_PAIRS / 10; i++) {
		TEN(BARRIER)
	}
}

static double time_of(void (*f)(void), int pairs)
{
	uint64_t begin = cpu_ns();

	f();
	return (double)(cpu_ns() - begin) / pairs;
}

/* Returns the CPU time of the drain thread; 0: unknown. */
static double drain_ns(void)
{
	DIR *all = opendir("/proc/self/task");
	double ns = 0;

	for (struct dirent *e; all && (e = readdir(all));) {
		char path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
		f = fopen(path, "r");
		if (!f || !fgets(name, sizeof name, f) || strcmp(name, "deepclock\n") != 0)
			name[0] = '\0';
		if (f)
			fclose(f);
		snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
		f = name[0] ? fopen(path, "r") : NULL;
		if (f && fscanf(f, "%lf", &ns) != 1)
			ns = 0;
		if (f)
			fclose(f);
	}
	if (all)
		closedir(all);
	return ns;
}

typedef struct outcome {
	double pair_ns, drain_event_ns; /* CPU time; the drain's until the last pair */
	double dropped, bytes, waited_ns;
} outcome;

static double fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	return f ? (double)f->value.as.i : 0;
}

/* Records `times` times PAIRS ranges. */
static outcome recorded(const dck_trace_config *config, long times)
{
	outcome said = {0};
	dck_record *r;
	dck_err err;

	if (dck_trace_start(config, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (long i = 0; i < times; i++)
		said.pair_ns += time_of(zones, PAIRS) / (double)times;
	const double drain = drain_ns();
	if (dck_trace_stop(&r, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	said.drain_event_ns = drain / (2.0 * PAIRS * (double)times);
	said.dropped = fact(r, "dropped_events");
	said.bytes = fact(r, "file_size");
	said.waited_ns = fact(r, "buffer_full_time");
	dck_record_free(r);
	return said;
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

static double off_row(void)
{
	static double with[OFF_ROUNDS], without[OFF_ROUNDS];

	off_zones();
	off_nothing();
	for (int i = 0; i < OFF_ROUNDS; i++) {
		without[i] = time_of(off_nothing, OFF_PAIRS);
		with[i] = time_of(off_zones, OFF_PAIRS);
	}
	qsort(without, OFF_ROUNDS, sizeof *with, less);
	qsort(with, OFF_ROUNDS, sizeof *with, less);
	printf(
	    "  not recorded: %.2f, the least of %d rounds; the median round %.2f, a tenth of them "
	    "below %.2f\n",
	    with[0] - without[0], OFF_ROUNDS, with[OFF_ROUNDS / 2] - without[OFF_ROUNDS / 2],
	    with[OFF_ROUNDS / 10] - without[OFF_ROUNDS / 10]);
	return with[0] - without[0];
}

/* More events than the buffer holds: either the drain keeps up, or the program blocks. */
static void long_row(const dck_trace_config *config, long times, double least)
{
	const outcome s = recorded(config, times);

	printf(
	    "  %ld in one go, to a file%s: %.2f ns, ratio %.2f; the drain %.1f ns for each event; "
	    "dropped %.0f events, waited %.2f s, %.2f GB\n",
	    times * PAIRS, config->lossless ? ", lossless" : "", s.pair_ns, s.pair_ns / least,
	    s.drain_event_ns, s.dropped, s.waited_ns / 1e9, s.bytes / 1e9);
}

int main(int argc, char **argv)
{
	const long times = argc > 1 ? (atol(argv[1]) + PAIRS - 1) / PAIRS : LONG;
	const char *path = argc > 2 ? argv[2] : "bench_zones.pftrace";
	const dck_trace_config none = {0}, to_file = {.path = path},
			       lossless = {.path = path, .lossless = true},
			       outside = {.capture_ranges = {.item = {"another"}, .n = 1}};
	double least[ROUNDS], on[ROUNDS], out[ROUNDS], ratio[ROUNDS], file[ROUNDS],
	    file_ratio[ROUNDS];
	double dropped = 0, file_dropped = 0;

	bare();
	for (int i = 0; i < ROUNDS; i++) {
		least[i] = time_of(bare, PAIRS);
		const outcome s = recorded(&none, 1), t = recorded(&to_file, 1);
		out[i] = recorded(&outside, 1).pair_ns;
		on[i] = s.pair_ns;
		file[i] = t.pair_ns;
		dropped += s.dropped;
		file_dropped += t.dropped;
		ratio[i] = on[i] / least[i];
		file_ratio[i] = file[i] / least[i];
	}
	printf("a push and a pop, %d rounds of %d in turn (ns: median, least to greatest)\n",
	       ROUNDS, PAIRS);
	row("two time stamps, two entries", least);
	row("recorded, through libdeepclock.so", on);
	double r = row("  as a ratio", ratio);
	row("and written to a file", file);
	double w = row("  as a ratio", file_ratio);
	row("outside of the --capture-range", out);
	double o = off_row();
	printf("  limits: ratios %.1f and %.1f, not recorded %.1f ns; events dropped: %.0f and "
	       "%.0f of %.0f\n",
	       LIMIT_RATIO, LIMIT_FILE, LIMIT_OFF_NS, dropped, file_dropped, 2.0 * PAIRS * ROUNDS);
	long_row(&to_file, times, least[ROUNDS / 2]);
	long_row(&lossless, times, least[ROUNDS / 2]);
	if (argc <= 2)
		remove(path);
	return r <= LIMIT_RATIO && w <= LIMIT_FILE && o <= LIMIT_OFF_NS ? 0 : 1;
}
