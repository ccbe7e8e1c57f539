/* call_table.c - functions of a call tree as a table: columns computed from sums, then sorted.
 *
 * A column is a description (call_column): a weight of the tree, and what to make of it (self,
 * total, share, per call). tree_value_of() computes a value in O(1) from the sums of
 * function_weights.c, for sorting and for printing alike. Functions whose self and total columns
 * are all 0 are left out, unless keep_zeros.
 *
 * The order is total, because qsort(3) is not stable: a text or line if requested, then the sort
 * column descending, then the number of the function. NaN (a share of a whole of 0, a time per call
 * without calls) sorts last, and is written as absent with the reason. Words of pstats (ncalls,
 * tottime, cumtime) name the same columns.
 *
 * Time is O(n log n); memory is one array of rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/call_table.h"
#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 16 };

typedef struct table table;

typedef struct table_row {
	const table *table;
	double key;
	uint32_t function;
} table_row;

struct table {
	const call_tree *c;
	const function_weights *sums;
	const call_table *how;
	double whole[COLUMNS_MAX]; /* the whole of the shares in each column */
	table_row *rows;
	size_t nrows;
};

static const dck_frame *tree_frame_of(const table *t, uint32_t function)
{
	static const dck_frame none;

	return function < t->c->nfunctions ? &t->c->functions[function].frame : &none;
}

/* Returns the value of a function in the column of that index. */
static double tree_value_of(const table *t, uint32_t function, size_t column)
{
	const call_column *what = &t->how->columns[column];
	const size_t n = t->c->t->ncolumns, at = function * n + what->weight;
	const size_t calls = function * n + t->how->calls;

	switch (what->of) {
	case CALL_SELF:
		return t->sums->self[at];
	case CALL_TOTAL:
		return t->sums->total[at];
	case CALL_SELF_SHARE:
		return t->sums->self[at] / t->whole[column];
	case CALL_TOTAL_SHARE:
		return t->sums->total[at] / t->whole[column];
	case CALL_SELF_EACH:
		return t->sums->self[at] / t->sums->self[calls];
	case CALL_TOTAL_EACH:
		return t->sums->total[at] / t->sums->outer[calls];
	case CALL_OUTER:
		return t->sums->outer[at];
	}
	return NAN;
}

/* --- the order */

/* Returns the key for a word of pstats, or the word itself. */
static const char *plain_word(const char *word)
{
	static const char *const same[][2] = {{"ncalls", "calls"},  {"pcalls", "primitive"},
					      {"tottime", "self"},  {"time", "self"},
					      {"cumtime", "total"}, {"cumulative", "total"}};

	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		if (strcmp(word, same[i][0]) == 0)
			return same[i][1];
	return word;
}

static const char *const order_names[] = {[CALL_BY_NAME] = "name",
					  [CALL_BY_FILE] = "file",
					  [CALL_BY_LINE] = "line",
					  [CALL_BY_MODULE] = "module"};

const char *call_table_order(const call_table *how)
{
	return how->order == CALL_BY_COLUMN ? how->columns[how->sort].title
					    : order_names[how->order];
}

dck_status call_table_sort(call_table *how, const char *word, dck_err *err)
{
	const char *key = word;

	for (size_t i = 0; i < sizeof order_names / sizeof order_names[0]; i++)
		if (order_names[i] && strcmp(word, order_names[i]) == 0) {
			how->order = (call_order)i;
			return DCK_OK;
		}
	for (size_t pass = 0; pass < 2; pass++, key = plain_word(word))
		for (size_t k = 0; k < how->ncolumns; k++)
			if (strcmp(how->columns[k].key, key) == 0) {
				how->sort = k;
				return DCK_OK;
			}
	DCK_FAIL(err, E_ARG, "the table '%s' cannot be sorted by '%s'", how->title, word);
}

/* Compares texts; an unknown one (NULL) is last. */
static int texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a == NULL) - (b == NULL);
	return strcmp(a, b);
}

