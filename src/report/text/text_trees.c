/* text_trees.c - the call trees of a record, heaviest paths first, with their self and total
 * weights.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/sink.h"
#include "record/tree/tree_rows.h"
#include "record/tree/module_tree.h"
#include "report/text/grid.h"
#include "report/text/text_parts.h"
#include "base/err.h"
#include <string.h>

enum { TREE_ROWS_MAX = 60, LEVEL_INDENT = 2, LEVELS_MAX = 41, TREE_NAME_MIN = 20 };
/* Paths that weigh less of the whole are left out. */
static const double share_min = 0.005;

typedef struct tree_view {
	const dck_tree *t;
	call_tree c;
	tree_rows rows;
	size_t column; /* the weight that counts */
	double all;
} tree_view;

static void trees_row_name(const void *self, size_t row, grid_name *ret)
{
	const tree_view *v = self;
	const char *text = v->t->frames[v->t->nodes[v->rows.rows[row].node].frame].name;

	*ret = (grid_name){
	    .text = text, .bytes = strlen(text), .indent = LEVEL_INDENT * v->rows.rows[row].level};
}

/* With all below it, its share of the whole, then the weights. */
static const char *row_cell(const void *self, size_t row, size_t col, char *buf)
{
	const tree_view *v = self;
	const dck_tree *t = v->t;
	const size_t node = v->rows.rows[row].node;
	const double whole = v->c.total[node * t->ncolumns + v->column];

	if (col == 0)
		return format_number(whole, t->columns[v->column].unit, buf);
	if (col == 1)
		return v->all > 0 ? format_percent(whole / v->all, buf) : "";
	return format_number(t->weights[node * t->ncolumns + col - 2], t->columns[col - 2].unit,
			     buf);
}

static void trees_tree_put(page *p, tree_view *v)
{
	grid_col heads[GRID_COLS_MAX] = {{.title = "total"}, {.title = "share", .rank = 1}};
	const size_t weights =
	    v->t->ncolumns < GRID_COLS_MAX - 2 ? v->t->ncolumns : GRID_COLS_MAX - 2;
	const grid g = {.title = "path",
			.name_min = TREE_NAME_MIN,
			.cols = heads,
			.ncols = weights + 2,
			.nrows = v->rows.n,
			.self = v,
			.name = trees_row_name,
			.cell = row_cell};

	for (size_t i = 0; i < weights; i++)
		heads[i + 2] = (grid_col){.title = v->t->columns[i].title, .rank = 2};
	text_title(p, v->t->title);
	grid_put(p, &g);
	if (v->rows.left_out > 0) {
		page_fmt(p,
			 "  left out: %zu path%s with all below them, of less than %s %% or "
			 "beyond %d rows and %d levels",
			 v->rows.left_out, v->rows.left_out == 1 ? "" : "s",
			 DECIMAL_TEXT(6, 100 * share_min), TREE_ROWS_MAX, LEVELS_MAX - 1);
		page_line(p);
	}
}

static dck_status trees_view_put(page *p, const dck_tree *t, dck_err *err)
{
	tree_view v = {.t = t};
	dck_status status = call_tree_open(&v.c, t, err);

	DCK_NEXT(status, call_tree_weight(t, NULL, &v.column, err));
	DCK_NEXT(status, tree_rows_find(&v.rows, &v.c,
					&(tree_rows_how){.column = v.column,
							 .most = TREE_ROWS_MAX,
							 .levels = LEVELS_MAX,
							 .share_min = share_min},
					err));
	if (status == DCK_OK) {
		v.all = call_tree_sum(&v.c, v.column);
		trees_tree_put(p, &v);
	}
	tree_rows_done(&v.rows);
	call_tree_done(&v.c);
	return status;
}

/* The tree of two records that were compared is in their tables, that of operators in theirs. */
static bool is_told(const dck_record *r, const dck_tree *t)
{
	return strcmp(t->name, "diff") == 0 ||
	       (strcmp(t->title, MODULE_TREE_TITLE) == 0 && r->nops > 0);
}

void text_trees(page *p, const dck_record *r)
{
	dck_err err;

	for (size_t i = 0; i < r->ntrees; i++)
		if (r->trees[i].nnodes > 0 && !is_told(r, &r->trees[i]) &&
		    trees_view_put(p, &r->trees[i], &err) != DCK_OK)
			sink_fail(p->out, &err);
}
