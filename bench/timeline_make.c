/* timeline_make.c - writes a trace of a given number of events, for bench/html_timeline.py: threads
 * that train in steps, waits, a counter for each thread and one of the process, marks.
 *
 *     bench_timeline_make EVENTS FILE	FILE's extension selects the format
 *
 * A range's begin and its end are two events. The same number gives the same file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "profiler/write/formats.h"

enum { THREADS = 8, BATCH = 4096, DEPTH = 7, STEP_NAMES = 4, LAYERS = 24, OPERATORS = 40 };
enum { FIRST_THREAD = 2, FIRST_COUNTER = FIRST_THREAD + THREADS, LOSS = FIRST_COUNTER + THREADS };
enum {
	STEP = 1,
	LAYER,
	OPERATOR = LAYER + LAYERS,
	WAIT = OPERATOR + OPERATORS,
	MARK,
	NAMES = MARK
};

static _Noreturn void stop(const char *what)
{
	fprintf(stderr, "timeline_make: %s\n", what);
	exit(1);
}

typedef struct thread {
	uint64_t ns, rng;
	unsigned depth;
	/* Per open range: its function, and its number of calls. */
	uint32_t open[DEPTH + 1], calls[DEPTH + 1];
} thread;

static const trace_format *format;
static trace_out *out;

static void names_tell(void)
{
	char text[64];

	for (uint32_t id = STEP; id <= NAMES; id++) {
		if (id == STEP)
			snprintf(text, sizeof text, "step");
		else if (id < OPERATOR)
			snprintf(text, sizeof text, "layer%u.forward", id - LAYER);
		else if (id < WAIT)
			snprintf(text, sizeof text, "aten::operator_%u", id - OPERATOR);
		else
			snprintf(text, sizeof text, id == WAIT ? "wait: condition" : "checkpoint");
		format->intern(out, id,
			       &(trace_name){.text = text,
					     .n = strlen(text),
					     .category = id == WAIT ? WAITS_CATEGORY : NULL});
	}
}

static void tracks_tell(void)
{
	char text[64];

	format->track(out,
		      &(trace_track){.id = 1, .kind = TRACE_PROCESS, .pid = 7, .name = "train"});
	for (uint32_t i = 0; i < THREADS; i++) {
		const int32_t tid = 7 + (int32_t)i;

		snprintf(text, sizeof text, "worker %u", i);
		format->track(out, &(trace_track){.id = FIRST_THREAD + i,
						  .parent = 1,
						  .kind = TRACE_THREAD,
						  .pid = 7,
						  .tid = tid,
						  .name = text});
		format->track(out, &(trace_track){.id = FIRST_COUNTER + i,
						  .parent = FIRST_THREAD + i,
						  .kind = TRACE_COUNTER_TRACK,
						  .pid = 7,
						  .tid = tid,
						  .name = "queue",
						  .unit = DCK_UNIT_ONE});
	}
	format->track(out, &(trace_track){.id = LOSS,
					  .parent = 1,
					  .kind = TRACE_COUNTER_TRACK,
					  .pid = 7,
					  .name = "memory",
					  .unit = DCK_UNIT_BYTE});
}

/* The next callee depends on the caller and on its previous callee, as in a program. */
static uint32_t called(thread *t)
{
	const uint32_t by = t->open[t->depth], k = t->calls[t->depth]++;

	if (t->depth == 0)
		return STEP;
	if (t->depth == 1)
		return LAYER + k % LAYERS;
	return t->depth == 2 && k % 16 == 7 ? WAIT : OPERATOR + (by * 7 + k % 3) % OPERATORS;
}

/* Returns the thread's next event, a begin or an end; deeper ranges are shorter. */
static trace_event next(thread *t, bool last)
{
	const uint64_t r = rng_next(&t->rng), some = (r >> 8) % 2000;
	const bool begins = t->depth == 0 || (!last && t->depth < DEPTH && (r & 1)) ||
			    (!last && t->depth == 1 && t->calls[1] < 10 * LAYERS);
	trace_event e = {.kind = begins ? TRACE_BEGIN : TRACE_END};

	t->ns += 20 + (t->depth > 3 ? some : some * 4);
	e.ns = t->ns;
	if (begins) {
		e.name = called(t);
		t->open[++t->depth] = e.name;
		t->calls[t->depth] = 0;
	} else {
		t->depth--;
	}
	return e;
}

static void events_tell(uint64_t n)
{
	static trace_event e[BATCH];
	thread threads[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = (thread){.rng = 12 + i};
	for (uint64_t told = 0, round = 0; told < n; round++) {
		const uint32_t i = (uint32_t)(round % THREADS);
		thread *t = &threads[i];
		const uint64_t left = n - told;
		const size_t many = left < BATCH ? (size_t)left : BATCH;
		size_t k = 0;

		for (; k < many; k++)
			e[k] = next(t, left - k <= DEPTH);
		format->events(out, FIRST_THREAD + i, e, k);
		told += k;
		/* Not counted as events: a few per batch. */
		format->events(out, FIRST_COUNTER + i,
			       &(trace_event){.ns = t->ns,
					      .kind = TRACE_COUNTER,
					      .as.real = (double)(rng_next(&t->rng) % 32)},
			       1);
		format->events(
		    out, LOSS,
		    &(trace_event){.ns = t->ns,
				   .kind = TRACE_COUNTER,
				   .as.real = 1e9 + (double)(rng_next(&t->rng) % 1000000000)},
		    1);
		if (round % 64 == 0)
			format->events(
			    out, FIRST_THREAD + i,
			    &(trace_event){.ns = t->ns, .kind = TRACE_INSTANT, .name = MARK}, 1);
	}
}

int main(int argc, char **argv)
{
	static dck_sink sink;
	const uint64_t n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	dck_err err = {0};

	if (n < 2)
		stop("EVENTS FILE");
	format = trace_suffix_of(argv[2]).format;
	const int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (!format || fd < 0)
		stop("no such form, or the file cannot be written");
	dck_sink_fd(&sink, fd);
	if (format->open(&out, &sink, &(trace_header){.boottime_ns = 1, .command = "train"},
			 &err) != DCK_OK)
		stop(err.msg);
	names_tell();
	tracks_tell();
	events_tell(n);
	if (format->close(out, &err) != DCK_OK || dck_sink_finish(&sink, &err) != DCK_OK ||
	    close(fd) != 0)
		stop(err.msg);
	return 0;
}
