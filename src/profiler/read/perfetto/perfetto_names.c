/* perfetto_names.c - string interning for Perfetto traces: texts, names and source locations.
 *
 * Texts are interned to numbers over the whole trace. A name is a pair (text, category), a source
 * location a pair (file, line); a hash map finds the row of a pair. A sequence refers to texts by
 * private ids (iid, perfetto_interned.c), which one map for each field turns into our numbers,
 * until the sequence clears its state (SEQ_INCREMENTAL_STATE_CLEARED, perfetto_forget()). A name is
 * emitted to the format once, in the order of the numbers, before events that use it.
 *
 * Bounds for hostile files: TEXTS_MAX texts and as many pairs (E_LIMIT); a text is cut after
 * STRING_NAME_MAX bytes. Row 0 means none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "profiler/read/perfetto/perfetto_reading.h"

#include <string.h>

enum { TEXTS_MAX = 1 << 22 };

typedef struct named {
	uint32_t text, category, place;
} named;

typedef struct place {
	uint32_t file, line;
} place;

void perfetto_names_init(perfetto_reader *x)
{
	x->names.row_bytes = sizeof(named);
	x->places.row_bytes = sizeof(place);
}

static const char *perfetto_field_name(const void *reader, uint32_t number)
{
	return ((const wire_reader *)reader)->depth == 0 && number == PF_TRACE_PACKET ? "packet"
										      : NULL;
}

bool perfetto_each(perfetto_reader *x, wire_reader *r, wire_field *f)
{
	bool more = true;

	x->status = wire_next(r, perfetto_field_name, r, f, &more, x->err);
	return x->status == DCK_OK && more;
}

/* --- texts */

static dck_status text_numbered(const char *text, size_t n, uint32_t *ret, perfetto_reader *x)
{
	*ret = string_table_intern(&x->texts, text, n);
	DCK_NEED(*ret, x->err, "for the names of a trace");
	if (x->texts.n > TEXTS_MAX)
		DCK_FAIL(x->err, E_LIMIT, "the trace has more than %d names", (int)TEXTS_MAX);
	return DCK_OK;
}

dck_status perfetto_text(const wire_reader *r, const wire_field *f, uint32_t *ret,
			 perfetto_reader *x)
{
	char text[STRING_NAME_MAX];
	size_t n = f->value < sizeof text ? (size_t)f->value : sizeof text;

	if (f->type != WIRE_BYTES)
		return wire_fail(r, x->err, "a name that is not a text");
	DCK_TRY(wire_source_copy(r->source, f->data, n, text, x->err));
	return text_numbered(text, n, ret, x);
}

dck_status perfetto_text_joined(uint32_t a, uint32_t b, uint32_t *ret, perfetto_reader *x)
{
	const string_name first = string_name_of(&x->texts, a),
			  second = string_name_of(&x->texts, b);
	char text[2 * STRING_NAME_MAX + 1];

	*ret = a ? a : b;
	if (!a || !b)
		return DCK_OK;
	memcpy(text, first.text, first.n);
	text[first.n] = ',';
	memcpy(text + first.n + 1, second.text, second.n);
	return text_numbered(text, first.n + 1 + second.n, ret, x);
}

/* --- names with what belongs to them */

/* Finds or makes the row of a pair of numbers. */
static dck_status pair_row(hash_map *rows, id_table *table, uint32_t a, uint32_t b, uint32_t *n,
			   uint32_t *ret, perfetto_reader *x)
{
	const uint64_t key = (uint64_t)a << 32 | b;

	*ret = hash_map_find(rows, key);
	if (*ret)
		return DCK_OK;
	if (*n == TEXTS_MAX)
		DCK_FAIL(x->err, E_LIMIT, "the trace has more than %d names", (int)TEXTS_MAX);
	DCK_NEED(id_table_row(table, *n + 1) && hash_map_put(rows, key, *n + 1), x->err,
		 "for the names of a trace");
	*ret = ++*n;
	return DCK_OK;
}

dck_status perfetto_name(uint32_t text, uint32_t category, uint32_t where, uint32_t *ret,
			 perfetto_reader *x)
{
	*ret = 0;
	if (!text)
		return DCK_OK;
	DCK_TRY(pair_row(&x->name_rows, &x->names, text, category, &x->nnames, ret, x));
	named *row = id_table_find(&x->names, *ret);
	row->text = text;
	row->category = category;
	row->place = row->place ? row->place : where;
	return DCK_OK;
}

void perfetto_emit_names(perfetto_reader *x)
{
	while (x->emitted_names < x->nnames) {
		const named *row = id_table_find(&x->names, ++x->emitted_names);
		const string_name text = string_name_of(&x->texts, row->text);
		const place *at = row->place ? id_table_find(&x->places, row->place) : NULL;
		x->format->intern(
		    x->out, x->emitted_names,
		    &(trace_name){.text = text.text,
				  .n = text.n,
				  .category = string_name_of(&x->texts, row->category).text,
				  .file = at ? string_name_of(&x->texts, at->file).text : NULL,
				  .line = at ? at->line : 0});
	}
}

/* --- source locations, and what sequences intern */

dck_status perfetto_place(wire_reader r, uint64_t *ret_iid, uint32_t *ret, perfetto_reader *x)
{
	place said = {0};
	wire_field f;

	*ret = 0;
	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_NAME_IID)
			*ret_iid = f.value;
		else if (f.number == PF_NAME_TEXT)
			DCK_TRY(perfetto_text(&r, &f, &said.file, x));
		else if (f.number == PF_SOURCE_LINE)
			said.line = (uint32_t)f.value;
	}
	DCK_TRY(x->status);
	if (!said.file)
		return DCK_OK;
	DCK_TRY(pair_row(&x->place_rows, &x->places, said.file, said.line, &x->nplaces, ret, x));
	*(place *)id_table_find(&x->places, *ret) = said;
	return DCK_OK;
}

void perfetto_defaults_reset(perfetto_sequence *q)
{
	q->clock = 0;
	q->track = 0;
	q->samples_timed = false;
	q->samples_rate = 0;
}

void perfetto_forget(perfetto_sequence *q, perfetto_reader *x)
{
	for (size_t i = 0; i < sizeof q->interned / sizeof *q->interned; i++) {
		x->ninterned -= q->interned[i].n;
		hash_map_clear(&q->interned[i]);
	}
	perfetto_defaults_reset(q);
	q->valid = true;
	q->clears = ++x->nclears;
}
