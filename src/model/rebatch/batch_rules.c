/* batch_rules.c - batch-axis propagation: functions with which a batching rule reads the states of
 * its inputs and answers.
 *
 * As in the batching rules of vmap (JAX), each value is in one of three states: the same for all
 * items, sizes that depend on their number alone, or batched along one axis, as `pre` groups of N
 * items of `post` elements. The state is in val.mark. A rule reads the states of its inputs
 * (batch_rule_in()) and answers with states of its outputs (batch_rule_all(), batch_rule_set()) or
 * refuses; the first refusal counts.
 *
 * Where several axes may hold the items, batch_rule_choose() records a choice point. Each state
 * carries the latest choice that led to it, and a refusal blames one, so that batch_propagate.c can
 * change that choice and walk again (backjumping). Choices before the changed one are replayed by
 * their position.
 *
 * A rule may also edit an input: other sizes, or an Expand, Tile or offset before it. The inference
 * continues with a copy that has the edited shape, so shapes and edits agree; rewrite.c writes the
 * edits. All is in the arena of one attempt; a node has at most BATCH_EDITS_MAX edits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/batch_propagate.h"

#include <string.h>

/* Number of items up to which indices are written out. */
#define OFFSETS_MAX 65536
const items batch_rule_same = {.choice = -1};

const items *batch_rule_in(const op *o, size_t i)
{
	const val *v = op_in(o, i);

	return v && v->mark ? v->mark : &batch_rule_same;
}

bool batch_rule_has(const op *o, size_t i)
{
	return batch_rule_in(o, i)->kind == BATCHED;
}

bool batch_rule_equal(const items *a, const items *b)
{
	return a->axis == b->axis && sym_same(a->pre, b->pre) && sym_same(a->post, b->post);
}

bool batch_rule_apart(const batch_propagation *f, sym_int n)
{
	return !sym_depends(f->nums, n, f->count);
}

sym_int batch_rule_groups(batch_propagation *f, const items *s, sym_int count)
{
	return sym_mul(f->nums, sym_mul(f->nums, s->pre, count), s->post);
}

sym_int batch_rule_was(batch_propagation *f, const val *v, const items *s, int axis)
{
	return s->kind == BATCHED && axis == s->axis ? batch_rule_groups(f, s, sym_const(f->was))
						     : v->dims[axis];
}

const val *batch_rule_shaped(batch_propagation *f, const op *o, size_t i)
{
	const val *v = op_in(o, i);

	if (v && v->kind == VAL_TENSOR && v->rank >= 0)
		return v;
	batch_rule_refuse(f, NULL, "the shape of an input is not known%s%s",
			  v && v->why ? ": " : "", v && v->why ? v->why : "");
	return NULL;
}

bool batch_rule_axis_of(batch_propagation *f, op *o, const val *v, int64_t otherwise, int more,
			int *ret)
{
	if (op_axis(o, op_attr_int(o, "axis", otherwise), v->rank + more, ret))
		return true;
	return batch_rule_refuse(f, NULL, "its axis is not valid");
}

/* --- answers --- */

void batch_rule_all(batch_propagation *f, items s)
{
	f->all = s;
	f->answered = true;
}

void batch_rule_set(batch_propagation *f, op *o, size_t i, items s)
{
	size_t n = o->made->nout;

	if (!f->out) {
		f->out = mem_arena_array(f->arena, n ? n : 1, sizeof *f->out);
		for (size_t k = 0; f->out && k < n; k++)
			f->out[k] = batch_rule_same;
	}
	if (f->out && i < n)
		f->out[i] = s;
	f->answered = true;
}

bool batch_rule_refuse(batch_propagation *f, const items *because, const char *why, ...)
{
	va_list ap;

	if (f->why)
		return false;
	va_start(ap, why);
	f->why = mem_arena_vfmt(f->arena, why, ap);
	va_end(ap);
	if (!f->why)
		f->why = "out of memory";
	f->conflict = because ? because->choice : -1;
	return false;
}

void batch_rule_mixes(batch_propagation *f, const items *s, const char *what)
{
	batch_rule_refuse(f, s, "%s axis %d, which holds the items", what, s->axis);
}

