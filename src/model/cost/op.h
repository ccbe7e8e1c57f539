/* op.h - the interface of shape and cost rules: the operator's inputs and attributes, and answers.
 *
 * A rule is a row of a table: name, shape rule, cost rule, bytes moved, roles of the inputs. The
 * shape rule sets every output with op_set(), or gives the reason with op_unknown(). A rule never
 * fails and never trusts: inputs may be missing, unknown or of another type, and attributes of the
 * wrong kind. Cost rules run after the shapes are set, and completed from the model's declarations
 * or a real run. They count one execution of the node; the caller multiplies by the number of
 * executions.
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

/* Memory traffic of an operator: the bytes it reads and writes. */
typedef enum op_traffic {
	TRAFFIC_ALL,	/* reads its inputs once, writes its outputs */
	TRAFFIC_FIRST,	/* reads its first input, and the type of the others (CastLike) */
	TRAFFIC_VIEW,	/* moves nothing: the output is the same memory (Reshape, Identity) */
	TRAFFIC_SHAPE,	/* reads only the shape of its input, and writes its output */
	TRAFFIC_PICK,	/* reads as many elements of its first input as it writes (Gather, Slice) */
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
	const char *how;  /* the formula in words; NULL: none */
	int64_t flops_in; /* cost_in_out(): FLOPs for each element of the first input */
	/* Parameters of rows that share their rules, such as indices of inputs. The rules define
	 * its type. */
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
/* All families, NULL-terminated. */
extern const op_family *const op_families[];
/* Returns row i of all families, in the order of domains and then of names; NULL: i is too large.
 */
const op_row *op_row_at(size_t i, const char **ret_domain);

struct op {
	size_t slot;   /* its future index */
	cost_op *made; /* its inputs and outputs, and its cost */
	const onnx_node *node;
	const op_row *row;
	sym_table *nums;
	mem_arena *arena;
	int64_t opset; /* the version of the node's domain; 0: the model does not state it */
	struct infer *infer;
	const struct scope *around; /* the names visible to the node */
	const struct frame *frame;  /* the call of the enclosing function; NULL: none */
};

#define OP_NO_INPUT SIZE_MAX /* the number of an input that an operator does not have */

/* --- inputs and attributes --- */

/* Returns input i; NULL: the node leaves it out or has fewer inputs. */
const val *op_in(const op *o, size_t i);
bool op_has(const op *o, size_t i);
/* Returns the type of input i; `otherwise` if the input is missing or its type is unknown. */
int64_t op_type(const op *o, size_t i, int64_t otherwise);
/* Returns input i; NULL after op_unknown(): it is missing. */
const val *op_given(op *o, size_t i);
/* Returns input i if it is a tensor of known rank, else NULL after op_unknown() with the reason. */
const val *op_need(op *o, size_t i);
/* Returns it if it also has at least `rank` dimensions. */
const val *op_need_rank(op *o, size_t i, int rank);
/* Returns the contents of input i; NULL: they are not known. */
const sym_int *op_ints(const op *o, size_t i, size_t *ret_n);
/* Returns them as real numbers, also if the contents are integers. In the arena. */
const double *op_reals(const op *o, size_t i, size_t *ret_n);
/* Reads the only integer in input i. False: its contents are not known, or not one integer. */
bool op_int(const op *o, size_t i, sym_int *ret);
/* Does the same; if the graph does not determine the number, *ret is the one of a real run, which
 * is then in cost_result.choices. */
bool op_int_run(op *o, size_t i, sym_int *ret);

/* Returns the node's attribute of that name. Inside a function a reference to an attribute of the
 * call is resolved. */
const onnx_attribute *op_attr(const op *o, const char *name);
int64_t op_attr_int(const op *o, const char *name, int64_t otherwise);
double op_attr_float(const op *o, const char *name, double otherwise);
/* Returns whether the attribute exists and is not 0. */
bool op_flag(const op *o, const char *name);
/* Returns a text attribute; NULL: the attribute is missing or not a text. */
const char *op_attr_text(const op *o, const char *name);
/* Returns its integers, not NULL if there are none; NULL: the attribute is missing or another. */
const int64_t *op_attr_ints(const op *o, const char *name, size_t *ret_n);
/* Returns the integers in that attribute, as in old opsets, or else in that input; NULL: they are
 * missing or not known. */
const sym_int *op_list(const op *o, const char *name, size_t input, size_t *ret_n);
/* The same of real numbers. */
const double *op_real_list(const op *o, const char *name, size_t input, size_t *ret_n);
/* Counts an initializer of packed weights as that number of parameters, once for all operators. */
void op_packed(op *o, size_t i, sym_int elements);
/* Reads the axes of an operator that has them as attribute `axes` in old opsets and as an input in
 * newer opsets: different integers from 0 to rank-1, sorted. False, after op_unknown(): they are
 * not known or not valid. *ret_n 0 and *ret NULL: the node does not state any. */
bool op_axes(op *o, size_t input, int rank, const int64_t **ret, size_t *ret_n);
/* Normalizes an axis: -1 becomes rank-1. False, after op_misfit(): the axis is out of range. */
bool op_axis(op *o, int64_t axis, int rank, int *ret);

/* --- answers --- */

/* Sets output i to a tensor; dims are copied. Ignored if the node has no output i. */
void op_set(op *o, size_t i, int64_t dtype, int rank, const sym_int *dims);
/* Sets output i to the type and shape of v. */
void op_same(op *o, size_t i, const val *v);
/* Sets output 0 to the shape of the first input, and that type. */
void op_set_typed(op *o, int64_t dtype);
/* Sets the reason why the outputs that are not set yet are unknown. Their dtype does not change.
 * Returns false. */
bool op_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);
/* The same for inputs and axes that contradict each other, so that the operator runs nowhere. */
bool op_misfit(op *o, const char *why, ...) DCK_PRINTF(2, 3);
/* Marks output 0, whose shape stays, in the same way where these n inputs have several types.
 * inputs NULL: the first n inputs. */
