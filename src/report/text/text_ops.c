/* text_ops.c - the operators of a record in tables: by type, singly, by module, and operators with
 * unknown values. Sums and their quotients are formed here; everything else is shown as the record
 * has it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/units.h"
#include "record/record_internal.h"
#include "report/text/grid.h"
#include "report/ops.h"
#include "report/text/text_parts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP_DEFAULT   20
#define NAME_MIN      18
#define TYPE_COLS     15
#define BRIEF_OP_ROWS 6
#define NODE_NAME_MIN 26 /* the names of nodes begin alike */

/* Common input of the columns of all tables of a record. */
typedef struct ops_view {
	const dck_record *r;
	bool timed, peer_flops;
	const char *peer; /* NULL: none */
	char peer_name[FORMAT_SIZE];
	format_levels levels; /* of the operators' intervals */
	format_scale scale;   /* of times */
	double resolution_ns; /* below it the profiler gives 0; 0: unknown */
	ops_row total;
	size_t top;
} ops_view;

/* --- cells */

static void text_sum_put(const ops_sum *s, const char *number, char *buf)
{
	/* "At least 0" is not information. */
	if (s->known == 0 || (s->unknown > 0 && !(ops_sum_value(s) > 0)))
		snprintf(buf, FORMAT_SIZE, "%s", s->unknown > 0 ? "?" : "");
	else
		snprintf(buf, FORMAT_SIZE, "%s%.40s", s->unknown > 0 ? ">= " : "", number);
}

static void percent_cell(double ratio, char *buf)
{
	static const format_scale percent = {0.01, "%", 1};
	char text[FORMAT_SIZE];
	const char *number = ratio == 0			   ? "0"
			     : ratio > 0.9995 && ratio < 1 ? ">99.9"
							   : format_scaled(&percent, ratio, text);

	snprintf(buf, FORMAT_SIZE, "%.40s %%", number);
}

static bool is_complete(const ops_sum *s)
{
	return s->known > 0 && s->unknown == 0;
}

/* Input of a cell; field: for cells that show the sum of one field. */
typedef struct op_cell {
	const ops_view *v;
	const column_scale *bytes; /* of the columns of bytes */
	const ops_row *row;
	ops_field field;
} op_cell;

static void sum_cell(const op_cell *c, char *buf)
{
	const ops_sum *s = &c->row->sum[c->field];
	const double v = ops_sum_value(s);
	char text[FORMAT_SIZE];

	if (c->field == OPS_TIME && v == 0 && s->known > 0 && c->v->resolution_ns > 0) {
		const double bound = (double)s->known * c->v->resolution_ns;

		snprintf(buf, FORMAT_SIZE, "<%.40s", format_scaled(&c->v->scale, bound, text));
		return;
	}
	text_sum_put(s,
		     c->field == OPS_TIME      ? format_scaled(&c->v->scale, v, text)
		     : c->field == OPS_WEIGHTS ? column_scale_number(c->bytes, v, text)
					       : dck_text_si(v, "", text, sizeof text),
		     buf);
}

static void type_cell(const op_cell *c, char *buf)
{
	const char *type = c->row->first->type;
	if (page_columns(type) > TYPE_COLS)
		snprintf(buf, FORMAT_SIZE, "%.*s..", TYPE_COLS - 2, type);
	else
		snprintf(buf, FORMAT_SIZE, "%.40s", type);
}

static void nodes_cell(const op_cell *c, char *buf)
{
	dck_text_count((int64_t)c->row->n, buf, FORMAT_SIZE);
}

/* "1x64x112x112"; a dimension that is a formula is in parentheses. */
static void shape_cell(const op_cell *c, char *buf)
{
	const dck_op *op = c->row->first;
	size_t n = 0;

	if (op->noutputs == 0)
		return;
	const dck_op_output *o = &op->outputs[0];
	if (o->rank == 0)
		snprintf(buf, FORMAT_SIZE, "%s", o->absent ? "?" : "scalar");
	for (size_t i = 0; i < o->rank && n < FORMAT_SIZE - 28; i++) {
		const char *symbol = o->dims[i] < 0 ? o->symbols[i] : NULL;
		bool formula = symbol && ops_is_formula(symbol);
		if (symbol)
			n += (size_t)snprintf(buf + n, FORMAT_SIZE - n, "%s%s%.12s%s%s",
					      i > 0 ? "x" : "", formula ? "(" : "", symbol,
					      strlen(symbol) > 12 ? ".." : "", formula ? ")" : "");
		else
			n += (size_t)snprintf(buf + n, FORMAT_SIZE - n, "%s%lld", i > 0 ? "x" : "",
					      (long long)o->dims[i]);
		if (n >= FORMAT_SIZE - 28 && i + 1 < o->rank)
			snprintf(buf + n, FORMAT_SIZE - n, "..");
	}
}

