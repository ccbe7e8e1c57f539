/* infer.h - private header of shape inference: the state of one walk over a model, scopes, and the
 * contexts of lists of nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_INFER_H
#define COST_INFER_H

#include "base/err.h"
#include "model/cost/op.h"
#include "base/name_index.h"

/* A function of the model that is being walked, and the node that calls it. */
typedef struct frame {
	const onnx_function *function;
	const onnx_node *call;
	const struct frame *parent; /* the function that contains the call; NULL: none */
} frame;

/* The names visible to a graph's nodes: its own names, then the names of the enclosing scope. */
typedef struct scope {
	name_index names;
	val **vals;			   /* by id; NULL: its operator was not walked yet */
	const onnx_tensor_type **declared; /* by id */
	const cost_shape **known;	   /* by id; NULL: this is not the main graph */
	const struct scope *parent;
} scope;

typedef struct infer {
	const onnx_model *model;
	const cost_config *config;
	mem_arena *arena;
	sym_table *nums;
	const op_family *const *families; /* NULL-terminated */
	name_index functions;		  /* by "domain name overload" */
	const onnx_function **function_of;
	uint32_t *function_ops; /* 1 + operators after expansion; 0: not counted yet */
	cost_op *ops;
	size_t nops, cap;
	int64_t opset; /* of ONNX's own operators */
	bool trust_declared;
	int depth;
	size_t visited; /* nodes walked, also in walks whose operators are discarded */
	size_t again;	/* visited nodes in bodies that were walked before */
	size_t priced;	/* operators whose bytes were counted */
	/* The scope whose later node makes a value that a body took; NULL: none. */
	const scope *late;
	val left_out;		 /* the value of a function's input that the call leaves out */
	struct origins *origins; /* NULL: the file does not state its parameters */
	cost_result *result;
	sym_int scratch[ONNX_INTS_MAX]; /* returned by op_dims() without memory */
	/* The first error; it ends the inference. */
	dck_status status;
	dck_err *err;
} infer;

/* The context of a list of nodes: its scope, its call and path, and its number of executions. */
typedef struct place {
	scope *scope;
	const frame *frame;
	const char *path;	/* NULL: the main graph */
	size_t inside;		/* the enclosing operator; SIZE_MAX: the main graph */
	sym_int times, rounds;	/* in one run of the model, of the operator `inside` */
	sym_int constant_reads; /* as in cost_op */
} place;

/* Ends the inference with that error; only the first error is stored. */
#define INFER_FAIL(in, code, ...)                                                            \
	do {                                                                                 \
		if (infer_ok(in))                                                            \
			(in)->status =                                                       \
			    err_set((in)->err, DCK_##code, __FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

/* --- scope.c --- */

bool infer_ok(const infer *in);
bool infer_fail_memory(infer *in); /* returns false */
/* Returns a new value of which nothing is known. This and the following functions return NULL or
 * false after an error, which is in in->status. */
val *infer_value(infer *in, const char *name);
/* Returns a new value of the type that the model states. */
val *infer_declared(infer *in, const char *name, const onnx_type *type, bool input);
void infer_declare_tensor(infer *in, val *v, const onnx_tensor_type *t, bool input);
val *infer_constant(infer *in, const onnx_tensor *t);
/* Returns the value of that name in the innermost scope that has it; NULL: none. */
val *infer_find(const scope *s, const char *name);
/* Returns the shape of output i in a real run; NULL: it was not observed. */
const cost_shape *infer_observed(const op *o, size_t i);
/* Initializes an empty scope for the outputs of these nodes and `others` names more. */
bool scope_init(infer *in, scope *s, const scope *parent, size_t others, const onnx_node *nodes,
		size_t n);
/* Initializes a scope for a graph, with its initializers. */
bool scope_init_graph(infer *in, scope *s, const scope *parent, const onnx_graph *g);
/* Sets the value of a name. `what`: the second producer, for the message if a name is made twice.
 */
void scope_put(infer *in, scope *s, const char *name, val *v, const char *what);
/* Interns the names of all outputs, to detect a name that is made twice or used before it is made.
 */
void scope_name_outputs(infer *in, scope *s, const onnx_node *nodes, size_t n);
/* Stores the types that the file declares for these values, if they may be trusted. */
void scope_declare(infer *in, scope *s, const onnx_value *values, size_t n);

/* --- topo_sort.c --- */

/* Returns a topological order of the nodes; in the arena. NULL: there is a cycle, or no memory, as
 * in in->status. */
size_t *topo_sort(infer *in, const scope *s, const onnx_node *nodes, size_t n);

/* --- infer.c --- */

/* Indexes the model's functions, before any node is walked. */
bool infer_functions(infer *in);
/* Counts the operators after expansion and reserves space for them. E_LIMIT: more than
 * COST_OPS_MAX. Takes no longer than reading the nodes. */
bool infer_reserve(infer *in, const onnx_node *nodes, size_t n);
void infer_nodes(infer *in, const onnx_node *nodes, size_t n, const place *at);
/* Stores a decision of a run that the graph leaves open. */
void infer_chosen(op *o, int64_t value);

/* --- cost_evaluate.c --- */

/* Computes cost, traffic and parameters of an operator whose shapes are set. */
void cost_evaluate_op(op *o);
/* Sets the limits of the model's MACs and FLOPs, after their sums. */
void price_bounds(infer *in);
/* Computes the sums over all operators, and the peak memory of activations. */
void price_total(infer *in);

#endif
