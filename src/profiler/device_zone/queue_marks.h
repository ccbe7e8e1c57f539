/* queue_marks.h - marks at the begins and ends of ranges in a queue of a device, and their times on
 * the host's clock, once the device has reached them.
 *
 *	queue_marks_open(&(queue_marks_config){q, &clock, 4096, sink}, &m, err);
 *	queue_marks_begin(m, name, flow);
 *	... enqueue ...
 *	queue_marks_end(m);
 *	queue_marks_read(m);	now and then: the sink gets the ranges that the device has reached
 *	queue_marks_finish(m, err);	waits for all
 *	queue_marks_close(m);
 *
 * begin() and end() wait for nothing and allocate nothing here; they read marks now and then
 * themselves. A range for which no two marks are free is dropped, and counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_ZONE_QUEUE_MARKS_H
#define DEVICE_ZONE_QUEUE_MARKS_H

#include "deepclock/bench.h"
#include "device/device.h"

/* Receives the ranges in the order of their times. ns: of the clock. */
typedef struct queue_marks_sink {
	void *self;
	/* error_ns: bound of the error of the time, if it has changed much; else NaN. */
	void (*begin)(void *self, uint32_t name, uint64_t ns, uint64_t flow, double error_ns);
	void (*end)(void *self, uint64_t ns);
} queue_marks_sink;

typedef struct queue_marks_config {
	device_queue *queue;	/* borrowed, as is the clock */
	const dck_clock *clock; /* of the host */
	size_t marks;		/* allocated beforehand */
	queue_marks_sink sink;
} queue_marks_config;

typedef struct queue_marks_counts {
	uint64_t ranges;  /* whose end was read */
	uint64_t dropped; /* no mark was free, nested too deep, captured for a graph, or the device
			     failed */
	uint64_t steps;	  /* how often the two clocks contradicted each other: one was set */
	double error_ns;  /* bound of the error of times on the host's clock, now */
} queue_marks_counts;

typedef struct queue_marks queue_marks;

/* Waits for the queue, and compares the clocks. */
dck_status queue_marks_open(const queue_marks_config *config, queue_marks **ret, dck_err *err);
void queue_marks_close(queue_marks *m); /* NULL is allowed; unread marks are lost */
/* flow 0: the range is skipped, up to its end. */
void queue_marks_begin(queue_marks *m, uint32_t name, uint64_t flow);
/* Ends the innermost range; without one it does nothing. */
void queue_marks_end(queue_marks *m);
/* Reads the marks that the device has reached. Returns how many it has not. */
size_t queue_marks_read(queue_marks *m);
/* Waits until the device has reached all marks, reads them, and compares the clocks again. Returns
 * the first error of the device since the opening. */
dck_status queue_marks_finish(queue_marks *m, dck_err *err);
/* Drops unread and open ranges without a call of the sink. */
void queue_marks_forget(queue_marks *m);
queue_marks_counts queue_marks_count(const queue_marks *m);

#endif
