/* trace_file.h - writes the timeline of a recording to a file as it proceeds, or buffers its newest
 * part in memory and writes it at the end.
 *
 *	trace_file_open(&f, &(trace_file_config){.path = "out.pftrace"}, &about, err);
 *	drain_listener listener = trace_file_listener(f);
 *	... after each round of the drain: trace_file_flush(f, false) ...
 *	trace_file_close(f, &said, err);
 *
 * Errors are sticky, as in a sink: the closing call reports them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_TRACE_FILE_H
#define TRACE_TRACE_FILE_H

#include "base/mem.h"
#include "profiler/trace/drain.h"

enum { TRACE_FILE_SIZE_MIN = 65536 }; /* minimum of max_size and last */
enum { TRACE_FLUSH_NS = 100000000 };  /* between two flushes of a trace */

typedef struct trace_file_config {
	const char *path;     /* its extension selects the format */
	uint64_t max_size;    /* bytes of the file; 0: no limit */
	uint64_t last;	      /* bytes of memory for the newest events; 0: all events are written */
	bool late;	      /* create the file at the first event */
	const char *announce; /* an empty file, created together with it; NULL: none */
} trace_file_config;

typedef struct trace_file_said {
	const char *format;
	uint64_t bytes;
	uint64_t events_left_out, events_older; /* by max_size; by last */
	bool made;				/* the file was created */
} trace_file_said;

typedef struct trace_file trace_file;

dck_status trace_file_open(trace_file **ret, const trace_file_config *config,
			   const trace_header *about, dck_err *err);
drain_listener trace_file_listener(trace_file *f);
/* Writes a clock snapshot, `ns` after the base. ends: the file is dumped or closed next, which
 * writes it; so does `last`. */
void trace_file_clocks(trace_file *f, uint64_t ns, const trace_header *now, bool ends);
/* Flushes all events to the file; now false: unless it was done recently. */
void trace_file_flush(trace_file *f, bool now);
/* Writes the newest events to a separate file, "out.dump-3.pftrace" for number 3; the trace's own
 * path then does not exist until its end. E_ARG: the trace is not a named file. */
dck_status trace_file_dump_aside(trace_file *f, unsigned number, dck_err *err);
/* Writes the buffered newest events to the file; recording continues. */
dck_status trace_file_dump(trace_file *f, dck_err *err);
/* Closes and frees f, also on failure. E_IO: the file is incomplete. */
dck_status trace_file_close(trace_file *f, trace_file_said *ret, dck_err *err);
/* Frees f without writing, in a forked child, whose parent owns the file. NULL is allowed. */
void trace_file_abandon(trace_file *f);

/* Returns "out.4711.pftrace" for "out.pftrace", or "out.4711-2.pftrace" if that exists; in the
 * arena. */
dck_status trace_file_of_child(mem_arena *a, const char *path, long pid, const char **ret,
			       dck_err *err);

#endif
