/* device_track.c - writes the ranges of a device's queue into event buffers that belong to no
 * thread (thread_buffer_open()), so that the drain needs no second path.
 *
 * Conversion from CLOCK_MONOTONIC to ticks: a ring of pairs of both clocks, taken at most every
 * SYNC_NS, when the track is written or dck_device_track_sync() is called. Between two pairs it is
 * linear, and thus continuous: order is preserved. Before the first and after the last pair the
 * nominal rate of the ticks continues it.
 *
 * Rows: each overlapping range needs its own row, a buffer whose times go forward. The first row
 * that is free at the range's begin takes it (greedy interval partitioning: optimal for ranges
 * sorted by begin).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/device_track.h"

#include "base/mem.h"
#include "profiler/trace/backfill.h"
#include "profiler/trace/capture.h"
#include "profiler/trace/clock_snapshot.h"
#include "profiler/trace/zone_names.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYNCS = 64, SYNC_NS = 10000000, DEVICE_NAME_BYTES = 192 };

typedef struct track_row {
	thread_buffer_self buffer; /* thread_buffer NULL: not open */
	uint64_t last_ns;
} track_row;

struct device_track {
	char name[DEVICE_NAME_BYTES];
	track_row rows[DEVICE_TRACK_ROWS];
	/* Pairs of clocks, the oldest at nsyncs - SYNCS once there are more. */
	struct {
		uint64_t ns, ticks;
	} syncs[SYNCS];
	uint64_t nsyncs;
	bool is_tsc; /* of the pairs */
	/* dck_device_track_at_end(), under `device_ends` */
	void (*at_end)(void *self);
	void *self;
	device_track *next;
};

/* --- clocks */

static void sync_now(device_track *t)
{
	const bool is_tsc = TICKS_QUICK();

	if (t->is_tsc != is_tsc)
		t->nsyncs = 0;
	t->is_tsc = is_tsc;
	if (t->nsyncs && ticks_of_system() - t->syncs[(t->nsyncs - 1) % SYNCS].ns < SYNC_NS)
		return;
	clock_snapshot_pair(&t->syncs[t->nsyncs % SYNCS].ns, &t->syncs[t->nsyncs % SYNCS].ticks);
	t->nsyncs++;
}

/* Returns the ticks `ns` after a number of ticks; negative: before it. */
static uint64_t ticks_moved(uint64_t ticks, int64_t ns)
{
	const double moved = (double)ns * 0x1p32 / (double)ticks_ns_q32;

	return moved < 0 && -moved > (double)ticks ? 0 : ticks + (uint64_t)(int64_t)moved;
}

static uint64_t track_ticks(device_track *t, uint64_t ns)
{
	const uint64_t first = t->nsyncs > SYNCS ? t->nsyncs - SYNCS : 0, last = t->nsyncs - 1;
	uint64_t i = last;

	while (i > first && t->syncs[i % SYNCS].ns > ns)
		i--;
	const uint64_t at = t->syncs[i % SYNCS].ns, ticks = t->syncs[i % SYNCS].ticks;
	if (i == last || ns < at)
		return ticks_moved(ticks, (int64_t)(ns - at));
	const uint64_t next = t->syncs[(i + 1) % SYNCS].ns;
	const double share = (double)(ns - at) / (double)(next - at);
	return ticks + (uint64_t)(share * (double)(t->syncs[(i + 1) % SYNCS].ticks - ticks));
}

/* --- rows */

/* Opens the row's buffer if it has none. false: no buffer is free. */
static bool row_is_open(device_track *t, size_t i)
{
	track_row *r = &t->rows[i];
	char name[DEVICE_NAME_BYTES + 8];

	/* The parent's buffer is not the child's. */
	if (r->buffer.thread_buffer && !thread_buffer_is_lost(&r->buffer))
		return true;
	*r = (track_row){.last_ns = 0};
	if (i)
		snprintf(name, sizeof name, "%s (%zu)", t->name, i + 1);
	return thread_buffer_open(&r->buffer, dck_past_name(NULL, i ? name : t->name));
}

/* Writes an event at that time, or at the last one of the row. value: of words that have one. */
static void put(device_track *t, size_t i, uint64_t ns, uint64_t word, uint64_t value)
{
	track_row *r = &t->rows[i];

	r->last_ns = ns > r->last_ns ? ns : r->last_ns;
	thread_buffer_put_to(&r->buffer, track_ticks(t, r->last_ns), word, value);
}

/* Returns the time, or now if that is earlier. */
static uint64_t not_after_now(uint64_t ns)
{
	const uint64_t now = ticks_of_system();

	return ns < now ? ns : now;
}

/* --- the interface */

uint64_t dck_device_flow(void)
{
	const uint64_t id = trace_is_recording() ? thread_buffer_range() : 0;

	return id && capture_put_value(LANE_WORD(LANE_FLOW_BEGIN, 0), id) ? id : 0;
}

