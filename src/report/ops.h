/* ops.h - groups the operators of a record by type, by module, or singly, with exact sums of the
 * known values and the number of unknown ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_OPS_H
#define REPORT_OPS_H

#include "base/mem.h"
#include "deepclock/report.h"
#include "report/scale.h"

/* In the order of the choices of dck_op_options. */
enum {
	OPS_BY_AUTO,
	OPS_BY_TYPE,
	OPS_BY_NODE,
	OPS_BY_MODULE,
	OPS_BY_CLASS,
	OPS_BY_LINE,
	OPS_BY_ALL
};
enum {
	OPS_SORT_AUTO,
	OPS_SORT_TIME,
	OPS_SORT_MACS,
	OPS_SORT_FLOPS,
	OPS_SORT_PARAMS,
	OPS_SORT_BYTES,
	OPS_SORT_NAME,
	OPS_SORT_GRAPH
};

/* In the order of the first record_op_numbers. */
typedef enum ops_field {
	OPS_MACS,
	OPS_FLOPS,
	OPS_PARAMS,
	OPS_WEIGHTS,
	OPS_READ,
	OPS_WRITE,
	OPS_PEER,
	OPS_TIME,
	OPS_FIELDS
} ops_field;

/* A sum of the known values. Exact in `i` while it is a 64-bit integer; otherwise `real`, and in
 * `r`. */
typedef struct ops_sum {
	size_t known, unknown;
	int64_t i;
	bool real;
	double r;
} ops_sum;

typedef struct ops_row {
	const char *name; /* name_bytes long; not NUL-terminated */
	size_t name_bytes;
	const char *path; /* the same; of a module, with its enclosing modules */
	size_t path_bytes;
	unsigned depth;	     /* of a module: 0 is outermost */
	const dck_op *first; /* in the order of the graph */
	size_t n;
	bool refused; /* an operator computes and has a time, but no rate */
	ops_sum sum[OPS_FIELDS];
} ops_row;

typedef struct ops_rows {
	ops_row *rows; /* @owned, ops_rows_done */
	size_t n;
	mem_arena *texts; /* @owned; of generated row names */
} ops_rows;

/* A grouping of operators. */
typedef struct ops_group {
	const char *title, *head; /* "By module"; of the column of names */
	const char *nameless;	  /* name of the row of operators without a group */
	const char *none;	  /* message if no operator has a group; NULL: all have */
	bool total;		  /* the rows are followed by a total */
	bool asked;		  /* shown only on request */
	/* Makes the rows; false: no memory. most: see ops_by_module(). */
	bool (*rows)(const dck_record *r, int sort, size_t most, ops_rows *ret);
} ops_group;

const ops_group *ops_group_of(int by); /* NULL: not a group */

/* Returns whether a dimension needs parentheses next to other dimensions: "2*N+1". */
bool ops_is_formula(const char *symbol);
bool ops_timed(const dck_record *r); /* some operator has a time */

void ops_row_init(ops_row *row, const dck_op *op); /* of one operator */
void ops_row_total(ops_row *row, const dck_record *r);
ops_sum ops_row_bytes(const ops_row *row); /* sum of bytes read and written */
double ops_sum_value(const ops_sum *s);
void ops_sum_add(ops_sum *s, const dck_value *v);
void ops_sum_range_add(const ops_sum *s, column_range *r); /* if it has a known value */
ops_sum ops_sum_plus(const ops_sum *a, const ops_sum *b);

/* false: no memory. */
bool ops_by_type(const dck_record *r, int sort, size_t most, ops_rows *ret);
/* Groups by module and nested modules, outer ones first, as deep as `most` rows allow, but at least
 * the outermost. Operators without a scope make one row without a name. */
bool ops_by_module(const dck_record *r, int sort, size_t most, ops_rows *ret);
void ops_rows_done(ops_rows *rows);
/* Returns r->nops pointers, owned by the caller: mem_free(); NULL: no memory. */
const dck_op **ops_by_node(const dck_record *r, int sort);

#endif
