/* record_parse.c - reads records from JSON. The text is untrusted: its memory is estimated before
 * the parser builds its tree, every member is checked, and an error names the path of the member
 * ("metrics[3].value is a list, not a number").
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "deepclock/unstable.h"
#include "record/record_reader.h"
#include "record/renamed.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More nesting than the schema has (8), with a reserve for members of later versions. */
#define DEPTH_MAX 64
/* Maximum bytes of a list or object, of a member of an object or a text, and of another item of a
 * list, in that tree, without their text: an item has a place in a list that is doubled as it
 * grows, and 32 bytes. Records of as many samples as --keep allows have to fit. */
#define NODE_LIST  288u
#define NODE_VALUE 112u
#define NODE_ITEM  56u

/* --- rows */

/* An operator's number, or an object with "absent". */
static dck_status op_number_get(record_reader *rd, const json_t *o, const char *key,
				const char *missing, dck_value *ret)
{
	const json_t *v = jansson->object_get(o, key);
	*ret = (dck_value){.kind = DCK_VALUE_ABSENT, .as.text = missing};
	if (!v)
		return DCK_OK;
	if (json_is_number(v) || json_is_string(v))
		return reader_bare(rd, key, v, true, ret);
	if (!json_is_string(jansson->object_get(v, "absent")))
		return reader_type_error(rd, key, v, "a number or {\"absent\": \"why\"}");
	DCK_TRY(reader_absent(rd, v, ret));
	if (!jansson->object_get(v, "code"))
		ret->absence = record_renamed_absence(ret->as.text);
	return DCK_OK;
}

/* --- rows */

static dck_status fact_get(record_reader *rd, const json_t *o, void *row)
{
	dck_fact *f = row;
	DCK_TRY(reader_text(rd, o, "section", REQUIRED, &f->section));
	DCK_TRY(reader_text(rd, o, "key", REQUIRED, &f->key));
	DCK_TRY(reader_unit(rd, o, &f->unit));
	DCK_TRY(reader_value(rd, o, f->unit != DCK_UNIT_NONE, &f->value));
	if (mem_arena_failed(rd->arena))
		return DCK_OK;
	f->key = record_renamed_fact(f->section, f->key);
	if (f->value.kind == DCK_VALUE_TEXT)
		f->value.as.text = record_renamed_text(f->section, f->key, f->value.as.text);
	return DCK_OK;
}

static bool parse_is_latency(const char *tag, dck_unit unit)
{
	return strncmp(tag, "latency", 7) == 0 && unit == DCK_UNIT_NS;
}

static dck_status parse_negative_time(const record_reader *rd, const char *key)
{
	return reader_value_error(rd, key, "is negative: no run takes less than no time");
}

static dck_status series_get(record_reader *rd, const json_t *o, void *row)
{
	dck_series *s = row;
	uint64_t warmup = 0;
	const json_t *values, *at_ns;
	size_t ntimes;

	DCK_TRY(reader_text(rd, o, "tag", REQUIRED, &s->tag));
	DCK_TRY(reader_unit(rd, o, &s->unit));
	const bool latency = s->tag && parse_is_latency(s->tag, s->unit);
	DCK_TRY(reader_list(rd, o, "values", REQUIRED, &values, &s->n));
	DCK_TRY(reader_list(rd, o, "at_ns", OPTIONAL, &at_ns, &ntimes));
	if (at_ns && ntimes != s->n)
		return reader_value_error(rd, "at_ns", "has not as many entries as \"values\"");
	DCK_TRY(reader_uint(rd, o, "warmup", OPTIONAL, s->n, &warmup));
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
			return reader_type_error(rd, NULL, x, "a number");
		/* null: a value that was not finite. */
		v[i] = json_is_null(x) ? (double)NAN : jansson->number_value(x);
		if (latency && v[i] < 0)
			return parse_negative_time(rd, NULL);
		rd->sub = "at_ns";
		if (at && !reader_uint_of(jansson->array_get(at_ns, i), &at[i]))
			return reader_value_error(rd, NULL, "is not an integer from 0 to 2^64 - 1");
	}
	rd->sub = NULL;
	s->values = v;
	s->at_ns = at;
	return DCK_OK;
}

