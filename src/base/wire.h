/* wire.h - the protocol-buffer encoding: read through a small window over a file or over bytes
 * in memory, and written to memory.
 * Encoding: https://protobuf.dev/programming-guides/encoding/
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include "deepclock/base.h"

/* --- wire_source.c: random-access byte source. Only the bytes needed are read, so that skipping a
 * tensor of a gigabyte costs nothing. A file is never mapped: a mapped file that shrinks kills the
 * process. */
#define WIRE_WINDOW_MAX 65536
/* Small at first and after every jump: most jumps land on one tensor's header. */
#define WIRE_STEP_FIRST 4096

typedef struct wire_source wire_source;
struct wire_source {
	char label[256]; /* "'x.onnx'", "the model in memory": begins a message */
	uint64_t size;
	int fd;		       /* -1: everything is in `window` */
	const uint8_t *window; /* bytes [at, at + n) of the source */
	uint64_t at;
	size_t n;
	uint8_t *own; /* WIRE_WINDOW_MAX bytes; NULL: in memory */
	size_t step;  /* bytes of the next read: grows while reading is sequential */
	/* For a source that is not in memory: reads exactly n bytes at `at`; closes it. */
	dck_status (*read)(wire_source *s, uint64_t at, size_t n, uint8_t *to, dck_err *err);
	void (*close)(wire_source *s);
};

/* The expected kind of a source, for messages. */
typedef struct wire_kind {
	const char *thing, *file, *whole; /* "model", "an ONNX file", "an ONNX model" */
} wire_kind;

/* Opens a file (os/wire_file.c). E_ABSENT: no such file; E_IO: a directory, a pipe, no permission;
 * E_FORMAT: empty. */
dck_status wire_source_open(const char *path, const wire_kind *kind, wire_source *ret,
			    dck_err *err);
/* Opens bytes in memory, borrowed until close. */
dck_status wire_source_bytes(const void *bytes, size_t n, const wire_kind *kind, wire_source *ret,
			     dck_err *err);
void wire_source_close(wire_source *s); /* {0} is allowed */

/* Returns up to `want` (at most 64) bytes from `at` on, fewer only at the end; borrowed until the
 * next call. */
dck_status wire_source_peek(wire_source *s, uint64_t at, size_t want, const uint8_t **ret,
			    size_t *ret_n, dck_err *err);
/* Copies exactly n bytes; the range must be inside the source. */
dck_status wire_source_copy(wire_source *s, uint64_t at, size_t n, void *to, dck_err *err);

/* --- wire.c: fields of one message. */
#define WIRE_DEPTH_MAX 100 /* as in the protocol buffer libraries */

typedef enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5
} wire_type;

typedef struct wire_reader {
	wire_source *source;
	uint64_t at, end;
	const char *what; /* "an ONNX model", "a node": for messages */
	int depth;
	bool sure; /* top level: the bytes read so far identify the format */
} wire_reader;

typedef struct wire_field {
	uint32_t number;
	wire_type type;
	uint64_t at;	/* offset of its tag */
	uint64_t value; /* VARINT, FIXED64, FIXED32; for BYTES the length */
	uint64_t data;	/* BYTES: offset of the first */
} wire_field;

void wire_reader_init(wire_source *s, const char *what, wire_reader *ret);
/* Reads a field with one byte of tag and one of length or value, as nearly all have, if its header
 * is in the window. Other fields, and all errors, are handled by wire_next_any(). */
static inline bool wire_next_short(wire_reader *r, wire_field *ret)
{
	const wire_source *s = r->source;
	uint64_t left = r->end - r->at, in_window = r->at - s->at;

	if (left < 2 || r->at < s->at || in_window >= s->n || s->n - in_window < 2)
		return false;
	const uint8_t *p = s->window + in_window;
	wire_type type = (wire_type)(p[0] & 7);
	if (p[0] >= 0x80 || p[0] < 8 || p[1] >= 0x80 ||
	    !(type == WIRE_VARINT || (type == WIRE_BYTES && p[1] <= left - 2)))
		return false;
	*ret = (wire_field){.number = p[0] >> 3,
			    .type = type,
			    .at = r->at,
			    .value = p[1],
			    .data = type == WIRE_BYTES ? r->at + 2 : 0};
	r->at += type == WIRE_BYTES ? 2u + p[1] : 2u;
	return true;
}

dck_status wire_next_any(wire_reader *r, const char *(*name)(const void *self, uint32_t number),
			 const void *self, wire_field *ret, bool *ret_more, dck_err *err);
/* Reads the next field; *ret_more becomes false at the end of the message, then *ret is unchanged.
 * name(number) returns the field's name or NULL. */
static inline dck_status wire_next(wire_reader *r,
				   const char *(*name)(const void *self, uint32_t number),
				   const void *self, wire_field *ret, bool *ret_more, dck_err *err)
{
	if (!wire_next_short(r, ret))
		return wire_next_any(r, name, self, ret, ret_more, err);
	*ret_more = true;
	return DCK_OK;
}
/* The same as the condition of a loop over the fields: false after the last one, or if *ret_status
 * is an error. */
static inline bool wire_each(wire_reader *r, wire_field *ret, dck_status *ret_status, dck_err *err)
{
	bool more = true;

	*ret_status = wire_next(r, NULL, NULL, ret, &more, err);
	return *ret_status == DCK_OK && more;
}
/* Opens a reader of the message in field f. E_FORMAT: f is a number; E_LIMIT: nested too deeply. */
dck_status wire_enter(const wire_reader *r, const wire_field *f, const char *what, wire_reader *ret,
		      dck_err *err);
/* Reads the next number of a packed list of varints or fixed-size values. */
dck_status wire_packed_next(wire_reader *r, wire_type type, uint64_t *ret, dck_err *err);
/* Returns the number of varints in n bytes at `at`; fewer if they cannot be read. */
size_t wire_count_varints(wire_source *s, uint64_t at, uint64_t n);
/* Fails with "'x' is malformed: ..." or, at the top level, "'x' is not an ONNX model: ...". */
dck_status wire_fail(const wire_reader *r, dck_err *err, const char *fmt, ...) DCK_PRINTF(3, 4);

/* --- wire_write.c: a growing message. Failure is sticky: check `failed` once, at the end. */
typedef struct wire_out {
	uint8_t *data; /* @owned, wire_out_done */
	size_t n, cap;
	bool failed;
} wire_out;

void wire_out_done(wire_out *w);
void wire_put_int(wire_out *w, uint32_t field, int64_t v);
void wire_put_float(wire_out *w, uint32_t field, float v);
void wire_put_double(wire_out *w, uint32_t field, double v);
void wire_put_bytes(wire_out *w, uint32_t field, const void *bytes, size_t n);
void wire_put_text(wire_out *w, uint32_t field, const char *text);
/* Begin and end a nested message: it has all fields written between the two calls. */
size_t wire_begin(wire_out *w, uint32_t field);
void wire_end(wire_out *w, size_t mark);
/* Reserves n more bytes, which the caller fills; NULL: failed. */
uint8_t *wire_reserve(wire_out *w, size_t n);
/* Writes a tag and a length without the bytes, which the caller writes elsewhere. */
void wire_put_header(wire_out *w, uint32_t field, uint64_t n);
size_t wire_varint_size(uint64_t v);

/* Returns the float in the low half of `bits`, the value of a field of four bytes. */
float wire_float(uint64_t bits);

#endif
