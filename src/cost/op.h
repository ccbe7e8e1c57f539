/* op.h - what a rule sees of the operator it is asked about, and how it answers.
 *
 * A rule is a row in a table: name, shape rule, cost rule, traffic, roles of its inputs. Shape
 * rules set every output with op_set() or say with op_unknown() why they cannot; a rule never fails
 * and never trusts: inputs may be missing, of another type, or unknown, attributes of the wrong
 * kind. Cost rules run after the shapes are set (and completed from what the model or a real run
 * says).
 *
 * Formulas count one execution of the node; the caller multiplies by how often it runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_OP_H
#define COST_OP_H

#include "cost/cost_model.h"

typedef struct op op;

/* What an operator moves: which bytes it reads and writes. */
typedef enum op_traffic {
	TRAFFIC_ALL,	/* reads its inputs once, writes its outputs */
	TRAFFIC_VIEW,	/* only another name for the same memory: nothing (Reshape, Identity) */
	TRAFFIC_SHAPE,	/* reads the shape of its input alone: writes its output */
	TRAFFIC_PICK,	/* reads of its first input as much as it writes (Gather, Slice) */
	TRAFFIC_WRITE,	/* reads nothing that counts (ConstantOfShape, Range, random) */
	TRAFFIC_CONTROL /* its body's operators read and write */
} op_traffic;

struct op_row {
	const char *name;
	void (*shape)(op *o);
	void (*cost)(op *o); /* NULL: no arithmetic, 0 MACs and 0 FLOPs */
	int64_t flops;	     /* for each element: see cost_each() and its neighbours */
	op_traffic traffic;
	/* For each input: 'p' trained, 'b' buffer (running statistics), 'c' constant, '.' whatever
	 * its producer is; the last one repeats. NULL: ".". */
	const char *roles;
	const char *how;  /* the formula in words, for docs and reports; NULL: that of `cost` */
	int64_t flops_in; /* of cost_in_out(): for each element of the first input */
	const void *form; /* what the row's rules are told: which input is what, a layout */
};

/* A family's rows, sorted by name (strcmp). */
typedef struct op_family {
	const char *domain; /* "" : ONNX's own */
	const op_row *rows;
	size_t nrows;
} op_family;
extern const op_family op_family_math, op_family_tensor, op_family_nn, op_family_sequence,
    op_family_control, op_family_quant, op_family_microsoft, op_family_ml, op_family_training,
    op_family_preview, op_family_nchwc, op_family_nhwc;
/* All of them, ended by NULL. */
extern const op_family *const op_families[];

struct op {
	cost_op *made; /* node, in, out, and where macs and flops go */
	const onnx_node *node;
	const op_row *row;
	num_table *nums;
	mem_arena *arena;
	int64_t opset; /* of the node's domain; 0: not stated */
	struct infer *infer;
	const struct scope *around; /* the names it sees */
	const struct frame *frame;  /* of the function that the node is in; NULL: none */
};

#define OP_ABSENT SIZE_MAX /* the number of an input that an operator does not have */

/* --- what there is --- */

/* Input i, or NULL: left out or beyond the last. */
const val *op_in(const op *o, size_t i);
bool op_has(const op *o, size_t i);
/* The type of input i; `otherwise` where there is no such input, or its type is not known. */
int64_t op_type(const op *o, size_t i, int64_t otherwise);
/* Input i, or NULL after op_unknown(). */
const val *op_given(op *o, size_t i);
/* Input i when it is a tensor of known rank, else NULL after op_unknown() with the reason. */
const val *op_need(op *o, size_t i);
/* The same, and of at least `rank` dimensions. */
const val *op_need_rank(op *o, size_t i, int rank);
/* Dimension `axis` of a value of known rank; negative counts from the end. Outside: none. */
num op_dim(op *o, const val *v, int64_t axis);
/* Contents of input i, or NULL where they are not known. */
const num *op_ints(const op *o, size_t i, size_t *ret_n);
/* The same as reals: also of integers. In the arena. */
const double *op_reals(const op *o, size_t i, size_t *ret_n);
/* One integer: content of input i. */
bool op_int(const op *o, size_t i, num *ret);

/* Attributes; references to a function's attributes are followed. */
const onnx_attribute *op_attr(const op *o, const char *name);
int64_t op_attr_int(const op *o, const char *name, int64_t otherwise);
double op_attr_float(const op *o, const char *name, double otherwise);
/* An attribute that is there and not 0. */
bool op_flag(const op *o, const char *name);
/* NULL: not there, or no text. */
const char *op_attr_text(const op *o, const char *name);
const int64_t *op_attr_ints(const op *o, const char *name, size_t *ret_n);
/* Axes of an operator that takes them as attribute `axes` in old opsets and as input i in newer
 * ones, as integers from 0 to rank-1, sorted, no two alike. False: not known or not valid, after
 * op_unknown(). *ret_n 0 and *ret NULL: not given. */
