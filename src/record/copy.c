/* SPDX-License-Identifier: Apache-2.0 */
#include "record/copy.h"

#include <stdio.h>

void record_copy_fact(record_builder *b, const dck_fact *from)
{
	record_fact(b, from->section, from->key, from->unit, from->value);
}

void record_copy_facts(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nfacts; i++)
		record_copy_fact(b, &r->facts[i]);
}

void record_copy_under(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nnotes; i++)
		if (r->notes[i].cause)
			record_note_set_cause(b, r->notes[i].code, r->notes[i].cause);
}

void record_copy_table(record_builder *b, const dck_table *from)
{
	char keys[1000];
	size_t n = 0, brief = 0;

	keys[0] = '\0';
	for (size_t i = 0; i < from->nsummary_columns && n < sizeof keys; i++)
		n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s", i ? " " : "",
				      from->columns[from->summary_columns[i]].key);
	record_table(b, from->name, from->title, from->columns, from->ncolumns);
	if (keys[0])
		record_summary_columns(b, keys);
	for (size_t i = 0; i < from->nrows * from->ncolumns; i++) {
		record_cell_copy(b, &from->cells[i]);
		if ((i + 1) % from->ncolumns == 0 && brief < from->nsummary_rows &&
		    from->summary_rows[brief] == i / from->ncolumns) {
			record_summary_row(b);
			brief++;
		}
	}
}

void record_copy_tables(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->ntables; i++)
		record_copy_table(b, &r->tables[i]);
	for (size_t i = 0; i < r->ntrees; i++)
		record_tree(b, &r->trees[i]);
}

void record_copy(record_builder *b, const dck_record *r)
{
	record_set_began(b, r->began_unix_ns);
	record_copy_facts(b, r);
	for (size_t i = 0; i < r->nseries; i++) {
		const dck_series *s = &r->series[i];

		record_series(b, s->tag, s->unit, s->at_ns, s->values, s->n, s->warmup);
	}
	for (size_t i = 0; i < r->nmetrics; i++)
		record_metric_copy(b, &r->metrics[i]);
	for (size_t i = 0; i < r->nnotes; i++)
		record_note_copy(b, &r->notes[i]);
	record_copy_under(b, r);
	record_set_incomplete(b, r->incomplete);
}
