/* trace_merge.h - merges the files of several processes into one timeline, with its facts and
 * tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_TRACE_MERGE_H
#define IMPORT_TRACE_MERGE_H

#include "record/build.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/zone_percentiles.h"

typedef struct trace_merge_plan {
	const char *const *paths;
	size_t n;
	const trace_format *format;
	dck_sink *out;
	zone_percentiles percentiles; /* percentiles in table "zones" */
} trace_merge_plan;

/* Writes the timeline, and facts, the tables "zones" and "processes" and notes to b. Writes nothing
 * if the files are rejected: E_UNSUP: no common clock; E_ARG: duplicate file or process. Other
 * errors as dck_trace_read(). */
dck_status trace_merge(const trace_merge_plan *plan, record_builder *b, dck_err *err);

#endif
