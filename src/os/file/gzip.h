/* gzip.h - bytes that are compressed on their way, and what zlib needs for it.
 *
 *	gzip_sink *g;
 *
 *	DCK_TRY(gzip_sink_open(&g, &file, err));
 *	... write into gzip_sink_in(g); gzip_sink_flush(g) makes what is written readable ...
 *	DCK_TRY(gzip_sink_close(g, err));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_GZIP_H
#define TIMELINE_GZIP_H

#include "deepclock/report.h"

#include "os/process/lazy_zlib.h"

/* A stream that takes its memory where all of it is taken; for deflateInit2_(), inflateInit2_(). */
z_stream gzip_stream(void);

typedef struct gzip_sink gzip_sink;

/* What is written into it goes to `to`, compressed. `to` stays the caller's, and outlives it. */
dck_status gzip_sink_open(gzip_sink **ret, dck_sink *to, dck_err *err);
dck_sink *gzip_sink_in(gzip_sink *g);
/* All so far is handed to `to`, so that it can be unpacked should nothing follow. */
void gzip_sink_flush(gzip_sink *g);
/* How many bytes of what was written are not handed on yet, or less. */
uint64_t gzip_sink_held(const gzip_sink *g);
/* Ends the file, and frees g, also on failure. NULL is allowed. */
dck_status gzip_sink_close(gzip_sink *g, dck_err *err);

#endif
