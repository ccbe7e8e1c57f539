/* trace_merge.h - merges the files of several processes into one timeline, with its facts and
 * tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_TRACE_MERGE_H
#define IMPORT_TRACE_MERGE_H

#include "record/build.h"
#include "profiler/read/trace_align.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/zone_percentiles.h"

typedef struct trace_merge_plan {
	const char *const *paths;
	size_t n;
	const trace_format *format;
	dck_sink *out;
	size_t cut;		      /* at least: processes whose recording has no end */
	zone_percentiles percentiles; /* percentiles in table "zones" */
	/* Of files from processes that may have equal numbers, as in different containers: the
	 * words before the names of their processes (NULL: none), and the lines of their clocks
	 * (NULL: by the snapshots), for each file. Both NULL: files of one boot have no equal
	 * numbers. */
	const char *const *labels;
	const trace_clock_line *const *lines;
	bool losses; /* notes what the recorders of the files left out; false: the caller does */
} trace_merge_plan;

/* Writes the timeline, and facts, the tables "zones" and "processes" and notes to b. Writes nothing
 * if the files are rejected: E_UNSUP: no common clock; E_ARG: duplicate file or process. Other
 * errors as dck_trace_read(). */
dck_status trace_merge(const trace_merge_plan *plan, record_builder *b, dck_err *err);
/* The same, compressed by gzip if that is true. */
dck_status trace_merge_packed(const trace_merge_plan *plan, bool gzip, record_builder *b,
			      dck_err *err);

#endif
