/* inflate_reader.h - decompresses gzip or zlib data of a source in chunks of whole Perfetto
 * packets, or of any bytes.
 *
 *	DCK_TRY(unpack_open(&u, source, 0, source->size, UNPACK_PACKETS, &budget, err));
 *	while ((status = inflate_reader_next(u, &part, err)) == DCK_OK && part.n > 0)
 *		... read part, a source in memory, from part.at on ...
 *	unpack_close(u);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READ_INFLATE_READER_H
#define READ_INFLATE_READER_H

#include "base/wire.h"

/* A single packet may not be larger. Memory: at most twice that, while a buffer grows. */
enum { UNPACK_PACKET_MAX = 64 << 20 };
/* The maximum compression ratio of zlib's format; data compressed twice may not exceed it
 * either. */
enum { UNPACK_RATIO_MAX = 1032 };

typedef struct unpacker unpacker;
typedef enum unpack_as { UNPACK_PACKETS, UNPACK_BYTES } unpack_as;

/* Bytes [at, at + n) of a source that stays the caller's, and outlives it. *budget: how many bytes
 * may still be unpacked; it is counted down. */
dck_status unpack_open(unpacker **ret, wire_source *s, uint64_t at, uint64_t n, unpack_as as,
		       uint64_t *budget, dck_err *err);
/* Reads the next whole packets, or bytes, and at the end the rest of a packet; n is 0 at the end.
 * Borrowed until the next call. E_FORMAT: damaged or truncated; E_LIMIT: the data are too large. */
dck_status inflate_reader_next(unpacker *u, wire_source *ret, dck_err *err);
void unpack_close(unpacker *u);

#endif
