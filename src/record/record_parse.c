/* record_parse.c - the JSON form of a record, read. The text may be anything: it is measured
 * before the parser builds its tree, every member is checked, and what is refused is named by
 * its place ("metrics[3].value is a list, not a number").
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "record/box.h"
#include "record/late_jansson.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More nesting than the schema has (8), with room for members of later versions. */
#define DEPTH_MAX 64
/* Bytes that the parser's tree may take; a million samples with their times take 90 MB. */
#define TREE_MAX ((uint64_t)1 << 30)
/* What a list or object, and a value, cost in that tree at most, without their text. */
#define NODE_LIST  288u
#define NODE_VALUE 112u

/* Where we are in the document, for messages, and where everything goes. */
typedef struct reader {
	mem_arena *arena;
	dck_err *err;
	const char *list; /* "metrics"; NULL: top level */
	size_t row;
	const char *sub; /* "outputs" inside a row; NULL: none */
	size_t sub_row;
	bool in_cell; /* "rows[3][2]" of a table */
	size_t cell;
} reader;

static const char *type_text(const json_t *v)
{
	static const char *const text[] = {
	    [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",  [JSON_STRING] = "text",
	    [JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "true",
	    [JSON_FALSE] = "false",	 [JSON_NULL] = "null"};
	return !v ? "missing" : text[json_typeof(v)];
}

/* "metrics[3].value"; key NULL: the row itself. */
static const char *place(const reader *rd, const char *key, char *text, size_t size)
{
	int n = 0;
	text[0] = '\0';
	if (rd->list)
		n = snprintf(text, size, "%s[%zu]", rd->list, rd->row);
	if (rd->sub)
		n += snprintf(text + n, size - (size_t)n, ".%s[%zu]", rd->sub, rd->sub_row);
	if (rd->in_cell)
		n += snprintf(text + n, size - (size_t)n, "[%zu]", rd->cell);
	if (key)
		snprintf(text + n, size - (size_t)n, "%s%s", n > 0 ? "." : "", key);
	return text;
}

static dck_status wrong(const reader *rd, const char *key, const json_t *v, const char *wanted)
{
	char where[96];
	place(rd, key, where, sizeof where);
	if (!v)
		DCK_FAIL(rd->err, E_FORMAT, "%s is missing; it should be %s", where, wanted);
	DCK_FAIL(rd->err, E_FORMAT, "%s is %s, not %s", where, type_text(v), wanted);
}

static dck_status bad(const reader *rd, const char *key, const char *what)
{
	char where[96];
	DCK_FAIL(rd->err, E_FORMAT, "%s %s", place(rd, key, where, sizeof where), what);
}

/* --- scalars. An optional member that is missing leaves *ret as it was. */

typedef enum need { OPTIONAL, REQUIRED } need;

static const char *text_keep(reader *rd, const json_t *v)
{
	return mem_arena_dup_n(rd->arena, jansson->string_value(v), jansson->string_length(v));
}

static dck_status text_get(reader *rd, const json_t *o, const char *key, need n, const char **ret)
{
	const json_t *v = jansson->object_get(o, key);
	if (!v && n == OPTIONAL)
		return DCK_OK;
	if (!json_is_string(v))
		return wrong(rd, key, v, "text");
	*ret = text_keep(rd, v);
	return DCK_OK;
}

/* Integers past 2^53 are text. */
static bool int_of_text(const char *text, int64_t *ret)
{
	char *end;
	if (text[0] != '-' && (text[0] < '0' || text[0] > '9'))
		return false;
	errno = 0;
	long long v = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0')
		return false;
	*ret = v;
	return true;
}

static bool uint_of_json(const json_t *v, uint64_t *ret)
{
	char *end;
	if (json_is_integer(v) && jansson->integer_value(v) >= 0) {
		*ret = (uint64_t)jansson->integer_value(v);
		return true;
	}
	if (!json_is_string(v))
		return false;
	const char *text = jansson->string_value(v);
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	unsigned long long u = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0')
		return false;
	*ret = u;
	return true;
}

/* The list at `key`. An optional one that is missing is empty. */
static dck_status list_find(reader *rd, const json_t *o, const char *key, need n,
			    const json_t **ret, size_t *ret_n)
{
	const json_t *v = jansson->object_get(o, key);
	if ((v || n == REQUIRED) && !json_is_array(v))
		return wrong(rd, key, v, "a list");
	*ret = v;
	*ret_n = jansson->array_size(v);
	return DCK_OK;
}

static dck_status uint_get(reader *rd, const json_t *o, const char *key, need n, uint64_t max,
			   uint64_t *ret)
{
	const json_t *v = jansson->object_get(o, key);
	uint64_t u;
	if (!v && n == OPTIONAL)
		return DCK_OK;
	if (!json_is_integer(v) && !json_is_string(v))
		return wrong(rd, key, v, "an integer");
	if (!uint_of_json(v, &u) || u > max) {
		char what[64];
		snprintf(what, sizeof what, "is not an integer from 0 to %" PRIu64, max);
		return bad(rd, key, what);
	}
	*ret = u;
	return DCK_OK;
}

static dck_status real_get(reader *rd, const json_t *o, const char *key, double *ret)
{
	const json_t *v = jansson->object_get(o, key);
	if (!json_is_number(v))
		return wrong(rd, key, v, "a number");
	*ret = jansson->number_value(v);
	return DCK_OK;
}

/* A JSON number. Integers that are exact in a double are integers; larger ones are written as
 * text, so a larger number is a real that has no fraction. */
static dck_value number_of_json(const json_t *v)
{
	if (json_is_integer(v) && jansson->integer_value(v) <= RECORD_EXACT_MAX &&
	    jansson->integer_value(v) >= -RECORD_EXACT_MAX)
		return (dck_value){.kind = DCK_VALUE_INT, .as.i = jansson->integer_value(v)};
	return (dck_value){.kind = DCK_VALUE_REAL, .as.r = jansson->number_value(v)};
}

static dck_status unit_get(reader *rd, const json_t *o, dck_unit *ret)
{
	const json_t *v = jansson->object_get(o, "unit");
	if (!v)
		return DCK_OK;
	if (!json_is_string(v))
		return wrong(rd, "unit", v, "text");
	if (jansson->string_length(v) > 0 && record_find_unit(jansson->string_value(v), ret))
		return DCK_OK;
	return bad(rd, "unit", "is no unit that this version knows");
}

/* A value of the document at `key` (NULL: at the place where we are). */
static dck_status bare_get(reader *rd, const char *key, const json_t *v, bool text_is_int,
			   dck_value *ret)
{
	if (json_is_number(v)) {
		*ret = number_of_json(v);
	} else if (json_is_string(v) && text_is_int) {
		ret->kind = DCK_VALUE_INT;
		if (!int_of_text(jansson->string_value(v), &ret->as.i))
			return bad(rd, key, "is text that is no 64-bit integer, not a number");
	} else if (json_is_string(v)) {
		ret->kind = DCK_VALUE_TEXT;
		ret->as.text = text_keep(rd, v);
	} else if (json_is_boolean(v) && !text_is_int) {
		*ret = (dck_value){.kind = DCK_VALUE_BOOL, .as.b = json_is_true(v)};
	} else {
		return wrong(rd, key, v,
			     text_is_int ? "a number" : "text, a number, true or false");
	}
	return DCK_OK;
}

/* "value" or "absent" of a fact, a metric or a cell. Text is an integer where `text_is_int`. */
static dck_status value_get(reader *rd, const json_t *o, bool text_is_int, dck_value *ret)
{
	const json_t *v = jansson->object_get(o, "value");
	const json_t *absent = jansson->object_get(o, "absent");
	if ((v == NULL) == (absent == NULL))
		return bad(rd, NULL,
			   !v ? "has neither \"value\" nor \"absent\""
			      : "has both \"value\" and \"absent\"");
	if (absent) {
		ret->kind = DCK_VALUE_ABSENT;
		return text_get(rd, o, "absent", REQUIRED, &ret->as.text);
	}
	return bare_get(rd, "value", v, text_is_int, ret);
}

/* An operator's number, or {"absent": "why"}. */
static dck_status op_number_get(reader *rd, const json_t *o, const char *key, const char *missing,
				dck_value *ret)
{
	const json_t *v = jansson->object_get(o, key);
	*ret = (dck_value){.kind = DCK_VALUE_ABSENT, .as.text = missing};
	if (!v)
		return DCK_OK;
	if (json_is_number(v) || json_is_string(v))
		return bare_get(rd, key, v, true, ret);
	const json_t *absent = jansson->object_get(v, "absent");
	if (!json_is_string(absent))
		return wrong(rd, key, v, "a number or {\"absent\": \"why\"}");
	ret->as.text = text_keep(rd, absent);
	return DCK_OK;
}

/* --- rows */

static dck_status fact_get(reader *rd, const json_t *o, void *row)
{
	dck_fact *f = row;
	DCK_TRY(text_get(rd, o, "section", REQUIRED, &f->section));
	DCK_TRY(text_get(rd, o, "key", REQUIRED, &f->key));
	DCK_TRY(unit_get(rd, o, &f->unit));
	return value_get(rd, o, f->unit != DCK_UNIT_NONE, &f->value);
}

static dck_status series_get(reader *rd, const json_t *o, void *row)
{
	dck_series *s = row;
	uint64_t warmup = 0;
	const json_t *values, *at_ns;
	size_t ntimes;

	DCK_TRY(text_get(rd, o, "tag", REQUIRED, &s->tag));
	DCK_TRY(unit_get(rd, o, &s->unit));
	DCK_TRY(list_find(rd, o, "values", REQUIRED, &values, &s->n));
	DCK_TRY(list_find(rd, o, "at_ns", OPTIONAL, &at_ns, &ntimes));
	if (at_ns && ntimes != s->n)
		return bad(rd, "at_ns", "has not as many entries as \"values\"");
	DCK_TRY(uint_get(rd, o, "warmup", OPTIONAL, s->n, &warmup));
	s->warmup = (size_t)warmup;

	double *v = mem_arena_array(rd->arena, s->n, sizeof *v);
	uint64_t *at = at_ns ? mem_arena_array(rd->arena, s->n, sizeof *at) : NULL;
	if (!v || (at_ns && !at))
		return DCK_OK; /* the arena remembers */
	for (size_t i = 0; i < s->n; i++) {
		const json_t *x = jansson->array_get(values, i);
		rd->sub_row = i;
		rd->sub = "values";
		if (!json_is_number(x) && !json_is_null(x))
			return wrong(rd, NULL, x, "a number");
		/* null: a value that was no finite number. */
		v[i] = json_is_null(x) ? (double)NAN : jansson->number_value(x);
		rd->sub = "at_ns";
		if (at && !uint_of_json(jansson->array_get(at_ns, i), &at[i]))
			return bad(rd, NULL, "is no integer from 0 to 2^64 - 1");
	}
	rd->sub = NULL;
	s->values = v;
	s->at_ns = at;
	return DCK_OK;
}

/* The three members of an interval: all of them or none. */
static dck_status interval_get(reader *rd, const json_t *o, const char *const keys[3], double *lo,
			       double *hi, double *level)
{
	double *const to[] = {lo, hi, level};
	bool any = false;

	for (int i = 0; i < 3; i++)
		any = any || jansson->object_get(o, keys[i]);
	for (int i = 0; i < 3 && any; i++)
		DCK_TRY(real_get(rd, o, keys[i], to[i]));
	if (any && !(*level > 0 && *level < 1))
		return bad(rd, keys[2], "is not between 0 and 1");
	return DCK_OK;
}

/* A tag of another version or program: its definition is what the file says. */
static const dck_metric_def *foreign_def(reader *rd, const char *tag, dck_unit unit)
{
	dck_metric_def *d = mem_arena_alloc(rd->arena, sizeof *d);
	if (d)
		*d = (dck_metric_def){.tag = tag, .name = tag, .help = "", .unit = unit};
	return d;
}

static dck_status metric_get(reader *rd, const json_t *o, void *row)
{
	dck_metric *m = row;
	const char *tag = NULL;
	dck_unit unit = DCK_UNIT_NONE;

	DCK_TRY(text_get(rd, o, "tag", REQUIRED, &tag));
	if (!tag)
		return DCK_OK; /* no memory: the arena remembers */
	DCK_TRY(unit_get(rd, o, &unit));
	m->def = record_find_def(tag, rd->arena);
	if (m->def) {
		m->def = record_def_in(m->def, unit, rd->arena);
		if (!m->def && !mem_arena_failed(rd->arena))
			return bad(rd, "unit", "is not the unit of that tag");
	} else {
		m->def = foreign_def(rd, tag, unit);
	}
	DCK_TRY(value_get(rd, o, true, &m->value));
	DCK_TRY(text_get(rd, o, "how", OPTIONAL, &m->how));
	return interval_get(rd, o, RECORD_INTERVAL, &m->lo, &m->hi, &m->level);
}

/* Of a size that a JSON number does not hold, not of a symbol that is called "7". */
static bool large_of_text(const char *text, int64_t *ret)
{
	int64_t v;
	if (!int_of_text(text, &v) || v <= RECORD_EXACT_MAX)
		return false;
	*ret = v;
	return true;
}

static dck_status output_get(reader *rd, const json_t *o, dck_op_output *out)
{
	const json_t *shape = jansson->object_get(o, "shape");
	if (!json_is_object(o))
		return wrong(rd, NULL, o, "an object");
	DCK_TRY(text_get(rd, o, "name", REQUIRED, &out->name));
	DCK_TRY(text_get(rd, o, "dtype", REQUIRED, &out->dtype));
	if (json_is_object(shape)) {
		const json_t *why = jansson->object_get(shape, "absent");
		if (!json_is_string(why))
			return wrong(rd, "shape", shape, "a list, or absent with a reason");
		out->absent = text_keep(rd, why);
		return DCK_OK;
	}
	DCK_TRY(list_find(rd, o, "shape", REQUIRED, &shape, &out->rank));
	int64_t *dims = mem_arena_array(rd->arena, out->rank, sizeof *dims);
	const char **symbols = mem_arena_array(rd->arena, out->rank, sizeof *symbols);
	if (!dims || !symbols)
		return DCK_OK;
	for (size_t i = 0; i < out->rank; i++) {
		const json_t *d = jansson->array_get(shape, i);
		if (json_is_string(d) && large_of_text(jansson->string_value(d), &dims[i])) {
			continue;
		} else if (json_is_string(d)) {
			dims[i] = -1;
			symbols[i] = text_keep(rd, d);
		} else if (json_is_integer(d) && jansson->integer_value(d) >= 0) {
			dims[i] = jansson->integer_value(d);
		} else {
			return wrong(rd, "shape", d, "of sizes and symbols only");
		}
	}
	out->dims = dims;
	out->symbols = symbols;
	return DCK_OK;
}

/* The list of texts at `key`. */
static dck_status texts_get(reader *rd, const json_t *o, const char *key, need need_it,
			    const char *const **ret, size_t *ret_n)
{
	const json_t *list;
	size_t n;
	DCK_TRY(list_find(rd, o, key, need_it, &list, &n));
	const char **texts = mem_arena_array(rd->arena, n, sizeof *texts);
	if (!texts)
		return DCK_OK; /* the arena remembers */
	rd->sub = key;
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++) {
		const json_t *v = jansson->array_get(list, rd->sub_row);
		if (!json_is_string(v))
			return wrong(rd, NULL, v, "text");
		texts[rd->sub_row] = text_keep(rd, v);
	}
	rd->sub = NULL;
	*ret = texts;
	*ret_n = n;
	return DCK_OK;
}

static dck_status op_get(reader *rd, const json_t *o, void *row)
{
	dck_op *op = row;
	const json_t *outputs;

	DCK_TRY(text_get(rd, o, "name", REQUIRED, &op->name));
	DCK_TRY(text_get(rd, o, "type", REQUIRED, &op->type));
	DCK_TRY(text_get(rd, o, "scope", OPTIONAL, &op->scope));
	DCK_TRY(text_get(rd, o, "class", OPTIONAL, &op->class_name));
	DCK_TRY(text_get(rd, o, "line", OPTIONAL, &op->line));
	DCK_TRY(text_get(rd, o, "code", OPTIONAL, &op->code));
	DCK_TRY(list_find(rd, o, "outputs", OPTIONAL, &outputs, &op->noutputs));
	dck_op_output *out = mem_arena_array(rd->arena, op->noutputs, sizeof *out);
	if (!out)
		return DCK_OK;
	op->outputs = out;
	rd->sub = "outputs";
	for (rd->sub_row = 0; rd->sub_row < op->noutputs; rd->sub_row++)
		DCK_TRY(
		    output_get(rd, jansson->array_get(outputs, rd->sub_row), &out[rd->sub_row]));
	rd->sub = NULL;
	for (size_t i = 0; i < RECORD_OP_NUMBERS; i++) {
		const record_op_number *n = &record_op_numbers[i];
		dck_value v;
		DCK_TRY(op_number_get(rd, o, n->key,
				      n->measured ? RECORD_NOT_MEASURED : "not known", &v));
		record_op_set(op, i, v);
	}
	DCK_TRY(text_get(rd, o, "bound", OPTIONAL, &op->bound));
	DCK_TRY(texts_get(rd, o, "origins", OPTIONAL, &op->origins, &op->norigins));
	if (op->time_ns.kind == DCK_VALUE_ABSENT && jansson->object_get(o, "time_lo"))
		return bad(rd, "time_lo", "is there and \"time\" is not");
	return interval_get(rd, o, RECORD_OP_INTERVAL, &op->time_lo_ns, &op->time_hi_ns,
			    &op->time_level);
}

static int column_order(const void *a, const void *b)
{
	const dck_column *x = *(const void *const *)a, *y = *(const void *const *)b;
	return strcmp(x->key, y->key);
}

/* Rows that begin with their name. */
static int name_order(const void *a, const void *b)
{
	const char *const *x = *(const void *const *)a, *const *y = *(const void *const *)b;
	return strcmp(*x, *y);
}

/* What is looked up by its name must be there once. The index of a row that has the name of
 * another; n: there is none. Sorted, since a file may have millions. */
static size_t twin_find(reader *rd, const void *rows, size_t n, size_t size,
			int (*order)(const void *a, const void *b))
{
	const void **sorted = mem_arena_array(rd->arena, n, sizeof *sorted);

	if (!sorted || mem_arena_failed(rd->arena))
		return n;
	for (size_t i = 0; i < n; i++)
		sorted[i] = (const char *)rows + i * size;
	qsort(sorted, n, sizeof *sorted, order);
	for (size_t i = 1; i < n; i++)
		if (order(&sorted[i - 1], &sorted[i]) == 0)
			return (size_t)((const char *)sorted[i] - (const char *)rows) / size;
	return n;
}

static dck_status columns_get(reader *rd, const json_t *o, const dck_column **ret, size_t *ret_n)
{
	const json_t *list;
	size_t n;
	DCK_TRY(list_find(rd, o, "columns", REQUIRED, &list, &n));
	if (n == 0)
		return bad(rd, "columns", "is empty: there is at least one");
	dck_column *columns = mem_arena_array(rd->arena, n, sizeof *columns);
	if (!columns)
		return DCK_OK; /* the arena remembers */
	rd->sub = "columns";
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++) {
		const json_t *c = jansson->array_get(list, rd->sub_row);
		dck_column *own = &columns[rd->sub_row];
		if (!json_is_object(c))
			return wrong(rd, NULL, c, "an object");
		DCK_TRY(text_get(rd, c, "key", REQUIRED, &own->key));
		DCK_TRY(text_get(rd, c, "title", REQUIRED, &own->title));
		DCK_TRY(unit_get(rd, c, &own->unit));
	}
	rd->sub_row = twin_find(rd, columns, n, sizeof *columns, column_order);
	if (rd->sub_row < n)
		return bad(rd, "key", "is that of another column too");
	rd->sub = NULL;
	*ret = columns;
	*ret_n = n;
	return DCK_OK;
}

