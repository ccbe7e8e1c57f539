/* batch_rules_math.c - batching rules of operators that compute: element by element, along an axis,
 * products of matrices, Einsum.
 *
 * The principle: an operator must not combine elements along the axis of the items. Along any other
 * axis it works on each item as before, and the axis moves with the shape.
 *
 * - Broadcasting: inputs hold the items at the same axis, counted from the end. An input that is
 *   the same for all items stays if it has 1 there; otherwise it is repeated, or refused
 *   (batch_rule_spread()).
 * - Along an axis (softmax, cumulative sums, reductions, norms): refused if that is the items'
 *   axis.
 * - Products: the items may be rows of the left factor, columns of the right one, or along the axes
 *   before the matrices. The contracted axis would add up over items, and items in rows and columns
 *   would multiply every item with every other; both are refused.
 * - Einsum: the items have one letter, which each operand that holds them has at their axis, and
 *   which the result has too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/batch_rules.h"
#include "model/cost/einsum.h"

#include <string.h>

void batch_rule_never(batch_propagation *f, op *o)
{
	(void)o;
	batch_rule_refuse(f, NULL, "%s", f->row->why);
}

/* Returns the rank of an input, or -1 after a refusal. */
static int math_rank_of(batch_propagation *f, const op *o, size_t i)
{
	const val *v = batch_rule_shaped(f, o, i);

	return v ? v->rank : -1;
}

/* Joins inputs that broadcast: they hold the items at the same axis, counted from the end, or not
 * at all. last: how many of the last dimensions do not take part. False after a refusal, or if no
 * input holds items there. */
static bool broadcast(batch_propagation *f, op *o, size_t from, size_t to, int last, items *ret)
{
	int rank = 0;

	*ret = batch_rule_same;
	for (size_t i = from; i < to; i++) {
		int r = op_in(o, i) ? math_rank_of(f, o, i) : 0;
		if (r < 0)
			return false;
		rank = r > rank ? r : rank;
	}
	for (size_t i = from; i < to; i++) {
		if (!batch_rule_has(o, i))
			continue;
		items s = *batch_rule_in(o, i);
		s.axis += rank - op_in(o, i)->rank;
		if (s.axis >= rank - last)
			continue;
		if (!batch_rule_join(f, ret, &s))
			return false;
	}
	for (size_t i = from; i < to && ret->kind == BATCHED; i++)
		if (op_in(o, i) && !batch_rule_has(o, i) &&
		    !batch_rule_spread(f, o, i, ret->axis - (rank - op_in(o, i)->rank), ret, true))
			return false;
	return ret->kind == BATCHED;
}

void batch_rule_each(batch_propagation *f, op *o)
{
	items s;

	if (broadcast(f, o, 0, o->made->nin, 0, &s))
		batch_rule_all(f, s);
}

void batch_rule_keep(batch_propagation *f, op *o)
{
	if (batch_rule_only(f, o, 0))
		batch_rule_all(f, *batch_rule_in(o, 0));
}

/* Scales for the elements along an axis are the same for all items only if it is not the items'
 * axis. */
void batch_rule_quantize(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	const val *x = op_in(o, 0), *scale = op_in(o, 1);
	int axis;

	if (!batch_rule_only(f, o, 0) || math_rank_of(f, o, 0) < 0)
		return;
	if (scale && scale->rank > 0 &&
	    !sym_is(op_product(o, scale->dims, (size_t)scale->rank), 1)) {
		if (scale->rank > 1 || !op_axis(o, op_attr_int(o, "axis", 1), x->rank, &axis) ||
		    axis == s->axis) {
			batch_rule_mixes(f, s, "it has separate scales along");
			return;
		}
	}
	batch_rule_all(f, *s);
}

