/* onnx_decode.c - table-driven decoder of protocol buffers: reads any message of onnx.proto.
 *
 * onnx_schema.c describes each message: for a field's number its kind and its offset in the struct.
 * A message is read in two passes. fields_reserve() walks its fields without entering them, counts
 * the items of every list and allocates each list once; then the fields are read. So each field is
 * visited at most twice, and lists do not grow piece by piece. Fields that are in no table are
 * skipped by their length, which is how tensor data is never read.
 *
 * As the encoding demands, numbers of a list come singly or packed, a later scalar replaces an
 * earlier one, and a second part of a message is merged into the first.
 *
 * Bounds on hostile input: memory by the arena's limit (E_LIMIT), nesting by WIRE_DEPTH_MAX in
 * wire_enter(), and byte strings above ONNX_TEXT_MAX are skipped. A list never exceeds its counted
 * length: a file that changes between the passes is E_IO.
 *
 * Source: https://protobuf.dev/programming-guides/encoding/
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/onnx_schema.h"
#include "base/err.h"

#include <string.h>

static const onnx_field *find_field(const onnx_message *m, uint32_t number)
{
	return number < m->nfields && m->fields[number].name ? &m->fields[number] : NULL;
}

static const char *decode_field_name(const void *self, uint32_t number)
{
	const onnx_field *f = find_field(self, number);

	return f ? f->name : NULL;
}

dck_status onnx_fail_memory(onnx_reading *p, const wire_reader *r, size_t wanted)
{
	if (wanted > p->limit || mem_arena_bytes(p->arena) > p->limit - wanted)
		DCK_FAIL(p->err, E_LIMIT, "the structure of %s needs more than %zu MiB",
			 r->source->label, ONNX_MEMORY_MAX >> 20);
	return ERR_NO_MEMORY(p->err, "for the structure of %s", r->source->label);
}

/* Capacities of a message's lists, which are counted before the lists are filled. */
typedef struct lists {
	uint32_t found; /* bit by the field's number: which lists occur */
	size_t cap[ONNX_FIELDS_MAX];
} lists;

static bool is_list(onnx_kind k)
{
	return k == AS_INTS || k == AS_FLOATS || k == AS_TEXTS || k == AS_TEXTNS || k == AS_MANY;
}

static bool has_lists(const onnx_message *m)
{
	for (size_t i = 1; i < m->nfields; i++)
		if (is_list(m->fields[i].kind))
			return true;
	return false;
}

static size_t item_size(const onnx_field *f)
{
	switch (f->kind) {
	case AS_FLOATS:
		return sizeof(float);
	case AS_INTS:
		return sizeof(int64_t);
	case AS_TEXTS:
		return sizeof(const char *);
	case AS_TEXTNS:
		return sizeof(onnx_text);
	default:
		return f->of->size;
	}
}

/* Returns how many numbers one field adds to a list. */
static size_t count_numbers(const wire_reader *r, const onnx_field *f, const wire_field *w)
{
	if (w->type != WIRE_BYTES)
		return 1;
	return f->kind == AS_FLOATS ? (size_t)(w->value / sizeof(float))
				    : wire_count_varints(r->source, w->data, w->value);
}

/* Walks the fields of a message without entering them and allocates every list at once: lists that
 * grow piece by piece would take twice the memory, and fresh memory has the highest cost here.
 * Malformed input is left to the pass that follows. */
