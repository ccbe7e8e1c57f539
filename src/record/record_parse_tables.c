/* record_parse_tables.c - parses and validates the tables and trees of a record's JSON.
 *
 * Input is a jansson document of an untrusted file. Everything is checked before it is stored:
 * types, the number of cells in each row, unique names and keys, ascending indices within bounds.
 * The parent of a node must precede it, so a tree has no cycles, and readers of trees can work in
 * one pass.
 *
 * Arrays are allocated after their lengths were checked against the document, whose size is limited
 * (record_parse.c), and from the arena of the reader alone. twin_find() finds duplicates by sorting
 * pointers, O(n log n), since a file may have millions of rows.
 *
 * Errors state the place in the document: rd->list, rd->row, rd->sub and rd->sub_row are set on the
 * way down. Lack of memory is sticky in the arena; these functions then return DCK_OK, and
 * record_parse.c checks once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/record_reader.h"
#include "base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int column_order(const void *a, const void *b)
{
	const dck_column *x = *(const void *const *)a, *y = *(const void *const *)b;
	return strcmp(x->key, y->key);
}

/* Compares rows whose first member is their name. */
static int name_order(const void *a, const void *b)
{
	const char *const *x = *(const void *const *)a, *const *y = *(const void *const *)b;
	return strcmp(*x, *y);
}

/* Returns the index of a row that has the name of another row, or n. Names are for look-ups, so
 * they must be unique. */
static size_t twin_find(record_reader *rd, const void *rows, size_t n, size_t size,
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

static dck_status columns_get(record_reader *rd, const json_t *o, const dck_column **ret,
			      size_t *ret_n)
{
	const json_t *list;
	size_t n;
	DCK_TRY(reader_list(rd, o, "columns", REQUIRED, &list, &n));
	if (n == 0)
		return reader_value_error(rd, "columns", "is empty: there is at least one");
	dck_column *columns = mem_arena_array(rd->arena, n, sizeof *columns);
	if (!columns)
		return DCK_OK; /* the arena has failed */
	rd->sub = "columns";
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++) {
		const json_t *c = jansson->array_get(list, rd->sub_row);
		dck_column *own = &columns[rd->sub_row];
		if (!json_is_object(c))
			return reader_type_error(rd, NULL, c, "an object");
		DCK_TRY(reader_text(rd, c, "key", REQUIRED, &own->key));
		DCK_TRY(reader_text(rd, c, "title", REQUIRED, &own->title));
		DCK_TRY(reader_unit(rd, c, &own->unit));
	}
	rd->sub_row = twin_find(rd, columns, n, sizeof *columns, column_order);
	if (rd->sub_row < n)
		return reader_value_error(rd, "key", "is that of another column too");
	rd->sub = NULL;
	*ret = columns;
	*ret_n = n;
	return DCK_OK;
}

/* Reads a cell: a value, or an object with a value and its interval, or with the reason why it is
 * absent. */
static dck_status cell_get(record_reader *rd, const json_t *v, const dck_column *column,
			   dck_cell *cell)
{
	const bool text_is_int = column->unit != DCK_UNIT_NONE;

	if (!json_is_object(v))
		return reader_bare(rd, NULL, v, text_is_int, &cell->value);
	DCK_TRY(reader_value(rd, v, text_is_int, &cell->value));
	DCK_TRY(reader_interval(rd, v, RECORD_INTERVAL, &cell->lo, &cell->hi, &cell->level));
	if (cell->level > 0 && cell->value.kind != DCK_VALUE_INT &&
	    cell->value.kind != DCK_VALUE_REAL)
		return reader_value_error(rd, NULL, "has an interval and no number");
	return DCK_OK;
}

static dck_status cells_get(record_reader *rd, const json_t *row, const dck_table *t,
			    dck_cell *cells)
{
	rd->in_cell = true;
	for (rd->cell = 0; rd->cell < t->ncolumns; rd->cell++)
		DCK_TRY(cell_get(rd, jansson->array_get(row, rd->cell), &t->columns[rd->cell],
				 &cells[rd->cell]));
	rd->in_cell = false;
	return DCK_OK;
}

