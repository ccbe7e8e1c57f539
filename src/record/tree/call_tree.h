/* call_tree.h - index of a record's call tree: its functions, the children of each path, and total
 * weights (self and all below).
 *
 *	call_tree c;
 *
 *	DCK_TRY(call_tree_open(&c, t, err));
 *	for (uint32_t n = call_tree_next(&c, CALL_NONE); n != CALL_NONE; n = call_tree_next(&c, n))
 *		... c.total[n * t->ncolumns] ...
 *	call_tree_done(&c);
 *
 * A function is the set of frames of one name, file, module and start line: they may differ in the
 * sampled line. If a function calls itself, its total is the total of its outermost calls, so that
 * nothing is counted twice.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_TREE_H
#define CALLS_CALL_TREE_H

#include "base/id_table.h"
#include "deepclock/record.h"

#define CALL_NONE UINT32_MAX

/* Finds a record's tree by name; NULL: its first. E_ABSENT: no such tree. */
dck_status call_tree_find(const dck_record *r, const char *name, const dck_tree **ret,
			  dck_err *err) DCK_MUST_USE;
/* Returns the column of that key; ncolumns: none. */
size_t call_tree_column(const dck_tree *t, const char *key);
/* Finds the column of a weight. key NULL: time, else the first column that is not a count, because
 * most trees have a count too. */
dck_status call_tree_weight(const dck_tree *t, const char *key, size_t *ret,
			    dck_err *err) DCK_MUST_USE;

/* Key of the column that counts the operators of which the weight KEY is not known: "unknown_KEY".
 */
#define CALL_UNKNOWN	   "unknown_"
#define CALL_UNKNOWN_WHY   "that of an operator in it is not known"
#define CALL_UNKNOWN_WHOLE "the whole is not known"
/* Returns the column that counts what has no known weight in that column; ncolumns: all is known.
 */
size_t call_tree_unknown(const dck_tree *t, size_t column);

typedef struct call_function {
	dck_frame frame; /* with the lowest of its lines; borrowed from the tree */
	uint32_t paths;	 /* its nodes */
} call_function;

typedef struct call_tree {
	const dck_tree *t;
	uint32_t *child, *next; /* @owned; of each node: its first child, its next sibling */
	uint32_t *function_of;	/* @owned; of each frame */
	bool *recursive;	/* @owned; of each node: inside a node of the same function */
	double *total;		/* @owned; [node][column]: node and all below it */
	call_function *functions;
	hash_map by_frame; /* @owned; numbers of functions, from 1, by the hash of their frame */
	uint32_t first;	   /* outermost node; CALL_NONE: none */
	uint32_t nfunctions;
} call_tree;

/* Indexes t, which is borrowed. */
dck_status call_tree_open(call_tree *c, const dck_tree *t, dck_err *err) DCK_MUST_USE;
void call_tree_done(call_tree *c); /* {0} is allowed */

static inline uint32_t call_tree_function(const call_tree *c, uint32_t node)
{
	return c->function_of[c->t->nodes[node].frame];
}
/* Returns the function of that name, file, module and start line; CALL_NONE: none. */
uint32_t call_tree_function_find(const call_tree *c, const dck_frame *f);
/* Returns the next node in pre-order. node CALL_NONE: the first; CALL_NONE returned: the end. */
uint32_t call_tree_next(const call_tree *c, uint32_t node);
/* Returns the whole tree's weight. */
double call_tree_sum(const call_tree *c, size_t column);

#endif
