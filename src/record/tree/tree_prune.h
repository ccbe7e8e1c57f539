/* tree_prune.h - pruning of call trees for records: of a program with a million paths only the
 * heaviest are stored, because less than one thousandth of a per cent is not visible,
 * and its record would be too large to read.
 *
 *	status = tree_prune_put(&t, b, err); // instead of record_tree(b, &t)
 *
 * The size of a path is the largest share, over all weights, of its total (with all below it). The
 * other paths are summed in a child "(light paths)" of the innermost enclosing path that is
 * retained. So the totals of the retained paths do not change.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TREE_TREE_PRUNE_H
#define TREE_TREE_PRUNE_H

#include "record/build.h"

enum { TREE_NODES_KEPT = 50000 };
#define TREE_LIGHT_NAME "(light paths)"

typedef struct tree_folded {
	dck_tree t;   /* its arrays are owned, its texts borrowed */
	size_t paths; /* number of pruned paths */
	double most;  /* the largest total of a pruned path, as a share */
	double *part; /* @owned; for each weight the sum of the pruned paths, as a share */
} tree_folded;

/* Prunes t to at most `kept` paths, and at most `kept` nodes "(light paths)". */
dck_status tree_prune(const dck_tree *t, size_t kept, tree_folded *ret, dck_err *err) DCK_MUST_USE;
void tree_folded_done(tree_folded *f); /* {0} is allowed */
/* Writes the tree, pruned if it has more than TREE_NODES_KEPT paths; then it adds a note. */
dck_status tree_prune_put(const dck_tree *t, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