/* A value, or an object that holds one and its interval, or why there is none. */
static dck_status cell_get(reader *rd, const json_t *v, const dck_column *column, dck_cell *cell)
{
	const bool text_is_int = column->unit != DCK_UNIT_NONE;

	if (!json_is_object(v))
		return bare_get(rd, NULL, v, text_is_int, &cell->value);
	DCK_TRY(value_get(rd, v, text_is_int, &cell->value));
	DCK_TRY(interval_get(rd, v, RECORD_INTERVAL, &cell->lo, &cell->hi, &cell->level));
	if (cell->level > 0 && cell->value.kind != DCK_VALUE_INT &&
	    cell->value.kind != DCK_VALUE_REAL)
		return bad(rd, NULL, "has an interval and no number");
	return DCK_OK;
}

static dck_status cells_get(reader *rd, const json_t *row, const dck_table *t, dck_cell *cells)
{
	rd->in_cell = true;
	for (rd->cell = 0; rd->cell < t->ncolumns; rd->cell++)
		DCK_TRY(cell_get(rd, jansson->array_get(row, rd->cell), &t->columns[rd->cell],
				 &cells[rd->cell]));
	rd->in_cell = false;
	return DCK_OK;
}

static dck_status rows_get(reader *rd, const json_t *o, dck_table *t)
{
	const json_t *list;
	size_t n;
	DCK_TRY(list_find(rd, o, "rows", REQUIRED, &list, &n));
	rd->sub = "rows";
	/* Before there is memory for them: as many cells as the document has, and no more. */
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++) {
		const json_t *row = jansson->array_get(list, rd->sub_row);
		char what[80];
		if (!json_is_array(row))
			return wrong(rd, NULL, row, "a list");
		snprintf(what, sizeof what, "has %zu cells, the table has %zu columns",
			 jansson->array_size(row), t->ncolumns);
		if (jansson->array_size(row) != t->ncolumns)
			return bad(rd, NULL, what);
	}
	dck_cell *cells = mem_arena_array(rd->arena, n * t->ncolumns, sizeof *cells);
	if (!cells)
		return DCK_OK; /* the arena remembers */
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++)
		DCK_TRY(cells_get(rd, jansson->array_get(list, rd->sub_row), t,
				  &cells[rd->sub_row * t->ncolumns]));
	rd->sub = NULL;
	t->cells = cells;
	t->nrows = n;
	return DCK_OK;
}

