/* zone_record.h - what a recording found, as a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_ZONE_RECORD_H
#define TRACE_ZONE_RECORD_H

#include "deepclock/opt.h"
#include "deepclock/record.h"
#include "profiler/trace/drain.h"
#include "profiler/trace/trace_file.h"

typedef struct zone_method {
	const char *clock; /* "TSC" */
	double tick_hz;
	double pair_ns;	    /* what a push and a pop cost; 0: not known */
	double drift_ratio; /* our clock against the system's; NAN: recorded for too short a time */
	uint64_t took_ns;
	int64_t began_unix_ns;
	uint64_t dropped; /* events that found no room */
	uint64_t buffer_bytes;
	bool lossless;		      /* threads wait for room */
	uint64_t waits, waited_ns;    /* how often they did, and how long together */
	uint64_t waits_ns;	      /* the shortest wait that is recorded */
	const char *waits_absent;     /* why none is; NULL: they are */
	uint64_t dumps, dumps_failed; /* of the newest events, into files of their own */
	uint64_t dumps_left_out;      /* since there were too many */
	bool limited;		      /* some ranges may take only so long */
	uint64_t over;		      /* and so many took longer */
	/* Recorded was only while these ranges were open; NULL: always. How often, for how long
	 * together, and how often not for want of room; none: a name like theirs, NULL: there is
	 * none. */
	const dck_list *capture;
	uint64_t captures, captured_ns, captures_left_out;
	const char *capture_near;
	const char *signal;	      /* that ended the process; NULL: none did */
	uint64_t looks, looks_cpu_ns; /* at what the threads use, and what these took */
	uint64_t recorder_cpu_ns;     /* what the recording thread used in all */
} zone_method;

/* said NULL: no file was written; failed: why it is not whole, NULL: it is. */
dck_status zone_record(const drain *d, const zone_method *m, const trace_file_said *said,
		       const char *path, const char *failed, dck_record **ret, dck_err *err);

#endif
