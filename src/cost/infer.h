/* infer.h - what the parts of the inference share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_INFER_H
#define COST_INFER_H

#include "cost/op.h"
#include "model/names.h"

/* A function that is being expanded, and the node that calls it. */
typedef struct frame {
	const onnx_function *function;
	const onnx_node *call;
	const struct frame *parent; /* of the call */
} frame;

/* The names that a graph's nodes see: their own, then those around them. */
typedef struct scope {
	names names;
	val **vals;			   /* by number; NULL: not made yet */
	const onnx_tensor_type **declared; /* by number */
	const cost_shape **known;	   /* by number; NULL: not the main graph */
	const struct scope *parent;
} scope;

typedef struct row_slot {
	const char *domain;
	const op_row *row;
} row_slot;
#define ROW_SLOTS 2048u /* a power of two, some times the number of rows */

typedef struct infer {
	const onnx_model *model;
	const cost_config *config;
	mem_arena *arena;
	num_table *nums;
	row_slot rows[ROW_SLOTS];
	names functions; /* by "domain name overload" */
	const onnx_function **function_of;
	cost_op *ops;
	size_t nops, cap;
	int64_t opset; /* of ONNX's own operators */
	bool trust_declared;
	int depth;
	size_t visited; /* nodes inferred, dry ones too */
	size_t again;	/* of them in bodies that had been walked before */
	size_t priced;	/* operators whose traffic was counted */
	cost_result *result;
	num scratch[ONNX_INTS_MAX]; /* for op_dims() without memory */
	/* Sticky. */
	dck_status status;
	dck_err *err;
} infer;

/* Where a list of nodes is. */
typedef struct place {
	scope *scope;
	const frame *frame;
	const char *path; /* NULL: the main graph */
	num times;
} place;

/* Bodies in bodies, functions in functions; each level takes a few KiB of stack. */
#define INFER_DEPTH_MAX 48

bool infer_ok(const infer *in);
void infer_fail_memory(infer *in);
/* An order of the nodes in which each comes after those whose results it needs; in the arena. NULL:
 * a cycle, or no memory; in->status says so. */
size_t *infer_order(infer *in, const scope *s, const onnx_node *nodes, size_t n);
void infer_nodes(infer *in, const onnx_node *nodes, size_t n, const place *at);
/* The value of that name, from the inside out; NULL: none. */
val *infer_find(const scope *s, const char *name);
/* A value of the model's stated type. */
val *infer_declared(infer *in, const char *name, const onnx_type *type, bool input);
/* What a real run has shown of output i; NULL: nothing. */
const cost_shape *infer_shown(const op *o, size_t i);
/* A run decided what the graph leaves open. */
void infer_chosen(op *o, int64_t value);
val *infer_constant(infer *in, const onnx_tensor *t);

/* price.c: cost, traffic and parameters of an operator whose shapes are set. */
void price_op(op *o);
/* Sums, and the peak of what lives. */
void price_total(infer *in);

#endif
