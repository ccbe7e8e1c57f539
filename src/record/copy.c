/* SPDX-License-Identifier: Apache-2.0 */
#include "record/copy.h"
#include <stdio.h>

void record_copy_facts(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nfacts; i++) {
		const dck_fact *f = &r->facts[i];

		switch (f->value.kind) {
		case DCK_VALUE_ABSENT:
			record_fact_absent(b, f->section, f->key, f->value.as.text);
			break;
		case DCK_VALUE_BOOL:
			record_fact_bool(b, f->section, f->key, f->value.as.b);
			break;
		case DCK_VALUE_INT:
			record_fact_int(b, f->section, f->key, f->unit, f->value.as.i);
			break;
		case DCK_VALUE_REAL:
			record_fact_real(b, f->section, f->key, f->unit, f->value.as.r);
			break;
		case DCK_VALUE_TEXT:
			record_fact_text(b, f->section, f->key, f->value.as.text);
			break;
		}
	}
}

void record_copy_metric(record_builder *b, const dck_metric *from)
{
	const char *tag = from->def->tag;

	switch (from->value.kind) {
	case DCK_VALUE_INT:
		record_metric_int(b, tag, from->value.as.i, from->how);
		break;
	case DCK_VALUE_REAL:
		if (from->level > 0)
			record_metric_interval(b, tag, from->value.as.r, from->lo, from->hi,
					       from->level, from->how);
		else
			record_metric_real(b, tag, from->value.as.r, from->how);
		break;
	default:
		record_metric_absent(b, tag,
				     from->value.kind == DCK_VALUE_ABSENT ? from->value.as.text
									  : "not known");
		break;
	}
	record_metric_unit(b, tag, from->def->unit);
}

/* A builder makes no yes or no; a record of another program may have them. */
static void cell_copy(record_builder *b, const dck_cell *c)
{
	switch (c->value.kind) {
	case DCK_VALUE_ABSENT:
		record_cell_absent(b, c->value.as.text);
		break;
	case DCK_VALUE_BOOL:
		record_cell_text(b, c->value.as.b ? "yes" : "no");
		break;
	case DCK_VALUE_INT:
		record_cell_int(b, c->value.as.i);
		break;
	case DCK_VALUE_REAL:
		record_cell_interval(b, c->value.as.r, c->lo, c->hi, c->level);
		break;
	case DCK_VALUE_TEXT:
		record_cell_text(b, c->value.as.text);
		break;
	}
}

void record_copy_table(record_builder *b, const dck_table *from)
{
	char keys[512] = "";
	size_t n = 0;

	record_table(b, from->name, from->title, from->columns, from->ncolumns);
	for (size_t i = 0; i < from->nbrief_columns && n < sizeof keys; i++)
		n += (size_t)snprintf(keys + n, sizeof keys - n, "%s ",
				      from->columns[from->brief_columns[i]].key);
	if (n > 0)
		record_brief_columns(b, keys);
	for (size_t row = 0, brief = 0; row < from->nrows; row++) {
		for (size_t k = 0; k < from->ncolumns; k++)
			cell_copy(b, &from->cells[row * from->ncolumns + k]);
		if (brief < from->nbrief_rows && from->brief_rows[brief] == row) {
			record_brief_row(b);
			brief++;
		}
	}
}

void record_copy_under(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nnotes; i++)
		if (r->notes[i].under)
			record_note_under(b, r->notes[i].code, r->notes[i].under);
}
