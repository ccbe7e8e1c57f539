/* infer.c - type and shape inference: walks the nodes of a graph in order and calls each operator's
 * rule for the types and shapes of its outputs. The body of a control operator is walked at the
 * operator, a function of the model at each call.
 *
 * Example: Conv(x [N,3,224,224], w [64,3,7,7]) with strides of 2 and pads of 3. infer_node() finds
 * the values x and w in the scope and the row "Conv" in the families, calls the row's shape rule,
 * which sets y to [N,64,112,112], and then cost_evaluate_op(), which calls the row's cost rule.
 *
 * Invariants: when a rule is called, all inputs of its node have been inferred, or are known to
 * have no producer. After it each output has a shape or a reason why it has none. Sizes that the
 * rule leaves open are completed from the model's declarations, or from the shapes of a real run. A
 * node takes one entry in in->ops, also if its body is walked again; the first error ends the walk.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rules and functions --- */

static int row_order(const void *name, const void *row)
{
	return strcmp(name, ((const op_row *)row)->name);
}

static const char *own_domain(const char *domain)
{
	return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static const op_row *infer_row_find(const infer *in, const char *domain, const char *name)
{
	for (const op_family *const *f = in->families; *f; f++) {
		const op_row *row = NULL;
		if (strcmp((*f)->domain, domain) == 0)
			row = bsearch(name, (*f)->rows, (*f)->nrows, sizeof *row, row_order);
		if (row)
			return row;
	}
	return NULL;
}

bool infer_functions(infer *in)
{
	const onnx_model *m = in->model;

	in->function_of = mem_arena_array(in->arena, m->nfunctions, sizeof *in->function_of);
	if (!name_index_init(&in->functions, in->arena, m->nfunctions) || !in->function_of)
		return infer_fail_memory(in);
	for (size_t i = 0; i < m->nfunctions; i++) {
		const onnx_function *f = &m->functions[i];
		const char *key =
		    mem_arena_fmt(in->arena, "%s %s %s", own_domain(f->domain),
				  f->name ? f->name : "", f->overload ? f->overload : "");
		if (!key)
			return infer_fail_memory(in);
		in->function_of[name_index_intern(&in->functions, key)] = f;
	}
	return true;
}

static size_t function_at(infer *in, const char *domain, const onnx_node *node)
{
	const char *overload = node->overload ? node->overload : "";
	char short_key[512], *key = short_key;

	if (!in->functions.n)
		return NAME_INDEX_NONE;
	if ((size_t)snprintf(key, sizeof short_key, "%s %s %s", domain, node->op, overload) >=
	    sizeof short_key)
		key = mem_arena_fmt(in->arena, "%s %s %s", domain, node->op, overload);
	return key ? name_index_find(&in->functions, key) : NAME_INDEX_NONE;
}

static const onnx_function *infer_function_find(infer *in, const char *domain,
						const onnx_node *node)
{
	const size_t at = function_at(in, domain, node);

	return at == NAME_INDEX_NONE ? NULL : in->function_of[at];
}

/* Counts the operators of a list of nodes after its functions are expanded and its bodies entered;
 * COST_OPS_MAX + 1 stands for any larger number. A function is counted once, so that a chain of n
 * functions that each call the next twice takes no longer than reading the file: a walk would take
 * 2^n steps. Too deep nesting and recursion are refused later, by the walk. */
static uint32_t expanded(infer *in, const onnx_node *nodes, size_t n, int depth)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n && depth < COST_DEPTH_MAX && sum <= COST_OPS_MAX; i++) {
		const onnx_node *node = &nodes[i];
		const char *domain = own_domain(node->domain);
		const bool replaced =
		    node->op && (*domain || !infer_row_find(in, domain, node->op));
		const size_t at = replaced ? function_at(in, domain, node) : NAME_INDEX_NONE;

		sum++;
		if (at != NAME_INDEX_NONE && !in->function_ops[at]) {
			const onnx_function *f = in->function_of[at];

			in->function_ops[at] = 1; /* while it is being counted */
			in->function_ops[at] = 1 + expanded(in, f->nodes, f->nnodes, depth + 1);
		}
		sum += at != NAME_INDEX_NONE ? in->function_ops[at] - 1 : 0;
		for (size_t k = 0; k < node->nattributes; k++) {
			const onnx_attribute *a = &node->attributes[k];

			if (a->g)
				sum += expanded(in, a->g->nodes, a->g->nnodes, depth + 1);
			for (size_t j = 0; j < a->ngraphs; j++)
				sum += expanded(in, a->graphs[j].nodes, a->graphs[j].nnodes,
						depth + 1);
		}
	}
	return sum > COST_OPS_MAX ? COST_OPS_MAX + 1 : (uint32_t)sum;
}

