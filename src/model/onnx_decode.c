/* onnx_decode.c - reads any message of the schema into its struct.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx_schema.h"
#include "base/err.h"

#include <string.h>

static const onnx_field *find_field(const onnx_message *m, uint32_t number)
{
	for (const onnx_field *f = m->fields; f->number; f++)
		if (f->number == number)
			return f;
	return NULL;
}

static const char *field_name(const void *self, uint32_t number)
{
	const onnx_field *f = find_field(self, number);

	return f ? f->name : NULL;
}

dck_status onnx_fail_memory(onnx_reading *p, const wire_reader *r, size_t wanted)
{
	if (wanted > p->limit || mem_arena_bytes(p->arena) > p->limit - wanted)
		DCK_FAIL(p->err, E_LIMIT, "the structure of %s needs more than %zu MiB",
			 r->source->label, ONNX_MEMORY_MAX >> 20);
	DCK_FAIL(p->err, E_NOMEM, "no memory for the structure of %s", r->source->label);
}

/* Room for one more item behind n of them; *items moves when n is a power of two, so that the
 * room there is follows from n alone. Returns the new item's place. */
static void *list_add(onnx_reading *p, void **items, size_t n, size_t size)
{
	if ((n & (n - 1)) == 0) {
		void *more = mem_arena_array(p->arena, n ? 2 * n : 1, size);
		if (!more)
			return NULL;
		if (n)
			memcpy(more, *items, n * size);
		*items = more;
	}
	return (char *)*items + n * size;
}

/* The list whose pointer and count lie at f->at and f->count of object: one more item. */
static dck_status field_add(onnx_reading *p, const wire_reader *r, const onnx_field *f,
			    void *object, size_t size, void **ret)
{
	void *items;
	size_t n;

	memcpy(&items, (char *)object + f->at, sizeof(items));
	memcpy(&n, (char *)object + f->count, sizeof(n));
	void *item = list_add(p, &items, n, size);
	if (!item)
		return onnx_fail_memory(p, r, 2 * n * size);
	n++;
	memcpy((char *)object + f->at, &items, sizeof(items));
	memcpy((char *)object + f->count, &n, sizeof(n));
	*ret = item;
	return DCK_OK;
}

static dck_status read_text(onnx_reading *p, const wire_reader *r, const onnx_field *f,
			    const wire_field *w, onnx_text *ret)
{
	bool any_bytes = f->kind == AS_BYTES || f->kind == AS_TEXTNS;
	char *text = NULL;

	if (any_bytes && w->value > ONNX_TEXT_MAX) {
		*ret = (onnx_text){NULL, w->value};
		return DCK_OK;
	}
	if (w->value < p->limit)
		text = mem_arena_alloc(p->arena, (size_t)w->value + 1);
	if (!text)
		return onnx_fail_memory(p, r, (size_t)w->value);
	DCK_TRY(wire_source_copy(r->source, w->data, (size_t)w->value, text, p->err));
	*ret = (onnx_text){text, w->value};
	return DCK_OK;
}

static float float_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float v;

	memcpy(&v, &low, sizeof(v));
	return v;
}

static dck_status read_number(onnx_reading *p, const wire_reader *r, const onnx_field *f,
			      uint64_t bits, void *object)
{
	void *item;
	float real = float_of(bits);
	int64_t integer = (int64_t)bits;

	DCK_TRY(field_add(p, r, f, object, f->kind == AS_FLOATS ? sizeof(real) : sizeof(integer),
			  &item));
	if (f->kind == AS_FLOATS)
		memcpy(item, &real, sizeof(real));
	else
		memcpy(item, &integer, sizeof(integer));
	return DCK_OK;
}

/* Numbers come one by one or packed; readers must take both. */
static dck_status read_numbers(onnx_reading *p, const wire_reader *r, const onnx_field *f,
			       const wire_field *w, void *object)
{
	wire_type type = f->kind == AS_FLOATS ? WIRE_FIXED32 : WIRE_VARINT;
	wire_reader in;
	uint64_t bits;

	if (w->type != WIRE_BYTES)
		return read_number(p, r, f, w->value, object);
	DCK_TRY(wire_enter(r, w, r->what, &in, p->err));
	while (in.at < in.end) {
		DCK_TRY(wire_packed_next(&in, type, &bits, p->err));
		DCK_TRY(read_number(p, r, f, bits, object));
	}
	return DCK_OK;
}

