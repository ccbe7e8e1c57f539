/* call_table.h - table of a record's functions, ordered by weight.
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
 * The first column is "name"; after the given columns come "file", "line" and "module", each if a
 * frame has one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_TABLE_H
#define CALLS_CALL_TABLE_H

#include "record/tree/function_weights.h"
#include "record/build.h"

/* Quantity of a function: weight of its paths alone (self), or with all below them (total); as a
 * share of the whole; per call, for a total per outermost call. */
typedef enum call_of {
	CALL_SELF,
	CALL_TOTAL,
	CALL_SELF_SHARE,
	CALL_TOTAL_SHARE,
	CALL_SELF_EACH,
	CALL_TOTAL_EACH,
	CALL_OUTER /* self weight of the paths that are not inside the same function */
} call_of;

typedef struct call_column {
	const char *key, *title;
	dck_unit unit;
	uint32_t weight; /* column of the tree */
	call_of of;
} call_column;

/* Computes the interval of an estimate, a function's weight in that column, from all of its
 * weights. false: the value is exact. */
typedef bool call_interval_fn(const void *self, const double *weights, uint32_t column,
			      double *ret_lo, double *ret_hi);

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
	size_t top;	  /* rows; 0: all. The title counts the rows left out */
	size_t brief;	  /* rows of a short report; 0: the report decides */
	bool keep_zeros;  /* also functions whose numbers are all 0 */
	uint32_t calls;	  /* column of the tree: divisor of _EACH */
	double whole;	  /* divisor of shares; 0: the tree's sum */
	const char *last; /* name of the row without a function; NULL: it is left out */
	/* Of CALL_SELF and CALL_TOTAL; NULL: all values are exact. An estimate of 0 is absent, for
	 * the reason `unseen`. */
	call_interval_fn *interval;
	const void *interval_self;
	double level;
	const char *unseen;
} call_table;

/* Words of --sort for a table of functions, besides "time" (as pstats, self) and "name": keys of
 * columns, parts of a frame, and pstats' words. */
#define CALL_SORT_WORDS                                                                        \
	"self", "total", "calls", "primitive", "file", "line", "module", "tottime", "cumtime", \
	    "cumulative", "ncalls", "pcalls"
/* Sets the order by a column's key, by "name", "file", "line" or "module", also in pstats' words.
 * E_ARG: unknown order. */
dck_status call_table_sort(call_table *how, const char *word, dck_err *err) DCK_MUST_USE;
/* Returns a short name of the order, for titles. */
const char *call_table_order(const call_table *how);
dck_status call_table_put(const dck_tree *t, const call_table *how, record_builder *b,
			  dck_err *err) DCK_MUST_USE;
/* Writes the table of an open tree from existing sums. */
dck_status call_table_rows(const call_tree *c, const function_weights *s, const call_table *how,
			   record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
