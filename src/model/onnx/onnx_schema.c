/* onnx_schema.c - the tables. Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/onnx_schema.h"

#define AT(type, member)       .at = offsetof(type, member)
#define COUNT(type, member, n) .at = offsetof(type, member), .count = offsetof(type, n)
#define FIELDS(table)	       .fields = (table), .nfields = sizeof(table) / sizeof(*(table))
#define MESSAGE(id, text, type)                    \
	static const onnx_message id##_message = { \
	    .what = (text), .size = sizeof(type), FIELDS(id##_fields)}

static const onnx_message graph_message, type_message;

static const onnx_field pair_fields[] = {
    [1] = {AS_TEXT, AT(onnx_pair, key), .name = "key"},
    [2] = {AS_TEXT, AT(onnx_pair, value), .name = "value"},
};
MESSAGE(pair, "a pair of texts", onnx_pair);

/* Data (fields 4 to 7 and 9 to 11) is left to onnx_tensor_after(). */
static const onnx_field tensor_fields[] = {
    [1] = {AS_INTS, COUNT(onnx_tensor, dims, rank), .name = "list of dimensions"},
    [2] = {AS_INT, AT(onnx_tensor, dtype), .name = "data type"},
    [8] = {AS_TEXT, AT(onnx_tensor, name), .name = "name"},
    [9] = {AS_LENGTH, AT(onnx_tensor, raw_bytes), .name = "raw data"},
    [13] = {AS_MANY, COUNT(onnx_tensor, external, nexternal), .name = "external data entry",
	    .of = &pair_message},
    [14] = {AS_INT, AT(onnx_tensor, location), .name = "data location"},
};
const onnx_message onnx_tensor_message = {.what = "a tensor",
					  .size = sizeof(onnx_tensor),
					  FIELDS(tensor_fields),
					  .after = onnx_tensor_after};

static const onnx_field sparse_fields[] = {
    [1] = {AS_ONE, AT(onnx_sparse, values), .name = "tensor of values", .of = &onnx_tensor_message},
    [2] = {AS_ONE, AT(onnx_sparse, indices), .name = "tensor of indices",
	   .of = &onnx_tensor_message},
    [3] = {AS_INTS, COUNT(onnx_sparse, dims, rank), .name = "list of dimensions"},
};
MESSAGE(sparse, "a sparse tensor", onnx_sparse);

static const onnx_field dim_fields[] = {
    [1] = {AS_INT, AT(onnx_dim, value), .name = "size"},
    [2] = {AS_TEXT, AT(onnx_dim, symbol), .name = "symbol"},
};
static const onnx_message dim_message = {.what = "a dimension",
					 .size = sizeof(onnx_dim),
					 FIELDS(dim_fields),
					 .initial = &(const onnx_dim){.value = -1}};

static const onnx_field shape_fields[] = {
    [1] = {AS_MANY, COUNT(onnx_shape, dims, rank), .name = "dimension", .of = &dim_message},
};
MESSAGE(shape, "a shape", onnx_shape);

static const onnx_field tensor_type_fields[] = {
    [1] = {AS_INT, AT(onnx_tensor_type, dtype), .name = "data type"},
    [2] = {AS_ONE, AT(onnx_tensor_type, shape), .name = "shape", .of = &shape_message},
};
MESSAGE(tensor_type, "a tensor's type", onnx_tensor_type);

static const onnx_field element_fields[] = {
    [1] = {AS_ONE, AT(onnx_element_type, value), .name = "element type", .of = &type_message},
};
MESSAGE(element, "a sequence's type", onnx_element_type);

static const onnx_field map_fields[] = {
    [1] = {AS_INT, AT(onnx_element_type, key), .name = "key type"},
    [2] = {AS_ONE, AT(onnx_element_type, value), .name = "value type", .of = &type_message},
};
MESSAGE(map, "a map's type", onnx_element_type);

static const onnx_field type_fields[] = {
    [1] = {AS_ONE, AT(onnx_type, tensor), .name = "tensor type", .of = &tensor_type_message},
    [4] = {AS_ONE, AT(onnx_type, sequence), .name = "sequence type", .of = &element_message},
    [5] = {AS_ONE, AT(onnx_type, map), .name = "map type", .of = &map_message},
    [8] = {AS_ONE, AT(onnx_type, sparse), .name = "sparse tensor type", .of = &tensor_type_message},
    [9] = {AS_ONE, AT(onnx_type, optional), .name = "optional type", .of = &element_message},
};
static const onnx_message type_message = {
    .what = "a type", .size = sizeof(onnx_type), FIELDS(type_fields)};

static const onnx_field value_fields[] = {
    [1] = {AS_TEXT, AT(onnx_value, name), .name = "name"},
    [2] = {AS_ONE, AT(onnx_value, type), .name = "type", .of = &type_message},
};
static const onnx_message value_message = {.what = "a value",
					   .size = sizeof(onnx_value),
					   FIELDS(value_fields),
					   .left = 1u << 4,
					   .after = onnx_value_after};

