/* csv_tables.c - writes the cells of tables as rows of the metrics' CSV: the tag is
 * TABLE/ROW/COLUMN, where ROW is the text of the row's first cell and COLUMN the column's key.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/sink.h"
#include "record/record_internal.h"
#include "report/csv.h"
#include "report/distinct_names.h"
#include <string.h>

static void text_part(dck_sink *out, const char *text)
{
	csv_text_part(out, text, strlen(text));
}

/* Text in quotes, numbers without, so that they are distinguished. */
static void value_field(dck_sink *out, const dck_value *v)
{
	if (v->kind == DCK_VALUE_TEXT)
		csv_text(out, v->as.text, strlen(v->as.text));
	else
		csv_value(out, v);
	sink_text(out, ",");
}

/* A row's name as it is printed; of one that has none, nothing. */
static const char *row_name(const dck_value *v, mem_arena *a)
{
	dck_buffer text = {0};
	dck_sink sink;
	const char *name;

	if (v->kind == DCK_VALUE_TEXT)
		return v->as.text;
	dck_sink_buffer(&sink, &text);
	csv_value(&sink, v);
	name = dck_sink_finish(&sink, NULL) == DCK_OK
		   ? mem_arena_dup_n(a, text.data ? text.data : "", text.n)
		   : NULL;
	dck_buffer_done(&text);
	return name;
}

/* Returns the names of the rows, each once. NULL: no memory. */
static const char *const *row_names(const dck_table *t, mem_arena *a)
{
	const char **name = mem_arena_array(a, t->nrows, sizeof *name);

	for (size_t row = 0; name && row < t->nrows; row++) {
		name[row] = row_name(&t->cells[row * t->ncolumns].value, a);
		name = name[row] ? name : NULL;
	}
	return name && names_number(name, t->nrows, "#", "", a) ? name : NULL;
}

static void cell_row(dck_sink *out, const dck_record *r, const dck_table *t, const char *name,
		     size_t row, size_t col)
{
	const dck_cell *c = &t->cells[row * t->ncolumns + col];

	csv_text_field(out, r->id);
	csv_text_field(out, r->command);
	csv_text_begin(out, t->name);
	text_part(out, t->name);
	text_part(out, "/");
	text_part(out, name);
	text_part(out, "/");
	text_part(out, t->columns[col].key);
	sink_text(out, "\",");
	value_field(out, &c->value);
	csv_text_field(out, dck_unit_text(t->columns[col].unit));
	csv_interval(out, c->lo, c->hi, c->level);
	csv_text_field(out, c->value.kind == DCK_VALUE_ABSENT ? c->value.as.text : NULL);
	sink_text(out, ",\r\n");
}

void csv_tables(const dck_record *r, dck_sink *out)
{
	dck_err err;

	for (size_t i = 0; i < r->ntables; i++) {
		const dck_table *t = &r->tables[i];
		mem_arena *a = mem_arena_new(0);
		const char *const *name = a ? row_names(t, a) : NULL;

		if (!name) {
			(void)ERR_NO_MEMORY(&err, "for the names of %zu rows", t->nrows);
			sink_fail(out, &err);
		}
		for (size_t row = 0; name && row < t->nrows; row++)
			for (size_t col = 1; col < t->ncolumns; col++)
				cell_row(out, r, t, name[row], row, col);
		mem_arena_free(a);
	}
}