/* A tag of another version or program: its definition is in the file. */
static const dck_metric_def *foreign_def(record_reader *rd, const char *tag, dck_unit unit)
{
	dck_metric_def *d = mem_arena_alloc(rd->arena, sizeof *d);
	if (d)
		*d = (dck_metric_def){.tag = tag, .name = tag, .help = "", .unit = unit};
	return d;
}

static dck_status parse_metric_get(record_reader *rd, const json_t *o, void *row)
{
	dck_metric *m = row;
	const char *tag = NULL;
	dck_unit unit = DCK_UNIT_NONE;

	DCK_TRY(reader_text(rd, o, "tag", REQUIRED, &tag));
	if (!tag)
		return DCK_OK; /* no memory: the arena remembers */
	tag = record_renamed_metric(tag);
	DCK_TRY(reader_unit(rd, o, &unit));
	m->def = record_find_def(tag, rd->arena);
	if (m->def) {
		m->def = record_def_in(m->def, unit, rd->arena);
		if (!m->def && !mem_arena_failed(rd->arena))
			return reader_value_error(rd, "unit", "is not the unit of that tag");
	} else {
		m->def = foreign_def(rd, tag, unit);
	}
	DCK_TRY(reader_value(rd, o, true, &m->value));
	/* A time less the waits for a processor, which another clock measures, may be. */
	if (parse_is_latency(tag, unit) && dck_value_number(&m->value) < 0 &&
	    strcmp(tag, "latency/less_run_delay") != 0)
		return parse_negative_time(rd, "value");
	DCK_TRY(reader_text(rd, o, "formula", OPTIONAL, &m->formula));
	DCK_TRY(reader_text(rd, o, "narrow", OPTIONAL, &m->narrow));
	DCK_TRY(reader_text(rd, o, "how", OPTIONAL, &m->how));
	return reader_interval(rd, o, RECORD_INTERVAL, &m->lo, &m->hi, &m->level);
}

/* Of a size that a JSON number does not hold, not of a symbol that is called "7". */
static bool large_of_text(const char *text, int64_t *ret)
{
	int64_t v;
	if (!reader_int_of(text, &v) || v <= RECORD_EXACT_MAX)
		return false;
	*ret = v;
	return true;
}

static dck_status output_get(record_reader *rd, const json_t *o, dck_op_output *out)
{
	const json_t *shape = jansson->object_get(o, "shape");
	if (!json_is_object(o))
		return reader_type_error(rd, NULL, o, "an object");
	DCK_TRY(reader_text(rd, o, "name", REQUIRED, &out->name));
	DCK_TRY(reader_text(rd, o, "dtype", REQUIRED, &out->dtype));
	if (json_is_object(shape)) {
		const json_t *why = jansson->object_get(shape, "absent");
		if (!json_is_string(why))
			return reader_type_error(rd, "shape", shape,
						 "a list, or absent with a reason");
		out->absent = reader_keep(rd, why);
		return DCK_OK;
	}
	DCK_TRY(reader_list(rd, o, "shape", REQUIRED, &shape, &out->rank));
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
			symbols[i] = reader_keep(rd, d);
		} else if (json_is_integer(d) && jansson->integer_value(d) >= 0) {
			dims[i] = jansson->integer_value(d);
		} else {
			return reader_type_error(rd, "shape", d, "of sizes and symbols only");
		}
	}
	out->dims = dims;
	out->symbols = symbols;
	return DCK_OK;
}

/* The list of texts at `key`. */
static dck_status texts_get(record_reader *rd, const json_t *o, const char *key, need need_it,
			    const char *const **ret, size_t *ret_n)
{
	const json_t *list;
	size_t n;
	DCK_TRY(reader_list(rd, o, key, need_it, &list, &n));
	const char **texts = mem_arena_array(rd->arena, n, sizeof *texts);
	if (!texts)
		return DCK_OK; /* the arena remembers */
	rd->sub = key;
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++) {
		const json_t *v = jansson->array_get(list, rd->sub_row);
		if (!json_is_string(v))
			return reader_type_error(rd, NULL, v, "text");
		texts[rd->sub_row] = reader_keep(rd, v);
	}
	rd->sub = NULL;
	*ret = texts;
	*ret_n = n;
	return DCK_OK;
}

