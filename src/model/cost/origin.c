/* origin.c - the metadata of PyTorch's newer exporter from which origin.h is read:
 *
 *   graph: pkg.torch.export.ExportedProgram.graph_signature =
 *       # inputs
 *       p_conv_weight: PARAMETER target='conv.weight'
 *       b_mean: BUFFER target='mean' persistent=True
 *   value 'val_3': pkg.onnxscript.optimizer.folded_from = ['conv.weight', 'val_2']
 *
 * A parameter that stays in the file has its own name there. One that constant folding replaced
 * occurs only in such a list.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/origin.h"

#include <string.h>

typedef struct origin_name {
	bool parameter, buffer;
	bool counted;  /* of a parameter: a tensor was counted for it */
	size_t tensor; /* 1 + index of the initializer of that name; 0: none */
} origin_name;

typedef struct origin_tensor {
	tensor_origin kind;
	const char *folded_from; /* of MOVED and MIXED */
} origin_tensor;

struct origins {
	const onnx_graph *graph;
	name_index names; /* of parameters, buffers and initializers */
	origin_name *by_name;
	origin_tensor *by_tensor;
	mem_arena *arena;
};

/* Returns a copy of the next text in quotes, as Python writes it, and sets *p behind it; NULL: none
 * before `end`. */
static const char *quoted_next(mem_arena *a, const char **p, const char *end)
{
	const char *from = *p;

	while (from < end && *from != '\'' && *from != '"')
		from++;
	const char *to = from < end ? memchr(from + 1, *from, (size_t)(end - from - 1)) : NULL;
	if (!to)
		return NULL;
	*p = to + 1;
	return mem_arena_fmt(a, "%.*s", (int)(to - from - 1), from + 1);
}

static size_t signature_lines(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Reads the names of parameters and buffers. Returns whether there is a parameter. */
static bool signature_read(origins *o, const char *text)
{
	static const char parameter[] = ": PARAMETER target=", buffer[] = ": BUFFER target=";
	bool any = false;

	for (const char *line = text, *next; line; line = next) {
		const char *end = strchrnul(line, '\n');
		const char *kind = memmem(line, (size_t)(end - line), ": ", 2);

		next = *end ? end + 1 : NULL;
		if (!kind)
			continue;
		const bool is_parameter = strncmp(kind, parameter, sizeof parameter - 1) == 0;
		if (!is_parameter && strncmp(kind, buffer, sizeof buffer - 1) != 0)
			continue;
		const char *name = quoted_next(o->arena, &kind, end);
		if (!name)
			continue;
		origin_name *of = &o->by_name[name_index_intern(&o->names, name)];
		of->parameter |= is_parameter;
		of->buffer |= !is_parameter;
		any |= is_parameter;
	}
	return any;
}

static origin_name *origin_name_find(const origins *o, const char *name)
{
	const size_t id = name ? name_index_find(&o->names, name) : NAME_INDEX_NONE;

	return id == NAME_INDEX_NONE ? NULL : &o->by_name[id];
}

/* The kind of a tensor that was folded from a list of names. */
static tensor_origin folded_kind(const origins *o, const char *list)
{
	const char *end = list + strlen(list), *name;
	size_t all = 0, parameters = 0;

	for (const char *p = list; (name = quoted_next(o->arena, &p, end)); all++) {
		const origin_name *of = origin_name_find(o, name);

		parameters += of && of->parameter;
	}
	return !parameters ? ORIGIN_CONSTANT : all == 1 ? ORIGIN_MOVED : ORIGIN_MIXED;
}

origins *origins_read(const onnx_model *m, mem_arena *a)
{
	const onnx_graph *g = m->graph;

	if (!g->signature)
		return NULL;
	const size_t most = signature_lines(g->signature) + g->ninitializers;
	origins *o = mem_arena_alloc(a, sizeof *o);
	if (!o)
		return NULL;
	*o = (origins){.graph = g, .arena = a};
	o->by_name = mem_arena_array(a, most, sizeof *o->by_name);
	o->by_tensor = mem_arena_array(a, g->ninitializers + 1, sizeof *o->by_tensor);
	if (!name_index_init(&o->names, a, most) || !o->by_name || !o->by_tensor ||
	    !signature_read(o, g->signature) || mem_arena_failed(a))
		return NULL;
	for (size_t i = 0; i < g->ninitializers; i++) {
		const char *name = g->initializers[i].name;

		o->by_tensor[i].kind = ORIGIN_UNKNOWN;
		if (!name)
			continue;
		origin_name *of = &o->by_name[name_index_intern(&o->names, name)];
		of->tensor = i + 1;
		if (of->parameter || of->buffer)
			o->by_tensor[i].kind = of->parameter ? ORIGIN_PARAMETER : ORIGIN_BUFFER;
		of->counted = of->parameter;
	}
	for (size_t i = 0; i < g->nvalues; i++) {
		const char *list = g->values[i].folded_from;
		const origin_name *of = list ? origin_name_find(o, g->values[i].name) : NULL;

		if (of && of->tensor && !of->parameter && !of->buffer)
			o->by_tensor[of->tensor - 1] = (origin_tensor){folded_kind(o, list), list};
	}
	return mem_arena_failed(a) ? NULL : o;
}

tensor_origin origins_find(const origins *o, const onnx_tensor *x)
{
	if (!o)
		return ORIGIN_UNSTATED;
	if (x < o->graph->initializers || x >= o->graph->initializers + o->graph->ninitializers)
		return ORIGIN_UNKNOWN;
	return o->by_tensor[x - o->graph->initializers].kind;
}

tensor_origin origins_take(origins *o, const onnx_tensor *x, bool *ret_counted)
{
	const tensor_origin kind = origins_find(o, x);
	const char *name;

	*ret_counted = false;
	if (kind == ORIGIN_MOVED || kind == ORIGIN_MIXED) {
		const origin_tensor *t = &o->by_tensor[x - o->graph->initializers];
		const char *end = t->folded_from + strlen(t->folded_from);
		*ret_counted = true;
		for (const char *p = t->folded_from; (name = quoted_next(o->arena, &p, end));) {
			origin_name *of = origin_name_find(o, name);

			if (!of || !of->parameter)
				continue;
			*ret_counted &= of->counted;
			of->counted |= kind == ORIGIN_MOVED;
		}
	}
	return kind;
}