/* Each below `limit`, ascending. */
static dck_status indices_get(reader *rd, const json_t *o, const char *key, size_t limit,
			      const uint32_t **ret, size_t *ret_n)
{
	const json_t *list;
	size_t n;
	DCK_TRY(list_find(rd, o, key, OPTIONAL, &list, &n));
	uint32_t *all = mem_arena_array(rd->arena, n, sizeof *all);
	if (!all)
		return DCK_OK; /* the arena remembers */
	uint64_t least = 0, v = 0;
	rd->sub = key;
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++) {
		if (!uint_of_json(jansson->array_get(list, rd->sub_row), &v))
			return wrong(rd, NULL, jansson->array_get(list, rd->sub_row), "an integer");
		if (v < least || v >= limit || v > UINT32_MAX)
			return bad(rd, NULL,
				   "is not above the one before it and below the number of columns "
				   "or rows");
		all[rd->sub_row] = (uint32_t)v;
		least = v + 1;
	}
	rd->sub = NULL;
	*ret = all;
	*ret_n = n;
	return DCK_OK;
}

static dck_status table_get(reader *rd, const json_t *o, void *row)
{
	dck_table *t = row;

	DCK_TRY(text_get(rd, o, "name", REQUIRED, &t->name));
	DCK_TRY(text_get(rd, o, "title", REQUIRED, &t->title));
	DCK_TRY(columns_get(rd, o, &t->columns, &t->ncolumns));
	if (mem_arena_failed(rd->arena))
		return DCK_OK;
	DCK_TRY(rows_get(rd, o, t));
	DCK_TRY(indices_get(rd, o, "brief_columns", t->ncolumns, &t->brief_columns,
			    &t->nbrief_columns));
	return indices_get(rd, o, "brief_rows", t->nrows, &t->brief_rows, &t->nbrief_rows);
}

