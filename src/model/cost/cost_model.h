/* cost_model.h - what each operator of a model produces and costs, from the graph alone: types,
 * shapes, multiply-accumulates, floating-point operations, parameters, bytes. No weights are read,
 * no engine runs.
 *
 * What the graph cannot say is absent with its reason, never zero: a dimension that depends on
 * values, an operator without a rule.
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
	int rank;      /* below 0: not known; `why` says the reason */
	sym_int *dims;
	const char *why;
	bool constant; /* its contents are the same in every run */
	/* Contents, where they are known: `n` values in one of the two lists. A float tensor whose
	 * values are whole numbers may have `ints`. */
	sym_int *ints;
	double *reals;
	size_t n;
	const onnx_tensor *tensor; /* an initializer or the value of a Constant */
	bool initializer;	   /* stored in the file */
	bool input;		   /* an input of the main graph */
	/* Of a sequence: the type that all its members have (a dimension in which they differ is a
	 * size that depends on values), and the members themselves where their number is known. */
	struct val *item;
	struct val **items;
	size_t nitems;
	bool items_known;
	/* of a view: the value whose memory it shares; NULL: it has memory of its own */
	struct val *base;
	/* of a constant that was made from one initializer by reshaping, converting or
	 * dequantising: that initializer */
	struct val *from;
	bool given;    /* its contents follow from what the caller gave: an engine does not know
			  them before the run */
	bool has_seen; /* a real run has shown the one number that it holds, `seen` */
	int64_t seen;
	const void *mark; /* what a watcher has noted about it; a copy of the value keeps it */
	/* What follows is for the inference and the sums alone. */
	bool counted;  /* an initializer whose bytes have been added up already */
	size_t reader; /* the number of the last operator that counted it as read */
	/* Indices of operators; SIZE_MAX: made before all of them, used by none. */
	size_t made, last_use;
} val;

#define COST_RANK_MAX 64

typedef struct op_row op_row;

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
	bool either;	/* an If of which either branch may run */
	int branch; /* 1, 2: it is in the first or second branch of an If that may take either */
	/* Of a Loop whose number of rounds is open: its limits. most_rounds 0: there is no limit.
	 */
	sym_int least_rounds, most_rounds;
	bool folded;   /* computed from constants or shapes: engines do it once */
	bool expanded; /* it calls a function, and the operators inside have the cost */
	/* What all its executions in one run of the model take; absent with a reason where it is
	 * not known. */
	sym_int macs, flops, read_bytes, write_bytes;
	sym_int macs_each, flops_each; /* of one execution */
	/* What the initializers hold that this operator is the first to use. */
	sym_int params, buffers, weight_bytes;
} cost_op;

/* A size that the caller fixes. */
typedef struct cost_dim {
	const char *symbol;
	int64_t value;
} cost_dim;

/* A shape that the caller states, or what one real run has shown of a value. */
typedef struct cost_shape {
	const char *name;
	int64_t dtype; /* 0: as the model says */
	int rank;
	const int64_t *dims; /* -1: as the model says */
	bool has_number;     /* a run has shown the one number that it holds, `number` */
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

/* What a run has shown of a control operator: which branch was taken, or how often the body ran. */
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
	int64_t batch; /* the first dimension of every input where it is open; 0: it stays open */
	const cost_shape *
	    known; /* what a real run has shown of the main graph's values: it fills what is open */
	size_t nknown;
	const cost_visitor *watch; /* NULL: none */
} cost_config;

typedef struct cost_result {
	cost_op *ops;
	size_t nops;
	/* Sums over ops; absent, with the first reason, where one of the numbers is absent. */
	sym_int macs, flops, params, buffers, weight_bytes, read_bytes, write_bytes;
	sym_int macs_known, flops_known; /* of the operators whose cost is known */
	/* Limits of sums that the branches and rounds of a run decide: 0 and absent where there is
	 * no limit. A sum that is known is its own limit. */
	sym_int macs_least, macs_most, flops_least, flops_most;
	size_t unknown; /* operators whose MACs or FLOPs are not known */
	sym_int peak_activation_bytes;
	val **inputs, **outputs; /* of the main graph; initializers do not count as inputs */
	size_t ninputs, noutputs;
	val **values; /* all of the main graph, in the order they are made */
	size_t nvalues;
	size_t filled; /* values for which `known` says what inference could not */
	size_t differ; /* values for which `known` says another shape: a bug in the rule or in the
			  engine */
	const char *first_differing; /* the name of the first such value */
	cost_choice *choices;
	size_t nchoices;
	sym_table *nums;
	size_t constant_floats; /* elements of float constants that no role makes parameters */
} cost_result;

/* The most operators that a model may have after its functions are expanded and its bodies entered.
 */
#define COST_OPS_MAX 4000000u
/* The deepest nesting of bodies in bodies and functions in functions: each level takes a few KiB of
 * stack. */
#define COST_DEPTH_MAX 48

/* The reason begins with this where a number is open because the branch of an If is unknown:
 * such a number is not a size. */
#define COST_BRANCH "which branch is taken"

/* Everything lives in the arena, whose limit also bounds the work. E_ARG: the model lacks what the
 * config names; E_FORMAT: a cyclic graph, or a name that two operators make; E_LIMIT: the model is
 * too large, or a function calls itself; E_NOMEM. */
dck_status cost_model(const onnx_model *m, const cost_config *c, mem_arena *a, cost_result **ret,
		      dck_err *err);

/* "float32"; "type 23" for one without a name; static or in the arena. */
const char *cost_dtype_text(int64_t dtype, mem_arena *a);

#endif
