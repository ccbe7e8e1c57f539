/* formats.h - the formats of timelines by their names, and by the endings of files' names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "deepclock/trace.h"
#include "profiler/timeline/timeline.h"

/* All formats, in the order help shows them; static. */
const trace_format *const *trace_formats(size_t *ret_n);
const trace_format *trace_format_find(const char *name); /* NULL: there is none of that name */

/* What the ending of a file's name stands for. */
typedef struct trace_suffix {
	const trace_format *format; /* NULL: for none */
	size_t n;		    /* its bytes */
	bool gzip;		    /* .gz stands behind a format's suffix, or alone */
} trace_suffix;
trace_suffix trace_suffix_of(const char *path);
/* E_ARG: what reads that format takes no gzip. */
dck_status trace_suffix_check(const char *path, dck_err *err);

#define TRACE_FORMAT(id, ending, gzip, text) \
	.name = #id, .suffix = ending, .gunzips = (gzip), .help = text

extern const trace_format trace_perfetto, trace_chrome, trace_rows;

#endif