/* Tables and trees are looked up by their names, so there is one of each. */
static dck_status names_check(reader *rd, const char *list, const void *rows, size_t n, size_t size)
{
	if (mem_arena_failed(rd->arena))
		return DCK_OK;
	rd->list = list;
	rd->row = twin_find(rd, rows, n, size, name_order);
	if (rd->row < n)
		return bad(rd, "name", "is that of another one too");
	rd->list = NULL;
	return DCK_OK;
}

/* --- trees */

/* An integer from `least` to `most`. */
static bool index_of(const json_t *v, json_int_t least, json_int_t most)
{
	return json_is_integer(v) && jansson->integer_value(v) >= least &&
	       jansson->integer_value(v) <= most;
}

/* Its parent, its frame, and a weight for each column. */
static dck_status node_get(reader *rd, const json_t *row, const dck_tree *t, dck_tree_node *node,
			   double *weights)
{
	if (!json_is_array(row) || jansson->array_size(row) != t->ncolumns + 2)
		return bad(rd, NULL,
			   "is no list of a parent, a frame and a weight for each column");
	const json_t *parent = jansson->array_get(row, 0), *frame = jansson->array_get(row, 1);
	if (!index_of(parent, -1, (json_int_t)rd->sub_row - 1))
		return bad(rd, NULL, "has a parent that does not stand before it");
	if (!index_of(frame, 0, (json_int_t)t->nframes - 1))
		return bad(rd, NULL, "has a frame that there is not");
	node->parent = jansson->integer_value(parent) < 0
			   ? DCK_TREE_ROOT
			   : (uint32_t)jansson->integer_value(parent);
	node->frame = (uint32_t)jansson->integer_value(frame);
	for (size_t k = 0; k < t->ncolumns; k++) {
		const json_t *v = jansson->array_get(row, k + 2);
		if (!json_is_number(v))
			return bad(rd, NULL, "has a weight that is no number");
		weights[k] = jansson->number_value(v);
	}
	return DCK_OK;
}

