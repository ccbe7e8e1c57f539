/* def_use.c - def-use chains: the producer and the uses of each value of a model.
 *
 * Two passes over the graph and its subgraphs: count_graph() counts names and uses, so that
 * everything is allocated once; add_graph() then interns each name (name_index.h, a hash table) to
 * a number, which is the index of its def_use_value. The uses of a value are a linked list in one
 * array, the latest first. Time and memory are linear in the names that nodes state. The recursion
 * is as deep as subgraphs nest, which the decoder bounds (WIRE_DEPTH_MAX).
 *
 * If a malformed model makes a name twice, the first producer, initializer and declaration count.
 *
 * def_use_shape_of() and def_use_constant() walk back from a value through at most about BACK_MAX
 * producers that keep its shape or its content; a cycle ends there too. The model is borrowed; all
 * else is in the caller's arena and never changes after def_use_init().
 *
 * Source: https://github.com/onnx/onnx/blob/main/docs/IR.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/def_use.h"
#include "base/err.h"

#include <string.h>

/* Number of producers through which a shape or constant is followed back. */
#define BACK_MAX 8

static size_t count_graph(const onnx_graph *g, size_t *uses)
{
	size_t n = g->ninitializers + g->ninputs + g->noutputs + g->nvalues;

	for (size_t i = 0; i < g->nnodes; i++) {
		const onnx_node *node = &g->nodes[i];
		n += node->ninputs + node->noutputs;
		*uses += node->ninputs;
		for (size_t k = 0; k < node->nattributes; k++) {
			const onnx_attribute *a = &node->attributes[k];
			if (a->g)
				n += count_graph(a->g, uses);
			for (size_t j = 0; j < a->ngraphs; j++)
				n += count_graph(&a->graphs[j], uses);
		}
	}
	return n;
}

static def_use_value *def_use_value_of(def_use *f, const char *name)
{
	return name && *name ? &f->values[name_index_intern(&f->names, name)] : NULL;
}

static void declare(def_use *f, const onnx_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		def_use_value *v = def_use_value_of(f, values[i].name);
		if (v && !v->declared && values[i].type)
			v->declared = values[i].type->tensor;
	}
}

static void add_graph(def_use *f, const onnx_graph *g);

static void add_node(def_use *f, const onnx_node *node)
{
	for (size_t i = 0; i < node->noutputs; i++) {
		def_use_value *v = def_use_value_of(f, node->outputs[i]);
		if (v && !v->producer)
			v->producer = node;
	}
	for (size_t i = 0; i < node->ninputs; i++) {
		def_use_value *v = def_use_value_of(f, node->inputs[i]);
		if (!v)
			continue;
		f->uses[f->nuses] = (def_use_edge){node, i, v->first_use};
		v->first_use = f->nuses++;
	}
	for (size_t i = 0; i < node->nattributes; i++) {
		const onnx_attribute *a = &node->attributes[i];
		if (a->g)
			add_graph(f, a->g);
		for (size_t k = 0; k < a->ngraphs; k++)
			add_graph(f, &a->graphs[k]);
	}
}

static void add_graph(def_use *f, const onnx_graph *g)
{
	for (size_t i = 0; i < g->ninitializers; i++) {
		def_use_value *v = def_use_value_of(f, g->initializers[i].name);
		if (v && !v->initializer)
			v->initializer = &g->initializers[i];
	}
	declare(f, g->inputs, g->ninputs);
	declare(f, g->outputs, g->noutputs);
	declare(f, g->values, g->nvalues);
	for (size_t i = 0; i < g->nnodes; i++)
		add_node(f, &g->nodes[i]);
}

dck_status def_use_fail_memory(const mem_arena *a, size_t wanted, dck_err *err)
{
	if (wanted > ONNX_MEMORY_MAX || mem_arena_bytes(a) > ONNX_MEMORY_MAX - wanted)
		DCK_FAIL(err, E_LIMIT, "following the model's values needs more than %zu MiB",
			 ONNX_MEMORY_MAX >> 20);
	return ERR_NO_MEMORY(err, "to follow the model's values");
}

dck_status def_use_init(def_use *f, mem_arena *a, const onnx_model *m, dck_err *err)
{
	const onnx_graph *g = onnx_graph_inline(m, a);
	size_t uses = 0, values;

	if (!g)
		return def_use_fail_memory(a, 0, err);
	values = count_graph(g, &uses);
	*f = (def_use){0};
	f->values = mem_arena_array(a, values, sizeof *f->values);
	f->uses = mem_arena_array(a, uses, sizeof *f->uses);
	if (!name_index_init(&f->names, a, values) || !f->values || !f->uses)
		/* names and their slots: at most 8 and 32 bytes each */
		return def_use_fail_memory(
		    a, values * (sizeof *f->values + 40) + uses * sizeof *f->uses, err);
	for (size_t i = 0; i < values; i++)
		f->values[i].first_use = DEF_USE_NONE;
	add_graph(f, g);
	return DCK_OK;
}

