/* zone_record.h - makes a record of a recording.
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
	double pair_ns;	    /* cost of a push and a pop; 0: unknown */
	double drift_ratio; /* this clock against the system's; NAN: the recording was too short */
	uint64_t took_ns;
	int64_t began_unix_ns;
	uint64_t dropped; /* events that did not fit */
	uint64_t buffer_bytes;
	bool lossless;		      /* threads wait for buffer space */
	uint64_t waits, waited_ns;    /* number of waits, and their total time */
	uint64_t waits_ns;	      /* shortest recorded wait */
	const char *waits_absent;     /* why waits are not recorded; NULL: they are */
	uint64_t dumps, dumps_failed; /* dumps of the newest events, to separate files */
	uint64_t dumps_left_out;      /* skipped, because there were too many */
	bool limited;		      /* some ranges have a limit */
	uint64_t over;		      /* number of ranges over their limit */
	/* Ranges that restricted the recording; NULL: none. The number of captures, their total
	 * time, and the number omitted for lack of space; without captures the nearest range name,
	 * NULL: none. */
	const dck_list *capture;
	uint64_t captures, captured_ns, captures_left_out;
	const char *capture_near;
	const char *signal;	      /* signal that ended the process; NULL: none */
	uint64_t looks, looks_cpu_ns; /* polls of the threads, and their CPU time */
	uint64_t recorder_cpu_ns;     /* total of the recording thread */
} zone_method;

/* Makes the record. said NULL: no file was written; failed: why the file is incomplete, NULL:
 * complete. */
dck_status zone_record(const drain *d, const zone_method *m, const trace_file_said *said,
		       const char *path, const char *failed, dck_record **ret, dck_err *err);

#endif
