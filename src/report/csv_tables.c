/* csv_tables.c - writes the cells of tables as rows of the metrics' CSV: the tag is
 * TABLE/ROW/COLUMN, where ROW is the text of the row's first cell and COLUMN the column's key.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "record/record_internal.h"
#include "report/csv.h"
#include <string.h>

static void text_part(dck_sink *out, const char *text)
{
	csv_text_part(out, text, strlen(text));
}

/* A row's name; of one that has none, nothing. */
static void name_part(dck_sink *out, const dck_value *v)
{
	if (v->kind == DCK_VALUE_TEXT)
		text_part(out, v->as.text);
	else
		csv_value(out, v);
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

/* Rows are compared with each other, which a table of a million would make too long. */
#define UNIQUE_MAX 2000

/* Of the rows of this name, which this one is: from 1. */
static size_t turn_of(const dck_table *t, size_t row)
{
	size_t n = 1;

	for (size_t i = 0; i < row && t->nrows <= UNIQUE_MAX; i++)
		n += record_value_equal(&t->cells[i * t->ncolumns].value,
					&t->cells[row * t->ncolumns].value);
	return n;
}

static void cell_row(dck_sink *out, const dck_record *r, const dck_table *t, size_t row,
		     size_t turn, size_t col)
{
	const dck_cell *name = &t->cells[row * t->ncolumns], *c = name + col;

	csv_text_field(out, r->id);
	csv_text_field(out, r->command);
	csv_text_begin(out, t->name);
	text_part(out, t->name);
	text_part(out, "/");
	name_part(out, &name->value);
	if (turn > 1)
		sink_fmt(out, "#%zu", turn);
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
	for (size_t i = 0; i < r->ntables; i++) {
		const dck_table *t = &r->tables[i];
		for (size_t row = 0; row < t->nrows; row++) {
			const size_t turn = turn_of(t, row);
			for (size_t col = 1; col < t->ncolumns; col++)
				cell_row(out, r, t, row, turn, col);
		}
	}
}
