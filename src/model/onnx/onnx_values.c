/* SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/onnx.h"
#include "base/err.h"

void onnx_initializer_names(const onnx_graph *g, name_index *to)
{
	for (size_t i = 0; i < g->ninitializers; i++)
		if (g->initializers[i].name)
			name_index_intern(to, g->initializers[i].name);
	for (size_t i = 0; i < g->nsparse; i++)
		if (g->sparse[i].values && g->sparse[i].values->name)
			name_index_intern(to, g->sparse[i].values->name);
}

dck_status onnx_value_names(const onnx_graph *g, mem_arena *a, const char *const **ret,
			    size_t *ret_n, dck_err *err)
{
	size_t most = g->ninitializers + g->nsparse + g->ninputs + g->noutputs, n = 0;
	name_index seen;

	for (size_t i = 0; i < g->nnodes; i++)
		most += g->nodes[i].noutputs;
	const char **list = mem_arena_array(a, most, sizeof *list);
	DCK_NEED(list && name_index_init(&seen, a, most), err,
		 "for the names of the model's values");
	onnx_initializer_names(g, &seen);
	for (size_t i = 0; i < g->ninputs; i++)
		if (g->inputs[i].name)
			name_index_intern(&seen, g->inputs[i].name);
	for (size_t i = 0; i < g->noutputs; i++)
		if (g->outputs[i].name)
			name_index_intern(&seen, g->outputs[i].name);
	for (size_t i = 0; i < g->nnodes; i++)
		for (size_t k = 0; k < g->nodes[i].noutputs; k++) {
			const char *name = g->nodes[i].outputs[k];
			if (!name || !*name || name_index_find(&seen, name) != NAME_INDEX_NONE)
				continue;
			name_index_intern(&seen, name);
			list[n++] = name;
		}
	*ret = list;
	*ret_n = n;
	return DCK_OK;
}

void onnx_weights_each(const onnx_graph *g, void (*take)(void *self, const onnx_tensor *t),
		       void *self)
{
	for (size_t i = 0; i < g->ninitializers; i++)
		take(self, &g->initializers[i]);
	for (size_t i = 0; i < g->nsparse; i++)
		take(self, g->sparse[i].values);
	for (size_t i = 0; i < g->nnodes; i++)
		for (size_t k = 0; k < g->nodes[i].nattributes; k++) {
			const onnx_attribute *a = &g->nodes[i].attributes[k];

			take(self, a->t);
			if (a->sparse)
				take(self, a->sparse->values);
			if (a->g)
				onnx_weights_each(a->g, take, self);
			for (size_t j = 0; j < a->ngraphs; j++)
				onnx_weights_each(&a->graphs[j], take, self);
		}
}

const char *onnx_external(const onnx_tensor *t, const char *key)
{
	for (size_t i = 0; t->location == 1 && i < t->nexternal; i++)
		if (t->external[i].key && strcmp(t->external[i].key, key) == 0)
			return t->external[i].value;
	return NULL;
}
