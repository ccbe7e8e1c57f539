/* device_gauges.h - readings of a device's power, clock and temperature around a measurement and
 * between its runs, never inside a timed region, and the notes that follow from them.
 *
 *	gauge_log_open(&g, "cuda:1", &clock);
 *	... warm-up: gauge_log_poll(&g, runs) between slices; gauge_log_clock() ...
 *	gauge_log_begin(&g, runs);
 *	... the measurement: gauge_log_poll() ...
 *	gauge_log_end(&g, runs);
 *	gauge_log_record(&g, b, origin_ns, items);
 *	gauge_log_close(&g);
 *
 * Every function accepts a log without gauges, and does nothing then.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_DEVICE_GAUGES_H
#define MEASURE_DEVICE_GAUGES_H

#include "deepclock/bench.h"
#include "device/device.h"
#include "record/build.h"

enum { GAUGE_READINGS = 256 };

typedef struct gauge_log {
	/* The source of readings: device_gauges_read(), or a test's. NULL: none. */
	void (*read)(void *self, device_gauges *ret);
	void *self;
	const dck_clock *clock;
	device *opened;	  /* NULL: none */
	char absent[256]; /* why a device has no gauges; "": there is nothing to report */
	char name[160];	  /* of the device */
	uint64_t next_ns, interval_ns;
	/* Readings of the phase, thinned evenly when there are too many. */
	size_t n;
	uint64_t at_ns[GAUGE_READINGS];
	double clock_hz[GAUGE_READINGS], power_w[GAUGE_READINGS];
	/* Of all readings of the phase. */
	uint64_t readings, begin_ns, end_ns, begin_runs, end_runs;
	device_gauges first, last;
	double clock_min_hz;
	uint64_t throttled; /* readings */
	char throttled_by[64];
	int others; /* most; -1: unknown */
} gauge_log;

/* Finds the gauges of a device, which is written as for --device. */
void gauge_log_open(gauge_log *g, const char *device_text, const dck_clock *clock);
void gauge_log_close(gauge_log *g);

/* Takes a reading if one is due. Returns how long that took, in ns. `runs`: completed. */
uint64_t gauge_log_poll(gauge_log *g, uint64_t runs);
/* Takes the first reading of the measurement, with the same result. */
uint64_t gauge_log_begin(gauge_log *g, uint64_t runs);
/* Takes the last reading of the measurement. */
void gauge_log_end(gauge_log *g, uint64_t runs);

typedef enum gauge_clock {
	GAUGE_CLOCK_LEVEL, /* or there is none */
	GAUGE_CLOCK_UNKNOWN,
	GAUGE_CLOCK_FALLING
} gauge_clock;

/* Returns how the device's clock changes, by the readings of the last 2 s; unless it is level,
 * writes the evidence, a phrase. */
gauge_clock gauge_log_clock(const gauge_log *g, char *evidence, size_t size);

/* Adds facts, metrics, series and notes. `items`: of a run; 0: unknown. */
void gauge_log_record(const gauge_log *g, record_builder *b, uint64_t origin_ns, double items);

#endif
