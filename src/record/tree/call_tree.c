/* call_tree.c - an index over a record's call tree: children, functions, inclusive weights,
 * recursion.
 *
 * A record has a tree as an array of nodes, parents before children. call_tree_open() derives from
 * it:
 *
 *  - functions: frames of equal name, file, module and start line, by a hash map with probing;
 *  - child and next (first child, next sibling), by one pass from the last node to the first, so
 *    that siblings keep their order;
 *  - total, the inclusive weights, in the same pass, since a node is complete before its parent;
 *  - recursive: the node is inside another node of its function, by a pre-order walk that counts
 * the open nodes of each function; function_weights.c counts recursive calls once by it.
 *
 * All of it takes O(nodes x columns) time and memory. Nothing is recursive and call_tree_next()
 * walks by parent links, so depth is not limited by the stack of the thread. The tree is borrowed
 * and must be valid, as record_parse_tables.c makes sure for files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/call_tree.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/id_table.h"
#include "base/mem.h"
#include "base/name_index.h"

#include <stdio.h>
#include <string.h>

void call_tree_done(call_tree *c)
{
	mem_free(c->child);
	mem_free(c->next);
	mem_free(c->function_of);
	mem_free(c->recursive);
	mem_free(c->total);
	mem_free(c->functions);
	hash_map_done(&c->by_frame);
	*c = (call_tree){0};
}

/* --- selection of a tree and a weight */

size_t call_tree_column(const dck_tree *t, const char *key)
{
	const dck_column *c = NAME_ROW(t->columns, t->ncolumns, key, key);

	return c ? (size_t)(c - t->columns) : t->ncolumns;
}

size_t call_tree_unknown(const dck_tree *t, size_t column)
{
	const size_t n = sizeof CALL_UNKNOWN - 1;
	size_t k = 0;

	while (k < t->ncolumns && (strncmp(t->columns[k].key, CALL_UNKNOWN, n) != 0 ||
				   strcmp(t->columns[k].key + n, t->columns[column].key) != 0))
		k++;
	return k;
}

/* Ranks columns as the default weight: times first, then columns that are not counts. The overhead
 * of counting ranks as a count. */
static int tree_rank(const dck_column *column)
{
	if (strcmp(column->key, "overhead") == 0)
		return 0;
	return column->unit == DCK_UNIT_NS ? 2 : column->unit != DCK_UNIT_ONE;
}

dck_status call_tree_weight(const dck_tree *t, const char *key, size_t *ret, dck_err *err)
{
	char keys[400] = "";
	size_t k = 0, n = 0;

	if (key)
		k = call_tree_column(t, key);
	else
		for (size_t i = t->ncolumns; i-- > 0;)
			if (tree_rank(&t->columns[i]) >= tree_rank(&t->columns[k]))
				k = i;
	if (k < t->ncolumns) {
		*ret = k;
		return DCK_OK;
	}
	for (size_t i = 0; i < t->ncolumns && n < sizeof keys; i++)
		n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s", i ? ", " : "",
				      t->columns[i].key);
	DCK_FAIL(err, E_ABSENT, "the tree %s has no weight '%s'; there is %s", t->name,
		 key ? key : "", keys);
}

/* --- functions */

static bool equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static uint64_t hash_of(const dck_frame *f)
{
	uint64_t hash = hash_text(HASH_START, f->name);

	hash = hash_text(hash_number(hash, 1), f->file ? f->file : "");
	hash = hash_text(hash_number(hash, 2), f->module ? f->module : "");
	return hash_number(hash, f->start_line);
}

/* Returns the number of a frame's function, from 1 on; 0: none, and *ret_key is the free key. */
static uint32_t function_probe(const call_tree *c, const dck_frame *f, uint64_t *ret_key)
{
	for (uint64_t key = hash_of(f);; key++) {
		const uint32_t number = hash_map_find(&c->by_frame, key);
		const dck_frame *had = &c->functions[number ? number - 1 : 0].frame;

		if (number && (had->start_line != f->start_line || !equal(had->name, f->name) ||
			       !equal(had->file, f->file) || !equal(had->module, f->module)))
			continue; /* another function has this hash: probe the next key */
		*ret_key = key;
		return number;
	}
}

uint32_t call_tree_function_find(const call_tree *c, const dck_frame *f)
{
	uint64_t key;
	const uint32_t number = function_probe(c, f, &key);

	return number ? number - 1 : CALL_NONE;
}

