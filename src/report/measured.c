/* SPDX-License-Identifier: Apache-2.0 */
#include "report/measured.h"

#include "base/err.h"
#include "base/id_table.h"
#include "base/name_index.h"
#include "record/record_internal.h"

#include <math.h>
#include <stdlib.h>

measured_labels measured_labels_of(const dck_record *r)
{
	const measured_label all[MEASURED_LABELS_MAX] = {
	    {"subject", dck_record_name(r)},
	    {"command", r->command},
	    {"engine", record_get_text(r, "engine", "name")},
	    {"provider", record_get_text(r, "engine", "provider")},
	};
	measured_labels s = {.n = 0};

	for (size_t i = 0; i < MEASURED_LABELS_MAX; i++)
		if (all[i].value)
			s.label[s.n++] = all[i];
	return s;
}

/* Returns the name of a record's group, in the arena; NULL: no memory. */
static const char *measured_labels_key(const dck_record *r, mem_arena *a)
{
	const measured_labels s = measured_labels_of(r);
	const char *key = "";

	for (size_t i = 0; key && i < s.n; i++)
		key = mem_arena_fmt(a, "%s%s\1%s\2", key, s.label[i].key, s.label[i].value);
	return key;
}

bool measured_has(const dck_metric *m)
{
	return isfinite(dck_value_number(&m->value));
}

/* Tables that are needed while rows are made. */
typedef struct measured_making {
	measured *to;
	name_index tags, groups;
	size_t *seen;  /* [tag]: the last record that has it, plus 1 */
	hash_map last; /* series to row + 1 */
} measured_making;

static bool record_rows_add(measured_making *m, const dck_record *r, size_t number, size_t group,
			    size_t most)
{
	for (size_t k = 0; k < r->nmetrics; k++) {
		const dck_metric *metric = &r->metrics[k];

		if (!measured_has(metric))
			continue;
		const size_t tag = name_index_intern(&m->tags, metric->def->tag);
		const uint64_t series = (uint64_t)group * most + tag;
		const uint32_t at = hash_map_find(&m->last, series);

		if (m->seen[tag] == number)
			continue; /* the first one of a record counts */
		m->seen[tag] = number;
		if (at > 0)
			m->to->row[at - 1].metric = NULL;
		m->to->row[m->to->n] = (measured_row){r, metric, tag, group, m->to->n};
		if (++m->to->n > UINT32_MAX - 1 ||
		    !hash_map_put(&m->last, series, (uint32_t)m->to->n))
			return false;
		m->to->newest[group] = r;
	}
	return true;
}

static int by_tag(const void *a, const void *b)
{
	const measured_row *x = a, *y = b;
	const dck_unit of_x = x->metric->def->unit, of_y = y->metric->def->unit;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static bool measured_rows_make(measured_making *m, const dck_record *const *records, size_t n)
{
	measured *to = m->to;
	size_t most = 0, kept = 0;

	for (size_t i = 0; i < n; i++)
		most += records[i]->nmetrics;
	to->row = mem_arena_array(to->arena, most, sizeof *to->row);
	to->newest = mem_arena_array(to->arena, n, sizeof *to->newest);
	m->seen = mem_arena_array(to->arena, most, sizeof *m->seen);
	if (mem_arena_failed(to->arena) || !name_index_init(&m->tags, to->arena, most) ||
	    !name_index_init(&m->groups, to->arena, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *name = measured_labels_key(records[i], to->arena);

		if (!name || !record_rows_add(m, records[i], i + 1,
					      name_index_intern(&m->groups, name), most))
			return false;
	}
	for (size_t i = 0; i < to->n; i++)
		if (to->row[i].metric)
			to->row[kept++] = to->row[i];
	to->n = kept;
	to->ngroups = m->groups.n;
	qsort(to->row, to->n, sizeof *to->row, by_tag);
	return true;
}

dck_status measured_make(const dck_record *const *records, size_t n, measured *ret, dck_err *err)
{
	measured to = {.arena = mem_arena_new(0)};
	measured_making m = {.to = &to};
	const bool made = to.arena && measured_rows_make(&m, records, n);

	hash_map_done(&m.last);
	if (!made) {
		measured_done(&to);
		return ERR_NO_MEMORY(err, "for the metrics of %zu records", n);
	}
	*ret = to;
	return DCK_OK;
}

void measured_done(measured *m)
{
	mem_arena_free(m->arena);
	*m = (measured){0};
}
