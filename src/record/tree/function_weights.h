/* function_weights.h - what functions weigh: all of them, or as callers of some, or called by some.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_SUMS_H
#define CALLS_CALL_SUMS_H

#include "record/tree/call_tree.h"

/* For each function of a tree, and one more for what is none: [n][column]. */
typedef struct function_weights {
	double *self, *total; /* @owned; alone, and with all below */
	double *outer;	 /* @owned; self of those paths that are not inside the same function */
	uint32_t *paths; /* @owned; that were added */
	size_t n;
} function_weights;

dck_status function_weights_init(function_weights *s, const call_tree *c,
				 dck_err *err) DCK_MUST_USE;
void function_weights_done(function_weights *s); /* {0} is allowed */
/* Adds a path to what that function weighs. */
void function_weights_add(function_weights *s, const call_tree *c, uint32_t function,
			  uint32_t node);
/* All functions by themselves. */
void function_weights_all(function_weights *s, const call_tree *c);
/* Of the functions in `chosen`: their callers, the last row for none; what they called,
 * the last row are they themselves. */
void function_weights_callers(function_weights *s, const call_tree *c, const bool *chosen);
void function_weights_callees(function_weights *s, const call_tree *c, const bool *chosen);

#endif
