/* control.c - If, Loop and Scan: their bodies are walked at the operator, and the cost of an
 * operator in a body is multiplied by the number of its executions.
 * https://onnx.ai/onnx/operators/onnx__Loop.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"
#include "base/err.h"

#include <stddef.h>

/* Maximum number of walks of a body until the shapes that it passes on no longer change. Each walk
 * but the last makes at least one more size open, so the walks terminate; this bounds hostile
 * models. */
#define WALKS_MAX 16
/* A loop that makes something larger in each round is walked round by round, if it has at most
 * this number of rounds. */
#define ROUNDS_MAX 32
/* The most nodes that may be walked again: loops in loops multiply their number. */
#define AGAIN_MAX 50000u

static const onnx_graph *control_body_of(op *o, const char *name)
{
	const onnx_attribute *a = op_attr(o, name);

	if (a && a->g)
		return a->g;
	op_unknown(o, "it has no %s", name);
	return NULL;
}

static bool empty_sequence(const val *v)
{
	return v && v->kind == VAL_SEQUENCE && v->items_known && !v->nitems;
}

/* Returns a value that is either a or b. An empty sequence has no type of members, so the type of
 * the other's members is used. */
static val *control_merge(op *o, const val *a, const val *b)
{
	if (empty_sequence(a) && b && b->kind == VAL_SEQUENCE)
		return op_like(o, b);
	if (empty_sequence(b) && a && a->kind == VAL_SEQUENCE)
		return op_like(o, a);
	return op_merge(o, a, b, "a size that differs between ways to it");
}

static void set_output(op *o, size_t i, val *v)
{
	if (!v || !op_out(o, i))
		return;
	op_set_val(o, i, v);
	op_out(o, i)->base = v;
}

/* --- If --- */

static sym_int *field_of(cost_op *c, size_t at)
{
	return (sym_int *)(void *)((char *)c + at);
}

/* Where both branches cost the same, that cost is known: it is counted in the first branch. */
static void count_alike(op *o, size_t begin, size_t middle, sym_int taken, size_t at)
{
	infer *in = o->infer;
	sym_int sum = sym_const(0), whole, each;

	for (size_t i = begin; i < middle; i++)
		sum = sym_add(o->nums, sum, *field_of(&in->ops[i], at));
	whole = sum;
	for (size_t i = middle; i < in->nops; i++)
		whole = sym_add(o->nums, whole, *field_of(&in->ops[i], at));
	if (!sym_div_exact(o->nums, sum, taken, &each) || !sym_same(each, whole))
		return;
	for (size_t i = begin; i < in->nops; i++) {
		sym_int *x = field_of(&in->ops[i], at);
		if (i >= middle)
			*x = sym_const(0);
		else if (sym_div_exact(o->nums, *x, taken, &each))
			*x = each;
	}
}

/* It is open how often the first branch is taken, `taken`; the other one is taken 1 - `taken`
 * times. So the open number cancels in the sum where both branches cost the same. */
static void both_branches(op *o, const onnx_graph *yes, const onnx_graph *no)
{
	static const size_t fields[] = {offsetof(cost_op, macs), offsetof(cost_op, flops),
					offsetof(cost_op, read_bytes),
					offsetof(cost_op, write_bytes)};
	sym_int taken = op_choice(o, "which branch is taken");
	size_t na, nb, begin = o->infer->nops, middle;
	val **a, **b;

	if (!op_body(o, yes, NULL, 0, taken, "then_branch", &a, &na))
		return;
	middle = o->infer->nops;
	if (!op_body(o, no, NULL, 0, sym_sub(o->nums, sym_const(1), taken), "else_branch", &b, &nb))
		return;
	o->made->either = true;
	for (size_t i = begin; i < o->infer->nops; i++)
		if (o->infer->ops[i].inside == o->slot)
			o->infer->ops[i].branch = i < middle ? 1 : 2;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		count_alike(o, begin, middle, taken, fields[i]);
	for (size_t i = 0; i < o->made->nout; i++) {
		val *first = i < na ? a[i] : NULL, *second = i < nb ? b[i] : NULL;
		val *v = control_merge(o, first, second);
		if (!v || !op_out(o, i))
			continue;
		op_set_val(o, i, v);
		/* One of the branches makes it. */
		op_out(o, i)->base = second && !second->constant ? second : first;
	}
}

