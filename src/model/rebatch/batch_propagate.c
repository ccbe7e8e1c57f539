/* batch_propagate.c - batch-axis propagation with backtracking: one inference with a symbolic batch
 * size, in which each node's batching rule is called.
 *
 * A size of 1 is sometimes ambiguous: the batch axis of [1, 1, 8] may be the first or the second.
 * Both keep the items separate; a wrong choice only leads to a node that refuses. Then the latest
 * choice that led there is changed and the model is walked again. The number of attempts is
 * bounded, so that hostile models take no time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/batch_propagate.h"
#include "base/err.h"
#include "base/hash.h"

#include <string.h>

#define ATTEMPTS_MAX 48
/* No further attempt starts after all attempts together have walked this number of nodes. */
#define NODES_MAX 120000u

/* Changes the latest choice that led to a refusal and has another way left. False: no choice has.
 */
static bool choose_otherwise(struct batch_rule_state *s, int conflict)
{
	for (; conflict >= 0; conflict = s->choices[conflict].parent) {
		choice_point *c = &s->choices[conflict];
		if (c->way + 1 >= c->ways)
			continue;
		c->way++;
		s->nfixed = conflict + 1;
		size_t i = 0;
		while (i < s->npreferred && s->preferred[i].what != c->what)
			i++;
		if (i < PREFERRED_MAX) {
			s->preferred[i] = (preferred_way){c->what, c->way};
			s->npreferred += i == s->npreferred;
		}
		return true;
	}
	return false;
}

/* --- edits by node --- */

static size_t seen_slot(const struct batch_rule_state *s, const onnx_node *node)
{
	size_t at = (size_t)hash_number(0, (uintptr_t)node);

	while (s->seen[at & (s->slots - 1)] && s->seen[at & (s->slots - 1)]->node != node)
		at++;
	return at & (s->slots - 1);
}

static bool seen_grow(batch_propagation *f)
{
	struct batch_rule_state *s = f->state;
	edits **old = s->seen;
	size_t slots = s->slots;

	if (s->nseen * 2 < slots)
		return true;
	s->slots = slots ? 2 * slots : 256;
	s->seen = mem_arena_array(f->arena, s->slots, sizeof *s->seen);
	for (size_t i = 0; s->seen && i < slots; i++)
		if (old[i])
			s->seen[seen_slot(s, old[i]->node)] = old[i];
	return s->seen != NULL;
}

static bool edits_equal(const edits *a, const edits *b)
{
	bool equal = a->n == b->n;

	for (size_t i = 0; equal && i < a->n; i++)
		equal = a->edit[i].kind == b->edit[i].kind && a->edit[i].slot == b->edit[i].slot &&
			a->edit[i].n == b->edit[i].n && a->edit[i].each == b->edit[i].each &&
			a->edit[i].rank == b->edit[i].rank &&
			!memcmp(a->edit[i].v, b->edit[i].v, a->edit[i].n * sizeof(int64_t));
	return equal;
}

/* A node of a function is met at each call, and can be written in one way only. */
static void edits_keep(batch_propagation *f, const op *o)
{
	struct batch_rule_state *s = f->state;

	f->now.node = o->node;
	if (!f->now.n && !o->frame)
		return;
	if (!seen_grow(f))
		return;
	size_t at = seen_slot(s, o->node);
	if (s->seen[at]) {
		if (!edits_equal(s->seen[at], &f->now))
			batch_rule_refuse(
			    f, NULL, "it is in a function whose calls treat the items differently");
		return;
	}
	s->seen[at] = mem_arena_alloc(f->arena, sizeof(edits));
	if (s->seen[at]) {
		*s->seen[at] = f->now;
		s->nseen++;
	}
}

const edits *batch_rule_edits(const batch_propagation *f, const onnx_node *node)
{
	const struct batch_rule_state *s = f->state;

	if (!s->slots)
		return NULL;
	const edits *e = s->seen[seen_slot(s, node)];
	return e && e->n ? e : NULL;
}

