/* cost_model.c - the cost of a whole model: gives the main graph's inputs the sizes that the caller
 * fixes, walks the nodes (infer.c), and adds up their costs (cost_evaluate.c).
 *
 * Invariant: the inference does not depend on the operators. This file passes it the families of
 * rules, so that rules may call the inference for the bodies of their operators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"

#include <string.h>

static dck_status input_shape(infer *in, val *v, const cost_shape *want)
{
	if (v->kind != VAL_TENSOR)
		DCK_FAIL(in->err, E_ARG, "the input '%s' is not a tensor and has no shape",
			 v->name);
	if (v->rank >= 0 && v->rank != want->rank)
		DCK_FAIL(in->err, E_ARG, "the input '%s' has %d dimensions, not %d", v->name,
			 v->rank, want->rank);
	if (v->rank < 0) {
		v->dims = mem_arena_array(in->arena, (size_t)want->rank, sizeof *v->dims);
		if (!v->dims)
			DCK_FAIL(in->err, E_NOMEM, "no memory for the shape of '%s'", v->name);
		v->rank = want->rank;
		v->why = NULL;
		for (int i = 0; i < want->rank; i++)
			v->dims[i] =
			    sym_symbol(in->nums, mem_arena_fmt(in->arena, "%s.%d", v->name, i));
	}
	for (int i = 0; i < want->rank; i++)
		if (want->dims[i] >= 0)
			v->dims[i] = sym_const(want->dims[i]);
	return DCK_OK;
}

/* A symbol that --shape or --batch give a size has it everywhere in the model. So it is fixed
 * before any shape is read. */
static void fix_symbols(infer *in, const onnx_graph *g)
{
	const cost_config *c = in->config;
	name_index given;

	for (size_t i = 0; i < c->ndims; i++)
		sym_bind(in->nums, c->dims[i].symbol, c->dims[i].value);
	if (!name_index_init(&given, in->arena, c->ninputs))
		return;
	for (size_t k = 0; k < c->ninputs; k++)
		name_index_intern(&given, c->inputs[k].name ? c->inputs[k].name : "");
	for (size_t i = 0; i < g->ninputs; i++) {
		const onnx_type *type = g->inputs[i].type;
		const onnx_shape *s = type && type->tensor ? type->tensor->shape : NULL;
		if (!s || !g->inputs[i].name)
			continue;
		const size_t k = name_index_find(&given, g->inputs[i].name);
		const cost_shape *of = k != NAME_INDEX_NONE ? &c->inputs[k] : NULL;
		for (size_t j = 0; of && j < s->rank && j < (size_t)of->rank; j++)
			if (s->dims[j].value < 0 && onnx_symbol_named(s->dims[j].symbol) &&
			    of->dims[j] >= 0)
				sym_bind(in->nums, s->dims[j].symbol, of->dims[j]);
		if (c->batch > 0 && s->rank && s->dims[0].value < 0 &&
		    onnx_symbol_named(s->dims[0].symbol))
			sym_bind(in->nums, s->dims[0].symbol, c->batch);
	}
}

/* Contents that the caller gives are propagated like the contents of a small constant. */
static dck_status input_content(infer *in, const scope *s, const cost_content *c)
{
	val *v = c->name ? infer_find(s, c->name) : NULL;
	const size_t n = v ? op_small(v) : 0;

	if (!v || !v->input)
		DCK_FAIL(in->err, E_ARG, "the model has no input '%s'", c->name);
	if (n == 0 || n == SIZE_MAX || (c->n != 1 && c->n != n))
		return DCK_OK;
	v->ints = c->ints ? mem_arena_array(in->arena, n, sizeof *v->ints) : NULL;
	v->reals = c->reals ? mem_arena_array(in->arena, n, sizeof *v->reals) : NULL;
	if (!v->ints && !v->reals)
		DCK_FAIL(in->err, E_NOMEM, "no memory for the contents of '%s'", v->name);
	for (size_t i = 0; i < n; i++) {
		const size_t from = c->n == 1 ? 0 : i;

		if (v->ints)
			v->ints[i] = sym_const(c->ints[from]);
		else
			v->reals[i] = c->reals[from];
	}
	v->n = n;
	v->given = true;
	return DCK_OK;
}

