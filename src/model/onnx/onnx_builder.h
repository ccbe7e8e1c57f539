/* onnx_builder.h - graph builder: builds a network and writes it as an ONNX file. Parameters are
 * only described while the network is built; their values are generated during writing, so that a
 * network of half a gigabyte is never in memory.
 *
 * Failure (no memory) is sticky: build without checks, onnx_builder_write() reports it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ONNX_ONNX_BUILDER_H
#define ONNX_ONNX_BUILDER_H

#include "base/mem.h"
#include "deepclock/report.h"
#include "base/wire.h"

#define NET_OPSET      17
#define NET_IR_VERSION 8
#define NET_RANK_MAX   4
#define NET_OPEN       (-1) /* a dimension that stays open, with a name */

typedef enum onnx_builder_fill {
	NET_NORMAL,  /* mean 0, standard deviation a */
	NET_UNIFORM, /* from a to a + b; b a power of two */
	NET_COUNT    /* int64: 0, 1, 2, ... */
} onnx_builder_fill;

typedef struct onnx_builder_param {
	const char *name;
	int64_t dims[NET_RANK_MAX];
	size_t rank;
	onnx_builder_fill fill;
	float a, b;
} onnx_builder_param;

typedef struct onnx_builder_value {
	const char *name;
	int64_t dims[NET_RANK_MAX];
	const char *symbols[NET_RANK_MAX]; /* of the open dimensions */
	size_t rank;
	int32_t dtype; /* onnx_dtype */
	bool output;
} onnx_builder_value;

typedef struct onnx_builder_used_name {
	const char *name;
	unsigned times;
} onnx_builder_used_name;

typedef struct onnx_builder {
	const char *name;
	mem_arena *arena;
	wire_out nodes;
	onnx_builder_param *params;
	onnx_builder_value *values;
	onnx_builder_used_name *names;
	size_t nparams, nvalues, nnames;
	const char *next_output;
} onnx_builder;

typedef enum onnx_builder_attr_kind { NET_INT, NET_FLOAT, NET_INTS } onnx_builder_attr_kind;
typedef struct onnx_builder_attr {
	const char *name; /* NULL ends the list */
	onnx_builder_attr_kind kind;
	int64_t i;
	float f;
	int64_t ints[4];
	size_t n;
} onnx_builder_attr;

/* Inputs of a node: NET_IN(x, weight). */
#define NET_IN(...)    ((const char *const[]){__VA_ARGS__, NULL})
#define NET_ATTRS(...) ((const onnx_builder_attr[]){__VA_ARGS__, {0}})
#define NET_AXIS(axis) NET_ATTRS({"axis", NET_INT, .i = (axis)})
#define NET_PERM(...)  NET_ATTRS({"perm", NET_INTS, .ints = {__VA_ARGS__}, .n = 4})
#define NET_DIMS(...) \
	(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})

#define NET_SYMBOLS(...) ((const char *const[NET_RANK_MAX]){__VA_ARGS__})
/* Adds a node without attributes: NET_NODE(n, scope, "Add", x, y). */
#define NET_NODE(n, scope, op, ...) onnx_builder_node(n, scope, op, NET_IN(__VA_ARGS__), NULL)

dck_status onnx_builder_init(onnx_builder *n, const char *name, dck_err *err);
void onnx_builder_done(onnx_builder *n);

/* Formats a name; it lives as long as the builder. */
const char *onnx_builder_text(onnx_builder *n, const char *fmt, ...) DCK_PRINTF(2, 3);
/* Returns a module's path as a scope in the exporters' format: "layer1.0.conv1" gives
 * "/layer1/layer1.0/conv1". */
const char *onnx_builder_scope(onnx_builder *n, const char *path);

/* Declare an input and an output. symbols: names of the open dimensions, by NET_SYMBOLS(). */
void onnx_builder_input(onnx_builder *n, const char *name, int32_t dtype,
			const char *const *symbols, size_t rank, const int64_t *dims);
void onnx_builder_output(onnx_builder *n, const char *name, int32_t dtype,
			 const char *const *symbols, size_t rank, const int64_t *dims);
/* Add a parameter and return its name. */
const char *onnx_builder_normal(onnx_builder *n, const char *name, double deviation, size_t rank,
				const int64_t *dims);
const char *onnx_builder_uniform(onnx_builder *n, const char *name, double from, double width,
				 size_t rank, const int64_t *dims);
const char *onnx_builder_count(onnx_builder *n, const char *name, size_t rank, const int64_t *dims);

/* Adds a node named scope/op (with _1, _2, ... if that name exists already) and returns its
 * output's name. attrs NULL: none. */
const char *onnx_builder_node(onnx_builder *n, const char *scope, const char *op,
			      const char *const *inputs, const onnx_builder_attr *attrs);
/* Sets the name of the next node's output, to become an output of the network. */
void onnx_builder_name_next(onnx_builder *n, const char *name);
/* Add Constant nodes, as exporters do: a scalar, and a list of at most 8 integers or 256 reals. */
const char *onnx_builder_const_float(onnx_builder *n, const char *scope, float v);
const char *onnx_builder_const_floats(onnx_builder *n, const char *scope, size_t count,
				      const float *v);
const char *onnx_builder_const_int(onnx_builder *n, const char *scope, int64_t v);
const char *onnx_builder_const_ints(onnx_builder *n, const char *scope, size_t count,
				    const int64_t *v);

dck_status onnx_builder_write(onnx_builder *n, uint64_t seed, dck_sink *out, dck_err *err);

/* --- fill.c: writes values from -> from + count of parameter number `stream`, little-endian; the
 * same on every machine. Returns the bytes written: 4 or 8 for each value. */
size_t fill_values(const onnx_builder_param *p, uint64_t seed, uint64_t stream, uint64_t from,
		   size_t count, uint8_t *to);

#endif
