/* trace_random.h - a random timeline, and whether two conversions of one are equal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TRACE_RANDOM_H
#define TESTS_TRACE_RANDOM_H

#include "trace_log.h"

#include "base/rng.h"

enum { THREADS = 3, STEPS = 3000 };

/* Writes a random timeline: equal calls for an equal seed. rich: with features that some formats
 * lack: source locations, categories, units and threads without a name; and without ranges that end
 * on another thread, which the reader of Perfetto moves to that of their begin. */
static inline void tell_random(const trace_format *f, trace_out *o, uint64_t seed, bool rich)
{
	uint64_t rng = seed, ns[THREADS + 2] = {0}, depth[THREADS + 2] = {0}, ids = 0;
	char name[64];

	f->track(o, &(trace_track){.id = 1, .kind = TRACE_PROCESS, .pid = 70, .name = "prog"});
	for (uint32_t i = 0; i < THREADS; i++) {
		snprintf(name, sizeof name, "worker %u", i);
		f->track(o, &(trace_track){.id = 2 + i,
					   .parent = 1,
					   .kind = TRACE_THREAD,
					   .pid = 70,
					   .tid = 70 + (int32_t)i,

					   .name = i || !rich ? name : NULL});
	}
	f->track(o, &(trace_track){.id = 2 + THREADS,
				   .parent = 1,
				   .kind = TRACE_COUNTER_TRACK,
				   .pid = 70,
				   .name = "memory",
				   .unit = rich ? DCK_UNIT_BYTE : DCK_UNIT_NONE});
	f->track(o, &(trace_track){.id = 3 + THREADS,
				   .parent = 2,
				   .kind = TRACE_COUNTER_TRACK,
				   .pid = 70,
				   .tid = 70,
				   .name = "CPU time",
				   .unit = DCK_UNIT_NS});
	for (uint32_t i = 1; i < 100; i++) {
		snprintf(name, sizeof name, "range \"%u\"", i);
		f->intern(o, i,
			  &(trace_name){.text = name,
					.n = strlen(name),
					.category = i % 3 || !rich ? NULL : "io",
					.file = i % 5 || !rich ? NULL : "step.c",
					.line = rich ? i % 7 * 100 : 0});
	}
	for (int step = 0; step < STEPS; step++) {
		trace_event e[64];
		size_t n = 0, want = 1 + rng_below(&rng, 40);
		uint32_t t = (uint32_t)rng_below(&rng, THREADS + 2);

		while (n < want) {
			trace_event one = {.name = 1 + (uint32_t)rng_below(&rng, 99)};
			ns[t] += rng_below(&rng, 4) ? rng_below(&rng, 3000) : 0;
			one.ns = ns[t];
			if (t >= THREADS) {
				one.kind = TRACE_COUNTER;
				one.name = 0;
				one.as.real = (double)rng_below(&rng, 1000000) / 7;
				e[n++] = one;
				continue;
			}
			switch (rng_below(&rng, 8)) {
			case 0:
				one.kind = TRACE_INSTANT;
				break;
			case 1:
				one.kind = TRACE_ASYNC_BEGIN;
				one.as.id = ++ids * THREADS + t;
				break;
			case 2:
				one.kind = TRACE_ASYNC_END;
				one.name = 0;
				one.as.id = (1 + rng_below(&rng, ids + 1)) * THREADS;
				one.as.id += rich ? t : rng_below(&rng, THREADS);
				/* A writer may hold it until its begin: alone at its time. */
				one.ns = ++ns[t];
				ns[t]++;
				break;
			case 3:
			case 4:
			case 5:
				one.kind = depth[t] ? TRACE_END : TRACE_BEGIN;
				break;
			default:
				one.kind = TRACE_BEGIN;
				break;
			}
			if (one.kind == TRACE_END) {
				one.name = 0;
				depth[t]--;
			}
			e[n++] = one;
			if (one.kind != TRACE_BEGIN)
				continue;
			depth[t]++;
			if (rng_below(&rng, 3) == 0)
				e[n++] = (trace_event){.ns = one.ns,
						       .kind = TRACE_ANNOTATION,
						       .name = 1,
						       .as.real = (double)rng_below(&rng, 9) / 3};
			if (rng_below(&rng, 9) == 0)
				e[n++] = (trace_event){.ns = one.ns,
						       .kind = TRACE_FLOW_BEGIN +
							       (uint32_t)rng_below(&rng, 3),
						       .as.id = rng_below(&rng, 99)};
		}
		f->events(o, 2 + t, e, n);
	}
	for (uint32_t t = 0; t < THREADS; t++)
		for (; depth[t]; depth[t]--)
			f->events(o, 2 + t, &(trace_event){.ns = ns[t], .kind = TRACE_END}, 1);
}

static inline void assert_same_log(const trace_log *want, const trace_log *got)
{
	for (size_t i = 0; i < LOG_TRACKS; i++) {
		if (!want->tracks[i].text.data)
			continue;
		const char *text = trace_log_find(got, want->tracks[i].what);
		if (!text)
			fail_msg("nothing of %s", want->tracks[i].what);
		assert_string_equal(text, want->tracks[i].text.data);
	}
}

#endif
