/* call_view.c - queries on a record's call paths; the result is a record with one table.
 *
 * dck_calls_query() makes one of these tables, all but the last from an index of the tree
 * (call_tree.c) and its sums (function_weights.c):
 *
 *  - by function: a flat profile, self and total of each function (view_by_function()); where the
 *    paths are estimated, from the numbers of the file (exact_functions.h);
 *  - by path: the tree in pre-order, heaviest child first, pruned by depth, rows and share_min
 *    (by_path(), tree_rows.c);
 *  - around a function: its callers or callees (around()), as in the call graph of gprof; shares
 *    refer to the function's total, in which recursive calls count once;
 *  - operators of torch.profiler, if the sort word is one of their columns (operator_view.c).
 *
 * by_choices and sort_choices begin with the choices of dck_op_options, in their order: options are
 * indices shared with tables of operators, and dck_calls_wanted() decides which are meant. The
 * source is not changed; call_view_about() copies its subject, start, command and notes. Source:
 * Graham, Kessler and McKusick, gprof: a Call Graph Execution Profiler, SIGPLAN 1982.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/call_view.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "base/mem.h"
#include "record/tree/tree_rows.h"
#include "record/tree/call_table.h"
#include "record/tree/exact_functions.h"
#include "record/tree/operator_view.h"
#include "record/tree/path_trie.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The choices of dck_op_options, then the choices of call paths. */
enum { BY_FUNCTION = 7, BY_PATH, SORT_CALLS = 8 };
static const char *const by_choices[] = {"auto",  "type", "node", "module",
					 "class", "line", "all",  [BY_FUNCTION] = "function",
					 "path",  NULL};
static const char *const sort_choices[] = {"auto",
					   "time",
					   "macs",
					   "flops",
					   "params",
					   "bytes",
					   "name",
					   "graph",
					   [SORT_CALLS] = CALL_SORT_WORDS,
					   "samples",
					   "memory",
					   "self_memory",
					   "device_memory",
					   "self_device_memory",
					   "cpu_memory_usage",
					   "self_cpu_memory_usage",
					   NULL};
const dck_opt dck_view_options[] = {
    DCK_OPTION(CHOICE, dck_op_view, by, "by", "WHAT", "auto",
	       "which tables of operators; function, path: of call paths", .choices = by_choices),
    DCK_OPTION(CHOICE, dck_op_view, sort, "sort", "WHAT", "auto",
	       "order of operators, default time, or MACs without timing; of functions self; of "
	       "operators of torch.profiler memory",
	       .choices = sort_choices),
    DCK_OPTION(
	COUNT, dck_op_view, top, "top", "N", NULL,
	"rows of each table of operators, 0: 20 of a text, all of a CSV; of call paths, 0: 60",
	.max = 1e9),
    {0},
};

bool dck_calls_wanted(const dck_op_view *which, dck_calls_view *view)
{
	const bool sorts = which->sort > 0;
	const bool given = view->tree || view->weight || view->depth || view->callers ||
			   view->callees || view->diff || view->normalise;

	view->top = which->top;
	view->sort = sorts ? sort_choices[which->sort] : NULL;
	if (which->by == BY_PATH || view->depth ||
	    (view->tree && which->by != BY_FUNCTION && !sorts && !view->callers && !view->callees))
		view->by = DCK_CALLS_BY_PATH;
	return which->by >= BY_FUNCTION || which->sort >= SORT_CALLS || given;
}

const dck_opt dck_calls_options[] = {
    DCK_OPTION(TEXT, dck_calls_view, tree, "tree", "NAME", NULL,
	       "which of the record's trees; alone: that tree, with shares"),
    DCK_OPTION(TEXT, dck_calls_view, weight, "weight", "KEY", NULL,
	       "weight of the tree; default: time, else the first that is not a count"),
    DCK_OPTION(COUNT, dck_calls_view, depth, "depth", "N", NULL, "levels of the tree; 0: 40",
	       .max = CALL_LEVELS_MAX, .excludes = "callers callees diff"),
    DCK_OPTION(TEXT, dck_calls_view, callers, "callers", "FUNCTION", NULL,
	       "the callers of a function, with their shares", .excludes = "callees diff"),
    DCK_OPTION(TEXT, dck_calls_view, callees, "callees", "FUNCTION", NULL,
	       "the callees of a function, with their shares", .excludes = "diff"),
    DCK_FLAG(dck_calls_view, diff, "diff", "how the second file differs from the first"),
    DCK_FLAG(dck_calls_view, normalise, "normalise",
	     "the first is scaled to the sum of the second: what changed its share",
	     .needs = "diff"),
    {0},
};

