/* report.h - print a record as text, or write several to a sink, by the writer's name.
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

/* How operators are listed (text and csv). Zeroed: the writer's choice. Options: dck_op_options. */
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
	bool sources; /* html: the text of source lines that call paths name is put into the page */
	bool runs;    /* csv: a row for each run that was timed, instead of one for each metric */
	/* html: of the one record, which is a trace's (unstable.h makes it); NULL: none */
	const struct dck_timeline *timeline;
	/* html: a page that puts its charts as files in the place of itself: dck_figures_browse()
	 */
	bool figures;
	/* html, sources: files below the working directory are put into the page, and below this
	 * one (NULL: none). The function is called with each of them; NULL: nothing is. */
	const char *source_root;
	void (*source_found)(void *self, const char *file);
	void *source_found_self;
} dck_style;

/* A pure function from records to bytes. */
typedef struct dck_writer {
	const char *name, *ext, *help; /* "json", ".json", "the whole record, one object" */
	void (*write)(const dck_record *const *records, size_t n, const dck_style *style,
		      dck_sink *out);
	/* Why it cannot write in this build; returns NULL, or is NULL: it can. */
	const char *(*missing)(void);
} dck_writer;

/* All writers, in the order help shows them; static. @since 0.1 */
DCK_API const dck_writer *const *dck_writers(size_t *ret_n);

/* Writes n records with the writer of that name; style NULL: plain. E_ABSENT: no such writer
 * (the sentence names the nearest), or it was left out of this build. Errors of the sink come from
 * dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_report(const char *writer, const dck_record *const *records, size_t n,
			      const dck_style *style, dck_sink *out, dck_err *err) DCK_MUST_USE;

/* Writes one record as plain text to a file descriptor, which stays open: dck_report() with the
 * writer "text", and dck_sink_finish(). E_IO. @since 0.1 */
DCK_API dck_status dck_print(const dck_record *r, int fd, dck_err *err);

/* A picture of a record for a paper or a slide, as SVG, 720 by 400 px. */
typedef struct dck_figure {
	const char *name, *help;	  /* "histogram", "how the times of the runs are spread" */
	bool (*has)(const dck_record *r); /* the record holds what it shows */
	void (*draw)(const dck_record *r, dck_sink *out); /* only where it has */
} dck_figure;

/* All figures, in the order help shows them; static. @since 0.1 */
DCK_API const dck_figure *const *dck_figures(size_t *ret_n);

/* n bytes of SVG that a figure drew, as PNG, `scale` times 720 by 400 px. E_ABSENT: there is no
 * librsvg, which is loaded for it; E_FORMAT: it is no SVG. Errors of the sink come from
 * dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_figure_png(const char *svg, size_t n, double scale, dck_sink *out,
				  dck_err *err) DCK_MUST_USE;

/* A value with its unit, as the reports for people write it: "17.8 ms", "4.23 MiB", "1,000",
 * "56.7 items/s"; a text, "yes" or "no", or why it is absent. At most `size` bytes, cut where they
 * do not hold it; returns buf. @since 0.1 */
DCK_API const char *dck_text_value(const dck_value *v, dck_unit unit, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
