/* op.h - what a rule sees of the operator it is asked about, and how it answers.
 *
 * A rule is a row of a table: name, shape rule, cost rule, bytes moved, roles of the inputs. The
 * shape rule sets every output with op_set(), or says with op_unknown() why it cannot. A rule never
 * fails and never trusts: inputs may be missing, unknown or of another type, and attributes of the
 * wrong kind. Cost rules run after the shapes are set, and after what the model states or a real
 * run has shown has completed them. They count one execution of the node; the caller multiplies by
 * how often it runs.
 *
 * Example, the shape rule of Det, which makes [b,m,m] to [b]:
 *
 * 	const val *x = op_need_rank(o, 0, 2);
 * 	if (x)
 * 		op_set(o, 0, x->dtype, x->rank - 2, x->dims);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_OP_H
#define COST_OP_H

#include "model/cost/cost_model.h"

typedef struct op op;

/* What an operator moves: which bytes it reads and writes. */
typedef enum op_traffic {
	TRAFFIC_ALL,	/* reads its inputs once, writes its outputs */
	TRAFFIC_VIEW,	/* moves nothing: the output is the same memory (Reshape, Identity) */
	TRAFFIC_SHAPE,	/* reads only the shape of its input, and writes its output */
	TRAFFIC_PICK,	/* reads of its first input as much as it writes (Gather, Slice) */
	TRAFFIC_WRITE,	/* reads nothing that counts (ConstantOfShape, Range, random numbers) */
	TRAFFIC_CONTROL /* the operators of its body read and write */
} op_traffic;

struct op_row {
	const char *name;
	void (*shape)(op *o);
	void (*cost)(op *o); /* NULL: no arithmetic, 0 MACs and 0 FLOPs */
	int64_t flops;	     /* for each element: see cost_each(), cost_in_out() */
	op_traffic traffic;
	/* One letter for each input; the last letter also stands for all further inputs. 'p': its
	 * elements are trained parameters; 'b': a buffer, such as running statistics; 'c': a
	 * constant that is neither; '.': the rule does not decide it (see cost_evaluate.c). NULL is
	 * ".". */
	const char *roles;
	const char *how;  /* the formula in words; NULL: there is nothing to say */
	int64_t flops_in; /* cost_in_out(): FLOPs for each element of the first input */
	/* What differs between rows that share their rules, such as which input is what. The rules
	 * know its type. */
	const void *form;
};

/* The rows of one file, sorted by name (strcmp). */
typedef struct op_family {
	const char *domain; /* "" : ONNX's own */
	const op_row *rows;
	size_t nrows;
} op_family;
extern const op_family op_family_control, op_family_math_einsum, op_family_math_fold,
    op_family_math_linear, op_family_math_reduce, op_family_math_signal, op_family_microsoft,
    op_family_microsoft_attention, op_family_microsoft_other, op_family_microsoft_product,
    op_family_ml, op_family_nchwc, op_family_nhwc, op_family_nn, op_family_nn_attention,
    op_family_nn_norm, op_family_preview, op_family_quant, op_family_sequence,
    op_family_tensor_image, op_family_tensor_make, op_family_tensor_pick, op_family_tensor_reshape,
    op_family_tensor_text, op_family_training;
/* All families; NULL is the end. */
extern const op_family *const op_families[];
/* Row i of all families, in the order of domains and then of names; NULL: there are fewer. */
const op_row *op_row_at(size_t i, const char **ret_domain);

struct op {
	size_t slot;   /* what its index will be */
	cost_op *made; /* its inputs and outputs, and the place of its cost */
	const onnx_node *node;
	const op_row *row;
	sym_table *nums;
	mem_arena *arena;
	int64_t opset; /* the version of the node's domain; 0: the model does not state it */
	struct infer *infer;
	const struct scope *around; /* the names that the node sees */
	const struct frame *frame;  /* the call of the function that it is in; NULL: in none */
};

#define OP_NO_INPUT SIZE_MAX /* the number of an input that an operator does not have */

/* --- what there is --- */

/* Input i; NULL: the node leaves it out or has fewer inputs. */
const val *op_in(const op *o, size_t i);
bool op_has(const op *o, size_t i);
/* The type of input i; `otherwise` where there is no such input, or its type is not known. */
int64_t op_type(const op *o, size_t i, int64_t otherwise);
/* Input i; where it is missing NULL, after op_unknown(). */
const val *op_given(op *o, size_t i);
/* Input i when it is a tensor of known rank, else NULL after op_unknown() with the reason. */
const val *op_need(op *o, size_t i);
/* The same, where it has at least `rank` dimensions. */
const val *op_need_rank(op *o, size_t i, int rank);
/* Contents of input i, or NULL where they are not known. */
const sym_int *op_ints(const op *o, size_t i, size_t *ret_n);
/* The same as real numbers, also where the contents are integers. In the arena. */
const double *op_reals(const op *o, size_t i, size_t *ret_n);
/* False: the contents of input i are not known, or not one integer. */
bool op_int(const op *o, size_t i, sym_int *ret);

/* The node's attribute of that name. Inside a function an attribute may refer to one of the call;
 * then it is that one. */
const onnx_attribute *op_attr(const op *o, const char *name);
int64_t op_attr_int(const op *o, const char *name, int64_t otherwise);
double op_attr_float(const op *o, const char *name, double otherwise);
/* An attribute that is there and not 0. */
bool op_flag(const op *o, const char *name);
/* NULL: there is no such attribute, or it is not a text. */
const char *op_attr_text(const op *o, const char *name);
const int64_t *op_attr_ints(const op *o, const char *name, size_t *ret_n);
/* The integers in that attribute, as in old opsets, or else in that input; NULL: they are in
 * neither, or not known. */