enum { TOP = 60, LEVELS = 40 };
/* Paths with a smaller share are left out of a tree, unless a number of rows is given. */
static const double share_min = 0.005;

size_t call_view_top(const dck_calls_view *view)
{
	return view->top ? (size_t)view->top : TOP;
}

/* --- the selected tree */

typedef struct look {
	const dck_calls_view *view;
	const dck_tree *t;
	dck_tree flat; /* exact functions; {0}: as in `t` */
	call_tree c;
	function_weights sums;
	size_t weight, count; /* columns; count: number of calls or samples, ncolumns: none */
	bool calls;	      /* count has calls, not samples */
} look;

static void look_done(look *l)
{
	function_weights_done(&l->sums);
	call_tree_done(&l->c);
	path_trie_tree_done(&l->flat);
}

static dck_status look_open(look *l, const dck_record *r, const dck_calls_view *view, dck_err *err)
{
	*l = (look){.view = view};
	if (view->by != DCK_CALLS_BY_FUNCTION && view->by != DCK_CALLS_BY_PATH)
		DCK_FAIL(err, E_ARG, "a view is by function or by path, and not by %d", view->by);
	DCK_TRY(call_tree_find(r, view->tree, &l->t, err));
	DCK_TRY(call_tree_weight(l->t, view->weight, &l->weight, err));
	l->count = call_tree_column(l->t, "calls");
	l->calls = l->count < l->t->ncolumns;
	if (!l->calls)
		l->count = call_tree_column(l->t, "samples");
	if (l->count == l->weight)
		l->count = l->t->ncolumns;
	l->calls &= l->count < l->t->ncolumns;
	return DCK_OK;
}

/* Indexes t: the tree of the record, or `flat`. */
static dck_status look_index(look *l, const dck_tree *t, dck_err *err)
{
	l->t = t;
	DCK_TRY(call_tree_open(&l->c, t, err));
	return function_weights_init(&l->sums, &l->c, err);
}

/* Returns the name of the weight in a title: "self" is the time of a path there, and a column of
 * the table. */
static const char *weight_title(const look *l)
{
	const dck_column *weight = &l->t->columns[l->weight];

	return strcmp(weight->key, "self") == 0 ? "time" : weight->title;
}

/* --- tables of functions */

static bool sorts_by_primitive(const dck_calls_view *view)
{
	return view->sort &&
	       (strcmp(view->sort, "primitive") == 0 || strcmp(view->sort, "pcalls") == 0);
}

static dck_status view_functions_put(const look *l, call_table *how, const char *sort,
				     record_builder *b, dck_err *err)
{
	const dck_unit unit = l->t->columns[l->weight].unit;
	const uint32_t w = (uint32_t)l->weight;
	char title[800];
	call_column columns[8] = {{"total", "total", unit, w, CALL_TOTAL},
				  {"total_share", "share", DCK_UNIT_ONE, w, CALL_TOTAL_SHARE},
				  {"self", "self", unit, w, CALL_SELF},
				  {"self_share", "self share", DCK_UNIT_ONE, w, CALL_SELF_SHARE}};
	size_t n = 4;

	if (l->count < l->t->ncolumns)
		columns[n++] =
		    (call_column){l->t->columns[l->count].key, l->t->columns[l->count].title,
				  DCK_UNIT_ONE, (uint32_t)l->count, CALL_SELF};
	/* Callers and callees have calls of one side each: the primitive ones are shown on --sort.
	 */
	if (l->calls && (!how->last || sorts_by_primitive(l->view)))
		columns[n++] = (call_column){"primitive", "primitive", DCK_UNIT_ONE,
					     (uint32_t)l->count, CALL_OUTER};
	if (l->calls) {
		columns[n++] =
		    (call_column){"total_per_call", "total/call", unit, w, CALL_TOTAL_EACH};
		columns[n++] = (call_column){"self_per_call", "self/call", unit, w, CALL_SELF_EACH};
	}
	how->columns = columns;
	how->ncolumns = n;
	how->calls = (uint32_t)l->count;
	how->top = call_view_top(l->view);
	how->brief = CALL_VIEW_BRIEF;
	DCK_TRY(call_table_sort(how, l->view->sort ? l->view->sort : sort, err));
	snprintf(title, sizeof title, "%s, sorted by %s", how->title, call_table_order(how));
	how->title = title;
	return call_table_rows(&l->c, &l->sums, how, b, err);
}

