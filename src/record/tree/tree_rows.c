/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/tree_rows.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>

/* A node with its sort key, because qsort() passes no context. */
typedef struct place {
	double whole;
	uint32_t parent, node;
	bool unknown; /* it weighs that or more */
} place;

/* Children of one parent are adjacent, the heaviest first. */
static int by_parent(const void *a, const void *b)
{
	const place *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->whole != y->whole)
		return x->whole > y->whole ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* The first in the order whose parent is not before that one. */
static size_t first_of(const place *places, size_t n, uint32_t parent)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (places[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* No recursion: a hostile tree may be as deep as it has nodes. */
static void rows_collect(tree_rows *ret, const place *places, size_t n, const tree_rows_how *how,
			 double least)
{
	size_t next[CALL_LEVELS_MAX + 1];
	uint32_t parent[CALL_LEVELS_MAX + 1] = {DCK_TREE_ROOT}, level = 0;

	next[0] = first_of(places, n, DCK_TREE_ROOT);
	for (;;) {
		const size_t at = next[level];

		if (at >= n || places[at].parent != parent[level]) {
			if (level == 0)
				return;
			level--;
			continue;
		}
		next[level]++;
		const uint32_t node = places[at].node;
		if (ret->n == how->most || (places[at].whole < least && !places[at].unknown)) {
			ret->left_out++;
			continue;
		}
		ret->rows[ret->n++] = (call_row){node, level};
		const size_t child = first_of(places, n, node);
		if (level + 1 < how->levels) {
			parent[++level] = node;
			next[level] = child;
		} else if (child < n && places[child].parent == node) {
			ret->left_out++;
		}
	}
}

dck_status tree_rows_find(tree_rows *ret, const call_tree *c, const tree_rows_how *how,
			  dck_err *err)
{
	const size_t n = c->t->nnodes, most = how->most < n ? how->most : n;
	place *places = mem_zalloc(n + 1, sizeof *places);

	*ret = (tree_rows){.rows = mem_zalloc(most + 1, sizeof *ret->rows)};
	if (!places || !ret->rows) {
		mem_free(places);
		tree_rows_done(ret);
		return ERR_NO_MEMORY(err, "for a tree");
	}
	for (uint32_t i = 0; i < n; i++)
		places[i] = (place){.whole = c->total[i * c->t->ncolumns + how->column],
				    .unknown = how->unknown > 0 && how->unknown < c->t->ncolumns &&
					       c->total[i * c->t->ncolumns + how->unknown] > 0,
				    .parent = c->t->nodes[i].parent,
				    .node = i};
	qsort(places, n, sizeof *places, by_parent);
	rows_collect(ret, places, n, how, how->share_min * call_tree_sum(c, how->column));
	mem_free(places);
	return DCK_OK;
}

void tree_rows_done(tree_rows *r)
{
	mem_free(r->rows);
	*r = (tree_rows){0};
}
