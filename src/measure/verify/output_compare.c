/* output_compare.c - compares the outputs of two opened targets on the same inputs, element by
 * element.
 *
 * The first target is the reference. Inputs and outputs are paired by name, or by position where no
 * name matches and the counts are equal. Both targets run once for each set of the reference's
 * inputs; an input of another floating type gets rounded values. Elements are compared by
 * tensor_compare.c, and only sums are stored, so memory does not grow with the sets.
 *
 * The verdict of an output only gets worse (identical, close, unknown, different), except that one
 * in which the reference differs from itself becomes unknown. An output that cannot be compared is
 * unknown with a reason, never equal; if no output can be compared, the comparison fails with
 * E_UNSUP.
 *
 * Results and converted inputs live in the arena of the result. While sets run, b is bound to these
 * and to tensors of a, so its own inputs are bound again before return, after a failed run too.
 * compared_begin(), compared_part() and compared_end() compare one output whose values come in
 * parts. Nothing is timed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/verify/output_compare.h"
#include "base/err.h"
#include "base/observer.h"
#include "os/os.h"
#include <math.h>
#include <string.h>

const char *const compared_verdict_text[] = {"identical", "close", "unknown", "different", NULL};

#define MISSING SIZE_MAX

/* --- pairing of inputs and of outputs */

/* Sets to[i] to the index in b that pairs with a[i]: by name, or by position where no name matches
 * and the counts are equal. Returns the number of pairs. */
static size_t names_match(const dck_tensor_info *a, size_t na, const dck_tensor_info *b, size_t nb,
			  size_t *to, bool *ret_by_position)
{
	size_t found = 0;

	for (size_t i = 0; i < na; i++) {
		to[i] = subject_tensor_find(b, nb, a[i].name);
		found += to[i] != MISSING;
	}
	*ret_by_position = found == 0 && na == nb && na > 0;
	for (size_t i = 0; *ret_by_position && i < na; i++)
		to[i] = i;
	return *ret_by_position ? na : found;
}

static const char *compared_shape_text(mem_arena *a, const dck_tensor *t)
{
	const char *text = t->rank == 0 ? "a scalar" : "";

	for (int32_t d = 0; text && d < t->rank; d++)
		text = mem_arena_fmt(a, "%s%s%lld", text, d > 0 ? "x" : "", (long long)t->dim[d]);
	return text ? text : "?";
}

