/* pstats_read.c - reads Python's pstats files: converts their call graph to call paths.
 *
 * The file is a dictionary {function: (primitive calls, calls, own seconds, seconds with callees,
 * callers)}, callers a dictionary {function: (calls, primitive calls, own seconds, seconds)} with
 * one entry for each caller; the module `profile` has only the number of calls there. A function is
 * (file, line, name). The numbers of each function and of each edge are exact, and table
 * "functions" has the former as they are; longer call chains are not in the file. So a function's
 * callees are divided among its callers in proportion to the time that they took under each, total
 * less self, much as gprof does (Graham, Kessler, McKusick, 1982, section 4). Without recursion the
 * total of each edge is then the file's.
 *
 * A function inside itself is a leaf of the tree, and a path below LIGHT of the total is not
 * continued. What the paths of an edge lack by that is divided among them (edges_scale()): calls
 * and self times of each edge equal the file's. A weight whose edge is on no path is put below
 * "(callers not known)", so that the sums of each function equal the file's. Source:
 * Lib/cProfile.py, Lib/profile.py, Lib/pstats.py of CPython
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/profile/pstats_read.h"

#include "base/err.h"
#include "base/names/function_name.h"
#include "base/mem.h"
#include "record/tree/cct.h"
#include "deepclock/opt.h"
#include "profiler/read/profile/marshal_read.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS, SELF };
enum { PATHS_MAX = 200000, PATH_DEPTH_MAX = 200 };
#define LIGHT	      1e-6
#define NS_PER_SECOND 1e9

static const dck_column weight_columns[] = {
    {"calls", "calls", DCK_UNIT_ONE},
    {"self", "self", DCK_UNIT_NS},
};

typedef struct call_times {
	double calls, primitive, self_ns, total_ns;
} call_times;

typedef struct profiled {
	call_times t;
	call_times outer;	 /* without a caller */
	call_times outer_paths;	 /* calls and self_ns of `outer` that are in the tree */
	double in_ns, in_calls;	 /* time in callees and calls, without recursion: divisors */
	call_times in_paths;	 /* calls and self_ns that are in the tree */
	size_t edges, edges_end; /* from it, in pstats.edges */
	bool listed, open;	 /* has a row in the file; is on the path that is being made */
} profiled;

typedef struct call_edge {
	uint32_t caller, callee;
	call_times t, in_paths;
} call_edge;

typedef struct pstats {
	cct paths;
	profiled *functions; /* @owned; by the number of their frames */
	call_edge *edges;    /* @owned; in ascending order of callers */
	size_t nfunctions, nedges, edges_max;
	double self_ns; /* sum over functions */
	double calls, primitive;
	dck_err *err;
} pstats;

bool pstats_is(const char *bytes, size_t n)
{
	return n >= 2 && (bytes[0] & 0x7f) == '{' &&
	       ((bytes[1] & 0x7f) == '(' || (bytes[1] & 0x7f) == ')' || bytes[1] == '0');
}

/* --- the file */

static double pstats_number_at(const marshal_values *v, size_t i)
{
	const marshal_value *item = &v->items[i];

	return item->kind == MARSHAL_NUMBER ? item->number : NAN;
}

static bool times_are_valid(const call_times *t)
{
	return t->calls >= 0 && t->calls < 0x1p53 && t->primitive >= 0 && t->primitive < 0x1p53 &&
	       isfinite(t->self_ns) && isfinite(t->total_ns);
}

static const char *pstats_text_of(const marshal_value *v, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)(v->n < size ? v->n : size - 1), v->text);
	return buf;
}

