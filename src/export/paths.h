/* paths.h - the call paths of a timeline and the time that was spent on each: what all formats
 * share that add up instead of telling each event. Such a format is the functions here and a close
 * of its own:
 *
 *	static dck_status folded_close(trace_out *o, dck_err *err)
 *	{
 *		paths_end(o);
 *		for (uint32_t n = paths_next(o, 0); n; n = paths_next(o, n))
 *			... paths_node(o, n), paths_name(o, n) ...
 *		return paths_close(o, err);
 *	}
 *
 * The tree's first level are threads, and PATHS_ASYNC, in which are the ranges that any thread may
 * end. Ranges of equal names are one, whatever their numbers. Memory
 * and output are bounded: beyond ZONE_PATHS_MAX paths, deeper than PATHS_DEPTH_MAX, or where all
 * paths written out would be longer than PATHS_BYTES_MAX, a range's time stays with the range
 * around it, so that sums stay right. Counters and instants are left out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PATHS_H
#define EXPORT_PATHS_H

#include "timeline/zone_sums.h"

/* Depth: below a thread. */
enum { PATHS_DEPTH_MAX = ZONE_PATHS_DEPTH_MAX - 1, PATHS_BYTES_MAX = 1 << 28 };

#define PATHS_ASYNC "ranges of no thread"

typedef struct path_node {
	uint32_t name;			   /* of equal texts the same; see paths_text() */
	uint32_t parent;		   /* 0: this is a thread */
	uint32_t depth;			   /* a thread has 0 */
	uint32_t first, last, next;	   /* children, and the next of the same parent; 0: none */
	uint32_t bytes;			   /* of the path's names, each with a byte between */
	uint64_t calls, total_ns, self_ns; /* of a thread: of its ranges together */
} path_node;

/* What paths_open() makes. A format reads these, and writes into the sink. */
struct trace_out {
	dck_sink *sink;
	int64_t unix_ns;
	uint64_t last_ns;
	const char *command; /* NULL: not known */
	kept_names names;
	kept_table same; /* uint32_t for each name: the number of its text */
	kept_table tracks;
	zone_sums sums;
	path_node *nodes; /* @owned; made at the end */
	uint32_t nnodes;
	bool failed;
};

dck_status paths_open(trace_out **ret, dck_sink *sink, const trace_about *about, dck_err *err);
void paths_track(trace_out *o, const trace_track *about);
void paths_intern(trace_out *o, uint32_t id, const trace_name *name);
void paths_events(trace_out *o, uint32_t id, const trace_event *e, size_t n);
void paths_end(trace_out *o); /* closes what is open, and adds up the threads */
dck_status paths_close(trace_out *o, dck_err *err);

/* Nodes are numbered from 1 on; a parent has a lower number than its children. */
const path_node *paths_node(const trace_out *o, uint32_t node);
/* The node after this one where children follow their parent; 0: begin, and the end. */
uint32_t paths_next(const trace_out *o, uint32_t node);
/* Names run from 0 ("(no name)") to o->names.n. */
kept_name paths_text(const trace_out *o, uint32_t name);
/* Writes a text on one line: control characters, and `no` (0: none), become blanks. */
void paths_put_line(dck_sink *out, const char *text, char no);

#endif
