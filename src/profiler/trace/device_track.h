/* device_track.h - tracks of devices on the timeline: a track for each queue (a stream of CUDA, a
 * command queue of OpenCL), with the ranges that ran in it, and arrows from the threads that
 * enqueued them.
 *
 *	device_track *t = dck_device_track_open("cuda:0 stream 7");
 *
 *	DCK_PUSH("step");
 *	flow = dck_device_flow();		the arrow begins in this thread's innermost range
 *	... enqueue the kernel ...
 *	DCK_POP();
 *	... later, when its times are known, in any thread ...
 *	dck_device_track_range(t, &(device_range){name, begin_ns, end_ns, flow});
 *
 *	dck_device_track_close(t);
 *
 * Times are CLOCK_MONOTONIC in ns: the caller has converted the device's. They may be long past,
 * and need not be in order with any thread's. A time in the future counts as now.
 *
 * Within a track times go forward. dck_device_track_begin() and _end() write ranges that nest, in
 * the order of their times: an earlier time counts as the last one. dck_device_track_range() takes
 * ranges that may overlap (queues that run out of order): a range that begins before the last one
 * of its track ended goes to a second track "NAME (2)", and so on up to DEVICE_TRACK_ROWS; write
 * ranges sorted by their begin, or tracks are wasted. When all overlap, the range begins where the
 * last one ended. Do not mix both kinds on a track.
 *
 * If only parts of a program are recorded (--capture-range), the work enqueued inside them is
 * recorded, whenever it runs: a range without a flow is then not written. dck_device_track_begin()
 * is not to be called for one.
 *
 * A device's ranges are summed separately from the zones of threads (table "device_zones"). Events
 * that do not fit are dropped and counted, as a thread's are. Without a recording nothing is
 * written. A track may be opened before the recording begins, and serves several recordings; after
 * fork() the child's tracks are opened again automatically.
 *
 * Threads: one thread at a time uses a track; dck_device_flow() belongs to the calling thread. They
 * take no lock; only open() and close() use the heap. They are exported: where a process has two
 * copies of the recorder, both write to the first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_DEVICE_TRACK_H
#define TRACE_DEVICE_TRACK_H

#include "deepclock/base.h"

#include <stdbool.h>
#include <stdint.h>

enum { DEVICE_TRACK_ROWS = 8, DEVICE_TRACK_NUMBERS = 4 };

typedef struct device_track device_track;

/* A range. name and names of numbers: dck_past_name(category, text) of backfill.h, with category
 * "kernel", "copy", "zone" and so on. */
typedef struct device_range {
	uint32_t name;
	uint64_t begin_ns, end_ns;
	uint64_t flow; /* of dck_device_flow(), where its arrow ends; 0: none */
	unsigned nnumbers;
	struct {
		uint32_t name;
		double value;
	} numbers[DEVICE_TRACK_NUMBERS];
} device_range;

/* Starts an arrow in the innermost range of this thread. Returns its id; 0: no recording. */
DCK_API uint64_t dck_device_flow(void);

/* NULL: no memory. */
DCK_API device_track *dck_device_track_open(const char *name);
DCK_API void dck_device_track_close(device_track *t); /* NULL is allowed */
/* Compares the clock of the times with the recording's: now and then between the event on the
 * device and its writing, so that a long time between them is converted accurately. */
DCK_API void dck_device_track_sync(device_track *t);
DCK_API void dck_device_track_range(device_track *t, const device_range *r);
DCK_API void dck_device_track_begin(device_track *t, uint32_t name, uint64_t ns, uint64_t flow);
/* Adds a number to the innermost range. */
DCK_API void dck_device_track_number(device_track *t, uint32_t name, double value);
DCK_API void dck_device_track_end(device_track *t, uint64_t ns);
/* Counts n events that the caller has dropped. */
DCK_API void dck_device_track_lost(device_track *t, uint64_t n);

/* Returns the number of the recording that is active, from 1 on; 0: none is. */
DCK_API uint32_t dck_device_recording(void);
/* f(self) is called before a recording ends, and before the process exits, to write ranges whose
 * times are known late; it does not wait for long, and opens or closes no track. NULL: removes it.
 * Close() does not call it. One for each track. */
DCK_API void dck_device_track_at_end(device_track *t, void (*f)(void *self), void *self);

/* For the recorder: calls these. */
void device_tracks_end(void);
/* Around fork(): no other thread holds the lock of these then, which the child could not take. */
void device_tracks_fork_begin(void);
void device_tracks_fork_end(void);

#endif
