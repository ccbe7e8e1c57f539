/* declared.c - the graph's inputs and outputs as a model file declares them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/summary.h"
#include "base/err.h"

#include <string.h>

bool onnx_symbol_named(const char *symbol)
{
	static const char *const none[] = {"none", "null", "nan", "unk", "unknown"};
	bool letter = false;

	for (const char *p = symbol; p && *p; p++)
		letter |= (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
			  (unsigned char)*p >= 0x80;
	for (size_t i = 0; letter && i < sizeof none / sizeof *none; i++)
		letter = strcasecmp(symbol, none[i]) != 0;
	return letter;
}

static void declared_tensor_read(const onnx_tensor_type *t, mem_arena *a, model_value *ret)
{
	const size_t rank = t->shape ? t->shape->rank : 0;
	int64_t *dims = mem_arena_array(a, rank, sizeof *dims);
	const char **symbols = mem_arena_array(a, rank, sizeof *symbols);

	ret->dtype = t->dtype;
	if (!t->shape || !dims || !symbols)
		return;
	for (size_t d = 0; d < rank; d++) {
		dims[d] = t->shape->dims[d].value >= 0 ? t->shape->dims[d].value : -1;
		if (dims[d] < 0)
			symbols[d] = mem_arena_dup(a, t->shape->dims[d].symbol);
	}
	ret->rank = (int)rank;
	ret->dims = dims;
	ret->symbols = symbols;
}

static void declared_value_read(const onnx_value *v, mem_arena *a, model_value *ret)
{
	const onnx_type *t = v->type;

	*ret = (model_value){.name = mem_arena_dup(a, v->name ? v->name : ""), .rank = -1};
	ret->kind = !t		  ? ""
		    : t->tensor	  ? "tensor"
		    : t->sparse	  ? "sparse tensor"
		    : t->sequence ? "sequence"
		    : t->optional ? "optional"
		    : t->map	  ? "map"
				  : "";
	if (t && (t->tensor || t->sparse))
		declared_tensor_read(t->tensor ? t->tensor : t->sparse, a, ret);
}

/* Marks the inputs that recurrent layers take in their usual layout, 0: sequence and initial
 * states. https://onnx.ai/onnx/operators/onnx__LSTM.html */
static void time_major_mark(const onnx_graph *g, model_value *in, size_t n, mem_arena *a)
{
	static const size_t slots[] = {0, 5, 6};
	name_index names;

	if (!name_index_init(&names, a, n))
		return;
	for (size_t v = 0; v < n && in[v].name; v++)
		name_index_intern(&names, in[v].name);
	/* Two inputs of one name have one place: such a file is refused elsewhere. */
	for (size_t i = 0; i < g->nnodes && names.n == n; i++) {
		const onnx_node *node = &g->nodes[i];
		const char *op = node->op ? node->op : "";

		if ((strcmp(op, "LSTM") != 0 && strcmp(op, "GRU") != 0 && strcmp(op, "RNN") != 0) ||
		    onnx_attribute_int(node, "layout", 0) != 0)
			continue;
		for (size_t k = 0; k < sizeof slots / sizeof *slots && slots[k] < node->ninputs;
		     k++) {
			const char *name = node->inputs[slots[k]];
			const size_t v = name ? name_index_find(&names, name) : NAME_INDEX_NONE;

			if (v != NAME_INDEX_NONE)
				in[v].time_major |= in[v].rank == 3;
		}
	}
}

dck_status model_values_read(const onnx_graph *g, mem_arena *a, model_values *ret, dck_err *err)
{
	model_value *in = mem_arena_array(a, g->ninputs, sizeof *in);
	model_value *out = mem_arena_array(a, g->noutputs, sizeof *out);
	model_values v = {.in = in, .out = out};
	name_index given;

	DCK_NEED(in && out && name_index_init(&given, a, g->ninitializers + g->nsparse), err,
		 "to read the model's inputs");
	onnx_initializer_names(g, &given);
	for (size_t i = 0; i < g->ninputs; i++)
		if (!g->inputs[i].name ||
		    name_index_find(&given, g->inputs[i].name) == NAME_INDEX_NONE)
			declared_value_read(&g->inputs[i], a, &in[v.nin++]);
	time_major_mark(g, in, v.nin, a);
	for (size_t i = 0; i < g->noutputs; i++)
		declared_value_read(&g->outputs[i], a, &out[v.nout++]);
	DCK_NEED(!mem_arena_failed(a), err, "to read the model's inputs");
	*ret = v;
	return DCK_OK;
}