static void shape_if(op *o)
{
	const onnx_graph *yes = control_body_of(o, "then_branch"),
			 *no = control_body_of(o, "else_branch");
	sym_int cond;
	val **out;
	size_t n;

	if (!yes || !no)
		return;
	if (!op_int(o, 0, &cond) || !sym_known(cond)) {
		const val *v = op_in(o, 0);
		if (!v || !v->has_seen) {
			both_branches(o, yes, no);
			return;
		}
		cond = sym_const(v->seen != 0);
		infer_chosen(o, cond.v);
	}
	if (!op_body(o, cond.v ? yes : no, NULL, 0, sym_const(1),
		     cond.v ? "then_branch" : "else_branch", &out, &n))
		return;
	for (size_t i = 0; i < o->made->nout && i < n; i++)
		set_output(o, i, out[i]);
}

/* --- bodies that run again and again --- */

/* op_body() for a body that was walked before; the number of such walks is bounded. */
static bool walk_again(op *o, const onnx_graph *g, val *const *inputs, size_t ninputs,
		       sym_int times, val ***ret_out, size_t *ret_nout)
{
	infer *in = o->infer;
	size_t before = in->visited;

	if (in->again > AGAIN_MAX) {
		in->status = ERR_SET(in->err, E_LIMIT,
				     "the model's loops are nested so "
				     "that following them takes more than %u steps",
				     AGAIN_MAX);
		return false;
	}
	if (!op_body(o, g, inputs, ninputs, times, NULL, ret_out, ret_nout))
		return false;
	in->again += in->visited - before;
	return true;
}

typedef struct rounds {
	const onnx_graph *g;
	size_t nstate, nextra; /* nextra: inputs before the state, of a Loop */
	val **state;	       /* the values that go into a round */
	val **in;	       /* all inputs of the body */
	size_t nin;
	val **out;
	size_t nout;
	size_t first_state; /* the first output that belongs to the state */
} rounds;

static bool same_type(const val *a, const val *b)
{
	if (a->kind != b->kind || a->dtype != b->dtype || a->rank != b->rank)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (!sym_same(a->dims[i], b->dims[i]))
			return false;
	return !a->item == !b->item && (!a->item || same_type(a->item, b->item));
}

static bool has_contents(const val *v)
{
	return v->ints || v->reals || v->items_known;
}

static bool control_same_contents(const val *a, const val *b)
{
	if (!a->ints || !b->ints || a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!sym_same(a->ints[i], b->ints[i]))
			return false;
	return true;
}

/* The state of the first round. It is a copy, because its contents may have to be forgotten. */
static val *state_from(op *o, const val *v)
{
	val *s = op_like(o, v);

	if (!s || !v)
		return s;
	s->base = (val *)(uintptr_t)v; /* which lives until the body has used it */
	s->ints = v->ints;
	s->reals = v->reals;
	s->n = v->n;
	s->items = v->items;
	s->nitems = v->nitems;
	s->items_known = v->items_known;
	return s;
}

/* A size that has become open stays the same open number; otherwise the walks would never end. */
static void keep_open(sym_table *t, val *v, const val *before, bool *opened)
{
	if (v->item && before->item)
		keep_open(t, v->item, before->item, opened);
	for (int i = 0; i < v->rank && v->rank == before->rank; i++) {
		if (sym_same(v->dims[i], before->dims[i]))
			continue;
		if (opened[i])
			v->dims[i] = before->dims[i];
		opened[i] = true;
	}
}

/* Returns the input value of the next round, from the input `before` and the output `after` of this
 * round. */
static val *state_next(op *o, val *before, const val *after, bool *opened, bool *changed)
{
	val *v;

	if (!after || after == before)
		return before;
	if (same_type(before, after)) {
		if (!has_contents(before) || control_same_contents(before, after))
			return before;
		*changed = true;
		v = op_like(o, before);
		if (v)
			v->base = before->base;
		return v;
	}
	v = control_merge(o, before, after);
	if (!v)
		return before;
	v->base = before->base;
	keep_open(o->nums, v, before, opened);
	if (same_type(before, v) && !has_contents(before))
		return before;
	*changed = true;
	return v;
}

