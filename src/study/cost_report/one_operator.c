/* one_operator.c - dck_cost_price_get(): the cost of a single operator without a model.
 *
 *	Conv, x [1,3,224,224], w [64,3,7,7], strides [2,2], pads [3,3,3,3]: 118013952 MACs
 *
 * The operator becomes a graph of one node, which is counted like every graph: so the cost rules
 * exist once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/cost.h"
#include "base/dtype.h"
#include "base/err.h"
#include "model/cost/op.h"
#include "model/cost/flop_conventions.h"
#include <stdio.h>
#include <string.h>

enum { LIST_MAX = 4096, ARENA_BLOCK = 16384 };
#define MEMORY_MAX ((size_t)64 << 20)

/* A graph of one node, in the arena. */
typedef struct node_graph {
	mem_arena *arena;
	onnx_graph graph;
	onnx_node node;
	onnx_model model;
} node_graph;

static dck_status operator_sizes_check(const dck_cost_tensor *t, size_t input, dck_err *err)
{
	if (t->rank > DCK_RANK_MAX)
		DCK_FAIL(err, E_ARG, "input %zu has %zu dimensions, the most are %d", input,
			 t->rank, DCK_RANK_MAX);
	if (dtype_onnx_named(t->dtype) < 0)
		DCK_FAIL(err, E_ARG, "input %zu: no element type is called '%.60s'", input,
			 t->dtype);
	for (size_t i = 0; i < t->rank; i++)
		if (t->dim[i] < 0)
			DCK_FAIL(err, E_ARG, "input %zu has a size of %lld", input,
				 (long long)t->dim[i]);
	return DCK_OK;
}

/* Returns the number of elements; UINT64_MAX: overflow. */
static uint64_t elements_of(const dck_cost_tensor *t)
{
	uint64_t n = 1;

	for (size_t i = 0; i < t->rank; i++)
		if (__builtin_mul_overflow(n, (uint64_t)t->dim[i], &n))
			return UINT64_MAX;
	return n;
}

static void constant_put(node_graph *o, const char *name, const dck_cost_tensor *t,
			 uint64_t elements)
{
	onnx_tensor *to = &o->graph.initializers[o->graph.ninitializers];
	int64_t *ints = mem_arena_array(o->arena, (size_t)elements, sizeof *ints);
	int64_t *dims = mem_arena_array(o->arena, t->rank, sizeof *dims);

	if (!ints || !dims)
		return;
	for (size_t i = 0; i < elements; i++)
		ints[i] = t->ints[i];
	for (size_t i = 0; i < t->rank; i++)
		dims[i] = t->dim[i];
	*to = (onnx_tensor){.name = name,
			    .dtype = dtype_onnx_named(t->dtype),
			    .dims = dims,
			    .rank = t->rank,
			    .elements = elements,
			    .bytes = elements * dtype_onnx_bits(dtype_onnx_named(t->dtype)) / 8,
			    .ints = ints};
	o->graph.ninitializers++;
}

static void operator_value_put(node_graph *o, const char *name, const dck_cost_tensor *t)
{
	onnx_type *type = mem_arena_alloc(o->arena, sizeof *type);
	onnx_tensor_type *tensor = mem_arena_alloc(o->arena, sizeof *tensor);
	onnx_shape *shape = mem_arena_alloc(o->arena, sizeof *shape);
	onnx_dim *dims = mem_arena_array(o->arena, t->rank, sizeof *dims);

	if (!type || !tensor || !shape || !dims)
		return;
	for (size_t i = 0; i < t->rank; i++)
		dims[i].value = t->dim[i];
	*shape = (onnx_shape){dims, t->rank};
	*tensor = (onnx_tensor_type){dtype_onnx_named(t->dtype), shape};
	type->tensor = tensor;
	o->graph.inputs[o->graph.ninputs++] = (onnx_value){name, type, NULL};
}

static dck_status inputs_put(node_graph *o, const dck_cost_node *n, dck_err *err)
{
	o->graph.inputs = mem_arena_array(o->arena, n->ninputs, sizeof *o->graph.inputs);
	o->graph.initializers =
	    mem_arena_array(o->arena, n->ninputs, sizeof *o->graph.initializers);
	o->node.inputs = mem_arena_array(o->arena, n->ninputs, sizeof *o->node.inputs);
	DCK_NEED(o->graph.inputs && o->graph.initializers && o->node.inputs, err,
		 "for an operator's inputs");
	for (size_t i = 0; i < n->ninputs; i++) {
		const dck_cost_tensor *t = &n->inputs[i];
		const char *name = mem_arena_fmt(o->arena, "x%zu", i);

		o->node.inputs[i] = t->dtype ? name : "";
		if (!t->dtype)
			continue;
		DCK_TRY(operator_sizes_check(t, i, err));
		const uint64_t elements = elements_of(t);
		if (t->ints && elements <= ONNX_INTS_MAX)
			constant_put(o, name, t, elements);
		else
			operator_value_put(o, name, t);
	}
	o->node.ninputs = n->ninputs;
	return DCK_OK;
}