static dck_status view_by_function(look *l, const dck_record *r, record_builder *b, dck_err *err)
{
	const char *weight = weight_title(l);
	exact_functions exact;
	char title[300];

	if (exact_functions_find(&exact, r, l->t, l->weight)) {
		snprintf(title, sizeof title, "Functions by %.80s, as in the file", weight);
		DCK_TRY(exact_functions_tree(&exact, l->t, &l->flat, err));
		DCK_TRY(look_index(l, &l->flat, err));
		function_weights_all(&l->sums, &l->c);
		exact_functions_sum(&exact, &l->c, l->weight, &l->sums);
	} else {
		snprintf(title, sizeof title, "%.200s: functions, %.80s", l->t->title, weight);
		DCK_TRY(look_index(l, l->t, err));
		function_weights_all(&l->sums, &l->c);
	}
	return view_functions_put(l, &(call_table){.name = "functions", .title = title}, "self", b,
				  err);
}

/* --- around a function */

/* Selects the functions of that name, or, without a match, the only one whose name contains it. */
static dck_status view_choose(const look *l, const char *name, bool *chosen, size_t *ret_one,
			      dck_err *err)
{
	size_t exact = 0, within = 0;

	for (size_t i = 0; i < l->c.nfunctions; i++) {
		const char *own = l->c.functions[i].frame.name;

		chosen[i] = strcmp(own, name) == 0;
		exact += chosen[i];
		if (chosen[i] || (!exact && strstr(own, name)))
			*ret_one = i;
		within += !chosen[i] && strstr(own, name);
	}
	if (exact == 0 && within == 1)
		chosen[*ret_one] = true;
	else if (exact == 0 && within > 1)
		DCK_FAIL(err, E_ARG,
			 "no function of the tree %s is called '%s', and %zu have it in their "
			 "names; one is '%.200s'",
			 l->t->name, name, within, l->c.functions[*ret_one].frame.name);
	else if (exact == 0)
		DCK_FAIL(err, E_ABSENT, "no function of the tree %s is called '%s'", l->t->name,
			 name);
	return DCK_OK;
}

static dck_status around(look *l, const char *name, bool callers, record_builder *b, dck_err *err)
{
	call_table how = {.name = callers ? "callers" : "callees",
			  .last = callers ? "(none: outermost)" : "(itself)"};
	char title[700];
	size_t one = 0;

	DCK_TRY(look_index(l, l->t, err));
	bool *chosen = mem_zalloc((size_t)l->c.nfunctions + 1, sizeof *chosen);
	DCK_NEED(chosen, err, "for the functions of call paths");
	dck_status status = view_choose(l, name, chosen, &one, err);
	if (status == DCK_OK) {
		snprintf(title, sizeof title,
			 callers ? "%.100s: callers of %.300s, with its %.80s under each"
				 : "%.100s: what %.300s calls, and the %.80s of that",
			 l->t->title, l->c.functions[one].frame.name, weight_title(l));
		how.title = title;
		for (uint32_t n = 0; n < l->t->nnodes; n++)
			if (chosen[call_tree_function(&l->c, n)] && !l->c.recursive[n])
				how.whole += l->c.total[n * l->t->ncolumns + l->weight];
		if (callers)
			function_weights_callers(&l->sums, &l->c, chosen);
		else
			function_weights_callees(&l->sums, &l->c, chosen);
		status = view_functions_put(l, &how, "total", b, err);
	}
	mem_free(chosen);
	return status;
}

/* --- the tree */

/* Returns whether to show the file and line of a frame. In a tree of modules, an installed class is
 * identified by its name, and its path is long. */
static bool view_has_place(const look *l, const dck_frame *f)
{
	const bool installed =
	    f->file && (strstr(f->file, "/site-packages/") || strstr(f->file, "/dist-packages/"));

	return (f->file || f->module) && !(installed && strcmp(l->t->name, "modules") == 0);
}

static void place_put(const look *l, record_builder *b, const dck_frame *f)
{
	const uint32_t line = f->line ? f->line : f->start_line;

	if (!view_has_place(l, f))
		record_cell_absent(b, f->file ? "of an installed package" : "not known");
	else if (f->file && line)
		record_cell_fmt(b, "%s:%u", f->file, (unsigned)line);
	else
		record_cell_text(b, f->file ? f->file : f->module);
}

static void path_weight_put(record_builder *b, double weight, bool known)
{
	if (known)
		record_cell_real(b, weight);
	else
		record_cell_absent(b, CALL_UNKNOWN_WHY);
}

static void path_share_put(record_builder *b, double share, bool known)
{
	if (known && isfinite(share))
		record_cell_real(b, share);
	else
		record_cell_absent(b, known ? "the whole is 0" : CALL_UNKNOWN_WHOLE);
}