static dck_status function_read(pstats *p, const marshal_values *v, const marshal_value *key,
				uint32_t *ret)
{
	const marshal_value *part = key->kind == MARSHAL_TUPLE ? v->items + key->first : NULL;
	char file[STRING_NAME_MAX + 1], name[STRING_NAME_MAX + 1];

	if (!part || key->n != 3 || part[0].kind != MARSHAL_TEXT ||
	    part[1].kind != MARSHAL_NUMBER || part[2].kind != MARSHAL_TEXT)
		DCK_FAIL(p->err, E_FORMAT,
			 "this is not a profile of cProfile: a function is not (file, line, name)");
	const uint32_t line =
	    part[1].number > 0 && part[1].number < UINT32_MAX ? (uint32_t)part[1].number : 0;
	*ret =
	    cct_frame(&p->paths, &(dck_frame){.name = pstats_text_of(&part[2], name, sizeof name),
					      .file = pstats_text_of(&part[0], file, sizeof file),
					      .line = line,
					      .start_line = line});
	DCK_NEED(*ret, p->err, "for the functions of a profile");
	return DCK_OK;
}

/* calls_first: as in an edge; a function has its primitive calls first. */
static dck_status times_read(const pstats *p, const marshal_values *v, const marshal_value *of,
			     bool calls_first, call_times *ret)
{
	if (of->kind == MARSHAL_TUPLE && of->n >= 4) {
		const size_t calls = of->first + !calls_first, primitive = of->first + calls_first;

		*ret = (call_times){.calls = pstats_number_at(v, calls),
				    .primitive = pstats_number_at(v, primitive),
				    .self_ns = pstats_number_at(v, of->first + 2) * NS_PER_SECOND,
				    .total_ns = pstats_number_at(v, of->first + 3) * NS_PER_SECOND};
		/* Clocks that were corrected leave small negative times. */
		ret->self_ns = ret->self_ns < 0 ? 0 : ret->self_ns;
		ret->total_ns = ret->total_ns < 0 ? 0 : ret->total_ns;
		if (times_are_valid(ret))
			return DCK_OK;
	}
	DCK_FAIL(p->err, E_FORMAT,
		 "this is not a profile of cProfile: a function's calls and times "
		 "are not four numbers");
}

/* For an edge with only a number of calls: returns the same share of the callee's times. */
static call_times times_share(const call_times *of, double calls)
{
	const double share = of->calls > 0 ? fmin(1, calls / of->calls) : 0;

	return (call_times){calls, share * of->primitive, share * of->self_ns,
			    share * of->total_ns};
}

static dck_status callers_read(pstats *p, const marshal_values *v, uint32_t callee,
			       const marshal_value *callers)
{
	if (callers->kind != MARSHAL_DICT)
		DCK_FAIL(p->err, E_FORMAT,
			 "this is not a profile of cProfile: a function has no "
			 "dictionary of callers");
	for (size_t i = 0; i < callers->n; i += 2) {
		const marshal_value *value = &v->items[callers->first + i + 1];

		if (p->nedges == p->edges_max) /* rows refer to one dictionary */
			DCK_FAIL(p->err, E_FORMAT,
				 "the profile is damaged: it has more edges "
				 "than values");
		call_edge *e = &p->edges[p->nedges++];
		e->callee = callee;
		DCK_TRY(function_read(p, v, &v->items[callers->first + i], &e->caller));
		if (value->kind == MARSHAL_NUMBER && value->number >= 0)
			e->t = times_share(&p->functions[callee].t, value->number);
		else
			DCK_TRY(times_read(p, v, value, true, &e->t));
	}
	return DCK_OK;
}

static dck_status pstats_rows_read(pstats *p, const marshal_values *v)
{
	const marshal_value *root = &v->root;

	if (root->kind != MARSHAL_DICT)
		DCK_FAIL(p->err, E_FORMAT,
			 "this is not a profile of cProfile: it is not a dictionary");
	/* Each key of a dictionary may be a function, and each entry an edge. */
	p->edges_max = v->nitems / 2 + 1;
	p->functions = mem_zalloc(v->nitems + 2, sizeof *p->functions);
	p->edges = mem_zalloc(p->edges_max, sizeof *p->edges);
	DCK_NEED(p->functions && p->edges, p->err, "for the functions of a profile");
	for (size_t i = 0; i < root->n; i += 2) {
		const marshal_value *row = &v->items[root->first + i + 1];
		uint32_t f;

		DCK_TRY(function_read(p, v, &v->items[root->first + i], &f));
		if (row->kind != MARSHAL_TUPLE || row->n != 5)
			DCK_FAIL(p->err, E_FORMAT,
				 "this is not a profile of cProfile: a function "
				 "has %u values, not 5",
				 row->n);
		DCK_TRY(times_read(p, v, row, false, &p->functions[f].t));
		p->functions[f].listed = true;
		DCK_TRY(callers_read(p, v, f, &v->items[row->first + 4]));
	}
	p->nfunctions = (size_t)p->paths.nframes + 1;
	return DCK_OK;
}

