/* sequence.c - sequences and optional values: abstract interpretation of their types and members.
 *
 * A sequence has a common type of its members (op_merge() is the join: a dimension in which they
 * differ becomes a size that depends on values) and, while their number is known, the members
 * themselves. An optional value is represented alike, with at most one member. Members are shared
 * by pointer and never changed, so an insertion copies only the list of pointers.
 *
 * Bounds: a list of more than MEMBERS_MAX members is not followed, nor an insertion into one of
 * INSERTS_MAX, since the lists of n insertions take n * n / 2 pointers; the common type is always
 * followed. SequenceMap walks its body once for each of up to RUNS_MAX members, and once if there
 * are more.
 *
 * These operators do not compute: their cost is 0, except for the operators in a body of
 * SequenceMap.
 * https://onnx.ai/onnx/operators/onnx__SequenceMap.html and related pages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/op.h"

#include <string.h>

#define MEMBERS_MAX ONNX_INTS_MAX
/* The members of a longer sequence are not followed: the memory of a chain of inserts must not grow
 * with the square of its length. */
#define INSERTS_MAX 256

static void set_container(op *o, size_t i, val_kind kind, val *item)
{
	val *v = op_out(o, i);

	if (!v)
		return;
	v->kind = kind;
	v->rank = -1;
	v->why = kind == VAL_SEQUENCE ? "it is a sequence" : "it is optional";
	v->item = item;
}

static void set_members(op *o, size_t i, val **items, size_t n)
{
	val *v = op_out(o, i);

	if (!v)
		return;
	v->items = items;
	v->nitems = n;
	v->items_known = true;
}

/* Returns the type that all members have. */
static val *common(op *o, val *const *items, size_t n)
{
	val *item = NULL;

	for (size_t i = 0; i < n; i++)
		item = i ? op_merge(o, item, items[i], "a size that differs between members")
			 : op_like(o, items[0]);
	return item;
}

static void set_sequence(op *o, val **items, size_t n)
{
	set_container(o, 0, VAL_SEQUENCE, common(o, items, n));
	set_members(o, 0, items, n);
}

static const val *need_sequence(op *o, size_t i)
{
	const val *v = op_in(o, i);

	if (v && v->kind == VAL_SEQUENCE)
		return v;
	op_unknown(o, v ? "its input is not a sequence" : "its input is missing");
	return NULL;
}

/* Reads the position among n members from input i; `end` without that input. False: it is unknown.
 */
static bool position(const op *o, size_t i, size_t n, size_t end, size_t *ret)
{
	sym_int at;

	if (!op_in(o, i)) {
		*ret = end;
		return n > 0 || end == n;
	}
	if (!op_int(o, i, &at) || !sym_known(at) || at.v < -(int64_t)n || at.v > (int64_t)n)
		return false;
	*ret = (size_t)(at.v < 0 ? at.v + (int64_t)n : at.v);
	return true;
}

static val *own(const val *v)
{
	/* Members are shared and never changed, so that const may be cast away. */
	return (val *)(uintptr_t)v;
}

static void shape_construct(op *o)
{
	size_t n = o->made->nin;
	val **items = mem_arena_array(o->arena, n, sizeof *items);

	if (!items)
		return;
	for (size_t i = 0; i < n; i++) {
		items[i] = own(op_in(o, i));
		if (!items[i]) {
			op_unknown(o, "its input %zu is missing", i);
			return;
		}
	}
	if (n <= MEMBERS_MAX)
		set_sequence(o, items, n);
	else
		set_container(o, 0, VAL_SEQUENCE, common(o, items, n));
}

static void shape_empty(op *o)
{
	val *item = op_like(o, NULL);

	if (!item)
		return;
	item->kind = VAL_TENSOR;
	item->dtype = op_attr_int(o, "dtype", ONNX_FLOAT);
	item->why = "the sequence has no members";
	set_container(o, 0, VAL_SEQUENCE, item);
	set_members(o, 0, NULL, 0);
}

