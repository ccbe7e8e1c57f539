/* formats.h - the formats of timelines by name, and by file extension.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "deepclock/trace.h"
#include "profiler/timeline/timeline.h"

/* All formats, in the order help shows them; static. */
const trace_format *const *trace_formats(size_t *ret_n);
const trace_format *trace_format_find(const char *name); /* NULL: no such format */

/* Returns whether files of the format have samples besides the zones. Formats with one tree have
 * only the zones. */
bool trace_format_has_samples(const trace_format *f);

/* open() of a format whose state is the `self` of the sink. */
dck_status trace_format_open_self(trace_out **ret, dck_sink *sink, const trace_header *about,
				  dck_err *err);
/* dck_sink.write of a format that writes nothing: it drops the bytes. */
dck_status trace_format_nowhere(void *self, const void *bytes, size_t n, dck_err *err);

/* Meaning of a file name's suffix. */
typedef struct trace_suffix {
	const trace_format *format; /* NULL: none */
	size_t n;		    /* its bytes */
	bool gzip;		    /* .gz follows a format's suffix, or is the only one */
} trace_suffix;
trace_suffix trace_suffix_of(const char *path);
/* E_ARG: the readers of that format do not accept gzip. */
dck_status trace_suffix_check(const char *path, dck_err *err);

#define TRACE_FORMAT(id, ending, gzip, text) \
	.name = #id, .suffix = ending, .gunzips = (gzip), .help = text

extern const trace_format trace_perfetto, trace_chrome, trace_rows;

#endif
