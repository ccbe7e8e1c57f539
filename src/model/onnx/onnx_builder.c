/* onnx_builder.c - builder of ONNX models: encodes the nodes of a network and writes the file
 * around them.
 *
 * Nodes are encoded as protocol buffers at once, into n->nodes. Parameters, inputs and outputs are
 * stored as descriptions until onnx_builder_write(). A message follows its length, so graph_size()
 * adds up the sizes of all tensors first; then the parts are written in order: head of the model
 * with the graph's length, nodes, each tensor's header and its values, rest of the graph, rest of
 * the model. Values are generated in chunks of CHUNK_VALUES while they are written, so memory does
 * not grow with the parameters.
 *
 * The bytes depend on the network and the seed only. Names follow PyTorch's exporter. node_name()
 * searches linearly, O(nodes^2) in all, which is enough for the built-in networks; lists double in
 * the arena. Running out of memory is sticky and reported by onnx_builder_write(); a sink's failure
 * is the sink's to report.
 *
 * Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (numbers of the fields)
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/onnx_builder.h"
#include "model/onnx/onnx.h"
#include "base/err.h"
#include "base/sink.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Fields of the messages of onnx.proto. */
enum { MODEL_IR_VERSION = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum { ATTR_NAME = 1, ATTR_F = 2, ATTR_I = 3, ATTR_T = 5, ATTR_INTS = 8, ATTR_TYPE = 20 };
enum { TENSOR_DIMS = 1, TENSOR_DTYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2 };
enum { TYPE_TENSOR = 1 };
enum { TENSOR_TYPE_DTYPE = 1, TENSOR_TYPE_SHAPE = 2 };
enum { SHAPE_DIM = 1 };
enum { DIM_VALUE = 1, DIM_SYMBOL = 2 };

dck_status onnx_builder_init(onnx_builder *n, const char *name, dck_err *err)
{
	*n = (onnx_builder){.name = name, .arena = mem_arena_new(0)};
	DCK_NEED(n->arena, err, "to build '%s'", name);
	return DCK_OK;
}

void onnx_builder_done(onnx_builder *n)
{
	wire_out_done(&n->nodes);
	mem_arena_free(n->arena);
	*n = (onnx_builder){0};
}

const char *onnx_builder_text(onnx_builder *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = mem_arena_vfmt(n->arena, fmt, ap);
	va_end(ap);
	return text ? text : "";
}

const char *onnx_builder_scope(onnx_builder *n, const char *path)
{
	/* A number names an item of the module before it, and has that module's name as its prefix:
	 * features.1.conv.0 is /features/features.1/conv/conv.0 */
	char scope[256] = "", module[192] = "", part[32];
	size_t used = 0;

	for (const char *p = path; *p;) {
		size_t len = strcspn(p, ".");
		snprintf(part, sizeof(part), "%.*s", (int)len, p);
		if (isdigit((unsigned char)*p)) {
			size_t at = strlen(module);
			snprintf(module + at, sizeof module - at, ".%s", part);
		} else {
			memcpy(module, part, sizeof(part));
		}
		used += (size_t)snprintf(scope + used, sizeof(scope) - used, "/%s", module);
		p += len + (p[len] == '.');
	}
	return onnx_builder_text(n, "%s", scope);
}

/* Reserves space for one more item; the list moves when n is a power of two. NULL: no memory. */
static void *onnx_builder_list_add(onnx_builder *n, void *items, size_t count, size_t size)
{
	if (count & (count - 1))
		return items;
	void *more = mem_arena_array(n->arena, count ? 2 * count : 1, size);
	if (more && count)
		memcpy(more, items, count * size);
	return more;
}

static void onnx_builder_add_value(onnx_builder *n, onnx_builder_value v,
				   const char *const *symbols, const int64_t *dims)
{
	onnx_builder_value *values =
	    onnx_builder_list_add(n, n->values, n->nvalues, sizeof *values);

	if (!values)
		return;
	memcpy(v.symbols, symbols, sizeof v.symbols);
	memcpy(v.dims, dims, v.rank * sizeof *dims);
	n->values = values;
	n->values[n->nvalues++] = v;
}

void onnx_builder_input(onnx_builder *n, const char *name, int32_t dtype,
			const char *const *symbols, size_t rank, const int64_t *dims)
{
	onnx_builder_add_value(n, (onnx_builder_value){.name = name, .rank = rank, .dtype = dtype},
			       symbols, dims);
}

void onnx_builder_output(onnx_builder *n, const char *name, int32_t dtype,
			 const char *const *symbols, size_t rank, const int64_t *dims)
{
	onnx_builder_add_value(
	    n, (onnx_builder_value){.name = name, .rank = rank, .dtype = dtype, .output = true},
	    symbols, dims);
}

static const char *add_param(onnx_builder *n, const onnx_builder_param *p, size_t rank,
			     const int64_t *dims)
{
	onnx_builder_param *params =
	    onnx_builder_list_add(n, n->params, n->nparams, sizeof *params);

	if (params) {
		n->params = params;
		onnx_builder_param *to = &n->params[n->nparams++];
		*to = *p;
		to->rank = rank;
		memcpy(to->dims, dims, rank * sizeof *dims);
	}
	return p->name;
}

const char *onnx_builder_normal(onnx_builder *n, const char *name, double deviation, size_t rank,
				const int64_t *dims)
{
	onnx_builder_param p = {.name = name, .fill = NET_NORMAL, .a = (float)deviation};

	return add_param(n, &p, rank, dims);
}

const char *onnx_builder_uniform(onnx_builder *n, const char *name, double from, double width,
				 size_t rank, const int64_t *dims)
{
	onnx_builder_param p = {
	    .name = name, .fill = NET_UNIFORM, .a = (float)from, .b = (float)width};

	return add_param(n, &p, rank, dims);
}

const char *onnx_builder_count(onnx_builder *n, const char *name, size_t rank, const int64_t *dims)
{
	return add_param(n, &(onnx_builder_param){.name = name, .fill = NET_COUNT}, rank, dims);
}

/* Returns "/conv1/Conv", or "/conv1/Conv_1" if that is taken. */
static const char *node_name(onnx_builder *n, const char *scope, const char *op)
{
	const char *name = onnx_builder_text(n, "%s/%s", scope, op);

	for (size_t i = 0; i < n->nnames; i++)
		if (strcmp(n->names[i].name, name) == 0)
			return onnx_builder_text(n, "%s_%u", name, ++n->names[i].times);
	onnx_builder_used_name *names =
	    onnx_builder_list_add(n, n->names, n->nnames, sizeof *names);
	if (names) {
		n->names = names;
		n->names[n->nnames++] = (onnx_builder_used_name){name, 0};
	}
	return name;
}

static void put_attr(wire_out *w, const onnx_builder_attr *a)
{
	static const int64_t types[] = {
	    [NET_INT] = ONNX_ATTR_INT, [NET_FLOAT] = ONNX_ATTR_FLOAT, [NET_INTS] = ONNX_ATTR_INTS};
	size_t at = wire_begin(w, NODE_ATTRIBUTE);

	wire_put_text(w, ATTR_NAME, a->name);
	if (a->kind == NET_FLOAT)
		wire_put_float(w, ATTR_F, a->f);
	if (a->kind == NET_INT)
		wire_put_int(w, ATTR_I, a->i);
	for (size_t i = 0; a->kind == NET_INTS && i < a->n; i++)
		wire_put_int(w, ATTR_INTS, a->ints[i]);
	wire_put_int(w, ATTR_TYPE, types[a->kind]);
	wire_end(w, at);
}

/* Writes inputs, output, name and operator; the caller adds attributes and ends the message. */
static size_t begin_node(onnx_builder *n, const char *scope, const char *op,
			 const char *const *inputs, const char **ret_output)
{
	wire_out *w = &n->nodes;
	const char *name = node_name(n, scope, op);
	const char *output =
	    n->next_output ? n->next_output : onnx_builder_text(n, "%s_output_0", name);
	size_t at = wire_begin(w, GRAPH_NODE);

	for (; *inputs; inputs++)
		wire_put_text(w, NODE_INPUT, *inputs);
	wire_put_text(w, NODE_OUTPUT, output);
	wire_put_text(w, NODE_NAME, name);
	wire_put_text(w, NODE_OP, op);
	n->next_output = NULL;
	*ret_output = output;
	return at;
}

const char *onnx_builder_node(onnx_builder *n, const char *scope, const char *op,
			      const char *const *inputs, const onnx_builder_attr *attrs)
{
	const char *output;
	size_t at = begin_node(n, scope, op, inputs, &output);

	for (; attrs && attrs->name; attrs++)
		put_attr(&n->nodes, attrs);
	wire_end(&n->nodes, at);
	return output;
}

void onnx_builder_name_next(onnx_builder *n, const char *name)
{
	n->next_output = name;
}

/* rank 0: a scalar. */
static const char *onnx_builder_constant(onnx_builder *n, const char *scope, int64_t dtype,
					 size_t rank, size_t count, const void *raw, size_t bytes)
{
	static const char *const none[] = {NULL};
	wire_out *w = &n->nodes;
	const char *output;
	size_t node = begin_node(n, scope, "Constant", none, &output);
	size_t attr = wire_begin(w, NODE_ATTRIBUTE), tensor;

	wire_put_text(w, ATTR_NAME, "value");
	tensor = wire_begin(w, ATTR_T);
	if (rank)
		wire_put_int(w, TENSOR_DIMS, (int64_t)count);
	wire_put_int(w, TENSOR_DTYPE, dtype);
	wire_put_bytes(w, TENSOR_RAW, raw, bytes);
	wire_end(w, tensor);
	wire_put_int(w, ATTR_TYPE, ONNX_ATTR_TENSOR);
	wire_end(w, attr);
	wire_end(w, node);
	return output;
}

static void onnx_builder_little_endian(uint64_t v, size_t n, uint8_t *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)(v >> (8 * i));
}

