/* onnx_read.c - reads an ONNX file into the structs of onnx.h.
 *
 * Each message of onnx.proto is one table: field number, what it holds, where it goes. One
 * decoder walks the tables, so that what is checked is checked for every message alike. Fields
 * that are not in a table are skipped by their length; that is how tensor data is never read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx.h"
#include "model/wire.h"
#include "base/err.h"

#include <string.h>

typedef enum kind {
	INT,	/* int64_t; varint */
	FLOAT,	/* float */
	TEXT,	/* const char * */
	BYTES,	/* onnx_text */
	INTS,	/* int64_t * and count */
	FLOATS, /* float * and count */
	TEXTS,	/* const char ** and count */
	TEXTNS, /* onnx_text * and count */
	ONE,	/* pointer to a message; a second one merges into the first, as protobuf says */
	MANY	/* array of messages and count */
} kind;

typedef struct message message;

typedef struct field {
	uint32_t number;
	kind kind;
	size_t at, count; /* offsets in the struct */
	const char *name;
	const message *of;
} field;

typedef struct reading {
	mem_arena *arena;
	size_t limit; /* of the arena */
	dck_err *err;
} reading;

struct message {
	const char *what; /* "a node": where in the file, for sentences */
	size_t size;
	const field *fields; /* ended by number 0 */
	const void *initial; /* NULL: zeros */
	/* Called when the fields are read; r stands at the message's beginning. */
	dck_status (*after)(reading *p, void *object, wire_reader r);
};

static dck_status tensor_after(reading *p, void *object, wire_reader r);

#define AT(type, member)       .at = offsetof(type, member)
#define COUNT(type, member, n) .at = offsetof(type, member), .count = offsetof(type, n)
#define MESSAGE(id, text, type)               \
	static const message id##_message = { \
	    .what = (text), .size = sizeof(type), .fields = id##_fields}

static const message graph_message, type_message;

static const field pair_fields[] = {
    {1, TEXT, AT(onnx_pair, key), .name = "key"},
    {2, TEXT, AT(onnx_pair, value), .name = "value"},
    {0},
};
MESSAGE(pair, "a pair of texts", onnx_pair);

/* Data (fields 4 to 7 and 9 to 11) is left to tensor_after(). */
static const field tensor_fields[] = {
    {1, INTS, COUNT(onnx_tensor, dims, rank), .name = "list of dimensions"},
    {2, INT, AT(onnx_tensor, dtype), .name = "data type"},
    {8, TEXT, AT(onnx_tensor, name), .name = "name"},
    {13, MANY, COUNT(onnx_tensor, external, nexternal), .name = "external data entry",
     &pair_message},
    {14, INT, AT(onnx_tensor, location), .name = "data location"},
    {0},
};
static const message tensor_message = {.what = "a tensor",
				       .size = sizeof(onnx_tensor),
				       .fields = tensor_fields,
				       .after = tensor_after};

static const field sparse_fields[] = {
    {1, ONE, AT(onnx_sparse, values), .name = "tensor of values", &tensor_message},
    {2, ONE, AT(onnx_sparse, indices), .name = "tensor of indices", &tensor_message},
    {3, INTS, COUNT(onnx_sparse, dims, rank), .name = "list of dimensions"},
    {0},
};
MESSAGE(sparse, "a sparse tensor", onnx_sparse);

static const field dim_fields[] = {
    {1, INT, AT(onnx_dim, value), .name = "size"},
    {2, TEXT, AT(onnx_dim, symbol), .name = "symbol"},
    {0},
};
static const message dim_message = {.what = "a dimension",
				    .size = sizeof(onnx_dim),
				    .fields = dim_fields,
				    .initial = &(const onnx_dim){.value = -1}};

static const field shape_fields[] = {
    {1, MANY, COUNT(onnx_shape, dims, rank), .name = "dimension", &dim_message},
    {0},
};
MESSAGE(shape, "a shape", onnx_shape);

static const field tensor_type_fields[] = {
    {1, INT, AT(onnx_tensor_type, dtype), .name = "data type"},
    {2, ONE, AT(onnx_tensor_type, shape), .name = "shape", &shape_message},
    {0},
};
MESSAGE(tensor_type, "a tensor's type", onnx_tensor_type);

