/* text_trees.c - the trees of a record: call paths, those that weigh most first, with what each
 * weighs itself and with all below it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/sink.h"
#include "report/text/grid.h"
#include "report/text/text_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 60, INDENT = 2, INDENT_MAX = 40, NAME_MIN = 20 };
/* Paths that weigh less of the whole are left out. */
static const double share_min = 0.005;

typedef struct view {
	const dck_tree *t;
	double *whole; /* of each node and all below it, by the last of its weights */
	uint32_t *order, *depth;
	size_t rows[ROWS_MAX], nrows, left_out;
	double all;
} view;

/* The tree whose nodes are being sorted: qsort() passes nothing on. */
static _Thread_local const view *sorting;

static double own(const dck_tree *t, size_t node)
{
	return t->weights[node * t->ncolumns + t->ncolumns - 1];
}

/* Children of one parent stand together, the heaviest first. */
static int by_parent(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint32_t px = sorting->t->nodes[x].parent, py = sorting->t->nodes[y].parent;
	const double wx = sorting->whole[x], wy = sorting->whole[y];

	if (px != py)
		return px < py ? -1 : 1;
	if (wx != wy)
		return wx > wy ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The first in the order whose parent is not before that one. */
static size_t first_of(const view *v, uint32_t parent)
{
	size_t low = 0, high = v->t->nnodes;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (v->t->nodes[v->order[middle]].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Rows from the outermost on; each path's children follow it. No recursion: a hostile tree may be
 * as deep as it has nodes. */
static void rows_find(view *v)
{
	size_t next[INDENT_MAX + 1], level = 0;
	uint32_t parent[INDENT_MAX + 1] = {DCK_TREE_ROOT};

	next[0] = first_of(v, DCK_TREE_ROOT);
	for (;;) {
		const size_t at = next[level];

		if (at >= v->t->nnodes || v->t->nodes[v->order[at]].parent != parent[level]) {
			if (level == 0)
				return;
			level--;
			continue;
		}
		next[level]++;
		const uint32_t node = v->order[at];
		if (v->nrows == ROWS_MAX || v->whole[node] < share_min * v->all) {
			v->left_out++;
			continue;
		}
		v->depth[node] = (uint32_t)level;
		v->rows[v->nrows++] = node;
		const size_t child = first_of(v, node);
		if (level < INDENT_MAX) {
			parent[++level] = node;
			next[level] = child;
		} else if (child < v->t->nnodes && v->t->nodes[v->order[child]].parent == node) {
			v->left_out++;
		}
	}
}

static void weigh(view *v)
{
	const dck_tree *t = v->t;

	for (size_t i = t->nnodes; i-- > 0;) { /* children stand behind their parents */
		v->whole[i] += own(t, i);
		if (t->nodes[i].parent == DCK_TREE_ROOT)
			v->all += v->whole[i];
		else
			v->whole[t->nodes[i].parent] += v->whole[i];
	}
	for (size_t i = 0; i < t->nnodes; i++)
		v->order[i] = (uint32_t)i;
	sorting = v;
	qsort(v->order, t->nnodes, sizeof *v->order, by_parent);
	rows_find(v);
}

static void row_name(const void *self, size_t row, grid_name *ret)
{
	const view *v = self;
	const size_t node = v->rows[row];

	ret->text = v->t->frames[v->t->nodes[node].frame];
	ret->bytes = strlen(ret->text);
	ret->indent = INDENT * v->depth[node];
}

/* With all below it, its share of the whole, then the weights. */
static const char *row_cell(const void *self, size_t row, size_t col, char *buf)
{
	const view *v = self;
	const dck_tree *t = v->t;
	const size_t node = v->rows[row];

	if (col == 0)
		return format_number(v->whole[node], t->columns[t->ncolumns - 1].unit, buf);
	if (col == 1)
		return v->all > 0 ? format_percent(v->whole[node] / v->all, buf) : "";
	return format_number(t->weights[node * t->ncolumns + col - 2], t->columns[col - 2].unit,
			     buf);
}

static void tree_put(page *p, view *v)
{
	grid_col heads[GRID_COLS_MAX] = {{.title = "total"}, {.title = "share", .rank = 1}};
	const size_t weights =
	    v->t->ncolumns < GRID_COLS_MAX - 2 ? v->t->ncolumns : GRID_COLS_MAX - 2;
	const grid g = {.title = "path",
			.name_min = NAME_MIN,
			.cols = heads,
			.ncols = weights + 2,
			.nrows = v->nrows,
			.self = v,
			.name = row_name,
			.cell = row_cell};

	for (size_t i = 0; i < weights; i++)
		heads[i + 2] = (grid_col){.title = v->t->columns[i].title, .rank = 2};
	text_title(p, v->t->title);
	grid_put(p, &g);
	if (v->left_out > 0) {
		page_fmt(p,
			 "  left out: %zu path%s with all below them, of less than %g %% or "
			 "beyond %d rows and %d levels",
			 v->left_out, v->left_out == 1 ? "" : "s", 100 * share_min, ROWS_MAX,
			 INDENT_MAX);
		page_line(p);
	}
}

void text_trees(page *p, const dck_record *r)
{
	for (size_t i = 0; i < r->ntrees; i++) {
		const dck_tree *t = &r->trees[i];
		view v = {.t = t,
			  .whole = mem_zalloc(t->nnodes, sizeof *v.whole),
			  .order = mem_zalloc(t->nnodes, sizeof *v.order),
			  .depth = mem_zalloc(t->nnodes, sizeof *v.depth)};

		if (!v.whole || !v.order || !v.depth) {
			sink_fail(p->out,
				  &(dck_err){.code = DCK_E_NOMEM, .msg = "no memory for a tree"});
		} else if (t->nnodes > 0) {
			weigh(&v);
			tree_put(p, &v);
		}
		mem_free(v.whole);
		mem_free(v.order);
		mem_free(v.depth);
	}
}