static const char *constant_floats(onnx_builder *n, const char *scope, size_t rank, size_t count,
				   const float *v)
{
	uint8_t raw[4 * 256];
	uint32_t bits;

	if (count > 256)
		count = 256;
	for (size_t i = 0; i < count; i++) {
		memcpy(&bits, &v[i], sizeof bits);
		onnx_builder_little_endian(bits, 4, raw + 4 * i);
	}
	return onnx_builder_constant(n, scope, ONNX_FLOAT, rank, count, raw, 4 * count);
}

const char *onnx_builder_const_float(onnx_builder *n, const char *scope, float v)
{
	return constant_floats(n, scope, 0, 1, &v);
}

const char *onnx_builder_const_floats(onnx_builder *n, const char *scope, size_t count,
				      const float *v)
{
	return constant_floats(n, scope, 1, count, v);
}

const char *onnx_builder_const_int(onnx_builder *n, const char *scope, int64_t v)
{
	uint8_t raw[8];

	onnx_builder_little_endian((uint64_t)v, sizeof raw, raw);
	return onnx_builder_constant(n, scope, ONNX_INT64, 0, 1, raw, sizeof raw);
}

const char *onnx_builder_const_ints(onnx_builder *n, const char *scope, size_t count,
				    const int64_t *v)
{
	uint8_t raw[8 * 8];

	if (count > 8)
		count = 8;
	for (size_t i = 0; i < count; i++)
		onnx_builder_little_endian((uint64_t)v[i], 8, raw + 8 * i);
	return onnx_builder_constant(n, scope, ONNX_INT64, 1, count, raw, 8 * count);
}