void batch_rule_unless(batch_propagation *f, const items *s, bool mixes, const char *what)
{
	if (mixes)
		batch_rule_mixes(f, s, what);
	else
		batch_rule_all(f, *s);
}

bool batch_rule_join(batch_propagation *f, items *s, const items *t)
{
	if (s->kind == BATCHED && !batch_rule_equal(s, t))
		return batch_rule_refuse(f, s->choice > t->choice ? s : t,
					 "its inputs hold the items at different places");
	if (s->kind != BATCHED || t->choice > s->choice)
		*s = *t;
	return true;
}

bool batch_rule_only(batch_propagation *f, op *o, size_t i)
{
	for (size_t k = 0; k < o->made->nin; k++)
		if (k != i && batch_rule_has(o, k))
			return batch_rule_refuse(f, batch_rule_in(o, k),
						 "its input '%s' depends on the items",
						 o->made->in[k]->name);
	return true;
}

int batch_rule_choose(batch_propagation *f, const items *from, uint64_t what, int n,
		      int *ret_choice)
{
	struct batch_rule_state *s = f->state;
	int at = s->nchoices, way = 0;

	*ret_choice = from ? from->choice : -1;
	if (n < 2 || at == CHOICES_MAX)
		return 0;
	if (at < s->nfixed && s->choices[at].what == what && s->choices[at].ways == n) {
		way = s->choices[at].way;
	} else {
		s->nfixed = at < s->nfixed ? at : s->nfixed;
		for (size_t i = 0; i < s->npreferred; i++)
			if (s->preferred[i].what == what && s->preferred[i].way < n)
				way = s->preferred[i].way;
	}
	s->choices[at] = (choice_point){what, way, n, *ret_choice};
	*ret_choice = s->nchoices++;
	return way;
}

/* --- edits --- */

static bool numbers(batch_propagation *f, const sym_int *v, size_t n, const int64_t **ret)
{
	int64_t *to = mem_arena_array(f->arena, n ? n : 1, sizeof *to);

	for (size_t i = 0; to && i < n; i++) {
		sym_int c;
		if (sym_known(v[i]))
			to[i] = v[i].v;
		else if (!sym_div_exact(f->nums, v[i], f->count, &c) || !sym_known(c) ||
			 __builtin_mul_overflow(c.v, f->n, &to[i]))
			return batch_rule_refuse(
			    f, NULL, "its sizes depend on more that is open than the items: %s",
			    sym_text(f->nums, v[i]));
	}
	*ret = to;
	return to != NULL;
}

static bool edit_add(batch_propagation *f, const op *o, edit_kind kind, size_t slot,
		     const sym_int *v, size_t n)
{
	edit *e = &f->now.edit[f->now.n];

	if (f->now.n == BATCH_EDITS_MAX)
		return batch_rule_refuse(f, NULL, "more than %d of its inputs would have to change",
					 BATCH_EDITS_MAX);
	bool narrow =
	    (kind == EDIT_SIZES || kind == EDIT_OFFSET) && op_in(o, slot)->dtype == ONNX_INT32;
	*e = (edit){.kind = kind, .slot = slot, .n = n, .dtype = narrow ? ONNX_INT32 : ONNX_INT64};
	if (!numbers(f, v, n, &e->v))
		return false;
	f->now.n++;
	return true;
}

void batch_state_set(batch_propagation *f, val *v, const items *s)
{
	items *to;

	v->mark = NULL;
	if (s->kind == BATCH_INVARIANT && s->choice < 0)
		return;
	to = mem_arena_alloc(f->arena, sizeof *to);
	if (to)
		*to = *s;
	v->mark = to;
}

static val *val_copy(batch_propagation *f, op *o, size_t i)
{
	val *v = mem_arena_alloc(f->arena, sizeof *v);

	if (v) {
		*v = *o->made->in[i];
		v->tensor = NULL;
		v->initializer = false;
		o->made->in[i] = v;
	}
	return v;
}