static dck_status op_get(record_reader *rd, const json_t *o, void *row)
{
	dck_op *op = row;
	const json_t *outputs;

	DCK_TRY(reader_text(rd, o, "name", REQUIRED, &op->name));
	DCK_TRY(reader_text(rd, o, "type", REQUIRED, &op->type));
	DCK_TRY(reader_text(rd, o, "scope", OPTIONAL, &op->scope));
	DCK_TRY(reader_text(rd, o, "class", OPTIONAL, &op->class_name));
	DCK_TRY(reader_text(rd, o, "line", OPTIONAL, &op->line));
	DCK_TRY(reader_text(rd, o, "code", OPTIONAL, &op->code));
	DCK_TRY(reader_list(rd, o, "outputs", OPTIONAL, &outputs, &op->noutputs));
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
	DCK_TRY(reader_text(rd, o, "bound", OPTIONAL, &op->bound));
	DCK_TRY(texts_get(rd, o, "origins", OPTIONAL, &op->origins, &op->norigins));
	if (op->time_ns.kind == DCK_VALUE_ABSENT && jansson->object_get(o, "time_lo"))
		return reader_value_error(rd, "time_lo", "is there and \"time\" is not");
	return reader_interval(rd, o, RECORD_OP_INTERVAL, &op->time_lo_ns, &op->time_hi_ns,
			       &op->time_level);
}

static dck_status note_get(record_reader *rd, const json_t *o, void *row)
{
	dck_note *n = row;
	const json_t *severity = jansson->object_get(o, "severity");

	DCK_TRY(reader_text(rd, o, "code", REQUIRED, &n->code));
	DCK_TRY(reader_text(rd, o, "text", REQUIRED, &n->text));
	DCK_TRY(reader_text(rd, o, "remedy", OPTIONAL, &n->remedy));
	DCK_TRY(reader_text(rd, o, reader_either(o, "cause", "under"), OPTIONAL, &n->cause));
	if (mem_arena_failed(rd->arena))
		return DCK_OK;
	const size_t bytes = strlen(n->text), end = n->remedy ? strlen(n->remedy) : 0;
	if (end > 0 && (end + 2 > bytes || memcmp(n->text + bytes - end - 2, "; ", 2) != 0 ||
			strcmp(n->text + bytes - end, n->remedy) != 0))
		return reader_value_error(rd, "remedy",
					  "is not the end of \"text\", after a semicolon");
	n->remedy = n->text + bytes - end;
	n->code = record_renamed_note(n->code);
	n->cause = n->cause ? record_renamed_note(n->cause) : NULL;
	if (!json_is_string(severity))
		return reader_type_error(rd, "severity", severity, "text");
	for (dck_severity s = DCK_INFO; s <= DCK_ERROR; s++) {
		if (strcmp(dck_severity_text(s), jansson->string_value(severity)) == 0) {
			n->severity = s;
			return DCK_OK;
		}
	}
	return reader_value_error(rd, "severity", "is not info, warning or error");
}

