/* trace_formats.c - encoding a timeline, compared with a lower bound: storing the same events into
 * a buffer of the same size, 16 bytes each. In turn, on one core; nothing is written to a file.
 *
 *     bench_trace_formats [--rounds N] [--passes N]
 *
 * The timeline has 48 names, ranges up to 8 deep and random times between events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/write/formats.h"
#include "base/rng.h"
#include "base/sink.h"
#include "profiler/timeline/timeline.h"
#include "rows.h"

enum { ROUNDS_MAX = 101, NAMES = 48, DEPTH = 8, BATCH = 4096, EVENTS = 16384 };

static _Noreturn void stop(const char *what)
{
	fprintf(stderr, "trace_formats: %s\n", what);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- a sink that counts and discards */

static dck_status forget(void *self, const void *bytes, size_t n, dck_err *err)
{
	(void)bytes;
	(void)err;
	*(uint64_t *)self += n;
	return DCK_OK;
}

static void make(trace_event *e, size_t n)
{
	uint64_t rng = 12;
	uint64_t ns = 5000000000; /* as after some seconds of a run */
	unsigned depth = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t r = rng_next(&rng);
		bool begins = depth == 0 || (depth < DEPTH && (r & 1));
		/* The remaining events always suffice to end the open ranges. */
		begins = begins && depth + 1 < n - i;
		ns += 20 + (r >> 8) % 2000;
		e[i] = (trace_event){.ns = ns,
				     .kind = begins ? TRACE_BEGIN : TRACE_END,
				     .name = begins ? 1 + (uint32_t)(r >> 40) % NAMES : 0};
		depth += begins ? 1 : -1u;
	}
}

static double by_format(const trace_format *f, const trace_event *e, size_t n, uint64_t *ret_bytes)
{
	static dck_sink sink;
	uint64_t bytes = 0;
	trace_out *o;
	char name[32];

	dck_sink_custom(&sink, forget, &bytes);
	if (f->open(&o, &sink, &(trace_header){.boottime_ns = 1}, NULL) != DCK_OK)
		stop("no memory");
	f->track(o, &(trace_track){.id = 1, .kind = TRACE_PROCESS, .pid = 7});
	f->track(o, &(trace_track){.id = 2, .parent = 1, .kind = TRACE_THREAD, .pid = 7, .tid = 7});
	for (uint32_t i = 1; i <= NAMES; i++) {
		snprintf(name, sizeof name, "layer%u.forward", i);
		f->intern(o, i, &(trace_name){.text = name, .n = strlen(name)});
	}
	double begin = now_ns();
	for (size_t at = 0; at < n; at += BATCH)
		f->events(o, 2, e + at, n - at < BATCH ? n - at : BATCH);
	double took = now_ns() - begin;
	if (f->close(o, NULL) != DCK_OK || dck_sink_finish(&sink, NULL) != DCK_OK)
		stop("the trace failed");
	*ret_bytes = bytes;
	return took;
}

static double by_storing(const trace_event *e, size_t n)
{
	static dck_sink sink;
	uint64_t bytes = 0;

	dck_sink_custom(&sink, forget, &bytes);
	double begin = now_ns();
	for (size_t at = 0; at < n;) {
		char *p = sink_reserve(&sink, sizeof sink.buf), *const from = p;
		for (; at < n && p + 16 <= from + sizeof sink.buf; p += 16, at++)
			memcpy(p, &e[at], 16);
		sink.used += (size_t)(p - from);
	}
	double took = now_ns() - begin;
	return dck_sink_finish(&sink, NULL) == DCK_OK ? took : 0;
}

/* Maximum ratio to plain storing. */
static const struct {
	const char *name, *work;
	double ratio;
} limits[] = {{"perfetto", "encoding an event, Perfetto's format", 16},
	      {"chrome", "encoding an event, Chrome's format", 24}};

int main(int argc, char **argv)
{
	static trace_event e[EVENTS];
	size_t rounds = bench_rounds(21), passes = 64;
	cpu_set_t one;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--rounds") == 0)
			rounds = strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--passes") == 0)
			passes = strtoul(argv[i + 1], NULL, 10);
	}
	if (rounds < 1 || rounds > ROUNDS_MAX || passes < 1)
		stop("--rounds 1 to 101, --passes 1 or more");
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	make(e, EVENTS);
	for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
		static double took[ROUNDS_MAX], plain[ROUNDS_MAX], ratio[ROUNDS_MAX];
		const trace_format *f = trace_format_find(limits[k].name);
		uint64_t bytes = 0;

		if (!f)
			continue;
		for (size_t i = 0; i < rounds; i++) {
			took[i] = plain[i] = 0;
			for (size_t p = 0; p < passes; p++) {
				plain[i] += by_storing(e, EVENTS);
				took[i] += by_format(f, e, EVENTS, &bytes);
			}
			took[i] /= (double)(passes * EVENTS);
			plain[i] /= (double)(passes * EVENTS);
			ratio[i] = took[i] / plain[i];
		}
		printf("%s: %.1f bytes an event\n", f->name, (double)bytes / EVENTS);
		bench_row_put(&(bench_row){.work = limits[k].work,
					   .unit = "times storing 16 bytes",
					   .most = limits[k].ratio},
			      ratio, rounds);
		bench_row_put(&(bench_row){.work = limits[k].work, .unit = "ns", .peer = "whole"},
			      took, rounds);
		bench_row_put(&(bench_row){.work = limits[k].work, .unit = "ns", .peer = "storing"},
			      plain, rounds);
	}
	return bench_status();
}