/* Returns the number of a frame's function, from 1 on; 0: no memory. */
static uint32_t function_add(call_tree *c, const dck_frame *f)
{
	uint64_t key;
	const uint32_t number = function_probe(c, f, &key);

	if (!number) {
		c->functions[c->nfunctions] = (call_function){.frame = *f};
		return hash_map_put(&c->by_frame, key, ++c->nfunctions) ? c->nfunctions : 0;
	}
	dck_frame *had = &c->functions[number - 1].frame;
	if (f->line && (f->line < had->line || !had->line))
		had->line = f->line;
	return number;
}

static bool functions_find(call_tree *c)
{
	bool ok = true;

	for (size_t i = 0; i < c->t->nframes && ok; i++) {
		const uint32_t number = function_add(c, &c->t->frames[i]);

		ok = number != 0;
		c->function_of[i] = number - 1;
	}
	return ok;
}

/* --- nodes */

/* Goes from the last node to the first, so that siblings are linked in their order, and totals are
 * complete before they are added to the parent's. */
static void nodes_link(call_tree *c)
{
	const dck_tree *t = c->t;
	const size_t ncolumns = t->ncolumns;

	memset(c->child, 0xff, t->nnodes * sizeof *c->child); /* CALL_NONE */
	c->first = CALL_NONE;
	for (size_t i = t->nnodes; i-- > 0;) {
		const uint32_t parent = t->nodes[i].parent;
		uint32_t *first = parent == DCK_TREE_ROOT ? &c->first : &c->child[parent];

		c->next[i] = *first;
		*first = (uint32_t)i;
		for (size_t k = 0; k < ncolumns; k++) {
			c->total[i * ncolumns + k] += t->weights[i * ncolumns + k];
			if (parent != DCK_TREE_ROOT)
				c->total[parent * ncolumns + k] += c->total[i * ncolumns + k];
		}
	}
}

uint32_t call_tree_next(const call_tree *c, uint32_t node)
{
	if (node == CALL_NONE)
		return c->first;
	if (c->child[node] != CALL_NONE)
		return c->child[node];
	while (c->next[node] == CALL_NONE) {
		node = c->t->nodes[node].parent;
		if (node == DCK_TREE_ROOT)
			return CALL_NONE;
	}
	return c->next[node];
}

/* open: zeroed; counts for each function its nodes on the current path. */
static void again_find(call_tree *c, uint32_t *open)
{
	uint32_t last = CALL_NONE;

	for (uint32_t n = c->first; n != CALL_NONE; n = call_tree_next(c, n)) {
		const uint32_t function = call_tree_function(c, n);

		for (; last != c->t->nodes[n].parent; last = c->t->nodes[last].parent)
			open[call_tree_function(c, last)]--;
		c->recursive[n] = open[function]++ > 0;
		c->functions[function].paths++;
		last = n;
	}
}

dck_status call_tree_open(call_tree *c, const dck_tree *t, dck_err *err)
{
	uint32_t *open = NULL;
	bool ok;

	*c = (call_tree){.t = t,
			 .child = mem_zalloc(t->nnodes, sizeof *c->child),
			 .next = mem_zalloc(t->nnodes, sizeof *c->next),
			 .function_of = mem_zalloc(t->nframes, sizeof *c->function_of),
			 .recursive = mem_zalloc(t->nnodes, sizeof *c->recursive),
			 .total = mem_zalloc(t->nnodes, (t->ncolumns + 1) * sizeof *c->total),
			 .functions = mem_zalloc(t->nframes + 1, sizeof *c->functions)};
	ok = c->child && c->next && c->function_of && c->recursive && c->total && c->functions &&
	     functions_find(c);
	open = ok ? mem_zalloc(c->nfunctions + (size_t)1, sizeof *open) : NULL;
	if (open) {
		nodes_link(c);
		again_find(c, open);
	} else {
		call_tree_done(c);
	}
	ok = open != NULL;
	mem_free(open);
	DCK_NEED(ok, err, "for a tree of call paths");
	return DCK_OK;
}

/* --- sums */

double call_tree_sum(const call_tree *c, size_t column)
{
	double sum = 0;

	for (uint32_t n = c->first; n != CALL_NONE; n = c->next[n])
		sum += c->total[n * c->t->ncolumns + column];
	return sum;
}
