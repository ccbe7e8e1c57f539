/* report.h - write records to a sink, by the writer's name.
 *
 *     dck_sink out;
 *     dck_sink_fd(&out, 1);
 *     dck_report("text", &record, 1, NULL, &out, &err);
 *     dck_sink_finish(&out, &err);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_REPORT_H
#define DCK_REPORT_H

#include "opt.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where bytes go. Errors are sticky: writers never check, the opener asks
 * dck_sink_finish() once. Buffered; initialise with one of the functions below. */
typedef struct dck_sink {
	dck_status (*write)(void *self, const void *bytes, size_t n, dck_err *err);
	void *self;
	int fd; /* for dck_sink_fd */
	bool failed;
	dck_err error; /* the first one */
	size_t used;
	char buf[8192];
} dck_sink;

/* A growing buffer in memory; data is NUL-ended once there is any. */
typedef struct dck_buffer {
	char *data; /* @owned, dck_buffer_done */
	size_t n, cap;
} dck_buffer;

/* A sink that writes to an open file descriptor, which stays the caller's. @since 0.1 */
DCK_API void dck_sink_fd(dck_sink *s, int fd);
/* A sink that appends to *b, which stays the caller's ({0} to begin with). @since 0.1 */
DCK_API void dck_sink_buffer(dck_sink *s, dck_buffer *b);
/* A sink over the caller's function. @since 0.1 */
DCK_API void dck_sink_custom(dck_sink *s,
			     dck_status (*write)(void *self, const void *bytes, size_t n,
						 dck_err *err),
			     void *self);
/* Flushes; returns the first error there was (E_IO: a full disk, a closed pipe). @since 0.1 */
DCK_API dck_status dck_sink_finish(dck_sink *s, dck_err *err) DCK_MUST_USE;
DCK_API void dck_buffer_done(dck_buffer *b); /* NULL and {0} are allowed. @since 0.1 */

/* How operators are listed (text and csv). Zeroed: the writer's choice. Rows: dck_op_options. */
typedef struct dck_op_view {
	int by;	      /* index into auto, type, node, module, class, line, all */
	int sort;     /* index into auto, time, macs, flops, params, bytes, name, graph */
	uint64_t top; /* rows shown of each table; 0: the writer's choice */
} dck_op_view;
DCK_API extern const dck_opt dck_op_options[];

/* How a writer for people may decorate. Zeroed: the answer in at most 15 lines of plain ASCII-safe
 * text, 80 columns. */
typedef struct dck_style {
	bool colour;	/* ANSI colours */
	bool utf8;	/* block characters in histograms, the +- and mu signs */
	unsigned width; /* columns; 0: 80 */
	bool details;	/* all of it, not only the answer */
	/* Read on a terminal: the answer stands last, and long texts are shortened to fit.
	 * Elsewhere it comes first, and nothing is shortened. */
	bool terminal;
	const char *rest; /* said below the answer: how to see the rest; NULL: nothing is */
	dck_op_view ops;
	bool runs; /* csv: a row for each run that was timed, instead of one for each metric */
} dck_style;

/* A pure function from records to bytes. */
typedef struct dck_writer {
	const char *name, *ext, *help; /* "json", ".json", "the whole record, one object" */
	void (*write)(const dck_record *const *records, size_t n, const dck_style *style,
		      dck_sink *out);
} dck_writer;

/* All writers, in the order help shows them; static. @since 0.1 */
DCK_API const dck_writer *const *dck_writers(size_t *ret_n);

/* Writes n records with the writer of that name; style NULL: plain. E_ABSENT: no such writer
 * (the sentence names the nearest). Errors of the sink come from dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_report(const char *writer, const dck_record *const *records, size_t n,
			      const dck_style *style, dck_sink *out, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