/* --- the graph */

static int by_caller(const void *a, const void *b)
{
	const call_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return (x->callee > y->callee) - (x->callee < y->callee);
}

static double inner_ns(const call_times *t)
{
	return fmax(0, t->total_ns - t->self_ns);
}

/* Sorts the edges; functions that are equal in the first STRING_NAME_MAX bytes have one edge. */
static void edges_sort(pstats *p)
{
	size_t n = 0;

	if (p->nedges > 0)
		qsort(p->edges, p->nedges, sizeof *p->edges, by_caller);
	for (size_t i = 0; i < p->nedges; i++) {
		call_times *t = &p->edges[n ? n - 1 : 0].t;
		const call_times *more = &p->edges[i].t;

		if (n == 0 || by_caller(&p->edges[n - 1], &p->edges[i]) != 0) {
			p->edges[n++] = p->edges[i];
			continue;
		}
		t->calls += more->calls;
		t->self_ns += more->self_ns;
		t->total_ns += more->total_ns;
	}
	p->nedges = n;
}

/* Computes from rows and edges each function's times without a caller, and sorts the edges by
 * function. */
static void graph_make(pstats *p)
{
	for (size_t f = 0; f < p->nfunctions; f++) {
		p->functions[f].outer = p->functions[f].t;
		p->self_ns += p->functions[f].t.self_ns;
		p->calls += p->functions[f].t.calls;
		p->primitive += p->functions[f].t.primitive;
	}
	edges_sort(p);
	for (size_t i = 0; i < p->nedges; i++) {
		const call_edge *e = &p->edges[i];
		profiled *caller = &p->functions[e->caller], *callee = &p->functions[e->callee];

		if (caller->edges_end == 0)
			caller->edges = i;
		caller->edges_end = i + 1;
		callee->outer.calls -= e->t.calls;
		callee->outer.self_ns -= e->t.self_ns;
		if (e->caller != e->callee) {
			callee->outer.total_ns -= e->t.total_ns;
			callee->in_ns += inner_ns(&e->t);
			callee->in_calls += e->t.calls;
		}
	}
	for (size_t f = 0; f < p->nfunctions; f++) {
		call_times *outer = &p->functions[f].outer;

		*outer = (call_times){.calls = fmax(0, outer->calls),
				      .self_ns = fmax(0, outer->self_ns),
				      .total_ns = fmax(0, outer->total_ns)};
		p->functions[f].in_ns += inner_ns(outer);
		p->functions[f].in_calls += outer->calls;
	}
}

/* --- the tree */

static void path_add(pstats *p, uint32_t path, const call_times *t)
{
	cct_add(&p->paths, path, CALLS, t->calls);
	cct_add(&p->paths, path, SELF, t->self_ns);
}

/* The path to f, which took t on it, and what f called there. */
static void pstats_path_make(pstats *p, uint32_t parent, uint32_t f, const call_times *t,
			     unsigned depth)
{
	profiled *function = &p->functions[f];
	const uint32_t path = cct_child(&p->paths, parent, f);
	const double share = function->in_ns > 0      ? inner_ns(t) / function->in_ns
			     : function->in_calls > 0 ? t->calls / function->in_calls
						      : 0;

	path_add(p, path, t);
	if (function->open || depth >= PATH_DEPTH_MAX || t->total_ns < LIGHT * p->self_ns)
		return;
	function->open = true;
	for (size_t i = function->edges; i < function->edges_end; i++) {
		const call_edge *e = &p->edges[i];
		const call_times inner = {.calls = share * e->t.calls,
					  .self_ns = share * e->t.self_ns,
					  .total_ns = share * e->t.total_ns};

		if (p->paths.paths.n < PATHS_MAX && (inner.calls > 0 || inner.self_ns > 0))
			pstats_path_make(p, path, e->callee, &inner, depth + 1);
	}
	function->open = false;
}