static void shape_insert(op *o)
{
	const val *s = need_sequence(o, 0), *x = op_in(o, 1);
	size_t at;

	if (!s || !x) {
		op_unknown(o, "its input is missing");
		return;
	}
	/* The common type is made from the old one, not from all members again: a chain of inserts
	 * would take time as the square of its length. */
	bool first = !s->item || (s->items_known && !s->nitems);
	set_container(o, 0, VAL_SEQUENCE,
		      first ? op_like(o, x)
			    : op_merge(o, s->item, x, "a size that differs between members"));
	if (!s->items_known || s->nitems >= INSERTS_MAX ||
	    !position(o, 2, s->nitems, s->nitems, &at))
		return;
	val **items = mem_arena_array(o->arena, s->nitems + 1, sizeof *items);
	if (!items)
		return;
	for (size_t i = 0; i < s->nitems; i++)
		items[i + (i >= at)] = s->items[i];
	items[at] = own(x);
	set_members(o, 0, items, s->nitems + 1);
}

static void shape_erase(op *o)
{
	const val *s = need_sequence(o, 0);
	size_t at;

	if (!s)
		return;
	if (!s->items_known || !s->nitems || !position(o, 1, s->nitems, s->nitems - 1, &at) ||
	    at >= s->nitems) {
		set_container(o, 0, VAL_SEQUENCE, s->item);
		return;
	}
	val **items = mem_arena_array(o->arena, s->nitems - 1, sizeof *items);
	if (!items)
		return;
	for (size_t i = 0; i + 1 < s->nitems; i++)
		items[i] = s->items[i + (i >= at)];
	set_sequence(o, items, s->nitems - 1);
	if (s->nitems == 1 && op_out(o, 0))
		op_out(o, 0)->item = s->item;
}

/* Returns an unknown member of s. Its sizes that depend on values may differ from the sizes of
 * other members. */
static val *some_member(op *o, const val *s)
{
	val *v = op_like(o, s->item);

	if (!v || v->rank <= 0)
		return v;
	v->dims = op_dims(o, (size_t)v->rank);
	for (int i = 0; i < v->rank && v->dims; i++)
		v->dims[i] = sym_why_fresh(o->nums, s->item->dims[i])
				 ? op_fresh(o, "a size of a member of a sequence")
				 : s->item->dims[i];
	return v;
}

static void shape_at(op *o)
{
	const val *s = need_sequence(o, 0);
	const val *v = NULL;
	size_t at;

	if (!s)
		return;
	if (s->items_known && op_in(o, 1) && position(o, 1, s->nitems, 0, &at) && at < s->nitems)
		v = s->items[at];
	else if (s->item)
		v = some_member(o, s);
	if (v)
		op_set_val(o, 0, v);
	else
		op_unknown(o, "the members of the sequence are not known");
}

static void shape_length(op *o)
{
	const val *s = op_in(o, 0);
	sym_int n;

	op_set(o, 0, ONNX_INT64, 0, NULL);
	if (s && s->kind == VAL_SEQUENCE && s->items_known) {
		n = sym_const((int64_t)s->nitems);
		op_set_ints(o, 0, &n, 1);
	}
}

/* Sets output 0 to the type of a member with this size along the axis; `stack`: a new axis. */
static void set_joined(op *o, const val *member, int axis, bool stack, sym_int size)
{
	sym_int *dims = op_dims(o, (size_t)member->rank + 1);

	for (int i = 0; i < member->rank + stack; i++)
		dims[i] = i == axis ? size : member->dims[i - (stack && i > axis)];
	op_set(o, 0, member->dtype, member->rank + stack, dims);
}

/* Concatenates members that are all known: their sizes along the axis are added, the other sizes
 * are the same. */
static void concat_known(op *o, const val *s, int axis, bool stack)
{
	val *member = op_like(o, s->items[0]);
	sym_int sum = sym_const(stack ? (int64_t)s->nitems : 0);

	if (!member)
		return;
	member->dims = op_copy_dims(o, s->items[0], 0);
	for (size_t i = 0; i < s->nitems; i++) {
		const val *x = s->items[i];
		if (x->kind != VAL_TENSOR || x->rank != member->rank) {
			op_set_unknown(o, 0, member->dtype,
				       "the members of its sequence are not alike");
			return;
		}
		if (!stack)
			sum = sym_add(o->nums, sum, x->dims[axis]);
		/* The sizes are equal: the first one that is known is taken. */
		for (int k = 0; k < x->rank; k++)
			if (!sym_known(member->dims[k]) && sym_known(x->dims[k]))
				member->dims[k] = x->dims[k];
	}
	set_joined(o, member, axis, stack, sum);
}

