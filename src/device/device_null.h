/* device_null.h - the null device: a simulated device on a simulated clock, for exact tests of
 * whatever measures devices.
 *
 *	device_open("null", &d, NULL);
 *	device_null_set(d, &(device_null_times){.enqueue_ns = 5, .lag_ns = 100, .kernel_ns = 1000});
 *	device_null_clock(d, &clock);	the host's clock: it advances by the durations alone
 *
 * A command that is enqueued at time t begins at t + lag_ns, or when the command before it in its
 * queue has ended; queues run in parallel. Data are copied when the queue is waited for: a caller
 * that reads too early gets the old contents. A kernel computes nothing. Its source is any text
 * that has its name; a source that begins with "#error " does not compile. It takes kernel_ns +
 * work_ns for each work item, multiplied by its last 32-bit argument if it has one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_DEVICE_NULL_H
#define DEVICE_DEVICE_NULL_H

#include "deepclock/bench.h"
#include "device/device.h"

/* Durations, ns. All are 0 at first, but mark_tick_ns 1. */
typedef struct device_null_times {
	double enqueue_ns; /* of the host, for each command */
	double lag_ns;	   /* from enqueueing to the start on an idle device */
	double wake_ns;	   /* of a blocked wait, beyond the end of the commands */
	double copy_ns, copy_byte_ns;
	double kernel_ns, work_ns;
	double mark_tick_ns; /* times of marks are rounded down to it */
} device_null_times;
void device_null_set(device *d, const device_null_times *times);
/* Sets the size of the device's memory; 1 GiB at first. */
void device_null_set_memory(device *d, uint64_t bytes);
/* Every later call on the device that may fail does so with this message. */
void device_null_break(device *d, const char *message);
/* Advances the host's clock: as if the host did other work for this time. */
void device_null_advance(device *d, double ns);
/* Returns the host's clock. The device owns its state. */
void device_null_clock(device *d, dck_clock *ret);

#endif