bool op_axes(op *o, size_t input, int rank, const int64_t **ret, size_t *ret_n);
/* -1 becomes rank-1. False after op_unknown(): outside. */
bool op_axis(op *o, int64_t axis, int rank, int *ret);

/* --- answers --- */

/* Output i is a tensor; dims are copied. Ignored when the node has no output i. */
void op_set(op *o, size_t i, int64_t dtype, int rank, const num *dims);
/* Output i has the type and shape of v. */
void op_same(op *o, size_t i, const val *v);
/* All outputs that are not set: not known. Their dtype stays 0. */
void op_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);
/* Output i is of that type, but its rank is not known. */
void op_set_unknown(op *o, size_t i, int64_t dtype, const char *why, ...) DCK_PRINTF(4, 5);
val *op_out(op *o, size_t i); /* NULL: left out */
/* n zeroed numbers; for up to ONNX_INTS_MAX never NULL (a scratch place where there is no memory:
 * the arena has failed then, and the model with it). */
num *op_dims(op *o, size_t n);
/* A copy of v's dims, with room for `more`. */
num *op_copy_dims(op *o, const val *v, size_t more);
/* A size that depends on values; the text is "<what> (<operator> '<name>')". */
num op_fresh(op *o, const char *what);
/* Contents of output i, whose dims are set; copied. Only for at most ONNX_INTS_MAX elements whose
 * number matches the shape; ignored otherwise. */
void op_set_ints(op *o, size_t i, const num *v, size_t n);
void op_set_reals(op *o, size_t i, const double *v, size_t n);
/* Broadcasting of NumPy: a and b of any rank; *ret_dims in the arena. False: they do not fit, after
 * op_unknown(). Two open sizes that may differ: none. */
bool op_broadcast(op *o, const num *a, int na, const num *b, int nb, num **ret_dims, int *ret_rank);
/* Output 0 has that type and the shape of these inputs, broadcast; inputs NULL: of the first n. */
void op_set_broadcast(op *o, const size_t *inputs, size_t n, int64_t dtype);
num op_product(op *o, const num *dims, size_t n);
/* Elements of a tensor; none where it is not known. */
num op_elements(op *o, const val *v);
/* Elements of a value whose dims are all known and whose number is small enough for contents;
 * SIZE_MAX otherwise. */
size_t op_small(const val *v);
/* Where in v, which was broadcast to the shape of out, element i of out comes from. Both small. */
size_t op_source(const val *v, const val *out, size_t i);
/* Of the first output that there is. */
num op_elements_out(op *o);
num op_times(op *o, int64_t k, num n);
/* a / b; none with the reason when b does not divide a. `what` are the parts: "heads". */
num op_share(op *o, num a, num b, const char *what);

/* Cost of one execution; flops are all, those of the MACs too. */
void op_cost(op *o, num macs, num flops);
/* FLOPs are 2 * macs + extra; where extra is not known the MACs stand. */
void op_cost_macs(op *o, num macs, num extra_flops);
/* No MACs. */
void op_cost_flops(op *o, num flops);
/* FLOPs that come to those the rule has set. */
void op_cost_more(op *o, num flops);
void op_cost_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);
/* No products, so 0 MACs; but how many other operations is not known. */
void op_flops_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);

/* --- rules that many rows share --- */
void shape_same(op *o);	      /* every output is like the first input */
void shape_same_first(op *o); /* output 0 like input 0; others unknown */
void shape_broadcast(op *o);  /* of all inputs; the type of the first */
void shape_broadcast_bool(op *o);
void cost_each(op *o);	  /* row->flops for each element of the first output */
void cost_each_in(op *o); /* row->flops for each element of input 0 */
void cost_in_out(op *o);  /* row->flops_in for each element of input 0, row->flops of the output */

/* infer.c: a body of a control operator. Binds `inputs` to the graph's inputs (as far as there
 * are), infers it, and returns its outputs; operators inside run `times` as often as the node.
 * Contents of inputs that are not the same in each iteration must have been taken away by the
 * caller. `dry`: only for the shapes, its operators are not kept. False: too deep or no memory. */
bool op_body(op *o, const onnx_graph *g, val *const *inputs, size_t ninputs, num times, bool dry,
	     const char *label, val ***ret_out, size_t *ret_nout);
/* A new value like v (NULL: unknown), in the arena, without contents. */
val *op_like(op *o, const val *v);
/* Both may come out: dimensions in which a and b differ become fresh (`what`), types too. */
val *op_merge(op *o, const val *a, const val *b, const char *what);
/* Copies type, shape, contents and members of v to output i. */
void op_set_val(op *o, size_t i, const val *v);

#endif
