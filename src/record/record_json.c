/* record_json.c - writer of a record's JSON. docs/reference/record.md describes every
 * member; record_parse.c reads it. One row of a list is one line, so that records can be compared
 * with diff.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/build.h"
#include "record/record_internal.h"
#include <math.h>
#include <string.h>

/* Writes a list, one row in a line. */
#define LIST_PUT(key, rows, n, put)                 \
	do {                                        \
		json_begin_array(json_key(w, key)); \
		for (size_t i = 0; i < (n); i++)    \
			put(w, &(rows)[i]);         \
		json_end(w);                        \
	} while (0)

static void record_text_put(json_writer *w, const char *key, const char *text)
{
	json_text(json_key(w, key), text ? text : "");
}

/* A text that is left out if there is none. */
static void optional_put(json_writer *w, const char *key, const char *text)
{
	if (text)
		record_text_put(w, key, text);
}

static void uint_put(json_writer *w, const char *key, uint64_t v)
{
	json_uint(json_key(w, key), v);
}

/* "-0" would read back as the integer 0. */
static void real_put(json_writer *w, double v)
{
	json_double(w, v == 0 ? 0.0 : v);
}

/* Writes the value, or the reason of an absent value. */
static void bare_put(json_writer *w, const dck_value *v)
{
	switch (v->kind) {
	case DCK_VALUE_ABSENT:
		json_text(w, v->as.text ? v->as.text : "not known");
		break;
	case DCK_VALUE_BOOL:
		json_bool(w, v->as.b);
		break;
	case DCK_VALUE_INT:
		json_int(w, v->as.i);
		break;
	case DCK_VALUE_REAL:
		real_put(w, v->as.r);
		break;
	case DCK_VALUE_TEXT:
		json_text(w, v->as.text);
		break;
	}
}

/* The members "value", or "absent" and "code", of the object that is open. */
static void record_value_put(json_writer *w, const dck_value *v)
{
	bare_put(json_key(w, v->kind == DCK_VALUE_ABSENT ? "absent" : "value"), v);
	if (v->kind == DCK_VALUE_ABSENT && v->absence == DCK_ABSENCE_OPEN_SIZE)
		record_text_put(w, "code", RECORD_OPEN_SIZE);
}

/* An operator's number: bare, or {"absent": "why"}. */
static void record_number_put(json_writer *w, const char *key, const dck_value *v)
{
	json_key(w, key);
	if (v->kind != DCK_VALUE_ABSENT) {
		bare_put(w, v);
		return;
	}
	json_flat_object(w);
	record_value_put(w, v);
	json_end(w);
}

/* The record was not made to hold it. */
static bool is_left_out(const dck_value *v)
{
	return v->kind == DCK_VALUE_ABSENT &&
	       (!v->as.text || strcmp(v->as.text, RECORD_NOT_MEASURED) == 0);
}

static void unit_put(json_writer *w, dck_unit u)
{
	if (u != DCK_UNIT_NONE)
		record_text_put(w, "unit", dck_unit_text(u));
}

/* The members "lo", "hi" and "level", where there is an interval. */
static void interval_put(json_writer *w, const char *const keys[3], double lo, double hi,
			 double level)
{
	for (int i = 0; i < 3 && level > 0; i++) {
		real_put(json_key(w, keys[i]), i == 0 ? lo : i == 1 ? hi : level);
	}
}

static void fact_put(json_writer *w, const dck_fact *f)
{
	json_flat_object(w);
	record_text_put(w, "section", f->section);
	record_text_put(w, "key", f->key);
	record_value_put(w, &f->value);
	unit_put(w, f->unit);
	json_end(w);
}

