/* trace_align.h - aligns the files of several processes on one clock, by their clock snapshots.
 *
 * Files of one boot of one machine share BOOTTIME, which each read to some ten nanoseconds. Other
 * files share the wall clock, which is as accurate as its synchronisation, unless the caller knows
 * the line between their clocks. Between its snapshots the rate of a file's own clock is assumed
 * constant, and its drift is corrected.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_TRACE_ALIGN_H
#define IMPORT_TRACE_ALIGN_H

#include "profiler/read/perfetto/perfetto_read.h"

/* A line from a file's BOOTTIME to the first file's, found by exchanges of time stamps. */
typedef struct trace_clock_line {
	int64_t base_ns;	 /* where it has offset_ns, on the file's clock */
	double offset_ns, drift; /* the first file's time less the file's; its growth per ns */
	double within_ns;	 /* maximum error */
} trace_clock_line;

typedef struct trace_place {
	const char *path;
	const trace_clock_line *line; /* NULL: by the snapshots */
	trace_read_facts facts;
	uint64_t last_ns; /* last event, since its base */
	/* Found: */
	bool same_boot;	  /* same boot as the first file */
	int64_t base_ns;  /* its base since that of the first file */
	double drift;	  /* ns that are missing in a nanosecond of its events' times */
	double within_ns; /* maximum error of its times relative to the first file; NAN: unknown */
} trace_place;

/* E_UNSUP: a file has no clock in common with the first. */
dck_status trace_align(trace_place *p, size_t n, dck_err *err);

/* A time since the file's base as one since the base of the first file. */
static inline int64_t trace_place_ns(const trace_place *p, uint64_t ns)
{
	return p->base_ns + (int64_t)ns + (int64_t)((double)ns * p->drift);
}

#endif