static const field element_fields[] = {
    {1, ONE, AT(onnx_element_type, value), .name = "element type", &type_message},
    {0},
};
MESSAGE(element, "a sequence's type", onnx_element_type);

static const field map_fields[] = {
    {1, INT, AT(onnx_element_type, key), .name = "key type"},
    {2, ONE, AT(onnx_element_type, value), .name = "value type", &type_message},
    {0},
};
MESSAGE(map, "a map's type", onnx_element_type);

static const field type_fields[] = {
    {1, ONE, AT(onnx_type, tensor), .name = "tensor type", &tensor_type_message},
    {4, ONE, AT(onnx_type, sequence), .name = "sequence type", &element_message},
    {5, ONE, AT(onnx_type, map), .name = "map type", &map_message},
    {8, ONE, AT(onnx_type, sparse), .name = "sparse tensor type", &tensor_type_message},
    {9, ONE, AT(onnx_type, optional), .name = "optional type", &element_message},
    {0},
};
static const message type_message = {
    .what = "a type", .size = sizeof(onnx_type), .fields = type_fields};

static const field value_fields[] = {
    {1, TEXT, AT(onnx_value, name), .name = "name"},
    {2, ONE, AT(onnx_value, type), .name = "type", &type_message},
    {0},
};
MESSAGE(value, "a value", onnx_value);

static const field attribute_fields[] = {
    {1, TEXT, AT(onnx_attribute, name), .name = "name"},
    {2, FLOAT, AT(onnx_attribute, f), .name = "number"},
    {3, INT, AT(onnx_attribute, i), .name = "integer"},
    {4, BYTES, AT(onnx_attribute, s), .name = "text"},
    {5, ONE, AT(onnx_attribute, t), .name = "tensor", &tensor_message},
    {6, ONE, AT(onnx_attribute, g), .name = "graph", &graph_message},
    {7, FLOATS, COUNT(onnx_attribute, floats, nfloats), .name = "list of numbers"},
    {8, INTS, COUNT(onnx_attribute, ints, nints), .name = "list of integers"},
    {9, TEXTNS, COUNT(onnx_attribute, strings, nstrings), .name = "text"},
    {10, MANY, COUNT(onnx_attribute, tensors, ntensors), .name = "tensor", &tensor_message},
    {11, MANY, COUNT(onnx_attribute, graphs, ngraphs), .name = "graph", &graph_message},
    {14, ONE, AT(onnx_attribute, tp), .name = "type", &type_message},
    {20, INT, AT(onnx_attribute, type), .name = "attribute type"},
    {21, TEXT, AT(onnx_attribute, ref), .name = "reference"},
    {22, ONE, AT(onnx_attribute, sparse), .name = "sparse tensor", &sparse_message},
    {0},
};
MESSAGE(attribute, "an attribute", onnx_attribute);

static const field node_fields[] = {
    {1, TEXTS, COUNT(onnx_node, inputs, ninputs), .name = "input"},
    {2, TEXTS, COUNT(onnx_node, outputs, noutputs), .name = "output"},
    {3, TEXT, AT(onnx_node, name), .name = "name"},
    {4, TEXT, AT(onnx_node, op), .name = "operator"},
    {5, MANY, COUNT(onnx_node, attributes, nattributes), .name = "attribute", &attribute_message},
    {7, TEXT, AT(onnx_node, domain), .name = "domain"},
    {8, TEXT, AT(onnx_node, overload), .name = "overload"},
    {0},
};
MESSAGE(node, "a node", onnx_node);

static const field graph_fields[] = {
    {1, MANY, COUNT(onnx_graph, nodes, nnodes), .name = "node", &node_message},
    {2, TEXT, AT(onnx_graph, name), .name = "name"},
    {5, MANY, COUNT(onnx_graph, initializers, ninitializers), .name = "initializer",
     &tensor_message},
    {11, MANY, COUNT(onnx_graph, inputs, ninputs), .name = "input", &value_message},
    {12, MANY, COUNT(onnx_graph, outputs, noutputs), .name = "output", &value_message},
    {13, MANY, COUNT(onnx_graph, values, nvalues), .name = "value", &value_message},
    {15, MANY, COUNT(onnx_graph, sparse, nsparse), .name = "sparse initializer", &sparse_message},
    {0},
};
static const message graph_message = {
    .what = "a graph", .size = sizeof(onnx_graph), .fields = graph_fields};

