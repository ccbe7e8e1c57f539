/* device_report.h - the report of the collector of a device's activity (src/profiler/preload/cuda)
 * to the recorder of its process, for the record: its source and losses, or why it recorded
 * nothing. The newest report counts.
 *
 *	dck_device_report_source("CUPTI 13.0");
 *	... whenever records have come ...
 *	dck_device_report(&(device_report){.calls = 200, .ranges = 100});
 *
 * Texts are static or live as long as the process. Any thread may call; one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RESULT_DEVICE_REPORT_H
#define RESULT_DEVICE_REPORT_H

#include "deepclock/base.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct device_report {
	const char *source,
	    *absent;	/* the source of its records, or why it has none; both NULL: no collector */
	uint64_t calls; /* of the program */
	uint64_t enqueued;    /* calls that enqueued work, most of which makes a range */
	uint64_t ranges;      /* on the devices' tracks */
	uint64_t memory_peak; /* bytes of the devices that the calls had allocated */
	uint64_t dropped;     /* that the source could not store */
	uint64_t unfinished;  /* that had not ended when the program did */
	uint64_t unjoined;    /* whose call was not found: without an arrow */
} device_report;

DCK_API void dck_device_report_source(const char *source);
DCK_API void dck_device_report_absent(const char *why);
DCK_API void dck_device_report(const device_report *counts); /* its texts are ignored */

/* The calling thread is the collector's, not the program's. */
DCK_API void dck_device_report_thread(void);

/* For the recorder. After fork() the parent's report is not the child's. */
bool device_report_is_thread(int tid);
device_report device_report_get(void);

#endif
