/* model_build.h - builds small ONNX files for the tests of src/model/onnx.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_MODEL_BUILD_H
#define TESTS_MODEL_BUILD_H

#include "model/onnx/onnx.h"
#include "base/wire.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* Field numbers are those of onnx.proto. */
static inline size_t graph_begin(wire_out *w)
{
	wire_put_int(w, 1, 8);
	wire_put_text(w, 2, "tests");
	return wire_begin(w, 7);
}

static inline void graph_end(wire_out *w, size_t at)
{
	wire_end(w, at);
	at = wire_begin(w, 8);
	wire_put_text(w, 1, "");
	wire_put_int(w, 2, 17);
	wire_end(w, at);
}

/* names: "a b" means two, "-" an omitted one. */
static inline void put_names(wire_out *w, uint32_t field, const char *names)
{
	while (*names) {
		size_t n = strcspn(names, " ");
		wire_put_bytes(w, field, names, n == 1 && *names == '-' ? 0 : n);
		names += n + (names[n] == ' ');
	}
}

static inline size_t node_begin(wire_out *w, const char *op, const char *inputs,
				const char *outputs)
{
	size_t at = wire_begin(w, 1);

	put_names(w, 1, inputs);
	put_names(w, 2, outputs);
	wire_put_text(w, 4, op);
	return at;
}

static inline void put_attr_int(wire_out *w, const char *name, int64_t v)
{
	size_t at = wire_begin(w, 5);

	wire_put_text(w, 1, name);
	wire_put_int(w, 3, v);
	wire_put_int(w, 20, ONNX_ATTR_INT);
	wire_end(w, at);
}

static inline void put_node(wire_out *w, const char *op, const char *inputs, const char *outputs)
{
	wire_end(w, node_begin(w, op, inputs, outputs));
}

/* attr NULL: no attribute. */
static inline void put_node_int(wire_out *w, const char *op, const char *inputs,
				const char *outputs, const char *attr, int64_t v)
{
	size_t at = node_begin(w, op, inputs, outputs);

	put_attr_int(w, attr, v);
	wire_end(w, at);
}

static inline void put_value(wire_out *w, uint32_t field, const char *name, int64_t dtype,
			     size_t rank, const int64_t *dims)
{
	size_t value = wire_begin(w, field), type, tensor, shape;

	wire_put_text(w, 1, name);
	type = wire_begin(w, 2);
	tensor = wire_begin(w, 1);
	wire_put_int(w, 1, dtype);
	shape = wire_begin(w, 2);
	for (size_t i = 0; i < rank; i++) {
		size_t dim = wire_begin(w, 1);
		if (dims[i] < 0)
			wire_put_text(w, 2, "N");
		else
			wire_put_int(w, 1, dims[i]);
		wire_end(w, dim);
	}
	wire_end(w, shape);
	wire_end(w, tensor);
	wire_end(w, type);
	wire_end(w, value);
}

#define DIMS(...) \
	(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})

static inline void put_input(wire_out *w, const char *name, int64_t dtype, size_t rank,
			     const int64_t *dims)
{
	put_value(w, 11, name, dtype, rank, dims);
}

/* A tensor without data, or with the integers v (as int64_data). */
static inline void put_tensor(wire_out *w, const char *name, int64_t dtype, size_t rank,
			      const int64_t *dims, size_t n, const int64_t *v)
{
	size_t at = wire_begin(w, 5);

	for (size_t i = 0; i < rank; i++)
		wire_put_int(w, 1, dims[i]);
	wire_put_int(w, 2, dtype);
	for (size_t i = 0; i < n; i++)
		wire_put_int(w, 7, v[i]);
	wire_put_text(w, 8, name);
	wire_end(w, at);
}

#endif