/* Walks the body until the state no longer changes. False: a walk failed. `again`: the body was
 * walked before. *ret_stable: the types and shapes were the same after the first walk already. */
static bool rounds_walk(op *o, rounds *r, sym_int times, bool again, bool *ret_stable)
{
	size_t begin = o->infer->nops;
	bool(*opened)[COST_RANK_MAX] = mem_arena_array(o->arena, r->nstate, sizeof *opened);

	if (!opened)
		return false;
	*ret_stable = true;
	for (int walk = 0;; walk++) {
		bool changed = false;
		for (size_t i = 0; i < r->nstate; i++)
			r->in[r->nextra + i] = r->state[i];
		/* Only the operators of the last walk count. */
		o->infer->nops = begin;
		bool ok = walk || again
			      ? walk_again(o, r->g, r->in, r->nin, times, &r->out, &r->nout)
			      : op_body(o, r->g, r->in, r->nin, times, NULL, &r->out, &r->nout);
		if (!ok)
			return false;
		for (size_t i = 0; i < r->nstate && walk <= WALKS_MAX; i++) {
			size_t at = r->first_state + i;
			const val *after = at < r->nout ? r->out[at] : NULL;
			val *next = r->state[i]
					? state_next(o, r->state[i], after, opened[i], &changed)
					: NULL;
			*ret_stable &= !next || same_type(next, r->state[i]);
			r->state[i] = next;
		}
		if (!changed) {
			for (size_t i = 0; i < r->nstate; i++)
				if (r->state[i] && r->first_state + i < r->nout)
					r->state[i]->again = r->out[r->first_state + i];
			return true;
		}
		if (walk == WALKS_MAX) /* one last walk, with a state of which nothing is known */
			for (size_t i = 0; i < r->nstate; i++) {
				r->state[i] = op_like(o, NULL);
				if (r->state[i])
					r->state[i]->kind = VAL_OTHER;
			}
	}
}

/* Sets output i to the values `each` of all n rounds, stacked along a new axis. */
static void set_stacked(op *o, size_t i, const val *each, int64_t at, sym_int n, sym_int batch)
{
	bool batched = !sym_is(batch, -1);
	int rank, axis, extra = batched;
	sym_int *dims;

	if (!each || each->kind != VAL_TENSOR || each->rank < 0) {
		op_set_unknown(o, i, each ? each->dtype : 0, "%s",
			       each && each->why ? each->why
						 : "its body does not define its outputs");
		return;
	}
	rank = each->rank + 1 + extra;
	if (!op_axis(o, at, each->rank + 1, &axis))
		return;
	dims = op_dims(o, (size_t)rank);
	if (batched)
		dims[0] = batch;
	for (int k = 0, from = 0; k <= each->rank; k++)
		dims[extra + k] = k == axis ? n : each->dims[from++];
	op_set(o, i, each->dtype, rank, dims);
}

/* --- Loop --- */

/* A single number for an input of the body, which may declare it as a vector of one element. */
static val *scalar_for(op *o, const onnx_graph *g, size_t input, int64_t dtype)
{
	val *v = op_like(o, NULL);
	const onnx_type *t = input < g->ninputs ? g->inputs[input].type : NULL;

	if (!v)
		return NULL;
	v->name = input < g->ninputs ? g->inputs[input].name : NULL;
	v->kind = VAL_TENSOR;
	v->dtype = dtype;
	v->why = NULL;
	v->rank = t && t->tensor && t->tensor->shape && t->tensor->shape->rank == 1;
	v->dims = op_dims(o, 1);
	if (v->dims)
		v->dims[0] = sym_const(1);
	return v;
}

static void give_content(op *o, val *v, int64_t content)
{
	if (!v || !(v->ints = op_dims(o, 1)))
		return;
	v->ints[0] = sym_const(content);
	v->n = 1;
	v->given = true; /* known when the node runs */
}

