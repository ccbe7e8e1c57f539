/* build.c - the record builder: append-only lists that become one immutable record.
 *
 * Facts, series, metrics, operators, trees, tables and notes are appended to arrays on the heap
 * (doubling, amortised O(1)). record_finish() copies each array once into the arena of the record,
 * so that growth leaves no garbage there; texts are copied into the arena at once. The cells of the
 * last table are collected separately, and attached when the next table begins or the record ends
 * (table_end()).
 *
 * Errors are sticky: a failed allocation marks the builder or its arena, later calls have no
 * effect, and record_finish() reports it once. It frees the builder in any case. Mistakes of the
 * code (an unknown tag, an incomplete row, text in a column with a unit) are asserted.
 *
 * Invariants of the result: numbers of facts, metrics, operators and cells are finite, else absent
 * with a reason; facts, metrics, tables and columns are unique. A repeated fact or metric replaces
 * the first, a repeated table or column gets a number appended. These look-ups are linear.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/build.h"
#include "base/err.h"
#include "base/name_index.h"
#include "record/record_internal.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIST_LARGE = 65536 }; /* bytes */

typedef struct row_list {
	void *rows;
	size_t n, cap;
} row_list;

struct record_builder {
	record_owner *box;
	bool failed;
	row_list facts, series, metrics, ops, trees, notes;
	row_list tables, cells; /* cells: of the last table */
	row_list summary_rows;	/* of the last table */
};

/* Appends a zeroed row. Returns it, or NULL (the builder has then failed). */
static void *build_list_add(record_builder *b, row_list *l, size_t size)
{
	if (!mem_reserve(&l->rows, &l->cap, l->n + 1, size)) {
		b->failed = true;
		return NULL;
	}
	return memset((char *)l->rows + size * l->n++, 0, size);
}

/* Moves the rows to the record: small arrays to its arena; large ones stay where they are, because
 * a copy would double the greatest memory of a record. */
static const void *list_move(record_owner *box, row_list *l, size_t size)
{
	record_rows *large =
	    l->n * size < LIST_LARGE ? NULL : mem_arena_alloc(box->arena, sizeof *large);

	if (!large) {
		void *rows = mem_arena_array(box->arena, l->n, size);

		if (rows && l->n > 0)
			memcpy(rows, l->rows, l->n * size);
		return rows;
	}
	void *shorter = mem_resize(l->rows, l->n * size);
	*large = (record_rows){box->large, shorter ? shorter : l->rows};
	box->large = large;
	l->rows = NULL;
	l->cap = 0;
	return large->rows;
}

/* Returns the table that was added last; NULL: none. */
static dck_table *table_last(const record_builder *b)
{
	return b->tables.n > 0 ? (dck_table *)b->tables.rows + b->tables.n - 1 : NULL;
}

/* Attaches the collected cells to the last table. */
static void table_end(record_builder *b)
{
	dck_table *t = table_last(b);

	if (!t || t->cells)
		return;
	assert(b->failed || b->cells.n % t->ncolumns == 0);
	t->cells = list_move(b->box, &b->cells, sizeof(dck_cell));
	t->nrows = b->cells.n / t->ncolumns;
	t->summary_rows = list_move(b->box, &b->summary_rows, sizeof(uint32_t));
	t->nsummary_rows = b->summary_rows.n;
	b->cells.n = 0;
	b->summary_rows.n = 0;
}

record_builder *record_new(void)
{
	record_builder *b = mem_zalloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->box = record_box_new();
	if (!b->box) {
		mem_free(b);
		return NULL;
	}
	b->box->record.schema = DCK_RECORD_SCHEMA;
	b->box->record.version = dck_version();
	b->box->record.id = "";
	return b;
}

void record_drop(record_builder *b)
{
	if (!b)
		return;
	mem_free(b->facts.rows);
	mem_free(b->series.rows);
	mem_free(b->metrics.rows);
	mem_free(b->ops.rows);
	mem_free(b->trees.rows);
	mem_free(b->notes.rows);
	mem_free(b->tables.rows);
	mem_free(b->cells.rows);
	mem_free(b->summary_rows.rows);
	if (b->box)
		dck_record_free(&b->box->record);
	mem_free(b);
}

