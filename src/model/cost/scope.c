/* scope.c - scopes: the names visible to the nodes of one graph, and their values. Each body of a
 * control operator and each call of a function has a separate scope.
 *
 * Example: in a body of Loop the name 'w' is first searched among the names of the body, then among
 * the names of the enclosing graph. The nodes of a function see only the function's names.
 *
 * Invariants: a name has one value in its scope, or the model is refused. The names of all outputs
 * are known before the first node is walked, so that a name that is not made yet can be
 * distinguished from a name without a producer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"

#include <stdlib.h>
#include <string.h>

bool infer_ok(const infer *in)
{
	return in->status == DCK_OK;
}

bool infer_fail_memory(infer *in)
{
	INFER_FAIL(in, E_LIMIT,
		   "following the model's operators (%zu after its functions are expanded) needs "
		   "more than %zu MiB",
		   in->cap, COST_MEMORY_MAX >> 20);
	return false;
}

/* --- values --- */

val *infer_value(infer *in, const char *name)
{
	val *v = mem_arena_alloc(in->arena, sizeof *v);

	if (!v) {
		infer_fail_memory(in);
		return NULL;
	}
	v->name = name;
	v->rank = -1;
	v->def = v->last_use = SIZE_MAX;
	return v;
}

#define SUM_TERMS 8

/* Reads a sum of at most SUM_TERMS symbols and numbers, "past_sequence_length + sequence_length",
 * as exporters name sizes that follow from others. false: it is another name. */
static bool declared_sum(infer *in, const char *text, bool input, sym_int *ret)
{
	sym_int sum = sym_const(0);
	size_t terms = 0;
	char *rest;

	for (const char *at = text;; terms++) {
		at += strspn(at, " ");
		const size_t n = strcspn(at, " +");
		const char *name = mem_arena_dup_n(in->arena, at, n), *end = at + n;

		end += strspn(end, " ");
		if (!name || n == 0 || terms == SUM_TERMS || (*end && *end != '+') ||
		    strpbrk(name, "-*/()"))
			return false;
		const long long v = strtoll(name, &rest, 10);
		if (*rest && !onnx_symbol_named(name))
			return false;
		if (*rest && !input && !sym_symbol_used(in->nums, name))
			return false;
		sum = sym_add(in->nums, sum, *rest ? sym_symbol(in->nums, name) : sym_const(v));
		if (!*end) {
			*ret = sum;
			return terms > 0;
		}
		at = end + 1;
	}
}

/* Returns whether the user gives that symbol a size. */
static bool symbol_is_given(const infer *in, const char *symbol)
{
	for (size_t i = 0; i < in->config->ndims; i++)
		if (strcmp(in->config->dims[i].symbol, symbol) == 0)
			return true;
	return false;
}

static sym_int declared_dim(infer *in, const char *name, size_t axis, const onnx_dim *d, bool input)
{
	sym_int sum;

	if (d->value >= 0)
		return sym_const(d->value);
	if (onnx_symbol_named(d->symbol) && !symbol_is_given(in, d->symbol) &&
	    declared_sum(in, d->symbol, input, &sum))
		return sum;
	if (onnx_symbol_named(d->symbol) && (input || sym_symbol_used(in->nums, d->symbol)))
		return sym_symbol(in->nums, d->symbol);
	const char *own = mem_arena_fmt(in->arena, "%s.%zu", name ? name : "", axis);
	if (!own)
		return sym_unknown(in->nums, "out of memory");
	return input ? sym_symbol(in->nums, own)
		     : sym_unbacked(
			   in->nums,
			   mem_arena_fmt(in->arena, "a size that the model leaves open (%s)", own));
}

void infer_declare_tensor(infer *in, val *v, const onnx_tensor_type *t, bool input)
{
	v->kind = VAL_TENSOR;
	v->dtype = t->dtype;
	if (!t->shape || t->shape->rank > COST_RANK_MAX) {
		v->why = "the model does not state its shape";
		return;
	}
	v->dims = mem_arena_array(in->arena, t->shape->rank, sizeof *v->dims);
	if (!v->dims)
		return;
	v->rank = (int)t->shape->rank;
	v->declared = input ? t->shape->dims : NULL;
	for (size_t i = 0; i < t->shape->rank; i++)
		v->dims[i] = declared_dim(in, v->name, i, &t->shape->dims[i], input);
}

val *infer_declared(infer *in, const char *name, const onnx_type *type, bool input)
{
	val *v = infer_value(in, name);

	if (!v)
		return NULL;
	v->kind = VAL_OTHER;
	v->why = "the model does not state its type";
	if (!type)
		return v;
	if (type->tensor)
		infer_declare_tensor(in, v, type->tensor, input);
	else if (type->sparse)
		infer_declare_tensor(in, v, type->sparse, input);
	else if (type->sequence || type->optional) {
		const onnx_element_type *e = type->sequence ? type->sequence : type->optional;
		v->kind = type->sequence ? VAL_SEQUENCE : VAL_OPTIONAL;
		v->why = type->sequence ? "it is a sequence" : "it is optional";
		v->item = infer_declared(in, name, e->value, false);
	}
	return v;
}

