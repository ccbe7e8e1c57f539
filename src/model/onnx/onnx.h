/* onnx.h - ONNX reader: stores the structure of an ONNX file as the file states it. Nothing is
 * inferred, checked or resolved here, and tensor data stays in the file except for small constants.
 *
 *	mem_arena *a = mem_arena_new(0);
 *	onnx_model *m;
 *
 *	DCK_NEED(a, err, "for the model");
 *	status = onnx_read_file("model.onnx", a, &m, err);
 *	... m->graph->nodes[0].op is "Conv" ...
 *	mem_arena_free(a);
 *
 * Everything is in that arena. Text is NUL-terminated; NULL means that the file does not state it.
 * Any file is safe to read: depth and memory are bounded. The members are documented in
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_ONNX_H
#define MODEL_ONNX_H

#include "base/mem.h"
#include "base/name_index.h"
#include "base/wire.h"

typedef enum onnx_dtype {
	ONNX_UNDEFINED = 0,
	ONNX_FLOAT = 1,
	ONNX_UINT8 = 2,
	ONNX_INT8 = 3,
	ONNX_UINT16 = 4,
	ONNX_INT16 = 5,
	ONNX_INT32 = 6,
	ONNX_INT64 = 7,
	ONNX_STRING = 8,
	ONNX_BOOL = 9,
	ONNX_FLOAT16 = 10,
	ONNX_DOUBLE = 11,
	ONNX_UINT32 = 12,
	ONNX_UINT64 = 13,
	ONNX_BFLOAT16 = 16
} onnx_dtype;

/* Returns whether it is an integer type; bool is not. */
bool onnx_dtype_integer(int64_t dtype);
/* Returns whether it is a floating-point type of training; types of 8 and 4 bits are not. */
bool onnx_dtype_real(int64_t dtype);

/* Maximum elements of tensors whose values are stored: integers for shapes and axes, reals for
 * scalars and scales (not the many small vectors of normalisation). */
#define ONNX_INTS_MAX  1024
#define ONNX_REALS_MAX 64

typedef struct onnx_pair {
	const char *key, *value;
} onnx_pair;

typedef struct onnx_tensor {
	const char *name;
	int64_t dtype; /* onnx_dtype, or a newer one */
	int64_t *dims; /* rank of them, each >= 0; a scalar has none */
	size_t rank;
	uint64_t elements, bytes; /* by dtype and dims; bytes of text: 0 */
	uint64_t
	    raw_bytes; /* of raw_data in this file; 0: none, or the data has fields of its type */
	onnx_pair *external; /* location, offset, length: data is in another file */
	size_t nexternal;
	int64_t location; /* 1: external */
	/* Values of a small tensor with data in this file, in one of the two; else NULL. */
	int64_t *ints; /* integers and bool */
	double *reals; /* float and double */
} onnx_tensor;

typedef struct onnx_dim {
	int64_t value;	    /* -1: open */
	const char *symbol; /* of an open dimension, or NULL */
} onnx_dim;

typedef struct onnx_shape {
	onnx_dim *dims;
	size_t rank;
} onnx_shape;

typedef struct onnx_tensor_type {
	int64_t dtype;
	onnx_shape *shape; /* NULL: even the rank is not known */
} onnx_tensor_type;

typedef struct onnx_type onnx_type;
typedef struct onnx_element_type {
	int64_t key; /* key type of a map */
	onnx_type *value;
} onnx_element_type;

/* At most one member is set. */
struct onnx_type {
	onnx_tensor_type *tensor, *sparse;
	onnx_element_type *sequence, *optional, *map;
};

typedef struct onnx_value {
	const char *name;
	onnx_type *type;
	/* Metadata of PyTorch's newer exporter, of an initializer: the list of names that constant
	 * folding made it from. */
	const char *folded_from;
} onnx_value;

/* Engines hide whole compiled models in text attributes: longer ones stay in the file. */
#define ONNX_TEXT_MAX 65536
typedef struct onnx_text {
	const char *text; /* any bytes, also NUL, NUL-terminated; NULL: above the limit */
	uint64_t n;
} onnx_text;

typedef struct onnx_graph onnx_graph;

typedef struct onnx_sparse {
	onnx_tensor *values, *indices; /* values->name is the tensor's name */
	int64_t *dims;
	size_t rank;
} onnx_sparse;

typedef enum onnx_attribute_type {
	ONNX_ATTR_NONE,
	ONNX_ATTR_FLOAT,
	ONNX_ATTR_INT,
	ONNX_ATTR_STRING,
	ONNX_ATTR_TENSOR,
	ONNX_ATTR_GRAPH,
	ONNX_ATTR_FLOATS,
	ONNX_ATTR_INTS,
	ONNX_ATTR_STRINGS,
	ONNX_ATTR_TENSORS,
	ONNX_ATTR_GRAPHS,
	ONNX_ATTR_SPARSE,
	ONNX_ATTR_SPARSES,
	ONNX_ATTR_TYPE,
	ONNX_ATTR_TYPES
} onnx_attribute_type;