static dck_status fields_reserve(onnx_reading *p, const onnx_message *m, wire_reader r,
				 void *object, lists *l)
{
	wire_field w;
	bool more = true;

	l->found = 0;
	if (!has_lists(m))
		return DCK_OK;
	while (wire_next(&r, NULL, NULL, &w, &more, NULL) == DCK_OK && more) {
		const onnx_field *f = find_field(m, w.number);
		if (!f || !is_list(f->kind))
			continue;
		size_t more_items =
		    f->kind == AS_INTS || f->kind == AS_FLOATS ? count_numbers(&r, f, &w) : 1;
		uint32_t bit = UINT32_C(1) << w.number;
		l->cap[w.number] = more_items + (l->found & bit ? l->cap[w.number] : 0);
		l->found |= bit;
	}
	for (uint32_t left = l->found; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		const onnx_field *f = &m->fields[i];
		void *items;

		if (!l->cap[i])
			continue;
		size_t n, size = item_size(f);
		memcpy(&items, (char *)object + f->at, sizeof(items));
		memcpy(&n, (char *)object + f->count, sizeof n);
		l->cap[i] += n; /* set already by the first part of a message in two parts */
		void *cap = mem_arena_array(p->arena, l->cap[i], size);
		if (!cap)
			return onnx_fail_memory(p, &r, l->cap[i] * size);
		if (n)
			memcpy(cap, items, n * size);
		memcpy((char *)object + f->at, &cap, sizeof(cap));
	}
	return DCK_OK;
}

/* Adds an item to a list; *ret is its address. */
static dck_status decode_list_add(onnx_reading *p, const wire_reader *r, const onnx_field *f,
				  const wire_field *w, const lists *l, void *object, void **ret)
{
	char *items;
	size_t n;

	memcpy(&items, (char *)object + f->at, sizeof(items));
	memcpy(&n, (char *)object + f->count, sizeof n);
	if (!(l->found >> w->number & 1) || n >= l->cap[w->number])
		DCK_FAIL(p->err, E_IO, "%s changed while it was read", r->source->label);
	*ret = items + n * item_size(f);
	n++;
	memcpy((char *)object + f->count, &n, sizeof n);
	return DCK_OK;
}

/* Allocates n bytes and a NUL. Short texts are packed into blocks without gaps. */
static char *text_alloc(onnx_reading *p, size_t n)
{
	enum { FIRST = 1024, LAST = 32768 };

	if (n + 1 > p->text_cap) {
		if (n + 1 > FIRST / 2)
			return mem_arena_alloc(p->arena, n + 1);
		size_t block = p->text_block ? p->text_block : FIRST;
		p->text = mem_arena_alloc(p->arena, block);
		if (!p->text)
			return NULL;
		p->text_cap = block;
		p->text_block = block < LAST ? 2 * block : LAST;
	}
	char *text = p->text;
	p->text += n + 1;
	p->text_cap -= n + 1;
	return text;
}

static dck_status decode_read_text(onnx_reading *p, const wire_reader *r, const onnx_field *f,
				   const wire_field *w, onnx_text *ret)
{
	bool any_bytes = f->kind == AS_BYTES || f->kind == AS_TEXTNS;
	char *text = NULL;

	if (any_bytes && w->value > ONNX_TEXT_MAX) {
		*ret = (onnx_text){NULL, w->value};
		return DCK_OK;
	}
	if (w->value < p->limit)
		text = text_alloc(p, (size_t)w->value);
	if (!text)
		return onnx_fail_memory(p, r, (size_t)w->value);
	const wire_source *s = r->source;
	if (w->data >= s->at && w->data + w->value <= s->at + s->n)
		memcpy(text, s->window + (w->data - s->at), (size_t)w->value);
	else
		DCK_TRY(wire_source_copy(r->source, w->data, (size_t)w->value, text, p->err));
	*ret = (onnx_text){text, w->value};
	return DCK_OK;
}

static dck_status decode_read_number(onnx_reading *p, const wire_reader *r, const onnx_field *f,
				     const wire_field *w, uint64_t bits, const lists *l,
				     void *object)
{
	void *item;
	float real = wire_float(bits);
	int64_t integer = (int64_t)bits;

	DCK_TRY(decode_list_add(p, r, f, w, l, object, &item));
	if (f->kind == AS_FLOATS)
		memcpy(item, &real, sizeof real);
	else
		memcpy(item, &integer, sizeof integer);
	return DCK_OK;
}