static const field opset_fields[] = {
    {1, TEXT, AT(onnx_opset, domain), .name = "domain"},
    {2, INT, AT(onnx_opset, version), .name = "version"},
    {0},
};
MESSAGE(opset, "an operator set", onnx_opset);

static const field function_fields[] = {
    {1, TEXT, AT(onnx_function, name), .name = "name"},
    {4, TEXTS, COUNT(onnx_function, inputs, ninputs), .name = "input"},
    {5, TEXTS, COUNT(onnx_function, outputs, noutputs), .name = "output"},
    {6, TEXTS, COUNT(onnx_function, attributes, nattributes), .name = "attribute"},
    {7, MANY, COUNT(onnx_function, nodes, nnodes), .name = "node", &node_message},
    {9, MANY, COUNT(onnx_function, opsets, nopsets), .name = "operator set", &opset_message},
    {10, TEXT, AT(onnx_function, domain), .name = "domain"},
    {11, MANY, COUNT(onnx_function, defaults, ndefaults), .name = "attribute", &attribute_message},
    {12, MANY, COUNT(onnx_function, values, nvalues), .name = "value", &value_message},
    {13, TEXT, AT(onnx_function, overload), .name = "overload"},
    {0},
};
MESSAGE(function, "a function", onnx_function);

static const field model_fields[] = {
    {1, INT, AT(onnx_model, ir_version), .name = "IR version"},
    {2, TEXT, AT(onnx_model, producer), .name = "producer's name"},
    {3, TEXT, AT(onnx_model, producer_version), .name = "producer's version"},
    {4, TEXT, AT(onnx_model, domain), .name = "domain"},
    {5, INT, AT(onnx_model, version), .name = "model version"},
    {7, ONE, AT(onnx_model, graph), .name = "graph", &graph_message},
    {8, MANY, COUNT(onnx_model, opsets, nopsets), .name = "operator set", &opset_message},
    {14, MANY, COUNT(onnx_model, metadata, nmetadata), .name = "metadata entry", &pair_message},
    {25, MANY, COUNT(onnx_model, functions, nfunctions), .name = "function", &function_message},
    {0},
};
MESSAGE(model, "an ONNX model", onnx_model);

static const field *find_field(const message *m, uint32_t number)
{
	for (const field *f = m->fields; f->number; f++)
		if (f->number == number)
			return f;
	return NULL;
}

static const char *field_name(const void *self, uint32_t number)
{
	const field *f = find_field(self, number);

	return f ? f->name : NULL;
}

static dck_status no_memory(reading *p, const wire_reader *r, size_t wanted)
{
	if (wanted > p->limit || mem_arena_bytes(p->arena) > p->limit - wanted)
		DCK_FAIL(p->err, E_LIMIT, "the structure of %s needs more than %zu MiB",
			 r->source->label, ONNX_MEMORY_MAX >> 20);
	DCK_FAIL(p->err, E_NOMEM, "no memory for the structure of %s", r->source->label);
}

/* Room for one more item behind n of them; *items moves when n is a power of two, so that the
 * room there is follows from n alone. Returns the new item's place. */
static void *list_add(reading *p, void **items, size_t n, size_t size)
{
	if ((n & (n - 1)) == 0) {
		void *more = mem_arena_array(p->arena, n ? 2 * n : 1, size);
		if (!more)
			return NULL;
		if (n)
			memcpy(more, *items, n * size);
		*items = more;
	}
	return (char *)*items + n * size;
}