/* Returns the edge that a path ends with; of an outermost path its function's `outer`, as an edge.
 */
static call_times *edge_of(pstats *p, uint32_t path, const call_times **ret_file)
{
	const path_node *rows = p->paths.paths.rows, *node = &rows[path];
	const call_edge key = {.caller = node->parent ? rows[node->parent].name : 0,
			       .callee = node->name};
	profiled *function = &p->functions[node->name];

	if (node->parent == 0) {
		*ret_file = &function->outer;
		return &function->outer_paths;
	}
	call_edge *e = bsearch(&key, p->edges, p->nedges, sizeof *p->edges, by_caller);
	assert(e);
	*ret_file = &e->t;
	return &e->in_paths;
}

static void paths_sum(pstats *p)
{
	const call_times *file;

	for (uint32_t path = 1; path < p->paths.paths.n; path++) {
		const double *w = p->paths.weights + path * p->paths.ncolumns;
		call_times *edge = edge_of(p, path, &file);
		call_times *function = &p->functions[p->paths.paths.rows[path].name].in_paths;

		edge->calls += w[CALLS];
		edge->self_ns += w[SELF];
		function->calls += w[CALLS];
		function->self_ns += w[SELF];
	}
}

/* Divides the missing weight of an edge among its paths, in proportion. With too many paths the
 * first ones would get all of it, so their weights are left unchanged. */
static void edges_scale(pstats *p)
{
	const call_times *file;

	if (p->paths.paths.n >= PATHS_MAX)
		return;
	for (uint32_t path = 1; path < p->paths.paths.n; path++) {
		double *w = p->paths.weights + path * p->paths.ncolumns;
		const call_times *edge = edge_of(p, path, &file);
		call_times *function = &p->functions[p->paths.paths.rows[path].name].in_paths;
		const call_times more = {
		    .calls = edge->calls > 0 ? w[CALLS] * (file->calls / edge->calls - 1) : 0,
		    .self_ns =
			edge->self_ns > 0 ? w[SELF] * (file->self_ns / edge->self_ns - 1) : 0,
		};

		path_add(p, path, &more);
		function->calls += more.calls;
		function->self_ns += more.self_ns;
	}
}

/* Returns whether something is left: of paths that were not made. */
static bool pstats_rest_add(pstats *p)
{
	const uint32_t root = cct_frame(&p->paths, &(dck_frame){.name = "(callers not known)"});
	bool any = false;

	for (uint32_t f = 1; f < p->nfunctions; f++) {
		const profiled *function = &p->functions[f];
		const call_times left = {
		    .calls = fmax(0, function->t.calls - function->in_paths.calls),
		    .self_ns = fmax(0, function->t.self_ns - function->in_paths.self_ns),
		};

		/* Rounding errors of the shares do not count as a remainder. */
		if (left.calls <= 1e-6 * function->t.calls &&
		    left.self_ns <= 1e-6 * function->t.self_ns)
			continue;
		path_add(p, cct_child(&p->paths, cct_child(&p->paths, 0, root), f), &left);
		any = true;
	}
	return any;
}

static bool tree_make(pstats *p)
{
	for (uint32_t f = 1; f < p->nfunctions; f++)
		if (p->functions[f].outer.calls > 0 || p->functions[f].outer.self_ns > 0)
			pstats_path_make(p, 0, f, &p->functions[f].outer, 1);
	if (!cct_failed(&p->paths)) {
		paths_sum(p);
		edges_scale(p);
	}
	return pstats_rest_add(p);
}

/* --- the record */

typedef struct function_row {
	double self_ns;
	uint32_t f;
} function_row;

static int pstats_by_self(const void *a, const void *b)
{
	const function_row *x = a, *y = b;

	if (x->self_ns != y->self_ns)
		return x->self_ns > y->self_ns ? -1 : 1;
	return (x->f > y->f) - (x->f < y->f);
}