static void view_paths_put(const look *l, const tree_rows *rows, record_builder *b)
{
	const dck_column *weight = &l->t->columns[l->weight];
	dck_column columns[8] = {{"name", "path", DCK_UNIT_NONE},
				 {"total", "total", weight->unit},
				 {"total_share", "share", DCK_UNIT_ONE},
				 {"self", "self", weight->unit}};
	const double all = call_tree_sum(&l->c, l->weight);
	const size_t unknown = call_tree_unknown(l->t, l->weight);
	const bool known = unknown == l->t->ncolumns;
	size_t n = 4;
	bool places = false;
	char text[600];

	for (size_t i = 0; i < l->t->nframes; i++)
		places |= view_has_place(l, &l->t->frames[i]);
	if (l->count < l->t->ncolumns)
		columns[n++] = l->t->columns[l->count];
	if (places)
		columns[n++] = (dck_column){"place", "place", DCK_UNIT_NONE};
	snprintf(text, sizeof text, "%.300s, by %.80s", l->t->title, weight_title(l));
	if (rows->left_out > 0)
		snprintf(text, sizeof text,
			 "%.300s, by %.80s (left out: %zu path%s with all below)", l->t->title,
			 weight_title(l), rows->left_out, rows->left_out == 1 ? "" : "s");
	record_table(b, "paths", text, columns, n);
	for (size_t i = 0; i < rows->n; i++) {
		const uint32_t node = rows->rows[i].node;
		const size_t at = node * l->t->ncolumns;
		const dck_frame *f = &l->t->frames[l->t->nodes[node].frame];
		const double total = l->c.total[at + l->weight];

		record_cell_fmt(b, "%*s%s", (int)(2 * rows->rows[i].level), "", f->name);
		path_weight_put(b, total, known || l->c.total[at + unknown] == 0);
		path_share_put(b, total / all, known || call_tree_sum(&l->c, unknown) == 0);
		path_weight_put(b, l->t->weights[at + l->weight],
				known || l->t->weights[at + unknown] == 0);
		if (l->count < l->t->ncolumns)
			record_cell_real(b, l->t->weights[at + l->count]);
		if (places)
			place_put(l, b, f);
		if (i < CALL_VIEW_BRIEF)
			record_summary_row(b);
	}
}

static dck_status by_path(look *l, record_builder *b, dck_err *err)
{
	tree_rows rows;

	if (l->view->sort)
		DCK_FAIL(err, E_ARG, "a tree has the order of its totals: --sort is of functions");
	DCK_TRY(look_index(l, l->t, err));
	DCK_TRY(tree_rows_find(
	    &rows, &l->c,
	    &(tree_rows_how){.column = l->weight,
			     .most = call_view_top(l->view),
			     .levels = l->view->depth ? (uint32_t)l->view->depth : LEVELS,
			     .share_min = l->view->top ? 0 : share_min,
			     .unknown = call_tree_unknown(l->t, l->weight)},
	    err));
	view_paths_put(l, &rows, b);
	tree_rows_done(&rows);
	return DCK_OK;
}

/* --- */

static dck_status call_view_put(record_builder *b, const dck_record *r, const dck_calls_view *view,
				dck_err *err)
{
	const char *column = operator_view_column(view->sort);
	dck_status status;
	look l;

	if (column)
		return operator_view_put(b, r, column, call_view_top(view), err);
	DCK_TRY(look_open(&l, r, view, err));
	if (view->callers || view->callees)
		status = around(&l, view->callers ? view->callers : view->callees, view->callers, b,
				err);
	else if (view->by == DCK_CALLS_BY_PATH)
		status = by_path(&l, b, err);
	else
		status = view_by_function(&l, r, b, err);
	look_done(&l);
	return status;
}

dck_status dck_calls_query(const dck_record *r, const dck_calls_view *view, dck_record **ret,
			   dck_err *err)
{
	record_builder *b = record_new();

	DCK_NEED(b, err, "for a record");
	const dck_status status = call_view_put(b, r, view, err);
	if (status == DCK_OK) {
		call_view_about(b, r);
		return record_finish(b, ret, err);
	}
	record_drop(b);
	return status;
}

void call_view_about(record_builder *b, const dck_record *r)
{
	static const char *const names[] = {"name", "title"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const dck_fact *f = dck_record_fact(r, "subject", names[i]);

		if (f)
			record_fact(b, "subject", names[i], f->unit, f->value);
	}
	record_set_began(b, r->began_unix_ns);
	record_set_command(b, r->command);
	record_set_incomplete(b, r->incomplete);
	for (size_t i = 0; i < r->nnotes; i++)
		record_note_copy(b, &r->notes[i]);
}