static dck_status tree_get(reader *rd, const json_t *o, void *row)
{
	dck_tree *t = row;
	const json_t *list;
	size_t n;

	DCK_TRY(text_get(rd, o, "name", REQUIRED, &t->name));
	DCK_TRY(text_get(rd, o, "title", REQUIRED, &t->title));
	DCK_TRY(columns_get(rd, o, &t->columns, &t->ncolumns));
	DCK_TRY(texts_get(rd, o, "frames", REQUIRED, &t->frames, &t->nframes));
	DCK_TRY(list_find(rd, o, "nodes", REQUIRED, &list, &n));
	if (n >= DCK_TREE_ROOT || n > TREE_MAX / sizeof(double) / (t->ncolumns + 1))
		return bad(rd, "nodes", "has more rows than 1 GiB of memory holds");
	dck_tree_node *nodes = mem_arena_array(rd->arena, n, sizeof *nodes);
	double *weights = mem_arena_array(rd->arena, n * t->ncolumns, sizeof *weights);
	if (!nodes || !weights || mem_arena_failed(rd->arena))
		return DCK_OK; /* the arena remembers */
	rd->sub = "nodes";
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++)
		DCK_TRY(node_get(rd, jansson->array_get(list, rd->sub_row), t, &nodes[rd->sub_row],
				 &weights[rd->sub_row * t->ncolumns]));
	rd->sub = NULL;
	t->nodes = nodes;
	t->weights = weights;
	t->nnodes = n;
	return DCK_OK;
}

