/* call_diff.c - differential profile: how the call paths of one record differ from another's.
 *
 * Both trees are merged into one calling-context tree with a weight for each side (cct.c).
 * Frames are equal by name, file and module, not by line, because lines move between versions, and
 * not by the type that a function returns, which a record of another program may contain. The
 * result is a record with the merged tree, and tables of the functions and of the paths that
 * changed, sorted by the magnitude of the change of self, or of total where requested.
 *
 * Where the weights are sums of samples, a side is a proportion: a change has Newcombe's interval
 * of a difference, and "beyond noise" applies Bonferroni's correction for all changed rows
 * (share_difference.h). Other counts are exact; a time of a single run has no interval.
 *
 * Merging is one hash look-up per node; sorting is O(n log n). With normalise the weights of A are
 * scaled to the sum of B.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/names/function_name.h"
#include "record/tree/share_difference.h"
#include "record/tree/cct.h"
#include "record/tree/exact_functions.h"
#include "record/tree/function_weights.h"
#include "record/tree/call_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, SIDES, PATH_MAX_BYTES = 1500 };

typedef struct diff {
	const dck_calls_view *view;
	const dck_record *const *records;
	const dck_column *weight;
	dck_tree t; /* of both */
	call_tree c;
	function_weights sums;
	double whole[SIDES];
	double scale[SIDES];   /* factor of the weights */
	double samples[SIDES]; /* number of samples in the weights; 0: no sums of samples */
	char whole_text[100];  /* how the sums of both differ, for titles */
} diff;

/* --- merging */

static dck_status side_add(cct *p, size_t side, const dck_record *r, const dck_calls_view *view,
			   const dck_column **ret_weight, double *ret_sum, double *ret_samples,
			   dck_err *err)
{
	const dck_tree *t;
	size_t weight;

	DCK_TRY(call_tree_find(r, view->tree, &t, err));
	DCK_TRY(call_tree_weight(t, view->weight, &weight, err));
	uint32_t *path = mem_zalloc(t->nnodes + 1, sizeof *path);
	DCK_NEED(path, err, "for the difference of two trees");
	*ret_sum = *ret_samples = 0;
	const size_t samples = call_tree_column(t, "samples");
	for (size_t i = 0; i < t->nnodes; i++) {
		const dck_frame *f = &t->frames[t->nodes[i].frame];
		const uint32_t parent = t->nodes[i].parent;
		const double own = t->weights[i * t->ncolumns + weight];

		path[i] = cct_child(p, parent == DCK_TREE_ROOT ? 0 : path[parent],
				    cct_frame(p, &(dck_frame){.name = function_name_begin(f->name),
							      .file = f->file,
							      .module = f->module}));
		cct_add(p, path[i], side, own);
		*ret_sum += own;
		if (samples < t->ncolumns)
			*ret_samples += t->weights[i * t->ncolumns + samples];
	}
	mem_free(path);
	*ret_weight = &t->columns[weight];
	return DCK_OK;
}

/* --- rows */

typedef struct diff_row {
	double change; /* the sort key, a magnitude */
	uint32_t at;   /* a function or a node */
} diff_row;

static int diff_by_change(const void *a, const void *b)
{
	const diff_row *x = a, *y = b;

	if (x->change != y->change)
		return x->change > y->change ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static bool sorts_by_total(const dck_calls_view *view)
{
	return view->sort &&
	       (strcmp(view->sort, "total") == 0 || strcmp(view->sort, "cumtime") == 0 ||
		strcmp(view->sort, "cumulative") == 0);
}

/* Finds the rows that changed, and sorts them by the largest change. self, total: [n][SIDES]. */
static size_t diff_rows_find(const diff *d, const double *self, const double *total, uint32_t n,
			     diff_row *rows)
{
	const double *by = sorts_by_total(d->view) ? total : self;
	size_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		const double *s = self + SIDES * (size_t)i, *t = total + SIDES * (size_t)i;

		if (s[A] != s[B] || t[A] != t[B])
			rows[found++] =
			    (diff_row){fabs(by[SIDES * (size_t)i + B] - by[SIDES * (size_t)i]), i};
	}
	qsort(rows, found, sizeof *rows, diff_by_change);
	return found;
}