size_t batch_rule_nedits(const batch_propagation *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->state->slots; i++)
		n += f->state->seen[i] && f->state->seen[i]->n;
	return n;
}

/* --- the inference calls --- */

static dck_status refused(batch_propagation *f, const op *o)
{
	f->state->failed = o->node;
	return DCK_E_UNSUP;
}

static bool ints_apart(const batch_propagation *f, const val *v)
{
	for (size_t i = 0; v->ints && i < v->n; i++)
		if (!batch_rule_apart(f, v->ints[i]))
			return false;
	return true;
}

static dck_status on_input(void *self, sym_table *nums, val *v, dck_err *err)
{
	batch_propagation *f = self;
	items s = {BATCHED, 0, sym_const(1), sym_const(1), -1};
	uint64_t what = 77;

	(void)err;
	if (!f->nums) {
		f->nums = nums;
		f->count = sym_symbol(nums, "items of a run");
	}
	if (v->kind != VAL_TENSOR || v->rank < 1 || !sym_is(v->dims[0], f->was))
		return DCK_OK;
	for (const char *p = v->name; *p; p++)
		what = what * 31 + (unsigned char)*p;
	if (f->state->first_input && batch_rule_choose(f, NULL, what, 2, &s.choice) > 0)
		s = (items){.choice = s.choice};
	f->state->first_input = true;
	if (s.kind == BATCHED)
		v->dims[0] = f->count;
	batch_state_set(f, v, &s);
	return DCK_OK;
}

static bool is_control(const op *o)
{
	return o->row && o->row->traffic == TRAFFIC_CONTROL;
}

static dck_status control_before(batch_propagation *f, const op *o)
{
	struct batch_rule_state *s = f->state;

	for (size_t i = 0; i < o->made->nin; i++)
		if (batch_rule_in(o, i)->kind != BATCH_INVARIANT) {
			batch_rule_refuse(f, batch_rule_in(o, i),
					  "what is repeated or chosen depends on the items ('%s')",
					  o->made->in[i]->name);
			return refused(f, o);
		}
	if (s->depth <= COST_DEPTH_MAX)
		s->stack[s->depth] = s->touched;
	s->depth++;
	return DCK_OK;
}

/* If the branch taken is known, its values were passed on with their states. */
static dck_status control_after(batch_propagation *f, op *o)
{
	struct batch_rule_state *s = f->state;
	sym_int cond;
	bool known = strcmp(o->node->op, "If") == 0 && op_int(o, 0, &cond) && sym_known(cond);

	s->depth--;
	if (known || (s->depth <= COST_DEPTH_MAX && s->stack[s->depth] == s->touched))
		return DCK_OK;
	batch_rule_refuse(f, NULL,
			  strcmp(o->node->op, "If") == 0
			      ? "which of its branches is taken is not known"
			      : "its body is repeated and uses the items");
	return refused(f, o);
}

static dck_status on_before(void *self, struct op *o, dck_err *err)
{
	batch_propagation *f = self;
	bool held_items = false, any = false;
	const batch_rule *row;

	(void)err;
	f->now.n = 0;
	f->out = NULL;
	f->all = batch_rule_same;
	f->answered = false;
	f->state->nodes++;
	if (is_control(o))
		return control_before(f, o);
	for (size_t i = 0; i < o->made->nin; i++) {
		held_items |= batch_rule_has(o, i);
		any |= batch_rule_in(o, i)->kind != BATCH_INVARIANT;
	}
	f->state->touched += any;
	if (!held_items)
		return DCK_OK;
	row = f->row = batch_rule_row_of(o);
	for (size_t i = 0; i < o->made->nin && row; i++)
		if (batch_rule_in(o, i)->kind == BATCH_SIZES &&
		    (i > 31 || !(row->sizes >> i & 1))) {
			batch_rule_refuse(f, batch_rule_in(o, i),
					  "its input '%s' is made from the number of items",
					  o->made->in[i]->name);
			return refused(f, o);
		}
	if (row)
		row->rule(f, o);
	else
		batch_rule_refuse(f, NULL, "how it treats the items is not known");
	if (!f->why)
		edits_keep(f, o);
	return f->why ? refused(f, o) : DCK_OK;
}

