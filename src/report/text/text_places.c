/* text_places.c - in a table of functions, file, line and module become one column: where each is.
 * A column "place" of a table of paths is shortened in the same way.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "report/text/text_parts.h"
#include <stdio.h>
#include <string.h>

enum { KEYS = 3 };
static const char *const place_keys[KEYS] = {"file", "line", "module"};

/* Returns the index of a column; SIZE_MAX: none. */
static size_t column_find(const dck_table *t, const char *key)
{
	for (size_t c = 1; c < t->ncolumns; c++)
		if (strcmp(t->columns[c].key, key) == 0)
			return c;
	return SIZE_MAX;
}

/* Shortens a path to at most `cols` columns by removing its beginning, up to a '/' if possible. */
static const char *places_end_of(const char *text, unsigned cols)
{
	const char *at = text;

	while (page_columns(at) > cols) {
		const char *slash = strchr(at + 1, '/');

		at = slash ? slash : at + 1;
		while (!slash && ((unsigned char)*at & 0xc0u) == 0x80u)
			at++;
	}
	return at;
}

static const dck_value *places_value_at(const dck_table *t, size_t row, size_t column)
{
	return column < t->ncolumns ? &t->cells[row * t->ncolumns + column].value : NULL;
}

/* "...", and the end: "...ieee754/e_pow.c:193". */
static const char *place_make(mem_arena *a, const dck_table *t, size_t row, const size_t *at,
			      unsigned cols)
{
	const dck_value *file = places_value_at(t, row, at[0]),
			*line = places_value_at(t, row, at[1]),
			*module = places_value_at(t, row, at[2]);
	const char *text = "";

	if (file && file->kind == DCK_VALUE_TEXT && line && line->kind == DCK_VALUE_INT)
		text = mem_arena_fmt(a, "%s:%lld", file->as.text, (long long)line->as.i);
	else if (file && file->kind == DCK_VALUE_TEXT)
		text = file->as.text;
	else if (module && module->kind == DCK_VALUE_TEXT)
		text = module->as.text;
	if (!text || page_columns(text) <= cols)
		return text;
	const char *end = places_end_of(text, cols - 3);
	return mem_arena_fmt(a, "...%s", end);
}

static bool is_in(size_t column, const size_t *at)
{
	return column == at[0] || column == at[1] || column == at[2];
}

/* The columns of the summary, with the three columns of the place as one, at the position of the
 * first. */
static void brief_fill(const dck_table *t, const uint32_t *to, const size_t *at, uint32_t *brief,
		       dck_table *ret)
{
	bool placed = false;
	size_t n = 0;

	for (size_t i = 0; i < t->nsummary_columns; i++) {
		const uint32_t c = t->summary_columns[i];

		if (is_in(c, at) && placed)
			continue;
		placed |= is_in(c, at);
		brief[n++] = to[c];
	}
	ret->summary_columns = brief;
	ret->nsummary_columns = n;
}

const dck_table *text_places(mem_arena *a, const dck_table *t, unsigned cols)
{
	size_t at[KEYS], n = 0, k = 0;

	for (size_t i = 0; i < KEYS; i++)
		n += (at[i] = column_find(t, place_keys[i])) != SIZE_MAX;
	const bool one = n == 0 && (at[0] = column_find(t, "place")) != SIZE_MAX;
	n += one;
	if (!a || n < 2 - (size_t)one || at[0] == SIZE_MAX || cols < 8)
		return t;
	const size_t ncolumns = t->ncolumns - n + 1;
	dck_table *ret = mem_arena_array(a, 1, sizeof *ret);
	dck_column *columns = mem_arena_array(a, ncolumns, sizeof *columns);
	dck_cell *cells = mem_arena_array(a, t->nrows * ncolumns + 1, sizeof *cells);
	uint32_t *to = mem_arena_array(a, t->ncolumns, sizeof *to);
	uint32_t *brief = mem_arena_array(a, t->nsummary_columns + 1, sizeof *brief);

	if (!ret || !columns || !cells || !to || !brief)
		return t;
	size_t place = SIZE_MAX;
	for (size_t c = 0; c < t->ncolumns; c++) {
		if (is_in(c, at) && place != SIZE_MAX) {
			to[c] = (uint32_t)place;
			continue;
		}
		if (is_in(c, at))
			place = k;
		to[c] = (uint32_t)k;
		columns[k++] =
		    is_in(c, at) ? (dck_column){"place", "place", DCK_UNIT_NONE} : t->columns[c];
	}
	for (size_t row = 0; row < t->nrows; row++) {
		for (size_t c = 0; c < t->ncolumns; c++)
			if (!is_in(c, at))
				cells[row * ncolumns + to[c]] = t->cells[row * t->ncolumns + c];
		dck_value *v = &cells[row * ncolumns + place].value;
		cells[row * ncolumns + place] = (dck_cell){0};
		if (one && places_value_at(t, row, at[0])->kind != DCK_VALUE_TEXT) {
			*v = *places_value_at(t, row, at[0]);
			continue;
		}
		v->kind = DCK_VALUE_TEXT;
		v->as.text = place_make(a, t, row, at, cols);
		if (!v->as.text)
			return t;
	}
	*ret = *t;
	ret->columns = columns;
	ret->ncolumns = ncolumns;
	ret->cells = cells;
	brief_fill(t, to, at, brief, ret);
	return ret;
}
