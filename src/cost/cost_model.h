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

#include "cost/polynomial.h"
#include "model/onnx.h"

typedef enum val_kind {
	VAL_TENSOR,
	VAL_SEQUENCE, /* of `item` */
	VAL_OPTIONAL, /* of `item` */
	VAL_OTHER     /* not known, or a map */
} val_kind;

/* A value of the graph. */
typedef struct val {
	const char *name;
	val_kind kind;
	int64_t dtype; /* onnx_dtype; 0: not known */
	int rank;      /* below 0: not known, because of `why` */
	num *dims;
	const char *why;
	bool constant; /* the same in every run */
	/* Contents, where they are known: one of the two, `n` values. A float tensor whose values
	 * are whole numbers may have `ints`. */
	num *ints;
	double *reals;
	size_t n;
	const onnx_tensor *tensor; /* an initializer or the value of a Constant */
	bool initializer;	   /* stored in the file */
	bool input;		   /* of the model's main graph */
	/* Of a sequence: its members' common type (a dimension in which they differ is fresh), and
	 * the members themselves where the number of them is known. */
	struct val *item;
	struct val **items;
	size_t nitems;
	bool items_known;
	/* of a view: whose memory it is; NULL: its own */
	struct val *base;
	/* of a constant made from one initializer by reshaping, converting or dequantising: that
	 * one */
	struct val *from;
	bool has_seen; /* a real run has shown the one number that it holds */
	int64_t seen;
	const void *mark; /* what a watcher notes of it; a copy of the value keeps it */
	/* For the analysis itself: */
	bool counted;	       /* an initializer whose bytes are in a sum */
	size_t reader;	       /* the number of the last operator whose traffic holds it */
	size_t made, last_use; /* indices of operators; SIZE_MAX: before all, or never */
} val;

#define COST_RANK_MAX 64

typedef struct op_row op_row;

/* One operator as it runs: a node, or a node of a function's or control operator's body. */
typedef struct cost_op {
	const onnx_node *node;
	const op_row *row; /* NULL: no rule for it */
	const char
	    *scope; /* enclosing control operators and functions, "loop_1/call_2"; NULL: none */
	val **in, **out; /* NULL: left out */
	size_t nin, nout;
	num times;     /* how often it runs in one run of the model */
	bool folded;   /* computed from constants or shapes: engines do it once */
	bool expanded; /* its cost is that of the operators of its body */
	/* Of all its executions in one run of the model. None: not known, because ... */
	num macs, flops, read_bytes, write_bytes;
	/* Of the initializers that it is the first to use. */
	num params, buffers, weight_bytes;
} cost_op;

/* A size that the caller fixes. */
typedef struct cost_dim {
	const char *symbol;
	int64_t value;
} cost_dim;

/* A shape, or what one real run has shown of a value. */
typedef struct cost_shape {
	const char *name;
	int64_t dtype; /* 0: as the model says */
	int rank;
	const int64_t *dims; /* -1: as the model says */
	bool has_number;     /* a run has shown the one number that it holds */
	int64_t number;
} cost_shape;

/* What a run has shown of a control operator: the branch that was taken, or how often the body ran.
 */
typedef struct cost_choice {
	const char *name, *type;
	int64_t value; /* of If: 1 then_branch, 0 else_branch */
} cost_choice;
#define COST_CHOICES_MAX 256
struct op;
/* Somebody who follows the inference node by node. A status other than DCK_OK ends it. Nodes that
 * are calls of the model's functions are not shown, but those inside are. */
typedef struct cost_watch {
	/* An input of the main graph, whose sizes it may open. */
	dck_status (*input)(void *self, num_table *nums, val *v, dck_err *err);
	/* Before the node's shapes are inferred: its inputs may be replaced. */
	dck_status (*before)(void *self, struct op *o, dck_err *err);
	dck_status (*after)(void *self, struct op *o, dck_err *err);
	void *self;
} cost_watch;

typedef struct cost_config {
	const cost_dim *dims; /* a symbol that the model lacks is E_ARG */
	size_t ndims;
	const cost_shape *inputs; /* an input that the model lacks is E_ARG */
	size_t ninputs;
	int64_t batch; /* first dimension of every input where it is open; 0: left */
	const cost_shape
	    *known; /* values of the main graph, from a real run: they fill what is open */
	size_t nknown;
	const cost_watch *watch; /* NULL: nobody */
} cost_config;

typedef struct cost_result {
	cost_op *ops;
	size_t nops;
	/* Sums over ops; none, with the first reason, where a member is none. */
	num macs, flops, params, buffers, weight_bytes, read_bytes, write_bytes;
	num macs_known, flops_known; /* of the operators whose cost is known */
	size_t unknown;		     /* operators whose MACs or FLOPs are not known */
	num peak_activation_bytes;
	val **inputs, **outputs; /* of the main graph; initializers are no inputs */
	size_t ninputs, noutputs;
	val **values; /* all of the main graph, in the order they are made */
	size_t nvalues;
	size_t filled; /* values of which `known` said what inference could not */
	size_t differ; /* values of which `known` says another shape: a bug here or there */
	const char *first_differing;
	cost_choice *choices; /* of the first of them */
	size_t nchoices;
	num_table *nums;
	size_t constant_floats; /* many-element float constants that no role makes parameters */
} cost_result;

/* At most so many operators after functions are expanded and bodies entered. */
#define COST_OPS_MAX 4000000u
/* At most so deep are bodies in bodies and functions in functions: each level takes a few KiB of
 * stack. */
#define COST_DEPTH_MAX 48

/* How the reason begins where a number is open because of an If: that is no size. */
#define COST_BRANCH "which branch is taken"

/* Everything lives in the arena, which also bounds it. E_ARG; E_FORMAT: a cyclic graph, a name that
 * two operators make; E_LIMIT: too large, or functions that call themselves; E_NOMEM. */
dck_status cost_model(const onnx_model *m, const cost_config *c, mem_arena *a, cost_result **ret,
		      dck_err *err);

/* "float32"; "type 23" for one without a name; static or in the arena. */
const char *cost_dtype_text(int64_t dtype, mem_arena *a);

#endif