static dck_status main_inputs(infer *in, scope *s, const onnx_graph *g)
{
	cost_result *r = in->result;
	const cost_config *c = in->config;

	r->inputs = mem_arena_array(in->arena, g->ninputs, sizeof *r->inputs);
	fix_symbols(in, g);
	for (size_t i = 0; i < g->ninputs && infer_ok(in) && r->inputs; i++) {
		const char *name = g->inputs[i].name;
		size_t at = name && *name ? name_index_find(&s->names, name) : NAME_INDEX_NONE;
		if (!name || !*name || (at != NAME_INDEX_NONE && s->vals[at]))
			continue; /* an initializer that a caller might replace; deepclock never
				     does */
		val *v = infer_declared(in, name, g->inputs[i].type, true);
		if (!v)
			break;
		v->input = true;
		if (c->batch > 0 && v->rank > 0 && !sym_known(v->dims[0]))
			v->dims[0] = sym_const(c->batch);
		if (c->watch)
			DCK_TRY(c->watch->input(c->watch->self, in->nums, v, in->err));
		scope_put(in, s, name, v, "as inputs");
		r->inputs[r->ninputs++] = v;
	}
	for (size_t i = 0; i < c->ninputs; i++) {
		val *v = c->inputs[i].name ? infer_find(s, c->inputs[i].name) : NULL;
		if (!v || !v->input)
			DCK_FAIL(in->err, E_ARG, "the model has no input '%s'", c->inputs[i].name);
		DCK_TRY(input_shape(in, v, &c->inputs[i]));
		v->has_seen = c->inputs[i].has_number;
		v->seen = c->inputs[i].number;
	}
	for (size_t i = 0; i < c->ncontents; i++)
		DCK_TRY(input_content(in, s, &c->contents[i]));
	for (size_t i = 0; i < c->ndims; i++)
		if (!sym_symbol_used(in->nums, c->dims[i].symbol))
			DCK_FAIL(in->err, E_ARG, "no input of the model has an open dimension '%s'",
				 c->dims[i].symbol);
	return in->status;
}

static void bind_known(infer *in, scope *s)
{
	const cost_config *c = in->config;

	if (!c->nknown)
		return;
	s->known = mem_arena_array(in->arena, s->names.n, sizeof *s->known);
	for (size_t i = 0; s->known && i < c->nknown; i++) {
		size_t at = c->known[i].name ? name_index_find(&s->names, c->known[i].name)
					     : NAME_INDEX_NONE;
		if (at != NAME_INDEX_NONE)
			s->known[at] = &c->known[i];
	}
}

static void cost_keep_values(infer *in, const scope *s, const onnx_graph *g)
{
	cost_result *r = in->result;

	r->values = mem_arena_array(in->arena, s->names.n, sizeof *r->values);
	r->outputs = mem_arena_array(in->arena, g->noutputs, sizeof *r->outputs);
	if (!r->values || !r->outputs)
		return;
	for (size_t i = 0; i < s->names.n; i++)
		if (s->vals[i] && !s->vals[i]->initializer)
			r->values[r->nvalues++] = s->vals[i];
	for (size_t i = 0; i < g->noutputs; i++) {
		val *v = g->outputs[i].name ? infer_find(s, g->outputs[i].name) : NULL;
		if (v)
			r->outputs[r->noutputs++] = v;
	}
}

static dck_status inference_run(infer *in)
{
	const onnx_graph *g = in->model->graph;
	scope s;
	place here = {&s, NULL, NULL, SIZE_MAX, sym_const(1), sym_const(1), sym_const(1)};

	if (!infer_functions(in) || !infer_reserve(in, g->nodes, g->nnodes) ||
	    !scope_init_graph(in, &s, NULL, g))
		return in->status;
	DCK_TRY(main_inputs(in, &s, g));
	scope_name_outputs(in, &s, g->nodes, g->nnodes);
	scope_declare(in, &s, g->values, g->nvalues);
	scope_declare(in, &s, g->outputs, g->noutputs);
	bind_known(in, &s);
	infer_nodes(in, g->nodes, g->nnodes, &here);
	if (infer_ok(in)) {
		cost_keep_values(in, &s, g);
		price_total(in);
	}
	return in->status;
}

dck_status cost_model(const onnx_model *m, const cost_config *c, mem_arena *a, cost_result **ret,
		      dck_err *err)
{
	static const cost_config plain = {0};
	infer *in = mem_arena_alloc(a, sizeof *in);

	if (!in || !(in->nums = sym_table_new(a)) ||
	    !(in->result = mem_arena_alloc(a, sizeof *in->result)))
		DCK_FAIL(err, E_NOMEM, "no memory to count the model's operations");
	in->model = m;
	in->config = c ? c : &plain;
	in->families = op_families;
	in->arena = a;
	in->err = err;
	in->opset = onnx_opset_version(m);
	in->result->nums = in->nums;
	/* The file's own statements of inner shapes are right only for the sizes that the file
	 * states. */
	in->trust_declared = !in->config->ninputs && !in->config->batch && !in->config->watch;
	DCK_TRY(inference_run(in));
	if (mem_arena_failed(a)) {
		infer_fail_memory(in);
		return in->status;
	}
	in->result->ops = in->ops;
	in->result->nops = in->nops;
	*ret = in->result;
	return DCK_OK;
}
