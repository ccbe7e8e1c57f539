/* inflate_reader.h - decompresses gzip or zlib data of a source in chunks of whole Perfetto
 * packets, or of any bytes.
 *
 *	DCK_TRY(inflate_reader_open(&u, source, 0, source->size, INFLATE_PACKETS, &budget, err));
 *	while ((status = inflate_reader_next(u, &part, err)) == DCK_OK && part.n > 0)
 *		... read part, a source in memory, from part.at on ...
 *	inflate_reader_close(u);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READ_INFLATE_READER_H
#define READ_INFLATE_READER_H

#include "base/wire.h"

/* A single packet may not be larger. Memory: at most twice that, while a buffer grows. */
enum { INFLATE_PACKET_MAX = 64 << 20 };
/* The maximum compression ratio of zlib's format; data compressed twice may not exceed it
 * either. */
enum { INFLATE_RATIO_MAX = 1032 };

typedef struct inflate_reader inflate_reader;
typedef enum inflate_unit { INFLATE_PACKETS, INFLATE_BYTES } inflate_unit;

/* Bytes [at, at + n) of a source that stays the caller's, and outlives it. *budget: how many bytes
 * may still be unpacked; it is counted down. */
dck_status inflate_reader_open(inflate_reader **ret, wire_source *s, uint64_t at, uint64_t n,
			       inflate_unit as, uint64_t *budget, dck_err *err);
/* Reads the next whole packets, or bytes, and at the end the rest of a packet; n is 0 at the end.
 * Borrowed until the next call. E_FORMAT: damaged or truncated; E_LIMIT: the data are too large. */
dck_status inflate_reader_next(inflate_reader *u, wire_source *ret, dck_err *err);
void inflate_reader_close(inflate_reader *u);

#endif