static void moved_cell(const op_cell *c, char *buf)
{
	const ops_sum bytes = ops_row_bytes(c->row);
	char text[FORMAT_SIZE];

	text_sum_put(&bytes, column_scale_number(c->bytes, ops_sum_value(&bytes), text), buf);
}

static void intensity_cell(const op_cell *c, char *buf)
{
	const ops_sum bytes = ops_row_bytes(c->row), *flops = &c->row->sum[OPS_FLOPS];
	if (!is_complete(&bytes) || !is_complete(flops))
		snprintf(buf, FORMAT_SIZE, "?");
	else if (ops_sum_value(&bytes) > 0)
		dck_text_si(ops_sum_value(flops) / ops_sum_value(&bytes), "", buf, FORMAT_SIZE);
}

/* Writes the share of the known total: of time, or of MACs. */
static void share_cell(const op_cell *c, char *buf)
{
	const ops_field field = c->v->timed ? OPS_TIME : OPS_MACS;
	const ops_sum *part = &c->row->sum[field];
	double all = ops_sum_value(&c->v->total.sum[field]);

	if (!(all > 0))
		return;
	if (c->row->n > 0 && part->known == 0)
		snprintf(buf, FORMAT_SIZE, "?");
	else if (ops_sum_value(part) > 0 || part->unknown == 0)
		percent_cell(ops_sum_value(part) / all, buf);
	else
		snprintf(buf, FORMAT_SIZE, "?");
}

/* Writes the difference to the other counter. */
static void difference_cell(const op_cell *c, char *buf)
{
	ops_sum peer = c->row->sum[OPS_PEER];
	const ops_sum *own = &c->row->sum[c->v->peer_flops ? OPS_FLOPS : OPS_MACS];

	if (!is_complete(&peer) || !is_complete(own)) {
		snprintf(buf, FORMAT_SIZE, "?");
		return;
	}
	/* Of two counts, which are not negative. */
	double d = peer.real || own->real ? ops_sum_value(&peer) - ops_sum_value(own)
					  : (double)(peer.i - own->i);
	snprintf(buf, FORMAT_SIZE, "%s%.40s", d > 0 ? "+" : "", UNITS_SI(d, ""));
}

static void half_cell(const op_cell *c, char *buf)
{
	const dck_op *op = c->row->first;
	double time;

	if (c->row->n == 1 && op->time_level > 0 && format_number_of(&op->time_ns, &time) &&
	    time > 0)
		percent_cell((op->time_hi_ns - op->time_lo_ns) / 2 / time, buf);
}

/* Operators without FLOPs have no rate. */
static bool computes(const ops_row *row)
{
	const ops_sum *flops = &row->sum[OPS_FLOPS];
	return flops->unknown > 0 || ops_sum_value(flops) > 0;
}

static void rate_cell(const op_cell *c, char *buf)
{
	const ops_sum *flops = &c->row->sum[OPS_FLOPS], *time = &c->row->sum[OPS_TIME];
	double rate = NAN;

	if (c->row->n == 1)
		format_number_of(&c->row->first->rate, &rate);
	else if (!c->row->refused && is_complete(flops) && is_complete(time) &&
		 ops_sum_value(time) > 0)
		rate = 1e9 * ops_sum_value(flops) / ops_sum_value(time);
	if (isfinite(rate) && computes(c->row))
		dck_text_si(rate, "", buf, FORMAT_SIZE);
	else
		snprintf(buf, FORMAT_SIZE, "%s", computes(c->row) ? "?" : "-");
}