typedef struct onnx_attribute {
	const char *name;
	const char *ref; /* inside a function: the function's attribute that gives the value */
	int64_t type;	 /* onnx_attribute_type; files of IR 1 may leave it 0 */
	float f;
	int64_t i;
	onnx_text s;
	onnx_tensor *t;
	onnx_graph *g;
	onnx_sparse *sparse;
	onnx_type *tp;
	float *floats;
	size_t nfloats;
	int64_t *ints;
	size_t nints;
	onnx_text *strings;
	size_t nstrings;
	onnx_tensor *tensors;
	size_t ntensors;
	onnx_graph *graphs;
	size_t ngraphs;
} onnx_attribute;

/* A call in the model's own code. */
typedef struct onnx_frame {
	const char *line, *code; /* "/models/net.py:17", and the source line */
} onnx_frame;

typedef struct onnx_node {
	const char *op, *domain, *name, *overload;
	const char **inputs, **outputs; /* "": left out */
	size_t ninputs, noutputs;
	onnx_attribute *attributes;
	size_t nattributes;
	/* Metadata of PyTorch's newer exporter; NULL, none: absent. */
	const char *module, *class_name; /* "layer1.0.conv1"; "torch.nn.modules.conv.Conv2d" */
	onnx_frame *frames;		 /* the innermost last */
	size_t nframes;
} onnx_node;

struct onnx_graph {
	const char *name;
	onnx_node *nodes;
	size_t nnodes;
	onnx_tensor *initializers;
	size_t ninitializers;
	onnx_sparse *sparse;
	size_t nsparse;
	onnx_value *inputs, *outputs, *values;
	size_t ninputs, noutputs, nvalues;
	const char *signature; /* metadata of PyTorch's newer exporter: parameters and buffers */
};

typedef struct onnx_opset {
	const char *domain; /* NULL or "": ONNX's own */
	int64_t version;
} onnx_opset;

typedef struct onnx_function {
	const char *name, *domain, *overload;
	const char **inputs, **outputs, **attributes;
	size_t ninputs, noutputs, nattributes;
	onnx_attribute *defaults;
	size_t ndefaults;
	onnx_node *nodes;
	size_t nnodes;
	onnx_opset *opsets;
	size_t nopsets;
	onnx_value *values;
	size_t nvalues;
} onnx_function;

typedef struct onnx_model {
	int64_t ir_version; /* -1: not stated */
	int64_t version;
	const char *producer, *producer_version, *domain;
	onnx_opset *opsets;
	size_t nopsets;
	onnx_graph *graph; /* never NULL in a model that was read */
	onnx_function *functions;
	size_t nfunctions;
	onnx_pair *metadata;
	size_t nmetadata;
	uint64_t file_bytes;
} onnx_model;

/* Limit of the arena above its size before the call: a model's structure needs a few hundred bytes
 * for each node. */
#define ONNX_MEMORY_MAX ((size_t)512 << 20)

/* Names of the file type in messages. */
extern const wire_kind wire_onnx;

/* Reads a model. E_ABSENT, E_IO: the file; E_FORMAT: no ONNX model, truncated, malformed, no graph;
 * E_UNSUP: ONNX Runtime's own format; E_LIMIT: nested too deeply, too large. External data is never
 * opened. */
dck_status onnx_read_file(const char *path, mem_arena *a, onnx_model **ret, dck_err *err);
dck_status onnx_read_bytes(const void *bytes, size_t n, mem_arena *a, onnx_model **ret,
			   dck_err *err);

/* Returns the attribute of that name, or NULL. */
const onnx_attribute *onnx_find_attribute(const onnx_node *n, const char *name);
/* Returns an integer attribute, or `otherwise`. */
int64_t onnx_attribute_int(const onnx_node *n, const char *name, int64_t otherwise);
/* Returns whether a dimension's symbol is a name. NULL, "", and "?", "-1" or "None", which
 * exporters write for any size, are not: two of them are two sizes. */
bool onnx_symbol_named(const char *symbol);
/* Returns the opset version of ONNX's own operators; 0: not stated. */
int64_t onnx_opset_version(const onnx_model *m);

/* Adds the names of the initializers, sparse ones too, to an index that has room for them. */
void onnx_initializer_names(const onnx_graph *g, name_index *to);
/* Lists the values that nodes of the main graph produce and that are not graph outputs, in the
 * order of the nodes, each once. The names are borrowed from the graph. */
dck_status onnx_value_names(const onnx_graph *g, mem_arena *a, const char *const **ret,
			    size_t *ret_n, dck_err *err);
/* Calls take with each weight: initializers, of bodies too, and the values of Constant nodes; of
 * sparse ones, the values that are stored. t NULL: an attribute other than a tensor. */
void onnx_weights_each(const onnx_graph *g, void (*take)(void *self, const onnx_tensor *t),
		       void *self);
/* Returns the value of a key of the tensor's external data ("location"); NULL: none. */
const char *onnx_external(const onnx_tensor *t, const char *key);

#endif