/* Returns the maximum number of rounds, from input M; absent without M. */
static sym_int trip_limit(op *o)
{
	sym_int m, cond;

	if (op_in(o, 1) && op_int(o, 1, &cond) && sym_is(cond, 0))
		return sym_const(0);
	if (!op_in(o, 0))
		return sym_unknown(o->nums, "no limit");
	if (!op_int(o, 0, &m))
		return op_fresh(o, "how often its body runs");
	return sym_known(m) && m.v < 0 ? sym_const(0) : m;
}

/* A real run shows the number of rounds by the length of a stacked output. */
static bool shown_trips(op *o, size_t nstate, sym_int *ret)
{
	for (size_t i = nstate; i < o->made->nout; i++) {
		const cost_shape *s = infer_observed(o, i);
		if (!s || s->rank < 1)
			continue;
		*ret = sym_const(s->dims[0]);
		infer_chosen(o, s->dims[0]);
		return true;
	}
	return false;
}

static bool is_true(const val *v)
{
	return v && v->ints && v->n == 1 && sym_known(v->ints[0]) && v->ints[0].v;
}

static bool is_false(const val *v)
{
	return v && v->ints && v->n == 1 && sym_is(v->ints[0], 0);
}

static bool loop_init(op *o, rounds *r, const onnx_graph *g)
{
	size_t nin = o->made->nin;

	*r = (rounds){.g = g, .nstate = nin > 2 ? nin - 2 : 0, .nextra = 2, .first_state = 1};
	r->nin = r->nstate + 2;
	r->state = mem_arena_array(o->arena, r->nstate, sizeof *r->state);
	r->in = mem_arena_array(o->arena, r->nin, sizeof *r->in);
	if (!r->state || !r->in)
		return false;
	r->in[0] = scalar_for(o, g, 0, ONNX_INT64);
	r->in[1] = scalar_for(o, g, 1, ONNX_BOOL);
	give_content(o, r->in[1], 1); /* the body runs only while the condition is true */
	for (size_t i = 0; i < r->nstate; i++)
		r->state[i] = state_from(o, op_in(o, 2 + i));
	return r->in[0] && r->in[1];
}

/* Walks each round separately, with its number and the values of the round before, until the body
 * ends the loop or `limit` (not a number: none) is reached. False: the end is not known, or there
 * are too many rounds; *ret_rounds: the number of rounds. */
static bool loop_unrolled(op *o, const onnx_graph *g, sym_int limit, size_t begin,
			  int64_t *ret_rounds)
{
	const bool ends = !sym_unknown_reason(limit) && sym_known(limit) && limit.v <= ROUNDS_MAX;
	const sym_int reads = o->made->constant_reads;
	rounds r;
	size_t scans = 0;
	int64_t n = 0;
	bool last = false;
	val **sum = NULL;

	o->infer->nops = begin;
	if (!loop_init(o, &r, g))
		return false;
	while (!last) {
		val *number = scalar_for(o, g, 0, ONNX_INT64);
		const val *more;

		if (n == ROUNDS_MAX)
			return false;
		give_content(o, number, n++);
		r.in[0] = number;
		for (size_t i = 0; i < r.nstate; i++) {
			r.in[2 + i] = r.state[i];
			if (r.state[i])
				r.state[i]->given = true;
		}
		/* Constants are read once for all rounds. */
		o->made->constant_reads = n > 1 ? sym_const(0) : reads;
		const bool walked = walk_again(o, g, r.in, r.nin, sym_const(1), &r.out, &r.nout);
		o->made->constant_reads = reads;
		if (!walked)
			return false;
		more = r.nout ? r.out[0] : NULL;
		last = (ends && n == limit.v) || is_false(more);
		if (!last && !is_true(more))
			return false;
		for (size_t i = 0; i < r.nstate; i++)
			r.state[i] = state_from(o, 1 + i < r.nout ? r.out[1 + i] : NULL);
		if (!sum) {
			scans = r.nout > 1 + r.nstate ? r.nout - 1 - r.nstate : 0;
			sum = mem_arena_array(o->arena, scans, sizeof *sum);
			if (!sum)
				return false;
		}
		for (size_t i = 0; i < scans && 1 + r.nstate + i < r.nout; i++)
			sum[i] = sum[i] ? control_merge(o, sum[i], r.out[1 + r.nstate + i])
					: r.out[1 + r.nstate + i];
	}
	*ret_rounds = n;
	for (size_t i = 0; i < r.nstate; i++)
		set_output(o, i, r.state[i]);
	for (size_t i = 0; i < scans; i++)
		set_stacked(o, r.nstate + i, sum[i], 0, sym_const(n), sym_const(-1));
	return true;
}