void batch_rule_dropout(batch_propagation *f, op *o)
{
	sym_int train = sym_const(0);
	size_t n = 0;
	const double *ratio = op_reals(o, 1, &n);
	bool drops = !ratio || n != 1 || ratio[0] > 0;

	if (drops && op_in(o, 2) && (!op_int(o, 2, &train) || !sym_is(train, 0)))
		batch_rule_refuse(f, NULL, "it is in training mode");
	else
		batch_rule_keep(f, o);
}

/* Reads the attribute `axis` for input 0; false after a refusal. */
static bool axis_attr(batch_propagation *f, op *o, int64_t otherwise, int *ret)
{
	const val *v = batch_rule_shaped(f, o, 0);

	return v && batch_rule_axis_of(f, o, v, otherwise, 0, ret);
}

void batch_rule_axis(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	int axis;

	if (batch_rule_only(f, o, 0) && axis_attr(f, o, f->row->at, &axis))
		batch_rule_unless(f, s, axis == s->axis, f->row->why);
}

/* Before operator set 13 all axes from the given one on were taken as one axis. */
void batch_rule_softmax(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	bool old = o->opset && o->opset < 13;
	int axis;

	if (batch_rule_only(f, o, 0) && axis_attr(f, o, old ? 1 : -1, &axis))
		batch_rule_unless(f, s, old ? s->axis >= axis : s->axis == axis,
				  "it normalises over");
}

void batch_rule_cumsum(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	int rank = math_rank_of(f, o, 0), axis;
	sym_int at;

	if (rank < 0 || !batch_rule_only(f, o, 0))
		return;
	if (!op_int(o, 1, &at) || !sym_known(at) || !op_axis(o, at.v, rank, &axis))
		batch_rule_refuse(f, NULL, "its axis is not known");
	else
		batch_rule_unless(f, s, axis == s->axis, "it adds up along");
}

void batch_rule_arg(batch_propagation *f, op *o)
{
	items s = *batch_rule_in(o, 0);
	int axis;

	if (!axis_attr(f, o, 0, &axis))
		return;
	if (axis == s.axis) {
		batch_rule_mixes(f, &s, "it compares along");
		return;
	}
	if (!op_attr_int(o, "keepdims", 1) && axis < s.axis)
		s.axis--;
	batch_rule_all(f, s);
}

void batch_rule_reduce(batch_propagation *f, op *o)
{
	items s = *batch_rule_in(o, 0);
	int rank = math_rank_of(f, o, 0), before = 0;
	const int64_t *axes;
	size_t n = 0;

	if (rank < 0 || !batch_rule_only(f, o, 0))
		return;
	if (!op_axes(o, 1, rank, &axes, &n)) {
		batch_rule_refuse(f, NULL, "its axes are not known");
		return;
	}
	if (n == 0 && op_attr_int(o, "noop_with_empty_axes", 0)) {
		batch_rule_all(f, s);
		return;
	}
	if (n == 0) {
		batch_rule_refuse(f, &s, "it combines all axes, the items among them");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (axes[i] == s.axis) {
			batch_rule_mixes(f, &s, "it combines");
			return;
		}
		before += axes[i] < s.axis;
	}
	if (!op_attr_int(o, "keepdims", 1))
		s.axis -= before;
	batch_rule_all(f, s);
}

/* The scale and the shift must have 1 along all axes before the normalised ones. False after a
 * refusal.
 */
static bool norm_parts(batch_propagation *f, op *o, size_t from, int rank, int axis)
{
	for (size_t i = from; i < o->made->nin; i++) {
		const val *v = op_in(o, i);
		if (batch_rule_has(o, i))
			return batch_rule_refuse(f, batch_rule_in(o, i),
						 "its input '%s' depends on the items", v->name);
		for (int k = 0; v && k < v->rank - (rank - axis); k++)
			if (!sym_is(v->dims[k], 1))
				return batch_rule_refuse(
				    f, NULL, "its input '%s' is larger than what it normalises",
				    v->name);
	}
	return true;
}

