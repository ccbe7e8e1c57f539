/* inline.c - expands the calls of model-local functions: the graph that def-use chains follow.
 *
 * Each call is replaced by copies of the function's nodes. A formal input or output becomes the
 * call's argument, every other name of the body gets a prefix of that call, and an attribute that
 * refers to the function's gets the value of the call or its default. Bodies of control operators
 * are copied with them. What would exceed the limits, and a function that calls itself, remains a
 * call.
 *
 * Source: https://github.com/onnx/onnx/blob/main/docs/IR.md#functions
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/def_use.h"

#include <string.h>

#define INLINE_DEPTH 16
#define INLINE_NODES 200000 /* of all calls together */
/* Comparisons of names; a file that needs more is not a network. */
#define INLINE_STEPS 50000000

typedef struct inline_call {
	const struct inline_call *outer; /* NULL: in the main graph */
	const onnx_function *function;
	const onnx_node *node; /* its names are those of the result */
	const char *prefix;
	int depth;
} inline_call;

typedef struct inliner {
	const onnx_model *model;
	mem_arena *arena;
	size_t calls, nodes, steps;
} inliner;

typedef struct inline_list {
	onnx_node *node;
	size_t n, cap;
} inline_list;

static const char *inline_domain(const char *domain)
{
	return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static bool inline_same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Returns the function that the node calls; NULL: none, or it is not expanded. */
static const onnx_function *inline_find(inliner *x, const inline_call *c, const onnx_node *n)
{
	const onnx_model *m = x->model;
	const onnx_function *found = NULL;

	x->steps += m->nfunctions;
	for (size_t i = 0; n->op && i < m->nfunctions && !found && x->steps < INLINE_STEPS; i++) {
		const onnx_function *f = &m->functions[i];

		if (inline_same(f->name, n->op) && inline_same(f->overload, n->overload) &&
		    strcmp(inline_domain(f->domain), inline_domain(n->domain)) == 0)
			found = f;
	}
	if (!found || x->nodes + found->nnodes > INLINE_NODES || (c && c->depth >= INLINE_DEPTH))
		return NULL;
	for (; c; c = c->outer)
		if (c->function == found)
			return NULL;
	return found;
}

/* Returns the name in the result of a name inside the call. */
static const char *inline_name(inliner *x, const inline_call *c, const char *name)
{
	if (!c || !name || !*name)
		return name;
	x->steps += c->function->ninputs + c->function->noutputs;
	if (x->steps >= INLINE_STEPS)
		return mem_arena_fmt(x->arena, "%s%s", c->prefix, name);
	for (size_t i = 0; i < c->function->ninputs; i++)
		if (inline_same(c->function->inputs[i], name))
			return i < c->node->ninputs ? c->node->inputs[i] : "";
	for (size_t i = 0; i < c->function->noutputs && i < c->node->noutputs; i++)
		if (inline_same(c->function->outputs[i], name) && c->node->outputs[i] &&
		    *c->node->outputs[i])
			return c->node->outputs[i];
	return mem_arena_fmt(x->arena, "%s%s", c->prefix, name);
}

static const char **inline_names(inliner *x, const inline_call *c, const char **from, size_t n)
{
	const char **to = mem_arena_array(x->arena, n, sizeof *to);

	for (size_t i = 0; to && i < n; i++)
		to[i] = inline_name(x, c, from[i]);
	return to;
}

static onnx_value *inline_values(inliner *x, const inline_call *c, const onnx_value *from, size_t n)
{
	onnx_value *to = mem_arena_array(x->arena, n, sizeof *to);

	for (size_t i = 0; to && i < n; i++)
		to[i] = (onnx_value){inline_name(x, c, from[i].name), from[i].type, NULL};
	return to;
}

static bool inline_nodes(inliner *x, const inline_call *c, const onnx_node *from, size_t n,
			 inline_list *to);

/* Copies the graph, with the names that it has in the result. */
static bool inline_graph(inliner *x, const inline_call *c, onnx_graph *g)
{
	inline_list nodes = {0};
	onnx_tensor *t = mem_arena_array(x->arena, g->ninitializers, sizeof *t);

	if (!t || !inline_nodes(x, c, g->nodes, g->nnodes, &nodes))
		return false;
	for (size_t i = 0; i < g->ninitializers; i++) {
		t[i] = g->initializers[i];
		t[i].name = inline_name(x, c, t[i].name);
	}
	g->initializers = t;
	g->nodes = nodes.node;
	g->nnodes = nodes.n;
	g->inputs = inline_values(x, c, g->inputs, g->ninputs);
	g->outputs = inline_values(x, c, g->outputs, g->noutputs);
	g->values = inline_values(x, c, g->values, g->nvalues);
	return g->inputs && g->outputs && g->values;
}

/* Gives an attribute the value that it refers to. False: it has none. */
static bool inline_refer(const inline_call *c, onnx_attribute *a)
{
	const onnx_attribute *of = c && a->ref ? onnx_find_attribute(c->node, a->ref) : NULL;
	const char *name = a->name;

	for (size_t i = 0; c && a->ref && !of && i < c->function->ndefaults; i++)
		if (inline_same(c->function->defaults[i].name, a->ref))
			of = &c->function->defaults[i];
	if (of)
		*a = *of;
	a->name = name;
	return of || !a->ref || !*a->ref;
}

static bool inline_attributes(inliner *x, const inline_call *c, onnx_node *n)
{
	onnx_attribute *to = mem_arena_array(x->arena, n->nattributes, sizeof *to);
	size_t kept = 0;

	for (size_t i = 0; to && i < n->nattributes; i++) {
		onnx_attribute *a = &to[kept];

		*a = n->attributes[i];
		if (!inline_refer(c, a))
			continue;
		kept++;
		if (a->g) {
			onnx_graph *g = mem_arena_alloc(x->arena, sizeof *g);

			if (!g)
				return false;
			*g = *a->g;
			a->g = g;
			if (!inline_graph(x, c, g))
				return false;
		}
		onnx_graph *graphs = mem_arena_array(x->arena, a->ngraphs, sizeof *graphs);

		if (!graphs)
			return false;
		for (size_t k = 0; k < a->ngraphs; k++) {
			graphs[k] = a->graphs[k];
			if (!inline_graph(x, c, &graphs[k]))
				return false;
		}
		a->graphs = graphs;
	}
	n->attributes = to;
	n->nattributes = kept;
	return to != NULL;
}

static onnx_node *inline_push(inliner *x, inline_list *to)
{
	if (to->n == to->cap) {
		const size_t cap = to->cap ? 2 * to->cap : 64;
		onnx_node *more = mem_arena_array(x->arena, cap, sizeof *more);

		if (!more)
			return NULL;
		if (to->n)
			memcpy(more, to->node, to->n * sizeof *more);
		to->node = more;
		to->cap = cap;
	}
	return &to->node[to->n++];
}

static bool inline_nodes(inliner *x, const inline_call *c, const onnx_node *from, size_t n,
			 inline_list *to)
{
	for (size_t i = 0; i < n; i++) {
		onnx_node node = from[i];
		const onnx_function *f = inline_find(x, c, &node);
		onnx_node *kept;

		node.inputs = inline_names(x, c, node.inputs, node.ninputs);
		node.outputs = inline_names(x, c, node.outputs, node.noutputs);
		if (!node.inputs || !node.outputs || !inline_attributes(x, c, &node))
			return false;
		if (f) {
			const inline_call inner = {c, f, &node,
						   mem_arena_fmt(x->arena, "call%zu/", x->calls++),
						   c ? c->depth + 1 : 1};

			x->nodes += f->nnodes;
			if (!inner.prefix || !inline_nodes(x, &inner, f->nodes, f->nnodes, to))
				return false;
			continue;
		}
		kept = inline_push(x, to);
		if (!kept)
			return false;
		*kept = node;
	}
	return true;
}

const onnx_graph *onnx_graph_inline(const onnx_model *m, mem_arena *a)
{
	inliner x = {.model = m, .arena = a};
	onnx_graph *g;

	if (m->nfunctions == 0)
		return m->graph;
	g = mem_arena_alloc(a, sizeof *g);
	if (!g)
		return NULL;
	*g = *m->graph;
	return inline_graph(&x, NULL, g) ? g : NULL;
}
