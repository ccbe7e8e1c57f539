/* infer.c - walks a graph in order and asks each operator's rule for the types and shapes of its
 * outputs. Bodies of control operators are walked where they stand, functions where they are
 * called.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/infer.h"
#include "base/err.h"

#include <string.h>

bool infer_ok(const infer *in)
{
	return in->status == DCK_OK;
}

void infer_fail_memory(infer *in)
{
	if (infer_ok(in))
		in->status = err_set(in->err, DCK_E_LIMIT, __FILE__, __LINE__,
				     "following the model's operators needs more than %zu MiB",
				     ONNX_MEMORY_MAX >> 20);
}

val *infer_find(const scope *s, const char *name)
{
	for (; s; s = s->parent) {
		size_t i = names_find(&s->names, name);
		if (i != NAMES_NONE && s->vals[i])
			return s->vals[i];
	}
	return NULL;
}

static val *val_new(infer *in, const char *name)
{
	val *v = mem_arena_alloc(in->arena, sizeof(*v));

	if (!v) {
		infer_fail_memory(in);
		return NULL;
	}
	v->name = name;
	v->rank = -1;
	v->made = v->last_use = SIZE_MAX;
	return v;
}

static num declared_dim(infer *in, const char *name, size_t axis, const onnx_dim *d, bool input)
{
	if (d->value >= 0)
		return num_int(d->value);
	if (onnx_symbol_named(d->symbol) && (input || num_symbol_used(in->nums, d->symbol)))
		return num_symbol(in->nums, d->symbol);
	const char *own = mem_arena_fmt(in->arena, "%s.%zu", name ? name : "", axis);
	if (!own)
		return num_none(in->nums, "out of memory");
	return input ? num_symbol(in->nums, own)
		     : num_fresh(
			   in->nums,
			   mem_arena_fmt(in->arena, "a size that the model leaves open (%s)", own));
}

static void declare_tensor(infer *in, val *v, const onnx_tensor_type *t, bool input)
{
	v->kind = VAL_TENSOR;
	v->dtype = t->dtype;
	if (!t->shape || t->shape->rank > COST_RANK_MAX) {
		v->why = "the model does not state its shape";
		return;
	}
	v->dims = mem_arena_array(in->arena, t->shape->rank, sizeof(*v->dims));
	if (!v->dims)
		return;
	v->rank = (int)t->shape->rank;
	for (size_t i = 0; i < t->shape->rank; i++)
		v->dims[i] = declared_dim(in, v->name, i, &t->shape->dims[i], input);
}

val *infer_declared(infer *in, const char *name, const onnx_type *type, bool input)
{
	val *v = val_new(in, name);

	if (!v)
		return NULL;
	v->kind = VAL_OTHER;
	v->why = "the model does not state its type";
	if (!type)
		return v;
	if (type->tensor)
		declare_tensor(in, v, type->tensor, input);
	else if (type->sparse)
		declare_tensor(in, v, type->sparse, input);
	else if (type->sequence || type->optional) {
		const onnx_element_type *e = type->sequence ? type->sequence : type->optional;
		v->kind = type->sequence ? VAL_SEQUENCE : VAL_OPTIONAL;
		v->why = type->sequence ? "it is a sequence" : "it is optional";
		v->item = infer_declared(in, name, e->value, false);
	}
	return v;
}

val *infer_constant(infer *in, const onnx_tensor *t)
{
	val *v = val_new(in, t->name);

	if (!v)
		return NULL;
	v->kind = VAL_TENSOR;
	v->dtype = t->dtype;
	v->constant = true;
	v->tensor = t;
	if (t->rank > COST_RANK_MAX) {
		v->why = "it has more dimensions than any operator takes";
		return v;
	}
	v->dims = mem_arena_array(in->arena, t->rank, sizeof(*v->dims));
	if (!v->dims)
		return v;
	v->rank = (int)t->rank;
	for (size_t i = 0; i < t->rank; i++)
		v->dims[i] = num_int(t->dims[i]);
	v->reals = t->reals;
	if (t->ints && (v->ints = mem_arena_array(in->arena, (size_t)t->elements, sizeof(num))))
		for (uint64_t i = 0; i < t->elements; i++)
			v->ints[i] = num_int(t->ints[i]);
	if (v->reals || v->ints)
		v->n = (size_t)t->elements;
	return v;
}

/* --- scopes --- */