static void record_series_put(json_writer *w, const dck_series *s)
{
	json_begin_object(w);
	record_text_put(w, "tag", s->tag);
	unit_put(w, s->unit);
	uint_put(w, "warmup", s->warmup);
	if (s->at_ns) {
		json_flat_array(json_key(w, "at_ns"));
		for (size_t i = 0; i < s->n; i++)
			json_uint(w, s->at_ns[i]);
		json_end(w);
	}
	json_flat_array(json_key(w, "values"));
	for (size_t i = 0; i < s->n; i++)
		real_put(w, s->values[i]);
	json_end(w);
	json_end(w);
}

static void record_metric_put(json_writer *w, const dck_metric *m)
{
	json_flat_object(w);
	record_text_put(w, "tag", m->def->tag);
	record_value_put(w, &m->value);
	optional_put(w, "formula", m->formula);
	unit_put(w, m->def->unit);
	interval_put(w, RECORD_INTERVAL, m->lo, m->hi, m->level);
	optional_put(w, "narrow", m->narrow);
	optional_put(w, "how", m->how);
	json_end(w);
}

static void output_put(json_writer *w, const dck_op_output *o)
{
	json_flat_object(w);
	record_text_put(w, "name", o->name);
	record_text_put(w, "dtype", o->dtype);
	json_key(w, "shape");
	if (o->absent) {
		json_flat_object(w);
		record_text_put(w, "absent", o->absent);
		json_end(w);
		json_end(w);
		return;
	}
	json_flat_array(w);
	for (size_t i = 0; i < o->rank; i++) {
		if (o->dims[i] >= 0)
			json_int(w, o->dims[i]); /* text past 2^53 */
		else
			json_text(w, o->symbols && o->symbols[i] ? o->symbols[i] : "?");
	}
	json_end(w);
	json_end(w);
}

static void record_op_put(json_writer *w, const dck_op *o)
{
	json_flat_object(w);
	record_text_put(w, "name", o->name);
	record_text_put(w, "type", o->type);
	optional_put(w, "scope", o->scope);
	optional_put(w, "class", o->class_name);
	optional_put(w, "line", o->line);
	optional_put(w, "code", o->code);
	json_flat_array(json_key(w, "outputs"));
	for (size_t i = 0; i < o->noutputs; i++)
		output_put(w, &o->outputs[i]);
	json_end(w);
	for (size_t i = 0; i < RECORD_OP_NUMBERS; i++) {
		const record_op_number *n = &record_op_numbers[i];
		if (!n->measured || !is_left_out(record_op_get(o, i)))
			record_number_put(w, n->key, record_op_get(o, i));
		if (i == RECORD_OP_TIME)
			interval_put(w, RECORD_OP_INTERVAL, o->time_lo_ns, o->time_hi_ns,
				     o->time_level);
	}
	optional_put(w, "bound", o->bound);
	if (o->norigins > 0) {
		json_flat_array(json_key(w, "origins"));
		for (size_t i = 0; i < o->norigins; i++)
			json_text(w, o->origins[i]);
		json_end(w);
	}
	json_end(w);
}

/* Writes a bare value, unless it is absent or has an interval. */
static void record_cell_put(json_writer *w, const dck_cell *c)
{
	if (c->value.kind != DCK_VALUE_ABSENT && !(c->level > 0)) {
		bare_put(w, &c->value);
		return;
	}
	json_flat_object(w);
	record_value_put(w, &c->value);
	interval_put(w, RECORD_INTERVAL, c->lo, c->hi, c->level);
	json_end(w);
}

static void record_column_put(json_writer *w, const dck_column *c)
{
	json_flat_object(w);
	record_text_put(w, "key", c->key);
	record_text_put(w, "title", c->title);
	unit_put(w, c->unit);
	json_end(w);
}

static void indices_put(json_writer *w, const char *key, const uint32_t *all, size_t n)
{
	if (n == 0)
		return;
	json_flat_array(json_key(w, key));
	for (size_t i = 0; i < n; i++)
		json_uint(w, all[i]);
	json_end(w);
}

