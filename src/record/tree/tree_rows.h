/* tree_rows.h - paths of a tree as rows in pre-order, the heaviest child of each parent first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TREE_TREE_ROWS_H
#define TREE_TREE_ROWS_H

#include "record/tree/call_tree.h"

enum { CALL_LEVELS_MAX = 200 };

typedef struct call_row {
	uint32_t node, level;
} call_row;

typedef struct tree_rows {
	call_row *rows;	    /* @owned */
	size_t n, left_out; /* left_out: subtrees */
} tree_rows;

typedef struct tree_rows_how {
	size_t column;	  /* that orders the children */
	size_t most;	  /* rows */
	uint32_t levels;  /* at most CALL_LEVELS_MAX */
	double share_min; /* paths that weigh less of the whole are left out */
	size_t unknown;	  /* call_tree_unknown(): paths with some are kept; 0: none */
} tree_rows_how;

dck_status tree_rows_find(tree_rows *ret, const call_tree *c, const tree_rows_how *how,
			  dck_err *err) DCK_MUST_USE;
void tree_rows_done(tree_rows *r); /* {0} is allowed */

#endif