static void roof_cell(const op_cell *c, char *buf)
{
	double rate, roof;

	if (c->row->n == 1 && format_number_of(&c->row->first->rate, &rate) &&
	    format_number_of(&c->row->first->roof, &roof) && roof > 0 && computes(c->row))
		percent_cell(rate / roof, buf);
	else
		snprintf(buf, FORMAT_SIZE, "%s", c->row->n > 1 ? "" : computes(c->row) ? "?" : "-");
}

static void bound_cell(const op_cell *c, char *buf)
{
	if (c->row->n == 1)
		snprintf(buf, FORMAT_SIZE, "%.20s",
			 c->row->first->bound ? c->row->first->bound : "?");
}

typedef struct op_column {
	grid_col grid;
	void (*text)(const op_cell *c, char *buf); /* NULL: the sum of a field */
	ops_field sum;
} op_column;

static const op_column cost_columns[] = {
    {{"nodes", 2, false}, .text = nodes_cell}, {{"MACs", 0, false}, .sum = OPS_MACS},
    {{"share", 3, false}, .text = share_cell}, {{"FLOPs", 4, false}, .sum = OPS_FLOPS},
    {{"params", 5, false}, .sum = OPS_PARAMS}, {{"weights", 9, false}, .sum = OPS_WEIGHTS},
    {{"moved", 6, false}, .text = moved_cell}, {{"FLOP/B", 7, false}, .text = intensity_cell},
    {{NULL, 1, false}, .sum = OPS_PEER},       {{"difference", 1, false}, .text = difference_cell},
};
static const op_column cost_node_columns[] = {
    {{"type", 4, true}, .text = type_cell},    {{"output", 6, true}, .text = shape_cell},
    {{"MACs", 0, false}, .sum = OPS_MACS},     {{"share", 2, false}, .text = share_cell},
    {{"FLOPs", 8, false}, .sum = OPS_FLOPS},   {{"params", 7, false}, .sum = OPS_PARAMS},
    {{"moved", 5, false}, .text = moved_cell}, {{"FLOP/B", 9, false}, .text = intensity_cell},
    {{NULL, 1, false}, .sum = OPS_PEER},       {{"difference", 1, false}, .text = difference_cell},
};
static const op_column time_columns[] = {
    {{"nodes", 5, false}, .text = nodes_cell},	    {{"time", 0, false}, .sum = OPS_TIME},
    {{"share", 1, false}, .text = share_cell},	    {{"MACs", 3, false}, .sum = OPS_MACS},
    {{"FLOP/s", 2, false}, .text = rate_cell},	    {{"moved", 4, false}, .text = moved_cell},
    {{"FLOP/B", 6, false}, .text = intensity_cell}, {{"params", 7, false}, .sum = OPS_PARAMS},
};
static const op_column time_node_columns[] = {
    {{"type", 6, true}, .text = type_cell},	{{"time", 0, false}, .sum = OPS_TIME},
    {{"+-", 3, false}, .text = half_cell},	{{"share", 1, false}, .text = share_cell},
    {{"MACs", 5, false}, .sum = OPS_MACS},	{{"FLOP/s", 3, false}, .text = rate_cell},
    {{"of roof", 2, false}, .text = roof_cell}, {{"bound", 4, true}, .text = bound_cell},
    {{"moved", 7, false}, .text = moved_cell},	{{"FLOP/B", 8, false}, .text = intensity_cell},
    {{"output", 9, true}, .text = shape_cell},
};
#define COLUMNS(array)                                 \
	{                                              \
		array, sizeof(array) / sizeof *(array) \
	}
/* Of operators and of groups of them, with times and without. */
static const struct {
	const op_column *all;
	size_t n;
} column_sets[2][2] = {{COLUMNS(cost_columns), COLUMNS(time_columns)},
		       {COLUMNS(cost_node_columns), COLUMNS(time_node_columns)}};

/* --- a table */

typedef struct table {
	const ops_view *v;
	const op_column *cols[GRID_COLS_MAX];
	const ops_group *group; /* NULL: nodes */
	const ops_row *rows;
	const dck_op *const *nodes;
	size_t shown; /* without the total */
	column_scale bytes[GRID_COLS_MAX];
} table;

