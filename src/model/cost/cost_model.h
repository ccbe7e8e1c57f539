/* cost_model.h - static cost model: type and shape inference and the cost of each operator, from
 * the graph alone: multiply-accumulates, floating-point operations, parameters, bytes. No weights
 * are read, no engine runs.
 *
 * Quantities that the graph does not determine are absent with a reason, never zero: a dimension
 * that depends on values, an operator without a rule.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_COST_MODEL_H
#define COST_COST_MODEL_H

#include "model/cost/sym_int.h"
#include "model/onnx/onnx.h"

typedef enum val_kind {
	VAL_TENSOR,
	VAL_SEQUENCE, /* of `item` */
	VAL_OPTIONAL, /* of `item` */
	VAL_OTHER     /* not known, or a map */
} val_kind;

/* A tensor, sequence or optional value that the graph names. */
typedef struct val {
	const char *name;
	val_kind kind;
	int64_t dtype; /* onnx_dtype; 0: not known */
	int rank;      /* below 0: not known; `why` is the reason */
	sym_int *dims;
	const char *why;
	bool misfit;   /* no engine runs its operator, because of `why` */
	bool constant; /* its contents are the same in every run */
	/* Known contents: `n` values in one of the two lists. A float tensor whose values are
	 * integers may have `ints`. */
	sym_int *ints;
	double *reals;
	size_t n;
	const onnx_tensor *tensor; /* an initializer or the value of a Constant */
	bool initializer;	   /* stored in the file */
	bool input;		   /* an input of the main graph */
	const onnx_dim *declared;  /* its dimensions as the model writes them; NULL: unknown */
	/* Of a sequence: the common type of its members (a dimension in which they differ is a size
	 * that depends on values), and the members themselves if their number is known. */
	struct val *item;
	struct val **items;
	size_t nitems;
	bool items_known;
	/* of a view: the value whose memory it shares; NULL: it has separate memory */
	struct val *base;
	/* of an output of a function's call: the value in the function */
	struct val *inner;
	/* of the state of a loop's body: what the body makes, which is the state of the next round
	 */
	struct val *again;
	/* of a constant that was made from one initializer by reshaping, converting or
	 * dequantising: that initializer */
	struct val *from;
	bool given;    /* its contents follow from contents of the caller: an engine does not know
			  them before the run */
	bool has_seen; /* a real run observed its only number, `seen` */
	int64_t seen;
	const void *mark; /* user data of the visitor; a copy of the value has it too */
	/* The other members are for the inference and the sums alone. */
	bool learned; /* of a value that an operator makes, or of a state: it depends on a parameter
		       */
	size_t reader; /* the index of the last operator that counted it as read */
	/* Indices of operators; SIZE_MAX: made before all of them, used by none. */
	size_t def, last_use;
} val;

#define COST_RANK_MAX 64

typedef struct op_row op_row;

/* Weights of which several share a byte, as one list for each operator. */
typedef struct cost_packed {
	const struct cost_packed *next;
	const onnx_tensor *of;
	sym_int elements;
} cost_packed;

/* One of several matrix products of an operator. */
typedef struct cost_matmul {
	sym_int macs;	/* of one execution */
	size_t operand; /* the input that is multiplied */
	bool chained;	/* by what the products before it made; otherwise by the first input */
} cost_matmul;

/* One operator as it runs: a node of the main graph, of a function, or of a control operator's
 * body. */
typedef struct cost_op {
	const onnx_node *node;
	const op_row *row; /* NULL: no rule for it */
	/* The enclosing control operators and functions, "loop_1/call_2"; NULL: none. */
	const char *scope;
	size_t inside;	 /* the operator that encloses it directly; SIZE_MAX: none */
	val **in, **out; /* NULL: the node leaves it out */
	size_t nin, nout;
	sym_int times;	/* how often it runs in one run of the model */
	sym_int rounds; /* the same in one run of the operator that encloses it */
	/* How often it reads constants: as `times`, but once for all rounds of a loop, because they
	 * stay in a cache if they fit. */
	sym_int constant_reads;
	bool either; /* an If whose branch is not known */
	int branch;  /* 1, 2: it is in the first or second branch of an If that may take either */
	/* Limits of a Loop's rounds if their number is open. most_rounds 0: no limit. */
	sym_int least_rounds, most_rounds;
	bool folded;   /* computed from constants or shapes: engines do it once */
	bool expanded; /* it calls a function, and the operators inside have the cost */
	/* Cost of all its executions in one run of the model; absent with a reason if it is not
	 * known. */
	sym_int macs, flops, read_bytes, write_bytes;
	sym_int macs_each, flops_each; /* of one execution */
	/* Sizes of the initializers of which this operator is the first user. */
	sym_int params, buffers, weight_bytes;
	const cost_packed *packed; /* parameters that its rule counts; NULL: none */
	/* The products whose MACs are `macs`; none: one product, of the first two inputs. */
	const cost_matmul *products;
	size_t nproducts;
} cost_op;

