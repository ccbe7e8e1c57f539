/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/function_weights.h"
#include "base/err.h"
#include "base/mem.h"

dck_status function_weights_init(function_weights *s, const call_tree *c, dck_err *err)
{
	const size_t n = (size_t)c->nfunctions + 1, bytes = c->t->ncolumns * sizeof(double);

	*s = (function_weights){.self = mem_zalloc(n, bytes),
				.total = mem_zalloc(n, bytes),
				.outer = mem_zalloc(n, bytes),
				.paths = mem_zalloc(n, sizeof *s->paths),
				.n = n};
	if (s->self && s->total && s->outer && s->paths)
		return DCK_OK;
	function_weights_done(s);
	return ERR_NO_MEMORY(err, "for the functions of call paths");
}

void function_weights_done(function_weights *s)
{
	mem_free(s->self);
	mem_free(s->total);
	mem_free(s->outer);
	mem_free(s->paths);
	*s = (function_weights){0};
}

void function_weights_add(function_weights *s, const call_tree *c, uint32_t function, uint32_t node)
{
	const size_t n = c->t->ncolumns, to = function * n, from = node * n;

	s->paths[function]++;
	for (size_t k = 0; k < n; k++) {
		s->self[to + k] += c->t->weights[from + k];
		if (c->recursive[node])
			continue;
		s->total[to + k] += c->total[from + k];
		s->outer[to + k] += c->t->weights[from + k];
	}
}

void function_weights_all(function_weights *s, const call_tree *c)
{
	for (uint32_t n = 0; n < c->t->nnodes; n++)
		function_weights_add(s, c, call_tree_function(c, n), n);
}

void function_weights_callers(function_weights *s, const call_tree *c, const bool *chosen)
{
	for (uint32_t n = 0; n < c->t->nnodes; n++) {
		const uint32_t parent = c->t->nodes[n].parent;

		if (chosen[call_tree_function(c, n)])
			function_weights_add(
			    s, c,
			    parent == DCK_TREE_ROOT ? c->nfunctions : call_tree_function(c, parent),
			    n);
	}
}

void function_weights_callees(function_weights *s, const call_tree *c, const bool *chosen)
{
	const size_t columns = c->t->ncolumns;

	for (uint32_t n = 0; n < c->t->nnodes; n++) {
		const uint32_t parent = c->t->nodes[n].parent;

		if (parent != DCK_TREE_ROOT && chosen[call_tree_function(c, parent)])
			function_weights_add(s, c, call_tree_function(c, n), n);
		if (!chosen[call_tree_function(c, n)])
			continue;
		s->paths[c->nfunctions]++;
		for (size_t k = 0; k < columns; k++) {
			const double own = c->t->weights[n * columns + k];

			s->self[c->nfunctions * columns + k] += own;
			s->total[c->nfunctions * columns + k] += own;
		}
	}
}