void batch_rule_norm(batch_propagation *f, op *o)
{
	const items *s = batch_rule_in(o, 0);
	int axis;

	if (axis_attr(f, o, -1, &axis) && batch_rule_only(f, o, 0) &&
	    norm_parts(f, o, 1, op_in(o, 0)->rank, axis))
		batch_rule_unless(f, s, s->axis >= axis, "it normalises over");
}

/* The sum of two inputs is normalised over the last axis. */
void batch_rule_skipnorm(batch_propagation *f, op *o)
{
	int rank = math_rank_of(f, o, 0);
	items s;

	if (rank >= 0 && broadcast(f, o, 0, 2, 0, &s) && norm_parts(f, o, 2, rank, rank - 1))
		batch_rule_unless(f, &s, s.axis == rank - 1, "it normalises over");
}

/* --- products --- */

static void math_product(batch_propagation *f, op *o, size_t a, size_t b)
{
	const val *x = op_in(o, a), *y = op_in(o, b);
	int rx = math_rank_of(f, o, a), ry = math_rank_of(f, o, b);
	items s = {.choice = -1};

	for (size_t i = 0; i < o->made->nin; i++)
		if (i != a && i != b && batch_rule_has(o, i)) {
			batch_rule_refuse(f, batch_rule_in(o, i),
					  "its input '%s' depends on the items",
					  o->made->in[i]->name);
			return;
		}
	if (rx < 1 || ry < 1 || rx == 1 || ry == 1) {
		bool vector = rx > 1 && ry == 1 && !batch_rule_has(o, b) &&
			      batch_rule_in(o, a)->axis < rx - 1;
		if (vector)
			batch_rule_all(f, *batch_rule_in(o, a));
		else
			batch_rule_refuse(f, batch_rule_in(o, batch_rule_has(o, a) ? a : b),
					  "it adds up over the items");
		return;
	}
	int rank = rx > ry ? rx : ry;
	bool rows = batch_rule_has(o, a) && batch_rule_in(o, a)->axis == rx - 2;
	bool columns = batch_rule_has(o, b) && batch_rule_in(o, b)->axis == ry - 1;
	if ((batch_rule_has(o, a) && batch_rule_in(o, a)->axis == rx - 1) ||
	    (batch_rule_has(o, b) && batch_rule_in(o, b)->axis == ry - 2)) {
		bool in_a = batch_rule_has(o, a) && batch_rule_in(o, a)->axis == rx - 1;
		batch_rule_refuse(f, batch_rule_in(o, in_a ? a : b),
				  "it adds up over axis %d of '%s', which holds the items",
				  batch_rule_in(o, in_a ? a : b)->axis, in_a ? x->name : y->name);
		return;
	}
	if ((rows && batch_rule_has(o, b)) || (columns && batch_rule_has(o, a))) {
		const items *p = batch_rule_in(o, a), *q = batch_rule_in(o, b);
		batch_rule_refuse(f, p->choice > q->choice ? p : q,
				  "it multiplies every item with every other");
		return;
	}
	if (rows || columns) {
		s = *batch_rule_in(o, rows ? a : b);
		s.axis = rows ? rank - 2 : rank - 1;
		batch_rule_all(f, s);
		return;
	}
	/* Along the axes before the matrices, both broadcast. */
	for (size_t k = 0; k < 2; k++) {
		size_t i = k ? b : a;
		if (!batch_rule_has(o, i))
			continue;
		items t = *batch_rule_in(o, i);
		t.axis += rank - op_in(o, i)->rank;
		if (!batch_rule_join(f, &s, &t))
			return;
	}
	for (size_t k = 0; k < 2; k++) {
		size_t i = k ? b : a;
		if (!batch_rule_has(o, i) &&
		    !batch_rule_spread(f, o, i, s.axis - (rank - op_in(o, i)->rank), &s, true))
			return;
	}
	batch_rule_all(f, s);
}

void batch_rule_matmul(batch_propagation *f, op *o)
{
	math_product(f, o, 0, (size_t)f->row->at);
}