/* The inference must agree with the rule: the groups at their axis, and nowhere else. */
static void check_items(batch_propagation *f, const val *v, const items *s)
{
	if (v->kind != VAL_TENSOR || v->rank < 0) {
		batch_rule_refuse(f, s, "the shape of its result is not known%s%s",
				  v->why ? ": " : "", v->why ? v->why : "");
		return;
	}
	for (int i = 0; i < v->rank; i++)
		if (i == s->axis ? !sym_same(v->dims[i], batch_rule_groups(f, s, f->count))
				 : !batch_rule_apart(f, v->dims[i])) {
			batch_rule_refuse(f, s,
					  "its result '%s' has %s at axis %d, "
					  "which does not follow the items",
					  v->name, sym_text(f->nums, v->dims[i]), i);
			return;
		}
	if (s->axis >= v->rank)
		batch_rule_refuse(f, s, "its result has no axis %d", s->axis);
}

/* A value was made from the number of items alone. It must be a list of known integers, or a tensor
 * filled with one value that has the items along one axis. */
static void check_sizes(batch_propagation *f, const op *o, val *v)
{
	items s = {BATCH_INVARIANT, 0, sym_const(1), sym_const(1), -1};
	int axes = 0;

	for (size_t i = 0; i < o->made->nin; i++)
		if (batch_rule_in(o, i)->choice > s.choice)
			s.choice = batch_rule_in(o, i)->choice;
	if (v->kind != VAL_TENSOR || v->rank < 0) {
		batch_rule_refuse(f, &s, "its result depends on the number of items");
		return;
	}
	for (int i = 0; i < v->rank; i++)
		if (!batch_rule_apart(f, v->dims[i])) {
			axes += sym_div_exact(f->nums, v->dims[i], f->count, &s.post) ? 1 : 2;
			s.axis = i;
		}
	bool filled = strcmp(o->node->op, "ConstantOfShape") == 0 ||
		      strcmp(o->node->op, "Expand") == 0 || strcmp(o->node->op, "Tile") == 0;
	if (axes == 1 && filled && batch_rule_in(o, 0)->kind != BATCHED)
		s.kind = BATCHED;
	else if (axes == 0 && v->ints)
		s.kind = ints_apart(f, v) ? BATCH_INVARIANT : BATCH_SIZES;
	else if (axes || !filled)
		batch_rule_refuse(f, &s, "its result depends on the number of items");
	if (s.kind == BATCHED && strcmp(o->node->op, "Tile") == 0 && !sym_is(s.post, 1))
		batch_rule_refuse(f, &s, "it repeats values as often as there are items");
	batch_state_set(f, v, &s);
}

static dck_status on_after(void *self, struct op *o, dck_err *err)
{
	batch_propagation *f = self;
	bool sizes = false;

	(void)err;
	if (is_control(o))
		return control_after(f, o);
	for (size_t i = 0; i < o->made->nin; i++)
		sizes |= batch_rule_in(o, i)->kind == BATCH_SIZES;
	for (size_t i = 0; i < o->made->nout && !f->why; i++) {
		val *v = o->made->out[i];
		const items *s = f->out ? &f->out[i] : &f->all;
		if (!v)
			continue;
		if (f->answered && s->kind == BATCHED) {
			batch_state_set(f, v, s);
			check_items(f, v, s);
		} else if ((f->answered && s->kind == BATCH_SIZES) || (!f->answered && sizes)) {
			check_sizes(f, o, v);
		} else {
			batch_state_set(f, v, s);
		}
	}
	return f->why ? refused(f, o) : DCK_OK;
}

/* --- attempts --- */