static void shape_concat_sequence(op *o)
{
	const val *s = need_sequence(o, 0);
	bool stack = op_flag(o, "new_axis"), known = s && s->items_known && s->nitems;
	const val *item = s ? s->item : NULL;
	int axis;

	if (!s)
		return;
	if (known)
		item = s->items[0];
	if (!item || item->kind != VAL_TENSOR || item->rank < 0) {
		op_set_unknown(o, 0, item ? item->dtype : 0, "%s",
			       item && item->why ? item->why
						 : "the members of its sequence are not known");
		return;
	}
	if (!op_axis(o, op_attr_int(o, "axis", 0), item->rank + stack, &axis))
		return;
	if (known) {
		concat_known(o, s, axis, stack);
		return;
	}
	set_joined(o, item, axis, stack,
		   op_fresh(o, "a size that depends on the members of a sequence"));
}

/* --- SplitToSequence --- */

/* Returns a part of x that is `size` long along the axis; `drop`: without that axis. */
static val *part(op *o, const val *x, int axis, sym_int size, bool drop)
{
	val *v = op_like(o, x);

	if (!v)
		return NULL;
	v->rank = x->rank - drop;
	v->dims = op_dims(o, (size_t)x->rank);
	for (int i = 0, k = 0; i < x->rank && v->dims; i++)
		if (i != axis || !drop)
			v->dims[k++] = i == axis ? size : x->dims[i];
	return v;
}

static void split_parts(op *o, const val *x, int axis, const sym_int *sizes, size_t n, bool drop)
{
	val **items = mem_arena_array(o->arena, n, sizeof *items);

	for (size_t i = 0; i < n; i++)
		if (sym_known(sizes[i]) && sizes[i].v < 0) {
			op_unknown(o, "a part would have a negative size");
			return;
		}
	for (size_t i = 0; items && i < n; i++)
		if (!(items[i] = part(o, x, axis, sizes[i], drop)))
			return;
	if (items)
		set_sequence(o, items, n);
}

/* Splits x into parts of that size; the last one may be smaller. */
static void split_equal(op *o, const val *x, int axis, sym_int size, bool drop)
{
	sym_int whole = x->dims[axis], exact;

	if (sym_known(whole) && sym_known(size) && size.v > 0 && whole.v / size.v < MEMBERS_MAX) {
		size_t n = (size_t)(whole.v / size.v + (whole.v % size.v != 0));
		sym_int *sizes = op_dims(o, n);
		for (size_t i = 0; i < n; i++)
			sizes[i] =
			    (int64_t)i < whole.v / size.v ? size : sym_const(whole.v % size.v);
		split_parts(o, x, axis, sizes, n, drop);
		return;
	}
	if (!sym_is(size, 1) && !sym_div_exact(o->nums, whole, size, &exact))
		size = op_fresh(o, "the size of a part");
	set_container(o, 0, VAL_SEQUENCE, part(o, x, axis, size, drop));
}

static void shape_split_sequence(op *o)
{
	const val *x = op_need(o, 0), *split = op_in(o, 1);
	size_t n = 0;
	const sym_int *sizes = op_ints(o, 1, &n);
	int axis;

	if (!x || !op_axis(o, op_attr_int(o, "axis", 0), x->rank, &axis))
		return;
	if (!split) {
		split_equal(o, x, axis, sym_const(1), op_attr_int(o, "keepdims", 1) == 0);
		return;
	}
	if (split->kind == VAL_TENSOR && split->rank == 0) {
		sym_int size = sizes && n == 1 ? sizes[0] : op_fresh(o, "the size of a part");
		split_equal(o, x, axis, size, false);
		return;
	}
	if (sizes && split->rank == 1) {
		split_parts(o, x, axis, sizes, n, false);
		return;
	}
	sym_int size = op_fresh(o, "the size of a part");
	set_container(o, 0, VAL_SEQUENCE, part(o, x, axis, size, false));
}

/* --- SequenceMap --- */

/* Number of members up to which the body is walked for each; for more members it is walked once. */
#define RUNS_MAX 32

static val *mapped_input(op *o, size_t i, size_t member, bool known)
{
	const val *v = op_in(o, i);

	if (!v || v->kind != VAL_SEQUENCE)
		return own(v);
	if (known && v->items_known && member < v->nitems)
		return v->items[member];
	return v->item ? some_member(o, v) : NULL;
}

