/* wire.c - reads the fields of a protocol-buffer message.
 *
 * Every length is checked against the message around it before it is used, so that a reader
 * never leaves its message; nothing is allocated here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/wire.h"
#include "base/err.h"
#include "deepclock/opt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void wire_reader_init(wire_source *s, const char *what, wire_reader *ret)
{
	*ret = (wire_reader){.source = s, .at = 0, .end = s->size, .what = what};
}

dck_status wire_fail(const wire_reader *r, dck_err *err, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (r->depth == 0 && !r->sure)
		DCK_FAIL(err, E_FORMAT, "%s is not %s: %s", r->source->label, r->what, text);
	DCK_FAIL(err, E_FORMAT, "%s is malformed: %s, in %s", r->source->label, text, r->what);
}

/* Decodes a varint from at most n bytes; returns how many it took, 0: it does not end. */
static size_t wire_varint(const uint8_t *p, size_t n, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n && i < 10; i++) {
		v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (p[i] < 0x80) {
			*ret = v;
			return i + 1;
		}
	}
	return 0;
}

static uint64_t wire_little_endian(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = n; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* A field that does not end inside its message. */
static dck_status fail_long(const wire_reader *r, const char *name, const wire_field *f,
			    dck_err *err)
{
	char says[32], has[32], number[32];

	if (!name) {
		snprintf(number, sizeof number, "field %u", (unsigned)f->number);
		name = number;
	}
	dck_text_count(f->value > INT64_MAX ? INT64_MAX : (int64_t)f->value, says, sizeof says);
	if (r->depth == 0 && r->sure) {
		dck_text_count((int64_t)r->source->size, has, sizeof has);
		DCK_FAIL(err, E_FORMAT,
			 "%s is truncated: the %s states %s bytes, the file ends after %s",
			 r->source->label, name, says, has);
	}
	dck_text_count((int64_t)(r->end - f->data), has, sizeof has);
	return wire_fail(r, err, "%s at byte %llu has length %s, but %s bytes are left", name,
			 (unsigned long long)f->at, says, has);
}

dck_status wire_next_any(wire_reader *r, const char *(*name)(const void *self, uint32_t number),
			 const void *self, wire_field *ret, bool *ret_more, dck_err *err)
{
	const uint8_t *p;
	uint64_t tag, value;
	size_t n, used;

	if (r->at == r->end) {
		*ret_more = false;
		return DCK_OK;
	}
	DCK_TRY(wire_source_peek(r->source, r->at, 20, &p, &n, err));
	if (n > r->end - r->at)
		n = (size_t)(r->end - r->at);

	wire_field f = {.at = r->at};
	used = wire_varint(p, n, &tag);
	if (!used || tag > UINT32_MAX)
		return wire_fail(r, err, "no field tag at byte %llu", (unsigned long long)r->at);
	f.number = (uint32_t)(tag >> 3);
	f.type = (wire_type)(tag & 7);
	if (f.number == 0)
		return wire_fail(r, err, "field 0 at byte %llu", (unsigned long long)r->at);
	p += used;
	n -= used;
	r->at += used;
	switch (f.type) {
	case WIRE_VARINT:
	case WIRE_BYTES:
		used = wire_varint(p, n, &value);
		if (!used)
			return wire_fail(r, err, "field %u at byte %llu does not end",
					 (unsigned)f.number, (unsigned long long)f.at);
		break;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		used = f.type == WIRE_FIXED64 ? 8 : 4;
		if (n < used)
			return wire_fail(r, err, "field %u at byte %llu does not end",
					 (unsigned)f.number, (unsigned long long)f.at);
		value = wire_little_endian(p, used);
		break;
	default: /* groups, which ONNX never had, and undefined types */
		return wire_fail(r, err, "field %u at byte %llu has wire type %d",
				 (unsigned)f.number, (unsigned long long)f.at, (int)f.type);
	}
	r->at += used;
	f.value = value;
	if (f.type == WIRE_BYTES) {
		f.data = r->at;
		if (value > r->end - r->at)
			return fail_long(r, name ? name(self, f.number) : NULL, &f, err);
		r->at += value;
	}
	*ret = f;
	*ret_more = true;
	return DCK_OK;
}

dck_status wire_enter(const wire_reader *r, const wire_field *f, const char *what, wire_reader *ret,
		      dck_err *err)
{
	if (f->type != WIRE_BYTES)
		return wire_fail(r, err, "field %u at byte %llu is not %s", (unsigned)f->number,
				 (unsigned long long)f->at, what);
	if (r->depth + 1 >= WIRE_DEPTH_MAX)
		DCK_FAIL(err, E_LIMIT, "%s nests its messages deeper than %d at byte %llu",
			 r->source->label, WIRE_DEPTH_MAX, (unsigned long long)f->at);
	*ret = (wire_reader){.source = r->source,
			     .at = f->data,
			     .end = f->data + f->value,
			     .what = what,
			     .depth = r->depth + 1};
	return DCK_OK;
}

dck_status wire_packed_next(wire_reader *r, wire_type type, uint64_t *ret, dck_err *err)
{
	const uint8_t *p;
	uint64_t value;
	size_t n, used;

	DCK_TRY(wire_source_peek(r->source, r->at, 10, &p, &n, err));
	if (n > r->end - r->at)
		n = (size_t)(r->end - r->at);
	if (type == WIRE_VARINT) {
		used = wire_varint(p, n, &value);
	} else {
		used = type == WIRE_FIXED64 ? 8 : 4;
		used = n < used ? 0 : used;
		value = used ? wire_little_endian(p, used) : 0;
	}
	if (!used)
		return wire_fail(r, err, "a list of numbers does not end at byte %llu",
				 (unsigned long long)r->at);
	r->at += used;
	*ret = value;
	return DCK_OK;
}

size_t wire_count_varints(wire_source *s, uint64_t at, uint64_t n)
{
	const uint8_t *p;
	size_t count = 0, step;

	for (uint64_t end = at + n; at < end; at += step) {
		step = end - at < 64 ? (size_t)(end - at) : 64;
		if (wire_source_peek(s, at, step, &p, &step, NULL) != DCK_OK || step == 0)
			return count;
		for (size_t i = 0; i < step; i++)
			count += p[i] < 0x80;
	}
	return count;
}

float wire_float(uint64_t bits)
{
	const uint32_t low = (uint32_t)bits;
	float v;

	memcpy(&v, &low, sizeof v);
	return v;
}
