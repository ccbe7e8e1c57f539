/* record.c - reads a record: look-up by name, metric definitions, equality of values.
 *
 * Look-ups are linear searches, which need no index: a record that deepclock measured has tens to
 * hundreds of entries of each kind. They return pointers into the record, or
 * NULL. Any number of threads may read a record at once.
 *
 * metrics.def is expanded into a const table (X macro). A tag that ends in '*' is a family;
 * record_find_def() prefers the row of the exact tag, and else makes a row for the member in the
 * arena of the caller. record_op_numbers[] describes the numbers of an operator by key and offset,
 * so that every reader and writer handles all of them in the same order.
 *
 * A record and the pointer to its arena are one record_owner, which lives in that arena; the record
 * is its first member, so dck_record_free() finds the arena by a cast. Only large arrays are
 * outside of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/record_internal.h"
#include "base/name_index.h"
#include "record/build.h"
#include <math.h>
#include <string.h>

static const dck_metric_def metric_defs[] = {
#define X(tag_, name_, help_, unit_, better_) \
	{.tag = (tag_),                       \
	 .name = (name_),                     \
	 .help = (help_),                     \
	 .unit = DCK_UNIT_##unit_,            \
	 .better = DCK_BETTER_##better_},
#include "metrics.def"
#undef X
};

const dck_metric_def *dck_metric_defs(size_t *ret_n)
{
	*ret_n = sizeof metric_defs / sizeof metric_defs[0];
	return metric_defs;
}

const record_op_number record_op_numbers[RECORD_OP_NUMBERS] = {
    {"macs", offsetof(dck_op, macs), false},
    {"flops", offsetof(dck_op, flops), false},
    {"params", offsetof(dck_op, params), false},
    {"weight_bytes", offsetof(dck_op, weight_bytes), false},
    {"read_bytes", offsetof(dck_op, read_bytes), false},
    {"write_bytes", offsetof(dck_op, write_bytes), false},
    {"peer", offsetof(dck_op, peer), true},
    {"time", offsetof(dck_op, time_ns), true},
    {"rate", offsetof(dck_op, rate), true},
    {"roof", offsetof(dck_op, roof), true},
    {"memory", offsetof(dck_op, memory_bytes), true},
};

const dck_value *record_op_get(const dck_op *op, size_t i)
{
	return (const dck_value *)(const void *)((const char *)op + record_op_numbers[i].at);
}

void record_op_set(dck_op *op, size_t i, dck_value v)
{
	memcpy((char *)op + record_op_numbers[i].at, &v, sizeof v);
}

/* Returns the length of the prefix of a family, as of "latency/p" in "latency/p*", or 0 if the row
 * is not a family. */
static size_t family_length(const dck_metric_def *def)
{
	const size_t n = strlen(def->tag);

	return n > 2 && def->tag[n - 1] == '*' ? n - 1 : 0;
}

static const dck_metric_def *family_member(const dck_metric_def *family, const char *tag,
					   size_t prefix, mem_arena *a)
{
	dck_metric_def *own = mem_arena_alloc(a, sizeof *own);

	if (!own)
		return NULL;
	*own = *family;
	own->tag = mem_arena_dup(a, tag);
	own->name = tag[prefix - 1] == '/' ? mem_arena_fmt(a, "%s %s", family->name, tag + prefix)
					   : mem_arena_dup(a, strrchr(tag, '/') + 1);
	return own->tag && own->name ? own : NULL;
}

const dck_metric_def *record_find_def(const char *tag, mem_arena *a)
{
	for (size_t i = 0; i < sizeof metric_defs / sizeof metric_defs[0]; i++)
		if (strcmp(metric_defs[i].tag, tag) == 0 && family_length(&metric_defs[i]) == 0)
			return &metric_defs[i];
	for (size_t i = 0; i < sizeof metric_defs / sizeof metric_defs[0]; i++) {
		const size_t prefix = family_length(&metric_defs[i]);
		if (prefix > 0 && strncmp(metric_defs[i].tag, tag, prefix) == 0 &&
		    tag[prefix] != '\0')
			return family_member(&metric_defs[i], tag, prefix, a);
	}
	return NULL;
}

static bool is_rate_of_work(dck_unit u)
{
	return u == DCK_UNIT_ITEM_PER_S || u == DCK_UNIT_RUN_PER_S;
}

const dck_metric_def *record_def_in(const dck_metric_def *def, dck_unit u, mem_arena *a)
{
	dck_metric_def *own;

	if (def->unit == u)
		return def;
	if (!is_rate_of_work(def->unit) || !is_rate_of_work(u))
		return NULL;
	own = mem_arena_alloc(a, sizeof *own);
	if (own) {
		*own = *def;
		own->unit = u;
	}
	return own;
}

