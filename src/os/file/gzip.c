/* SPDX-License-Identifier: Apache-2.0 */
#include "os/file/gzip.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"

enum { GZIP = 16 + MAX_WBITS, MEMORY = 8 }; /* zlib's own choice */

struct gzip_sink {
	dck_sink in, *to;
	z_stream z;
	uint64_t flushed; /* bytes that went in before the last flush */
};

static void *zlib_alloc(void *self, unsigned n, unsigned size)
{
	(void)self;
	return mem_alloc((size_t)n * size);
}

static void gzip_give(void *self, void *p)
{
	(void)self;
	mem_free(p);
}

z_stream gzip_stream(void)
{
	return (z_stream){.zalloc = zlib_alloc, .zfree = gzip_give};
}

static void squeeze(gzip_sink *g, const void *bytes, size_t n, int flush)
{
	unsigned char out[8192];
	int status;

	g->z.next_in = (unsigned char *)(uintptr_t)bytes;
	g->z.avail_in = (unsigned)n;
	do {
		g->z.next_out = out;
		g->z.avail_out = sizeof out;
		status = zlib->deflate(&g->z, flush);
		sink_put(g->to, out, sizeof out - g->z.avail_out);
	} while (status == Z_OK && g->z.avail_out == 0);
}

static dck_status write_squeezed(void *self, const void *bytes, size_t n, dck_err *err)
{
	enum { PIECE = 1 << 30 }; /* zlib counts in 32 bits */
	gzip_sink *g = self;

	for (; n > PIECE; n -= PIECE, bytes = (const char *)bytes + PIECE)
		squeeze(g, bytes, PIECE, Z_NO_FLUSH);
	squeeze(g, bytes, n, Z_NO_FLUSH);
	return g->to->failed ? err_pass(g->to->error.code, &g->to->error, err) : DCK_OK;
}

dck_status gzip_sink_open(gzip_sink **ret, dck_sink *to, dck_err *err)
{
	DCK_TRY(zlib_load(err));
	gzip_sink *g = mem_alloc(sizeof *g);

	DCK_NEED(g, err, "to compress");
	dck_sink_custom(&g->in, write_squeezed, g);
	g->to = to;
	g->z = gzip_stream();
	g->flushed = 0;
	/* The fastest level: it has to keep up with the recording. */
	if (zlib->deflateInit2_(&g->z, Z_BEST_SPEED, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY,
				ZLIB_VERSION, sizeof g->z) != Z_OK) {
		mem_free(g);
		return ERR_NO_MEMORY(err, "to compress");
	}
	*ret = g;
	return DCK_OK;
}

dck_sink *gzip_sink_in(gzip_sink *g)
{
	return &g->in;
}

void gzip_sink_flush(gzip_sink *g)
{
	if (gzip_sink_held(g) == 0 || dck_sink_finish(&g->in, NULL) != DCK_OK)
		return;
	squeeze(g, NULL, 0, Z_SYNC_FLUSH);
	g->flushed = g->z.total_in;
}

uint64_t gzip_sink_held(const gzip_sink *g)
{
	return g->z.total_in + g->in.used - g->flushed;
}

dck_status gzip_sink_close(gzip_sink *g, dck_err *err)
{
	if (!g)
		return DCK_OK;
	const dck_status status = dck_sink_finish(&g->in, err);
	squeeze(g, NULL, 0, Z_FINISH);
	zlib->deflateEnd(&g->z);
	mem_free(g);
	return status;
}