static void record_table_put(json_writer *w, const dck_table *t)
{
	json_begin_object(w);
	record_text_put(w, "name", t->name);
	record_text_put(w, "title", t->title);
	LIST_PUT("columns", t->columns, t->ncolumns, record_column_put);
	json_begin_array(json_key(w, "rows"));
	for (size_t i = 0; i < t->nrows; i++) {
		json_flat_array(w);
		for (size_t k = 0; k < t->ncolumns; k++)
			record_cell_put(w, &t->cells[i * t->ncolumns + k]);
		json_end(w);
	}
	json_end(w);
	indices_put(w, "summary_columns", t->summary_columns, t->nsummary_columns);
	indices_put(w, "summary_rows", t->summary_rows, t->nsummary_rows);
	json_end(w);
}

static void weight_put(json_writer *w, double v)
{
	if (v == floor(v) && fabs(v) <= (double)RECORD_EXACT_MAX)
		json_int(w, (int64_t)v);
	else
		json_double(w, v);
}

static void frame_put(json_writer *w, const dck_frame *f)
{
	json_flat_object(w);
	record_text_put(w, "name", f->name);
	optional_put(w, "file", f->file);
	if (f->line)
		uint_put(w, "line", f->line);
	if (f->start_line)
		uint_put(w, "start_line", f->start_line);
	optional_put(w, "module", f->module);
	json_end(w);
}

/* A node is a list: its parent (-1: none), its frame, its weights. */
static void record_tree_put(json_writer *w, const dck_tree *t)
{
	json_begin_object(w);
	record_text_put(w, "name", t->name);
	record_text_put(w, "title", t->title);
	LIST_PUT("columns", t->columns, t->ncolumns, record_column_put);
	LIST_PUT("frames", t->frames, t->nframes, frame_put);
	json_begin_array(json_key(w, "nodes"));
	for (size_t i = 0; i < t->nnodes; i++) {
		const uint32_t parent = t->nodes[i].parent;

		json_flat_array(w);
		json_int(w, parent == DCK_TREE_ROOT ? -1 : (int64_t)parent);
		json_uint(w, t->nodes[i].frame);
		for (size_t k = 0; k < t->ncolumns; k++)
			weight_put(w, t->weights[i * t->ncolumns + k]);
		json_end(w);
	}
	json_end(w);
	json_end(w);
}

static void record_note_put(json_writer *w, const dck_note *n)
{
	json_flat_object(w);
	record_text_put(w, "severity", dck_severity_text(n->severity));
	record_text_put(w, "code", n->code);
	record_text_put(w, "text", n->text);
	if (n->remedy[0])
		record_text_put(w, "remedy", n->remedy);
	optional_put(w, "cause", n->cause);
	json_end(w);
}

void record_json_put(const dck_record *r, json_writer *w)
{
	char began[RECORD_TIME_SIZE];

	json_begin_object(w);
	uint_put(w, "schema", r->schema);
	record_text_put(w, "deepclock", r->version);
	record_text_put(w, "id", r->id);
	if (r->began_unix_ns != 0) {
		record_time_text(r->began_unix_ns, began);
		record_text_put(w, "began", began);
	}
	optional_put(w, "command", r->command);
	json_bool(json_key(w, "incomplete"), r->incomplete);
	LIST_PUT("facts", r->facts, r->nfacts, fact_put);
	LIST_PUT("series", r->series, r->nseries, record_series_put);
	LIST_PUT("metrics", r->metrics, r->nmetrics, record_metric_put);
	LIST_PUT("ops", r->ops, r->nops, record_op_put);
	if (r->ntables > 0)
		LIST_PUT("tables", r->tables, r->ntables, record_table_put);
	if (r->ntrees > 0)
		LIST_PUT("trees", r->trees, r->ntrees, record_tree_put);
	LIST_PUT("notes", r->notes, r->nnotes, record_note_put);
	json_end(w);
}

void record_json_write(const dck_record *r, dck_sink *out)
{
	json_writer w;
	json_init(&w, out, true);
	record_json_put(r, &w);
	json_done(&w);
}