/* The list whose pointer and count lie at f->at and f->count of object: one more item. */
static dck_status field_add(reading *p, const wire_reader *r, const field *f, void *object,
			    size_t size, void **ret)
{
	void *items;
	size_t n;

	memcpy(&items, (char *)object + f->at, sizeof(items));
	memcpy(&n, (char *)object + f->count, sizeof(n));
	void *item = list_add(p, &items, n, size);
	if (!item)
		return no_memory(p, r, 2 * n * size);
	n++;
	memcpy((char *)object + f->at, &items, sizeof(items));
	memcpy((char *)object + f->count, &n, sizeof(n));
	*ret = item;
	return DCK_OK;
}

static dck_status read_text(reading *p, const wire_reader *r, const field *f, const wire_field *w,
			    onnx_text *ret)
{
	bool any_bytes = f->kind == BYTES || f->kind == TEXTNS;
	char *text = NULL;

	if (any_bytes && w->value > ONNX_TEXT_MAX) {
		*ret = (onnx_text){NULL, w->value};
		return DCK_OK;
	}
	if (w->value < p->limit)
		text = mem_arena_alloc(p->arena, (size_t)w->value + 1);
	if (!text)
		return no_memory(p, r, (size_t)w->value);
	DCK_TRY(wire_source_copy(r->source, w->data, (size_t)w->value, text, p->err));
	*ret = (onnx_text){text, w->value};
	return DCK_OK;
}

static float float_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float v;

	memcpy(&v, &low, sizeof(v));
	return v;
}

static dck_status read_message(reading *p, const message *m, wire_reader r, void *object);

static dck_status read_number(reading *p, const wire_reader *r, const field *f, uint64_t bits,
			      void *object)
{
	void *item;
	float real = float_of(bits);
	int64_t integer = (int64_t)bits;

	DCK_TRY(
	    field_add(p, r, f, object, f->kind == FLOATS ? sizeof(real) : sizeof(integer), &item));
	if (f->kind == FLOATS)
		memcpy(item, &real, sizeof(real));
	else
		memcpy(item, &integer, sizeof(integer));
	return DCK_OK;
}

/* Numbers come one by one or packed; readers must take both. */
static dck_status read_numbers(reading *p, const wire_reader *r, const field *f,
			       const wire_field *w, void *object)
{
	wire_type type = f->kind == FLOATS ? WIRE_FIXED32 : WIRE_VARINT;
	wire_reader in;
	uint64_t bits;

	if (w->type != WIRE_BYTES)
		return read_number(p, r, f, w->value, object);
	DCK_TRY(wire_enter(r, w, r->what, &in, p->err));
	while (in.at < in.end) {
		DCK_TRY(wire_packed_next(&in, type, &bits, p->err));
		DCK_TRY(read_number(p, r, f, bits, object));
	}
	return DCK_OK;
}

static dck_status read_one(reading *p, const wire_reader *r, const field *f, const wire_field *w,
			   void *object)
{
	wire_reader in;
	void *one;

	DCK_TRY(wire_enter(r, w, f->of->what, &in, p->err));
	if (f->kind == MANY) {
		DCK_TRY(field_add(p, r, f, object, f->of->size, &one));
	} else {
		memcpy(&one, (char *)object + f->at, sizeof(one));
		if (one)
			return read_message(p, f->of, in, one);
		one = mem_arena_alloc(p->arena, f->of->size);
		if (!one)
			return no_memory(p, r, f->of->size);
		memcpy((char *)object + f->at, &one, sizeof(one));
	}
	if (f->of->initial)
		memcpy(one, f->of->initial, f->of->size);
	return read_message(p, f->of, in, one);
}

static dck_status read_field(reading *p, const wire_reader *r, const field *f, const wire_field *w,
			     void *object)
{
	char *at = (char *)object + f->at;
	int64_t integer = (int64_t)w->value;
	float real = float_of(w->value);
	onnx_text text;
	void *item;

	switch (f->kind) {
	case INT:
		memcpy(at, &integer, sizeof(integer));
		return DCK_OK;
	case FLOAT:
		memcpy(at, &real, sizeof(real));
		return DCK_OK;
	case INTS:
	case FLOATS:
		return read_numbers(p, r, f, w, object);
	case TEXT:
	case BYTES:
		DCK_TRY(read_text(p, r, f, w, &text));
		memcpy(at, &text, f->kind == TEXT ? sizeof(text.text) : sizeof(text));
		return DCK_OK;
	case TEXTS:
	case TEXTNS:
		DCK_TRY(read_text(p, r, f, w, &text));
		DCK_TRY(field_add(p, r, f, object,
				  f->kind == TEXTS ? sizeof(text.text) : sizeof(text), &item));
		memcpy(item, &text, f->kind == TEXTS ? sizeof(text.text) : sizeof(text));
		return DCK_OK;
	case ONE:
	case MANY:
		break;
	}
	return read_one(p, r, f, w, object);
}