void op_one_type(op *o, const size_t *inputs, size_t n);
/* Sets the type of output i, whose rank is not known. */
void op_set_unknown(op *o, size_t i, int64_t dtype, const char *why, ...) DCK_PRINTF(4, 5);
val *op_out(op *o, size_t i); /* NULL: the node leaves it out */
/* Returns n numbers that are 0. For n up to ONNX_INTS_MAX never NULL: without memory it is a
 * scratch buffer; the arena has failed then, and cost_model() will fail. */
sym_int *op_dims(op *o, size_t n);
/* Returns a copy of v's dimensions, with space for `more` after them. */
sym_int *op_copy_dims(op *o, const val *v, size_t more);
/* Returns a new size that depends on values; its text is "<what> (<operator> '<name>')". */
sym_int op_fresh(op *o, const char *what);
sym_int op_choice(op *o, const char *what); /* as op_fresh(), but 0 or 1, not a size */
/* Set the contents of output i, whose shape is set already; they are copied. Ignored if there are
 * more than ONNX_INTS_MAX, or if their number does not match the shape. */
void op_set_ints(op *o, size_t i, const sym_int *v, size_t n);
void op_set_reals(op *o, size_t i, const double *v, size_t n);
/* Broadcasts shapes of any rank as NumPy does; *ret_dims is in the arena. False, after
 * op_unknown(): they do not fit. */
bool op_broadcast(op *o, const sym_int *a, int na, const sym_int *b, int nb, sym_int **ret_dims,
		  int *ret_rank);
/* Sets output 0 to that type and the broadcast shape of these n inputs. inputs NULL: the first n
 * inputs. */
void op_set_broadcast(op *o, const size_t *inputs, size_t n, int64_t dtype);
sym_int op_product(op *o, const sym_int *dims, size_t n);
/* Returns the number of elements of a value; absent if it is not known. */
sym_int op_elements(op *o, const val *v);
/* Returns the number of elements of a value if all its dimensions are known and it is small enough
 * for its contents to be stored; SIZE_MAX otherwise. */
size_t op_small(const val *v);
/* Returns the index in v of element i of out, if v was broadcast to the shape of out. Both are
 * small (op_small()). */
size_t op_source(const val *v, const val *out, size_t i);
/* Returns the number of elements of the node's first output. */
sym_int op_elements_out(op *o);
sym_int op_times(op *o, int64_t k, sym_int n);
/* Returns a / b; absent with a reason if b does not divide a. `what` names the parts: "heads". */
sym_int op_share(op *o, sym_int a, sym_int b, const char *what);

/* Sets the cost of one execution; `flops` includes the FLOPs of the MACs. */
void op_cost(op *o, sym_int macs, sym_int flops);
/* Sets it to 2 * macs + extra_flops FLOPs; if extra_flops is absent the MACs are still known. */
void op_cost_macs(op *o, sym_int macs, sym_int extra_flops);
/* States the products that the MACs are of, which are copied. */
void op_products(op *o, const cost_matmul *list, size_t n);
/* Sets it without MACs. */
void op_cost_flops(op *o, sym_int flops);
/* Adds to the FLOPs that the rule has set before. */
void op_cost_more(op *o, sym_int flops);
void op_cost_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);
/* Sets 0 MACs and unknown FLOPs with the reason. */
void op_flops_unknown(op *o, const char *why, ...) DCK_PRINTF(2, 3);

/* --- rules that many rows share --- */
void shape_same(op *o);	      /* every output has the type and shape of the first input */
void shape_same_first(op *o); /* output 0 does; the other outputs are not known */
void shape_broadcast(op *o);  /* the shape of all inputs broadcast, the type of the first one */
void shape_broadcast_bool(op *o);
void cost_each(op *o);	  /* row->flops for each element of the first output */
void cost_each_in(op *o); /* row->flops for each element of input 0 */
void cost_in_out(op *o);  /* row->flops_in for each element of input 0, row->flops of the output */
void cost_uncounted(op *o);	/* not known: deepclock has no formula for it */
void cost_by_values(op *o);	/* no MACs; the FLOPs depend on values */
void cost_all_by_values(op *o); /* MACs and FLOPs depend on values */

/* infer.c: walks a body of a control operator. Binds `inputs` to the first inputs of the graph and
 * returns the graph's outputs; the operators inside run `times` times for each run of the node, and
 * read constants once if the body has no label, because it is a loop's. The caller must have
 * removed the contents of inputs that differ between iterations. False: nested too deep, or no
 * memory. */
bool op_body(op *o, const onnx_graph *g, val *const *inputs, size_t ninputs, sym_int times,
	     const char *label, val ***ret_out, size_t *ret_nout);
/* Returns a new value of v's type and shape, without contents, in the arena. v NULL: both are not
 * known. */
val *op_like(op *o, const val *v);
/* Returns a value that is either a or b: a dimension in which they differ is a size that depends on
 * values, which `what` describes; if their types differ its type is not known. */
val *op_merge(op *o, const val *a, const val *b, const char *what);
/* Sets output i to a copy of v: type, shape, contents and members. */
void op_set_val(op *o, size_t i, const val *v);

#endif
