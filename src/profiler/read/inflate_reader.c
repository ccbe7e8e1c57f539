/* inflate_reader.c - decompresses gzip or zlib data into a window that holds whole fields.
 *
 * The window grows to the length that the next field states, and its given part is dropped by the
 * next call. What was decompressed before an error is given first; the error is reported then. A
 * gzip member may be followed by another one, and the last one by zeros. Both the length of a field
 * and the sum of all bytes are bounded, because the data may be hostile.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/inflate_reader.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/file/gzip.h"

#include <stdio.h>
#include <string.h>

enum { IN = 16384, ROOM_FIRST = 1 << 17, ANY_FORM = 32 + MAX_WBITS };

struct inflate_reader {
	wire_source *source;
	uint64_t at, end; /* offsets in the compressed bytes */
	uint64_t *budget;
	z_stream z;
	bool ended, packets;
	uint8_t *data; /* @owned: a window of the decompressed bytes, from offset `from` */
	size_t n, cap, given;
	uint64_t from;
	dck_err failed; /* code 0: not */
	uint8_t in[IN];
};

dck_status inflate_reader_open(inflate_reader **ret, wire_source *s, uint64_t at, uint64_t n,
			       inflate_unit as, uint64_t *budget, dck_err *err)
{
	DCK_TRY(zlib_load(err));
	inflate_reader *u = mem_zalloc(1, sizeof *u);

	DCK_NEED(u, err, "to unpack %s", s->label);
	u->source = s;
	u->at = at;
	u->end = at + n;
	u->budget = budget;
	u->packets = as == INFLATE_PACKETS;
	u->z = gzip_stream();
	u->cap = ROOM_FIRST;
	u->data = mem_alloc(u->cap);
	if (!u->data || zlib->inflateInit2_(&u->z, ANY_FORM, ZLIB_VERSION, sizeof u->z) != Z_OK) {
		mem_free(u->data);
		mem_free(u);
		return ERR_NO_MEMORY(err, "to unpack %s", s->label);
	}
	*ret = u;
	return DCK_OK;
}

void inflate_reader_close(inflate_reader *u)
{
	if (!u)
		return;
	zlib->inflateEnd(&u->z);
	mem_free(u->data);
	mem_free(u);
}

static dck_status more_input(inflate_reader *u, dck_err *err)
{
	const size_t n = u->end - u->at < IN ? (size_t)(u->end - u->at) : IN;

	if (!n)
		DCK_FAIL(err, E_FORMAT, "%s is truncated: it ends inside compressed data",
			 u->source->label);
	DCK_TRY(wire_source_copy(u->source, u->at, n, u->in, err));
	u->at += n;
	u->z.next_in = u->in;
	u->z.avail_in = (unsigned)n;
	return DCK_OK;
}

/* Skips zeros after the end of a gzip member, which gzip(1) allows as padding. */
static dck_status padding_skip(inflate_reader *u, dck_err *err)
{
	for (;;) {
		for (; u->z.avail_in && *u->z.next_in == 0; u->z.avail_in--)
			u->z.next_in++;
		if (u->z.avail_in || u->at == u->end)
			return DCK_OK;
		DCK_TRY(more_input(u, err));
	}
}

/* Decompresses one more piece to the end of the window. */
static dck_status inflate_some(inflate_reader *u, dck_err *err)
{
	const unsigned space = (unsigned)(u->cap - u->n);

	if (!u->z.avail_in)
		DCK_TRY(more_input(u, err));
	u->z.next_out = u->data + u->n;
	u->z.avail_out = space;
	const int status = zlib->inflate(&u->z, Z_NO_FLUSH);
	const size_t got = space - u->z.avail_out;
	u->n += got;
	DCK_NEED(status != Z_MEM_ERROR, err, "to unpack %s", u->source->label);
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		DCK_FAIL(err, E_FORMAT, "%s is malformed: its compressed data are damaged (%s)",
			 u->source->label, u->z.msg ? u->z.msg : "bad format");
	if (got > *u->budget)
		DCK_FAIL(err, E_LIMIT, "%s unpacks to more than %d times its size",
			 u->source->label, (int)INFLATE_RATIO_MAX);
	*u->budget -= got;
	if (status != Z_STREAM_END)
		return DCK_OK;
	/* Another gzip member may follow. */
	DCK_TRY(padding_skip(u, err));
	u->ended = u->z.avail_in == 0;
	if (!u->ended)
		zlib->inflateReset(&u->z);
	return DCK_OK;
}

