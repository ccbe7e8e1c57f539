/* exact_functions.h - functions of a profile whose call paths are estimated: their numbers as in
 * the file, from the record's table "functions".
 *
 *	exact_functions e;
 *
 *	if (exact_functions_find(&e, r, t, weight))
 *		for (size_t i = 0; i < e.table->nrows; i++)
 *			... exact_functions_get(&e, i).total ...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TREE_EXACT_FUNCTIONS_H
#define TREE_EXACT_FUNCTIONS_H

#include "record/tree/function_weights.h"

enum {
	EXACT_NAME,
	EXACT_FILE,
	EXACT_LINE,
	EXACT_CALLS,
	EXACT_PRIMITIVE,
	EXACT_SELF,
	EXACT_TOTAL,
	EXACT_COLUMNS
};

typedef struct exact_functions {
	const dck_table *table; /* borrowed from the record */
	size_t columns[EXACT_COLUMNS];
} exact_functions;

typedef struct exact_function {
	dck_frame frame; /* borrowed from the record */
	double calls, primitive, self_ns, total_ns;
} exact_function;

/* Returns false if the paths of t are measured, or the table has no total of that weight. */
bool exact_functions_find(exact_functions *e, const dck_record *r, const dck_tree *t,
			  size_t weight);
exact_function exact_functions_get(const exact_functions *e, size_t row);

/* Makes a tree with the columns of t and one path for each function; path_trie_tree_done(). */
dck_status exact_functions_tree(const exact_functions *e, const dck_tree *t, dck_tree *ret,
				dck_err *err) DCK_MUST_USE;
/* Sets in the sums of that tree the totals, and the primitive calls as `outer`. */
void exact_functions_sum(const exact_functions *e, const call_tree *c, size_t weight,
			 function_weights *s);

#endif