/* A size that the caller fixes. */
typedef struct cost_dim {
	const char *symbol;
	int64_t value;
} cost_dim;

/* A shape that the caller states, or that a real run has observed. */
typedef struct cost_shape {
	const char *name;
	int64_t dtype; /* 0: as in the model */
	int rank;
	const int64_t *dims; /* -1: as in the model */
	bool has_number;     /* a run has observed its only number, `number` */
	int64_t number;
} cost_shape;

/* The contents of an input of the main graph, in one of the two lists. n 1: every element is that.
 */
typedef struct cost_content {
	const char *name;
	const int64_t *ints;
	const double *reals;
	size_t n;
} cost_content;

/* The branch taken or the number of rounds of a control operator in a run, or a number that another
 * operator took. */
typedef struct cost_choice {
	const char *name, *type;
	int64_t value; /* of If: 1 then_branch, 0 else_branch */
} cost_choice;
#define COST_CHOICES_MAX 256
struct op;
/* Functions that are called while the inference walks the nodes. A status other than DCK_OK ends
 * it. They do not see a node that calls a function of the model, but they see the nodes inside the
 * function. */
typedef struct cost_visitor {
	/* Called for each input of the main graph, whose sizes it may turn into symbols. */
	dck_status (*input)(void *self, sym_table *nums, val *v, dck_err *err);
	/* Called before the node's shapes are inferred; it may replace the node's inputs. */
	dck_status (*before)(void *self, struct op *o, dck_err *err);
	dck_status (*after)(void *self, struct op *o, dck_err *err);
	void *self;
} cost_visitor;

typedef struct cost_config {
	const cost_dim *dims; /* a symbol that the model lacks is E_ARG */
	size_t ndims;
	const cost_shape *inputs; /* an input that the model lacks is E_ARG */
	size_t ninputs;
	const cost_content *contents; /* of inputs; an input that the model lacks is E_ARG */
	size_t ncontents;
	int64_t batch; /* the first dimension of every input, if it is open; 0: it stays open */
	const cost_shape *
	    known; /* shapes of the main graph's values in one real run: they fill the open sizes */
	size_t nknown;
	const cost_visitor *watch; /* NULL: none */
} cost_config;

typedef struct cost_result {
	cost_op *ops;
	size_t nops;
	/* Sums over ops; absent, with the first reason, if one of the numbers is absent. */
	sym_int macs, flops, params, buffers, weight_bytes, read_bytes, write_bytes;
	sym_int macs_known, flops_known; /* of the operators whose cost is known */
	/* Bounds of sums that depend on branches and rounds of a run: 0 and absent without a
	 * bound. A known sum equals both bounds. */
	sym_int macs_least, macs_most, flops_least, flops_most;
	size_t unknown; /* operators whose MACs or FLOPs are not known */
	sym_int peak_activation_bytes;
	val **inputs, **outputs; /* of the main graph; initializers do not count as inputs */
	size_t ninputs, noutputs;
	val **values; /* all of the main graph, in the order they are made */
	size_t nvalues;
	size_t filled; /* values completed from `known` */
	size_t differ; /* values with another shape in `known`: a bug in the rule or in the
			  engine */
	const char *first_differing; /* the name of the first such value */
	cost_choice *choices;
	size_t nchoices;
	sym_table *nums;
	size_t constant_floats;	  /* elements of float constants that no role makes parameters */
	size_t folded_parameters; /* those of them that were folded from parameters and others */
} cost_result;

/* The most operators that a model may have after its functions are expanded and its bodies entered,
 * and the limit of the arena above its size before the call. With its row an operator takes about
 * 900 bytes. */
#define COST_OPS_MAX	1000000u
#define COST_MEMORY_MAX (2 * ONNX_MEMORY_MAX)
/* The deepest nesting of bodies in bodies and functions in functions: each level takes a few KiB of
 * stack. */
#define COST_DEPTH_MAX 48

/* Computes the cost. All results are in the arena, whose limit also bounds the work. E_ARG: the
 * model lacks a name of the config; E_FORMAT: a cyclic graph, or a name that two operators make;
 * E_LIMIT: the model is too large, or a function calls itself; E_NOMEM. */
dck_status cost_model(const onnx_model *m, const cost_config *c, mem_arena *a, cost_result **ret,
		      dck_err *err);

/* Returns "float32", or "type 23" for a type without a name; static or in the arena. */
const char *cost_dtype_text(int64_t dtype, mem_arena *a);
/* Returns the node's name, or "Relu:y" of its type and first output; in the node or the arena. */
const char *cost_node_name(mem_arena *a, const onnx_node *node);

#endif
