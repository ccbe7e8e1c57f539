/* report.h - writers: print a record as text, or write records to a sink in any format.
 *
 *     dck_print(record, 1, &err);
 *
 *     dck_sink out;
 *     dck_sink_fd(&out, 1);
 *     dck_report("markdown", records, n, NULL, &out, &err);
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

/* A buffered output of bytes. Errors are sticky: writers never check, the opener calls
 * dck_sink_finish() once. Initialise it with one of the functions below. */
typedef struct dck_sink {
	dck_status (*write)(void *self, const void *bytes, size_t n, dck_err *err);
	void *self;
	int fd; /* for dck_sink_fd */
	bool failed;
	dck_err error; /* the first one */
	size_t used;
	char buf[8192];
} dck_sink;

/* A growing buffer in memory; data is NUL-ended unless it is empty. */
typedef struct dck_buffer {
	char *data; /* @owned, dck_buffer_done */
	size_t n, cap;
} dck_buffer;

/* Makes a sink that writes to an open file descriptor, which the caller still owns. @since 0.1 */
DCK_API void dck_sink_fd(dck_sink *s, int fd);
/* Makes a sink that appends to *b ({0} at first), which the caller still owns. @since 0.1 */
DCK_API void dck_sink_buffer(dck_sink *s, dck_buffer *b);
/* Makes a sink over the caller's function. @since 0.1 */
DCK_API void dck_sink_custom(dck_sink *s,
			     dck_status (*write)(void *self, const void *bytes, size_t n,
						 dck_err *err),
			     void *self);
/* Flushes the sink and returns its first error (E_IO: a full disk, a closed pipe). @since 0.1 */
DCK_API dck_status dck_sink_finish(dck_sink *s, dck_err *err) DCK_MUST_USE;
DCK_API void dck_buffer_done(dck_buffer *b); /* NULL and {0} are allowed. @since 0.1 */

/* Format of operator lists (text and csv). Zeroed: the writer's choice. Options: dck_op_options. */
typedef struct dck_op_view {
	int by;	      /* index into auto, type, node, module, class, line, all */
	int sort;     /* index into auto, time, macs, flops, params, bytes, name, graph */
	uint64_t top; /* rows shown of each table; 0: the writer's choice */
} dck_op_view;
DCK_API extern const dck_opt dck_op_options[];

/* Style of the writers for people. Zeroed: the answer in at most 15 lines of plain ASCII-safe text,
 * 80 columns. */
typedef struct dck_style {
	bool colour;	/* ANSI colours */
	bool utf8;	/* block characters in histograms, the +- and mu signs */
	unsigned width; /* columns; 0: 80 */
	bool details;	/* all of it, not only the answer */
	/* Output to a terminal: the answer comes last, and long texts are shortened to fit.
	 * Otherwise it comes first, and nothing is shortened. */
	bool terminal;
	const char *rest; /* printed below the answer: how to see the rest; NULL: nothing */
	dck_op_view ops;
	bool sources; /* html: include the text of source lines on call paths */
	bool runs;    /* csv: a row for each timed run, instead of one for each metric */
	/* html: timeline of the only record, a trace's (made by unstable.h); NULL: none */
	const struct dck_timeline *timeline;
	/* html, sources: the page includes files below the working directory and below this one
	 * (NULL: none). The function is called with each file; NULL: not called. */
	const char *source_root;
	void (*source_found)(void *self, const char *file);
	void *source_found_self;
} dck_style;

/* A pure function from records to bytes. */
typedef struct dck_writer {
	const char *name, *ext, *help; /* "json", ".json", "the whole record, one object" */
	void (*write)(const dck_record *const *records, size_t n, const dck_style *style,
		      dck_sink *out);
	/* Returns why this build cannot write the format; NULL, or a NULL member: it can. */
	const char *(*missing)(void);
} dck_writer;