static dck_status rows_get(record_reader *rd, const json_t *o, dck_table *t)
{
	const json_t *list;
	size_t n;
	DCK_TRY(reader_list(rd, o, "rows", REQUIRED, &list, &n));
	rd->sub = "rows";
	/* Checked before the allocation, which then has exactly the cells of the document. */
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++) {
		const json_t *row = jansson->array_get(list, rd->sub_row);
		char what[80];
		if (!json_is_array(row))
			return reader_type_error(rd, NULL, row, "a list");
		snprintf(what, sizeof what, "has %zu cells, the table has %zu columns",
			 jansson->array_size(row), t->ncolumns);
		if (jansson->array_size(row) != t->ncolumns)
			return reader_value_error(rd, NULL, what);
	}
	dck_cell *cells = mem_arena_array(rd->arena, n * t->ncolumns, sizeof *cells);
	if (!cells)
		return DCK_OK; /* the arena has failed */
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++)
		DCK_TRY(cells_get(rd, jansson->array_get(list, rd->sub_row), t,
				  &cells[rd->sub_row * t->ncolumns]));
	rd->sub = NULL;
	t->cells = cells;
	t->nrows = n;
	return DCK_OK;
}

/* Reads ascending indices, each below `limit`. */
static dck_status indices_get(record_reader *rd, const json_t *o, const char *key, size_t limit,
			      const uint32_t **ret, size_t *ret_n)
{
	const json_t *list;
	size_t n;
	DCK_TRY(reader_list(rd, o, key, OPTIONAL, &list, &n));
	uint32_t *all = mem_arena_array(rd->arena, n, sizeof *all);
	if (!all)
		return DCK_OK; /* the arena has failed */
	uint64_t least = 0, v = 0;
	rd->sub = key;
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++) {
		if (!reader_uint_of(jansson->array_get(list, rd->sub_row), &v))
			return reader_type_error(rd, NULL, jansson->array_get(list, rd->sub_row),
						 "an integer");
		if (v < least || v >= limit || v > UINT32_MAX)
			return reader_value_error(
			    rd, NULL,
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

dck_status reader_table(record_reader *rd, const json_t *o, void *row)
{
	dck_table *t = row;

	DCK_TRY(reader_text(rd, o, "name", REQUIRED, &t->name));
	DCK_TRY(reader_text(rd, o, "title", REQUIRED, &t->title));
	DCK_TRY(columns_get(rd, o, &t->columns, &t->ncolumns));
	if (mem_arena_failed(rd->arena))
		return DCK_OK;
	DCK_TRY(rows_get(rd, o, t));
	DCK_TRY(indices_get(rd, o, reader_either(o, "summary_columns", "brief_columns"),
			    t->ncolumns, &t->summary_columns, &t->nsummary_columns));
	return indices_get(rd, o, reader_either(o, "summary_rows", "brief_rows"), t->nrows,
			   &t->summary_rows, &t->nsummary_rows);
}

/* Tables and trees are looked up by their names, so names are unique. */
dck_status reader_names(record_reader *rd, const char *list, const void *rows, size_t n,
			size_t size)
{
	if (mem_arena_failed(rd->arena))
		return DCK_OK;
	rd->list = list;
	rd->row = twin_find(rd, rows, n, size, name_order);
	if (rd->row < n)
		return reader_value_error(rd, "name", "is a duplicate");
	rd->list = NULL;
	return DCK_OK;
}

/* --- trees */

/* Returns whether v is an integer from `least` to `most`. */
static bool index_of(const json_t *v, json_int_t least, json_int_t most)
{
	return json_is_integer(v) && jansson->integer_value(v) >= least &&
	       jansson->integer_value(v) <= most;
}

/* Reads a node: its parent, its frame, and a weight for each column. */
static dck_status node_get(record_reader *rd, const json_t *row, const dck_tree *t,
			   dck_tree_node *node, double *weights)
{
	if (!json_is_array(row) || jansson->array_size(row) != t->ncolumns + 2)
		return reader_value_error(
		    rd, NULL, "is not a list of a parent, a frame and a weight for each column");
	const json_t *parent = jansson->array_get(row, 0), *frame = jansson->array_get(row, 1);
	if (!index_of(parent, -1, (json_int_t)rd->sub_row - 1))
		return reader_value_error(rd, NULL, "has a parent that does not precede it");
	if (!index_of(frame, 0, (json_int_t)t->nframes - 1))
		return reader_value_error(rd, NULL, "has a frame that there is not");
	node->parent = jansson->integer_value(parent) < 0
			   ? DCK_TREE_ROOT
			   : (uint32_t)jansson->integer_value(parent);
	node->frame = (uint32_t)jansson->integer_value(frame);
	for (size_t k = 0; k < t->ncolumns; k++) {
		const json_t *v = jansson->array_get(row, k + 2);
		if (!json_is_number(v))
			return reader_value_error(rd, NULL, "has a weight that is not a number");
		weights[k] = jansson->number_value(v);
	}
	return DCK_OK;
}

/* Reads a frame; in older versions it is its name alone. */
static dck_status tables_frame_get(record_reader *rd, const json_t *o, dck_frame *ret)
{
	uint64_t line = 0, start_line = 0;

	if (json_is_string(o)) {
		ret->name = reader_keep(rd, o);
		return DCK_OK;
	}
	if (!json_is_object(o))
		return reader_type_error(rd, NULL, o, "an object or text");
	DCK_TRY(reader_text(rd, o, "name", REQUIRED, &ret->name));
	DCK_TRY(reader_text(rd, o, "file", OPTIONAL, &ret->file));
	DCK_TRY(reader_text(rd, o, "module", OPTIONAL, &ret->module));
	DCK_TRY(reader_uint(rd, o, "line", OPTIONAL, UINT32_MAX, &line));
	DCK_TRY(reader_uint(rd, o, "start_line", OPTIONAL, UINT32_MAX, &start_line));
	ret->line = (uint32_t)line;
	ret->start_line = (uint32_t)start_line;
	return DCK_OK;
}

static dck_status frames_get(record_reader *rd, const json_t *o, dck_tree *t)
{
	const json_t *list;
	size_t n;

	DCK_TRY(reader_list(rd, o, "frames", REQUIRED, &list, &n));
	dck_frame *frames = mem_arena_array(rd->arena, n, sizeof *frames);
	if (!frames)
		return DCK_OK; /* the arena has failed */
	rd->sub = "frames";
	for (rd->sub_row = 0; rd->sub_row < n; rd->sub_row++)
		DCK_TRY(tables_frame_get(rd, jansson->array_get(list, rd->sub_row),
					 &frames[rd->sub_row]));
	rd->sub = NULL;
	t->frames = frames;
	t->nframes = n;
	return DCK_OK;
}

dck_status reader_tree(record_reader *rd, const json_t *o, void *row)
{
	dck_tree *t = row;
	const json_t *list;
	size_t n;

	DCK_TRY(reader_text(rd, o, "name", REQUIRED, &t->name));
	DCK_TRY(reader_text(rd, o, "title", REQUIRED, &t->title));
	DCK_TRY(columns_get(rd, o, &t->columns, &t->ncolumns));
	DCK_TRY(frames_get(rd, o, t));
	DCK_TRY(reader_list(rd, o, "nodes", REQUIRED, &list, &n));
	if (n >= DCK_TREE_ROOT || n > READER_MAX / sizeof(double) / (t->ncolumns + 1))
		return reader_rows_error(rd, "nodes");
	dck_tree_node *nodes = mem_arena_array(rd->arena, n, sizeof *nodes);
	double *weights = mem_arena_array(rd->arena, n * t->ncolumns, sizeof *weights);
	if (!nodes || !weights || mem_arena_failed(rd->arena))
		return DCK_OK; /* the arena has failed */
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