static void row_write(const pstats *p, uint32_t f, record_builder *b)
{
	const dck_frame frame = cct_frame_get(&p->paths, f);
	const call_times *t = &p->functions[f].t;

	record_cell_text(b, frame.name);
	record_cell_int(b, (int64_t)t->calls);
	record_cell_int(b, (int64_t)t->primitive);
	record_cell_real(b, t->total_ns);
	record_cell_real(b, t->self_ns);
	record_cell_text(b, frame.file ? frame.file : "");
	record_cell(b,
		    frame.line ? RECORD_INT(frame.line) : RECORD_ABSENT("not written in Python"));
}

static void answer_write(const pstats *p, uint32_t f, record_builder *b)
{
	const dck_frame frame = cct_frame_get(&p->paths, f);
	const call_times *t = &p->functions[f].t;
	char self[32], all[32], calls[32];

	dck_text_time(t->self_ns, self, sizeof self);
	dck_text_time(p->self_ns, all, sizeof all);
	dck_text_count((int64_t)p->calls, calls, sizeof calls);
	record_answer(b, "%s has the most self time: %s, %.0f %% of %s in %s function calls",
		      FUNCTION_NAME_SHORT(frame.name), self,
		      p->self_ns > 0 ? 100 * t->self_ns / p->self_ns : 0, all, calls);
}

static dck_status functions_write(const pstats *p, record_builder *b)
{
	static const dck_column columns[] = {
	    {"name", "function", DCK_UNIT_NONE},
	    {"calls", "calls", DCK_UNIT_ONE},
	    {"primitive", "primitive", DCK_UNIT_ONE},
	    {"total", "total", DCK_UNIT_NS},
	    {"self", "self", DCK_UNIT_NS},
	    {"file", "file", DCK_UNIT_NONE},
	    {"line", "line", DCK_UNIT_NONE},
	};
	function_row *rows = mem_zalloc(p->nfunctions, sizeof *rows);
	size_t n = 0;

	DCK_NEED(rows, p->err, "for the table of functions");
	for (uint32_t f = 1; f < p->nfunctions; f++)
		if (p->functions[f].listed)
			rows[n++] = (function_row){p->functions[f].t.self_ns, f};
	if (n > 0)
		qsort(rows, n, sizeof *rows, pstats_by_self);
	RECORD_TABLE(b, "functions", "Functions", columns);
	for (size_t i = 0; i < n; i++)
		row_write(p, rows[i].f, b);
	if (n > 0)
		answer_write(p, rows[0].f, b);
	mem_free(rows);
	return DCK_OK;
}

static dck_status record_write(pstats *p, record_builder *b)
{
	DCK_TRY(functions_write(p, b));
	record_fact_text(b, "profile", "format", "pstats");
	record_fact_real(b, "profile", "calls", DCK_UNIT_ONE, p->calls);
	record_fact_real(b, "profile", "primitive_calls", DCK_UNIT_ONE, p->primitive);
	record_fact_real(b, "profile", "time", DCK_UNIT_NS, p->self_ns);
	const bool rest = tree_make(p);
	if (p->nfunctions > 1)
		record_note(b, "profile-paths",
			    "call paths are estimated: the profile has the callers of each "
			    "function, and not the callers of these%s",
			    rest ? "; time on unknown paths is below (callers "
				   "not known)"
				 : "");
	return cct_tree(&p->paths, "calls", "Calls by call path (estimated)", b, p->err);
}

dck_status pstats_read(const char *bytes, size_t n, record_builder *b, dck_err *err)
{
	pstats p = {.err = err};
	marshal_values v;

	DCK_TRY(marshal_read(&v, bytes, n, err));
	dck_status status = cct_init(&p.paths, weight_columns,
				     sizeof weight_columns / sizeof weight_columns[0], err);
	DCK_NEXT(status, pstats_rows_read(&p, &v));
	marshal_values_done(&v);
	if (status == DCK_OK) {
		graph_make(&p);
		status = record_write(&p, b);
	}
	cct_done(&p.paths);
	mem_free(p.functions);
	mem_free(p.edges);
	return status;
}