/* The writers, in the order of help: X(name, its enumerator, extension, help). */
#define DCK_WRITER_TEXT(X)    \
	X(text, TEXT, ".txt", \
	  "the answer for people; with --details all tables, a histogram and facts")
#define DCK_WRITER_JSON(X) X(json, JSON, ".json", "the whole record; several records are a list")
#define DCK_WRITER_CSV(X) \
	X(csv, CSV, ".csv", "one row per metric, for spreadsheets and data frames")
#define DCK_WRITER_MARKDOWN(X) X(markdown, MARKDOWN, ".md", "tables for pages, issues and reviews")
#define DCK_WRITER_HTML(X) \
	X(html, HTML, ".html", "one page for a browser, with charts; needs no network")
#define DCK_WRITER_JUNIT(X) \
	X(junit, JUNIT, ".xml", "the limit or comparison as a test, for Jenkins and GitLab")
#define DCK_WRITER_OPENMETRICS(X)            \
	X(openmetrics, OPENMETRICS, ".prom", \
	  "metrics as OpenMetrics text, for Prometheus' textfile collector")
#define DCK_WRITER_OTLP(X) \
	X(otlp, OTLP, ".otlp", "metrics as a request of OTLP/HTTP in JSON, for OpenTelemetry")
#define DCK_WRITER_BENCHER(X) \
	X(bencher, BENCHER, ".bmf", "metrics with their intervals in Bencher's JSON")
#define DCK_WRITER_MAP(X)         \
	DCK_WRITER_TEXT(X)        \
	DCK_WRITER_JSON(X)        \
	DCK_WRITER_CSV(X)         \
	DCK_WRITER_MARKDOWN(X)    \
	DCK_WRITER_HTML(X)        \
	DCK_WRITER_JUNIT(X)       \
	DCK_WRITER_OPENMETRICS(X) \
	DCK_WRITER_OTLP(X)        \
	DCK_WRITER_BENCHER(X)

/* Returns all writers, in the order of help; static. @since 0.1 */
DCK_API const dck_writer *const *dck_writers(size_t *ret_n);

/* Writes n records with the writer of that name; style NULL: plain. E_ABSENT: no such writer (the
 * message names the nearest), or it is not in this build. Errors of the sink come from
 * dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_report(const char *writer, const dck_record *const *records, size_t n,
			      const dck_style *style, dck_sink *out, dck_err *err) DCK_MUST_USE;

/* Writes one record as plain text to a file descriptor, which stays open: dck_report() with the
 * writer "text", and dck_sink_finish(). E_IO. @since 0.1 */
DCK_API dck_status dck_print(const dck_record *r, int fd, dck_err *err);

/* A chart of a record for a paper or a slide, as SVG, 720 by 400 px. */
typedef struct dck_figure {
	const char *name, *help;	  /* "histogram", "how the times of the runs are spread" */
	bool (*has)(const dck_record *r); /* the record has the data */
	void (*draw)(const dck_record *r, dck_sink *out); /* only if has() */
} dck_figure;

/* Returns all figures, in the order of help; static. @since 0.1 */
DCK_API const dck_figure *const *dck_figures(size_t *ret_n);

/* Renders n bytes of a figure's SVG as PNG, `scale` (0.1 to 16) times 720 by 400 px. E_ARG: another
 * scale; E_ABSENT: librsvg, which is loaded on demand, is not installed; E_FORMAT: not SVG; E_IO:
 * it cannot be drawn. Errors of the sink come from dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_figure_png(const char *svg, size_t n, double scale, dck_sink *out,
				  dck_err *err) DCK_MUST_USE;

/* Writes a value with its unit, as in the reports for people: "17.8 ms", "4.23 MiB", "1,000", "56.7
 * items/s"; a text, "yes" or "no", or the reason of its absence. Truncates to `size` bytes; returns
 * buf. @since 0.1 */
DCK_API const char *dck_text_value(const dck_value *v, dck_unit unit, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
