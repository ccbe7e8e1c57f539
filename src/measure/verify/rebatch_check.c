/* rebatch_check.c - verifies a rebatched model by differential testing: its outputs against the
 * original's.
 *
 * The rebatched model runs once on n items; its inputs and outputs are copied, and it is closed.
 * Then the original runs on slices of these inputs (items_take()), and each of its outputs is
 * compared with the slice of the rebatched output (compared_part()). The original runs at most
 * COMPARED_MAX times, from first items that are spread evenly. An original of several items takes
 * consecutive ones and wraps around after the last.
 *
 * Only one of the two models is open at a time; the copies live in the arena of `check`. A
 * difference beyond the tolerance refuses the model (E_ARG), because a fast wrong model must not be
 * timed; outputs that cannot be compared are reported as such.
 *
 * skip_batch_check skips the check. It is set for both models that are opened here, which ends the
 * recursion through verify_open(). verify_open_untimed() and verify_open_given() open a target for
 * comparisons without a session.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/verify/rebatch_check.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/mem.h"
#include "os/os.h"
#include "measure/verify/output_compare.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The items compared of a larger batch, spread evenly. */
#define COMPARED_MAX 8

typedef struct check {
	const dck_subject *subject;
	const rebatched_model *rebatched;
	const dck_observer *watch;
	mem_arena *arena;
	int64_t n, was;
	/* Copies of the inputs and outputs of the rebatched model. */
	dck_tensor *in, *out;
	const char **in_name, **out_name;
	size_t nin, nout;
	compared *same;	 /* of each output */
	size_t compared; /* items */
	size_t left_out; /* outputs that could not be compared */
	double max_abs;
	bool identical;
} check;

