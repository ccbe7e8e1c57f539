/* merge_pass.h - merges several timelines: each file is read twice, first to collect its processes
 * and their times, then to emit its events with the numbers and times of the merged timeline.
 *
 *	merging_begin(&m, err);
 *	merge_scan(m, i);   perfetto_read(&source, &merging_format, merging_sink(m), ...);
 *	merge_emit(m, i, &how, out, to);   perfetto_read(...) again
 *	merging_free(m);
 *
 * Memory is bounded by names, tracks and processes, independent of the number of events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READ_MERGE_PASS_H
#define READ_MERGE_PASS_H

#include "profiler/timeline/pending_ranges.h"
#include "profiler/read/trace_align.h"

/* A process of a file. */
typedef struct merging_process {
	uint32_t file;
	int32_t pid;
	const char *name; /* NULL: unknown; borrowed from the merging */
	uint64_t zones;	  /* number of ranges */
	bool any;	  /* has events: from first_ns to last_ns since its file's base */
	uint64_t first_ns, last_ns;
} merging_process;

/* How a file is emitted. */
typedef struct merging_how {
	const trace_place *place;
	int64_t base_ns;   /* base of the merged timeline, in the times of trace_place_ns() */
	int32_t more;	   /* offset added to process and thread numbers */
	const char *label; /* before the names of processes; NULL: none */
} merging_how;

typedef struct merging merging;

/* The target format of perfetto_read(); open it with merging_sink(). */
extern const trace_format merging_format;

dck_status merging_new(merging **ret, dck_err *err);
void merging_free(merging *m); /* NULL is allowed */
dck_sink *merging_sink(merging *m);
/* First pass: collects the processes of the file that is read next. */
void merge_scan(merging *m, uint32_t file);
/* Second pass: emits the file that is read next to each of n formats. */
enum { MERGING_TO_MAX = 2 };
typedef struct merging_to {
	const trace_format *format;
	trace_out *out;
} merging_to;
void merge_emit(merging *m, uint32_t file, const merging_how *how, const merging_to *to, size_t n);
/* Returns the number of a process or thread in the merged timeline; unchanged if it would
 * overflow. */
int32_t merging_number_of(int32_t own, int32_t more);
uint64_t merging_last_ns(const merging *m); /* last event of the file read last, since its base */
size_t merging_processes(const merging *m);
merging_process *merging_at(const merging *m, size_t i);

#endif
