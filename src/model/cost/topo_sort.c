/* topo_sort.c - the order in which a graph's nodes can run, for files whose nodes are not in
 * order.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"

#include <string.h>

typedef struct edges {
	const scope *scope;
	const size_t
	    *producer; /* by number: the node that makes it; SIZE_MAX: no node of this list does */
	size_t node, n;
	size_t *from, *to; /* NULL: the edges are only counted */
} edges;

static void edges_add(edges *e, const char *name)
{
	size_t at = name && *name ? name_index_find(&e->scope->names, name) : NAME_INDEX_NONE;

	if (at == NAME_INDEX_NONE || e->producer[at] == SIZE_MAX)
		return;
	if (e->from) {
		e->from[e->n] = e->producer[at];
		e->to[e->n] = e->node;
	}
	e->n++;
}

static void edges_of(edges *e, const onnx_node *node, int depth)
{
	for (size_t i = 0; i < node->ninputs; i++)
		edges_add(e, node->inputs[i]);
	for (size_t i = 0; i < node->nattributes && depth < COST_DEPTH_MAX; i++) {
		const onnx_attribute *a = &node->attributes[i];
		for (size_t k = 0; k < (a->g ? 1 : 0) + a->ngraphs; k++) {
			const onnx_graph *g =
			    a->g && k == 0 ? a->g : &a->graphs[k - (a->g ? 1 : 0)];
			for (size_t j = 0; j < g->nnodes; j++)
				edges_of(e, &g->nodes[j], depth + 1);
		}
	}
}

/* Kahn's algorithm (Communications of the ACM 5, 1962). */
size_t *topo_sort(infer *in, const scope *s, const onnx_node *nodes, size_t n)
{
	size_t *producer = mem_arena_array(in->arena, s->names.n, sizeof *producer);
	size_t *order = mem_arena_array(in->arena, n, sizeof *order);
	size_t *waits = mem_arena_array(in->arena, n, sizeof *waits);
	size_t *first = mem_arena_array(in->arena, n, sizeof *first), *next, done = 0;
	edges e = {.scope = s, .producer = producer};

	if (!producer || !order || !waits || !first) {
		infer_fail_memory(in);
		return NULL;
	}
	memset(producer, 0xff, s->names.n * sizeof *producer);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < nodes[i].noutputs; k++) {
			const char *name = nodes[i].outputs[k];
			if (name && *name)
				producer[name_index_find(&s->names, name)] = i;
		}
	for (size_t i = 0; i < n; i++)
		edges_of(&e, &nodes[i], 0);
	e.from = mem_arena_array(in->arena, e.n, sizeof *e.from);
	e.to = mem_arena_array(in->arena, e.n, sizeof *e.to);
	next = mem_arena_array(in->arena, e.n, sizeof *next);
	if (!e.from || !e.to || !next) {
		infer_fail_memory(in);
		return NULL;
	}
	e.n = 0;
	for (e.node = 0; e.node < n; e.node++)
		edges_of(&e, &nodes[e.node], 0);
	for (size_t i = e.n; i-- > 0;) {
		next[i] = first[e.from[i]]; /* index of the next edge, plus 1; 0: none */
		first[e.from[i]] = i + 1;
		waits[e.to[i]]++;
	}
	for (size_t i = 0; i < n; i++)
		if (!waits[i])
			order[done++] = i;
	for (size_t at = 0; at < done; at++)
		for (size_t k = first[order[at]]; k; k = next[k - 1])
			if (--waits[e.to[k - 1]] == 0)
				order[done++] = e.to[k - 1];
	if (done == n)
		return order;
	for (size_t i = 0; i < n; i++)
		if (waits[i]) {
			INFER_FAIL(in, E_FORMAT,
				   "the model's operators wait for each other: "
				   "'%s' (%s) needs its own result",
				   nodes[i].name ? nodes[i].name : "?",
				   nodes[i].op ? nodes[i].op : "?");
			break;
		}
	return NULL;
}
