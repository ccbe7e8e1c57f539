/* zones.c - overhead of a range: a push and a pop through libdeepclock.so, recorded and not
 * recorded, compared with a lower bound: two readings of the time stamp counter and two entries of
 * 16 bytes.
 *
 * All run in turn in this process; ratios are within a round. Recording updates the table (name,
 * calls, times) and, to a file, writes Perfetto's format; the drain thread runs on
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
#include "rows.h"

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
	LONG_ROUNDS = 21,
	OFF_ROUNDS = 4000,
	OFF_PAIRS = 20000
};

/* Ratios to the lower bound; of the drain's time for an event to that of the thread that has the
 * ranges. */
#define LIMIT_RATIO    1.15
#define LIMIT_FILE     1.3
#define LIMIT_LOSSLESS 1.3
#define LIMIT_DRAIN    0.5
#define LIMIT_OFF_NS   0.5

typedef struct entry {
	uint64_t ticks, word;
} entry;

static entry ring[RING];
static const char bare_pairs[] = "times two time stamps and two entries";

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
	double dropped;
} outcome;

static double fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	return f ? (double)f->value.as.i : 0;
}

/* Records `times` times PAIRS ranges. */
static outcome recorded(const dck_trace_config *config, size_t times)
{
	outcome said = {0};
	dck_record *r;
	dck_err err;

	if (dck_trace_start(config, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (size_t i = 0; i < times; i++)
		said.pair_ns += time_of(zones, PAIRS) / (double)times;
	const double drain = drain_ns();
	if (dck_trace_stop(&r, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	said.drain_event_ns = drain / (2.0 * PAIRS * (double)times);
	said.dropped = fact(r, "dropped_events");
	dck_record_free(r);
	return said;
}

static int less(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void off_row(void)
{
	static double with[OFF_ROUNDS], without[OFF_ROUNDS];
	const size_t n = bench_quick() ? OFF_ROUNDS / 100 : OFF_ROUNDS;

	off_zones();
	off_nothing();
	for (size_t i = 0; i < n; i++) {
		without[i] = time_of(off_nothing, OFF_PAIRS);
		with[i] = time_of(off_zones, OFF_PAIRS);
	}
	qsort(without, n, sizeof *with, less);
	qsort(with, n, sizeof *with, less);
	const double least = with[0] - without[0];
	/* Of sorted rounds: what other programs add to both leaves again. */
	for (size_t i = 0; i < n; i++)
		with[i] -= without[i];
	bench_row_put(
	    &(bench_row){
		.work = "a zone, not recorded", .unit = "ns", .most = LIMIT_OFF_NS, .now = &least},
	    with, n / 2);
}

/* More events than the buffer holds: either the drain keeps up, or the program blocks. */
static void long_rows(const char *path, size_t times)
{
	const dck_trace_config to_file = {.path = path},
			       lossless = {.path = path, .lossless = true};
	const size_t n = bench_rounds(LONG_ROUNDS);
	double dropped[LONG_ROUNDS], drain[LONG_ROUNDS], ratio[LONG_ROUNDS];

	for (size_t i = 0; i < n; i++) {
		const double least = time_of(bare, PAIRS);
		const outcome s = recorded(&to_file, times), t = recorded(&lossless, times);

		dropped[i] = s.dropped / (2.0 * PAIRS * (double)times);
		drain[i] = 2 * s.drain_event_ns / s.pair_ns;
		ratio[i] = t.pair_ns / least;
	}
	printf("%zu times PAIRS in one go\n", times);
	bench_row_put(&(bench_row){.work = "zones in one go to a file: dropped",
				   .unit = "of the events",
				   .none_allowed = true},
		      dropped, n);
	bench_row_put(&(bench_row){.work = "zones in one go to a file: the drain",
				   .unit = "times the producer's time",
				   .most = LIMIT_DRAIN},
		      drain, n);
	bench_row_put(&(bench_row){.work = "zones in one go to a file, lossless",
				   .unit = bare_pairs,
				   .most = LIMIT_LOSSLESS},
		      ratio, n);
}

int main(int argc, char **argv)
{
	const size_t times = argc > 1	     ? (strtoul(argv[1], NULL, 10) + PAIRS - 1) / PAIRS
			     : bench_quick() ? 2
					     : LONG;
	const char *path = argc > 2 ? argv[2] : "bench_zones.pftrace";
	const dck_trace_config none = {0}, to_file = {.path = path},
			       outside = {.capture_ranges = {.item = {"another"}, .n = 1}};
	const size_t n = bench_rounds(ROUNDS);
	double on[ROUNDS], file[ROUNDS], out[ROUNDS];

	bare();
	for (size_t i = 0; i < n; i++) {
		const double least = time_of(bare, PAIRS);

		on[i] = recorded(&none, 1).pair_ns / least;
		file[i] = recorded(&to_file, 1).pair_ns / least;
		out[i] = recorded(&outside, 1).pair_ns / least;
	}
	bench_row_put(
	    &(bench_row){.work = "a zone, recorded", .unit = bare_pairs, .most = LIMIT_RATIO}, on,
	    n);
	bench_row_put(&(bench_row){.work = "a zone, recorded to a file",
				   .unit = bare_pairs,
				   .most = LIMIT_FILE},
		      file, n);
	bench_row_put(
	    &(bench_row){.work = "a zone outside of the --capture-range", .unit = bare_pairs}, out,
	    n);
	off_row();
	long_rows(path, times);
	if (argc <= 2)
		remove(path);
	return bench_status();
}
