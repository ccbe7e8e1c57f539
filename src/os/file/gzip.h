/* gzip.h - output stream with gzip compression.
 *
 *	gzip_sink *g;
 *
 *	DCK_TRY(gzip_sink_open(&g, &file, err));
 *	... write into gzip_sink_in(g); gzip_sink_flush(g) makes the output so far readable ...
 *	DCK_TRY(gzip_sink_close(g, err));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_GZIP_H
#define TIMELINE_GZIP_H

#include "deepclock/report.h"

#include "os/process/lazy_zlib.h"

/* Returns a stream that allocates through base/mem.h; for deflateInit2_(), inflateInit2_(). */
z_stream gzip_stream(void);

typedef struct gzip_sink gzip_sink;

/* Opens a sink that writes its input to `to`, compressed. The caller owns `to`, which outlives it.
 */
dck_status gzip_sink_open(gzip_sink **ret, dck_sink *to, dck_err *err);
dck_sink *gzip_sink_in(gzip_sink *g);
/* Writes all input so far to `to`, so that it can be decompressed if nothing follows. */
void gzip_sink_flush(gzip_sink *g);
/* Returns an upper bound of the input bytes that are not yet written to `to`. */
uint64_t gzip_sink_held(const gzip_sink *g);
/* Ends the file, and frees g, also on failure. NULL is allowed. */
dck_status gzip_sink_close(gzip_sink *g, dck_err *err);

#endif