static uint32_t tree_line_of(const dck_frame *f)
{
	return f->start_line ? f->start_line : f->line;
}

static int tree_in_order(const void *a, const void *b)
{
	const table_row *x = a, *y = b;
	const dck_frame *f = tree_frame_of(x->table, x->function),
			*g = tree_frame_of(y->table, y->function);
	const uint32_t fl = tree_line_of(f), gl = tree_line_of(g);
	int by = 0;

	switch (x->table->how->order) {
	case CALL_BY_NAME:
		by = texts(f->name, g->name);
		break;
	case CALL_BY_FILE:
		by = texts(f->file, g->file);
		by = by ? by : (fl > gl) - (fl < gl);
		break;
	case CALL_BY_LINE:
		by = (fl > gl) - (fl < gl);
		break;
	case CALL_BY_MODULE:
		by = texts(f->module, g->module);
		break;
	case CALL_BY_COLUMN:
		break;
	}
	if (by == 0 && x->key != y->key)
		by = x->key > y->key ? -1 : 1;
	return by ? by : (x->function > y->function) - (x->function < y->function);
}

/* Returns why a function's number is not known; NULL: it is. */
static const char *tree_unknown(const table *t, uint32_t function, const call_column *column)
{
	const size_t n = t->c->t->ncolumns, k = call_tree_unknown(t->c->t, column->weight);
	const double *weights = column->of == CALL_SELF ? t->sums->self : t->sums->total;

	if (k == n)
		return NULL;
	if (column->of == CALL_SELF_SHARE || column->of == CALL_TOTAL_SHARE)
		return call_tree_sum(t->c, k) > 0 ? CALL_UNKNOWN_WHOLE : NULL;
	return weights[function * n + k] > 0 ? CALL_UNKNOWN_WHY : NULL;
}

static void table_rows_find(table *t)
{
	const call_table *how = t->how;
	const size_t n = how->last ? t->sums->n : t->c->nfunctions;

	for (uint32_t f = 0; f < n; f++) {
		bool any = how->keep_zeros;

		for (size_t k = 0; k < how->ncolumns && !any; k++)
			any = how->columns[k].of <= CALL_TOTAL &&
			      (tree_value_of(t, f, k) != 0 || tree_unknown(t, f, &how->columns[k]));
		if (any && t->sums->paths[f] > 0)
			t->rows[t->nrows++] = (table_row){t, tree_value_of(t, f, how->sort), f};
	}
	for (size_t i = 0; i < t->nrows; i++)
		if (isnan(t->rows[i].key))
			t->rows[i].key = -INFINITY;
	qsort(t->rows, t->nrows, sizeof *t->rows, tree_in_order);
}

/* --- the record's table */

static void tree_text_put(record_builder *b, const char *text)
{
	record_cell(b, text ? RECORD_TEXT(text) : RECORD_ABSENT("not known"));
}

/* Returns whether the cell was an estimate. */
static bool tree_estimate_put(record_builder *b, const table *t, uint32_t function, size_t column)
{
	const call_table *how = t->how;
	const call_column *what = &how->columns[column];
	const double *weights = what->of == CALL_SELF ? t->sums->self : t->sums->total;
	double lo, hi, v;

	if (!how->interval || what->of > CALL_TOTAL ||
	    !how->interval(how->interval_self, weights + function * t->c->t->ncolumns, what->weight,
			   &lo, &hi))
		return false;
	v = tree_value_of(t, function, column);
	if (v > 0)
		record_cell_interval(b, v, lo, hi, how->level);
	else
		record_cell_absent(b, how->unseen);
	return true;
}

static void tree_number_put(record_builder *b, double v, const call_column *column)
{
	const bool counted = (column->unit == DCK_UNIT_ONE || column->unit == DCK_UNIT_BYTE) &&
			     v == floor(v) && fabs(v) < 9e15;

	if (counted) /* is shown as a count */
		record_cell_int(b, (int64_t)v);
	else if (isfinite(v))
		record_cell_real(b, v);
	else
		record_cell_absent(b, column->of <= CALL_TOTAL_SHARE ? "the whole is 0"
								     : "no calls were counted");
}