static const ops_row *row_get(const table *t, size_t i, ops_row *space)
{
	if (i >= t->shown)
		return &t->v->total;
	if (t->rows)
		return &t->rows[i];
	ops_row_init(space, t->nodes[i]);
	return space;
}

static const char *table_cell(const void *self, size_t row, size_t col, char *buf)
{
	const table *t = self;
	ops_row space;
	const op_cell c = {t->v, &t->bytes[col], row_get(t, row, &space), t->cols[col]->sum};

	buf[0] = '\0';
	(t->cols[col]->text ? t->cols[col]->text : sum_cell)(&c, buf);
	return buf;
}

static void table_name(const void *self, size_t row, grid_name *ret)
{
	const table *t = self;
	ops_row space;
	const ops_row *r = row_get(t, row, &space);

	*ret = (grid_name){.text = r->name, .bytes = r->name_bytes, .indent = 2 * r->depth};
	if (r->name_bytes == 0) {
		/* Time between operators belongs to no module. */
		bool between = r->n == 1 && r->first->type[0] == '(';
		ret->text = between ? r->first->name : t->group ? t->group->nameless : "(no name)";
		ret->bytes = strlen(ret->text);
	}
	if (r->n == 1 && !t->rows && r->first->norigins > 1)
		snprintf(ret->after, sizeof ret->after, " +%zu", r->first->norigins - 1);
}

/* Of a column of bytes, from its rows; false: it is another column. */
static bool bytes_scale(table *t, size_t col, size_t nrows)
{
	const op_column *own = t->cols[col];
	const bool moved = own->text == moved_cell;
	column_range range = {.whole = true};
	ops_row space;

	if (!moved && (own->text || own->sum != OPS_WEIGHTS))
		return false;
	for (size_t i = 0; i < nrows; i++) {
		const ops_row *row = row_get(t, i, &space);
		const ops_sum bytes = moved ? ops_row_bytes(row) : row->sum[OPS_WEIGHTS];

		ops_sum_range_add(&bytes, &range);
	}
	t->bytes[col] = column_scale_of(&range, DCK_UNIT_BYTE, false);
	return true;
}

static void text_more_put(page *p, size_t n, size_t shown)
{
	if (n <= shown)
		return;
	text_dim_from(p, 2);
	page_fmt(p, "and %s more, --top %zu", UNITS_COUNT((int64_t)(n - shown)), n);
	page_line(p);
}

/* rows or nodes: n of them, of which the first are shown. */
static void text_table_put(page *p, const ops_view *v, const ops_group *group, const ops_row *rows,
			   const dck_op *const *nodes, size_t n, bool total)
{
	const op_column *cols = column_sets[nodes != NULL][v->timed].all;
	const size_t ncols = column_sets[nodes != NULL][v->timed].n;
	grid_col heads[GRID_COLS_MAX];
	const char *units[GRID_COLS_MAX] = {NULL};
	table t = {
	    .v = v, .group = group, .rows = rows, .nodes = nodes, .shown = n < v->top ? n : v->top};
	grid g = {.title = group ? group->head : "operator",
		  .name_min = nodes ? NODE_NAME_MIN : NAME_MIN,
		  .cols = heads,
		  .units = units,
		  .nrows = t.shown + total,
		  .total = total,
		  .self = &t,
		  .name = table_name,
		  .cell = table_cell};

	for (size_t i = 0; i < ncols; i++) {
		const bool sum = !cols[i].text, peer = sum && cols[i].sum == OPS_PEER;
		if ((peer || cols[i].text == difference_cell) && !v->peer)
			continue;
		t.cols[g.ncols] = &cols[i];
		heads[g.ncols] = cols[i].grid;
		if (peer)
			heads[g.ncols].title = v->peer;
		else if (sum && cols[i].sum == OPS_TIME)
			units[g.ncols] = v->scale.unit;
		else if (bytes_scale(&t, g.ncols, g.nrows))
			units[g.ncols] = t.bytes[g.ncols].unit;
		g.ncols++;
	}
	grid_put(p, &g);
	text_more_put(p, n, t.shown);
}

static void text_no_memory(page *p)
{
	page_to(p, 2);
	page_text(p, "no memory for this table");
	page_line(p);
}

/* --- the tables */