const def_use_value *def_use_find(const def_use *f, const char *name)
{
	size_t i = name && *name ? name_index_find(&f->names, name) : NAME_INDEX_NONE;

	return i == NAME_INDEX_NONE ? NULL : &f->values[i];
}

static bool tensor_shape(const onnx_tensor *t, def_use_shape *ret)
{
	if (t->rank > DEF_USE_RANK)
		return false;
	ret->rank = t->rank;
	if (t->rank)
		memcpy(ret->dims, t->dims, t->rank * sizeof *t->dims);
	return true;
}

static bool declared_shape(const onnx_tensor_type *t, def_use_shape *ret)
{
	if (!t->shape || t->shape->rank > DEF_USE_RANK)
		return false;
	ret->rank = t->shape->rank;
	for (size_t i = 0; i < ret->rank; i++)
		ret->dims[i] = t->shape->dims[i].value;
	return true;
}

static bool op_is(const onnx_node *n, const char *op)
{
	return n && n->op && strcmp(n->op, op) == 0;
}

static const onnx_tensor *def_use_constant_tensor(const def_use_value *v)
{
	if (v->initializer)
		return v->initializer;
	if (!op_is(v->producer, "Constant"))
		return NULL;
	const onnx_attribute *a = onnx_find_attribute(v->producer, "value");
	return a ? a->t : NULL;
}

static bool flow_transpose(const onnx_node *n, def_use_shape *s)
{
	const onnx_attribute *perm = onnx_find_attribute(n, "perm");
	def_use_shape from = *s;

	if (perm && perm->nints != s->rank)
		return false;
	for (size_t i = 0; i < s->rank; i++) {
		int64_t axis = perm ? perm->ints[i] : (int64_t)(s->rank - 1 - i);
		if (axis < 0 || (size_t)axis >= s->rank)
			return false;
		s->dims[i] = from.dims[axis];
	}
	return true;
}

/* Operators that keep the shape of their first input. */
static const char *const keep_shape[] = {"Cast",     "DequantizeLinear", "Dropout",
					 "Identity", "LogSoftmax",	 "QuantizeLinear"};

static bool shape_back(const def_use *f, const char *name, int depth, def_use_shape *ret)
{
	const def_use_value *v = def_use_find(f, name);

	if (!v || depth > BACK_MAX)
		return false;
	const onnx_tensor *t = def_use_constant_tensor(v);
	if (t)
		return tensor_shape(t, ret);
	const onnx_node *n = v->producer;
	for (size_t i = 0; n && n->ninputs && i < sizeof keep_shape / sizeof *keep_shape; i++)
		if (op_is(n, keep_shape[i]) && shape_back(f, n->inputs[0], depth + 1, ret))
			return true;
	if (op_is(n, "Transpose") && n->ninputs && shape_back(f, n->inputs[0], depth + 1, ret))
		return flow_transpose(n, ret);
	if (v->declared && declared_shape(v->declared, ret))
		return true;
	if (op_is(n, "Gemm") && n->ninputs > 1 && shape_back(f, n->inputs[1], depth + 1, ret) &&
	    ret->rank == 2) {
		ret->dims[1] = ret->dims[onnx_attribute_int(n, "transB", 0) ? 0 : 1];
		ret->dims[0] = -1;
		return true;
	}
	return false;
}

bool def_use_shape_of(const def_use *f, const char *name, def_use_shape *ret)
{
	return shape_back(f, name, 0, ret);
}

bool def_use_constant(const def_use *f, const char *name, int64_t *ret)
{
	const def_use_value *v = def_use_find(f, name);

	for (int depth = 0; v && depth < BACK_MAX; depth++) {
		const onnx_tensor *t = def_use_constant_tensor(v);
		if (t && t->elements == 1 && t->ints) {
			*ret = t->ints[0];
			return true;
		}
		/* A scalar of float that is a whole number, such as the 1 of "1 - mask". */
		if (t && t->elements == 1 && t->reals && t->reals[0] >= -1e9 &&
		    t->reals[0] <= 1e9 && t->reals[0] == (double)(int64_t)t->reals[0]) {
			*ret = (int64_t)t->reals[0];
			return true;
		}
		if (op_is(v->producer, "Constant") &&
		    onnx_find_attribute(v->producer, "value_int")) {
			*ret = onnx_attribute_int(v->producer, "value_int", 0);
			return true;
		}
		bool through = op_is(v->producer, "Cast") || op_is(v->producer, "Identity") ||
			       op_is(v->producer, "Unsqueeze");
		if (!through || !v->producer->ninputs)
			return false;
		v = def_use_find(f, v->producer->inputs[0]);
	}
	return false;
}
