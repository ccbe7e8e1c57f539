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
