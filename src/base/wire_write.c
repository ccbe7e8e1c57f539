/* wire_write.c - writes protocol-buffer messages into memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/wire.h"
#include "base/mem.h"

#include <string.h>

void wire_out_done(wire_out *w)
{
	mem_free(w->data);
	*w = (wire_out){0};
}

uint8_t *wire_reserve(wire_out *w, size_t n)
{
	w->failed |= n > SIZE_MAX - w->n || !mem_reserve(&w->data, &w->cap, w->n + n, 1);
	if (w->failed)
		return NULL;
	uint8_t *p = w->data + w->n;
	w->n += n;
	return p;
}

size_t wire_varint_size(uint64_t v)
{
	size_t n = 1;

	while (v >= 0x80) {
		v >>= 7;
		n++;
	}
	return n;
}

static void encode(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p = (uint8_t)v;
}

static void put_varint(wire_out *w, uint64_t v)
{
	uint8_t *p = wire_reserve(w, wire_varint_size(v));

	if (p)
		encode(p, v);
}

static void put_tag(wire_out *w, uint32_t field, wire_type type)
{
	put_varint(w, (uint64_t)field << 3 | (uint64_t)type);
}

void wire_put_int(wire_out *w, uint32_t field, int64_t v)
{
	put_tag(w, field, WIRE_VARINT);
	put_varint(w, (uint64_t)v);
}

/* The lowest n bytes of a number, the lowest first. */
static void put_fixed(wire_out *w, uint32_t field, wire_type type, uint64_t bits, size_t n)
{
	put_tag(w, field, type);
	uint8_t *p = wire_reserve(w, n);
	for (size_t i = 0; p && i < n; i++)
		p[i] = (uint8_t)(bits >> (8 * i));
}

void wire_put_float(wire_out *w, uint32_t field, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	put_fixed(w, field, WIRE_FIXED32, bits, sizeof bits);
}

void wire_put_double(wire_out *w, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	put_fixed(w, field, WIRE_FIXED64, bits, sizeof bits);
}

void wire_put_header(wire_out *w, uint32_t field, uint64_t n)
{
	put_tag(w, field, WIRE_BYTES);
	put_varint(w, n);
}

void wire_put_bytes(wire_out *w, uint32_t field, const void *bytes, size_t n)
{
	wire_put_header(w, field, n);
	uint8_t *p = wire_reserve(w, n);
	if (p && n)
		memcpy(p, bytes, n);
}

void wire_put_text(wire_out *w, uint32_t field, const char *text)
{
	wire_put_bytes(w, field, text, strlen(text));
}

size_t wire_begin(wire_out *w, uint32_t field)
{
	put_tag(w, field, WIRE_BYTES);
	return w->n;
}

void wire_end(wire_out *w, size_t mark)
{
	if (w->failed)
		return;
	/* The length is only known now: the message is moved to make space for it. */
	size_t n = w->n - mark, size = wire_varint_size(n);
	if (!wire_reserve(w, size))
		return;
	memmove(w->data + mark + size, w->data + mark, n);
	encode(w->data + mark, n);
}