static dck_status parse_list_get(record_reader *rd, const json_t *root, const char *name,
				 size_t row_size,
				 dck_status (*get)(record_reader *rd, const json_t *o, void *row),
				 const void **ret, size_t *ret_n)
{
	const json_t *list;
	size_t n;
	DCK_TRY(reader_list(rd, root, name, OPTIONAL, &list, &n));
	if (n > READER_MAX / row_size)
		return reader_rows_error(rd, name);
	char *rows = mem_arena_array(rd->arena, n, row_size);
	if (!rows)
		return DCK_OK;
	rd->list = name;
	for (rd->row = 0; rd->row < n; rd->row++) {
		const json_t *o = jansson->array_get(list, rd->row);
		if (!json_is_object(o))
			return reader_type_error(rd, NULL, o, "an object");
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

static dck_status schema_check(record_reader *rd, const json_t *root, uint32_t *ret)
{
	const json_t *schema = jansson->object_get(root, "schema");
	if (json_is_array(root))
		DCK_FAIL(rd->err, E_FORMAT, "this is a list, not one deepclock record");
	if (!schema)
		DCK_FAIL(rd->err, E_FORMAT,
			 "this is not a deepclock record: it has no member \"schema\"");
	if (!json_is_integer(schema))
		return reader_type_error(rd, "schema", schema, "an integer");
	if (jansson->integer_value(schema) < 1)
		return reader_value_error(rd, "schema", "is below 1");
	if (jansson->integer_value(schema) > (json_int_t)DCK_RECORD_SCHEMA)
		DCK_FAIL(rd->err, E_VERSION,
			 "the record has schema %lld, this deepclock %s reads up to %u; "
			 "a newer deepclock is needed",
			 (long long)jansson->integer_value(schema), dck_version(),
			 DCK_RECORD_SCHEMA);
	*ret = (uint32_t)jansson->integer_value(schema);
	return DCK_OK;
}

static dck_status record_get(record_reader *rd, const json_t *root, dck_record *r)
{
	const json_t *incomplete = jansson->object_get(root, "incomplete");
	const json_t *began = jansson->object_get(root, "began");
	const void *rows;

	DCK_TRY(schema_check(rd, root, &r->schema));
	DCK_TRY(reader_text(rd, root, "deepclock", REQUIRED, &r->version));
	DCK_TRY(reader_text(rd, root, "id", REQUIRED, &r->id));
	DCK_TRY(reader_text(rd, root, "command", OPTIONAL, &r->command));
	if (began && !json_is_string(began))
		return reader_type_error(rd, "began", began, "text");
	if (began && !record_time_parse(jansson->string_value(began), &r->began_unix_ns))
		return reader_value_error(rd, "began",
					  "is not a time such as \"2026-11-21T04:56:52Z\"");
	if (incomplete && !json_is_boolean(incomplete))
		return reader_type_error(rd, "incomplete", incomplete, "true or false");
	r->incomplete = json_is_true(incomplete);
#define LIST(name, type, get)                                                                    \
	do {                                                                                     \
		rows = NULL;                                                                     \
		DCK_TRY(parse_list_get(rd, root, #name, sizeof(type), get, &rows, &r->n##name)); \
		r->name = rows;                                                                  \
	} while (0)
	LIST(facts, dck_fact, fact_get);
	LIST(series, dck_series, series_get);
	LIST(metrics, dck_metric, parse_metric_get);
	LIST(ops, dck_op, op_get);
	LIST(tables, dck_table, reader_table);
	DCK_TRY(reader_names(rd, "tables", r->tables, r->ntables, sizeof *r->tables));
	LIST(trees, dck_tree, reader_tree);
	DCK_TRY(reader_names(rd, "trees", r->trees, r->ntrees, sizeof *r->trees));
	LIST(notes, dck_note, note_get);
#undef LIST
	return DCK_OK;
}

/* Before the parser builds a tree of it: how deep and how large would that be? */
static dck_status size_check(const char *json, size_t n, dck_err *err)
{
	uint64_t lists = 0, values = 0, items = 0;
	bool in_list[DEPTH_MAX + 1] = {false}, in_text = false;
	unsigned depth = 0;

	for (size_t i = 0; i < n; i++) {
		char c = json[i];
		if (in_text) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_text = false;
			continue;
		}
		if (c == '"') {
			in_text = true;
			values += in_list[depth];
		} else if (c == ',' && in_list[depth])
			items++;
		else if (c == ',' || c == ':')
			values++;
		else if (c == '[' || c == '{') {
			lists++;
			if (++depth > DEPTH_MAX)
				DCK_FAIL(err, E_LIMIT,
					 "lists and objects are nested deeper than %d at byte %zu",
					 DEPTH_MAX, i);
			in_list[depth] = c == '[';
		} else if ((c == ']' || c == '}') && depth > 0)
			depth--;
	}
	if (n + lists * NODE_LIST + values * NODE_VALUE + items * NODE_ITEM > READER_MAX)
		DCK_FAIL(err, E_LIMIT,
			 "the record is too large: %" PRIu64 " lists and objects with %" PRIu64
			 " values in %zu bytes would take more than 1 GiB of memory",
			 lists, values + items, n);
	return DCK_OK;
}

/* Refuses a file of another kind by its first bytes, which a parser would call misplaced. */
static dck_status kind_check(const char *bytes, size_t n, dck_err *err)
{
	static const struct {
		const char *begin;
		size_t n;
		const char *text;
	} kinds[] = {
	    {"\x1f\x8b", 2,
	     "this is compressed by gzip: unpack a record first; a compressed trace of Perfetto is "
	     "known by its name, which ends in .pftrace.gz"},
	    {"\x28\xb5\x2f\xfd", 4, "this is compressed by zstd: unpack it first (zstd -d)"},
	    {"\xfd\x37zXZ", 5, "this is compressed by xz: unpack it first (xz -d)"},
	    {"BZh", 3, "this is compressed by bzip2: unpack it first (bzip2 -d)"},
	    {"SQLite format 3", 16,
	     "this is a database of SQLite, not a record: 'deepclock history' reads those of "
	     "deepclock (--db)"},
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (n >= kinds[i].n && memcmp(bytes, kinds[i].begin, kinds[i].n) == 0)
			DCK_FAIL(err, E_FORMAT, "%s", kinds[i].text);
	return DCK_OK;
}

/* Parses the text into a tree, which the caller frees. */
static dck_status tree_read(const char *json, size_t n, json_t **ret, dck_err *err)
{
	static const char mark[] = {'\xef', '\xbb', '\xbf'}; /* of the byte order, in UTF-8 */
	json_error_t at;
	bool no_memory;

	if (n >= sizeof mark && memcmp(json, mark, sizeof mark) == 0) {
		json += sizeof mark;
		n -= sizeof mark;
	}
	if (n == 0)
		DCK_FAIL(err, E_FORMAT, "there is no record: the text is empty");
	DCK_TRY(kind_check(json, n, err));
	DCK_TRY(size_check(json, n, err));
	DCK_TRY(jansson_load(err));
	*ret = jansson_read(json, n, &at, &no_memory);
	if (no_memory)
		DCK_FAIL(err, E_NOMEM, "no memory to read the record");
	if (!*ret && json_error_code(&at) == json_error_null_character)
		DCK_FAIL(err, E_FORMAT,
			 "a text holds the character U+0000, which a record may not contain "
			 "(line %d, column %d)",
			 at.line, at.column);
	if (!*ret)
		DCK_FAIL(err, E_FORMAT, "this is not JSON: %s (line %d, column %d)", at.text,
			 at.line, at.column);
	return DCK_OK;
}

static dck_status record_of_tree(const json_t *root, dck_record **ret, dck_err *err)
{
	record_owner *box = record_box_new();
	if (box)
		mem_arena_limit(box->arena, READER_MAX);
	record_reader rd = {.arena = box ? box->arena : NULL, .err = err};
	dck_status st = DCK_OK;
	if (box)
		st = record_get(&rd, root, &box->record);
	if (st == DCK_OK && (!box || mem_arena_failed(box->arena)))
		st = ERR_SET(err, E_NOMEM, "no memory for the record");
	if (st != DCK_OK) {
		if (box)
			dck_record_free(&box->record);
		return st;
	}
	*ret = &box->record;
	return DCK_OK;
}

dck_status dck_record_parse(const char *json, size_t n, dck_record **ret, dck_err *err)
{
	json_t *root;

	DCK_TRY(tree_read(json, n, &root, err));
	const dck_status status = record_of_tree(root, ret, err);
	jansson->delete (root);
	return status;
}

dck_status record_list_reserve(dck_records *r, size_t n, dck_err *err)
{
	dck_record **grown = mem_resize(r->of, (r->n + n) * sizeof *grown);

	DCK_NEED(grown, err, "for %zu records", r->n + n);
	r->of = grown;
	return DCK_OK;
}

static dck_status records_of_tree(const json_t *root, dck_records *to, dck_err *err)
{
	const size_t n = jansson->array_size(root);

	if (!json_is_array(root)) {
		DCK_TRY(record_list_reserve(to, 1, err));
		DCK_TRY(record_of_tree(root, &to->of[to->n], err));
		to->n++;
		return DCK_OK;
	}
	if (n == 0)
		DCK_FAIL(err, E_FORMAT, "this is a list without a record");
	DCK_TRY(record_list_reserve(to, n, err));
	for (size_t i = 0; i < n; i++) {
		const dck_status status =
		    record_of_tree(jansson->array_get(root, i), &to->of[to->n], err);

		if (status != DCK_OK)
			return err_while(err, status, "reading entry %zu of a list", i + 1);
		to->n++;
	}
	return DCK_OK;
}

dck_status record_list_parse(const char *json, size_t n, dck_records *to, dck_err *err)
{
	json_t *root;

	DCK_TRY(tree_read(json, n, &root, err));
	const dck_status status = records_of_tree(root, to, err);
	jansson->delete (root);
	return status;
}

void dck_records_done(dck_records *r)
{
	for (size_t i = 0; i < r->n; i++)
		dck_record_free(r->of[i]);
	mem_free(r->of);
	*r = (dck_records){0};
}