static bool scope_init(infer *in, scope *s, const scope *parent, size_t most)
{
	*s = (scope){.parent = parent};
	s->vals = mem_arena_array(in->arena, most, sizeof(*s->vals));
	s->declared = mem_arena_array(in->arena, most, sizeof(*s->declared));
	if (names_init(&s->names, in->arena, most) && s->vals && s->declared)
		return true;
	infer_fail_memory(in);
	return false;
}

static void scope_put(infer *in, scope *s, const char *name, val *v, const char *what)
{
	size_t i;

	if (!v || !name || !*name)
		return;
	i = names_add(&s->names, name);
	if (s->vals[i] && infer_ok(in))
		in->status = err_set(in->err, DCK_E_FORMAT, __FILE__, __LINE__,
				     "the model makes '%s' twice (%s)", name, what);
	s->vals[i] = v;
}

static size_t count_outputs(const onnx_node *nodes, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += nodes[i].noutputs;
	return sum;
}

static void scope_declare(scope *s, const onnx_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!values[i].name || !values[i].type || !values[i].type->tensor)
			continue;
		size_t at = names_find(&s->names, values[i].name);
		if (at != NAMES_NONE && !s->declared[at])
			s->declared[at] = values[i].type->tensor;
	}
}

static void put_initializers(infer *in, scope *s, const onnx_graph *g)
{
	for (size_t i = 0; i < g->ninitializers; i++) {
		val *v = infer_constant(in, &g->initializers[i]);
		if (!v)
			return;
		v->initializer = true;
		scope_put(in, s, v->name, v, "as initializers");
	}
	for (size_t i = 0; i < g->nsparse; i++) {
		const onnx_sparse *x = &g->sparse[i];
		val *v = x->values ? val_new(in, x->values->name) : NULL;
		if (!v || x->rank > COST_RANK_MAX)
			continue;
		v->kind = VAL_TENSOR;
		v->dtype = x->values->dtype;
		v->constant = true;
		v->dims = mem_arena_array(in->arena, x->rank, sizeof(*v->dims));
		v->rank = v->dims ? (int)x->rank : -1;
		for (int k = 0; k < v->rank; k++)
			v->dims[k] = num_int(x->dims[k]);
		scope_put(in, s, v->name, v, "as initializers");
	}
}

/* Names of all outputs get their numbers before any node is walked: so a name that is made twice,
 * and one that is used before it is made, can be told. */
static void name_outputs(infer *in, scope *s, const onnx_node *nodes, size_t n)
{
	for (size_t i = 0; i < n && infer_ok(in); i++)
		for (size_t k = 0; k < nodes[i].noutputs; k++) {
			const char *name = nodes[i].outputs[k];
			if (!name || !*name)
				continue;
			size_t before = s->names.n, at = names_add(&s->names, name);
			if (at < before)
				in->status = err_set(in->err, DCK_E_FORMAT, __FILE__, __LINE__,
						     "the model makes '%s' twice", name);
		}
}

/* --- rules --- */

static uint64_t row_hash(const char *domain, const char *name)
{
	uint64_t h = 1469598103934665603u;

	for (; *domain; domain++)
		h = (h ^ (unsigned char)*domain) * 1099511628211u;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	return h ^ (h >> 32);
}

static void rows_init(infer *in)
{
	for (size_t f = 0; op_families[f]; f++)
		for (size_t i = 0; i < op_families[f]->nrows; i++) {
			const op_family *of = op_families[f];
			uint64_t h = row_hash(of->domain, of->rows[i].name);
			while (in->rows[h % ROW_SLOTS].row)
				h++;
			in->rows[h % ROW_SLOTS] = (row_slot){of->domain, &of->rows[i]};
		}
}