static void tree_table_put(const table *t, record_builder *b)
{
	const call_table *how = t->how;
	const size_t n = how->top && how->top < t->nrows ? how->top : t->nrows;
	dck_column columns[COLUMNS_MAX + 4] = {{"name", "function", DCK_UNIT_NONE}};
	bool file = false, line = false, module = false;
	size_t ncolumns = 1;
	char title[400];

	for (size_t k = 0; k < how->ncolumns; k++)
		columns[ncolumns++] =
		    (dck_column){how->columns[k].key, how->columns[k].title, how->columns[k].unit};
	for (size_t i = 0; i < t->c->t->nframes; i++) {
		file |= t->c->t->frames[i].file != NULL;
		line |= tree_line_of(&t->c->t->frames[i]) > 0;
		module |= t->c->t->frames[i].module != NULL;
	}
	if (file)
		columns[ncolumns++] = (dck_column){"file", "file", DCK_UNIT_NONE};
	if (line)
		columns[ncolumns++] = (dck_column){"line", "line", DCK_UNIT_NONE};
	if (module)
		columns[ncolumns++] = (dck_column){"module", "module", DCK_UNIT_NONE};
	snprintf(title, sizeof title, "%.300s", how->title);
	if (n < t->nrows)
		snprintf(title, sizeof title, "%.300s (the first %zu of %zu)", how->title, n,
			 t->nrows);
	record_table(b, how->name, title, columns, ncolumns);
	record_table_reserve(b, n);
	for (size_t i = 0; i < n; i++) {
		const uint32_t function = t->rows[i].function;
		const dck_frame *f = tree_frame_of(t, function);

		record_cell_text(b, f->name ? f->name : how->last);
		for (size_t k = 0; k < how->ncolumns; k++)
			if (tree_unknown(t, function, &how->columns[k]))
				record_cell_absent(b, tree_unknown(t, function, &how->columns[k]));
			else if (!tree_estimate_put(b, t, function, k))
				tree_number_put(b, tree_value_of(t, function, k), &how->columns[k]);
		if (file)
			tree_text_put(b, f->file);
		if (line && tree_line_of(f))
			record_cell_int(b, tree_line_of(f));
		else if (line)
			record_cell_absent(b, "not known");
		if (module)
			tree_text_put(b, f->module);
		if (i < how->brief)
			record_summary_row(b);
	}
}

dck_status call_table_rows(const call_tree *c, const function_weights *s, const call_table *how,
			   record_builder *b, dck_err *err)
{
	table t = {.c = c, .sums = s, .how = how};

	if (how->ncolumns > COLUMNS_MAX)
		DCK_FAIL(err, E_LIMIT, "a table of functions has at most %d columns", COLUMNS_MAX);
	t.rows = mem_zalloc(s->n, sizeof *t.rows);
	DCK_NEED(t.rows, err, "for a table of functions");
	for (size_t k = 0; k < how->ncolumns; k++)
		t.whole[k] =
		    how->whole != 0 ? how->whole : call_tree_sum(c, how->columns[k].weight);
	table_rows_find(&t);
	tree_table_put(&t, b);
	mem_free(t.rows);
	return DCK_OK;
}

dck_status call_table_put(const dck_tree *tree, const call_table *how, record_builder *b,
			  dck_err *err)
{
	function_weights sums = {0};
	call_tree c;

	DCK_TRY(call_tree_open(&c, tree, err));
	dck_status status = function_weights_init(&sums, &c, err);
	if (status == DCK_OK) {
		function_weights_all(&sums, &c);
		status = call_table_rows(&c, &sums, how, b, err);
	}
	function_weights_done(&sums);
	call_tree_done(&c);
	return status;
}
