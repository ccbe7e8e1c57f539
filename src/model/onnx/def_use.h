/* def_use.h - def-use chains: producer and uses of each value of a model, its subgraphs included.
 * Names are unique across a graph and its subgraphs (ONNX IR, "Names Within a Graph"), so one flat
 * table suffices. Calls of model-local functions are expanded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ONNX_DEF_USE_H
#define ONNX_DEF_USE_H

#include "base/name_index.h"
#include "model/onnx/onnx.h"

#define DEF_USE_NONE SIZE_MAX
#define DEF_USE_RANK 16

typedef struct def_use_value {
	const onnx_node *producer;	  /* NULL: none */
	const onnx_tensor *initializer;	  /* NULL: none */
	const onnx_tensor_type *declared; /* NULL: not declared */
	size_t first_use;		  /* DEF_USE_NONE: unused */
} def_use_value;

typedef struct def_use_edge {
	const onnx_node *node;
	size_t slot; /* index of the input */
	size_t next; /* DEF_USE_NONE: the last */
} def_use_edge;

typedef struct def_use {
	name_index names;
	def_use_value *values; /* by the name's id */
	def_use_edge *uses;
	size_t nuses;
} def_use;

/* Returns the main graph with the calls of model-local functions expanded, but for those that would
 * exceed limits; it borrows from the model. NULL: no memory. */
const onnx_graph *onnx_graph_inline(const onnx_model *m, mem_arena *a);
/* Builds the chains, all in the arena; the model is borrowed. E_NOMEM, E_LIMIT. */
dck_status def_use_init(def_use *f, mem_arena *a, const onnx_model *m, dck_err *err);
/* Fails because the arena refused `wanted` more bytes: E_LIMIT if it reached its limit, else
 * E_NOMEM. */
dck_status def_use_fail_memory(const mem_arena *a, size_t wanted, dck_err *err);
/* Returns the value of that name, or NULL. */
const def_use_value *def_use_find(const def_use *f, const char *name);

typedef struct def_use_shape {
	size_t rank;
	int64_t dims[DEF_USE_RANK]; /* -1: open */
} def_use_shape;

/* Finds the shape as far as initializers, declarations and a few shape-preserving operators define
 * it. */
bool def_use_shape_of(const def_use *f, const char *name, def_use_shape *ret);
/* Finds the value of an integer constant of one element. */
bool def_use_constant(const def_use *f, const char *name, int64_t *ret);

#endif