static bool infer_too_many(infer *in)
{
	INFER_FAIL(in, E_LIMIT,
		   "the model has more than %u operators after its functions are expanded, the "
		   "most that can be counted: functions that call others repeatedly multiply them",
		   COST_OPS_MAX);
	return false;
}

bool infer_reserve(infer *in, const onnx_node *nodes, size_t n)
{
	in->function_ops = mem_arena_array(in->arena, in->functions.n, sizeof *in->function_ops);
	if (!in->function_ops)
		return infer_fail_memory(in);
	in->cap = expanded(in, nodes, n, 0);
	if (in->cap > COST_OPS_MAX)
		return infer_too_many(in);
	in->ops = mem_arena_array(in->arena, in->cap, sizeof *in->ops);
	return in->ops || infer_fail_memory(in);
}

static int64_t opset_of(const infer *in, const char *domain, const frame *f)
{
	const onnx_opset *list = f ? f->function->opsets : in->model->opsets;
	size_t n = f ? f->function->nopsets : in->model->nopsets;

	for (size_t i = 0; i < n; i++)
		if (strcmp(own_domain(list[i].domain), domain) == 0)
			return list[i].version;
	if (f)
		return opset_of(in, domain, NULL);
	return 0;
}

void infer_chosen(op *o, int64_t value)
{
	cost_result *r = o->infer->result;
	const char *name = cost_node_name(o->arena, o->node);

	if (!r->choices)
		r->choices = mem_arena_array(o->arena, COST_CHOICES_MAX, sizeof *r->choices);
	if (!r->choices || !name || r->nchoices == COST_CHOICES_MAX)
		return;
	/* The rules of an operator may read it several times. */
	for (size_t i = 0; i < r->nchoices; i++)
		if (strcmp(r->choices[i].name, name) == 0 && r->choices[i].value == value)
			return;
	r->choices[r->nchoices++] = (cost_choice){name, o->node->op, value};
}

/* --- one operator --- */

static void fill_dims(infer *in, val *v, const cost_shape *k)
{
	sym_int *dims = mem_arena_array(in->arena, (size_t)k->rank, sizeof *dims);

	if (!dims)
		return;
	for (int i = 0; i < k->rank; i++)
		dims[i] = sym_const(k->dims[i]);
	v->kind = VAL_TENSOR;
	v->dims = dims;
	v->rank = k->rank;
	v->why = NULL;
	if (k->dtype)
		v->dtype = k->dtype;
}

/* Fills open sizes with the shapes of a real run, and compares the known sizes with them. */
static void complete_known(infer *in, val *v, const cost_shape *k)
{
	bool open = v->rank < 0, differs = v->rank >= 0 && v->rank != k->rank;

	v->has_seen = k->has_number;
	v->seen = k->number;
	for (int i = 0; i < v->rank && !differs; i++) {
		open |= !sym_known(v->dims[i]);
		differs = sym_known(v->dims[i]) && v->dims[i].v != k->dims[i];
	}
	differs |= v->dtype && k->dtype && v->dtype != k->dtype;
	if (differs && !in->result->differ++)
		in->result->first_differing = v->name;
	if (!open && v->dtype)
		return;
	in->result->filled++;
	fill_dims(in, v, k);
}

static void complete_declared(infer *in, val *v, const onnx_tensor_type *t)
{
	if (!v->dtype && v->kind == VAL_TENSOR)
		v->dtype = t->dtype;
	if (v->rank < 0 && v->kind == VAL_TENSOR && t->shape && !v->misfit) {
		int64_t dtype = v->dtype;
		v->why = NULL;
		infer_declare_tensor(in, v, t, false);
		v->dtype = dtype;
		return;
	}
	for (int i = 0; t->shape && i < v->rank && (size_t)v->rank == t->shape->rank; i++)
		if (!sym_known(v->dims[i]) && t->shape->dims[i].value >= 0 &&
		    (sym_unknown_reason(v->dims[i]) || sym_why_fresh(in->nums, v->dims[i])))
			v->dims[i] = sym_const(t->shape->dims[i].value);
}

