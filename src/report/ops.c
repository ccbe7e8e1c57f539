/* ops.c - operators of a record sorted and grouped (GROUP BY): sums by type, class or line of code,
 * or over the tree of modules.
 *
 * By one key: pairs of key and operator are sorted, and each run of equal keys is a row. By module:
 * scopes are paths with '/' and '.'. They are sorted with separators before all other characters,
 * so that the operators of a module are contiguous, and the tree is walked in pre-order, by
 * recursion over index ranges. A module that holds nothing but one other shares its row. The depth
 * is the largest whose rows fit into `most`, at most DEPTH_MAX, which bounds the recursion.
 *
 * Sums are exact integers until one overflows or a term is real, then doubles; values that are not
 * known are counted, and never added as 0. Each comparison ends at the position in the graph, so
 * that the order does not depend on qsort(). O(n log n) comparisons, by module for each level of
 * depth. Rows point into the record, which must outlive them; names that are made are in
 * ops_rows.texts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/ops.h"
#include "base/mem.h"
#include "record/record_internal.h"
#include "report/format.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const by_choices[] = {"auto",  "type", "node", "module",
					 "class", "line", "all",  NULL};
static const char *const sort_choices[] = {"auto",  "time", "macs",  "flops", "params",
					   "bytes", "name", "graph", NULL};

const dck_opt dck_op_options[] = {
    DCK_OPTION(CHOICE, dck_op_view, by, "by", "WHAT", "auto", "which tables of operators",
	       .choices = by_choices),
    DCK_OPTION(CHOICE, dck_op_view, sort, "sort", "WHAT", "auto",
	       "order of operators; default: time, or MACs without timing",
	       .choices = sort_choices),
    DCK_OPTION(COUNT, dck_op_view, top, "top", "N", NULL,
	       "rows of each table of operators; 0: 20 of a text, all of a CSV", .max = 1e9),
    {0},
};

/* --- sums */

static void sum_add_real(ops_sum *s, double v)
{
	if (!s->real)
		s->r = (double)s->i;
	s->real = true;
	s->r += v;
}

static void sum_add_int(ops_sum *s, int64_t v)
{
	if (s->real)
		s->r += (double)v;
	else if (v > 0 ? s->i > INT64_MAX - v : s->i < INT64_MIN - v)
		sum_add_real(s, (double)v);
	else
		s->i += v;
}

void ops_sum_add(ops_sum *s, const dck_value *v)
{
	if (v->kind == DCK_VALUE_INT)
		sum_add_int(s, v->as.i);
	else if (v->kind == DCK_VALUE_REAL)
		sum_add_real(s, v->as.r);
	else
		s->unknown++;
	s->known += v->kind == DCK_VALUE_INT || v->kind == DCK_VALUE_REAL;
}

double ops_sum_value(const ops_sum *s)
{
	return s->real ? s->r : (double)s->i;
}

void ops_sum_range_add(const ops_sum *s, column_range *r)
{
	dck_cell c = {.value = {.kind = DCK_VALUE_INT, .as.i = s->i}};

	if (s->real)
		c.value = (dck_value){.kind = DCK_VALUE_REAL, .as.r = s->r};
	if (s->known > 0)
		column_range_add(r, &c);
}

ops_sum ops_sum_plus(const ops_sum *a, const ops_sum *b)
{
	ops_sum s = *a;

	if (b->real)
		sum_add_real(&s, b->r);
	else
		sum_add_int(&s, b->i);
	s.known += b->known;
	s.unknown += b->unknown;
	return s;
}

static bool report_is_number(const dck_value *v)
{
	return v->kind == DCK_VALUE_INT || v->kind == DCK_VALUE_REAL;
}

static void report_row_add(ops_row *row, const dck_op *op)
{
	double flops;

	for (size_t i = 0; i < OPS_FIELDS; i++)
		ops_sum_add(&row->sum[i], record_op_get(op, i));
	if (!format_number_of(&op->flops, &flops))
		flops = 1;
	if (flops > 0 && report_is_number(&op->time_ns) && !report_is_number(&op->rate))
		row->refused = true;
	if (!row->first || op < row->first)
		row->first = op;
	row->n++;
}

