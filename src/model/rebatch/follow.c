/* follow.c - batch-axis propagation: what a batching rule reads of the items, and how it answers.
 *
 * As in the batching rules of vmap (JAX), each value is in one of three states: the same for all
 * items, sizes that depend on their number alone, or batched along one axis, as `pre` groups of N
 * items of `post` elements. The state is in val.mark. A rule reads the states of its inputs
 * (follow_in()) and answers with those of its outputs (follow_all(), follow_set()) or refuses; the
 * first refusal counts.
 *
 * Where several axes may hold the items, follow_choose() records a choice point. Each state carries
 * the latest choice that led to it, and a refusal blames one, so that follow_run.c can change that
 * choice and walk again (backjumping). Choices before the changed one are replayed by their
 * position.
 *
 * A rule may also edit an input: other sizes, or an Expand, Tile or offset before it. The inference
 * continues with a copy that has the edited shape, so shapes and edits agree; rewrite.c writes the
 * edits. All is in the arena of one attempt; a node has at most FOLLOW_EDITS_MAX edits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/follow_run.h"

#include <string.h>

/* Number of items up to which indices are written out. */
#define OFFSETS_MAX 65536
const items follow_same = {.choice = -1};

const items *follow_in(const op *o, size_t i)
{
	const val *v = op_in(o, i);

	return v && v->mark ? v->mark : &follow_same;
}

bool follow_has(const op *o, size_t i)
{
	return follow_in(o, i)->kind == HELD_ITEMS;
}

bool follow_equal(const items *a, const items *b)
{
	return a->axis == b->axis && num_same(a->pre, b->pre) && num_same(a->post, b->post);
}

bool follow_apart(const follow *f, num n)
{
	return !num_depends(f->nums, n, f->count);
}

num follow_groups(follow *f, const items *s, num count)
{
	return num_mul(f->nums, num_mul(f->nums, s->pre, count), s->post);
}

num follow_was(follow *f, const val *v, const items *s, int axis)
{
	return s->kind == HELD_ITEMS && axis == s->axis ? follow_groups(f, s, num_int(f->was))
							: v->dims[axis];
}

const val *follow_shaped(follow *f, const op *o, size_t i)
{
	const val *v = op_in(o, i);

	if (v && v->kind == VAL_TENSOR && v->rank >= 0)
		return v;
	follow_refuse(f, NULL, "the shape of an input is not known%s%s", v && v->why ? ": " : "",
		      v && v->why ? v->why : "");
	return NULL;
}

bool follow_axis_of(follow *f, op *o, const val *v, int64_t otherwise, int more, int *ret)
{
	if (op_axis(o, op_attr_int(o, "axis", otherwise), v->rank + more, ret))
		return true;
	follow_refuse(f, NULL, "its axis is not valid");
	return false;
}

/* --- answers --- */

void follow_all(follow *f, items s)
{
	f->all = s;
	f->answered = true;
}

void follow_set(follow *f, op *o, size_t i, items s)
{
	size_t n = o->made->nout;

	if (!f->out) {
		f->out = mem_arena_array(f->arena, n ? n : 1, sizeof *f->out);
		for (size_t k = 0; f->out && k < n; k++)
			f->out[k] = follow_same;
	}
	if (f->out && i < n)
		f->out[i] = s;
	f->answered = true;
}

void follow_refuse(follow *f, const items *because, const char *why, ...)
{
	va_list ap;

	if (f->why)
		return;
	va_start(ap, why);
	f->why = mem_arena_vfmt(f->arena, why, ap);
	va_end(ap);
	if (!f->why)
		f->why = "out of memory";
	f->blame = because ? because->choice : -1;
}

void follow_mixes(follow *f, const items *s, const char *what)
{
	follow_refuse(f, s, "%s axis %d, which holds the items", what, s->axis);
}

void follow_unless(follow *f, const items *s, bool mixes, const char *what)
{
	if (mixes)
		follow_mixes(f, s, what);
	else
		follow_all(f, *s);
}

bool follow_join(follow *f, items *s, const items *t)
{
	if (s->kind == HELD_ITEMS && !follow_equal(s, t)) {
		follow_refuse(f, s->choice > t->choice ? s : t,
			      "its inputs hold the items at different places");
		return false;
	}
	if (s->kind != HELD_ITEMS || t->choice > s->choice)
		*s = *t;
	return true;
}

bool follow_only(follow *f, op *o, size_t i)
{
	for (size_t k = 0; k < o->made->nin; k++)
		if (k != i && follow_has(o, k)) {
			follow_refuse(f, follow_in(o, k), "its input '%s' depends on the items",
				      o->made->in[k]->name);
			return false;
		}
	return true;
}

int follow_choose(follow *f, const items *from, uint64_t what, int n, int *ret_choice)
{
	struct follow_state *s = f->state;
	int at = s->nchoices, way = 0;

	*ret_choice = from ? from->choice : -1;
	if (n < 2 || at == CHOICES_MAX)
		return 0;
	if (at < s->nfixed && s->choices[at].what == what && s->choices[at].ways == n) {
		way = s->choices[at].way;
	} else {
		s->nfixed = at < s->nfixed ? at : s->nfixed;
		for (size_t i = 0; i < s->nprefer; i++)
			if (s->prefer[i].what == what && s->prefer[i].way < n)
				way = s->prefer[i].way;
	}
	s->choices[at] = (choice){what, way, n, *ret_choice};
	*ret_choice = s->nchoices++;
	return way;
}