/* Makes the proportions of both sides. Returns false if the weights are not sums of samples. scale:
 * the weight of the whole. */
static bool shares_of(const diff *d, const double *v, const double scale[SIDES],
		      call_share ret[SIDES])
{
	for (size_t i = 0; i < SIDES; i++) {
		if (d->samples[i] <= 0 || d->whole[i] <= 0)
			return false;
		ret[i] = (call_share){v[i] / d->whole[i], d->samples[i], scale[i]};
	}
	return true;
}

static void change_put(const diff *d, record_builder *b, const double *v, double change,
		       const double scale[SIDES])
{
	call_share shares[SIDES];
	double lo, hi;

	if (shares_of(d, v, scale, shares)) {
		call_noise_interval(&shares[A], &shares[B], CALL_NOISE_LEVEL, &lo, &hi);
		record_cell_interval(b, change, lo, hi, CALL_NOISE_LEVEL);
	} else {
		record_cell_real(b, change);
	}
}

static void diff_share_put(const diff *d, record_builder *b, const double *v)
{
	if (d->whole[A] != 0 && d->whole[B] != 0)
		change_put(d, b, v, v[B] / d->whole[B] - v[A] / d->whole[A],
			   (const double[SIDES]){1, 1});
	else
		record_cell_absent(b, "the whole of one is 0");
}

/* Writes whether the change that is the sort key is beyond noise. */
static void beyond_put(const diff *d, record_builder *b, const double *v, size_t rows)
{
	call_share shares[SIDES];

	if (shares_of(d, v, d->whole, shares))
		record_cell_text(b, call_noise_beyond(&shares[A], &shares[B], rows) ? "yes" : "no");
	else if (d->weight->unit != DCK_UNIT_NS)
		record_cell_text(b, "exact");
	else
		record_cell_absent(b, "a time of one run each: how far runs differ is not known");
}

static void numbers_put(const diff *d, record_builder *b, const double *self, const double *total,
			size_t rows)
{
	const bool was = self[A] != 0 || total[A] != 0, is = self[B] != 0 || total[B] != 0;

	change_put(d, b, self, self[B] - self[A], d->whole);
	diff_share_put(d, b, self);
	record_cell_real(b, self[A]);
	record_cell_real(b, self[B]);
	change_put(d, b, total, total[B] - total[A], d->whole);
	diff_share_put(d, b, total);
	record_cell_real(b, total[A]);
	record_cell_real(b, total[B]);
	record_cell_text(b, was && is ? "changed" : is ? "added" : "removed");
	beyond_put(d, b, sorts_by_total(d->view) ? total : self, rows);
}

static void diff_head_put(const diff *d, record_builder *b, const char *name, const char *first,
			  const char *what, size_t n, size_t changed)
{
	const dck_unit unit = d->weight->unit;
	const dck_column columns[] = {{"name", first, DCK_UNIT_NONE},
				      {"self_change", "self change", unit},
				      {"self_change_share", "of the whole", DCK_UNIT_ONE},
				      {"self_a", "self A", unit},
				      {"self_b", "self B", unit},
				      {"total_change", "total change", unit},
				      {"total_change_share", "of the whole", DCK_UNIT_ONE},
				      {"total_a", "total A", unit},
				      {"total_b", "total B", unit},
				      {"state", "state", DCK_UNIT_NONE},
				      {"beyond_noise", "beyond noise", DCK_UNIT_NONE},
				      {"file", "file", DCK_UNIT_NONE}};
	char title[300], rest[60] = "";

	if (n < changed)
		snprintf(rest, sizeof rest, " (the first %zu of %zu)", n, changed);
	snprintf(title, sizeof title, "%s whose %.60s changed%s%s", what, d->weight->title,
		 d->whole_text, rest);
	RECORD_TABLE(b, name, title, columns);
	record_summary_columns(
	    b, "self_change self_change_share self_a self_b total_change state beyond_noise");
}

static void diff_file_put(record_builder *b, const dck_frame *f)
{
	record_cell(b, f->file || f->module ? RECORD_TEXT(f->file ? f->file : f->module)
					    : RECORD_ABSENT("not known"));
}