void ops_row_init(ops_row *row, const dck_op *op)
{
	*row = (ops_row){.name = op->name, .name_bytes = strlen(op->name)};
	report_row_add(row, op);
}

void ops_row_total(ops_row *row, const dck_record *r)
{
	*row = (ops_row){.name = "total", .name_bytes = 5};
	for (size_t i = 0; i < r->nops; i++)
		report_row_add(row, &r->ops[i]);
}

ops_sum ops_row_bytes(const ops_row *row)
{
	return ops_sum_plus(&row->sum[OPS_READ], &row->sum[OPS_WRITE]);
}

bool ops_timed(const dck_record *r)
{
	for (size_t i = 0; i < r->nops; i++)
		if (report_is_number(&r->ops[i].time_ns))
			return true;
	return false;
}

/* --- order: largest first, unknown last, then graph order */

static double report_key_of(const ops_row *row, int sort)
{
	static const ops_field field[] = {[OPS_SORT_TIME] = OPS_TIME,
					  [OPS_SORT_MACS] = OPS_MACS,
					  [OPS_SORT_FLOPS] = OPS_FLOPS,
					  [OPS_SORT_PARAMS] = OPS_PARAMS};
	ops_sum s;

	if (sort == OPS_SORT_BYTES)
		s = ops_row_bytes(row);
	else
		s = row->sum[field[sort]];
	return s.known > 0 ? ops_sum_value(&s) : -INFINITY;
}

typedef struct sort_key {
	double key;
	const char *name;
	size_t name_bytes, at;
	const dck_op *first;
} sort_key;

static sort_key report_key_make(const ops_row *row, int sort, size_t at)
{
	sort_key k = {.at = at, .first = row->first};

	if (sort == OPS_SORT_NAME) {
		k.name = row->name;
		k.name_bytes = row->name_bytes;
	} else if (sort != OPS_SORT_GRAPH) {
		k.key = report_key_of(row, sort);
	}
	return k;
}