static dck_status span_get(reader *rd, const json_t *o, void *row)
{
	dck_span *s = row;
	uint64_t thread = 0, depth = 0;
	DCK_TRY(text_get(rd, o, "name", REQUIRED, &s->name));
	DCK_TRY(text_get(rd, o, "track", REQUIRED, &s->track));
	DCK_TRY(uint_get(rd, o, "begin_ns", REQUIRED, UINT64_MAX, &s->begin_ns));
	DCK_TRY(uint_get(rd, o, "end_ns", REQUIRED, UINT64_MAX, &s->end_ns));
	DCK_TRY(uint_get(rd, o, "thread", OPTIONAL, UINT32_MAX, &thread));
	DCK_TRY(uint_get(rd, o, "depth", OPTIONAL, UINT32_MAX, &depth));
	s->thread = (uint32_t)thread;
	s->depth = (uint32_t)depth;
	return DCK_OK;
}

static dck_status note_get(reader *rd, const json_t *o, void *row)
{
	dck_note *n = row;
	const json_t *severity = jansson->object_get(o, "severity");

	DCK_TRY(text_get(rd, o, "code", REQUIRED, &n->code));
	DCK_TRY(text_get(rd, o, "text", REQUIRED, &n->text));
	DCK_TRY(text_get(rd, o, "under", OPTIONAL, &n->under));
	if (!json_is_string(severity))
		return wrong(rd, "severity", severity, "text");
	for (dck_severity s = DCK_INFO; s <= DCK_ERROR; s++) {
		if (strcmp(dck_severity_text(s), jansson->string_value(severity)) == 0) {
			n->severity = s;
			return DCK_OK;
		}
	}
	return bad(rd, "severity", "is not info, warning or error");
}