static bool shape_equal(const dck_tensor *a, const dck_tensor *b)
{
	return a->rank == b->rank &&
	       memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

static bool type_equal(dck_dtype a, dck_dtype b)
{
	return a.code == b.code && a.bits == b.bits;
}

typedef struct pairing {
	size_t *to;	  /* [a->nin] */
	dck_tensor *made; /* [a->nin]; data NULL: a's tensor is bound */
} pairing;

/* Makes an input of b of another floating type, as of a model converted to float16: a's values,
 * rounded. */
static dck_status tensor_make(mem_arena *arena, const dck_tensor *from, const dck_tensor *like,
			      const char *name, dck_tensor *ret, dck_err *err)
{
	*ret = *like;
	ret->data = mem_arena_alloc(arena, (size_t)like->bytes);
	DCK_NEED(ret->data, err, "to compare outputs");
	if (compared_convert(ret, from))
		return DCK_OK;
	DCK_FAIL(err, E_ARG,
		 "the input '%s' is %s in one model and %s in the other: "
		 "they cannot be given the same values",
		 name, dck_dtype_text(from->dtype), dck_dtype_text(like->dtype));
}

static dck_status inputs_match(const subject_target *a, const subject_target *b, pairing *p,
			       compared *ret, dck_err *err)
{
	bool by_position = false, converted = false;

	p->to = mem_arena_array(ret->arena, a->nin, sizeof *p->to);
	p->made = mem_arena_array(ret->arena, a->nin, sizeof *p->made);
	DCK_NEED(p->to && p->made, err, "to compare outputs");
	if (a->nin != b->nin)
		DCK_FAIL(err, E_ARG,
			 "the reference takes %zu input(s) and the other %zu: "
			 "they cannot be given the same",
			 a->nin, b->nin);
	if (names_match(a->in, a->nin, b->in, b->nin, p->to, &by_position) < a->nin)
		for (size_t i = 0; i < a->nin; i++)
			if (p->to[i] == MISSING)
				DCK_FAIL(err, E_ARG,
					 "the first model takes an input '%s', and the other "
					 "one takes none of this name: outputs are compared on "
					 "the same inputs, so give them the same names",
					 a->in[i].name);
	for (size_t i = 0; i < a->nin; i++) {
		const dck_tensor *x = subject_inputs_get(a->inputs, 0, i),
				 *y = subject_inputs_get(b->inputs, 0, p->to[i]);

		if (!shape_equal(x, y))
			DCK_FAIL(err, E_ARG,
				 "the input '%s' is %s in the reference and %s in the other: "
				 "give both the same shape (--batch, --dim, --shape)",
				 a->in[i].name, compared_shape_text(ret->arena, x),
				 compared_shape_text(ret->arena, y));
		if (type_equal(x->dtype, y->dtype))
			continue;
		converted = true;
		DCK_TRY(tensor_make(ret->arena, x, y, a->in[i].name, &p->made[i], err));
	}
	ret->inputs =
	    mem_arena_fmt(ret->arena, "the same for both, %zu set(s)%s%s", ret->asked,
			  by_position ? ", matched by position, as their names differ" : "",
			  converted ? ", rounded to the type that the other takes" : "");
	return ret->inputs ? DCK_OK : ERR_NO_MEMORY(err, "to compare outputs");
}

static dck_status inputs_give(const subject_target *a, const subject_target *b, pairing *p,
			      size_t set, dck_err *err)
{
	const dck_engine *ea = a->engine.ops, *eb = b->engine.ops;

	for (size_t i = 0; i < a->nin; i++) {
		const dck_tensor *x = subject_inputs_get(a->inputs, set, i);

		DCK_TRY(engine_bind_input(ea, a->context, i, x, err));
		if (p->made[i].data)
			(void)compared_convert(&p->made[i], x);
		DCK_TRY(engine_bind_input(eb, b->context, p->to[i],
					  p->made[i].data ? &p->made[i] : x, err));
	}
	DCK_TRY(engine_prepare(ea, a->context, err));
	return engine_prepare(eb, b->context, err);
}

/* --- outputs */

static void verdict_worse(compared_output *o, compared_verdict v, const char *why)
{
	if (v <= o->verdict)
		return;
	o->verdict = v;
	o->why = why;
}

static void output_add(compared *x, const char *name, const char *why)
{
	compared_output *o = &x->outputs[x->noutputs++];

	o->name = mem_arena_dup(x->arena, name);
	o->dtypes = "";
	if (why)
		verdict_worse(o, AGREE_DIFFERENT, why);
}

/* Lists the outputs of a, then the outputs that only b has. to[i]: the index in b, or MISSING. */
static dck_status outputs_list(const subject_target *a, const subject_target *b, compared *ret,
			       size_t *to, dck_err *err)
{
	bool by_position;

	(void)names_match(a->out, a->nout, b->out, b->nout, to, &by_position);
	for (size_t i = 0; i < a->nout; i++)
		output_add(ret, a->out[i].name,
			   to[i] == MISSING ? "only the reference has it" : NULL);
	for (size_t k = 0; !by_position && k < b->nout; k++)
		if (subject_tensor_find(a->out, a->nout, b->out[k].name) == MISSING)
			output_add(ret, b->out[k].name, "only the other has it");
	DCK_NEED(!mem_arena_failed(ret->arena), err, "to compare outputs");
	return DCK_OK;
}

static void output_compare(compared *x, compared_output *o, const dck_tensor *a,
			   const dck_tensor *b, const compared_limits *asked)
{
	const compared_limits limits = compared_limits_of(a->dtype, b->dtype, asked);

	o->dtypes = type_equal(a->dtype, b->dtype)
			? dck_dtype_text(a->dtype)
			: mem_arena_fmt(x->arena, "%s, %s", dck_dtype_text(a->dtype),
					dck_dtype_text(b->dtype));
	if (!shape_equal(a, b)) {
		verdict_worse(o, AGREE_DIFFERENT,
			      mem_arena_fmt(x->arena, "its shape is %s, and %s in the other",
					    compared_shape_text(x->arena, a),
					    compared_shape_text(x->arena, b)));
		return;
	}
	if ((a->dtype.code == DCK_DTYPE_COMPLEX) != (b->dtype.code == DCK_DTYPE_COMPLEX)) {
		verdict_worse(o, AGREE_DIFFERENT, "it is complex in one of them only");
		return;
	}
	o->compared = true;
	o->rank = a->rank;
	memcpy(o->dim, a->dim, sizeof o->dim);
	o->rtol = limits.rtol;
	o->atol = fmax(o->atol, compared_add(&o->sum, a, b, &limits));
}

/* Compares the outputs of one set of inputs, which both targets have just run. */
static dck_status compared_outputs_compare(const subject_target *a, const subject_target *b,
					   const size_t *to, const compared_limits *asked,
					   compared *x, dck_err *err)
{
	for (size_t i = 0; i < a->nout; i++) {
		compared_output *o = &x->outputs[i];
		dck_tensor ta, tb;
		dck_err why = {0};
		dck_status status;

		if (to[i] == MISSING)
			continue;
		status = engine_output(a->engine.ops, a->context, i, &ta, &why);
		DCK_NEXT(status, engine_output(b->engine.ops, b->context, to[i], &tb, &why));
		if (status == DCK_OK &&
		    (dck_dtype_bytes(ta.dtype) == 0 || dck_dtype_bytes(tb.dtype) == 0 ||
		     ta.rank < 0 || tb.rank < 0))
			verdict_worse(o, AGREE_UNKNOWN, "it is not of numbers");
		else if (status == DCK_OK)
			output_compare(x, o, &ta, &tb, asked);
		else if (status == DCK_E_NOMEM)
			return ERR_NO_MEMORY(err, "to compare outputs");
		else
			verdict_worse(o, AGREE_UNKNOWN, mem_arena_dup(x->arena, why.msg));
	}
	DCK_NEED(!mem_arena_failed(x->arena), err, "to compare outputs");
	return DCK_OK;
}

/* Returns the index of an element as text: "[0, 17]". */
static const char *place_text(mem_arena *a, const compared_output *o, uint64_t at)
{
	int64_t index[DCK_RANK_MAX];
	const char *text = "[";

	/* The first axis takes the rest, because parts are concatenated along it. */
	for (int32_t d = o->rank; d-- > 0;) {
		const uint64_t size = o->dim[d] > 0 ? (uint64_t)o->dim[d] : 1;

		index[d] = (int64_t)(d > 0 ? at % size : at);
		at /= size;
	}
	for (int32_t d = 0; text && d < o->rank; d++)
		text = mem_arena_fmt(a, "%s%s%lld", text, d > 0 ? ", " : "", (long long)index[d]);
	text = text ? mem_arena_fmt(a, "%s]", text) : NULL;
	return text ? text : "?";
}

static const char *compared_number_text(mem_arena *a, double v)
{
	const char *text = isnan(v) ? "NaN" : mem_arena_fmt(a, "%.6g", v);

	return text ? text : "?";
}

static const char *worst_text(compared *x, const compared_output *o)
{
	const compared_sum *s = &o->sum;
	const char *set = s->sets > 1 && !x->parts
			      ? mem_arena_fmt(x->arena, " with set %llu of the inputs",
					      (unsigned long long)s->worst_set + 1)
			      : "";

	return mem_arena_fmt(
	    x->arena,
	    "%llu of %llu elements are outside the tolerance (%.3g + %.3g |a|); worst is %s%s: "
	    "%s became %s",
	    (unsigned long long)s->outside, (unsigned long long)s->n, o->atol, o->rtol,
	    place_text(x->arena, o, x->parts ? s->worst_of_all : s->worst), set ? set : "",
	    compared_number_text(x->arena, s->worst_a), compared_number_text(x->arena, s->worst_b));
}

static dck_status compared_judge(compared *x, dck_err *err)
{
	bool any = false;

	for (size_t i = 0; i < x->noutputs; i++) {
		compared_output *o = &x->outputs[i];

		if (o->compared && o->sum.outside > 0)
			verdict_worse(o, AGREE_DIFFERENT, worst_text(x, o));
		else if (o->compared && o->sum.differing > 0)
			verdict_worse(o, AGREE_CLOSE, NULL);
		any |= o->verdict != AGREE_UNKNOWN;
		x->nunknown += o->verdict == AGREE_UNKNOWN;
		if (o->verdict != AGREE_UNKNOWN && o->verdict > x->verdict)
			x->verdict = o->verdict;
	}
	DCK_NEED(!mem_arena_failed(x->arena), err, "to compare outputs");
	if (x->noutputs > 0 && !any)
		DCK_FAIL(err, E_UNSUP, "no output can be compared; '%s': %s", x->outputs[0].name,
			 x->outputs[0].why);
	return DCK_OK;
}

static dck_status has_outputs(const subject_target *t, dck_err *err)
{
	const dck_engine *e = t->engine.ops;

	const bool can = e->output && !(e->caps & DCK_CAP_NO_TENSORS);

	if (can && t->nout > 0)
		return DCK_OK;
	if (can)
		DCK_FAIL(err, E_UNSUP, "the model%s%s%s has no outputs to compare",
			 t->summary.path ? " '" : "", t->summary.path ? t->summary.path : "",
			 t->summary.path ? "'" : "");
	DCK_FAIL(err, E_UNSUP, "the engine '%s' has no outputs to compare", e->name);
}

static dck_status sets_run(const subject_target *a, const subject_target *b, pairing *pair,
			   const size_t *to, const compared_limits *limits,
			   const dck_observer *watch, compared *x, dck_err *err)
{
	const uint64_t begin_ns = os_now_ns();
	dck_progress p;

	for (x->sets = 0; x->sets < x->asked; x->sets++) {
		const bool stop = observer_cancelled(watch);

		if (stop && x->sets > 0)
			return DCK_OK;
		if (stop)
			DCK_FAIL(err, E_CANCEL, "interrupted while outputs were compared");
		p = progress_fraction("outputs", x->sets, x->asked, os_now_ns() - begin_ns);
		observer_show(watch, &p);
		DCK_TRY(inputs_give(a, b, pair, x->sets, err));
		DCK_TRY(engine_run(a->engine.ops, a->context, err));
		DCK_TRY(engine_run(b->engine.ops, b->context, err));
		DCK_TRY(compared_outputs_compare(a, b, to, limits, x, err));
	}
	return DCK_OK;
}

/* Copies an output, whose memory the next run overwrites. data NULL: there is none to copy. */
static dck_status compared_output_copy(compared *x, const subject_target *t, size_t i,
				       dck_tensor *ret, dck_err *err)
{
	*ret = (dck_tensor){.rank = -1};
	DCK_TRY(engine_output(t->engine.ops, t->context, i, ret, err));
	const void *from = ret->data;

	ret->data = mem_arena_alloc(x->arena, (size_t)ret->bytes + 1);
	DCK_NEED(ret->data, err, "to compare outputs");
	if (ret->bytes > 0)
		memcpy(ret->data, from, (size_t)ret->bytes);
	return DCK_OK;
}

static bool compared_differs(const compared_output *o)
{
	return o->verdict == AGREE_DIFFERENT || (o->compared && o->sum.outside > 0);
}

/* Takes an output as unknown if the reference, run again on the same inputs, gives another. */
static void unrepeatable_take(compared *x, size_t i, const dck_tensor *first,
			      const dck_tensor *again, const compared_limits *asked)
{
	compared_output *o = &x->outputs[i];
	bool differs = !shape_equal(first, again);

	if (!differs && dck_dtype_bytes(first->dtype) > 0) {
		const compared_limits limits =
		    compared_limits_of(first->dtype, again->dtype, asked);
		compared_sum sum = {0};

		(void)compared_add(&sum, first, again, &limits);
		differs = sum.outside > 0;
	}
	if (!differs)
		return;
	o->compared = false;
	o->verdict = AGREE_UNKNOWN;
	o->why = "the reference itself gives other values when it runs again on the same inputs";
}

/* Looks where outputs differ whether the reference differs from itself as much, as a model with
 * random operators does: the difference shows nothing then. */
static dck_status unrepeatable_find(const subject_target *a, const size_t *to,
				    const compared_limits *asked, compared *x, dck_err *err)
{
	dck_tensor *first = mem_arena_array(x->arena, a->nout, sizeof *first), again;
	const dck_engine *e = a->engine.ops;
	bool any = false;

	DCK_NEED(first, err, "to compare outputs");
	for (size_t i = 0; i < a->nout; i++)
		any |= to[i] != MISSING && compared_differs(&x->outputs[i]);
	if (!any)
		return DCK_OK;
	for (size_t i = 0; i < a->nin; i++)
		DCK_TRY(
		    engine_bind_input(e, a->context, i, subject_inputs_get(a->inputs, 0, i), err));
	DCK_TRY(engine_prepare(e, a->context, err));
	DCK_TRY(engine_run(e, a->context, err));
	for (size_t i = 0; i < a->nout; i++)
		if (to[i] != MISSING && compared_differs(&x->outputs[i]))
			DCK_TRY(compared_output_copy(x, a, i, &first[i], err));
	DCK_TRY(engine_run(e, a->context, err));
	for (size_t i = 0; i < a->nout; i++) {
		if (to[i] == MISSING || !compared_differs(&x->outputs[i]))
			continue;
		DCK_TRY(engine_output(e, a->context, i, &again, err));
		unrepeatable_take(x, i, &first[i], &again, asked);
	}
	return DCK_OK;
}

static dck_status compared_compare(subject_target *a, subject_target *b,
				   const compared_limits *limits, const dck_observer *watch,
				   compared *x, dck_err *err)
{
	pairing p = {0};
	size_t *to = mem_arena_array(x->arena, a->nout, sizeof *to);

	x->outputs = mem_arena_array(x->arena, a->nout + b->nout, sizeof *x->outputs);
	x->asked = a->pool;
	DCK_NEED(to && x->outputs, err, "to compare outputs");
	DCK_TRY(inputs_match(a, b, &p, x, err));
	DCK_TRY(outputs_list(a, b, x, to, err));
	dck_status status = sets_run(a, b, &p, to, limits, watch, x, err);
	DCK_NEXT(status, unrepeatable_find(a, to, limits, x, err));
	/* b's bindings point into memory that is freed with x. */
	const dck_status back = subject_target_next_input(b, status == DCK_OK ? err : NULL);
	DCK_NEXT(status, back);
	return status == DCK_OK ? compared_judge(x, err) : status;
}

/* Returns whether float32 products are computed in TF32 (NVIDIA), whose fraction has 10 bits. */
static bool is_tf32(const subject_target *t)
{
	const char *tf32 = subject_target_fact(t, "tf32");

	return tf32 && strcmp(tf32, "on") == 0;
}

dck_status compared_targets(subject_target *a, subject_target *b, const compared_limits *limits,
			    const dck_observer *watch, compared *ret, dck_err *err)
{
	compared x = {0};
	dck_status status;

	DCK_TRY(has_outputs(a, err));
	DCK_TRY(has_outputs(b, err));
	x.arena = mem_arena_new(0);
	DCK_NEED(x.arena, err, "to compare outputs");
	x.tf32 = is_tf32(a) != is_tf32(b);
	status = compared_compare(a, b, limits, watch, &x, err);
	if (status != DCK_OK) {
		compared_done(&x);
		return status;
	}
	*ret = x;
	return DCK_OK;
}

dck_status compared_begin(compared *ret, const char *output, const char *inputs, dck_err *err)
{
	compared x = {.arena = mem_arena_new(0), .parts = true};

	DCK_NEED(x.arena, err, "to compare outputs");
	x.outputs = mem_arena_array(x.arena, 1, sizeof *x.outputs);
	x.inputs = mem_arena_dup(x.arena, inputs);
	if (!x.outputs || !x.inputs) {
		compared_done(&x);
		return ERR_NO_MEMORY(err, "to compare outputs");
	}
	output_add(&x, output, NULL);
	*ret = x;
	return DCK_OK;
}

dck_status compared_part(compared *x, const dck_tensor *a, const dck_tensor *b,
			 const compared_limits *limits, dck_err *err)
{
	output_compare(x, &x->outputs[0], a, b, limits);
	x->asked = ++x->sets;
	DCK_NEED(!mem_arena_failed(x->arena), err, "to compare outputs");
	return DCK_OK;
}

dck_status compared_end(compared *x, dck_err *err)
{
	return compared_judge(x, err);
}

void compared_done(compared *x)
{
	mem_arena_free(x->arena);
	memset(x, 0, sizeof *x);
}