/* Whether the rounds may cost different amounts: a branch or an inner loop depends on something. */
static bool is_undecided(const infer *in, size_t begin)
{
	for (size_t i = begin; i < in->nops; i++)
		if (in->ops[i].either || sym_unknown_reason(in->ops[i].rounds) ||
		    sym_why_fresh(in->nums, in->ops[i].rounds))
			return true;
	return false;
}

static void loop_outputs(op *o, rounds *r, sym_int trips)
{
	bool once = sym_lower_bound(o->nums, trips) >= 1;

	for (size_t i = 0; i < r->nstate; i++) {
		val *last = 1 + i < r->nout ? r->out[1 + i] : NULL;
		const val *first = op_in(o, 2 + i);
		val *v = last;
		if (sym_is(trips, 0))
			v = (val *)(uintptr_t)first;
		else if (!once && last && first)
			v = control_merge(o, first, last);
		set_output(o, i, v);
	}
	for (size_t i = r->nstate; i < o->made->nout; i++)
		set_stacked(o, i, 1 + i < r->nout ? r->out[1 + i] : NULL, 0, trips, sym_const(-1));
}

static void shape_loop(op *o)
{
	const onnx_graph *g = control_body_of(o, "body");
	sym_int limit = g ? trip_limit(o) : sym_const(0), trips = limit, cond;
	bool stable, first_known = !op_in(o, 1) || (op_int(o, 1, &cond) && sym_known(cond));
	size_t begin = o->infer->nops, visited = o->infer->visited;
	rounds r;

	if (!g || !loop_init(o, &r, g))
		return;
	bool open = sym_unknown_reason(limit) || !first_known;
	if (open)
		trips = op_fresh(o, "how often its body runs");
	bool shown = (open || !sym_known(trips)) && shown_trips(o, r.nstate, &trips);
	if (!rounds_walk(o, &r, trips, false, &stable))
		return;
	if (!shown && !is_true(r.nout ? r.out[0] : NULL) && !sym_is(trips, 0) &&
	    !sym_is(trips, 1) && !sym_why_fresh(o->nums, trips)) {
		/* The body decides when the loop ends: it is walked once more, with a number of
		 * rounds that depends on values. */
		if (!shown_trips(o, r.nstate, &trips))
			trips = op_fresh(o, "how often its body runs");
		o->infer->nops = begin;
		if (!loop_init(o, &r, g) || !rounds_walk(o, &r, trips, true, &stable))
			return;
	}
	/* Values that one round passes to the next may decide sizes, branches and the end. */
	const bool ends = r.nout > 0 && !is_true(r.out[0]);
	const bool alike = stable && !ends && !is_undecided(o->infer, begin);
	if (!shown && !alike && !sym_is(limit, 0) && o->infer->depth == 0 &&
	    (sym_unknown_reason(limit) || sym_known(limit)) &&
	    o->infer->again + ROUNDS_MAX * (o->infer->visited - visited) <= AGAIN_MAX) {
		int64_t n = 0;
		const bool unrolled = loop_unrolled(o, g, limit, begin, &n);
		if ((unrolled && first_known) || !infer_ok(o->infer))
			return;
		if (unrolled) /* or 0, if it does not start */
			limit = sym_const(n);
		o->infer->nops = begin;
		if (!loop_init(o, &r, g) || !rounds_walk(o, &r, trips, true, &stable))
			return;
	}
	o->made->least_rounds = sym_const(
	    first_known && (sym_unknown_reason(limit) || sym_lower_bound(o->nums, limit) >= 1));
	o->made->most_rounds = sym_unknown_reason(limit) ? sym_const(0) : limit;
	loop_outputs(o, &r, trips);
}