static dck_status list_get(reader *rd, const json_t *root, const char *name, size_t row_size,
			   dck_status (*get)(reader *rd, const json_t *o, void *row),
			   const void **ret, size_t *ret_n)
{
	const json_t *list;
	size_t n;
	DCK_TRY(list_find(rd, root, name, OPTIONAL, &list, &n));
	if (n > TREE_MAX / row_size)
		return bad(rd, name, "has more rows than 1 GiB of memory holds");
	char *rows = mem_arena_array(rd->arena, n, row_size);
	if (!rows)
		return DCK_OK;
	rd->list = name;
	for (rd->row = 0; rd->row < n; rd->row++) {
		const json_t *o = jansson->array_get(list, rd->row);
		if (!json_is_object(o))
			return wrong(rd, NULL, o, "an object");
		DCK_TRY(get(rd, o, rows + rd->row * row_size));
		if (mem_arena_failed(rd->arena))
			break;
	}
	rd->list = NULL;
	*ret = rows;
	*ret_n = n;
	return DCK_OK;
}

/* --- the whole */

static dck_status schema_check(reader *rd, const json_t *root, uint32_t *ret)
{
	const json_t *schema = jansson->object_get(root, "schema");
	if (json_is_array(root))
		DCK_FAIL(rd->err, E_FORMAT, "this is a list, not one deepclock record");
	if (!schema)
		DCK_FAIL(rd->err, E_FORMAT,
			 "this is no deepclock record: it has no member \"schema\"");
	if (!json_is_integer(schema))
		return wrong(rd, "schema", schema, "an integer");
	if (jansson->integer_value(schema) < 1)
		return bad(rd, "schema", "is below 1");
	if (jansson->integer_value(schema) > (json_int_t)DCK_RECORD_SCHEMA)
		DCK_FAIL(rd->err, E_VERSION,
			 "the record has schema %lld, this deepclock %s reads up to %u; "
			 "a newer deepclock is needed",
			 (long long)jansson->integer_value(schema), dck_version(),
			 DCK_RECORD_SCHEMA);
	*ret = (uint32_t)jansson->integer_value(schema);
	return DCK_OK;
}

