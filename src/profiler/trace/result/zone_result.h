/* zone_result.h - the result of a recording: its method, its counts and its sums, as bytes. The
 * recorded process writes them, and needs neither records nor statistics; libdeepclock makes the
 * record of them (zone_record.h), in the same process or in the one that started it.
 *
 *	zone_result_write(&result, &bytes);
 *	...
 *	zone_result_read(bytes.data, bytes.n, &result, err);
 *	zone_record(&result, &record, err);
 *	zone_result_done(&result);
 *
 * The bytes are a message of protocol buffers (base/wire.h): an unknown field is skipped, a missing
 * one is 0, so that a program may have an older library in it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RESULT_ZONE_RESULT_H
#define RESULT_ZONE_RESULT_H

#include "base/mem.h"
#include "base/wire.h"
#include "deepclock/opt.h"
#include "profiler/timeline/thread_table.h"
#include "profiler/timeline/zone_aggregate.h"
#include "profiler/timeline/zone_table.h"
#include "profiler/trace/result/device_report.h"
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
	uint64_t dumps, dumps_failed; /* of the newest events, into separate files */
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
	/* Address space that the recording took, and the process's limit of it at the end; 0: none.
	 */
	uint64_t address_space, address_space_limit;
} zone_method;

typedef struct zone_result {
	zone_method method;
	const char *program;
	drain_counts counts;
	uint64_t threads, threads_left_out; /* thread_watch.h */
	trace_file_said said;		    /* format NULL: no file was written */
	const char *path;
	const char *failed;		     /* why the file is incomplete; NULL: complete */
	const zone_aggregate *sums, *device; /* device: of the devices' ranges; NULL: none */
	device_report device_report;
	zone_name_of *name_of;
	void *names;
	thread_table table; /* of one process */
	thread_process process;
	mem_arena *arena; /* @owned; NULL: all of it is borrowed */
} zone_result;

/* Appends the message; check to->failed. */
void zone_result_write(const zone_result *r, wire_out *to);
/* E_FORMAT: invalid bytes; E_NOMEM. ret: zone_result_done(). */
dck_status zone_result_read(const void *bytes, size_t n, zone_result *ret, dck_err *err);
void zone_result_done(zone_result *r); /* {0} is allowed */

#endif
