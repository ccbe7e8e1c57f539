/* tree_prune.h - a tree of call paths as a record keeps it: of a program with a million paths the
 * heaviest ones alone, since less than one thousandth of a per cent is not visible,
 * and its record would be too large to read.
 *
 *	status = tree_prune_put(&t, b, err); // instead of record_tree(b, &t)
 *
 * How heavy a path is: the largest share, over all weights, of what lies on it and below it. The
 * rest is summed up in a child "(light paths)" of the innermost path around it that stays. So each
 * path that stays weighs, with all below it, what it weighed before.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_TREE_FOLD_H
#define CALLS_TREE_FOLD_H

#include "record/build.h"

enum { TREE_NODES_KEPT = 50000 };
#define TREE_LIGHT_NAME "(light paths)"

typedef struct tree_folded {
	dck_tree t;   /* its arrays are owned, its texts borrowed */
	size_t paths; /* how many are no more by themselves; ... */
	double most;  /* ... the largest share that one of them and what was below it had; ... */
	double *part; /* @owned; ... and of each weight what is on them all, in shares */
} tree_folded;

/* With `kept` paths of t at most, and as many that stand for light ones. */
dck_status tree_prune(const dck_tree *t, size_t kept, tree_folded *ret, dck_err *err) DCK_MUST_USE;
void tree_folded_done(tree_folded *f); /* {0} is allowed */
/* Writes the tree, folded where it has more than TREE_NODES_KEPT paths; a note says so. */
dck_status tree_prune_put(const dck_tree *t, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
