/* call_tree.h - a record's tree, looked through once: its functions, which paths lie below which,
 * and what each weighs with all below it.
 *
 *	call_tree c;
 *
 *	DCK_TRY(call_tree_open(&c, t, err));
 *	for (uint32_t n = call_tree_next(&c, CALL_NONE); n != CALL_NONE; n = call_tree_next(&c, n))
 *		... c.total[n * t->ncolumns] ...
 *	call_tree_done(&c);
 *
 * A function is what frames of one name, file, module and beginning have in common: they may differ
 * in the line where it was seen. Where a function calls itself, its total is that of the outermost
 * calls, so that nothing is counted twice.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_TREE_H
#define CALLS_CALL_TREE_H

#include "deepclock/record.h"

#define CALL_NONE UINT32_MAX

/* A record's tree of that name; NULL: its first. E_ABSENT: there is none. */
dck_status call_tree_find(const dck_record *r, const char *name, const dck_tree **ret,
			  dck_err *err) DCK_MUST_USE;
/* The column of that key; ncolumns: there is none. */
size_t call_tree_column(const dck_tree *t, const char *key);
/* The same for who asks for a weight. NULL: its time, else the first that is no mere count, since
 * most trees have one of these too. */
dck_status call_tree_weight(const dck_tree *t, const char *key, size_t *ret,
			    dck_err *err) DCK_MUST_USE;

typedef struct call_function {
	dck_frame frame; /* of its lines the lowest; borrowed from the tree */
	uint32_t paths;	 /* nodes that stand for it */
} call_function;

typedef struct call_tree {
	const dck_tree *t;
	uint32_t *child, *next; /* @owned; of each node: its first child, its parent's next one */
	uint32_t *function_of;	/* @owned; of each frame */
	bool *again;		/* @owned; of each node: inside one of the same function */
	double *total;		/* @owned; [node][column]: with all below it */
	call_function *functions;
	uint32_t first; /* outermost node; CALL_NONE: there is none */
	uint32_t nfunctions;
} call_tree;

/* Borrows t. */
dck_status call_tree_open(call_tree *c, const dck_tree *t, dck_err *err) DCK_MUST_USE;
void call_tree_done(call_tree *c); /* {0} is allowed */

static inline uint32_t call_tree_function(const call_tree *c, uint32_t node)
{
	return c->function_of[c->t->nodes[node].frame];
}
/* The node after this one where children follow their parent; CALL_NONE: begin, and the end. */
uint32_t call_tree_next(const call_tree *c, uint32_t node);
/* The whole tree's weight. */
double call_tree_sum(const call_tree *c, size_t column);

#endif