static dck_status record_get(reader *rd, const json_t *root, dck_record *r)
{
	const json_t *incomplete = jansson->object_get(root, "incomplete");
	const json_t *began = jansson->object_get(root, "began");
	const void *rows;

	DCK_TRY(schema_check(rd, root, &r->schema));
	DCK_TRY(text_get(rd, root, "deepclock", REQUIRED, &r->version));
	DCK_TRY(text_get(rd, root, "id", REQUIRED, &r->id));
	DCK_TRY(text_get(rd, root, "command", OPTIONAL, &r->command));
	if (began && !json_is_string(began))
		return wrong(rd, "began", began, "text");
	if (began && !record_time_parse(jansson->string_value(began), &r->began_unix_ns))
		return bad(rd, "began", "is no time such as \"2026-11-21T04:56:52Z\"");
	if (incomplete && !json_is_boolean(incomplete))
		return wrong(rd, "incomplete", incomplete, "true or false");
	r->incomplete = json_is_true(incomplete);
	DCK_TRY(uint_get(rd, root, "spans_lost", OPTIONAL, UINT64_MAX, &r->spans_lost));
#define LIST(name, type, get)                                                              \
	do {                                                                               \
		rows = NULL;                                                               \
		DCK_TRY(list_get(rd, root, #name, sizeof(type), get, &rows, &r->n##name)); \
		r->name = rows;                                                            \
	} while (0)
	LIST(facts, dck_fact, fact_get);
	LIST(series, dck_series, series_get);
	LIST(metrics, dck_metric, metric_get);
	LIST(ops, dck_op, op_get);
	LIST(tables, dck_table, table_get);
	DCK_TRY(names_check(rd, "tables", r->tables, r->ntables, sizeof *r->tables));
	LIST(trees, dck_tree, tree_get);
	DCK_TRY(names_check(rd, "trees", r->trees, r->ntrees, sizeof *r->trees));
	LIST(spans, dck_span, span_get);
	LIST(notes, dck_note, note_get);
#undef LIST
	return DCK_OK;
}

/* Before the parser builds a tree of it: how deep and how large would that be? */
static dck_status size_check(const char *json, size_t n, dck_err *err)
{
	uint64_t lists = 0, values = 0;
	unsigned depth = 0;
	bool in_text = false;

	for (size_t i = 0; i < n; i++) {
		char c = json[i];
		if (in_text) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_text = false;
			continue;
		}
		if (c == '"')
			in_text = true;
		else if (c == ',' || c == ':')
			values++;
		else if (c == '[' || c == '{') {
			lists++;
			if (++depth > DEPTH_MAX)
				DCK_FAIL(err, E_FORMAT,
					 "lists and objects are nested deeper than %d at byte %zu",
					 DEPTH_MAX, i);
		} else if ((c == ']' || c == '}') && depth > 0)
			depth--;
	}
	if (n + lists * NODE_LIST + values * NODE_VALUE > TREE_MAX)
		DCK_FAIL(err, E_FORMAT,
			 "the record is too large: %" PRIu64 " lists and objects with %" PRIu64
			 " values in %zu bytes would take more than 1 GiB of memory",
			 lists, values, n);
	return DCK_OK;
}

dck_status dck_record_parse(const char *json, size_t n, dck_record **ret, dck_err *err)
{
	json_error_t at;

	if (n == 0)
		DCK_FAIL(err, E_FORMAT, "there is no record: the text is empty");
	DCK_TRY(size_check(json, n, err));
	DCK_TRY(jansson_load(err));
	json_t *root = jansson->loadb(json, n, JSON_REJECT_DUPLICATES, &at);
	if (!root && json_error_code(&at) == json_error_out_of_memory)
		DCK_FAIL(err, E_NOMEM, "no memory to read the record");
	if (!root)
		DCK_FAIL(err, E_FORMAT, "this is no JSON: %s (line %d, column %d)", at.text,
			 at.line, at.column);

	record_box *box = record_box_new();
	if (box)
		mem_arena_limit(box->arena, TREE_MAX);
	reader rd = {.arena = box ? box->arena : NULL, .err = err};
	dck_status st = DCK_OK;
	if (box)
		st = record_get(&rd, root, &box->record);
	jansson->delete (root);
	if (st == DCK_OK && (!box || mem_arena_failed(box->arena)))
		st = err_set(err, DCK_E_NOMEM, __FILE__, __LINE__, "no memory for the record");
	if (st != DCK_OK) {
		if (box)
			dck_record_free(&box->record);
		return st;
	}
	*ret = &box->record;
	return DCK_OK;
}
