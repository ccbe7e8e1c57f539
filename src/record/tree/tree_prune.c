/* tree_prune.c - pruning of a calling-context tree: the heaviest nodes are retained, and the
 * weight of the others is summed in children "(light paths)" of the retained ones.
 *
 * A pass from the last node to the first adds the weights of each node to its parent's, which gives
 * inclusive weights: a node follows its parent. They are sums of absolute values, so that
 * differences of trees can be pruned too. The share of a node is its largest inclusive weight as a
 * part of the column's total. The sorted shares give the threshold (an order statistic). A second
 * pass, from parents to children, copies the nodes above it, and adds the own weights of each other
 * node to the light child of its nearest retained ancestor.
 *
 * Invariants: no node has a larger share than its parent, and ties at the threshold are retained
 * in the order of nodes, so the parent of a retained node is retained. The sum of a column stays
 * the same. The result has at most twice the retained nodes plus 1; its arrays are owned, its texts
 * belong to the input. O(n log n) time, O(n) memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/tree_prune.h"

#include "base/decimal.h"
#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct folding {
	const dck_tree *from;
	double *total;	 /* @owned; [node][column] inclusive absolute weights */
	double *whole;	 /* @owned; of each column: its total */
	double *share;	 /* @owned; of each node: its largest part of a total */
	uint32_t *to;	 /* @owned; new number of a node, or of its nearest retained ancestor */
	uint32_t *light; /* @owned; light child + 1, of the root and each new node */
	uint32_t *frame; /* @owned; new number + 1 of each frame; 0: not copied */
	dck_frame *frames;
	dck_tree_node *nodes;
	double *weights;
	tree_folded *ret;
} folding;

static void shares_find(folding *f)
{
	const dck_tree *t = f->from;
	const size_t k = t->ncolumns;

	for (size_t i = t->nnodes; i-- > 0;)
		for (size_t c = 0; c < k; c++) {
			const double own = fabs(t->weights[i * k + c]);

			f->whole[c] += own;
			f->total[i * k + c] += own;
			if (t->nodes[i].parent != DCK_TREE_ROOT)
				f->total[t->nodes[i].parent * k + c] += f->total[i * k + c];
		}
	for (size_t i = 0; i < t->nnodes; i++)
		for (size_t c = 0; c < k; c++)
			if (f->whole[c] > 0)
				f->share[i] = fmax(f->share[i], f->total[i * k + c] / f->whole[c]);
}

