/* clock_overhead.c - overhead of a sample, compared with two bare readings of the same clock.
 *
 * Both loops run in turn in this process. The first is the whole of dck_bench() over an empty
 * function: clock, call through the engine table, clock, push, and the share of the work between
 * slices. The second is two readings and a sum.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "deepclock/bench.h"
#include "rows.h"
#include "os/os.h"

#define ROUNDS	 21
#define SAMPLES	 100000
#define LIMIT_NS 3.0

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static double bare_ns(const dck_clock *c)
{
	uint64_t sum = 0, begin = c->now_ns(c->self);

	for (int i = 0; i < SAMPLES; i++) {
		uint64_t a = c->now_ns(c->self);
		uint64_t b = c->now_ns(c->self);

		sum += b - a;
	}
	/* The sum keeps the compiler from removing the readings. */
	return (double)(c->now_ns(c->self) - begin) / SAMPLES + (sum == UINT64_MAX ? 1 : 0);
}

static double ours_ns(const dck_clock *c)
{
	dck_subject s;
	dck_plan plan;
	dck_record *r;
	dck_err err;
	double ns;

	dck_subject_init(&s);
	s.function = nothing;
	dck_plan_init(&plan);
	plan.clock = c;
	plan.runs = SAMPLES;
	plan.group = 1;
	plan.warmup = "1000";
	if (dck_bench(&s, &plan, NULL, &r, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	ns = dck_record_value(r, "time/measured") / SAMPLES;
	dck_record_free(r);
	return ns;
}

int main(void)
{
	static const char work[] = "a sample of an empty function";
	const bench_row by_hand = {.work = work, .unit = "ns", .peer = "two bare clock readings"},
			whole = {.work = work, .unit = "ns, whole"},
			added = {.work = work, .unit = "ns added", .most = LIMIT_NS};
	const size_t n = bench_rounds(ROUNDS);
	double ours[ROUNDS], bare[ROUNDS], extra[ROUNDS];
	os_clock_state state = {0};
	dck_clock clock;

	if (!os_clock_tsc(&state, &clock))
		os_clock_monotonic(&clock);
	for (size_t i = 0; i < n; i++) {
		bare[i] = bare_ns(&clock);
		ours[i] = ours_ns(&clock);
		extra[i] = ours[i] - bare[i];
	}
	printf("clock '%s', %zu rounds of %d in turn\n", clock.name, n, SAMPLES);
	bench_row_put(&added, extra, n);
	bench_row_put(&whole, ours, n);
	bench_row_put(&by_hand, bare, n);
	return bench_status();
}