/* --- Scan --- */

static int64_t control_listed(const op *o, const char *name, size_t i)
{
	size_t n = 0;
	const int64_t *list = op_attr_ints(o, name, &n);

	return list && i < n ? list[i] : 0;
}

/* One step of a scanned input: v without the axis, and without the first `skip` dimensions. */
static val *control_step_of(op *o, const val *v, int axis, int skip)
{
	val *s = op_like(o, v);

	if (!s || !v || v->kind != VAL_TENSOR || v->rank <= 0)
		return s;
	s->base = (val *)(uintptr_t)v;
	s->dims = op_dims(o, (size_t)v->rank);
	s->rank = 0;
	for (int i = skip; i < v->rank && s->dims; i++)
		if (i != axis)
			s->dims[s->rank++] = v->dims[i];
	return s;
}

/* Before opset 9 the first input states lengths, and everything else has a batch dimension. */
static void scan_run(op *o, const onnx_graph *g, size_t lead, size_t scans, bool batched)
{
	size_t nin = o->made->nin - lead, nstate = nin - scans;
	rounds r = {.g = g, .nstate = nstate, .nin = nin};
	sym_int length = sym_unknown(o->nums, "the shape of its scan input is unknown"), times;
	sym_int batch = sym_const(-1);
	bool stable;

	r.state = mem_arena_array(o->arena, nstate, sizeof *r.state);
	r.in = mem_arena_array(o->arena, nin, sizeof *r.in);
	if (!r.state || !r.in)
		return;
	for (size_t i = 0; i < nstate; i++) {
		r.state[i] = batched ? control_step_of(o, op_in(o, lead + i), 0, 0)
				     : state_from(o, op_in(o, lead + i));
		if (!r.state[i])
			return;
	}
	for (size_t i = 0; i < scans; i++) {
		const val *v = op_in(o, lead + nstate + i);
		int axis = batched;
		if (v && v->kind == VAL_TENSOR && v->rank > batched) {
			if (!batched &&
			    !op_axis(o, control_listed(o, "scan_input_axes", i), v->rank, &axis))
				return;
			if (sym_unknown_reason(length) || sym_known(v->dims[axis]))
				length = v->dims[axis];
			if (batched)
				batch = v->dims[0];
		}
		r.in[nstate + i] = control_step_of(o, v, axis, batched);
	}
	times = sym_is(batch, -1) ? length : sym_mul(o->nums, length, batch);
	if (!rounds_walk(o, &r, times, false, &stable))
		return;
	for (size_t i = 0; i < o->made->nout; i++) {
		val *v = i < r.nout ? r.out[i] : NULL;
		if (i >= nstate)
			set_stacked(o, i, v,
				    batched ? 0 : control_listed(o, "scan_output_axes", i - nstate),
				    length, batch);
		else if (batched && op_in(o, lead + i))
			op_same(o, i, op_in(o, lead + i));
		else if (v) {
			/* The contents would be of one round only. */
			set_output(o, i, op_like(o, v));
			if (op_out(o, i))
				op_out(o, i)->base = v;
		}
	}
}

static void shape_scan(op *o)
{
	const onnx_graph *g = control_body_of(o, "body");
	bool batched = o->opset == 8;
	size_t lead = batched, nin = o->made->nin;
	int64_t scans = op_attr_int(o, "num_scan_inputs", 0);

	if (!g)
		return;
	if (nin < lead || scans < 1 || (uint64_t)scans > nin - lead) {
		op_unknown(o, "its num_scan_inputs does not fit its inputs");
		return;
	}
	scan_run(o, g, lead, (size_t)scans, batched);
}

static const op_row control_rows[] = {
    {"If", shape_if, .traffic = TRAFFIC_CONTROL},
    {"Loop", shape_loop, .traffic = TRAFFIC_CONTROL},
    {"Scan", shape_scan, .traffic = TRAFFIC_CONTROL},
};

const op_family op_family_control = {"", control_rows, sizeof control_rows / sizeof *control_rows};