static void diff_functions_put(const diff *d, diff_row *rows, record_builder *b)
{
	const size_t changed =
	    diff_rows_find(d, d->sums.self, d->sums.total, d->c.nfunctions, rows);
	const size_t top = call_view_top(d->view), n = changed < top ? changed : top;

	diff_head_put(d, b, "diff/functions", "function", "Functions", n, changed);
	for (size_t i = 0; i < n; i++) {
		const uint32_t at = rows[i].at;

		record_cell_text(b, d->c.functions[at].frame.name);
		numbers_put(d, b, d->sums.self + SIDES * (size_t)at,
			    d->sums.total + SIDES * (size_t)at, changed);
		diff_file_put(b, &d->c.functions[at].frame);
		if (i < CALL_VIEW_BRIEF)
			record_summary_row(b);
	}
}

/* Writes "main;train;forward"; outer frames that do not fit become "...". */
static const char *path_text(const diff *d, uint32_t node, char buf[PATH_MAX_BYTES])
{
	size_t at = PATH_MAX_BYTES - 1;

	buf[at] = '\0';
	for (bool leaf = true; node != DCK_TREE_ROOT;
	     node = d->t.nodes[node].parent, leaf = false) {
		const char *name = d->t.frames[d->t.nodes[node].frame].name;
		const size_t n = strlen(name);

		if (n + 1 + 4 > at) {
			at -= 3;
			memcpy(buf + at, "...", 3);
			break;
		}
		if (!leaf)
			buf[--at] = ';';
		at -= n;
		memcpy(buf + at, name, n);
	}
	return buf + at;
}

static void diff_paths_put(const diff *d, diff_row *rows, record_builder *b)
{
	const size_t changed =
	    diff_rows_find(d, d->t.weights, d->c.total, (uint32_t)d->t.nnodes, rows);
	const size_t top = call_view_top(d->view), n = changed < top ? changed : top;
	char buf[PATH_MAX_BYTES];

	diff_head_put(d, b, "diff/paths", "path", "Call paths", n, changed);
	for (size_t i = 0; i < n; i++) {
		const uint32_t at = rows[i].at;

		record_cell_text(b, path_text(d, at, buf));
		numbers_put(d, b, d->t.weights + SIDES * (size_t)at,
			    d->c.total + SIDES * (size_t)at, changed);
		diff_file_put(b, &d->t.frames[d->t.nodes[at].frame]);
	}
}

/* --- the record */

/* If the paths of a side are estimated, takes the sums of its functions from the file. */
static dck_status side_exact(diff *d, size_t side, dck_err *err)
{
	const dck_record *r = d->records[side];
	const dck_tree *t;
	exact_functions e;
	size_t weight;

	DCK_TRY(call_tree_find(r, d->view->tree, &t, err));
	DCK_TRY(call_tree_weight(t, d->view->weight, &weight, err));
	if (!exact_functions_find(&e, r, t, weight))
		return DCK_OK;
	for (uint32_t i = 0; i < d->c.nfunctions; i++)
		d->sums.self[SIDES * (size_t)i + side] = d->sums.total[SIDES * (size_t)i + side] =
		    0;
	for (size_t k = 0; k < e.table->nrows; k++) {
		const exact_function f = exact_functions_get(&e, k);
		const uint32_t i = call_tree_function_find(
		    &d->c,
		    &(dck_frame){.name = function_name_begin(f.frame.name), .file = f.frame.file});

		if (i == CALL_NONE)
			continue;
		d->sums.self[SIDES * (size_t)i + side] += f.self_ns * d->scale[side];
		d->sums.total[SIDES * (size_t)i + side] += f.total_ns * d->scale[side];
	}
	return DCK_OK;
}

static dck_status diff_tables_put(diff *d, record_builder *b, dck_err *err)
{
	const size_t most = d->c.nfunctions > d->t.nnodes ? d->c.nfunctions : d->t.nnodes;

	function_weights_all(&d->sums, &d->c);
	for (size_t side = 0; side < SIDES; side++)
		DCK_TRY(side_exact(d, side, err));
	diff_row *rows = mem_zalloc(most + 1, sizeof *rows);
	DCK_NEED(rows, err, "for the difference of two trees");
	diff_functions_put(d, rows, b);
	diff_paths_put(d, rows, b);
	mem_free(rows);
	return DCK_OK;
}