/* A tensor that the file holds, of these sizes. */
static val *stored(infer *in, const onnx_tensor *t, size_t rank, const int64_t *dims)
{
	val *v = infer_value(in, t->name);

	if (!v)
		return NULL;
	v->kind = VAL_TENSOR;
	v->dtype = t->dtype;
	v->constant = true;
	if (rank > COST_RANK_MAX) {
		v->why = "it has more dimensions than any operator takes";
		return v;
	}
	v->dims = mem_arena_array(in->arena, rank, sizeof *v->dims);
	v->rank = v->dims ? (int)rank : -1;
	for (int i = 0; i < v->rank; i++)
		v->dims[i] = sym_const(dims[i]);
	return v;
}

val *infer_constant(infer *in, const onnx_tensor *t)
{
	val *v = stored(in, t, t->rank, t->dims);

	if (!v)
		return NULL;
	v->tensor = t;
	if (v->rank < 0)
		return v;
	v->reals = t->reals;
	if (t->ints && (v->ints = mem_arena_array(in->arena, (size_t)t->elements, sizeof(sym_int))))
		for (uint64_t i = 0; i < t->elements; i++)
			v->ints[i] = sym_const(t->ints[i]);
	if (v->reals || v->ints)
		v->n = (size_t)t->elements;
	return v;
}

/* --- names --- */

val *infer_find(const scope *s, const char *name)
{
	for (; s; s = s->parent) {
		size_t i = name_index_find(&s->names, name);
		if (i != NAME_INDEX_NONE && s->vals[i])
			return s->vals[i];
	}
	return NULL;
}

const cost_shape *infer_observed(const op *o, size_t i)
{
	const char *name = i < o->node->noutputs ? o->node->outputs[i] : "";
	size_t at =
	    o->around->known && *name ? name_index_find(&o->around->names, name) : NAME_INDEX_NONE;

	return at == NAME_INDEX_NONE ? NULL : o->around->known[at];
}

void scope_put(infer *in, scope *s, const char *name, val *v, const char *what)
{
	size_t i;

	if (!v || !name || !*name)
		return;
	i = name_index_intern(&s->names, name);
	if (s->vals[i])
		INFER_FAIL(in, E_FORMAT, "the model makes '%s' twice (%s)", name, what);
	s->vals[i] = v;
}

bool scope_init(infer *in, scope *s, const scope *parent, size_t others, const onnx_node *nodes,
		size_t n)
{
	size_t most = others;

	for (size_t i = 0; i < n; i++)
		most += nodes[i].noutputs;
	*s = (scope){.parent = parent};
	s->vals = mem_arena_array(in->arena, most, sizeof *s->vals);
	s->declared = mem_arena_array(in->arena, most, sizeof *s->declared);
	if (name_index_init(&s->names, in->arena, most) && s->vals && s->declared)
		return true;
	return infer_fail_memory(in);
}

bool scope_init_graph(infer *in, scope *s, const scope *parent, const onnx_graph *g)
{
	if (!scope_init(in, s, parent, g->ninitializers + g->nsparse + g->ninputs, g->nodes,
			g->nnodes))
		return false;
	for (size_t i = 0; i < g->ninitializers + g->nsparse; i++) {
		const onnx_sparse *x =
		    i < g->ninitializers ? NULL : &g->sparse[i - g->ninitializers];
		val *v = NULL;
		if (!x)
			v = infer_constant(in, &g->initializers[i]);
		else if (x->values && x->rank <= COST_RANK_MAX)
			v = stored(in, x->values, x->rank, x->dims);
		if (!v)
			continue;
		v->initializer = true;
		/* The values that are stored are counted: zeros are not trained. */
		v->tensor = x ? x->values : v->tensor;
		scope_put(in, s, v->name, v, "as initializers");
	}
	return infer_ok(in);
}

void scope_declare(infer *in, scope *s, const onnx_value *values, size_t n)
{
	for (size_t i = 0; i < n && in->trust_declared; i++) {
		if (!values[i].name || !values[i].type || !values[i].type->tensor)
			continue;
		size_t at = name_index_find(&s->names, values[i].name);
		if (at != NAME_INDEX_NONE && !s->declared[at])
			s->declared[at] = values[i].type->tensor;
	}
}

void scope_name_outputs(infer *in, scope *s, const onnx_node *nodes, size_t n)
{
	for (size_t i = 0; i < n && infer_ok(in); i++)
		for (size_t k = 0; k < nodes[i].noutputs; k++) {
			const char *name = nodes[i].outputs[k];
			if (!name || !*name)
				continue;
			size_t before = s->names.n, at = name_index_intern(&s->names, name);
			if (at < before)
				INFER_FAIL(in, E_FORMAT, "the model makes '%s' twice", name);
		}
}
