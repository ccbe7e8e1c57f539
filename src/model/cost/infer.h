/* infer.h - what the files of the inference share: the state of one walk over a model, scopes, the
 * places where lists of nodes stand.
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
	const struct frame *parent; /* the function that the call stands in; NULL: in none */
} frame;

/* The names that a graph's nodes see: their own, then those around them. */
typedef struct scope {
	names names;
	val **vals;			   /* by number; NULL: its operator was not walked yet */
	const onnx_tensor_type **declared; /* by number */
	const cost_shape **known;	   /* by number; NULL: this is not the main graph */
	const struct scope *parent;
} scope;

typedef struct infer {
	const onnx_model *model;
	const cost_config *config;
	mem_arena *arena;
	sym_table *nums;
	const op_family *const *families; /* ended by NULL */
	names functions;		  /* by "domain name overload" */
	const onnx_function **function_of;
	uint32_t *function_ops; /* 1 + what each becomes; 0: not counted yet */
	cost_op *ops;
	size_t nops, cap;
	int64_t opset; /* of ONNX's own operators */
	bool trust_declared;
	int depth;
	size_t visited; /* nodes walked, also those of walks whose operators are not kept */
	size_t again;	/* those of them in bodies that were walked before */
	size_t priced;	/* operators whose bytes were counted */
	cost_result *result;
	sym_int scratch[ONNX_INTS_MAX]; /* what op_dims() returns without memory */
	/* The first error; it ends the inference. */
	dck_status status;
	dck_err *err;
} infer;

/* Where a list of nodes stands: the scope it sees, the call and the path it is in, and how often it
 * runs. */
typedef struct place {
	scope *scope;
	const frame *frame;
	const char *path;      /* NULL: the main graph */
	size_t inside;	       /* the operator that it belongs to; SIZE_MAX: the main graph */
	sym_int times, rounds; /* in one run of the model, of the operator `inside` */
} place;

/* Ends the inference with that error; of several errors the first one stands. */
#define INFER_FAIL(in, code, ...)                                                            \
	do {                                                                                 \
		if (infer_ok(in))                                                            \
			(in)->status =                                                       \
			    err_set((in)->err, DCK_##code, __FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

/* --- scope.c --- */

bool infer_ok(const infer *in);
void infer_fail_memory(infer *in);
/* A value of which nothing is known. This and the following functions return NULL or false after an
 * error, and in->status says which. */
val *infer_value(infer *in, const char *name);
/* A value of the type that the model states. */
val *infer_declared(infer *in, const char *name, const onnx_type *type, bool input);
void infer_declare_tensor(infer *in, val *v, const onnx_tensor_type *t, bool input);
val *infer_constant(infer *in, const onnx_tensor *t);
/* The value of that name in this scope or in the next one around it that has it; NULL: there is
 * none. */
val *infer_find(const scope *s, const char *name);
/* What a real run has shown of output i; NULL: it has shown nothing. */
const cost_shape *infer_observed(const op *o, size_t i);
/* An empty scope with room for the outputs of these nodes and `others` names more. */
bool scope_init(infer *in, scope *s, const scope *parent, size_t others, const onnx_node *nodes,
		size_t n);
/* A scope for a graph, with its initializers. */
bool scope_init_graph(infer *in, scope *s, const scope *parent, const onnx_graph *g);
/* Gives the name its value. `what` names, for a name that is made twice, what made it the second
 * time. */
void scope_put(infer *in, scope *s, const char *name, val *v, const char *what);
/* Gives numbers to the names of all outputs. Then a name that is made twice can be found, and one
 * that is used before it is made. */
void scope_name_outputs(infer *in, scope *s, const onnx_node *nodes, size_t n);
/* Notes the types that the file states for these values, where they may be trusted. */
void scope_declare(infer *in, scope *s, const onnx_value *values, size_t n);

/* --- topo_sort.c --- */

/* An order of the nodes in which each comes after those whose results it needs; in the arena. NULL:
 * there is a cycle, or no memory, and in->status says so. */
size_t *topo_sort(infer *in, const scope *s, const onnx_node *nodes, size_t n);

/* --- infer.c --- */

/* Makes the model's functions known, before any node is walked. */
bool infer_functions(infer *in);
/* E_LIMIT: these nodes become more operators than COST_OPS_MAX. Takes no longer than to read them.
 */
bool infer_fits(infer *in, const onnx_node *nodes, size_t n);
void infer_nodes(infer *in, const onnx_node *nodes, size_t n, const place *at);
/* Notes what a run has decided where the graph leaves it open. */
void infer_chosen(op *o, int64_t value);

/* --- cost_evaluate.c --- */

/* Cost, traffic and parameters of an operator whose shapes are set. */
void price_op(op *o);
/* Sets the limits of the model's MACs and FLOPs, after their sums. */
void price_bounds(infer *in);
/* The sums over all operators, and the most memory that activations need at one time. */
void price_total(infer *in);

#endif