const sym_int *op_list(const op *o, const char *name, size_t input, size_t *ret_n);
/* The axes of an operator that takes them as attribute `axes` in old opsets and as an input in
 * newer ones: different integers from 0 to rank-1, sorted. False, after op_unknown(): they are not
 * known or not valid. *ret_n 0 and *ret NULL: the node does not state any. */
bool op_axes(op *o, size_t input, int rank, const int64_t **ret, size_t *ret_n);
/* An axis of -1 becomes rank-1. False, after op_unknown(): there is no such axis. */
bool op_axis(op *o, int64_t axis, int rank, int *ret);

/* --- answers --- */

/* Output i is a tensor; dims are copied. Ignored when the node has no output i. */
void op_set(op *o, size_t i, int64_t dtype, int rank, const sym_int *dims);
/* Output i has the type and shape of v. */
void op_same(op *o, size_t i, const val *v);
/* Output 0 has the shape of the first input, and that type. */
void op_set_typed(op *o, int64_t dtype);
/* States the reason why the outputs that are not set yet are not known. Their dtype stays as it is.
 */
void op_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);
/* Output i is of that type, but its rank is not known. */
void op_set_unknown(op *o, size_t i, int64_t dtype, const char *why, ...) DCK_PRINTF(4, 5);
val *op_out(op *o, size_t i); /* NULL: the node leaves it out */
/* n numbers that are 0. For n up to ONNX_INTS_MAX never NULL: without memory it is a scratch
 * buffer; the arena has failed then, and cost_model() will fail. */
sym_int *op_dims(op *o, size_t n);
/* A copy of v's dimensions, with room for `more` behind them. */
sym_int *op_copy_dims(op *o, const val *v, size_t more);
/* A size that depends on values; the text is "<what> (<operator> '<name>')". */
sym_int op_fresh(op *o, const char *what);
/* Sets the contents of output i, whose shape is set already; they are copied. Ignored where there
 * are more than ONNX_INTS_MAX, or where their number does not match the shape. */
void op_set_ints(op *o, size_t i, const sym_int *v, size_t n);
void op_set_reals(op *o, size_t i, const double *v, size_t n);
/* Broadcasts shapes of any rank as NumPy does; *ret_dims is in the arena. False, after
 * op_unknown(): they do not fit. */
bool op_broadcast(op *o, const sym_int *a, int na, const sym_int *b, int nb, sym_int **ret_dims,
		  int *ret_rank);
/* Sets output 0: that type, and the shape that these n inputs have when they are broadcast. inputs
 * NULL: the first n inputs. */
void op_set_broadcast(op *o, const size_t *inputs, size_t n, int64_t dtype);
sym_int op_product(op *o, const sym_int *dims, size_t n);
/* How many elements the value has; absent where that is not known. */
sym_int op_elements(op *o, const val *v);
/* How many elements a value has whose dimensions are all known and that is small enough to have its
 * contents followed; SIZE_MAX otherwise. */
size_t op_small(const val *v);
/* v was broadcast to the shape of out: the place in v from which element i of out comes. op_small()
 * holds for both. */
size_t op_source(const val *v, const val *out, size_t i);
/* The same of the first output that the node has. */
sym_int op_elements_out(op *o);
sym_int op_times(op *o, int64_t k, sym_int n);
/* a / b; absent with the reason where b does not divide a. `what` names the parts: "heads". */
sym_int op_share(op *o, sym_int a, sym_int b, const char *what);

/* Sets the cost of one execution; `flops` are all of them, those of the MACs included. */
void op_cost(op *o, sym_int macs, sym_int flops);
/* The same with 2 * macs + extra_flops; where extra_flops is absent the MACs are still known. */
void op_cost_macs(op *o, sym_int macs, sym_int extra_flops);
/* The same without MACs. */
void op_cost_flops(op *o, sym_int flops);
/* Adds to the FLOPs that the rule has set before. */
void op_cost_more(op *o, sym_int flops);
void op_cost_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);
/* It has no products and therefore 0 MACs; how many other operations it has is not known. */
void op_flops_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);

/* --- rules that many rows share --- */
void shape_same(op *o);	      /* every output has the type and shape of the first input */
void shape_same_first(op *o); /* output 0 does; the other outputs are not known */
void shape_broadcast(op *o);  /* the shape of all inputs broadcast, the type of the first one */
void shape_broadcast_bool(op *o);
void cost_each(op *o);	  /* row->flops for each element of the first output */
void cost_each_in(op *o); /* row->flops for each element of input 0 */
void cost_in_out(op *o);  /* row->flops_in for each element of input 0, row->flops of the output */
void cost_uncounted(op *o);	/* not known, for deepclock has no formula for it */
void cost_by_values(op *o);	/* no MACs; the FLOPs depend on values */
void cost_all_by_values(op *o); /* MACs and FLOPs depend on values */

/* infer.c: walks a body of a control operator. Binds `inputs` to the first inputs of the graph and
 * returns the graph's outputs; the operators inside run `times` as often as the node. The caller
 * must have removed the contents of inputs that differ between iterations. False: nested too deep,
 * or no memory. */
bool op_body(op *o, const onnx_graph *g, val *const *inputs, size_t ninputs, sym_int times,
	     const char *label, val ***ret_out, size_t *ret_nout);
/* A new value of v's type and shape, without contents, in the arena. v NULL: nothing is known of
 * it. */
val *op_like(op *o, const val *v);
/* A value that is either a or b: where their dimensions differ it has a size that depends on
 * values, which `what` describes; where their types differ its type is not known. */
val *op_merge(op *o, const val *a, const val *b, const char *what);
/* Output i becomes a copy of v: type, shape, contents and members. */
void op_set_val(op *o, size_t i, const val *v);

#endif