static dck_status read_one(onnx_reading *p, const wire_reader *r, const onnx_field *f,
			   const wire_field *w, void *object)
{
	wire_reader in;
	void *one;

	DCK_TRY(wire_enter(r, w, f->of->what, &in, p->err));
	if (f->kind == AS_MANY) {
		DCK_TRY(field_add(p, r, f, object, f->of->size, &one));
	} else {
		memcpy(&one, (char *)object + f->at, sizeof(one));
		if (one)
			return onnx_decode(p, f->of, in, one);
		one = mem_arena_alloc(p->arena, f->of->size);
		if (!one)
			return onnx_fail_memory(p, r, f->of->size);
		memcpy((char *)object + f->at, &one, sizeof(one));
	}
	if (f->of->initial)
		memcpy(one, f->of->initial, f->of->size);
	return onnx_decode(p, f->of, in, one);
}

static dck_status read_field(onnx_reading *p, const wire_reader *r, const onnx_field *f,
			     const wire_field *w, void *object)
{
	char *at = (char *)object + f->at;
	int64_t integer = (int64_t)w->value;
	float real = float_of(w->value);
	onnx_text text;
	void *item;

	switch (f->kind) {
	case AS_INT:
		memcpy(at, &integer, sizeof(integer));
		return DCK_OK;
	case AS_FLOAT:
		memcpy(at, &real, sizeof(real));
		return DCK_OK;
	case AS_INTS:
	case AS_FLOATS:
		return read_numbers(p, r, f, w, object);
	case AS_TEXT:
	case AS_BYTES:
		DCK_TRY(read_text(p, r, f, w, &text));
		memcpy(at, &text, f->kind == AS_TEXT ? sizeof(text.text) : sizeof(text));
		return DCK_OK;
	case AS_TEXTS:
	case AS_TEXTNS:
		DCK_TRY(read_text(p, r, f, w, &text));
		DCK_TRY(field_add(p, r, f, object,
				  f->kind == AS_TEXTS ? sizeof(text.text) : sizeof(text), &item));
		memcpy(item, &text, f->kind == AS_TEXTS ? sizeof(text.text) : sizeof(text));
		return DCK_OK;
	case AS_ONE:
	case AS_MANY:
		break;
	}
	return read_one(p, r, f, w, object);
}

/* Whether a field of that kind may have that wire type. */
static bool type_fits(onnx_kind k, wire_type t)
{
	switch (k) {
	case AS_INT:
		return t == WIRE_VARINT;
	case AS_FLOAT:
		return t == WIRE_FIXED32;
	case AS_INTS:
		return t == WIRE_VARINT || t == WIRE_BYTES;
	case AS_FLOATS:
		return t == WIRE_FIXED32 || t == WIRE_BYTES;
	default:
		return t == WIRE_BYTES;
	}
}

dck_status onnx_decode(onnx_reading *p, const onnx_message *m, wire_reader r, void *object)
{
	wire_reader begin = r;
	wire_field w;
	bool more = true;

	for (;;) {
		DCK_TRY(wire_next(&r, field_name, m, &w, &more, p->err));
		if (!more)
			break;
		const onnx_field *f = find_field(m, w.number);
		/* Newer fields are skipped, but no writer begins a model with one. */
		if (!f && (r.depth > 0 || w.at > 0))
			continue;
		if (!f || !type_fits(f->kind, w.type))
			return wire_fail(&r, p->err, "field %u at byte %llu", (unsigned)w.number,
					 (unsigned long long)w.at);
		if (r.depth == 0 && f->kind == AS_INT)
			r.sure = true;
		DCK_TRY(read_field(p, &r, f, &w, object));
	}
	return m->after ? m->after(p, object, begin) : DCK_OK;
}