static dck_status diff_tables_write(diff *d, record_builder *b, dck_err *err)
{
	dck_status status = call_tree_open(&d->c, &d->t, err);

	DCK_NEXT(status, function_weights_init(&d->sums, &d->c, err));
	DCK_NEXT(status, diff_tables_put(d, b, err));
	function_weights_done(&d->sums);
	call_tree_done(&d->c);
	return status;
}

static void whole_say(diff *d, const double whole[SIDES])
{
	if (whole[A] > 0)
		snprintf(d->whole_text, sizeof d->whole_text, "; all of B is %s times A%s",
			 DECIMAL_TEXT(4, whole[B] / whole[A]),
			 d->view->normalise ? ", which is scaled to it" : "");
}

/* Adds the weights of both trees, and scales the weights of the first. */
static dck_status both_add(cct *p, diff *d, dck_err *err)
{
	const dck_column *weights[SIDES];
	double whole[SIDES];

	for (size_t i = 0; i < SIDES; i++)
		DCK_TRY(side_add(p, i, d->records[i], d->view, &weights[i], &whole[i],
				 &d->samples[i], err));
	/* Formats of other programs call every time "time". */
	if (weights[A]->unit != weights[B]->unit ||
	    (weights[A]->unit != DCK_UNIT_NS && strcmp(weights[A]->key, weights[B]->key) != 0))
		DCK_FAIL(
		    err, E_ARG,
		    "the first tree has weights in %s, the second in %s: give --weight with a common one",
		    weights[A]->key, weights[B]->key);
	if (d->view->normalise && whole[A] == 0)
		DCK_FAIL(err, E_ARG, "the first weighs 0, which cannot be scaled to the second");
	d->weight = weights[B];
	memcpy(d->whole, whole, sizeof whole);
	whole_say(d, whole);
	if (d->view->normalise) {
		d->scale[A] = whole[B] / whole[A];
		for (uint32_t i = 0; i < p->cap; i++)
			p->weights[i * SIDES + A] *= d->scale[A];
		d->whole[A] = whole[B];
	}
	return DCK_OK;
}

static dck_status diff_make(cct *p, diff *d, dck_column *columns, record_builder *b, dck_err *err)
{
	DCK_TRY(both_add(p, d, err));
	columns[A].unit = columns[B].unit = d->weight->unit;
	DCK_TRY(cct_tree(p, "diff", "Call paths of both", b, err));
	DCK_TRY(cct_view(p, &d->t, err));
	dck_status status = diff_tables_write(d, b, err);
	cct_view_done(&d->t);
	return status;
}

/* Copies A's warnings, and its note that light paths were pruned: what A lacks looks added. B's
 * notes are copied anyway. */
static void first_notes_put(record_builder *builder, const dck_record *a, const dck_record *b)
{
	for (size_t i = 0; i < a->nnotes; i++) {
		const dck_note *n = &a->notes[i];

		if (n->severity >= DCK_WARN)
			record_note_of(builder, n, "A: ");
		else if (strcmp(n->code, "tree-pruned") == 0 && !dck_record_note(b, n->code))
			record_note_copy(builder, n);
	}
	record_set_incomplete(builder, a->incomplete || b->incomplete);
}

dck_status dck_calls_diff(const dck_record *a, const dck_record *b, const dck_calls_view *view,
			  dck_record **ret, dck_err *err)
{
	dck_column columns[SIDES] = {{"a", "A", DCK_UNIT_NONE}, {"b", "B", DCK_UNIT_NONE}};
	diff d = {.view = view, .records = (const dck_record *const[]){a, b}, .scale = {1, 1}};
	record_builder *builder;
	cct p;

	DCK_TRY(cct_init(&p, columns, SIDES, err));
	builder = record_new();
	dck_status status =
	    builder ? diff_make(&p, &d, columns, builder, err) : ERR_NO_MEMORY(err, "for a record");
	cct_done(&p);
	if (status == DCK_OK) {
		call_view_about(builder, b);
		first_notes_put(builder, a, b);
		return record_finish(builder, ret, err);
	}
	record_drop(builder);
	return status;
}
