/* SPDX-License-Identifier: Apache-2.0 */
#include "record/copy.h"

void record_copy_fact(record_builder *b, const dck_fact *from)
{
	record_fact(b, from->section, from->key, from->unit, from->value);
}

void record_copy_facts(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nfacts; i++)
		record_copy_fact(b, &r->facts[i]);
}

void record_copy_metric(record_builder *b, const dck_metric *from)
{
	record_metric(b, from->def->tag, from->value, from->lo, from->hi, from->level, from->how);
	record_metric_unit(b, from->def->tag, from->def->unit);
}

void record_copy_under(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nnotes; i++)
		if (r->notes[i].under)
			record_note_under(b, r->notes[i].code, r->notes[i].under);
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
		record_copy_metric(b, &r->metrics[i]);
	for (size_t i = 0; i < r->nnotes; i++)
		record_note_as(b, r->notes[i].severity, r->notes[i].code, "%s", r->notes[i].text);
	record_copy_under(b, r);
	record_set_incomplete(b, r->incomplete);
}