static const batch_place *check_place_find(const batch_place *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static dck_status tensor_copy(check *c, const dck_tensor *from, dck_tensor *ret, dck_err *err)
{
	*ret = *from;
	ret->data = mem_arena_alloc(c->arena, from->bytes ? from->bytes : 1);
	DCK_NEED(ret->data, err, "to compare the model with the original");
	if (from->bytes)
		memcpy(ret->data, from->data, from->bytes);
	return DCK_OK;
}

/* Copies the items of one run of the original out of a tensor of all items. Several items wrap
 * around after the last. */
static dck_status items_take(check *c, const dck_tensor *from, const batch_place *p, int64_t first,
			     dck_tensor *ret, dck_err *err)
{
	size_t inner = dck_dtype_bytes(from->dtype), outer = 1, item;
	char *to;

	*ret = *from;
	if (!p || !p->items)
		return DCK_OK;
	if (p->axis >= from->rank || from->dim[p->axis] != c->n * p->each)
		DCK_FAIL(err, E_ARG,
			 "'%s' of the rebatched model does not hold %lld items at axis %d", p->name,
			 (long long)c->n, p->axis);
	for (int32_t i = 0; i < p->axis; i++)
		outer *= (size_t)from->dim[i];
	for (int32_t i = p->axis + 1; i < from->rank; i++)
		inner *= (size_t)from->dim[i];
	item = inner * (size_t)p->each;
	ret->dim[p->axis] = c->was * p->each;
	ret->bytes = outer * item * (size_t)c->was;
	ret->data = to = mem_arena_alloc(c->arena, ret->bytes ? ret->bytes : 1);
	DCK_NEED(to, err, "to compare the model with the original");
	for (size_t o = 0; o < outer; o++)
		for (int64_t k = 0; k < c->was; k++, to += item)
			if (item)
				memcpy(to,
				       (const char *)from->data +
					   (o * (size_t)c->n + (size_t)((first + k) % c->n)) * item,
				       item);
	return DCK_OK;
}

static dck_status run_rebatched(check *c, subject_target *t, dck_err *err)
{
	const dck_engine *e = t->engine.ops;

	if (!e->output || t->nout == 0)
		return DCK_OK;
	c->in = mem_arena_array(c->arena, t->nin, sizeof *c->in);
	c->out = mem_arena_array(c->arena, t->nout, sizeof *c->out);
	c->in_name = mem_arena_array(c->arena, t->nin, sizeof *c->in_name);
	c->out_name = mem_arena_array(c->arena, t->nout, sizeof *c->out_name);
	c->same = mem_arena_array(c->arena, t->nout, sizeof *c->same);
	DCK_NEED(c->in && c->out && c->in_name && c->out_name && c->same, err,
		 "to compare the model with the original");
	DCK_TRY(engine_run(e, t->context, err));
	for (size_t i = 0; i < t->nin; i++) {
		c->in_name[i] = mem_arena_dup(c->arena, t->in[i].name);
		DCK_TRY(tensor_copy(c, subject_inputs_get(t->inputs, 0, i), &c->in[i], err));
	}
	c->nin = t->nin;
	for (size_t i = 0; i < t->nout; i++) {
		dck_tensor out = {.rank = 0};
		dck_err why = {0};

		c->out_name[i] = mem_arena_dup(c->arena, t->out[i].name);
		/* Text or a sequence is not compared. */
		const dck_status status = engine_output(e, t->context, i, &out, &why);
		if (status != DCK_OK && status != DCK_E_UNSUP)
			return err_pass(status, &why, err);
		if (status == DCK_OK && dck_dtype_bytes(out.dtype) > 0)
			DCK_TRY(tensor_copy(c, &out, &c->out[i], err));
		c->nout = i + 1;
		if (c->out[i].data)
			DCK_TRY(compared_begin(&c->same[i], c->out_name[i], "", err));
	}
	DCK_NEED(!mem_arena_failed(c->arena), err, "to compare the model with the original");
	return DCK_OK;
}

/* Sets --shape for the inputs that have open sizes in the original. */
static dck_status shapes_give(check *c, const subject_target *t, dck_subject *s, dck_err *err)
{
	const batch_model *m = &c->rebatched->model;

	s->model.shape.n = 0;
	for (size_t i = 0; i < t->nin && s->model.shape.n < DCK_LIST_MAX; i++) {
		const batch_place *p = check_place_find(m->inputs, m->ninputs, t->in[i].name);
		const dck_tensor *x = &c->in[i];
		const char *text = mem_arena_fmt(c->arena, "%s=", t->in[i].name);
		bool open = false;

		for (int32_t d = 0; text && d < x->rank; d++) {
			const bool items = p && p->items && d == p->axis;

			open |= t->in[i].dim[d] < 0;
			text = mem_arena_fmt(c->arena, "%s%s%lld", text, d ? "x" : "",
					     (long long)(items ? c->was * p->each : x->dim[d]));
		}
		DCK_NEED(text, err, "to compare the model with the original");
		if (open)
			s->model.shape.item[s->model.shape.n++] = text;
	}
	return DCK_OK;
}

static size_t name_place(const char *const *list, size_t n, const char *name)
{
	size_t i = 0;

	while (i < n && strcmp(list[i], name) != 0)
		i++;
	return i;
}

static dck_status run_items(check *c, subject_target *t, int64_t first, dck_err *err)
{
	const batch_model *m = &c->rebatched->model;
	const dck_engine *e = t->engine.ops;

	for (size_t i = 0; i < t->nin; i++) {
		dck_tensor *part = mem_arena_alloc(c->arena, sizeof *part);
		const size_t k = name_place(c->in_name, c->nin, t->in[i].name);

		if (k == c->nin)
			DCK_FAIL(err, E_ARG, "the rebatched model has no input '%s'",
				 t->in[i].name);
		DCK_NEED(part, err, "to compare the model with the original");
		DCK_TRY(items_take(c, &c->in[k],
				   check_place_find(m->inputs, m->ninputs, t->in[i].name), first,
				   part, err));
		DCK_TRY(engine_bind_input(e, t->context, i, part, err));
	}
	DCK_TRY(engine_prepare(e, t->context, err));
	DCK_TRY(engine_run(e, t->context, err));
	for (size_t i = 0; i < t->nout; i++) {
		dck_tensor was, now;
		const size_t k = name_place(c->out_name, c->nout, t->out[i].name);

		if (k == c->nout || !c->out[k].data)
			continue;
		DCK_TRY(engine_output(e, t->context, i, &was, err));
		DCK_TRY(items_take(c, &c->out[k],
				   check_place_find(m->outputs, m->noutputs, t->out[i].name), first,
				   &now, err));
		DCK_TRY(compared_part(&c->same[k], &was, &now, NULL, err));
	}
	return DCK_OK;
}

static dck_status run_original(check *c, subject_target *t, dck_err *err)
{
	const int64_t n = c->n < COMPARED_MAX ? c->n : COMPARED_MAX;

	for (int64_t i = 0; i < n; i++) {
		if (observer_cancelled(c->watch))
			DCK_FAIL(err, E_CANCEL, "interrupted while outputs were compared");
		DCK_TRY(run_items(c, t, i * c->n / n, err));
	}
	c->compared = (size_t)n;
	return DCK_OK;
}

static dck_status check_judge(check *c, dck_err *err)
{
	size_t known = 0;

	c->identical = true;
	for (size_t i = 0; i < c->nout; i++) {
		compared *x = &c->same[i];

		c->left_out++;
		if (!c->out[i].data)
			continue;
		DCK_TRY(compared_end(x, err));
		if (x->verdict == AGREE_DIFFERENT)
			DCK_FAIL(err, E_ARG,
				 "the model was exported for %lld item(s), "
				 "and rebatched for --batch its output '%s' "
				 "is not the same: %s. "
				 "Export it with a symbolic batch dimension (torch.onnx.export: "
				 "dynamic_axes)",
				 (long long)c->was, c->out_name[i], x->outputs[0].why);
		known += x->verdict != AGREE_UNKNOWN;
		c->left_out -= x->verdict != AGREE_UNKNOWN;
		c->identical &= x->verdict == AGREE_IDENTICAL;
		if (x->outputs[0].sum.max_abs > c->max_abs)
			c->max_abs = x->outputs[0].sum.max_abs;
	}
	if (!known)
		c->compared = 0;
	return DCK_OK;
}

static dck_status rebatch_verify(check *c, dck_err *err)
{
	dck_subject s = *c->subject;
	subject_target t;
	dck_status status;

	s.model.skip_batch_check = true; /* no check of the target opened here */
	s.model.input_pool = 1;
	DCK_TRY(verify_open_untimed(&t, &s, c->watch, err));
	status = run_rebatched(c, &t, err);
	if (status == DCK_OK && c->nout > 0)
		status = shapes_give(c, &t, &s, err);
	subject_target_close(&t);
	if (status != DCK_OK || c->nout == 0)
		return status;
	s.model.batch = 0;
	s.model.input.n = 0;
	DCK_TRY(verify_open_untimed(&t, &s, c->watch, err));
	status = run_original(c, &t, err);
	subject_target_close(&t);
	return status == DCK_OK ? check_judge(c, err) : status;
}

static void looked_text(const check *c, char *buf, size_t size)
{
	const char *many = c->compared == 1 ? "" : "s";
	char left[64] = "";

	if (c->left_out > 0)
		snprintf(left, sizeof left, "; %zu of %zu could not be compared", c->left_out,
			 c->nout);
	if (c->compared == 0)
		snprintf(buf, size, "its outputs were not compared with the original's");
	else if (c->identical)
		snprintf(buf, size, "its outputs are identical to the original's on %zu item%s%s",
			 c->compared, many, left);
	else
		mem_print(
		    buf, size,
		    "its outputs equal the original's on %zu item%s (largest difference %.2g)%s",
		    c->compared, many, c->max_abs, left);
}

static dck_status rebatch_check(const dck_subject *s, const rebatched_model *f,
				const dck_observer *watch, rebatch_info *ret, dck_err *err)
{
	check c = {.subject = s,
		   .rebatched = f,
		   .watch = watch,
		   .arena = mem_arena_new(0),
		   .n = (int64_t)s->model.batch,
		   .was = f->model.was};
	rebatch_info r = rebatched_facts(f, c.n);
	dck_status status = DCK_OK;

	DCK_NEED(c.arena, err, "to compare the model with the original");
	if (!s->model.skip_batch_check)
		status = rebatch_verify(&c, err);
	for (size_t i = 0; i < c.nout; i++)
		compared_done(&c.same[i]);
	mem_arena_free(c.arena);
	looked_text(&c, r.looked, sizeof r.looked);
	if (status == DCK_OK)
		*ret = r;
	return status;
}

dck_status verify_open(subject_target *t, const dck_subject *s, const dck_clock *clock,
		       const dck_observer *watch, void (*phase)(void *self, const char *name),
		       void *phase_self, dck_err *err)
{
	t->check = rebatch_check;
	return subject_target_open(t, s, clock, watch, phase, phase_self, err);
}

static dck_status open_untimed(subject_target *ret, const dck_subject *s, bool given,
			       const dck_observer *watch, dck_err *err)
{
	dck_clock clock;

	/* The sessions of src/measure have a clock and a log too, but that directory is above this
	 * one and calls it. */
	os_clock_monotonic(&clock);
	*ret = (subject_target){.log = watch ? watch->log : NULL,
				.log_self = watch ? watch->self : NULL,
				.sizes_given = given};
	return verify_open(ret, s, &clock, watch, observer_phase, (void *)(uintptr_t)watch, err);
}

dck_status verify_open_untimed(subject_target *ret, const dck_subject *s, const dck_observer *watch,
			       dck_err *err)
{
	return open_untimed(ret, s, false, watch, err);
}

dck_status verify_open_given(subject_target *ret, const dck_subject *s, const dck_observer *watch,
			     dck_err *err)
{
	return open_untimed(ret, s, true, watch, err);
}