static void map_body(op *o, const onnx_graph *g, const val *s, bool known)
{
	size_t runs = known ? s->nitems : 1, nin = o->made->nin, nout = o->made->nout;
	val **in = mem_arena_array(o->arena, nin, sizeof *in), **out;
	val ***made = mem_arena_array(o->arena, nout, sizeof *made);
	sym_int times = known		 ? sym_const(1)
			: s->items_known ? sym_const((int64_t)s->nitems)
					 : op_fresh(o, "the members of a sequence");
	size_t n;

	for (size_t k = 0; made && k < nout; k++)
		if (!(made[k] = mem_arena_array(o->arena, runs, sizeof **made)))
			return;
	for (size_t r = 0; in && made && r < runs; r++) {
		for (size_t i = 0; i < nin; i++)
			in[i] = mapped_input(o, i, r, known);
		if (!op_body(o, g, in, nin, times, NULL, &out, &n))
			return;
		for (size_t k = 0; k < nout; k++)
			made[k][r] = op_like(o, k < n ? out[k] : NULL);
	}
	for (size_t k = 0; made && k < nout; k++) {
		if (known) {
			set_container(o, k, VAL_SEQUENCE, common(o, made[k], runs));
			set_members(o, k, made[k], runs);
		} else
			set_container(o, k, VAL_SEQUENCE, made[k][0]);
	}
}

static void shape_map(op *o)
{
	const val *s = need_sequence(o, 0);
	const onnx_attribute *body = op_attr(o, "body");

	if (!s)
		return;
	if (!body || !body->g) {
		op_unknown(o, "it has no body");
		return;
	}
	map_body(o, body->g, s, s->items_known && s->nitems && s->nitems <= RUNS_MAX);
}

/* --- optional values --- */

static val *typed(op *o, const onnx_type *t)
{
	val *v = op_like(o, NULL);

	if (!v || !t)
		return v;
	if (t->tensor) {
		v->kind = VAL_TENSOR;
		v->dtype = t->tensor->dtype;
		v->why = "it is empty";
	} else if (t->sequence) {
		v->kind = VAL_SEQUENCE;
		v->why = "it is a sequence";
		v->item = op_like(o, NULL);
		if (v->item && t->sequence->value && t->sequence->value->tensor) {
			v->item->kind = VAL_TENSOR;
			v->item->dtype = t->sequence->value->tensor->dtype;
		}
	}
	return v;
}

static void shape_optional(op *o)
{
	const val *x = op_in(o, 0);
	const onnx_attribute *type = op_attr(o, "type");
	val **items = mem_arena_array(o->arena, 1, sizeof *items);

	set_container(o, 0, VAL_OPTIONAL, x ? own(x) : typed(o, type ? type->tp : NULL));
	if (items) {
		items[0] = own(x);
		set_members(o, 0, items, x != NULL);
	}
}

static void shape_optional_get(op *o)
{
	const val *x = op_in(o, 0);

	if (!x)
		op_unknown(o, "its input is missing");
	else if (x->kind != VAL_OPTIONAL)
		op_set_val(o, 0, x);
	else if (x->item)
		op_set_val(o, 0, x->item);
	else
		op_unknown(o, "the type of what its input holds is not known");
}

static void shape_optional_has(op *o)
{
	const val *x = op_in(o, 0);
	sym_int has;

	op_set(o, 0, ONNX_BOOL, 0, NULL);
	if (x && (x->kind == VAL_OTHER || (x->kind == VAL_OPTIONAL && !x->items_known)))
		return;
	has = sym_const(x && (x->kind != VAL_OPTIONAL || x->nitems));
	op_set_ints(o, 0, &has, 1);
}

static const op_row sequence_op_rows[] = {
    {"ConcatFromSequence", shape_concat_sequence, .traffic = TRAFFIC_PICK},
    {"Optional", shape_optional, .traffic = TRAFFIC_VIEW},
    {"OptionalGetElement", shape_optional_get, .traffic = TRAFFIC_VIEW},
    {"OptionalHasElement", shape_optional_has, .traffic = TRAFFIC_SHAPE},
    {"SequenceAt", shape_at, .traffic = TRAFFIC_PICK},
    {"SequenceConstruct", .shape = shape_construct},
    {"SequenceEmpty", shape_empty, .traffic = TRAFFIC_WRITE},
    {"SequenceErase", shape_erase, .traffic = TRAFFIC_PICK},
    {"SequenceInsert", .shape = shape_insert},
    {"SequenceLength", shape_length, .traffic = TRAFFIC_SHAPE},
    {"SequenceMap", shape_map, .traffic = TRAFFIC_CONTROL},
    {"SplitToSequence", .shape = shape_split_sequence},
};

const op_family op_family_sequence = {"", sequence_op_rows,
				      sizeof sequence_op_rows / sizeof *sequence_op_rows};