static bool text_nodes_put(page *p, const ops_view *v)
{
	const dck_op **nodes = ops_by_node(v->r, p->ops.sort);

	text_title(p, "Operators");
	if (nodes)
		text_table_put(p, v, NULL, NULL, nodes, v->r->nops, false);
	else
		text_no_memory(p);
	mem_free(nodes);
	return nodes != NULL;
}

/* Returns whether a table was written. */
static bool text_group_put(page *p, const ops_view *v, const ops_group *group)
{
	const bool asked = p->ops.by != OPS_BY_AUTO && p->ops.by != OPS_BY_ALL;
	ops_rows rows;
	ops_view deep = *v;

	/* A tree needs some more rows than a list. */
	if (group == ops_group_of(OPS_BY_MODULE))
		deep.top *= p->ops.top == 0 ? 2 : 1;
	if (!group->rows(v->r, p->ops.sort, deep.top, &rows)) {
		text_title(p, group->title);
		text_no_memory(p);
		return false;
	}
	const bool named = rows.n > 1 || (rows.n > 0 && rows.rows[0].name_bytes > 0);
	const bool put = rows.n > 1 || !group->none || (asked && named);
	if (put || asked)
		text_title(p, group->title);
	if (put) {
		text_table_put(p, &deep, group, rows.rows, NULL, rows.n, group->total);
	} else if (asked) {
		page_to(p, 2);
		page_wrap(p, 2, group->none);
		page_line(p);
	}
	ops_rows_done(&rows);
	return put;
}

/* --- unknown values */

static const char *text_reason_of(const dck_op *op)
{
	const dck_value *v = op->macs.kind == DCK_VALUE_ABSENT ? &op->macs : &op->flops;
	if (v->kind != DCK_VALUE_ABSENT || v->absence == DCK_ABSENCE_OPEN_SIZE)
		return NULL;
	return v->as.text ? v->as.text : "not known";
}

static int reason_compare(const void *va, const void *vb)
{
	const dck_op *a = *(const dck_op *const *)va, *b = *(const dck_op *const *)vb;
	int order = strcmp(a->type, b->type);
	if (order == 0)
		order = strcmp(text_reason_of(a), text_reason_of(b));
	return order != 0 ? order : (a > b) - (a < b);
}

static bool same_reason(const dck_op *a, const dck_op *b)
{
	return strcmp(a->type, b->type) == 0 && strcmp(text_reason_of(a), text_reason_of(b)) == 0;
}

static void unknown_put(page *p, const ops_view *v)
{
	const dck_op **ops = ops_by_node(v->r, OPS_SORT_GRAPH);
	size_t n = 0, kinds = 0;

	for (size_t i = 0; i < v->r->nops && ops; i++)
		if (text_reason_of(ops[i]))
			ops[n++] = ops[i];
	if (n > 0) {
		text_title(p, "Cost not a number");
		qsort(ops, n, sizeof *ops, reason_compare);
	}
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && same_reason(ops[i], ops[k]);)
			k++;
		if (kinds++ >= v->top)
			continue;
		page_to(p, 2);
		page_wrap(p, 4, ops[i]->type);
		page_space(p);
		if (k - i > 1) {
			page_fmt(p, "(%s nodes)", UNITS_COUNT((int64_t)(k - i)));
			page_space(p);
		}
		page_wrap(p, 4, ops[i]->name);
		p->space = false;
		page_text(p, k - i > 1 ? ", ...:" : ":");
		page_space(p);
		page_wrap(p, 4, text_reason_of(ops[i]));
		page_line(p);
	}
	text_more_put(p, kinds, v->top);
	mem_free(ops);
}

/* --- the whole */

static double largest_time(const dck_record *r, format_levels *ret)
{
	double most = 0, v;

	for (size_t i = 0; i < r->nops; i++) {
		if (format_number_of(&r->ops[i].time_ns, &v) && v > most)
			most = v;
		format_levels_add(ret, r->ops[i].time_level);
	}
	return most;
}