/* --- the file */
static uint64_t param_elements(const onnx_builder_param *p)
{
	uint64_t n = 1;

	for (size_t i = 0; i < p->rank; i++)
		n *= (uint64_t)p->dims[i];
	return n;
}

static uint64_t param_bytes(const onnx_builder_param *p)
{
	return param_elements(p) * (p->fill == NET_COUNT ? 8 : 4);
}

/* Writes the tensor's message up to its data. */
static void put_param(wire_out *w, const onnx_builder_param *p)
{
	for (size_t i = 0; i < p->rank; i++)
		wire_put_int(w, TENSOR_DIMS, p->dims[i]);
	wire_put_int(w, TENSOR_DTYPE, p->fill == NET_COUNT ? ONNX_INT64 : ONNX_FLOAT);
	wire_put_text(w, TENSOR_NAME, p->name);
	wire_put_header(w, TENSOR_RAW, param_bytes(p));
}

static void onnx_builder_put_value(wire_out *w, const onnx_builder_value *v)
{
	size_t value = wire_begin(w, v->output ? GRAPH_OUTPUT : GRAPH_INPUT), type, tensor, shape,
	       dim;

	wire_put_text(w, VALUE_NAME, v->name);
	type = wire_begin(w, VALUE_TYPE);
	tensor = wire_begin(w, TYPE_TENSOR);
	wire_put_int(w, TENSOR_TYPE_DTYPE, v->dtype);
	shape = wire_begin(w, TENSOR_TYPE_SHAPE);
	for (size_t i = 0; i < v->rank; i++) {
		dim = wire_begin(w, SHAPE_DIM);
		if (v->dims[i] == NET_OPEN)
			wire_put_text(w, DIM_SYMBOL, v->symbols[i]);
		else
			wire_put_int(w, DIM_VALUE, v->dims[i]);
		wire_end(w, dim);
	}
	wire_end(w, shape);
	wire_end(w, tensor);
	wire_end(w, type);
	wire_end(w, value);
}