static dck_status attribute_put(node_graph *o, const dck_cost_attribute *from, onnx_attribute *to,
				dck_err *err)
{
	static const int64_t kinds[] = {[DCK_ATTRIBUTE_INT] = ONNX_ATTR_INT,
					[DCK_ATTRIBUTE_REAL] = ONNX_ATTR_FLOAT,
					[DCK_ATTRIBUTE_TEXT] = ONNX_ATTR_STRING,
					[DCK_ATTRIBUTE_INTS] = ONNX_ATTR_INTS};

	if ((size_t)from->kind >= sizeof kinds / sizeof kinds[0] || !from->name)
		DCK_FAIL(err, E_ARG, "an attribute has no name, or a kind that does not exist");
	if (from->nints > LIST_MAX)
		DCK_FAIL(err, E_LIMIT, "the attribute '%s' has more than %d numbers", from->name,
			 LIST_MAX);
	*to = (onnx_attribute){.name = from->name, .type = kinds[from->kind], .i = from->i};
	to->f = (float)from->real;
	to->s = (onnx_text){from->text, from->text ? strlen(from->text) : 0};
	to->ints = mem_arena_array(o->arena, from->nints, sizeof *to->ints);
	for (size_t i = 0; to->ints && i < from->nints; i++)
		to->ints[i] = from->ints[i];
	to->nints = to->ints ? from->nints : 0;
	return DCK_OK;
}

static dck_status operator_node_put(node_graph *o, const dck_cost_node *n, dck_err *err)
{
	onnx_node *node = &o->node;

	node->op = n->name;
	node->domain = n->domain;
	DCK_TRY(inputs_put(o, n, err));
	node->attributes = mem_arena_array(o->arena, n->nattributes, sizeof *node->attributes);
	node->outputs = mem_arena_array(o->arena, n->noutputs, sizeof *node->outputs);
	DCK_NEED(node->attributes && node->outputs, err, "for an operator");
	for (; node->nattributes < n->nattributes; node->nattributes++)
		DCK_TRY(attribute_put(o, &n->attributes[node->nattributes],
				      &node->attributes[node->nattributes], err));
	for (; node->noutputs < n->noutputs; node->noutputs++)
		node->outputs[node->noutputs] = mem_arena_fmt(o->arena, "y%zu", node->noutputs);
	o->graph.nodes = node;
	o->graph.nnodes = 1;
	o->model.graph = &o->graph;
	DCK_NEED(!mem_arena_failed(o->arena), err, "for an operator");
	return DCK_OK;
}

static int64_t operator_number_get(sym_table *nums, sym_int n, dck_cost_price *ret)
{
	const char *why = sym_known(n) ? NULL : sym_unknown_reason(n);

	if (sym_known(n))
		return n.v;
	if (!why)
		why = sym_why_fresh(nums, n);
	if (!*ret->why)
		snprintf(ret->why, sizeof ret->why, "%s", why ? why : "it depends on values");
	return -1;
}

static void price_read(const cost_result *r, dck_cost_price *ret)
{
	const cost_op *made = &r->ops[0];
	const val *first = made->nout ? made->out[0] : NULL;
	const int rank = first && first->kind == VAL_TENSOR ? first->rank : -1;

	*ret = (dck_cost_price){.rank = rank <= DCK_RANK_MAX ? rank : -1};
	ret->macs = operator_number_get(r->nums, made->macs, ret);
	ret->flops = operator_number_get(r->nums, made->flops, ret);
	ret->read_bytes = operator_number_get(r->nums, made->read_bytes, ret);
	ret->write_bytes = operator_number_get(r->nums, made->write_bytes, ret);
	for (int i = 0; i < ret->rank; i++)
		ret->dim[i] = sym_known(first->dims[i]) ? first->dims[i].v : -1;
	for (int as = 1; convention_find(as); as++) {
		const sym_int n = convention_count(convention_find(as), r, made);
		ret->peers[as] = sym_known(n) ? n.v : -1;
	}
}

static dck_status input_as_it_is(void *self, sym_table *nums, val *v, dck_err *err)
{
	(void)self;
	(void)nums;
	(void)v;
	(void)err;
	return DCK_OK;
}

static dck_status node_as_it_is(void *self, op *o, dck_err *err)
{
	(void)self;
	(void)o;
	(void)err;
	return DCK_OK;
}

/* A called operator runs, also where a model would have it computed once. */
static dck_status node_runs(void *self, op *o, dck_err *err)
{
	(void)self;
	(void)err;
	o->made->folded = false;
	return DCK_OK;
}

static dck_status price_get(node_graph *o, const dck_cost_node *n, dck_cost_price *ret,
			    dck_err *err)
{
	const cost_visitor watch = {
	    .input = input_as_it_is, .before = node_as_it_is, .after = node_runs};
	const cost_config config = {.watch = &watch};
	cost_result *r;

	if (!n->name || n->ninputs > LIST_MAX || n->noutputs > LIST_MAX ||
	    n->nattributes > LIST_MAX)
		return n->name ? ERR_SET(err, E_LIMIT, "more than %d inputs, outputs or attributes",
					 LIST_MAX)
			       : ERR_SET(err, E_ARG, "an operator needs a name");
	o->arena = mem_arena_new(ARENA_BLOCK);
	DCK_NEED(o->arena, err, "for an operator");
	mem_arena_limit(o->arena, MEMORY_MAX);
	DCK_TRY(operator_node_put(o, n, err));
	DCK_TRY(cost_model(&o->model, &config, o->arena, &r, err));
	if (r->nops == 0 || !r->ops[0].row)
		DCK_FAIL(err, E_ABSENT, "deepclock has no rule for the operator %.60s%s%.60s",
			 n->domain ? n->domain : "", n->domain && *n->domain ? "." : "", n->name);
	price_read(r, ret);
	return DCK_OK;
}

dck_status dck_cost_price_get(const dck_cost_node *n, dck_cost_price *ret, dck_err *err)
{
	node_graph o = {0};
	const dck_status status = price_get(&o, n, ret, err);

	mem_arena_free(o.arena);
	return status;
}