static int key_compare(const void *va, const void *vb)
{
	const sort_key *a = va, *b = vb;

	if (a->name && b->name) {
		size_t n = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
		int order = memcmp(a->name, b->name, n);
		if (order == 0)
			order = (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
		if (order != 0)
			return order;
	}
	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static int sort_choose(const dck_record *r, int sort)
{
	return sort != OPS_SORT_AUTO ? sort : ops_timed(r) ? OPS_SORT_TIME : OPS_SORT_MACS;
}

const dck_op **ops_by_node(const dck_record *r, int sort)
{
	const dck_op **ret = mem_zalloc(r->nops + 1, sizeof *ret);
	sort_key *keys = mem_zalloc(r->nops + 1, sizeof *keys);

	sort = sort_choose(r, sort);
	for (size_t i = 0; i < r->nops && keys; i++) {
		ops_row row;
		ops_row_init(&row, &r->ops[i]);
		keys[i] = report_key_make(&row, sort, i);
	}
	if (!ret || !keys) {
		mem_free(ret);
		mem_free(keys);
		return NULL;
	}
	qsort(keys, r->nops, sizeof *keys, key_compare);
	for (size_t i = 0; i < r->nops; i++)
		ret[i] = keys[i].first;
	mem_free(keys);
	return ret;
}

/* Returns the permutation that sorts the rows: row ret[0] comes first. mem_free(); NULL: no
 * memory. */
static size_t *rows_order(const ops_row *rows, size_t n, int sort)
{
	sort_key *keys = mem_zalloc(n + 1, sizeof *keys);
	size_t *ret = mem_zalloc(n + 1, sizeof *ret);

	for (size_t i = 0; i < n && keys; i++)
		keys[i] = report_key_make(&rows[i], sort, i);
	if (keys && ret) {
		qsort(keys, n, sizeof *keys, key_compare);
		for (size_t i = 0; i < n; i++)
			ret[i] = keys[i].at;
	} else {
		mem_free(ret);
		ret = NULL;
	}
	mem_free(keys);
	return ret;
}

void ops_rows_done(ops_rows *rows)
{
	mem_free(rows->rows);
	mem_arena_free(rows->texts);
	*rows = (ops_rows){0};
}

bool ops_is_formula(const char *symbol)
{
	return strpbrk(symbol, "+-*/(, ") != NULL;
}

/* --- by a text that each operator has, or has not */

static const dck_op **pointers(const dck_record *r)
{
	const dck_op **p = mem_zalloc(r->nops + 1, sizeof *p);
	for (size_t i = 0; i < r->nops && p; i++)
		p[i] = &r->ops[i];
	return p;
}

static const char *report_type_of(const dck_op *op)
{
	return op->type;
}

static const char *class_of(const dck_op *op)
{
	return op->class_name ? op->class_name : "";
}

static const char *report_line_of(const dck_op *op)
{
	return op->line ? op->line : "";
}

typedef struct keyed {
	const char *key;
	const dck_op *op;
} keyed;

static int keyed_compare(const void *va, const void *vb)
{
	const keyed *a = va, *b = vb;
	const int order = strcmp(a->key, b->key);

	return order != 0 ? order : (a->op > b->op) - (a->op < b->op);
}

static bool report_rows_sort(ops_rows *rows, int sort)
{
	size_t *order = rows_order(rows->rows, rows->n, sort);
	ops_row *sorted = mem_zalloc(rows->n + 1, sizeof *sorted);
	const bool ok = order && sorted;

	for (size_t i = 0; i < rows->n && ok; i++)
		sorted[i] = rows->rows[order[i]];
	mem_free(order);
	mem_free(ok ? rows->rows : sorted);
	if (ok)
		rows->rows = sorted;
	return ok;
}

static bool rows_by(const dck_record *r, int sort, const char *(*key)(const dck_op *op),
		    ops_rows *ret)
{
	keyed *k = mem_zalloc(r->nops + 1, sizeof *k);

	*ret = (ops_rows){.rows = mem_zalloc(r->nops + 1, sizeof *ret->rows)};
	for (size_t i = 0; i < r->nops && k; i++)
		k[i] = (keyed){key(&r->ops[i]), &r->ops[i]};
	if (k)
		qsort(k, r->nops, sizeof *k, keyed_compare);
	for (size_t i = 0; i < r->nops && k && ret->rows; i++) {
		if (i == 0 || strcmp(k[i].key, k[i - 1].key) != 0) {
			ops_row *row = &ret->rows[ret->n++];
			row->name = row->path = k[i].key;
			row->name_bytes = row->path_bytes = strlen(k[i].key);
		}
		report_row_add(&ret->rows[ret->n - 1], k[i].op);
	}
	const bool ok = k && ret->rows && report_rows_sort(ret, sort_choose(r, sort));
	mem_free(k);
	if (!ok)
		ops_rows_done(ret);
	return ok;
}

bool ops_by_type(const dck_record *r, int sort, size_t most, ops_rows *ret)
{
	(void)most;
	return rows_by(r, sort, report_type_of, ret);
}

/* "Conv2d" of "torch.nn.modules.conv.Conv2d". */
static bool by_class(const dck_record *r, int sort, size_t most, ops_rows *ret)
{
	(void)most;
	if (!rows_by(r, sort, class_of, ret))
		return false;
	for (size_t i = 0; i < ret->n; i++) {
		const char *dot = strrchr(ret->rows[i].path, '.');

		ret->rows[i].name = dot ? dot + 1 : ret->rows[i].path;
		ret->rows[i].name_bytes = strlen(ret->rows[i].name);
	}
	return true;
}

/* "net.py:17 x = self.conv(x)". */
static bool by_line(const dck_record *r, int sort, size_t most, ops_rows *ret)
{
	(void)most;
	if (!rows_by(r, sort, report_line_of, ret))
		return false;
	ret->texts = mem_arena_new(0);
	for (size_t i = 0; i < ret->n && ret->texts; i++) {
		ops_row *row = &ret->rows[i];
		const char *slash = strrchr(row->path, '/');
		const char *code = row->first->code ? row->first->code : "";
		const char *name = mem_arena_fmt(
		    ret->texts, "%s%s%s", slash ? slash + 1 : row->path, *code ? " " : "", code);

		row->name = name ? name : row->path;
		row->name_bytes = strlen(row->name);
	}
	const bool ok = ret->texts && !mem_arena_failed(ret->texts);
	if (!ok)
		ops_rows_done(ret);
	return ok;
}

/* --- by module: scopes are paths, parted by '/' and, inside a part, by '.' */

#define DEPTH_MAX 24

static bool is_separator(char c)
{
	return c == '/' || c == '.' || c == '\0';
}

/* Returns the bytes of the first `depth` parts of a path, or of all where it has fewer. *ret_full:
 * it has `depth` parts. */
static size_t path_prefix(const char *path, unsigned depth, bool *ret_full)
{
	size_t i = 0;
	unsigned parts = 0;

	for (;; i++) {
		if (is_separator(path[i]) && ++parts == depth)
			break;
		if (path[i] == '\0')
			break;
	}
	*ret_full = parts == depth && depth > 0;
	return i;
}

static const char *scope_of(const dck_op *op)
{
	return op->scope ? op->scope : "";
}

/* Separators sort before any other character, so that a module's operators are contiguous. */
static int path_char(char c)
{
	return c == '\0' ? 0 : is_separator(c) ? 1 : (unsigned char)c + 2;
}

static int scope_compare(const void *va, const void *vb)
{
	const dck_op *a = *(const dck_op *const *)va, *b = *(const dck_op *const *)vb;
	const char *x = scope_of(a), *y = scope_of(b);

	for (; *x != '\0' && path_char(*x) == path_char(*y); x++)
		y++;
	return *x != *y ? path_char(*x) - path_char(*y) : (a > b) - (a < b);
}

/* Returns whether the scopes of both have the same first `depth` parts. */
static bool report_same_module(const dck_op *a, const dck_op *b, unsigned depth)
{
	bool fa, fb;
	const char *x = scope_of(a), *y = scope_of(b);
	size_t n = path_prefix(x, depth, &fa);

	if (path_prefix(y, depth, &fb) != n || fa != fb)
		return false;
	for (size_t i = 0; i < n; i++)
		if (path_char(x[i]) != path_char(y[i]))
			return false;
	return true;
}

typedef struct tree {
	const dck_op **ops; /* by scope */
	ops_rows *out;
	unsigned deepest;
	int sort;
	bool failed;
} tree;

/* Names a row by the last part of its path; where that is a number, as in "layer1.0", with the part
 * before it. */
static void report_row_name(ops_row *row, const char *path, size_t bytes)
{
	size_t from = bytes, parts = 0;
	bool number = true;

	while (from > 0 && !is_separator(path[from - 1]))
		number &= path[--from] >= '0' && path[from] <= '9';
	while (number && parts++ == 0 && from > 1 && path[from - 1] == '.')
		for (from--; from > 0 && !is_separator(path[from - 1]);)
			from--;
	row->path = path;
	row->path_bytes = bytes;
	row->name = path + from;
	row->name_bytes = bytes - from;
}

/* Returns how many parts all of ops[lo, hi) have in common, at least `depth`: a module that holds
 * nothing but one other is one row with it. */
static unsigned shared_depth(const tree *t, size_t lo, size_t hi, unsigned depth)
{
	for (; depth < DEPTH_MAX; depth++) {
		for (size_t i = lo; i < hi; i++) {
			bool full;
			path_prefix(scope_of(t->ops[i]), depth + 1, &full);
			if (!full || !report_same_module(t->ops[lo], t->ops[i], depth + 1))
				return depth;
		}
	}
	return depth;
}

/* Appends rows of the modules with `depth` parts in ops[lo, hi), which share all parts before, and
 * of the modules in them. */
static void modules_put(tree *t, size_t lo, size_t hi, unsigned depth, unsigned level)
{
	size_t n = 0;

	if (depth > t->deepest || t->failed)
		return;
	/* The operators of the enclosing module itself come first and have no part here. */
	for (bool full = false; lo < hi; lo++) {
		path_prefix(scope_of(t->ops[lo]), depth, &full);
		if (full && scope_of(t->ops[lo])[0] != '\0')
			break;
	}
	for (size_t i = lo; i < hi; i++)
		n += i == lo || !report_same_module(t->ops[i], t->ops[i - 1], depth);
	ops_row *rows = mem_zalloc(n + 1, sizeof *rows);
	size_t *begin = mem_zalloc(n + 1, sizeof *begin);
	if (!rows || !begin) {
		t->failed = true;
		n = 0;
	}
	for (size_t i = lo, k = 0; i < hi && n > 0; i++) {
		bool full;
		if (i == lo || !report_same_module(t->ops[i], t->ops[i - 1], depth)) {
			const char *path = scope_of(t->ops[i]);
			begin[k] = i;
			rows[k].depth = level;
			report_row_name(&rows[k++], path, path_prefix(path, depth, &full));
		}
		report_row_add(&rows[k - 1], t->ops[i]);
	}
	size_t *order = t->failed ? NULL : rows_order(rows, n, t->sort);
	t->failed |= order == NULL;
	for (size_t i = 0; i < n && !t->failed; i++) {
		size_t k = order[i], end = k + 1 < n ? begin[k + 1] : hi;
		unsigned inner = shared_depth(t, begin[k], end, depth);
		const char *path = scope_of(t->ops[begin[k]]);
		bool full;
		rows[k].path_bytes = path_prefix(path, inner, &full);
		rows[k].name_bytes = (size_t)(path + rows[k].path_bytes - rows[k].name);
		t->out->rows[t->out->n++] = rows[k];
		modules_put(t, begin[k], end, inner + 1, level + 1);
	}
	mem_free(order);
	mem_free(begin);
	mem_free(rows);
}

/* Returns how many modules have exactly `depth` parts. */
static size_t modules_count(const tree *t, size_t nops, unsigned depth)
{
	size_t n = 0;
	const dck_op *before = NULL;

	for (size_t i = 0; i < nops; i++) {
		bool full;
		if (scope_of(t->ops[i])[0] == '\0')
			continue;
		path_prefix(t->ops[i]->scope, depth, &full);
		if (!full)
			continue;
		n += !before || !report_same_module(t->ops[i], before, depth);
		before = t->ops[i];
	}
	return n;
}

bool ops_by_module(const dck_record *r, int sort, size_t most, ops_rows *ret)
{
	tree t = {.ops = pointers(r), .out = ret, .sort = sort};
	size_t n = 0;
	ops_row none = {.name = "", .path = ""};

	*ret = (ops_rows){0};
	if (!t.ops)
		return false;
	qsort(t.ops, r->nops, sizeof *t.ops, scope_compare);
	while (t.deepest < DEPTH_MAX) {
		size_t more = modules_count(&t, r->nops, t.deepest + 1);
		if (more == 0 || (t.deepest > 0 && n + more > most))
			break;
		n += more;
		t.deepest++;
	}
	if (t.sort == OPS_SORT_AUTO)
		t.sort = OPS_SORT_GRAPH;
	ret->rows = mem_zalloc(n + 2, sizeof *ret->rows);
	t.failed = ret->rows == NULL;
	if (n > 0)
		modules_put(&t, 0, r->nops, 1, 0);
	for (size_t i = 0; i < r->nops && n > 0; i++)
		if (scope_of(&r->ops[i])[0] == '\0')
			report_row_add(&none, &r->ops[i]);
	if (none.n > 0 && !t.failed)
		ret->rows[ret->n++] = none;
	mem_free(t.ops);
	if (t.failed)
		ops_rows_done(ret);
	return !t.failed;
}

/* --- all of them */

const ops_group *ops_group_of(int by)
{
	static const ops_group groups[] = {
	    [OPS_BY_TYPE] = {"By operator type", "type", "(no type)", NULL, true, false,
			     ops_by_type},
	    [OPS_BY_MODULE] = {"By module", "module", "(no module)",
			       "the names of the operators contain no modules", false, false,
			       ops_by_module},
	    [OPS_BY_CLASS] = {"By class of module", "class", "(no class)",
			      "the model does not record the classes of its modules; PyTorch's "
			      "exporter writes them with dynamo=True",
			      true, true, by_class},
	    [OPS_BY_LINE] = {"By line of the model's code", "line", "(no line)",
			     "the model does not record the lines of its code; PyTorch's exporter "
			     "writes them with dynamo=True",
			     true, true, by_line},
	};

	return by >= 0 && (size_t)by < sizeof groups / sizeof *groups && groups[by].rows
		   ? &groups[by]
		   : NULL;
}