static int fold_heavier(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Finds the weight threshold: keep nodes above *ret, and the first *ret_also of those equal to it.
 * A node is never heavier than its parent, and follows it: so the parents of all retained nodes
 * are retained too. */
static bool limit_find(const folding *f, size_t kept, double *ret, size_t *ret_also)
{
	const size_t n = f->from->nnodes;
	double *sorted = mem_zalloc(n, sizeof *sorted);

	if (!sorted)
		return false;
	memcpy(sorted, f->share, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, fold_heavier);
	*ret = sorted[kept];
	*ret_also = kept;
	for (size_t i = 0; i < kept && sorted[i] > *ret; i++)
		--*ret_also;
	mem_free(sorted);
	return true;
}

static uint32_t frame_new(folding *f, uint32_t frame)
{
	dck_tree *t = &f->ret->t;

	if (!f->frame[frame]) {
		f->frames[t->nframes++] = f->from->frames[frame];
		f->frame[frame] = (uint32_t)t->nframes;
	}
	return f->frame[frame] - 1;
}

static uint32_t node_new(folding *f, uint32_t parent, uint32_t frame)
{
	dck_tree *t = &f->ret->t;

	f->nodes[t->nnodes] = (dck_tree_node){.parent = parent, .frame = frame};
	return (uint32_t)t->nnodes++;
}

/* Returns the light child of a new node, and makes it on first use. All of them have frame 0. */
static uint32_t light_of(folding *f, uint32_t around)
{
	uint32_t *light = &f->light[around == DCK_TREE_ROOT ? 0 : around + (size_t)1];

	if (!*light)
		*light = node_new(f, around, 0) + 1;
	return *light - 1;
}

static void nodes_fold(folding *f, double limit, size_t also)
{
	const dck_tree *t = f->from;
	const size_t k = t->ncolumns;

	for (size_t i = 0; i < t->nnodes; i++) {
		const uint32_t parent = t->nodes[i].parent;
		const uint32_t around = parent == DCK_TREE_ROOT ? DCK_TREE_ROOT : f->to[parent];
		const double *own = &t->weights[i * k];
		const bool heavy =
		    f->share[i] > limit || (f->share[i] == limit && also > 0 && also--);
		bool any = heavy;

		for (size_t c = 0; c < k && !any; c++)
			any = own[c] != 0;
		f->to[i] = heavy ? node_new(f, around, frame_new(f, t->nodes[i].frame)) : around;
		if (!heavy) {
			f->ret->paths++;
			f->ret->most = fmax(f->ret->most, f->share[i]);
		}
		if (!any)
			continue;
		const size_t to = heavy ? f->to[i] : light_of(f, around);
		for (size_t c = 0; c < k; c++) {
			f->weights[to * k + c] += own[c];
			if (!heavy && f->whole[c] > 0)
				f->ret->part[c] += fabs(own[c]) / f->whole[c];
		}
	}
}

dck_status tree_prune(const dck_tree *t, size_t kept, tree_folded *ret, dck_err *err)
{
	const size_t k = t->ncolumns, n = t->nnodes;
	/* Each retained node may have a light child, and so may the root. */
	const size_t cap = 2 * kept + 1;
	folding f = {.from = t, .ret = ret};
	double limit = -1;
	size_t also = 0;

	f.total = mem_zalloc(n + 1, k * sizeof *f.total);
	f.whole = mem_zalloc(k, sizeof *f.whole);
	f.share = mem_zalloc(n + 1, sizeof *f.share);
	f.to = mem_zalloc(n + 1, sizeof *f.to);
	f.light = mem_zalloc(cap + 1, sizeof *f.light);
	f.frame = mem_zalloc(t->nframes + 1, sizeof *f.frame);
	f.frames = mem_zalloc(t->nframes + 1, sizeof *f.frames);
	f.nodes = mem_zalloc(cap, sizeof *f.nodes);
	f.weights = mem_zalloc(cap, k * sizeof *f.weights);
	*ret = (tree_folded){.t = *t, .part = mem_zalloc(k, sizeof *ret->part)};
	bool ok = f.total && f.whole && f.share && f.to && f.light && f.frame && f.frames &&
		  f.nodes && f.weights && ret->part;
	ret->t.frames = f.frames;
	ret->t.nodes = f.nodes;
	ret->t.weights = f.weights;
	ret->t.nnodes = 0;
	if (ok) {
		shares_find(&f);
		ok = n <= kept || limit_find(&f, kept, &limit, &also);
	}
	if (ok) {
		f.frames[0] = (dck_frame){.name = TREE_LIGHT_NAME};
		ret->t.nframes = 1;
		nodes_fold(&f, limit, also);
	} else {
		tree_folded_done(ret);
	}
	mem_free(f.total);
	mem_free(f.whole);
	mem_free(f.share);
	mem_free(f.to);
	mem_free(f.light);
	mem_free(f.frame);
	DCK_NEED(ok, err, "for a tree of call paths");
	return DCK_OK;
}

void tree_folded_done(tree_folded *f)
{
	mem_free((void *)f->t.frames);
	mem_free((void *)f->t.nodes);
	mem_free((void *)f->t.weights);
	mem_free(f->part);
	*f = (tree_folded){0};
}

static void fold_note_put(const tree_folded *f, size_t of, record_builder *b)
{
	char parts[200] = "";

	for (size_t c = 0, n = 0; c < f->t.ncolumns && n < sizeof parts; c++)
		n += (size_t)snprintf(parts + n, sizeof parts - n, "%s%s %% of %s", c ? ", " : "",
				      DECIMAL_TEXT(2, 100 * f->part[c]), f->t.columns[c].key);
	record_note(b, "tree-pruned",
		    "%zu of %zu call paths of %s, each of at most %s %% of anything, are summed "
		    "up as " TREE_LIGHT_NAME " below the paths around them: %s",
		    f->paths, of, f->t.name, DECIMAL_TEXT(2, 100 * f->most), parts);
}

dck_status tree_prune_put(const dck_tree *t, record_builder *b, dck_err *err)
{
	tree_folded f;

	if (t->nnodes <= TREE_NODES_KEPT) {
		if (t->nnodes > 0)
			record_tree(b, t);
		return DCK_OK;
	}
	DCK_TRY(tree_prune(t, TREE_NODES_KEPT, &f, err));
	record_tree(b, &f.t);
	fold_note_put(&f, t->nnodes, b);
	tree_folded_done(&f);
	return DCK_OK;
}