static void view_init(ops_view *v, const page *p, const dck_record *r)
{
	char buf[FORMAT_SIZE];
	double most;

	*v = (ops_view){.r = r, .timed = ops_timed(r)};
	const char *peer = text_fact(r, "cost", "as", buf);
	if (peer) {
		snprintf(v->peer_name, sizeof v->peer_name, "%.12s", peer);
		v->peer = v->peer_name;
	}
	const char *unit = text_fact(r, "cost", "as_unit", buf);
	v->peer_flops = unit && strcmp(unit, "FLOP") == 0;
	most = largest_time(r, &v->levels);
	v->scale = format_scale_for(most, NAN);
	/* A device's clock is finer; an operator without a kernel takes none of its time. */
	const dck_fact *device = dck_record_fact(r, "profile", "device_time");
	if (device && device->value.kind == DCK_VALUE_BOOL && !device->value.as.b)
		text_fact_number(r, "profile", "resolution", &v->resolution_ns);
	ops_row_total(&v->total, r);
	v->top = p->ops.top == 0 || p->ops.top > SIZE_MAX / 2 ? TOP_DEFAULT : (size_t)p->ops.top;
}

static void text_legend_put(page *p, const ops_view *v)
{
	text_dim_from(p, 2);
	page_wrap(p, 2, "moved: bytes read and written");
	if (v->timed && v->levels.most > 0) {
		p->space = false;
		page_text(p, "; ");
		page_fmt(p, "+-: half the %s interval", FORMAT_LEVELS(&v->levels));
	}
	page_line(p);
}

static bool has_formulas(const dck_record *r)
{
	const dck_metric *m = dck_record_metric(r, "cost/macs");

	return m && m->formula;
}

void text_ops(page *p, const dck_record *r)
{
	ops_view v;

	enum { TABLES = 5 };
	static const int order[2][TABLES] = {
	    {OPS_BY_TYPE, OPS_BY_NODE, OPS_BY_MODULE, OPS_BY_CLASS, OPS_BY_LINE},
	    {OPS_BY_NODE, OPS_BY_TYPE, OPS_BY_MODULE, OPS_BY_CLASS, OPS_BY_LINE}};

	if (r->nops == 0)
		return;
	view_init(&v, p, r);
	bool formulas = has_formulas(r), any = false;
	for (size_t i = 0; i < TABLES; i++) {
		int by = order[v.timed][i];
		const ops_group *group = ops_group_of(by);
		/* Sums of formulas are not shown; the record has tables of formulas. */
		if (p->ops.by == OPS_BY_AUTO && by != OPS_BY_MODULE && formulas)
			continue;
		if (p->ops.by != by && p->ops.by != OPS_BY_ALL &&
		    (p->ops.by != OPS_BY_AUTO || (group && group->asked)))
			continue;
		if (group)
			any |= text_group_put(p, &v, group);
		else
			any |= text_nodes_put(p, &v);
	}
	if (any && !(formulas && p->ops.by == OPS_BY_AUTO))
		text_legend_put(p, &v);
	if (!v.timed)
		unknown_put(p, &v);
}

void text_ops_brief(page *p, const dck_record *r, unsigned lines)
{
	int sort = ops_timed(r) ? OPS_SORT_TIME : OPS_SORT_MACS;
	ops_rows rows;
	ops_view v;

	/* Titles, units, a row, and the count of omitted rows. */
	if (r->nops == 0 || lines < 4)
		return;
	view_init(&v, p, r);
	/* If MACs are unknown, parameters characterise the model. */
	if (sort == OPS_SORT_MACS && !(ops_sum_value(&v.total.sum[OPS_MACS]) > 0))
		sort = OPS_SORT_PARAMS;
	if (!ops_by_type(r, p->ops.sort != OPS_SORT_AUTO ? p->ops.sort : sort, SIZE_MAX, &rows)) {
		text_no_memory(p);
		return;
	}
	const size_t n = rows.n <= lines - 2 ? rows.n : lines - 3,
		     most = n < BRIEF_OP_ROWS ? n : BRIEF_OP_ROWS;
	text_table_put(p, &v, ops_group_of(OPS_BY_TYPE), rows.rows, NULL, most, false);
	if (rows.n > most) {
		text_dim_from(p, 2);
		page_fmt(p, "and %zu more %s", rows.n - most,
			 COUNTED(rows.n - most, "type", "types"));
		page_line(p);
	}
	ops_rows_done(&rows);
}