device_track *dck_device_track_open(const char *name)
{
	device_track *t = mem_zalloc(1, sizeof *t);

	if (!t)
		return NULL;
	snprintf(t->name, sizeof t->name, "%s", name);
	sync_now(t);
	return t;
}

void dck_device_track_close(device_track *t)
{
	if (t)
		dck_device_track_at_end(t, NULL, NULL);
	for (size_t i = 0; t && i < DEVICE_TRACK_ROWS; i++)
		if (t->rows[i].buffer.thread_buffer && !thread_buffer_is_lost(&t->rows[i].buffer))
			thread_buffer_close(&t->rows[i].buffer);
	mem_free(t);
}

void dck_device_track_sync(device_track *t)
{
	sync_now(t);
}

void dck_device_track_begin(device_track *t, uint32_t name, uint64_t ns, uint64_t flow)
{
	if (!trace_is_recording() || !row_is_open(t, 0))
		return;
	sync_now(t);
	put(t, 0, not_after_now(ns), LANE_WORD(LANE_PUSH, name), 0);
	if (flow)
		put(t, 0, 0, LANE_WORD(LANE_FLOW_END, 0), flow);
}

void dck_device_track_number(device_track *t, uint32_t name, double value)
{
	if (trace_is_recording() && row_is_open(t, 0))
		put(t, 0, 0, LANE_WORD(LANE_NUMBER, name), thread_buffer_bits(value));
}

void dck_device_track_end(device_track *t, uint64_t ns)
{
	if (!trace_is_recording() || !row_is_open(t, 0))
		return;
	sync_now(t);
	put(t, 0, not_after_now(ns), LANE_WORD(LANE_POP, 0), 0);
}

/* Returns the first row that is free at that time, else the row that is free earliest. */
static size_t row_for(const device_track *t, uint64_t ns)
{
	size_t best = 0;

	for (size_t i = 0; i < DEVICE_TRACK_ROWS; i++) {
		if (t->rows[i].last_ns <= ns)
			return i;
		best = t->rows[i].last_ns < t->rows[best].last_ns ? i : best;
	}
	return best;
}

void dck_device_track_range(device_track *t, const device_range *r)
{
	const size_t i = row_for(t, r->begin_ns);

	if (!trace_is_recording() || (capture_armed() && !r->flow) || !row_is_open(t, i))
		return;
	sync_now(t);
	put(t, i, not_after_now(r->begin_ns), LANE_WORD(LANE_PUSH, r->name), 0);
	if (r->flow)
		put(t, i, 0, LANE_WORD(LANE_FLOW_END, 0), r->flow);
	for (unsigned k = 0; k < r->nnumbers && k < DEVICE_TRACK_NUMBERS; k++)
		put(t, i, 0, LANE_WORD(LANE_NUMBER, r->numbers[k].name),
		    thread_buffer_bits(r->numbers[k].value));
	put(t, i, not_after_now(r->end_ns), LANE_WORD(LANE_POP, 0), 0);
}

void dck_device_track_lost(device_track *t, uint64_t n)
{
	if (n && trace_is_recording() && row_is_open(t, 0))
		thread_buffer_lose(&t->rows[0].buffer, n);
}

/* --- the end of a recording */

static struct device_ends {
	pthread_mutex_t lock;
	device_track *first;
	bool registered, exited;
} device_ends = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint32_t dck_device_recording(void)
{
	return trace_is_recording() ? atomic_load(&trace_recordings) : 0;
}

void device_tracks_end(void)
{
	pthread_mutex_lock(&device_ends.lock);
	for (device_track *t = device_ends.exited ? NULL : device_ends.first; t; t = t->next)
		t->at_end(t->self);
	pthread_mutex_unlock(&device_ends.lock);
}

/* Before the drivers end: their own functions for exit() were registered before the first track. */
static void process_exits(void)
{
	device_tracks_end();
	pthread_mutex_lock(&device_ends.lock);
	device_ends.exited = true;
	pthread_mutex_unlock(&device_ends.lock);
}

void device_tracks_fork_begin(void)
{
	pthread_mutex_lock(&device_ends.lock);
}

void device_tracks_fork_end(void)
{
	pthread_mutex_unlock(&device_ends.lock);
}

void dck_device_track_at_end(device_track *t, void (*f)(void *self), void *self)
{
	pthread_mutex_lock(&device_ends.lock);
	for (device_track **at = &device_ends.first; *at; at = &(*at)->next)
		if (*at == t) {
			*at = t->next;
			break;
		}
	t->at_end = f;
	t->self = self;
	if (f) {
		t->next = device_ends.first;
		device_ends.first = t;
		if (!device_ends.registered)
			device_ends.registered = atexit(process_exits) == 0;
	}
	pthread_mutex_unlock(&device_ends.lock);
}
