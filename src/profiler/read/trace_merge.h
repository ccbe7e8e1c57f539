/* trace_merge.h - files of several processes as one timeline, and what is known of it.
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
	zone_percentiles percentiles; /* of table "zones" */
} trace_merge_plan;

/* Writes it, and puts facts, the tables "zones" and "processes" and notes into b. Nothing is
 * written when the files are refused: E_UNSUP, they have no clock in common; E_ARG, one of them, or
 * a process, is there twice. Else as dck_trace_read(). */
dck_status trace_merge(const trace_merge_plan *plan, record_builder *b, dck_err *err);

#endif