/* Numbers come one by one or packed; readers must take both. */
static dck_status read_numbers(onnx_reading *p, const wire_reader *r, const onnx_field *f,
			       const wire_field *w, const lists *l, void *object)
{
	wire_type type = f->kind == AS_FLOATS ? WIRE_FIXED32 : WIRE_VARINT;
	wire_reader in;
	uint64_t bits;

	if (w->type != WIRE_BYTES)
		return decode_read_number(p, r, f, w, w->value, l, object);
	DCK_TRY(wire_enter(r, w, r->what, &in, p->err));
	while (in.at < in.end) {
		DCK_TRY(wire_packed_next(&in, type, &bits, p->err));
		DCK_TRY(decode_read_number(p, r, f, w, bits, l, object));
	}
	return DCK_OK;
}

static dck_status read_one(onnx_reading *p, const wire_reader *r, const onnx_field *f,
			   const wire_field *w, const lists *l, void *object)
{
	wire_reader in;
	void *one;

	DCK_TRY(wire_enter(r, w, f->of->what, &in, p->err));
	if (f->kind == AS_MANY) {
		DCK_TRY(decode_list_add(p, r, f, w, l, object, &one));
	} else {
		memcpy(&one, (char *)object + f->at, sizeof one);
		if (one)
			return onnx_decode(p, f->of, in, one);
		one = mem_arena_alloc(p->arena, f->of->size);
		if (!one)
			return onnx_fail_memory(p, r, f->of->size);
		memcpy((char *)object + f->at, &one, sizeof one);
	}
	if (f->of->initial)
		memcpy(one, f->of->initial, f->of->size);
	return onnx_decode(p, f->of, in, one);
}

static dck_status decode_read_field(onnx_reading *p, const wire_reader *r, const onnx_field *f,
				    const wire_field *w, const lists *l, void *object)
{
	char *at = (char *)object + f->at;
	int64_t integer = (int64_t)w->value;
	float real = wire_float(w->value);
	onnx_text text;
	void *item;

	switch (f->kind) {
	case AS_INT:
		memcpy(at, &integer, sizeof integer);
		return DCK_OK;
	case AS_FLOAT:
		memcpy(at, &real, sizeof real);
		return DCK_OK;
	case AS_LENGTH:
		memcpy(at, &w->value, sizeof w->value);
		return DCK_OK;
	case AS_INTS:
	case AS_FLOATS:
		return read_numbers(p, r, f, w, l, object);
	case AS_TEXT:
	case AS_BYTES:
		DCK_TRY(decode_read_text(p, r, f, w, &text));
		memcpy(at, &text, f->kind == AS_TEXT ? sizeof text.text : sizeof text);
		return DCK_OK;
	case AS_TEXTS:
	case AS_TEXTNS:
		DCK_TRY(decode_read_text(p, r, f, w, &text));
		DCK_TRY(decode_list_add(p, r, f, w, l, object, &item));
		memcpy(item, &text, f->kind == AS_TEXTS ? sizeof text.text : sizeof text);
		return DCK_OK;
	case AS_ONE:
	case AS_MANY:
		break;
	}
	return read_one(p, r, f, w, l, object);
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
	uint32_t skipped = 0;
	bool more = true;
	lists l;

	DCK_TRY(fields_reserve(p, m, r, object, &l));
	for (;;) {
		DCK_TRY(wire_next(&r, decode_field_name, m, &w, &more, p->err));
		if (!more)
			break;
		const onnx_field *f = find_field(m, w.number);
		/* Newer fields are skipped, but no writer begins a model with one. */
		if (!f && (r.depth > 0 || w.at > 0)) {
			skipped |= w.number < ONNX_FIELDS_MAX ? UINT32_C(1) << w.number : 0;
			continue;
		}
		if (!f || !type_fits(f->kind, w.type))
			return wire_fail(&r, p->err, "field %u at byte %llu", (unsigned)w.number,
					 (unsigned long long)w.at);
		if (r.depth == 0 && f->kind == AS_INT)
			r.sure = true;
		DCK_TRY(decode_read_field(p, &r, f, &w, &l, object));
	}
	return m->after && (!m->left || (m->left & skipped)) ? m->after(p, object, begin) : DCK_OK;
}