/* Whether a field of that kind may have that wire type. */
static bool type_fits(kind k, wire_type t)
{
	switch (k) {
	case INT:
		return t == WIRE_VARINT;
	case FLOAT:
		return t == WIRE_FIXED32;
	case INTS:
		return t == WIRE_VARINT || t == WIRE_BYTES;
	case FLOATS:
		return t == WIRE_FIXED32 || t == WIRE_BYTES;
	default:
		return t == WIRE_BYTES;
	}
}

static dck_status read_message(reading *p, const message *m, wire_reader r, void *object)
{
	wire_reader begin = r;
	wire_field w;
	bool more = true;

	for (;;) {
		DCK_TRY(wire_next(&r, field_name, m, &w, &more, p->err));
		if (!more)
			break;
		const field *f = find_field(m, w.number);
		/* Newer fields are skipped, but no writer begins a model with one. */
		if (!f && (r.depth > 0 || w.at > 0))
			continue;
		if (!f || !type_fits(f->kind, w.type))
			return wire_fail(&r, p->err, "field %u at byte %llu", (unsigned)w.number,
					 (unsigned long long)w.at);
		if (r.depth == 0 && f->kind == INT)
			r.sure = true;
		DCK_TRY(read_field(p, &r, f, &w, object));
	}
	return m->after ? m->after(p, object, begin) : DCK_OK;
}

/* --- tensors */
static const uint8_t dtype_bits[] = {
    [ONNX_FLOAT] = 32,
    [ONNX_UINT8] = 8,
    [ONNX_INT8] = 8,
    [ONNX_UINT16] = 16,
    [ONNX_INT16] = 16,
    [ONNX_INT32] = 32,
    [ONNX_INT64] = 64,
    [ONNX_BOOL] = 8,
    [ONNX_FLOAT16] = 16,
    [ONNX_DOUBLE] = 64,
    [ONNX_UINT32] = 32,
    [ONNX_UINT64] = 64,
    [14] = 64 /* complex64 */,
    [15] = 128,
    [ONNX_BFLOAT16] = 16,
    [17] = 8 /* float8 */,
    [18] = 8,
    [19] = 8,
    [20] = 8,
    [21] = 4 /* uint4, int4, float4 */,
    [22] = 4,
    [23] = 4,
    [24] = 8 /* float8e8m0 */,
    [25] = 2 /* uint2, int2 */,
    [26] = 2,
};

unsigned onnx_dtype_bits(int64_t dtype)
{
	if (dtype < 0 || dtype >= (int64_t)sizeof(dtype_bits))
		return 0;
	return dtype_bits[dtype];
}

bool onnx_dtype_integer(int64_t dtype)
{
	return (dtype >= ONNX_UINT8 && dtype <= ONNX_INT64) || dtype == ONNX_UINT32 ||
	       dtype == ONNX_UINT64 || dtype == 21 || dtype == 22 || dtype == 25 || dtype == 26;
}

/* Which fields of TensorProto hold data, and how. */
typedef struct data_field {
	uint32_t number;
	wire_type type;
} data_field;
static const data_field data_fields[] = {
    {4, WIRE_FIXED32}, {5, WIRE_VARINT}, {7, WIRE_VARINT}, {10, WIRE_FIXED64}, {11, WIRE_VARINT},
};

