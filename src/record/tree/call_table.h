/* call_table.h - functions as a table of a record, those first that weigh most.
 *
 *	static const call_column columns[] = {
 *		{"calls", "calls", DCK_UNIT_ONE, 0, CALL_SELF},
 *		{"total", "total", DCK_UNIT_NS, 1, CALL_TOTAL},
 *		{"self", "self", DCK_UNIT_NS, 1, CALL_SELF},
 *	};
 *	DCK_TRY(call_table_put(&tree, &(call_table){.name = "functions", .title = "Functions",
 *						    .columns = columns, .ncolumns = 3, .sort = 2},
 *			       b, err));
 *
 * The first column is "name"; behind the given ones stand "file", "line" and "module", each where a
 * frame has one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_TABLE_H
#define CALLS_CALL_TABLE_H

#include "record/tree/function_weights.h"
#include "record/build.h"

/* Of a function: what its paths weigh alone, or with all below them; that as a share of the whole;
 * for each of its calls, of which a total has the outermost ones. */
typedef enum call_of {
	CALL_SELF,
	CALL_TOTAL,
	CALL_SELF_SHARE,
	CALL_TOTAL_SHARE,
	CALL_SELF_EACH,
	CALL_TOTAL_EACH,
	CALL_OUTER /* alone, of the paths that are not inside the same function */
} call_of;

typedef struct call_column {
	const char *key, *title;
	dck_unit unit;
	uint32_t weight; /* column of the tree */
	call_of of;
} call_column;

typedef enum call_order {
	CALL_BY_COLUMN,
	CALL_BY_NAME,
	CALL_BY_FILE,
	CALL_BY_LINE,
	CALL_BY_MODULE
} call_order;

typedef struct call_table {
	const char *name, *title;
	const call_column *columns;
	size_t ncolumns;
	size_t sort;	  /* index in columns: the largest first */
	call_order order; /* instead, ascending, and then by that column */
	size_t top;	  /* rows; 0: all. The title counts those left out */
	size_t brief;	  /* of them, what a short report shows; 0: it decides */
	bool keep_zeros;  /* also functions whose numbers are all 0 */
	uint32_t calls;	  /* column of the tree: of which _EACH is */
	double whole;	  /* of which shares are; 0: the tree's sum */
	const char *last; /* the name of the row that is no function; NULL: it is left out */
} call_table;

/* The order by a column's key, by "name", "file", "line" or "module", also in pstats' words. E_ARG:
 * there is no such order. */
dck_status call_table_sort(call_table *how, const char *word, dck_err *err) DCK_MUST_USE;
dck_status call_table_put(const dck_tree *t, const call_table *how, record_builder *b,
			  dck_err *err) DCK_MUST_USE;
/* The same of a tree that is open, of sums that are made. */
dck_status call_table_rows(const call_tree *c, const function_weights *s, const call_table *how,
			   record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
