/* device_zone.c - zones on a queue of the program (device_zone.h): the thread's range, an arrow
 * from it, and marks in the queue, which become a range on the queue's track.
 *
 * A queue's lock is for the end of the recording, which reads marks in any thread; a zone that
 * finds it taken drops its range rather than wait. Ranges that were open when a recording ended do
 * not belong to the next one. In a forked child the driver is unusable, so nothing is recorded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/device_zone.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "profiler/device_zone/queue_marks.h"
#include "profiler/trace/backfill.h"
#include "profiler/trace/device_track.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum { MARKS = 4096, END_NS = 100000000 };

struct dck_device_queue {
	/* Of the thread that uses the queue: open ranges without the lock, in which recording. */
	unsigned skipped;
	uint32_t skipped_in;
	uint64_t busy;	      /* these, all together; atomic */
	pthread_mutex_t lock; /* of all below */
	device *device;
	device_queue *queue;
	queue_marks *marks;
	device_track *track;
	dck_clock clock;
	long process;	    /* that opened it */
	uint32_t recording; /* which the open ranges belong to */
	uint64_t lost;	    /* dropped ranges that the track has counted */
};

static uint64_t zone_clock_now(void *self)
{
	(void)self;
	return os_now_ns();
}

/* --- what the device has reached */

static void zone_range_begins(void *self, uint32_t name, uint64_t ns, uint64_t flow,
			      double error_ns)
{
	const dck_device_queue *q = self;

	dck_device_track_begin(q->track, name, ns, flow);
	if (!isnan(error_ns))
		dck_device_track_number(q->track, dck_past_name(NULL, "clock_error_ns"), error_ns);
}

static void zone_range_ends(void *self, uint64_t ns)
{
	const dck_device_queue *q = self;

	dck_device_track_end(q->track, ns);
}

/* Counts as lost events the ranges that were dropped since the last call. */
static void lost_count(dck_device_queue *q)
{
	const uint64_t dropped =
	    queue_marks_count(q->marks).dropped + __atomic_load_n(&q->busy, __ATOMIC_RELAXED);

	dck_device_track_lost(q->track, 2 * (dropped - q->lost));
	q->lost = dropped;
}

/* The recording ends: reads what the device reaches soon. */
static void queue_at_end(void *self)
{
	dck_device_queue *q = self;
	const uint64_t until = os_now_ns() + END_NS;
	size_t left = 1;

	if (q->process != os_process_id())
		return;
	pthread_mutex_lock(&q->lock);
	if (q->recording == dck_device_recording()) {
		(void)device_flush(q->queue, NULL);
		while ((left = queue_marks_read(q->marks)) > 0 && os_now_ns() < until)
			os_thread_yield();
		dck_device_track_lost(q->track, left);
		lost_count(q);
	}
	queue_marks_forget(q->marks);
	q->recording = 0;
	pthread_mutex_unlock(&q->lock);
}

/* --- the interface */

static dck_status queue_begin(dck_device_queue *q, const char *driver, void *native, dck_err *err)
{
	static _Atomic unsigned opened;
	const queue_marks_sink sink = {q, zone_range_begins, zone_range_ends};
	char name[64];

	DCK_TRY(device_queue_wrap(driver, native, &q->device, &q->queue, err));
	q->clock = (dck_clock){.name = "CLOCK_MONOTONIC", .now_ns = zone_clock_now};
	DCK_TRY(queue_marks_open(
	    &(queue_marks_config){
		.queue = q->queue, .clock = &q->clock, .marks = MARKS, .sink = sink},
	    &q->marks, err));
	snprintf(name, sizeof name, "%s:%u queue %u", driver, q->device->index,
		 atomic_fetch_add(&opened, 1) + 1);
	q->track = dck_device_track_open(name);
	DCK_NEED(q->track, err, "for the track of a queue");
	dck_device_track_at_end(q->track, queue_at_end, q);
	return DCK_OK;
}

/* Frees a queue that may be partly opened. */
static void queue_free(dck_device_queue *q)
{
	dck_device_track_close(q->track);
	queue_marks_close(q->marks);
	device_queue_close(q->queue);
	device_close(q->device);
	pthread_mutex_destroy(&q->lock);
	mem_free(q);
}

dck_status dck_device_queue_open(const char *driver, void *native, dck_device_queue **ret,
				 dck_err *err)
{
	dck_device_queue *q = mem_zalloc(1, sizeof *q);

	DCK_NEED(q, err, "for a queue");
	pthread_mutex_init(&q->lock, NULL);
	q->process = os_process_id();
	const dck_status status = queue_begin(q, driver, native, err);
	if (status == DCK_OK)
		*ret = q;
	else
		queue_free(q);
	return status;
}

