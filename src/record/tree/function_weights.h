/* function_weights.h - self and total weights of functions: of all, or of the callers or callees of
 * some.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TREE_FUNCTION_WEIGHTS_H
#define TREE_FUNCTION_WEIGHTS_H

#include "record/tree/call_tree.h"

/* For each function of a tree, and one row without a function: [n][column]. */
typedef struct function_weights {
	double *self, *total; /* @owned; alone, and with all below */
	double *outer;	      /* @owned; self of the paths that are not inside the same function */
	uint32_t *paths;      /* @owned; number of paths added */
	size_t n;
} function_weights;

dck_status function_weights_init(function_weights *s, const call_tree *c,
				 dck_err *err) DCK_MUST_USE;
void function_weights_done(function_weights *s); /* {0} is allowed */
/* Adds a path to the weights of that function. */
void function_weights_add(function_weights *s, const call_tree *c, uint32_t function,
			  uint32_t node);
/* Adds all paths, each to its function. */
void function_weights_all(function_weights *s, const call_tree *c);
/* Add the callers of the functions in `chosen` (last row: no caller), and their callees (last row:
 * the functions themselves). */
void function_weights_callers(function_weights *s, const call_tree *c, const bool *chosen);
void function_weights_callees(function_weights *s, const call_tree *c, const bool *chosen);

#endif
