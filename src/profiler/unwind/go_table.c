/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/go_table.h"

#include "profiler/unwind/dwarf_bytes.h"

/* The table's header: magic of the layout, two zeros, quantum, pointer size; then the numbers of
 * functions and files, the start of the code, and the offsets of the parts. */
enum { HEADER_BYTES = 8 + 8 * 8, LAYOUT_118 = -16, LAYOUT_120 = -15 };

/* A function's description. */
enum {
	FUNC_NAME = 4,
	FUNC_DEPTHS = 16,
	FUNC_FILES = 20,
	FUNC_LINES = 24,
	FUNC_UNIT = 32,
	FUNC_FLAGS = 37
};
enum { TOP = 1, VALUES_MAX = 1 << 20 };

static uint64_t go_word(const go_table *t, uint64_t at)
{
	uint64_t v;

	memcpy(&v, t->bytes + at, sizeof v);
	return v;
}

/* Returns 0 past the end. */
static uint32_t go_half(const go_table *t, uint64_t at)
{
	uint32_t v = 0;

	if (at < t->size && t->size - at >= sizeof v)
		memcpy(&v, t->bytes + at, sizeof v);
	return v;
}

bool go_table_open(const unsigned char *bytes, uint64_t size, uint64_t text, go_table *ret)
{
	go_table t = {.bytes = bytes, .size = size};
	int32_t layout;

	if (size <= HEADER_BYTES)
		return false;
	memcpy(&layout, bytes, sizeof layout);
	if ((layout != LAYOUT_118 && layout != LAYOUT_120) || bytes[4] || bytes[5] || bytes[7] != 8)
		return false;
	t.quantum = bytes[6];
	t.has_start_line = layout == LAYOUT_120;
	t.n = go_word(&t, 8);
	t.start = go_word(&t, GO_TABLE_TEXT_AT);
	if (!t.start)
		t.start = text;
	t.names = go_word(&t, 32);
	t.units = go_word(&t, 40);
	t.files = go_word(&t, 48);
	t.values = go_word(&t, 56);
	t.rows = go_word(&t, 64);
	*ret = t;
	return t.rows < size && t.n < (size - t.rows) / 8 && t.names < size && t.units <= size &&
	       t.files <= size && t.values <= size;
}

bool go_table_function(const go_table *t, uint64_t i, go_function *ret)
{
	uint64_t row = t->rows + 8 * i;

	*ret = (go_function){t->start + go_half(t, row), t->start + go_half(t, row + 8),
			     t->rows + go_half(t, row + 4)};
	return i < t->n && ret->begin < ret->end && ret->at < t->size;
}

bool go_table_find(const go_table *t, uint64_t address, go_function *ret)
{
	uint64_t low = 0, high = t->n, wanted = address - t->start;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (go_half(t, t->rows + 8 * middle) <= wanted)
			low = middle;
		else
			high = middle;
	}
	return t->n && go_table_function(t, low, ret) && address >= ret->begin &&
	       address < ret->end;
}

const char *go_table_name(const go_table *t, const go_function *f)
{
	uint64_t at = t->names + go_half(t, f->at + FUNC_NAME);

	return at < t->size ? (const char *)t->bytes + at : "";
}

/* Looks up a function's value for an address in a delta-coded table (pcvalue): difference of the
 * value, then of the end address. */
static bool go_value_at(const go_table *t, const go_function *f, uint64_t list, uint64_t address,
			int32_t *ret)
{
	dwarf_bytes b = {t->bytes, t->bytes + t->size, false};
	uint64_t at = f->begin;
	uint32_t v = UINT32_MAX;

	dwarf_skip(&b, t->values);
	dwarf_skip(&b, list);
	for (unsigned i = 0; list && i < VALUES_MAX && dwarf_more(&b); i++) {
		uint32_t by = (uint32_t)dwarf_uleb(&b);

		if (!by && i)
			return false;
		v += by & 1 ? ~(by >> 1) : by >> 1;
		at += dwarf_uleb(&b) * t->quantum;
		if (b.bad)
			return false;
		if (address < at) {
			*ret = (int32_t)v;
			return true;
		}
	}
	return false;
}

bool go_table_depth(const go_table *t, const go_function *f, uint64_t address, int32_t *ret)
{
	return go_value_at(t, f, go_half(t, f->at + FUNC_DEPTHS), address, ret) && *ret >= 0;
}

bool go_table_is_top(const go_table *t, const go_function *f)
{
	uint64_t at = f->at + FUNC_FLAGS + (t->has_start_line ? 4 : 0);

	return at < t->size && t->bytes[at] & TOP;
}

const char *go_table_line(const go_table *t, const go_function *f, uint64_t address,
			  unsigned *ret_line)
{
	int32_t line, file;
	uint64_t at;

	if (!go_value_at(t, f, go_half(t, f->at + FUNC_LINES), address, &line) || line <= 0 ||
	    !go_value_at(t, f, go_half(t, f->at + FUNC_FILES), address, &file) || file < 0)
		return NULL;
	at = t->units + 4 * ((uint64_t)go_half(t, f->at + FUNC_UNIT) + (uint32_t)file);
	at = t->files + go_half(t, at);
	if (at >= t->size)
		return NULL;
	*ret_line = (unsigned)line;
	return (const char *)t->bytes + at;
}