void batch_rule_gemm(batch_propagation *f, op *o)
{
	bool ta = op_attr_int(o, "transA", 0) != 0, tb = op_attr_int(o, "transB", 0) != 0;
	const items *a = batch_rule_in(o, 0), *b = batch_rule_in(o, 1);
	items s = {0};

	if (math_rank_of(f, o, 0) < 0 || math_rank_of(f, o, 1) < 0)
		return;
	if (a->kind == BATCHED && b->kind == BATCHED) {
		batch_rule_refuse(f, a->choice > b->choice ? a : b,
				  "it multiplies every item with every other");
		return;
	}
	if (a->kind != BATCHED && b->kind != BATCHED) {
		batch_rule_refuse(f, batch_rule_in(o, 2), "what it adds depends on the items");
		return;
	}
	s = a->kind == BATCHED ? *a : *b;
	bool contracted = a->kind == BATCHED ? s.axis == (ta ? 0 : 1) : s.axis == (tb ? 1 : 0);
	if (contracted) {
		batch_rule_mixes(f, &s, "it adds up over");
		return;
	}
	s.axis = a->kind == BATCHED ? 0 : 1;
	const val *c = op_in(o, 2);
	if (c && batch_rule_has(o, 2)) {
		items t = *batch_rule_in(o, 2);
		t.axis += 2 - c->rank;
		if (!batch_rule_join(f, &s, &t))
			return;
	} else if (c && (math_rank_of(f, o, 2) < 0 ||
			 !batch_rule_spread(f, o, 2, s.axis - (2 - c->rank), &s, true))) {
		return;
	}
	batch_rule_all(f, s);
}

/* Returns whether a label occurs twice, as in "ii->i". */
static bool has_diagonal(const int *labels, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = i + 1; k < n; k++)
			if (labels[i] == labels[k])
				return true;
	return false;
}

static int label_axis(const int *labels, int n, int label)
{
	int axis = 0;

	while (axis < n && labels[axis] != label)
		axis++;
	return axis < n ? axis : -1;
}

/* "bhid,bhjd->bhij": the items' letter must be in every operand that holds them, at their axis, and
 * in the result. */
void batch_rule_einsum(batch_propagation *f, op *o)
{
	const size_t n = o->made->nin;
	items s = {.choice = -1};
	int label = -1;
	einsum e;
	int(*labels)[COST_RANK_MAX] = mem_arena_array(o->arena, n, sizeof *labels);
	int *ranks = mem_arena_array(o->arena, n, sizeof *ranks);

	if (!labels || !ranks || !einsum_read(o, &e, labels, ranks)) {
		batch_rule_refuse(f, NULL, "its equation is not one that can be followed");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const items *t = batch_rule_in(o, i);

		if (has_diagonal(labels[i], ranks[i])) {
			batch_rule_refuse(f, NULL, "its equation takes a diagonal");
			return;
		}
		if (!batch_rule_has(o, i))
			continue;
		const int own = labels[i][t->axis];
		if (label >= 0 &&
		    (own != label || !sym_same(t->pre, s.pre) || !sym_same(t->post, s.post))) {
			batch_rule_refuse(f, t, "its inputs hold the items at different places");
			return;
		}
		label = own;
		if (!s.kind || t->choice > s.choice)
			s = *t;
	}
	/* An operand that is the same for all items has one of the items' letter. */
	for (size_t i = 0; i < n && label >= 0; i++) {
		const int axis = label_axis(labels[i], ranks[i], label);

		if (axis >= 0 && !batch_rule_has(o, i) &&
		    !batch_rule_spread(f, o, i, axis, &s, label >= EINSUM_LETTERS))
			return;
	}
	s.axis = label_axis(e.out, e.nout, label);
	if (s.axis >= 0)
		batch_rule_all(f, s);
	else
		batch_rule_refuse(f, &s, "it adds up over the items in '%.60s'",
				  op_attr_text(o, "equation"));
}