static double real_of(uint64_t bits, bool is_double)
{
	double v;

	if (!is_double)
		return (double)float_of(bits);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Element i of raw_data, sign-extended by the type. */
static uint64_t raw_element(const uint8_t *raw, size_t i, size_t size, int64_t dtype)
{
	uint64_t v = 0;

	for (size_t b = size; b-- > 0;)
		v = v << 8 | raw[i * size + b];
	bool is_signed = dtype == ONNX_INT8 || dtype == ONNX_INT16 || dtype == ONNX_INT32;
	if (is_signed && v >> (8 * size - 1))
		v |= ~(uint64_t)0 << (8 * size);
	return v;
}

typedef struct values {
	uint64_t bits[ONNX_INTS_MAX];
	size_t n;
} values;

static dck_status read_values(reading *p, wire_reader r, const onnx_tensor *t, values *v)
{
	size_t size = onnx_dtype_bits(t->dtype) / 8;
	uint8_t raw[ONNX_INTS_MAX * 8];
	wire_field w;
	bool more = true;

	for (;;) {
		DCK_TRY(wire_next(&r, field_name, &tensor_message, &w, &more, p->err));
		if (!more)
			return DCK_OK;
		if (w.number == 9 && w.type == WIRE_BYTES && w.value == t->elements * size) {
			DCK_TRY(wire_source_copy(r.source, w.data, (size_t)w.value, raw, p->err));
			for (v->n = 0; v->n < t->elements; v->n++)
				v->bits[v->n] = raw_element(raw, v->n, size, t->dtype);
		}
		for (size_t i = 0; i < sizeof(data_fields) / sizeof(*data_fields); i++) {
			const data_field *d = &data_fields[i];
			if (d->number != w.number)
				continue;
			wire_reader in;
			if (w.type == d->type && v->n < t->elements) {
				v->bits[v->n++] = w.value;
			} else if (w.type == WIRE_BYTES) {
				DCK_TRY(wire_enter(&r, &w, r.what, &in, p->err));
				while (in.at < in.end && v->n < t->elements)
					DCK_TRY(wire_packed_next(&in, d->type, &v->bits[v->n++],
								 p->err));
			}
		}
	}
}

static dck_status keep_values(reading *p, onnx_tensor *t, wire_reader r)
{
	bool real = t->dtype == ONNX_FLOAT || t->dtype == ONNX_DOUBLE;
	bool integer = t->dtype == ONNX_BOOL ||
		       (onnx_dtype_integer(t->dtype) && onnx_dtype_bits(t->dtype) >= 8);
	values v;

	size_t most = real ? ONNX_REALS_MAX : integer ? ONNX_INTS_MAX : 0;
	if (!most || t->elements > most || t->location == 1)
		return DCK_OK;
	v.n = 0;
	DCK_TRY(read_values(p, r, t, &v));
	if (v.n != t->elements)
		return DCK_OK; /* the engine will complain, not we */
	if (real)
		t->reals = mem_arena_array(p->arena, v.n, sizeof(*t->reals));
	else
		t->ints = mem_arena_array(p->arena, v.n, sizeof(*t->ints));
	if (!t->reals && !t->ints)
		return no_memory(p, &r, v.n * 8);
	for (size_t i = 0; i < v.n; i++) {
		if (real)
			t->reals[i] = real_of(v.bits[i], t->dtype == ONNX_DOUBLE);
		else
			t->ints[i] = (int64_t)v.bits[i];
	}
	return DCK_OK;
}

static dck_status tensor_after(reading *p, void *object, wire_reader r)
{
	onnx_tensor *t = object;
	uint64_t n = 1;
	unsigned bits = onnx_dtype_bits(t->dtype);

	for (size_t i = 0; i < t->rank; i++) {
		if (t->dims[i] < 0)
			return wire_fail(&r, p->err, "tensor '%.80s' has dimension %lld",
					 t->name ? t->name : "", (long long)t->dims[i]);
		if (t->dims[i] == 0)
			n = 0;
	}
	for (size_t i = 0; i < t->rank && n; i++)
		if (__builtin_mul_overflow(n, (uint64_t)t->dims[i], &n) || n > INT64_MAX / 16)
			DCK_FAIL(p->err, E_LIMIT,
				 "%s has a tensor '%.80s' of more than 2^59 elements",
				 r.source->label, t->name ? t->name : "");
	t->elements = n;
	t->bytes = n / 8 * bits + (n % 8 * bits + 7) / 8;
	return keep_values(p, t, r);
}

/* --- the file */

/* What else a file may be that people hand over as a model, by its first bytes. */
typedef struct magic {
	size_t at;
	const char *bytes;
	dck_status code;
	const char *says;
} magic;
static const magic magics[] = {
    {4, "ORTM", DCK_E_UNSUP, "it is in ONNX Runtime's own format (.ort); give the .onnx file"},
    {4, "TFL3", DCK_E_FORMAT, "it is a TensorFlow Lite model"},
    {0, "version https://git-lfs", DCK_E_FORMAT, "it is a Git LFS pointer; run 'git lfs pull'"},
    {0, "PK\003\004", DCK_E_FORMAT,
     "it is a ZIP archive, perhaps a PyTorch checkpoint; export it to ONNX"},
    {0, "\211HDF", DCK_E_FORMAT, "it is an HDF5 file, perhaps a Keras model; export it to ONNX"},
    {0, "\037\213", DCK_E_FORMAT, "it is compressed with gzip; unpack it"},
    {0, "<", DCK_E_FORMAT, "it looks like a web page"},
};

static dck_status name_other(wire_source *s, dck_status code, dck_err *err)
{
	const uint8_t *p;
	size_t n;

	if (wire_source_peek(s, 0, 64, &p, &n, NULL) != DCK_OK)
		return code;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		const magic *m = &magics[i];
		size_t len = strlen(m->bytes);
		if (n >= m->at + len && memcmp(p + m->at, m->bytes, len) == 0)
			return err_set(err, m->code, __FILE__, __LINE__,
				       "%s is not an ONNX model: %s", s->label, m->says);
	}
	return code;
}