/* The batch axis of an output is its first axis, with the elements of one item adjacent, or an axis
 * with one element for each item. */
static bool outputs_hold(batch_propagation *f, const cost_result *r)
{
	bool any = false;

	for (size_t i = 0; i < r->noutputs; i++) {
		const val *v = r->outputs[i];
		const items *s = v->mark ? v->mark : &batch_rule_same;
		if (s->kind == BATCH_SIZES)
			batch_rule_refuse(f, s, "the output '%s' is the number of items", v->name);
		if (s->kind != BATCHED)
			continue;
		any = true;
		if (!sym_is(s->pre, 1) || (s->axis > 0 && !sym_is(s->post, 1)))
			batch_rule_refuse(
			    f, s, "the output '%s' does not have the items along a separate axis",
			    v->name);
		if (!sym_known(s->post))
			batch_rule_refuse(
			    f, s, "the output '%s' has an open number of elements for each item",
			    v->name);
	}
	if (!any)
		batch_rule_refuse(f, NULL, "no output depends on the items");
	return !f->why;
}

static const char *node_text(mem_arena *a, const onnx_node *node)
{
	const char *name = node->name && *node->name		? node->name
			   : node->noutputs && node->outputs[0] ? node->outputs[0]
								: "";
	const char *text =
	    mem_arena_fmt(a, "the node '%s' (%s%s%s): ", name, node->domain ? node->domain : "",
			  node->domain && *node->domain ? "." : "", node->op);

	return text ? text : "";
}

/* One inference. E_UNSUP with f->why: a node cannot follow. */
static dck_status attempt(const onnx_model *m, batch_propagation *f, cost_result **ret,
			  dck_err *err)
{
	const cost_visitor watch = {on_input, on_before, on_after, f};
	const cost_config config = {.watch = &watch};
	struct batch_rule_state *s = f->state;

	s->nchoices = 0;
	s->seen = NULL;
	s->nseen = s->slots = 0;
	s->touched = s->depth = 0;
	s->failed = NULL;
	s->first_input = false;
	DCK_TRY(cost_model(m, &config, f->arena, ret, err));
	return outputs_hold(f, *ret) ? DCK_OK : DCK_E_UNSUP;
}

dck_status batch_rule_model(const onnx_model *m, int64_t n, int64_t was, mem_arena *text,
			    batch_propagation *ret, cost_result **ret_cost, dck_err *err)
{
	struct batch_rule_state *s = mem_zalloc(1, sizeof *s);
	const char *why = NULL;
	dck_status status = DCK_E_UNSUP;

	DCK_NEED(s, err, "to follow the items through the model");
	for (int tries = 0; tries < ATTEMPTS_MAX && (!tries || s->nodes < NODES_MAX); tries++) {
		*ret = (batch_propagation){.arena = mem_arena_new(1 << 18),
					   .n = n,
					   .was = was,
					   .opset = onnx_opset_version(m),
					   .conflict = -1,
					   .state = s};
		if (!ret->arena) {
			status = ERR_NO_MEMORY(err, "to follow the items through the model");
			break;
		}
		mem_arena_limit(ret->arena, COST_MEMORY_MAX);
		status = attempt(m, ret, ret_cost, err);
		if (status == DCK_OK)
			return DCK_OK;
		if (!ret->why)
			break;
		if (!why)
			why = mem_arena_fmt(text, "%s%s",
					    s->failed ? node_text(ret->arena, s->failed) : "",
					    ret->why);
		if (!choose_otherwise(s, ret->conflict))
			break;
		mem_arena_free(ret->arena);
		ret->arena = NULL;
	}
	batch_rule_done(ret);
	if (status == DCK_E_UNSUP && why)
		return err_set(err, status, __FILE__, __LINE__, "%s", why);
	return status;
}

void batch_rule_done(batch_propagation *f)
{
	mem_arena_free(f->arena);
	mem_free(f->state);
	*f = (batch_propagation){0};
}