/* --- edits --- */

static bool numbers(follow *f, const num *v, size_t n, const int64_t **ret)
{
	int64_t *to = mem_arena_array(f->arena, n ? n : 1, sizeof *to);

	for (size_t i = 0; to && i < n; i++) {
		num c;
		if (num_known(v[i]))
			to[i] = v[i].v;
		else if (!num_div_exact(f->nums, v[i], f->count, &c) || !num_known(c) ||
			 __builtin_mul_overflow(c.v, f->n, &to[i])) {
			follow_refuse(f, NULL,
				      "its sizes depend on more that is open than the items: %s",
				      num_text(f->nums, v[i]));
			return false;
		}
	}
	*ret = to;
	return to != NULL;
}

static bool edit_add(follow *f, const op *o, edit_kind kind, size_t slot, const num *v, size_t n)
{
	edit *e = &f->now.edit[f->now.n];

	if (f->now.n == FOLLOW_EDITS_MAX) {
		follow_refuse(f, NULL, "more than %d of its inputs would have to change",
			      FOLLOW_EDITS_MAX);
		return false;
	}
	bool narrow =
	    (kind == EDIT_SIZES || kind == EDIT_OFFSET) && op_in(o, slot)->dtype == ONNX_INT32;
	*e = (edit){.kind = kind, .slot = slot, .n = n, .dtype = narrow ? ONNX_INT32 : ONNX_INT64};
	if (!numbers(f, v, n, &e->v))
		return false;
	f->now.n++;
	return true;
}

void follow_mark(follow *f, val *v, const items *s)
{
	items *to;

	v->mark = NULL;
	if (s->kind == HELD_SAME && s->choice < 0)
		return;
	to = mem_arena_alloc(f->arena, sizeof *to);
	if (to)
		*to = *s;
	v->mark = to;
}

static val *val_copy(follow *f, op *o, size_t i)
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

bool follow_sizes(follow *f, op *o, size_t i, const num *sizes, size_t n)
{
	num *ints = mem_arena_array(f->arena, n ? n : 1, sizeof *ints);
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
static bool repeat(follow *f, op *o, size_t i, edit_kind kind, const num *list, size_t n, items s,
		   int axis, num size)
{
	const val *v = op_in(o, i);
	num *dims = mem_arena_array(f->arena, (size_t)v->rank, sizeof *dims);
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
	follow_mark(f, copy, &s);
	return copy->mark != NULL;
}

bool follow_spread(follow *f, op *o, size_t i, int axis, const items *s, bool broadcast)
{
	const val *v = op_in(o, i);
	num each = num_mul(f->nums, s->pre, s->post), list[COST_RANK_MAX];
	edit_kind kind = EDIT_EXPAND;

	if (!v || v->rank < 0 || axis >= v->rank) {
		follow_refuse(f, s, "the shape of one of its inputs is not known");
		return false;
	}
	if (broadcast && (axis < 0 || num_is(v->dims[axis], 1)))
		return true;
	if (axis < 0) {
		follow_refuse(f, s, "its input '%s' has too few dimensions", v->name);
		return false;
	}
	for (int k = 0; k < v->rank; k++)
		list[k] = num_int(1);
	if (num_is(v->dims[axis], 1) && num_is(each, 1) && f->was == 1) {
		list[axis] = f->count;
	} else if (num_is(s->pre, 1) && num_same(v->dims[axis], s->post) && f->was == 1) {
		kind = EDIT_TILE;
		list[axis] = f->count;
	} else {
		follow_refuse(f, s,
			      "axis %d of its input '%s' has %s values that are not of the items",
			      axis, v->name, num_text(f->nums, v->dims[axis]));
		return false;
	}
	if (f->opset < 8) {
		follow_refuse(f, s, "its input '%s' must be repeated, which takes operator set 8",
			      v->name);
		return false;
	}
	return repeat(f, o, i, kind, list, (size_t)v->rank, *s, axis,
		      num_mul(f->nums, v->dims[axis], f->count));
}

bool follow_offset(follow *f, op *o, size_t i, num each)
{
	const val *v = op_in(o, i);
	const items s = {HELD_ITEMS, 0, num_int(1), num_int(1), -1};
	int64_t last;

	if (f->was != 1 || f->opset < 10 || f->n > OFFSETS_MAX || v->rank < 1 ||
	    !num_is(v->dims[0], 1) || !num_known(each) || each.v < 1 ||
	    __builtin_mul_overflow(each.v, f->n, &last) ||
	    (v->dtype == ONNX_INT32 && last > INT32_MAX)) {
		follow_refuse(f, follow_in(o, 0),
			      "its indices into one item cannot be made those of all");
		return false;
	}
	num *list = mem_arena_array(f->arena, (size_t)f->n, sizeof *list);
	for (int64_t k = 0; list && k < f->n; k++)
		list[k] = num_int(k * each.v);
	if (!list || !repeat(f, o, i, EDIT_OFFSET, list, (size_t)f->n, s, 0, f->count))
		return false;
	f->now.edit[f->now.n - 1].each = each.v;
	f->now.edit[f->now.n - 1].rank = v->rank;
	return true;
}
