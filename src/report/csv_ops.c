/* csv_ops.c - operators as CSV: one row each, or one for each type, module, class or line: all
 * unless limited by --top, in the order of the graph unless changed by --sort.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/sink.h"
#include "record/record_internal.h"
#include "report/csv.h"
#include "report/ops.h"
#include <inttypes.h>
#include <string.h>

static void comma(dck_sink *out)
{
	sink_text(out, ",");
}

/* Text that is made piece by piece, as one field; a buffer without memory stays short, which the
 * sink reports. */
typedef struct joined {
	dck_buffer b;
	dck_sink s;
} joined;

static void joined_begin(joined *j)
{
	j->b = (dck_buffer){0};
	dck_sink_buffer(&j->s, &j->b);
}

static void joined_end(joined *j, dck_sink *out)
{
	dck_err err;

	if (dck_sink_finish(&j->s, &err) != DCK_OK)
		sink_fail(out, &err);
	if (j->b.n > 0)
		csv_text(out, j->b.data, j->b.n);
	comma(out);
	dck_buffer_done(&j->b);
}

/* "y float32 1x64x112x112; z int64 ?": in the words of the text report. */
static void outputs_put(dck_sink *out, const dck_op *op)
{
	joined j;

	joined_begin(&j);
	for (size_t i = 0; i < op->noutputs; i++) {
		const dck_op_output *o = &op->outputs[i];
		sink_text(&j.s, i > 0 ? "; " : "");
		sink_text(&j.s, o->name);
		sink_text(&j.s, " ");
		sink_text(&j.s, o->dtype);
		sink_text(&j.s, o->absent ? " ?" : o->rank == 0 ? " scalar" : " ");
		for (size_t d = 0; d < o->rank; d++) {
			sink_text(&j.s, d > 0 ? "x" : "");
			bool formula = o->dims[d] < 0 && ops_is_formula(o->symbols[d]);
			if (o->dims[d] >= 0)
				sink_fmt(&j.s, "%" PRId64, o->dims[d]);
			else
				sink_fmt(&j.s, formula ? "(%s)" : "%s", o->symbols[d]);
		}
	}
	joined_end(&j, out);
}

static void origins_put(dck_sink *out, const dck_op *op)
{
	joined j;

	joined_begin(&j);
	for (size_t i = 0; i < op->norigins; i++) {
		sink_text(&j.s, i > 0 ? "; " : "");
		sink_text(&j.s, op->origins[i]);
	}
	joined_end(&j, out);
}

/* Why the first of the numbers that are not known is not. */
static const char *csv_reason_of(const dck_op *op)
{
	for (size_t i = 0; i < RECORD_OP_COUNTS; i++)
		if (record_op_get(op, i)->kind == DCK_VALUE_ABSENT)
			return record_op_get(op, i)->as.text;
	return NULL;
}

static void csv_node_put(dck_sink *out, const dck_record *r, const dck_op *op)
{
	csv_text_field(out, op->name);
	csv_text_field(out, op->type);
	csv_text_field(out, op->scope);
	outputs_put(out, op);
	for (size_t i = 0; i < OPS_FIELDS; i++) {
		csv_value(out, record_op_get(op, i));
		comma(out);
	}
	if (op->time_level > 0)
		csv_real(out, op->time_lo_ns);
	comma(out);
	if (op->time_level > 0)
		csv_real(out, op->time_hi_ns);
	comma(out);
	csv_value(out, &op->rate);
	comma(out);
	csv_value(out, &op->roof);
	comma(out);
	csv_text_field(out, op->bound);
	origins_put(out, op);
	csv_text_field(out, csv_reason_of(op));
	csv_text_field(out, op->class_name);
	csv_text_field(out, op->line);
	csv_text_field(out, op->code);
	csv_text(out, r->id, strlen(r->id));
	sink_text(out, "\r\n");
}

static void csv_no_memory(dck_sink *out)
{
	sink_fail(out,
		  &(dck_err){.code = DCK_E_NOMEM, .msg = "no memory for the table of operators"});
}

static size_t rows_shown(const dck_op_view *view, size_t n)
{
	return view->top > 0 && view->top < n ? (size_t)view->top : n;
}

static void csv_nodes_put(dck_sink *out, const dck_record *r, const dck_op_view *view)
{
	const dck_op **ops =
	    ops_by_node(r, view->sort == OPS_SORT_AUTO ? OPS_SORT_GRAPH : view->sort);

	if (!ops) {
		csv_no_memory(out);
		return;
	}
	for (size_t i = 0; i < rows_shown(view, r->nops); i++)
		csv_node_put(out, r, ops[i]);
	mem_free(ops);
}

/* Writes the sum of the known values, and the number of unknown ones. */
static void csv_sum_put(dck_sink *out, const ops_sum *s)
{
	if (s->known > 0 && s->real)
		csv_real(out, s->r);
	else if (s->known > 0)
		sink_fmt(out, "%" PRId64, s->i);
	sink_fmt(out, ",%zu,", s->unknown);
}

static void groups_put(dck_sink *out, const dck_record *r, const dck_op_view *view,
		       const ops_group *group)
{
	ops_rows rows;
	int sort = view->sort == OPS_SORT_AUTO ? OPS_SORT_GRAPH : view->sort;

	if (!group->rows(r, sort, SIZE_MAX, &rows)) {
		csv_no_memory(out);
		return;
	}
	for (size_t i = 0; i < rows_shown(view, rows.n); i++) {
		const ops_row *row = &rows.rows[i];
		csv_text(out, row->path, row->path_bytes);
		sink_fmt(out, ",%zu,", row->n);
		for (size_t f = 0; f < OPS_FIELDS; f++)
			csv_sum_put(out, &row->sum[f]);
		csv_text(out, r->id, strlen(r->id));
		sink_text(out, "\r\n");
	}
	ops_rows_done(&rows);
}

void csv_ops(const dck_record *const *records, size_t n, const dck_op_view *view, dck_sink *out)
{
	const ops_group *group = ops_group_of(view->by);

	if (group)
		sink_fmt(out,
			 "%s,nodes,macs,macs_unknown,flops,flops_unknown,params,params_unknown,"
			 "weight_bytes,weight_bytes_unknown,read_bytes,read_bytes_unknown,"
			 "write_bytes,write_bytes_unknown,peer,peer_unknown,time_ns,"
			 "time_ns_unknown,id\r\n",
			 group->head);
	else
		sink_text(out, "name,type,scope,outputs,macs,flops,params,weight_bytes,read_bytes,"
			       "write_bytes,peer,time_ns,time_lo_ns,time_hi_ns,rate,roof,bound,"
			       "origins,absent,class,line,code,id\r\n");
	for (size_t i = 0; i < n; i++) {
		if (group)
			groups_put(out, records[i], view, group);
		else
			csv_nodes_put(out, records[i], view);
	}
}