static dck_status read_source(wire_source *s, mem_arena *a, onnx_model **ret, dck_err *err)
{
	reading p = {.arena = a, .limit = mem_arena_bytes(a) + ONNX_MEMORY_MAX, .err = err};
	wire_reader r;
	dck_status code;

	mem_arena_limit(a, p.limit);
	wire_reader_init(s, model_message.what, &r);
	onnx_model *m = mem_arena_alloc(a, sizeof(*m));
	if (!m)
		return no_memory(&p, &r, sizeof(*m));
	m->file_bytes = s->size;
	code = read_message(&p, &model_message, r, m);
	if (code == DCK_E_FORMAT && m->ir_version == 0)
		return name_other(s, code, err);
	if (code != DCK_OK)
		return code;
	if (!m->graph)
		DCK_FAIL(err, E_FORMAT, "%s holds no graph", s->label);
	*ret = m;
	return DCK_OK;
}

dck_status onnx_read_file(const char *path, mem_arena *a, onnx_model **ret, dck_err *err)
{
	wire_source s;

	DCK_TRY(wire_source_open(path, &s, err));
	dck_status code = read_source(&s, a, ret, err);
	wire_source_close(&s);
	return code;
}

dck_status onnx_read_bytes(const void *bytes, size_t n, mem_arena *a, onnx_model **ret,
			   dck_err *err)
{
	wire_source s;

	DCK_TRY(wire_source_bytes(bytes, n, &s, err));
	dck_status code = read_source(&s, a, ret, err);
	wire_source_close(&s);
	return code;
}

const onnx_attribute *onnx_find_attribute(const onnx_node *n, const char *name)
{
	for (size_t i = 0; i < n->nattributes; i++)
		if (n->attributes[i].name && strcmp(n->attributes[i].name, name) == 0)
			return &n->attributes[i];
	return NULL;
}

int64_t onnx_attribute_int(const onnx_node *n, const char *name, int64_t otherwise)
{
	const onnx_attribute *a = onnx_find_attribute(n, name);

	return a && (a->type == ONNX_ATTR_INT || a->type == ONNX_ATTR_NONE) ? a->i : otherwise;
}

int64_t onnx_opset_version(const onnx_model *m)
{
	for (size_t i = 0; i < m->nopsets; i++)
		if (!m->opsets[i].domain || !*m->opsets[i].domain ||
		    strcmp(m->opsets[i].domain, "ai.onnx") == 0)
			return m->opsets[i].version;
	return 0;
}