/* Random operators give other results in each run although their inputs are the same. */
static bool random_op(const onnx_node *node)
{
	return strncmp(node->op, "Random", 6) == 0 || strcmp(node->op, "Bernoulli") == 0 ||
	       strcmp(node->op, "Multinomial") == 0;
}

static bool all_constant(const cost_op *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nin; i++) {
		if (!c->in[i])
			continue;
		if (!c->in[i]->constant)
			return false;
		n++;
	}
	return n > 0;
}

static bool contents_given(const cost_op *c)
{
	if (c->row && c->row->traffic == TRAFFIC_SHAPE)
		return false;
	for (size_t i = 0; i < c->nin; i++)
		if (c->in[i] && c->in[i]->given)
			return true;
	return false;
}

/* Returns whether the sizes of the inputs alone determine n. */
static bool follows_from_sizes(const infer *in, sym_int n)
{
	return sym_known(n) || (!sym_unknown_reason(n) && !sym_why_fresh(in->nums, n) &&
				!sym_has_choice(in->nums, n));
}

/* An operator whose results are the same in every run, or whose contents follow from the sizes of
 * the inputs, is folded: an engine computes it once. Contents from the caller are not known to the
 * engine before the run. */
static void mark_constants(op *o)
{
	cost_op *c = o->made;
	bool control = o->row && o->row->traffic == TRAFFIC_CONTROL;
	bool constant = !control && !c->expanded && !random_op(o->node) &&
			(all_constant(c) || strcmp(o->node->op, "Constant") == 0);
	bool contents = c->nout > 0;
	const bool given = contents_given(c);

	for (size_t i = 0; i < c->nout; i++) {
		val *v = c->out[i];
		if (!v)
			continue;
		v->constant |= constant;
		v->given |= given;
		if (constant && c->nin && c->in[0] && !v->from)
			v->from =
			    c->in[0]->initializer || c->in[0]->tensor ? c->in[0] : c->in[0]->from;
		contents &= v->ints || v->reals;
		for (size_t k = 0; contents && v->ints && k < v->n; k++)
			contents = follows_from_sizes(o->infer, v->ints[k]);
	}
	c->folded = constant || (contents && !given);
}

/* Walks the nodes of the body or function that belongs to the node o. */
static void walk_inside(op *o, const onnx_node *nodes, size_t n, const onnx_value *values,
			size_t nvalues, const place *at)
{
	infer *in = o->infer;

	scope_name_outputs(in, at->scope, nodes, n);
	scope_declare(in, at->scope, values, nvalues);
	in->depth++;
	infer_nodes(in, nodes, n, at);
	in->depth--;
}

/* The path "outer/name/label", where outer and label may be missing; NULL: nested too deep, or no
 * memory. */
static const char *path_inside(op *o, const char *label)
{
	infer *in = o->infer;
	const char *name = o->node->name && *o->node->name ? o->node->name : o->node->op;
	const char *outer = o->made->scope, *path;

	if (in->depth >= COST_DEPTH_MAX) {
		INFER_FAIL(in, E_LIMIT,
			   "the model's functions and bodies are nested more than %d deep",
			   COST_DEPTH_MAX);
		return NULL;
	}
	path = mem_arena_fmt(in->arena, "%s%s%s%s%s", outer ? outer : "", outer ? "/" : "", name,
			     label ? "/" : "", label ? label : "");
	if (!path)
		infer_fail_memory(in);
	return path;
}

static void function_call(op *o, const onnx_function *f)
{
	infer *in = o->infer;
	scope inner;
	frame fr = {f, o->node, o->frame};
	place here = {
	    &inner, &fr, NULL, o->slot, o->made->times, sym_const(1), o->made->constant_reads};

	for (const frame *up = o->frame; up; up = up->parent)
		if (up->function == f) {
			INFER_FAIL(in, E_LIMIT, "the model's function '%s' calls itself", f->name);
			return;
		}
	here.path = path_inside(o, NULL);
	if (!here.path || !scope_init(in, &inner, NULL, f->ninputs, f->nodes, f->nnodes))
		return;
	for (size_t i = 0; i < f->ninputs; i++)
		scope_put(in, &inner, f->inputs[i],
			  i < o->made->nin && o->made->in[i] ? o->made->in[i] : &in->left_out,
			  "as a function's inputs");
	walk_inside(o, f->nodes, f->nnodes, f->values, f->nvalues, &here);
	for (size_t i = 0; i < f->noutputs && infer_ok(in); i++) {
		val *v = f->outputs[i] ? infer_find(&inner, f->outputs[i]) : NULL;
		if (!v || v == &in->left_out || !op_out(o, i))
			continue;
		op_set_val(o, i, v);
		op_out(o, i)->base = op_out(o, i)->inner = v;
	}
	op_unknown(o, "the function '%s' does not make it", f->name);
	o->made->expanded = true;
}