dck_status dck_device_queue_flush(dck_device_queue *q, dck_err *err)
{
	if (!q)
		return DCK_OK;
	if (q->process != os_process_id())
		DCK_FAIL(err, E_DEVICE,
			 "the queue was opened before fork(): in the child the "
			 "driver is unusable");
	pthread_mutex_lock(&q->lock);
	if (q->recording != dck_device_recording())
		queue_marks_forget(q->marks);
	const dck_status status = queue_marks_finish(q->marks, err);
	lost_count(q);
	pthread_mutex_unlock(&q->lock);
	return status;
}

void dck_device_queue_close(dck_device_queue *q)
{
	if (!q)
		return;
	if (q->process == os_process_id())
		(void)dck_device_queue_flush(q, NULL);
	queue_free(q);
}

dck_device_queue_counts dck_device_queue_count(dck_device_queue *q)
{
	if (!q)
		return (dck_device_queue_counts){0};
	pthread_mutex_lock(&q->lock);
	const queue_marks_counts counts = queue_marks_count(q->marks);
	pthread_mutex_unlock(&q->lock);
	return (dck_device_queue_counts){.ranges = counts.ranges,
					 .dropped = counts.dropped +
						    __atomic_load_n(&q->busy, __ATOMIC_RELAXED),
					 .clock_error_ns = counts.error_ns};
}

struct dck_device_span {
	dck_device_queue *queue;
	device_mark *begin, *end;
};

static void span_free(dck_device_span *span)
{
	device_mark_close(span->begin);
	device_mark_close(span->end);
	mem_free(span);
}

dck_device_span *dck_device_span_begin(dck_device_queue *q)
{
	dck_device_span *span =
	    q && q->process == os_process_id() ? mem_zalloc(1, sizeof *span) : NULL;
	bool begun;

	if (!span)
		return NULL;
	span->queue = q;
	pthread_mutex_lock(&q->lock);
	begun = device_mark_open(q->device, &span->begin, NULL) == DCK_OK &&
		device_mark_open(q->device, &span->end, NULL) == DCK_OK &&
		device_mark_record(q->queue, span->begin, NULL) == DCK_OK;
	pthread_mutex_unlock(&q->lock);
	if (begun)
		return span;
	span_free(span);
	return NULL;
}

double dck_device_span_end(dck_device_span *span)
{
	double ns = NAN;

	if (!span)
		return NAN;
	if (span->queue->process != os_process_id()) { /* its marks are the parent's driver's */
		mem_free(span);
		return NAN;
	}
	device_queue *q = span->queue->queue;
	pthread_mutex_lock(&span->queue->lock);
	if (device_mark_record(q, span->end, NULL) != DCK_OK ||
	    device_wait(q, DEVICE_WAIT_BLOCK, NULL) != DCK_OK ||
	    device_mark_elapsed(span->begin, span->end, &ns, NULL) != DCK_OK)
		ns = NAN;
	pthread_mutex_unlock(&span->queue->lock);
	span_free(span);
	return ns;
}

static void queue_push(dck_device_queue *q, const dck_zone_site *site, uint32_t recording)
{
	const uint32_t name = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

	if (q->recording != recording)
		queue_marks_forget(q->marks);
	q->recording = recording;
	dck_device_track_sync(q->track);
	/* The flow is 0 outside of the ranges that are recorded. */
	queue_marks_begin(q->marks, name ? name : dck_past_name(NULL, site->name),
			  dck_device_flow());
}

void dck_device_zone_push(dck_device_queue *q, dck_zone_site *site)
{
	const uint32_t recording = dck_device_recording();

	dck_zone_push(site);
	if (!q || !recording || q->process != os_process_id())
		return;
	if (q->skipped_in != recording)
		q->skipped = 0;
	if (q->skipped || pthread_mutex_trylock(&q->lock)) {
		q->skipped++;
		q->skipped_in = recording;
		__atomic_add_fetch(&q->busy, 1, __ATOMIC_RELAXED);
		return;
	}
	queue_push(q, site, recording);
	pthread_mutex_unlock(&q->lock);
}

void dck_device_zone_pop(dck_device_queue *q)
{
	const uint32_t recording = dck_device_recording();

	if (q && q->skipped && q->skipped_in == recording) {
		q->skipped--;
	} else if (q && q->process == os_process_id() && !pthread_mutex_trylock(&q->lock)) {
		if (q->recording == recording)
			queue_marks_end(q->marks);
		pthread_mutex_unlock(&q->lock);
	}
	dck_zone_pop();
}