dck_status record_finish(record_builder *b, dck_record **ret, dck_err *err)
{
	dck_record *r = &b->box->record;
	mem_arena *a = b->box->arena;

	table_end(b);
	r->tables = list_move(b->box, &b->tables, sizeof(dck_table));
	r->ntables = b->tables.n;
	r->facts = list_move(b->box, &b->facts, sizeof(dck_fact));
	r->nfacts = b->facts.n;
	r->series = list_move(b->box, &b->series, sizeof(dck_series));
	r->nseries = b->series.n;
	r->metrics = list_move(b->box, &b->metrics, sizeof(dck_metric));
	r->nmetrics = b->metrics.n;
	r->ops = list_move(b->box, &b->ops, sizeof(dck_op));
	r->nops = b->ops.n;
	r->trees = list_move(b->box, &b->trees, sizeof(dck_tree));
	r->ntrees = b->trees.n;
	r->notes = list_move(b->box, &b->notes, sizeof(dck_note));
	r->nnotes = b->notes.n;
	bool failed = b->failed || mem_arena_failed(a);
	if (!failed)
		b->box = NULL;
	record_drop(b);
	if (failed)
		DCK_FAIL(err, E_NOMEM, "no memory for the record");
	*ret = r;
	return DCK_OK;
}

dck_status record_finish_if(dck_status status, record_builder *b, dck_record **ret, dck_err *err)
{
	if (status == DCK_OK)
		return record_finish(b, ret, err);
	record_drop(b);
	return status;
}

static const char *text_keep(record_builder *b, const char *text)
{
	return mem_arena_dup(b->box->arena, text);
}