static bool resolve_inputs(infer *in, const onnx_node *node, const place *at, cost_op *c)
{
	for (size_t i = 0; i < node->ninputs; i++) {
		const char *name = node->inputs[i];
		if (!name || !*name)
			continue;
		c->in[i] = infer_find(at->scope, name);
		if (c->in[i] == &in->left_out) {
			c->in[i] = NULL;
			continue;
		}
		if (c->in[i])
			continue;
		/* A later node makes it: the file's nodes are not in order. */
		if (name_index_find(&at->scope->names, name) != NAME_INDEX_NONE)
			return false;
		for (const scope *up = at->scope->parent; up && !in->late; up = up->parent)
			if (name_index_find(&up->names, name) != NAME_INDEX_NONE)
				in->late = up;
		c->in[i] = infer_value(in, name);
		if (!c->in[i])
			return true;
		c->in[i]->kind = VAL_OTHER;
		c->in[i]->why = "nothing in the model makes it";
	}
	return true;
}

static bool op_reserve(infer *in, size_t *ret)
{
	/* Bodies may be walked again. */
	if (in->nops >= COST_OPS_MAX || in->visited++ >= 4 * COST_OPS_MAX)
		return infer_too_many(in);
	if (in->nops == in->cap) {
		size_t cap = in->cap < 64 ? 64 : 2 * in->cap;
		cost_op *more = mem_arena_array(in->arena, cap, sizeof *more);
		if (!more)
			return infer_fail_memory(in);
		if (in->nops)
			memcpy(more, in->ops, in->nops * sizeof *more);
		in->ops = more;
		in->cap = cap;
	}
	*ret = in->nops++;
	in->ops[*ret] = (cost_op){0};
	return true;
}

static void finish_outputs(infer *in, op *o, const place *at)
{
	for (size_t i = 0; i < o->made->nout && infer_ok(in); i++) {
		val *v = o->made->out[i];
		if (!v)
			continue;
		size_t number = name_index_find(&at->scope->names, v->name);
		if (number != NAME_INDEX_NONE && in->trust_declared && at->scope->declared[number])
			complete_declared(in, v, at->scope->declared[number]);
		if (number != NAME_INDEX_NONE && at->scope->known && at->scope->known[number])
			complete_known(in, v, at->scope->known[number]);
		if (o->row && o->row->traffic == TRAFFIC_VIEW && i == 0 && o->made->nin &&
		    o->made->in[0] && !v->base)
			v->base = o->made->in[0];
		if (number != NAME_INDEX_NONE)
			at->scope->vals[number] = v;
	}
}

