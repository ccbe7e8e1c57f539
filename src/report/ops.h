/* ops.h - operators of a record in groups: by type, by module, or each of its own, with exact sums
 * of what is known and how many are not.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_OPS_H
#define REPORT_OPS_H

#include "base/mem.h"
#include "deepclock/report.h"
#include "report/scale.h"

/* In step with the choices of dck_op_options. */
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

/* In step with the first of record_op_numbers. */
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

/* A sum of what is known. Exact in `i` as long as it is of integers that fit into 64 bits;
 * otherwise `real`, and in `r`. */
typedef struct ops_sum {
	size_t known, unknown;
	int64_t i;
	bool real;
	double r;
} ops_sum;

typedef struct ops_row {
	const char *name; /* name_bytes of it; not ended by NUL */
	size_t name_bytes;
	const char *path; /* the same, and of a module with those around it */
	size_t path_bytes;
	unsigned depth;	     /* of a module: 0 is outermost */
	const dck_op *first; /* in the order of the graph */
	size_t n;
	bool refused; /* a member computes and has a time, but no rate */
	ops_sum sum[OPS_FIELDS];
} ops_row;

typedef struct ops_rows {
	ops_row *rows; /* @owned, ops_rows_done */
	size_t n;
	mem_arena *texts; /* @owned; of rows whose names are made */
} ops_rows;

/* What operators are grouped by. */
typedef struct ops_group {
	const char *title, *head; /* "By module"; of the column of names */
	const char *nameless;	  /* what the row of operators without one is called */
	const char *none;	  /* said when no operator has one; NULL: all have */
	bool total;		  /* the rows have a total below them */
	bool asked;		  /* shown when it is asked for alone */
	/* false: no memory. most: as of ops_by_module(). */
	bool (*rows)(const dck_record *r, int sort, size_t most, ops_rows *ret);
} ops_group;

const ops_group *ops_group_of(int by); /* NULL: it is no group */

/* A dimension that needs parentheses between the others: "2*N+1". */
bool ops_is_formula(const char *symbol);
bool ops_timed(const dck_record *r); /* some operator has a time */

void ops_row_init(ops_row *row, const dck_op *op); /* of one operator */
void ops_row_total(ops_row *row, const dck_record *r);
ops_sum ops_row_bytes(const ops_row *row); /* read and written */
double ops_sum_value(const ops_sum *s);
void ops_sum_add(ops_sum *s, const dck_value *v);
void ops_sum_range_add(const ops_sum *s, column_range *r); /* where something of it is known */
ops_sum ops_sum_plus(const ops_sum *a, const ops_sum *b);

/* false: no memory. */
bool ops_by_type(const dck_record *r, int sort, size_t most, ops_rows *ret);
/* Modules and the modules in them, outer ones first, as deep as `most` rows allow, but at least
 * the outermost. Operators without a scope make one row without a name. */
bool ops_by_module(const dck_record *r, int sort, size_t most, ops_rows *ret);
void ops_rows_done(ops_rows *rows);
/* r->nops pointers, mem_free(); NULL: no memory. */
const dck_op **ops_by_node(const dck_record *r, int sort);

#endif