/* Returns the number of bytes of the window that are complete fields. *ret_want: the bytes that the
 * next field needs, as far as known. Malformed bytes count as complete: the caller's reader reports
 * them. */
static size_t inflate_whole(const inflate_reader *u, uint64_t *ret_want)
{
	enum { PACKET_TAG = 10 };
	const uint8_t *data = u->data;
	const size_t n = u->n;
	size_t at = 0;

	if (!u->packets)
		return n;
	while (at < n) {
		uint64_t bytes = 0;
		size_t i = at + 1;
		unsigned shift = 0;
		if (data[at] != PACKET_TAG)
			return n;
		for (; i < n && data[i] >= 0x80 && shift < 63; i++, shift += 7)
			bytes |= (uint64_t)(data[i] & 0x7f) << shift;
		*ret_want = 0;
		if (i == n)
			return at;
		bytes |= (uint64_t)data[i] << shift;
		if (bytes > INT64_MAX)
			return n;
		*ret_want = bytes + (i + 1 - at);
		if (bytes > n - i - 1)
			return at;
		at = i + 1 + (size_t)bytes;
	}
	return at;
}

static dck_status inflate_reserve(inflate_reader *u, uint64_t want, dck_err *err)
{
	size_t cap = u->cap;

	if (want > INFLATE_PACKET_MAX)
		DCK_FAIL(err, E_LIMIT,
			 "%s has a compressed packet of %llu bytes; "
			 "at most %d are read",
			 u->source->label, (unsigned long long)want, (int)INFLATE_PACKET_MAX);
	while (cap < want || cap == u->n)
		cap *= 2;
	if (cap == u->cap)
		return DCK_OK;
	uint8_t *data = mem_resize(u->data, cap);
	DCK_NEED(data, err, "to unpack %s", u->source->label);
	u->data = data;
	u->cap = cap;
	return DCK_OK;
}

/* Until there is a whole field, or nothing more. */
static dck_status input_refill(inflate_reader *u, dck_err *err)
{
	uint64_t want = 0;

	while (!u->ended && u->n < ROOM_FIRST / 2)
		DCK_TRY(inflate_some(u, err));
	while (!u->ended && !inflate_whole(u, &want)) {
		DCK_TRY(inflate_reserve(u, want, err));
		DCK_TRY(inflate_some(u, err));
	}
	return DCK_OK;
}

dck_status inflate_reader_next(inflate_reader *u, wire_source *ret, dck_err *err)
{
	uint64_t want;

	memmove(u->data, u->data + u->given, u->n - u->given);
	u->n -= u->given;
	u->from += u->given;
	u->given = 0;
	/* The data before a failure is returned first. */
	if (!u->failed.code && input_refill(u, &u->failed) != DCK_OK)
		u->ended = true;
	u->given = inflate_whole(u, &want);
	if (u->failed.code && !u->given)
		return err_forward(&u->failed, err);
	if (u->ended && !u->given)
		u->given = u->n;
	/* Offsets count from the start of the decompressed stream. */
	*ret = (wire_source){
	    .size = u->from + u->given, .fd = -1, .window = u->data, .at = u->from, .n = u->given};
	snprintf(ret->label, sizeof ret->label, "%s", u->source->label);
	return DCK_OK;
}