static const char *own_domain(const char *domain)
{
	return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static const op_row *row_find(const infer *in, const char *domain, const char *name)
{
	for (uint64_t h = row_hash(domain, name);; h++) {
		const row_slot *s = &in->rows[h % ROW_SLOTS];
		if (!s->row || (strcmp(s->row->name, name) == 0 && strcmp(s->domain, domain) == 0))
			return s->row;
	}
}

static bool functions_init(infer *in)
{
	const onnx_model *m = in->model;

	in->function_of = mem_arena_array(in->arena, m->nfunctions, sizeof(*in->function_of));
	if (!names_init(&in->functions, in->arena, m->nfunctions) || !in->function_of)
		return false;
	for (size_t i = 0; i < m->nfunctions; i++) {
		const onnx_function *f = &m->functions[i];
		const char *key =
		    mem_arena_fmt(in->arena, "%s %s %s", own_domain(f->domain),
				  f->name ? f->name : "", f->overload ? f->overload : "");
		if (!key)
			return false;
		in->function_of[names_add(&in->functions, key)] = f;
	}
	return true;
}

static const onnx_function *function_find(infer *in, const char *domain, const onnx_node *node)
{
	char key[512];
	const char *overload = node->overload ? node->overload : "";

	if (!in->functions.n ||
	    strlen(domain) + strlen(node->op) + strlen(overload) + 3 > sizeof key)
		return NULL;
	char *end = stpcpy(stpcpy(stpcpy(key, domain), " "), node->op);
	stpcpy(stpcpy(end, " "), overload);
	size_t at = names_find(&in->functions, key);
	return at == NAMES_NONE ? NULL : in->function_of[at];
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

/* --- one operator --- */

static void fill_dims(infer *in, val *v, const cost_shape *k)
{
	num *dims = mem_arena_array(in->arena, (size_t)k->rank, sizeof(*dims));

	if (!dims)
		return;
	for (int i = 0; i < k->rank; i++)
		dims[i] = num_int(k->dims[i]);
	v->kind = VAL_TENSOR;
	v->dims = dims;
	v->rank = k->rank;
	v->why = NULL;
	if (k->dtype)
		v->dtype = k->dtype;
}

/* What a real run has shown: fills what is open, and is compared with what is not. */
static void complete_known(infer *in, val *v, const cost_shape *k)
{
	bool open = v->rank < 0, differs = v->rank >= 0 && v->rank != k->rank;

	v->has_seen = k->has_number;
	v->seen = k->number;
	for (int i = 0; i < v->rank && !differs; i++) {
		open |= !num_known(v->dims[i]);
		differs = num_known(v->dims[i]) && v->dims[i].v != k->dims[i];
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
	if (v->rank < 0 && v->kind == VAL_TENSOR && t->shape) {
		int64_t dtype = v->dtype;
		v->why = NULL;
		declare_tensor(in, v, t, false);
		v->dtype = dtype;
		return;
	}
	for (int i = 0; t->shape && i < v->rank && (size_t)v->rank == t->shape->rank; i++)
		if (!num_known(v->dims[i]) && t->shape->dims[i].value >= 0 &&
		    (num_why_none(v->dims[i]) || num_why_fresh(in->nums, v->dims[i])))
			v->dims[i] = num_int(t->shape->dims[i].value);
}

/* Its results differ from run to run although its inputs do not. */
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

/* Contents that are known, or a constant: an engine computes it once. */
static void mark_constants(op *o)
{
	cost_op *c = o->made;
	bool control = o->row && o->row->traffic == TRAFFIC_CONTROL;
	bool constant = !control && !c->expanded && !random_op(o->node) &&
			(all_constant(c) || strcmp(o->node->op, "Constant") == 0);
	bool contents = c->nout > 0;

	for (size_t i = 0; i < c->nout; i++) {
		val *v = c->out[i];
		if (!v)
			continue;
		v->constant |= constant;
		if (constant && c->nin && c->in[0] && !v->from)
			v->from =
			    c->in[0]->initializer || c->in[0]->tensor ? c->in[0] : c->in[0]->from;
		contents &= v->ints || v->reals;
		for (size_t k = 0; contents && v->ints && k < v->n; k++)
			contents = num_known(v->ints[k]);
	}
	c->folded = constant || contents;
}

static void function_call(infer *in, op *o, const onnx_function *f, const place *at)
{
	scope inner;
	frame fr = {f, o->node, at->frame};
	const char *label = o->node->name && *o->node->name ? o->node->name : o->node->op;
	const char *path = at->path ? mem_arena_fmt(in->arena, "%s/%s", at->path, label)
				    : mem_arena_dup(in->arena, label);
	place here = {&inner, &fr, path, at->times};

	for (const frame *up = at->frame; up; up = up->parent)
		if (up->function == f) {
			in->status = err_set(in->err, DCK_E_LIMIT, __FILE__, __LINE__,
					     "the model's function '%s' calls itself", f->name);
			return;
		}
	if (in->depth >= INFER_DEPTH_MAX) {
		in->status =
		    err_set(in->err, DCK_E_LIMIT, __FILE__, __LINE__,
			    "the model's functions and bodies are nested more than %d deep",
			    INFER_DEPTH_MAX);
		return;
	}
	if (!path || !scope_init(in, &inner, NULL, f->ninputs + count_outputs(f->nodes, f->nnodes)))
		return;
	for (size_t i = 0; i < f->ninputs; i++)
		if (i < o->made->nin && o->made->in[i])
			scope_put(in, &inner, f->inputs[i], o->made->in[i],
				  "as a function's inputs");
	name_outputs(in, &inner, f->nodes, f->nnodes);
	if (in->trust_declared)
		scope_declare(&inner, f->values, f->nvalues);
	in->depth++;
	infer_nodes(in, f->nodes, f->nnodes, &here);
	in->depth--;
	for (size_t i = 0; i < f->noutputs && infer_ok(in); i++) {
		val *v = f->outputs[i] ? infer_find(&inner, f->outputs[i]) : NULL;
		if (!v || !op_out(o, i))
			continue;
		op_set_val(o, i, v);
		op_out(o, i)->base = v;
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
		if (c->in[i])
			continue;
		/* It is made by a later node: the list is not in order. */
		if (names_find(&at->scope->names, name) != NAMES_NONE)
			return false;
		c->in[i] = val_new(in, name);
		if (!c->in[i])
			return true;
		c->in[i]->kind = VAL_OTHER;
		c->in[i]->why = "nothing in the model makes it";
	}
	return true;
}

static bool op_reserve(infer *in, size_t *ret)
{
	if (in->visited++ >= COST_OPS_MAX) {
		in->status = err_set(in->err, DCK_E_LIMIT, __FILE__, __LINE__,
				     "the model has more than %u operators, functions expanded",
				     COST_OPS_MAX);
		return false;
	}
	if (in->nops == in->cap) {
		size_t cap = in->cap < 64 ? 64 : 2 * in->cap;
		cost_op *more = mem_arena_array(in->arena, cap, sizeof(*more));
		if (!more) {
			infer_fail_memory(in);
			return false;
		}
		if (in->nops)
			memcpy(more, in->ops, in->nops * sizeof(*more));
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
		size_t number = names_find(&at->scope->names, v->name);
		if (number != NAMES_NONE && in->trust_declared && at->scope->declared[number])
			complete_declared(in, v, at->scope->declared[number]);
		if (number != NAMES_NONE && at->scope->known && at->scope->known[number])
			complete_known(in, v, at->scope->known[number]);
		if (o->row && o->row->traffic == TRAFFIC_VIEW && i == 0 && o->made->nin &&
		    o->made->in[0] && !v->base)
			v->base = o->made->in[0];
		if (number != NAMES_NONE)
			at->scope->vals[number] = v;
	}
}

/* False: an input is made by a later node. */
static bool infer_node(infer *in, const onnx_node *node, const place *at)
{
	size_t slot, n = node->ninputs + node->noutputs;
	cost_op c = {.node = node, .scope = at->path, .times = at->times};
	const char *domain = own_domain(node->domain);
	op o = {.made = &c,
		.node = node,
		.nums = in->nums,
		.arena = in->arena,
		.infer = in,
		.around = at->scope,
		.frame = at->frame};

	if (!node->op) {
		in->status = err_set(in->err, DCK_E_FORMAT, __FILE__, __LINE__,
				     "the model has a node without an operator ('%s')",
				     node->name ? node->name : "?");
		return true;
	}
	c.in = mem_arena_array(in->arena, n, sizeof(*c.in));
	if (!c.in || !op_reserve(in, &slot)) {
		infer_fail_memory(in);
		return true;
	}
	c.out = c.in + node->ninputs;
	c.nin = node->ninputs;
	c.nout = node->noutputs;
	if (!resolve_inputs(in, node, at, &c))
		return false;
	for (size_t i = 0; i < node->noutputs; i++)
		if (node->outputs[i] && *node->outputs[i]) {
			c.out[i] = val_new(in, node->outputs[i]);
			if (!c.out[i])
				return true;
			c.out[i]->made = slot;
		}
	for (size_t i = 0; i < c.nin; i++)
		if (c.in[i])
			c.in[i]->last_use = slot;
	o.opset = opset_of(in, domain, at->frame);
	o.row = c.row = row_find(in, domain, node->op);
	/* A function of the model says exactly what the node does, unless ONNX itself does. */
	const onnx_function *f = c.row && !*domain ? NULL : function_find(in, domain, node);
	const cost_watch *watch = f ? NULL : in->config->watch;
	if (watch) {
		in->status = watch->before(watch->self, &o, in->err);
		if (!infer_ok(in))
			return true;
	}
	if (f)
		function_call(in, &o, f, at);
	else if (c.row)
		c.row->shape(&o);
	if (!f)
		op_unknown(&o,
			   c.row ? "its rule says nothing of it"
				 : "deepclock has no rule for the operator %s%s%s",
			   domain, *domain ? "." : "", node->op);
	finish_outputs(in, &o, at);
	mark_constants(&o);
	if (watch && infer_ok(in))
		in->status = watch->after(watch->self, &o, in->err);
	price_op(&o);
	in->ops[slot] = c;
	return true;
}

void infer_nodes(infer *in, const onnx_node *nodes, size_t n, const place *at)
{
	size_t begin = in->nops, *order = NULL;

	for (size_t i = 0; i < n && infer_ok(in); i++) {
		if (infer_node(in, &nodes[order ? order[i] : i], at))
			continue;
		if (order) {
			in->status = err_set(in->err, DCK_E_FORMAT, __FILE__, __LINE__,
					     "the order of the model's operators cannot be found");
			return;
		}
		/* Begin again, in an order that works. */
		order = infer_order(in, at->scope, nodes, n);
		if (!order)
			return;
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < nodes[k].noutputs; j++) {
				const char *name = nodes[k].outputs[j];
				if (name && *name)
					at->scope->vals[names_find(&at->scope->names, name)] = NULL;
			}
		in->nops = begin;
		i = SIZE_MAX;
	}
}

bool op_body(op *o, const onnx_graph *g, val *const *inputs, size_t ninputs, num times, bool dry,
	     const char *label, val ***ret_out, size_t *ret_nout)
{
	infer *in = o->infer;
	scope inner;
	const char *name = o->node->name && *o->node->name ? o->node->name : o->node->op;
	const char *outer = o->made->scope, *path;
	val **outs = mem_arena_array(in->arena, g->noutputs, sizeof(*outs));
	size_t begin = in->nops;

	path = mem_arena_fmt(in->arena, "%s%s%s%s%s", outer ? outer : "", outer ? "/" : "", name,
			     label ? "/" : "", label ? label : "");
	if (in->depth >= INFER_DEPTH_MAX) {
		in->status =
		    err_set(in->err, DCK_E_LIMIT, __FILE__, __LINE__,
			    "the model's functions and bodies are nested more than %d deep",
			    INFER_DEPTH_MAX);
		return false;
	}
	if (!outs || !path ||
	    !scope_init(in, &inner, o->around,
			g->ninitializers + g->nsparse + g->ninputs +
			    count_outputs(g->nodes, g->nnodes))) {
		infer_fail_memory(in);
		return false;
	}
	place here = {&inner, o->frame, path, num_mul(in->nums, o->made->times, times)};
	put_initializers(in, &inner, g);
	for (size_t i = 0; i < g->ninputs && infer_ok(in); i++) {
		size_t at =
		    g->inputs[i].name ? names_find(&inner.names, g->inputs[i].name) : NAMES_NONE;
		if (at != NAMES_NONE && inner.vals[at])
			continue;
		val *v = i < ninputs && inputs[i]
			     ? inputs[i]
			     : infer_declared(in, g->inputs[i].name, g->inputs[i].type, false);
		scope_put(in, &inner, g->inputs[i].name, v, "as a body's inputs");
	}
	name_outputs(in, &inner, g->nodes, g->nnodes);
	if (in->trust_declared)
		scope_declare(&inner, g->values, g->nvalues);
	in->depth++;
	infer_nodes(in, g->nodes, g->nnodes, &here);
	in->depth--;
	if (dry)
		in->nops = begin;
	for (size_t i = 0; i < g->noutputs && infer_ok(in); i++)
		outs[i] = g->outputs[i].name ? infer_find(&inner, g->outputs[i].name) : NULL;
	*ret_out = outs;
	*ret_nout = g->noutputs;
	return infer_ok(in);
}

/* --- the main graph --- */

static dck_status input_shape(infer *in, val *v, const cost_shape *want)
{
	if (v->kind != VAL_TENSOR)
		DCK_FAIL(in->err, E_ARG, "the input '%s' is no tensor and has no shape", v->name);
	if (v->rank >= 0 && v->rank != want->rank)
		DCK_FAIL(in->err, E_ARG, "the input '%s' has %d dimensions, not %d", v->name,
			 v->rank, want->rank);
	if (v->rank < 0) {
		v->dims = mem_arena_array(in->arena, (size_t)want->rank, sizeof(*v->dims));
		if (!v->dims)
			DCK_FAIL(in->err, E_NOMEM, "no memory for the shape of '%s'", v->name);
		v->rank = want->rank;
		v->why = NULL;
		for (int i = 0; i < want->rank; i++)
			v->dims[i] =
			    num_symbol(in->nums, mem_arena_fmt(in->arena, "%s.%d", v->name, i));
	}
	for (int i = 0; i < want->rank; i++)
		if (want->dims[i] >= 0)
			v->dims[i] = num_int(want->dims[i]);
	return DCK_OK;
}

/* Symbols that --shape or --batch give a size keep it everywhere: fixed before anything is read. */
static void fix_symbols(infer *in, const onnx_graph *g)
{
	const cost_config *c = in->config;

	for (size_t i = 0; i < c->ndims; i++)
		num_fix(in->nums, c->dims[i].symbol, c->dims[i].value);
	for (size_t i = 0; i < g->ninputs; i++) {
		const onnx_type *type = g->inputs[i].type;
		const onnx_shape *s = type && type->tensor ? type->tensor->shape : NULL;
		if (!s || !g->inputs[i].name)
			continue;
		for (size_t k = 0; k < c->ninputs; k++)
			for (size_t j = 0; j < s->rank && j < (size_t)c->inputs[k].rank &&
					   strcmp(c->inputs[k].name, g->inputs[i].name) == 0;
			     j++)
				if (s->dims[j].value < 0 && onnx_symbol_named(s->dims[j].symbol) &&
				    c->inputs[k].dims[j] >= 0)
					num_fix(in->nums, s->dims[j].symbol, c->inputs[k].dims[j]);
		if (c->batch > 0 && s->rank && s->dims[0].value < 0 &&
		    onnx_symbol_named(s->dims[0].symbol))
			num_fix(in->nums, s->dims[0].symbol, c->batch);
	}
}

static dck_status main_inputs(infer *in, scope *s, const onnx_graph *g)
{
	cost_result *r = in->result;
	const cost_config *c = in->config;

	r->inputs = mem_arena_array(in->arena, g->ninputs, sizeof(*r->inputs));
	fix_symbols(in, g);
	for (size_t i = 0; i < g->ninputs && infer_ok(in) && r->inputs; i++) {
		const char *name = g->inputs[i].name;
		size_t at = name && *name ? names_find(&s->names, name) : NAMES_NONE;
		if (!name || !*name || (at != NAMES_NONE && s->vals[at]))
			continue; /* an initializer that may be replaced: it is not */
		val *v = infer_declared(in, name, g->inputs[i].type, true);
		if (!v)
			break;
		v->input = true;
		if (c->batch > 0 && v->rank > 0 && !num_known(v->dims[0]))
			v->dims[0] = num_int(c->batch);
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
	for (size_t i = 0; i < c->ndims; i++)
		if (!num_symbol_used(in->nums, c->dims[i].symbol))
			DCK_FAIL(in->err, E_ARG, "no input of the model has an open dimension '%s'",
				 c->dims[i].symbol);
	return in->status;
}

const cost_shape *infer_shown(const op *o, size_t i)
{
	const char *name = i < o->node->noutputs ? o->node->outputs[i] : "";
	size_t at = o->around->known && *name ? names_find(&o->around->names, name) : NAMES_NONE;

	return at == NAMES_NONE ? NULL : o->around->known[at];
}

void infer_chosen(op *o, int64_t value)
{
	cost_result *r = o->infer->result;

	if (!r->choices)
		r->choices = mem_arena_array(o->arena, COST_CHOICES_MAX, sizeof(*r->choices));
	if (r->choices && r->nchoices < COST_CHOICES_MAX)
		r->choices[r->nchoices++] =
		    (cost_choice){o->node->name ? o->node->name : "", o->node->op, value};
}

static void bind_known(infer *in, scope *s)
{
	const cost_config *c = in->config;

	if (!c->nknown)
		return;
	s->known = mem_arena_array(in->arena, s->names.n, sizeof(*s->known));
	for (size_t i = 0; s->known && i < c->nknown; i++) {
		size_t at = c->known[i].name ? names_find(&s->names, c->known[i].name) : NAMES_NONE;
		if (at != NAMES_NONE)
			s->known[at] = &c->known[i];
	}
}

static void keep_values(infer *in, const scope *s, const onnx_graph *g)
{
	cost_result *r = in->result;

	r->values = mem_arena_array(in->arena, s->names.n, sizeof(*r->values));
	r->outputs = mem_arena_array(in->arena, g->noutputs, sizeof(*r->outputs));
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

static dck_status run(infer *in)
{
	const onnx_graph *g = in->model->graph;
	scope s;
	place here = {&s, NULL, NULL, num_int(1)};

	if (!functions_init(in) || !scope_init(in, &s, NULL,
					       g->ninitializers + g->nsparse + g->ninputs +
						   count_outputs(g->nodes, g->nnodes)))
		DCK_FAIL(in->err, E_NOMEM, "no memory for the model's names");
	rows_init(in);
	put_initializers(in, &s, g);
	if (!infer_ok(in))
		return in->status;
	DCK_TRY(main_inputs(in, &s, g));
	name_outputs(in, &s, g->nodes, g->nnodes);
	if (in->trust_declared) {
		scope_declare(&s, g->values, g->nvalues);
		scope_declare(&s, g->outputs, g->noutputs);
	}
	bind_known(in, &s);
	in->cap = g->nnodes;
	in->ops = mem_arena_array(in->arena, in->cap, sizeof(*in->ops));
	if (!in->ops)
		DCK_FAIL(in->err, E_NOMEM, "no memory for the model's operators");
	infer_nodes(in, g->nodes, g->nnodes, &here);
	if (!infer_ok(in))
		return in->status;
	keep_values(in, &s, g);
	price_total(in);
	return in->status;
}

dck_status cost_model(const onnx_model *m, const cost_config *c, mem_arena *a, cost_result **ret,
		      dck_err *err)
{
	static const cost_config plain = {0};
	infer *in = mem_arena_alloc(a, sizeof(*in));

	if (!in || !(in->nums = num_table_new(a)) ||
	    !(in->result = mem_arena_alloc(a, sizeof(*in->result))))
		DCK_FAIL(err, E_NOMEM, "no memory to count the model's operations");
	in->model = m;
	in->config = c ? c : &plain;
	in->arena = a;
	in->err = err;
	in->opset = onnx_opset_version(m);
	in->result->nums = in->nums;
	/* What the file states of inner values holds for the sizes that the file states. */
	in->trust_declared = !in->config->ninputs && !in->config->batch && !in->config->watch;
	DCK_TRY(run(in));
	if (mem_arena_failed(a)) {
		infer_fail_memory(in);
		return in->status;
	}
	in->result->ops = in->ops;
	in->result->nops = in->nops;
	*ret = in->result;
	return DCK_OK;
}
