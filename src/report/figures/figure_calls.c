/* figure_calls.c - the call paths of a record as boxes: a box is as wide as its path's share of the
 * total, with its callees below it (icicle) or above it (flame graph), the heaviest first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "record/tree/call_tree.h"
#include "report/figures/figures.h"
#include "report/figures/svg.h"
#include "report/format.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 0.0005 /* of the whole: a third of a pixel */

typedef struct calls_drawing {
	call_tree tree;
	size_t column;
	double whole;
	bool upwards;
	svg s;
	double hidden; /* share of the whole called below the last row */
} calls_drawing;

/* Lines of one function are one box, as in the page. */
typedef struct called {
	uint32_t function, node;
} called;

typedef struct group {
	double weight;
	const called *nodes;
	size_t n;
} group;

static double weight_of(const calls_drawing *d, uint32_t node)
{
	return d->tree.total[(size_t)node * d->tree.t->ncolumns + d->column];
}

static int calls_by_function(const void *a, const void *b)
{
	const called *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

static int calls_heavier(const void *a, const void *b)
{
	const group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->nodes < y->nodes ? -1 : 1;
}

static void box(calls_drawing *d, const group *g, double from, double to, unsigned row)
{
	const dck_frame *f = &d->tree.functions[g->nodes->function].frame;
	const char *of = f->module ? f->module : f->file ? f->file : f->name;
	char says[600];

	snprintf(says, sizeof says, "%.400s: %s, %s", f->name,
		 FORMAT_NUMBER(g->weight, d->tree.t->columns[d->column].unit),
		 FORMAT_PERCENT(to - from));
	svg_box(&d->s, from, to, d->upwards ? SVG_ROWS - 1 - row : row,
		(svg_colour)(hash_text(HASH_START, of) % (SVG_GREY + 1)), f->name, says);
}

/* Collects the callees of the nodes; `caller` NULL: the outermost. Returns their number. */
static size_t called_by(const calls_drawing *d, const group *caller, called *to)
{
	size_t n = 0;

	for (size_t i = 0; i < (caller ? caller->n : 1); i++) {
		uint32_t c = caller ? d->tree.child[caller->nodes[i].node] : d->tree.first;

		for (; c != CALL_NONE; c = d->tree.next[c]) {
			if (to)
				to[n] = (called){call_tree_function(&d->tree, c), c};
			n++;
		}
	}
	return n;
}

/* The functions among them, what weighs most first. */
static size_t groups_of(const calls_drawing *d, called *all, size_t n, group *to)
{
	size_t ngroups = 0;

	qsort(all, n, sizeof *all, calls_by_function);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || all[i].function != all[i - 1].function)
			to[ngroups++] = (group){.nodes = all + i};
		to[ngroups - 1].n++;
		to[ngroups - 1].weight += weight_of(d, all[i].node);
	}
	qsort(to, ngroups, sizeof *to, calls_heavier);
	return ngroups;
}

/* Draws the callees of the previous row between two positions, and everything below; SVG_ROWS
 * bounds the depth. After subtraction of overhead a path may weigh less than its callees: these are
 * clipped. false: no memory. */
static bool row_draw(calls_drawing *d, const group *caller, double from, double end, unsigned row)
{
	const size_t n = called_by(d, caller, NULL);
	called *all = mem_alloc((n + 1) * sizeof *all);
	group *groups = mem_alloc((n + 1) * sizeof *groups);
	bool ok = all && groups;

	if (ok)
		called_by(d, caller, all);
	const size_t ngroups = ok ? groups_of(d, all, n, groups) : 0;
	for (size_t i = 0; i < ngroups && ok && groups[i].weight >= LEAST * d->whole; i++) {
		const double to = fmin(from + groups[i].weight / d->whole, end);

		if (row == SVG_ROWS) {
			d->hidden += groups[i].weight / d->whole;
			continue;
		}
		box(d, &groups[i], from, to, row);
		ok = row_draw(d, &groups[i], from, to, row + 1);
		from = to;
	}
	mem_free(all);
	mem_free(groups);
	return ok;
}

static bool opened(const dck_record *r, calls_drawing *d, dck_err *err)
{
	const dck_tree *t;

	*d = (calls_drawing){0};
	if (call_tree_find(r, NULL, &t, err) != DCK_OK ||
	    call_tree_weight(t, NULL, &d->column, err) != DCK_OK ||
	    call_tree_open(&d->tree, t, err) != DCK_OK)
		return false;
	d->whole = call_tree_sum(&d->tree, d->column);
	return true;
}

static bool calls_has(const dck_record *r)
{
	calls_drawing d;
	const bool ok = opened(r, &d, NULL) && d.whole > 0;

	call_tree_done(&d.tree);
	return ok;
}

static void calls_draw(const dck_record *r, dck_sink *out, bool upwards)
{
	char note[300];
	calls_drawing d;
	dck_err err;

	if (!opened(r, &d, &err)) {
		sink_fail(out, &err);
		return;
	}
	const dck_column *c = &d.tree.t->columns[d.column];
	d.upwards = upwards;
	svg_open(&d.s, out, d.tree.t->title);
	if (!row_draw(&d, NULL, 0, 1, 0)) {
		ERR_NO_MEMORY(&err, "for a figure");
		sink_fail(out, &err);
	}
	snprintf(note, sizeof note, "%s, %s in all", c->title, FORMAT_NUMBER(d.whole, c->unit));
	if (d.hidden > 0)
		snprintf(note + strlen(note), sizeof note - strlen(note),
			 "; %s of it is in calls below the last row", FORMAT_PERCENT(d.hidden));
	svg_note(&d.s, note);
	svg_close(&d.s);
	call_tree_done(&d.tree);
}

static void icicle_draw(const dck_record *r, dck_sink *out)
{
	calls_draw(r, out, false);
}

static void flame_draw(const dck_record *r, dck_sink *out)
{
	calls_draw(r, out, true);
}

const dck_figure figure_icicle = {"icicle", "call paths, callers above", calls_has, icicle_draw};
const dck_figure figure_flame = {"flamegraph", "call paths, callers below", calls_has, flame_draw};
