/* trace_file.h - the timeline of a recording, written to a file while it goes on, or its newest
 * part kept in memory and written at the end.
 *
 *	trace_file_open(&f, &(trace_file_config){.path = "out.pftrace"}, &about, err);
 *	drain_listener listener = trace_file_listener(f);
 *	... after each round of the drain: trace_file_flush(f, false) ...
 *	trace_file_close(f, &said, err);
 *
 * Errors are sticky, as those of sinks are: the closing call reports them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_FILE_H
#define TRACE_TRACE_FILE_H

#include "base/mem.h"
#include "profiler/trace/drain.h"

enum { TRACE_FILE_SIZE_MIN = 65536 }; /* the least max_size and last */

typedef struct trace_file_config {
	const char *path;     /* its ending chooses the format */
	uint64_t max_size;    /* bytes of the file; 0: no limit */
	uint64_t last;	      /* bytes of memory for the newest events; 0: all events are written */
	bool late;	      /* the file is made with the first event */
	const char *announce; /* an empty file, made together with it; NULL: none */
} trace_file_config;

typedef struct trace_file_said {
	const char *format;
	uint64_t bytes, events_left_out; /* by max_size; by last */
	bool made;			 /* there was something to write, or it was not late */
} trace_file_said;

typedef struct trace_file trace_file;

dck_status trace_file_open(trace_file **ret, const trace_file_config *config,
			   const trace_header *about, dck_err *err);
drain_listener trace_file_listener(trace_file *f);
/* What the clocks show now, `ns` after the base; it is written at the end where the newest events
 * are kept. */
void trace_file_clocks(trace_file *f, uint64_t ns, const trace_header *now);
/* Flushes all events so far to the file; now false: unless that was done a moment ago. */
void trace_file_flush(trace_file *f, bool now);
/* The newest events into a file of their own, "out.dump-3.pftrace" for number 3; what stands at the
 * trace's own name is that no more, until its end. E_ARG: it is no file that has a name. */
dck_status trace_file_dump_aside(trace_file *f, unsigned number, dck_err *err);
/* Writes the newest events, where these are kept, into the file; recording goes on. */
dck_status trace_file_dump(trace_file *f, dck_err *err);
/* Frees f, also on failure. E_IO: the file is not whole. */
dck_status trace_file_close(trace_file *f, trace_file_said *ret, dck_err *err);
/* Frees f without writing: in a forked child, where the file is the parent's. NULL is allowed. */
void trace_file_abandon(trace_file *f);

/* "out.pftrace" as "out.4711.pftrace", or as "out.4711-2.pftrace" where that is there; of the
 * arena. */
dck_status trace_file_of_child(mem_arena *a, const char *path, long pid, const char **ret,
			       dck_err *err);

#endif