/* False: a later node makes one of its inputs. */
static bool infer_node(infer *in, const onnx_node *node, const place *at)
{
	size_t slot = 0, n = node->ninputs + node->noutputs;
	cost_op c = {.node = node,
		     .scope = at->path,
		     .inside = at->inside,
		     .times = at->times,
		     .rounds = at->rounds,
		     .constant_reads = at->constant_reads};
	const char *domain = own_domain(node->domain);
	op o = {.made = &c,
		.node = node,
		.nums = in->nums,
		.arena = in->arena,
		.infer = in,
		.around = at->scope,
		.frame = at->frame};

	if (!node->op) {
		INFER_FAIL(in, E_FORMAT, "the model has a node without an operator ('%s')",
			   node->name ? node->name : "?");
		return true;
	}
	c.in = mem_arena_array(in->arena, n, sizeof *c.in);
	if (!c.in || !op_reserve(in, &slot)) {
		infer_fail_memory(in);
		return true;
	}
	o.slot = slot;
	c.out = c.in + node->ninputs;
	c.nin = node->ninputs;
	c.nout = node->noutputs;
	if (!resolve_inputs(in, node, at, &c))
		return false;
	if (in->late) /* the bodies are walked again */
		return true;
	for (size_t i = 0; i < node->noutputs; i++)
		if (node->outputs[i] && *node->outputs[i]) {
			c.out[i] = infer_value(in, node->outputs[i]);
			if (!c.out[i])
				return true;
			c.out[i]->def = slot;
		}
	for (size_t i = 0; i < c.nin; i++)
		if (c.in[i])
			c.in[i]->last_use = slot;
	o.opset = opset_of(in, domain, at->frame);
	o.row = c.row = infer_row_find(in, domain, node->op);
	/* If the model has a function of that name, it defines the node; but ONNX's own operators
	 * are never replaced. */
	const onnx_function *f = c.row && !*domain ? NULL : infer_function_find(in, domain, node);
	const cost_visitor *watch = f ? NULL : in->config->watch;
	if (watch) {
		in->status = watch->before(watch->self, &o, in->err);
		if (!infer_ok(in))
			return true;
	}
	if (f)
		function_call(&o, f);
	else if (c.row)
		c.row->shape(&o);
	if (in->late == at->scope) {
		in->late = NULL;
		return false;
	}
	if (in->late)
		return true;
	if (!f)
		op_unknown(&o,
			   c.row ? "its rule does not define it"
				 : "deepclock has no rule for the operator %s%s%s",
			   domain, *domain ? "." : "", node->op);
	finish_outputs(in, &o, at);
	mark_constants(&o);
	if (watch && infer_ok(in))
		in->status = watch->after(watch->self, &o, in->err);
	cost_evaluate_op(&o);
	in->ops[slot] = c;
	return true;
}

void infer_nodes(infer *in, const onnx_node *nodes, size_t n, const place *at)
{
	size_t begin = in->nops, *order = NULL;

	for (size_t i = 0; i < n && infer_ok(in) && !in->late; i++) {
		if (infer_node(in, &nodes[order ? order[i] : i], at))
			continue;
		if (order) {
			INFER_FAIL(in, E_FORMAT,
				   "the order of the model's operators cannot be found");
			return;
		}
		/* Begin again, in an order in which each node comes after its inputs. */
		order = topo_sort(in, at->scope, nodes, n);
		if (!order)
			return;
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < nodes[k].noutputs; j++) {
				const char *name = nodes[k].outputs[j];
				if (name && *name)
					at->scope->vals[name_index_find(&at->scope->names, name)] =
					    NULL;
			}
		in->nops = begin;
		i = SIZE_MAX;
	}
}

bool op_body(op *o, const onnx_graph *g, val *const *inputs, size_t ninputs, sym_int times,
	     const char *label, val ***ret_out, size_t *ret_nout)
{
	infer *in = o->infer;
	scope inner;
	val **outs = mem_arena_array(in->arena, g->noutputs, sizeof *outs);
	/* Each branch of an If has a label, the only body of a loop has none. */
	const sym_int reads = label || sym_is(times, 0) ? times : sym_const(1);
	place here = {&inner,
		      o->frame,
		      path_inside(o, label),
		      o->slot,
		      sym_mul(in->nums, o->made->times, times),
		      times,
		      sym_mul(in->nums, o->made->constant_reads, reads)};

	if (!here.path || !scope_init_graph(in, &inner, o->around, g))
		return false;
	for (size_t i = 0; i < g->ninputs && infer_ok(in); i++) {
		const onnx_value *want = &g->inputs[i];
		size_t at =
		    want->name ? name_index_find(&inner.names, want->name) : NAME_INDEX_NONE;
		if (at != NAME_INDEX_NONE && inner.vals[at])
			continue;
		val *v = i < ninputs && inputs[i]
			     ? inputs[i]
			     : infer_declared(in, want->name, want->type, false);
		scope_put(in, &inner, want->name, v, "as a body's inputs");
	}
	walk_inside(o, g->nodes, g->nnodes, g->values, g->nvalues, &here);
	if (!outs)
		infer_fail_memory(in);
	for (size_t i = 0; i < g->noutputs && infer_ok(in) && !in->late; i++) {
		outs[i] = g->outputs[i].name ? infer_find(&inner, g->outputs[i].name) : NULL;
		if (outs[i] == &in->left_out)
			outs[i] = NULL;
	}
	*ret_out = outs;
	*ret_nout = g->noutputs;
	return infer_ok(in) && !in->late;
}
