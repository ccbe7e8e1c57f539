/* markdown_ops.c - operators by type, individually, and by module: the most requested columns. CSV
 * has all of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/units.h"
#include "base/sink.h"
#include "deepclock/opt.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/ops.h"
#include <stdio.h>
#include <string.h>

#define TOP_DEFAULT 20

typedef struct ops_view {
	bool timed;
	const ops_group *group; /* NULL: nodes */
	const ops_row *rows;
	ops_row total;
	size_t shown;
	column_scale time, moved; /* of one table */
} ops_view;

enum { OP_NAME, OP_KIND, OP_TIME, OP_SHARE, OP_MACS, OP_FLOPS, OP_PARAMS, OP_MOVED, OP_COLS };

/* Times are a column only where there are any. */
static size_t markdown_column_of(const ops_view *v, size_t col)
{
	return v->timed || col < OP_TIME ? col : col + 1;
}

static const char *op_head(const void *self, size_t col, char *buf)
{
	static const char *const heads[] = {"",	    "",	     "time",   "share",
					    "MACs", "FLOPs", "params", "moved"};
	const ops_view *v = self;
	const size_t own = markdown_column_of(v, col);

	if (own == OP_NAME)
		return v->group ? v->group->head : "operator";
	if (own == OP_KIND)
		return v->group ? "nodes" : "type";
	const char *unit = own == OP_TIME ? v->time.unit : own == OP_MOVED ? v->moved.unit : "";
	if (!*unit)
		return heads[own];
	snprintf(buf, MARKDOWN_CELL, "%s [%s]", heads[own], unit);
	return buf;
}

static const char *sum_text(const ops_sum *s, const char *number, char *buf)
{
	if (s->known == 0)
		return s->unknown > 0 ? "?" : "";
	snprintf(buf, MARKDOWN_CELL, "%s%s", s->unknown > 0 ? ">= " : "", number);
	return buf;
}

static const char *name_text(const ops_view *v, const ops_row *row, char *buf)
{
	if (row == &v->total)
		return "total";
	if (row->name_bytes == 0)
		return v->group ? v->group->nameless : "(no name)";
	const size_t bytes = v->group ? row->path_bytes : row->name_bytes;

	snprintf(buf, MARKDOWN_CELL, "%.*s",
		 (int)(bytes < MARKDOWN_CELL ? bytes : MARKDOWN_CELL - 1),
		 v->group ? row->path : row->name);
	return buf;
}

static const char *op_cell(const void *self, size_t row, size_t col, char *buf)
{
	const ops_view *v = self;
	const ops_row *r = row < v->shown ? &v->rows[row] : &v->total;
	const ops_field ranked = v->timed ? OPS_TIME : OPS_MACS;
	char text[FORMAT_SIZE];
	ops_sum moved;
	double all;

	switch (markdown_column_of(v, col)) {
	case OP_NAME:
		return name_text(v, r, buf);
	case OP_KIND:
		if (!v->group)
			return r == &v->total ? "" : r->first->type;
		return dck_text_count((int64_t)r->n, buf, MARKDOWN_CELL);
	case OP_TIME:
		return sum_text(
		    &r->sum[OPS_TIME],
		    column_scale_number(&v->time, ops_sum_value(&r->sum[OPS_TIME]), text), buf);
	case OP_SHARE:
		all = ops_sum_value(&v->total.sum[ranked]);
		return all > 0 && r->sum[ranked].known > 0
			   ? format_percent(ops_sum_value(&r->sum[ranked]) / all, buf)
			   : "";
	case OP_MOVED:
		moved = ops_row_bytes(r);
		return sum_text(&moved, column_scale_number(&v->moved, ops_sum_value(&moved), text),
				buf);
	default: {
		const ops_sum *s = &r->sum[markdown_column_of(v, col) == OP_MACS    ? OPS_MACS
					   : markdown_column_of(v, col) == OP_FLOPS ? OPS_FLOPS
										    : OPS_PARAMS];

		return sum_text(s, dck_text_si(ops_sum_value(s), "", text, sizeof text), buf);
	}
	}
}

static bool op_right(const void *self, size_t col)
{
	return col > OP_KIND || (col == OP_KIND && ((const ops_view *)self)->group);
}

static void markdown_ops_table_put(dck_sink *out, ops_view *v, const ops_row *rows, size_t n,
				   uint64_t top)
{
	const markdown_table table = {.nrows = (n < top ? n : (size_t)top) + 1,
				      .ncols = v->timed ? OP_COLS : OP_COLS - 1,
				      .self = v,
				      .head = op_head,
				      .cell = op_cell,
				      .right = op_right};

	column_range time = {.whole = true}, moved = time;

	v->rows = rows;
	v->shown = table.nrows - 1;
	for (size_t i = 0; i <= v->shown; i++) {
		const ops_row *row = i < v->shown ? &rows[i] : &v->total;
		const ops_sum bytes = ops_row_bytes(row);

		ops_sum_range_add(&row->sum[OPS_TIME], &time);
		ops_sum_range_add(&bytes, &moved);
	}
	v->time = column_scale_of(&time, DCK_UNIT_NS, false);
	v->moved = column_scale_of(&moved, DCK_UNIT_BYTE, false);
	markdown_table_put(out, &table);
	if (v->shown < n)
		sink_fmt(out, "%zu %s more\n\n", n - v->shown,
			 COUNTED(n - v->shown, "row", "rows"));
}

static void markdown_nodes_put(dck_sink *out, const dck_record *r, ops_view *v,
			       const dck_op_view *asked, uint64_t top)
{
	const dck_op **ops = ops_by_node(r, asked->sort);
	const size_t n = top < r->nops ? (size_t)top : r->nops;
	ops_row *rows = ops ? mem_zalloc(n + 1, sizeof *rows) : NULL;

	if (!rows) {
		markdown_no_memory(out);
	} else {
		for (size_t i = 0; i < n; i++)
			ops_row_init(&rows[i], ops[i]);
		v->group = NULL;
		markdown_ops_table_put(out, v, rows, r->nops, top);
	}
	mem_free(rows);
	mem_free(ops);
}

static void markdown_group_put(dck_sink *out, const dck_record *r, ops_view *v,
			       const dck_op_view *asked, uint64_t top, const ops_group *group)
{
	ops_rows rows;

	if (!group->rows(r, asked->sort, (size_t)top, &rows)) {
		markdown_no_memory(out);
		return;
	}
	v->group = group;
	/* A single row without a name has no information. */
	if (!group->none || rows.n > 1 || (rows.n > 0 && rows.rows[0].name_bytes > 0))
		markdown_ops_table_put(out, v, rows.rows, rows.n, top);
	ops_rows_done(&rows);
}

void markdown_ops(dck_sink *out, const dck_record *r, const dck_op_view *asked)
{
	const uint64_t top = asked->top > 0 ? asked->top : TOP_DEFAULT;
	ops_view v = {.timed = ops_timed(r)};

	ops_row_total(&v.total, r);
	for (int by = OPS_BY_TYPE; by < OPS_BY_ALL; by++) {
		const ops_group *group = ops_group_of(by);

		if (asked->by != by && asked->by != OPS_BY_ALL &&
		    (asked->by != OPS_BY_AUTO || (group && group->asked)))
			continue;
		if (group)
			markdown_group_put(out, r, &v, asked, top, group);
		else
			markdown_nodes_put(out, r, &v, asked, top);
	}
}