#define CHUNK_VALUES 8192

static void write_values(const onnx_builder_param *p, uint64_t seed, uint64_t stream,
			 uint8_t *chunk, dck_sink *out)
{
	uint64_t n = param_elements(p);

	for (uint64_t i = 0; i < n && !out->failed; i += CHUNK_VALUES) {
		size_t count = n - i < CHUNK_VALUES ? (size_t)(n - i) : CHUNK_VALUES;
		sink_put(out, chunk, fill_values(p, seed, stream, i, count, chunk));
	}
}

/* Returns the length of the graph. A message follows its length, so the tensors' sizes are added up
 * first. */
static uint64_t graph_size(const onnx_builder *n, const size_t *head_ends, size_t tail)
{
	uint64_t size = n->nodes.n + tail;
	size_t at = 0;

	for (size_t i = 0; i < n->nparams; i++) {
		uint64_t tensor = head_ends[i] - at + param_bytes(&n->params[i]);
		size += 1 + wire_varint_size(tensor) + tensor;
		at = head_ends[i];
	}
	return size;
}

typedef struct model_parts {
	wire_out head;	 /* of the model */
	wire_out params; /* tensors up to their data, one after the other */
	wire_out tail;	 /* of the graph */
	wire_out last;	 /* of the model */
	wire_out tag;	 /* before each tensor */
	size_t *param_ends;
	uint8_t *chunk;
} model_parts;

static void parts_done(model_parts *t)
{
	wire_out_done(&t->head);
	wire_out_done(&t->params);
	wire_out_done(&t->tail);
	wire_out_done(&t->last);
	wire_out_done(&t->tag);
	mem_free(t->chunk);
}

static bool parts_make(onnx_builder *n, model_parts *t)
{
	size_t opset;

	t->chunk = mem_alloc((size_t)CHUNK_VALUES * 8);
	t->param_ends = mem_arena_array(n->arena, n->nparams, sizeof(size_t));
	if (!t->chunk || !t->param_ends)
		return false;
	wire_put_text(&t->tail, GRAPH_NAME, n->name);
	for (size_t i = 0; i < n->nparams; i++) {
		put_param(&t->params, &n->params[i]);
		t->param_ends[i] = t->params.n;
	}
	for (size_t i = 0; i < n->nvalues; i++)
		onnx_builder_put_value(&t->tail, &n->values[i]);
	wire_put_int(&t->head, MODEL_IR_VERSION, NET_IR_VERSION);
	wire_put_text(&t->head, MODEL_PRODUCER, "deepclock");
	wire_put_header(&t->head, MODEL_GRAPH, graph_size(n, t->param_ends, t->tail.n));
	opset = wire_begin(&t->last, MODEL_OPSET);
	wire_put_text(&t->last, OPSET_DOMAIN, "");
	wire_put_int(&t->last, OPSET_VERSION, NET_OPSET);
	wire_end(&t->last, opset);
	return !(t->head.failed || t->params.failed || t->tail.failed || t->last.failed);
}

dck_status onnx_builder_write(onnx_builder *n, uint64_t seed, dck_sink *out, dck_err *err)
{
	model_parts t = {0};

	if (n->nodes.failed || mem_arena_failed(n->arena) || !parts_make(n, &t)) {
		parts_done(&t);
		return ERR_NO_MEMORY(err, "to build '%s'", n->name);
	}
	sink_put(out, t.head.data, t.head.n);
	sink_put(out, n->nodes.data, n->nodes.n);
	for (size_t i = 0, at = 0; i < n->nparams; at = t.param_ends[i++]) {
		size_t head = t.param_ends[i] - at;
		t.tag.n = 0;
		wire_put_header(&t.tag, GRAPH_INITIALIZER, head + param_bytes(&n->params[i]));
		if (t.tag.failed)
			break;
		sink_put(out, t.tag.data, t.tag.n);
		sink_put(out, t.params.data + at, head);
		write_values(&n->params[i], seed, i, t.chunk, out);
	}
	sink_put(out, t.tail.data, t.tail.n);
	sink_put(out, t.last.data, t.last.n);
	bool failed = t.tag.failed;
	parts_done(&t);
	if (failed)
		return ERR_NO_MEMORY(err, "to write '%s'", n->name);
	return DCK_OK;
}