bool batch_rule_sizes(batch_propagation *f, op *o, size_t i, const sym_int *sizes, size_t n)
{
	sym_int *ints = mem_arena_array(f->arena, n ? n : 1, sizeof *ints);
	val *v = val_copy(f, o, i);

	if (!v || !ints || !edit_add(f, o, EDIT_SIZES, i, sizes, n))
		return false;
	if (n)
		memcpy(ints, sizes, n * sizeof *ints);
	v->ints = ints;
	v->n = n;
	v->reals = NULL;
	return true;
}

/* Passes input i through that edit. It then holds items as s states along that axis, which has
 * `size` elements. */
static bool repeat(batch_propagation *f, op *o, size_t i, edit_kind kind, const sym_int *list,
		   size_t n, items s, int axis, sym_int size)
{
	const val *v = op_in(o, i);
	sym_int *dims = mem_arena_array(f->arena, (size_t)v->rank, sizeof *dims);
	val *copy = val_copy(f, o, i);

	if (!dims || !copy || !edit_add(f, o, kind, i, list, n))
		return false;
	memcpy(dims, v->dims, (size_t)v->rank * sizeof *dims);
	dims[axis] = size;
	copy->dims = dims;
	copy->ints = NULL;
	copy->reals = NULL;
	copy->constant = false;
	s.axis = axis;
	batch_state_set(f, copy, &s);
	return copy->mark != NULL;
}

bool batch_rule_spread(batch_propagation *f, op *o, size_t i, int axis, const items *s,
		       bool broadcast)
{
	const val *v = op_in(o, i);
	sym_int each = sym_mul(f->nums, s->pre, s->post), list[COST_RANK_MAX];
	edit_kind kind = EDIT_EXPAND;

	if (!v || v->rank < 0 || axis >= v->rank)
		return batch_rule_refuse(f, s, "the shape of one of its inputs is not known");
	if (broadcast && (axis < 0 || sym_is(v->dims[axis], 1)))
		return true;
	if (axis < 0)
		return batch_rule_refuse(f, s, "its input '%s' has too few dimensions", v->name);
	for (int k = 0; k < v->rank; k++)
		list[k] = sym_const(1);
	if (sym_is(v->dims[axis], 1) && sym_is(each, 1) && f->was == 1) {
		list[axis] = f->count;
	} else if (sym_is(s->pre, 1) && sym_same(v->dims[axis], s->post) && f->was == 1) {
		kind = EDIT_TILE;
		list[axis] = f->count;
	} else {
		return batch_rule_refuse(
		    f, s, "axis %d of its input '%s' has %s values that are not of the items", axis,
		    v->name, sym_text(f->nums, v->dims[axis]));
	}
	if (f->opset < 8)
		return batch_rule_refuse(
		    f, s, "its input '%s' must be repeated, which takes operator set 8", v->name);
	return repeat(f, o, i, kind, list, (size_t)v->rank, *s, axis,
		      sym_mul(f->nums, v->dims[axis], f->count));
}

bool batch_rule_offset(batch_propagation *f, op *o, size_t i, sym_int each)
{
	const val *v = op_in(o, i);
	const items s = {BATCHED, 0, sym_const(1), sym_const(1), -1};
	int64_t last;

	if (f->was != 1 || f->opset < 10 || f->n > OFFSETS_MAX || v->rank < 1 ||
	    !sym_is(v->dims[0], 1) || !sym_known(each) || each.v < 1 ||
	    __builtin_mul_overflow(each.v, f->n, &last) ||
	    (v->dtype == ONNX_INT32 && last > INT32_MAX))
		return batch_rule_refuse(f, batch_rule_in(o, 0),
					 "its indices into one item cannot be extended to all");
	sym_int *list = mem_arena_array(f->arena, (size_t)f->n, sizeof *list);
	for (int64_t k = 0; list && k < f->n; k++)
		list[k] = sym_const(k * each.v);
	if (!list || !repeat(f, o, i, EDIT_OFFSET, list, (size_t)f->n, s, 0, f->count))
		return false;
	f->now.edit[f->now.n - 1].each = each.v;
	f->now.edit[f->now.n - 1].rank = v->rank;
	return true;
}