record_owner *record_box_new(void)
{
	mem_arena *a = mem_arena_new(0);
	if (!a)
		return NULL;
	record_owner *box = mem_arena_alloc(a, sizeof *box);
	if (!box) {
		mem_arena_free(a);
		return NULL;
	}
	box->arena = a;
	return box;
}

void dck_record_free(dck_record *r)
{
	/* The record is the box's first member, and the box lives in the arena that it owns. */
	record_owner *box = (record_owner *)(void *)r;

	if (!box)
		return;
	for (record_rows *l = box->large; l; l = l->next)
		mem_free(l->rows);
	mem_arena_free(box->arena);
}

const dck_metric *dck_record_metric(const dck_record *r, const char *tag)
{
	for (size_t i = 0; i < r->nmetrics; i++)
		if (strcmp(r->metrics[i].def->tag, tag) == 0)
			return &r->metrics[i];
	return NULL;
}

const dck_series *dck_record_series(const dck_record *r, const char *tag)
{
	return NAME_ROW(r->series, r->nseries, tag, tag);
}

const dck_fact *dck_record_fact(const dck_record *r, const char *section, const char *key)
{
	for (size_t i = 0; i < r->nfacts; i++)
		if (strcmp(r->facts[i].key, key) == 0 && strcmp(r->facts[i].section, section) == 0)
			return &r->facts[i];
	return NULL;
}

const dck_note *dck_record_note(const dck_record *r, const char *code)
{
	return NAME_ROW(r->notes, r->nnotes, code, code);
}

const dck_table *dck_record_table(const dck_record *r, const char *name)
{
	return NAME_ROW(r->tables, r->ntables, name, name);
}

const dck_tree *dck_record_tree(const dck_record *r, const char *name)
{
	return NAME_ROW(r->trees, r->ntrees, name, name);
}

const dck_cell *dck_table_cell(const dck_table *t, size_t row, const char *key)
{
	const dck_column *c = NAME_ROW(t->columns, t->ncolumns, key, key);

	return c && row < t->nrows ? &t->cells[row * t->ncolumns + (size_t)(c - t->columns)] : NULL;
}

double dck_value_number(const dck_value *v)
{
	return v->kind == DCK_VALUE_REAL  ? v->as.r
	       : v->kind == DCK_VALUE_INT ? (double)v->as.i
					  : (double)NAN;
}

const char *dck_record_name(const dck_record *r)
{
	static const char *const facts[][2] = {
	    {"subject", "title"}, {"compare", "subjects"}, {"subject", "name"}};

	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
		const dck_fact *f = dck_record_fact(r, facts[i][0], facts[i][1]);
		if (f && f->value.kind == DCK_VALUE_TEXT && f->value.as.text[0])
			return f->value.as.text;
	}
	return r->command;
}

dck_verdict dck_record_gate(const dck_record *r)
{
	const dck_fact *f = dck_record_fact(r, "result", "gate");

	if (!f)
		return DCK_VERDICT_MET;
	if (f->value.kind == DCK_VALUE_INT &&
	    (f->value.as.i == DCK_VERDICT_MET || f->value.as.i == DCK_VERDICT_VIOLATED))
		return (dck_verdict)f->value.as.i;
	return DCK_VERDICT_INCONCLUSIVE;
}

double dck_record_value(const dck_record *r, const char *tag)
{
	const dck_metric *m = dck_record_metric(r, tag);

	return m ? dck_value_number(&m->value) : (double)NAN;
}

double record_get_real(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f ? dck_value_number(&f->value) : (double)NAN;
}

int64_t record_get_int(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f && f->value.kind == DCK_VALUE_INT ? f->value.as.i : 0;
}

const char *record_get_text(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f && f->value.kind == DCK_VALUE_TEXT ? f->value.as.text : NULL;
}

bool record_value_equal(const dck_value *a, const dck_value *b)
{
	if (a->kind != b->kind) /* a whole real is read back as an integer, so 2 equals 2.0 */
		return dck_value_number(a) == dck_value_number(b);
	switch (a->kind) {
	case DCK_VALUE_ABSENT:
		return true;
	case DCK_VALUE_BOOL:
		return a->as.b == b->as.b;
	case DCK_VALUE_INT:
		return a->as.i == b->as.i;
	case DCK_VALUE_REAL:
		return a->as.r == b->as.r;
	case DCK_VALUE_TEXT:
		return strcmp(a->as.text, b->as.text) == 0;
	}
	return false;
}

bool record_has_rows(const dck_record *r)
{
	for (size_t i = 0; i < r->ntables; i++)
		if (r->tables[i].nrows)
			return true;
	return false;
}