static const onnx_field attribute_fields[] = {
    [1] = {AS_TEXT, AT(onnx_attribute, name), .name = "name"},
    [2] = {AS_FLOAT, AT(onnx_attribute, f), .name = "number"},
    [3] = {AS_INT, AT(onnx_attribute, i), .name = "integer"},
    [4] = {AS_BYTES, AT(onnx_attribute, s), .name = "text"},
    [5] = {AS_ONE, AT(onnx_attribute, t), .name = "tensor", .of = &onnx_tensor_message},
    [6] = {AS_ONE, AT(onnx_attribute, g), .name = "graph", .of = &graph_message},
    [7] = {AS_FLOATS, COUNT(onnx_attribute, floats, nfloats), .name = "list of numbers"},
    [8] = {AS_INTS, COUNT(onnx_attribute, ints, nints), .name = "list of integers"},
    [9] = {AS_TEXTNS, COUNT(onnx_attribute, strings, nstrings), .name = "text"},
    [10] = {AS_MANY, COUNT(onnx_attribute, tensors, ntensors), .name = "tensor",
	    .of = &onnx_tensor_message},
    [11] = {AS_MANY, COUNT(onnx_attribute, graphs, ngraphs), .name = "graph", .of = &graph_message},
    [14] = {AS_ONE, AT(onnx_attribute, tp), .name = "type", .of = &type_message},
    [20] = {AS_INT, AT(onnx_attribute, type), .name = "attribute type"},
    [21] = {AS_TEXT, AT(onnx_attribute, ref), .name = "reference"},
    [22] = {AS_ONE, AT(onnx_attribute, sparse), .name = "sparse tensor", .of = &sparse_message},
};
MESSAGE(attribute, "an attribute", onnx_attribute);

static const onnx_field node_fields[] = {
    [1] = {AS_TEXTS, COUNT(onnx_node, inputs, ninputs), .name = "input"},
    [2] = {AS_TEXTS, COUNT(onnx_node, outputs, noutputs), .name = "output"},
    [3] = {AS_TEXT, AT(onnx_node, name), .name = "name"},
    [4] = {AS_TEXT, AT(onnx_node, op), .name = "operator"},
    [5] = {AS_MANY, COUNT(onnx_node, attributes, nattributes), .name = "attribute",
	   .of = &attribute_message},
    [7] = {AS_TEXT, AT(onnx_node, domain), .name = "domain"},
    [8] = {AS_TEXT, AT(onnx_node, overload), .name = "overload"},
};
/* Metadata (field 9) is left to onnx_node_after(): most of it is tracebacks, longer than the rest
 * of the file's structure. */
static const onnx_message node_message = {.what = "a node",
					  .size = sizeof(onnx_node),
					  FIELDS(node_fields),
					  .left = 1u << 9,
					  .after = onnx_node_after};

static const onnx_field graph_fields[] = {
    [1] = {AS_MANY, COUNT(onnx_graph, nodes, nnodes), .name = "node", .of = &node_message},
    [2] = {AS_TEXT, AT(onnx_graph, name), .name = "name"},
    [5] = {AS_MANY, COUNT(onnx_graph, initializers, ninitializers), .name = "initializer",
	   .of = &onnx_tensor_message},
    [11] = {AS_MANY, COUNT(onnx_graph, inputs, ninputs), .name = "input", .of = &value_message},
    [12] = {AS_MANY, COUNT(onnx_graph, outputs, noutputs), .name = "output", .of = &value_message},
    [13] = {AS_MANY, COUNT(onnx_graph, values, nvalues), .name = "value", .of = &value_message},
    [15] = {AS_MANY, COUNT(onnx_graph, sparse, nsparse), .name = "sparse initializer",
	    .of = &sparse_message},
};
static const onnx_message graph_message = {.what = "a graph",
					   .size = sizeof(onnx_graph),
					   FIELDS(graph_fields),
					   .left = 1u << 16,
					   .after = onnx_graph_after};

static const onnx_field opset_fields[] = {
    [1] = {AS_TEXT, AT(onnx_opset, domain), .name = "domain"},
    [2] = {AS_INT, AT(onnx_opset, version), .name = "version"},
};
MESSAGE(opset, "an operator set", onnx_opset);

static const onnx_field function_fields[] = {
    [1] = {AS_TEXT, AT(onnx_function, name), .name = "name"},
    [4] = {AS_TEXTS, COUNT(onnx_function, inputs, ninputs), .name = "input"},
    [5] = {AS_TEXTS, COUNT(onnx_function, outputs, noutputs), .name = "output"},
    [6] = {AS_TEXTS, COUNT(onnx_function, attributes, nattributes), .name = "attribute"},
    [7] = {AS_MANY, COUNT(onnx_function, nodes, nnodes), .name = "node", .of = &node_message},
    [9] = {AS_MANY, COUNT(onnx_function, opsets, nopsets), .name = "operator set",
	   .of = &opset_message},
    [10] = {AS_TEXT, AT(onnx_function, domain), .name = "domain"},
    [11] = {AS_MANY, COUNT(onnx_function, defaults, ndefaults), .name = "attribute",
	    .of = &attribute_message},
    [12] = {AS_MANY, COUNT(onnx_function, values, nvalues), .name = "value", .of = &value_message},
    [13] = {AS_TEXT, AT(onnx_function, overload), .name = "overload"},
};
MESSAGE(function, "a function", onnx_function);

static const onnx_field model_fields[] = {
    [1] = {AS_INT, AT(onnx_model, ir_version), .name = "IR version"},
    [2] = {AS_TEXT, AT(onnx_model, producer), .name = "producer's name"},
    [3] = {AS_TEXT, AT(onnx_model, producer_version), .name = "producer's version"},
    [4] = {AS_TEXT, AT(onnx_model, domain), .name = "domain"},
    [5] = {AS_INT, AT(onnx_model, version), .name = "model version"},
    [7] = {AS_ONE, AT(onnx_model, graph), .name = "graph", .of = &graph_message},
    [8] = {AS_MANY, COUNT(onnx_model, opsets, nopsets), .name = "operator set",
	   .of = &opset_message},
    [14] = {AS_MANY, COUNT(onnx_model, metadata, nmetadata), .name = "metadata entry",
	    .of = &pair_message},
    [25] = {AS_MANY, COUNT(onnx_model, functions, nfunctions), .name = "function",
	    .of = &function_message},
};
const onnx_message onnx_model_message = {
    .what = "an ONNX model", .size = sizeof(onnx_model), FIELDS(model_fields)};