/* Declares `text`: the arguments after `fmt`, formatted in the arena of b; NULL: no memory. */
#define BUILD_TEXT(b, text, fmt)                                                   \
	va_list text##_arguments;                                                  \
	va_start(text##_arguments, fmt);                                           \
	const char *text = mem_arena_vfmt((b)->box->arena, fmt, text##_arguments); \
	va_end(text##_arguments)

void record_set_id(record_builder *b, const char *id)
{
	b->box->record.id = text_keep(b, id ? id : "");
}

void record_set_began(record_builder *b, int64_t unix_ns)
{
	b->box->record.began_unix_ns = unix_ns;
}

void record_set_command(record_builder *b, const char *text)
{
	b->box->record.command = text_keep(b, text);
}

void record_set_incomplete(record_builder *b, bool incomplete)
{
	b->box->record.incomplete = incomplete;
}

static bool is_number(const dck_value *v)
{
	return v->kind == DCK_VALUE_REAL || v->kind == DCK_VALUE_INT;
}

/* Returns the value with its text copied. A number that is not finite becomes absent. */
static dck_value value_keep(record_builder *b, dck_value v)
{
	if (v.kind == DCK_VALUE_REAL && !isfinite(v.as.r))
		v = RECORD_ABSENT("not a finite number");
	if (v.kind == DCK_VALUE_TEXT && !v.as.text)
		v = RECORD_ABSENT(NULL);
	if (v.kind == DCK_VALUE_ABSENT || v.kind == DCK_VALUE_TEXT)
		v.as.text = text_keep(b, v.as.text ? v.as.text : "not known");
	return v;
}

void record_fact(record_builder *b, const char *section, const char *key, dck_unit u, dck_value v)
{
	dck_fact *rows = b->facts.rows, *f = NULL;

	for (size_t i = 0; i < b->facts.n && !f; i++)
		if (strcmp(rows[i].key, key) == 0 && strcmp(rows[i].section, section) == 0)
			f = &rows[i];
	if (!f) {
		const char *own_section = text_keep(b, section), *own_key = text_keep(b, key);
		if (!own_section || !own_key)
			return; /* the arena has failed */
		f = build_list_add(b, &b->facts, sizeof *f);
		if (!f)
			return;
		f->section = own_section;
		f->key = own_key;
	}
	/* Above 2^53 JSON has it as a string, which only a unit distinguishes from a text. */
	if (v.kind == DCK_VALUE_INT && u == DCK_UNIT_NONE &&
	    (v.as.i > RECORD_EXACT_MAX || v.as.i < -RECORD_EXACT_MAX))
		u = DCK_UNIT_ONE;
	f->unit = u;
	f->value = value_keep(b, v);
}

void record_fact_text(record_builder *b, const char *section, const char *key, const char *text)
{
	record_fact(b, section, key, DCK_UNIT_NONE, RECORD_TEXT(text));
}

void record_fact_fmt(record_builder *b, const char *section, const char *key, const char *fmt, ...)
{
	BUILD_TEXT(b, text, fmt);
	record_fact_text(b, section, key, text);
}

void record_answer(record_builder *b, const char *fmt, ...)
{
	BUILD_TEXT(b, text, fmt);
	record_fact_text(b, "result", "answer", text);
}

void record_gate(record_builder *b, dck_verdict v)
{
	record_fact_int(b, "result", "gate", DCK_UNIT_NONE, (int64_t)v);
}

void record_fact_bool(record_builder *b, const char *section, const char *key, bool v)
{
	record_fact(b, section, key, DCK_UNIT_NONE, (dck_value){.kind = DCK_VALUE_BOOL, .as.b = v});
}

void record_fact_int(record_builder *b, const char *section, const char *key, dck_unit u, int64_t v)
{
	record_fact(b, section, key, u, RECORD_INT(v));
}

void record_fact_real(record_builder *b, const char *section, const char *key, dck_unit u, double v)
{
	record_fact(b, section, key, u, RECORD_REAL(v));
}

void record_fact_absent(record_builder *b, const char *section, const char *key, const char *why)
{
	record_fact(b, section, key, DCK_UNIT_NONE, RECORD_ABSENT(why));
}

bool record_series_room(record_builder *b, const char *tag, dck_unit u, size_t n, size_t warmup,
			double **ret_values, uint64_t **ret_at_ns)
{
	mem_arena *a = b->box->arena;
	const char *own_tag = text_keep(b, tag);
	double *v = mem_arena_array(a, n, sizeof *v);
	uint64_t *at = ret_at_ns ? mem_arena_array(a, n, sizeof *at) : NULL;

	assert(warmup <= n);
	if (!own_tag || !v || (ret_at_ns && !at))
		return false;
	dck_series *s = build_list_add(b, &b->series, sizeof *s);
	if (!s)
		return false;
	*s = (dck_series){
	    .tag = own_tag, .unit = u, .n = n, .warmup = warmup, .at_ns = at, .values = v};
	*ret_values = v;
	if (ret_at_ns)
		*ret_at_ns = at;
	return true;
}

void record_series(record_builder *b, const char *tag, dck_unit u, const uint64_t *at_ns,
		   const double *values, size_t n, size_t warmup)
{
	uint64_t *at;
	double *v;

	if (!record_series_room(b, tag, u, n, warmup, &v, at_ns ? &at : NULL) || n == 0)
		return;
	memcpy(v, values, n * sizeof *v);
	if (at_ns)
		memcpy(at, at_ns, n * sizeof *at);
}

static dck_metric *build_metric_find(record_builder *b, const char *tag)
{
	dck_metric *rows = b->metrics.rows;

	for (size_t i = 0; i < b->metrics.n; i++)
		if (strcmp(rows[i].def->tag, tag) == 0)
			return &rows[i];
	return NULL;
}

/* Returns the metric; NULL: no memory. */
static dck_metric *metric_put(record_builder *b, const dck_metric_def *def, dck_value v, double lo,
			      double hi, double level, const char *how)
{
	dck_metric *m = build_metric_find(b, def->tag);

	if (!m)
		m = build_list_add(b, &b->metrics, sizeof *m);
	if (!m)
		return NULL;
	*m = (dck_metric){.def = def, .how = text_keep(b, how), .value = value_keep(b, v)};
	if (is_number(&m->value) && isfinite(lo) && isfinite(hi) && level > 0) {
		m->lo = lo;
		m->hi = hi;
		m->level = level;
	}
	return m;
}

void record_metric(record_builder *b, const char *tag, dck_value v, double lo, double hi,
		   double level, const char *how)
{
	const dck_metric_def *def = record_find_def(tag, b->box->arena);

	assert(def || mem_arena_failed(b->box->arena));
	if (def)
		metric_put(b, def, v, lo, hi, level, how);
}

/* Returns the definition of another record's metric; it may be of a newer version. */
static const dck_metric_def *def_keep(record_builder *b, const dck_metric_def *from)
{
	mem_arena *a = b->box->arena;
	const dck_metric_def *known = record_find_def(from->tag, a);
	dck_metric_def *own = known ? NULL : mem_arena_alloc(a, sizeof *own);

	if (known)
		return record_def_in(known, from->unit, a);
	if (!own)
		return NULL;
	*own = *from;
	own->tag = text_keep(b, from->tag);
	own->name = text_keep(b, from->name);
	own->help = text_keep(b, from->help);
	return mem_arena_failed(a) ? NULL : own;
}

void record_metric_copy(record_builder *b, const dck_metric *from)
{
	const dck_metric_def *def = def_keep(b, from->def);
	dck_metric *m = NULL;

	assert(def || mem_arena_failed(b->box->arena));
	if (def)
		m = metric_put(b, def, from->value, from->lo, from->hi, from->level, from->how);
	if (m) {
		m->narrow = text_keep(b, from->narrow);
		m->formula = text_keep(b, from->formula);
	}
}

void record_metric_real(record_builder *b, const char *tag, double v, const char *how)
{
	record_metric(b, tag, RECORD_REAL(v), 0, 0, 0, how);
}

void record_metric_int(record_builder *b, const char *tag, int64_t v, const char *how)
{
	record_metric(b, tag, RECORD_INT(v), 0, 0, 0, how);
}

void record_metric_interval(record_builder *b, const char *tag, double v, double lo, double hi,
			    double level, const char *how)
{
	record_metric(b, tag, RECORD_REAL(v), lo, hi, level, how);
}

void record_metric_absent(record_builder *b, const char *tag, const char *why)
{
	record_metric(b, tag, RECORD_ABSENT(why), 0, 0, 0, NULL);
}

void record_metric_if(bool known, record_builder *b, const char *tag, dck_value v, const char *how,
		      const char *why)
{
	if (known)
		record_metric(b, tag, v, 0, 0, 0, how);
	else
		record_metric_absent(b, tag, why);
}

void record_metric_open(record_builder *b, const char *tag, const char *formula)
{
	dck_metric *m;

	record_metric_absent(b, tag, mem_arena_fmt(b->box->arena, "open sizes: %s", formula));
	m = build_metric_find(b, tag);
	if (m)
		m->formula = text_keep(b, formula);
}

void record_metric_narrow(record_builder *b, const char *tag, const char *why)
{
	dck_metric *m = build_metric_find(b, tag);

	if (m && m->level > 0 && why && why[0])
		m->narrow = text_keep(b, why);
}

void record_metric_unit(record_builder *b, const char *tag, dck_unit u)
{
	dck_metric *m = build_metric_find(b, tag);
	const dck_metric_def *def = m ? record_def_in(m->def, u, b->box->arena) : NULL;

	assert(!m || def || mem_arena_failed(b->box->arena));
	if (def)
		m->def = def;
}

static dck_value number_keep(record_builder *b, dck_value v)
{
	assert(v.kind != DCK_VALUE_TEXT && v.kind != DCK_VALUE_BOOL);
	if (v.kind == DCK_VALUE_ABSENT && !v.as.text)
		return RECORD_ABSENT(RECORD_NOT_MEASURED);
	return value_keep(b, v);
}

static const char *const *texts_keep(record_builder *b, const char *const *texts, size_t n)
{
	const char **own = mem_arena_array(b->box->arena, n, sizeof *own);
	for (size_t i = 0; i < n && own; i++)
		own[i] = text_keep(b, texts[i] ? texts[i] : "");
	return own;
}

static dck_op_output output_keep(record_builder *b, const dck_op_output *o)
{
	int64_t *dims = mem_arena_array(b->box->arena, o->rank, sizeof *dims);
	const char **symbols = mem_arena_array(b->box->arena, o->rank, sizeof *symbols);

	for (size_t i = 0; i < o->rank && dims && symbols; i++) {
		const char *symbol = o->symbols ? o->symbols[i] : NULL;
		dims[i] = o->dims[i];
		if (dims[i] < 0)
			symbols[i] = text_keep(b, symbol ? symbol : "?");
	}
	return (dck_op_output){.name = text_keep(b, o->name ? o->name : ""),
			       .dtype = text_keep(b, o->dtype ? o->dtype : "?"),
			       .rank = o->rank,
			       .dims = dims,
			       .symbols = symbols,
			       .absent = text_keep(b, o->absent)};
}

void record_op(record_builder *b, const dck_op *op)
{
	dck_op *own = build_list_add(b, &b->ops, sizeof *own);
	if (!own)
		return;
	dck_op_output *outputs = mem_arena_array(b->box->arena, op->noutputs, sizeof *outputs);
	for (size_t i = 0; i < op->noutputs && outputs; i++)
		outputs[i] = output_keep(b, &op->outputs[i]);
	*own = (dck_op){.name = text_keep(b, op->name ? op->name : ""),
			.type = text_keep(b, op->type ? op->type : ""),
			.scope = text_keep(b, op->scope),
			.class_name = text_keep(b, op->class_name),
			.line = text_keep(b, op->line),
			.code = text_keep(b, op->code),
			.outputs = outputs,
			.noutputs = op->noutputs,
			.bound = text_keep(b, op->bound),
			.origins = texts_keep(b, op->origins, op->norigins),
			.norigins = op->norigins};
	for (size_t i = 0; i < RECORD_OP_NUMBERS; i++)
		record_op_set(own, i, number_keep(b, *record_op_get(op, i)));
	if (own->time_ns.kind != DCK_VALUE_ABSENT && op->time_level > 0 &&
	    isfinite(op->time_lo_ns) && isfinite(op->time_hi_ns)) {
		own->time_lo_ns = op->time_lo_ns;
		own->time_hi_ns = op->time_hi_ns;
		own->time_level = op->time_level;
	}
}

/* Returns a unique key, because columns are looked up by it: a limit that was given twice makes
 * "p99" and "p99_2". */
static const char *key_keep(record_builder *b, const dck_column *columns, size_t n, const char *key)
{
	const char *own = text_keep(b, key);

	for (unsigned k = 2; own && NAME_ROW(columns, n, key, own); k++)
		own = mem_arena_fmt(b->box->arena, "%s_%u", key, k);
	return own;
}

static const char *build_name_keep(record_builder *b, const char *name)
{
	const char *own = text_keep(b, name);
	const dck_table *tables = b->tables.rows;

	for (unsigned k = 2; own && NAME_ROW(tables, b->tables.n, name, own); k++)
		own = mem_arena_fmt(b->box->arena, "%s/%u", name, k);
	return own;
}

static dck_column *columns_keep(record_builder *b, const dck_column *columns, size_t n)
{
	dck_column *own = mem_arena_array(b->box->arena, n, sizeof *own);

	for (size_t i = 0; i < n && own; i++)
		own[i] = (dck_column){.key = key_keep(b, own, i, columns[i].key),
				      .title = text_keep(b, columns[i].title),
				      .unit = columns[i].unit};
	return own;
}

static const void *array_keep(record_builder *b, const void *from, size_t n, size_t size)
{
	void *own = mem_arena_array(b->box->arena, n, size);

	return own && n > 0 ? memcpy(own, from, n * size) : own;
}

void record_tree(record_builder *b, const dck_tree *t)
{
	dck_tree *own = build_list_add(b, &b->trees, sizeof *own);
	dck_frame *frames = mem_arena_array(b->box->arena, t->nframes, sizeof *frames);

	for (size_t i = 0; i < t->nnodes; i++)
		assert((t->nodes[i].parent == DCK_TREE_ROOT || t->nodes[i].parent < i) &&
		       t->nodes[i].frame < t->nframes);
	for (size_t i = 0; i < t->nnodes * t->ncolumns; i++)
		assert(isfinite(t->weights[i]));
	if (!own || !frames)
		return; /* the builder, or its arena, has failed */
	for (size_t i = 0; i < t->nframes; i++)
		frames[i] = (dck_frame){.name = text_keep(b, t->frames[i].name),
					.file = mem_arena_dup(b->box->arena, t->frames[i].file),
					.module = mem_arena_dup(b->box->arena, t->frames[i].module),
					.line = t->frames[i].line,
					.start_line = t->frames[i].start_line};
	*own = (dck_tree){
	    .name = text_keep(b, t->name),
	    .title = text_keep(b, t->title),
	    .columns = columns_keep(b, t->columns, t->ncolumns),
	    .frames = frames,
	    .nodes = array_keep(b, t->nodes, t->nnodes, sizeof *t->nodes),
	    .weights = array_keep(b, t->weights, t->nnodes * t->ncolumns, sizeof *t->weights),
	    .ncolumns = t->ncolumns,
	    .nframes = t->nframes,
	    .nnodes = t->nnodes};
}

void record_table(record_builder *b, const char *name, const char *title, const dck_column *columns,
		  size_t ncolumns)
{
	dck_column *own;
	dck_table *t;

	assert(ncolumns > 0);
	table_end(b);
	name = build_name_keep(b, name);
	own = columns_keep(b, columns, ncolumns);
	t = own ? build_list_add(b, &b->tables, sizeof *t) : NULL;
	if (!t) {
		b->failed = true;
		return;
	}
	*t = (dck_table){
	    .name = name, .title = text_keep(b, title), .columns = own, .ncolumns = ncolumns};
}

void record_table_reserve(record_builder *b, size_t n)
{
	const dck_table *t = table_last(b);

	if (b->failed || !t)
		return;
	const size_t cap = n * t->ncolumns;
	if (!mem_reserve(&b->cells.rows, &b->cells.cap, cap, sizeof(dck_cell)))
		b->failed = true;
}

static void build_cell_add(record_builder *b, dck_value v, double lo, double hi, double level)
{
	dck_cell *cell = build_list_add(b, &b->cells, sizeof *cell);

	if (!cell)
		return;
	cell->value = value_keep(b, v);
	if (is_number(&cell->value) && isfinite(lo) && isfinite(hi) && level > 0) {
		cell->lo = lo;
		cell->hi = hi;
		cell->level = level;
	}
}

static bool is_word_of(const char *words, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = words; n > 0 && (at = strstr(at, word)); at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
			return true;
	return false;
}

void record_summary_columns(record_builder *b, const char *keys)
{
	dck_table *t = table_last(b);
	uint32_t *own;

	if (b->failed || !t)
		return;
	own = mem_arena_array(b->box->arena, t->ncolumns, sizeof *own);
	if (!own)
		return; /* the arena has failed */
	t->summary_columns = own;
	t->nsummary_columns = 0;
	for (size_t i = 1; i < t->ncolumns; i++)
		if (is_word_of(keys, t->columns[i].key))
			own[t->nsummary_columns++] = (uint32_t)i;
}

void record_summary_row(record_builder *b)
{
	const dck_table *t = table_last(b);
	uint32_t *row;

	if (b->failed || !t || b->cells.n == 0)
		return;
	row = build_list_add(b, &b->summary_rows, sizeof *row);
	if (row)
		*row = (uint32_t)((b->cells.n - 1) / t->ncolumns);
}

/* Returns whether the column of the next cell takes texts. */
static bool is_text_column(const record_builder *b)
{
	const dck_table *t = table_last(b);

	return b->failed || !t || t->columns[b->cells.n % t->ncolumns].unit == DCK_UNIT_NONE;
}

void record_cell(record_builder *b, dck_value v)
{
	assert(v.kind != DCK_VALUE_TEXT || is_text_column(b));
	build_cell_add(b, v, 0, 0, 0);
}

void record_cell_text(record_builder *b, const char *text)
{
	record_cell(b, RECORD_TEXT(text));
}

void record_cell_fmt(record_builder *b, const char *fmt, ...)
{
	BUILD_TEXT(b, text, fmt);
	record_cell_text(b, text);
}

void record_cell_bool(record_builder *b, bool v)
{
	record_cell(b, (dck_value){.kind = DCK_VALUE_BOOL, .as.b = v});
}

void record_cell_int(record_builder *b, int64_t v)
{
	record_cell(b, RECORD_INT(v));
}

void record_cell_real(record_builder *b, double v)
{
	record_cell(b, RECORD_REAL(v));
}

void record_cell_interval(record_builder *b, double v, double lo, double hi, double level)
{
	build_cell_add(b, RECORD_REAL(v), lo, hi, level);
}

void record_cell_copy(record_builder *b, const dck_cell *from)
{
	build_cell_add(b, from->value, from->lo, from->hi, from->level);
}

void record_cell_absent(record_builder *b, const char *why)
{
	record_cell(b, RECORD_ABSENT(why));
}

/* Adds a note; the last `remedy` bytes of its text are the remedy. */
static void note_add(record_builder *b, dck_severity severity, const char *code, const char *text,
		     size_t remedy)
{
	const char *own_code = text_keep(b, code);

	if (!text || !own_code)
		return;
	dck_note *n = build_list_add(b, &b->notes, sizeof *n);
	if (n)
		*n = (dck_note){.severity = severity,
				.code = own_code,
				.text = text,
				.remedy = text + strlen(text) - remedy};
}

void record_note(record_builder *b, const char *code, const char *fmt, ...)
{
	const dck_note_def *def = record_note_find(code);

	assert(def != NULL);
	BUILD_TEXT(b, text, fmt);
	note_add(b, def->severity, code, text, 0);
	if (!def->remedy_in_text && def->remedy[0])
		record_remedy(b, "%s", def->remedy);
}

void record_remedy(record_builder *b, const char *fmt, ...)
{
	dck_note *n = b->notes.n > 0 ? (dck_note *)b->notes.rows + b->notes.n - 1 : NULL;

	BUILD_TEXT(b, remedy, fmt);
	const char *text =
	    n && remedy ? mem_arena_fmt(b->box->arena, "%s; %s", n->text, remedy) : NULL;
	if (!text)
		return;
	n->text = text;
	n->remedy = text + strlen(text) - strlen(remedy);
}

void record_note_copy(record_builder *b, const dck_note *n)
{
	record_note_of(b, n, "%s", "");
}

void record_note_of(record_builder *b, const dck_note *n, const char *fmt, ...)
{
	BUILD_TEXT(b, before, fmt);
	const char *text = before ? mem_arena_fmt(b->box->arena, "%s%s", before, n->text) : NULL;
	note_add(b, n->severity, n->code, text, strlen(n->remedy));
}

void record_note_as(record_builder *b, dck_severity severity, const char *code, const char *fmt,
		    ...)
{
	BUILD_TEXT(b, text, fmt);
	note_add(b, severity, code, text, 0);
}

void record_note_set_cause(record_builder *b, const char *code, const char *cause)
{
	dck_note *all = b->notes.rows;
	const char *lead = NULL;

	for (size_t i = 0; i < b->notes.n && !lead; i++)
		if (!all[i].cause && strcmp(all[i].code, cause) == 0)
			lead = all[i].code;
	for (size_t i = 0; i < b->notes.n && lead; i++)
		if (strcmp(all[i].code, code) == 0 && all[i].code != lead)
			all[i].cause = lead;
}

const dck_op *record_ops(const record_builder *b, size_t *ret_n)
{
	*ret_n = b->ops.n;
	return b->ops.rows;
}

const dck_note *record_notes(const record_builder *b, size_t *ret_n)
{
	*ret_n = b->notes.n;
	return b->notes.rows;
}
