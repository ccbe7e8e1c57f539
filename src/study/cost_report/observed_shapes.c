/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cost_report/observed_shapes.h"
#include "base/dtype.h"
#include "base/err.h"
#include "measure/subject/target.h"
#include "model/onnx/onnx.h"
#include "os/os.h"
#include <string.h>

const int64_t *values_whole(dck_dtype t, const void *data, size_t n, mem_arena *a)
{
	const size_t width = dck_dtype_bytes(t);
	int64_t *whole;

	if (t.code != DCK_DTYPE_INT && t.code != DCK_DTYPE_UINT && t.code != DCK_DTYPE_BOOL)
		return NULL;
	if (width == 0 || width > sizeof *whole || !(whole = mem_arena_array(a, n, sizeof *whole)))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const unsigned spare = 64 - 8 * (unsigned)width;
		uint64_t bits = 0;

		memcpy(&bits, (const char *)data + i * width, width);
		whole[i] =
		    t.code == DCK_DTYPE_INT ? (int64_t)(bits << spare) >> spare : (int64_t)bits;
	}
	return whole;
}

static void number_fill(const dck_tensor *t, mem_arena *a, values_shape *ret)
{
	const size_t width = dck_dtype_bytes(t->dtype);
	const int64_t *one =
	    t->data && width && t->bytes == width ? values_whole(t->dtype, t->data, 1, a) : NULL;

	ret->has_number = one != NULL;
	ret->number = one ? *one : 0;
}

static void shape_fill(const dck_tensor *t, mem_arena *a, values_shape *ret)
{
	if (t->rank < 0 || t->rank > DCK_RANK_MAX)
		return;
	ret->known = true;
	ret->dtype = dtype_onnx(t->dtype);
	ret->rank = t->rank;
	memcpy(ret->dims, t->dim, (size_t)t->rank * sizeof *t->dim);
	number_fill(t, a, ret);
}

static void ints_fill(const dck_tensor *t, mem_arena *a, values_shape *ret)
{
	const size_t width = dck_dtype_bytes(t->dtype), n = width ? t->bytes / width : 0;

	if (n > 0 && n <= ONNX_INTS_MAX && t->data)
		ret->ints = values_whole(t->dtype, t->data, n, a);
	ret->n = ret->ints ? n : 0;
}

static dck_status shapes_take(const subject_target *t, mem_arena *a, values_shape **ret,
			      size_t *ret_n, dck_err *err)
{
	const dck_engine *e = t->engine.ops;
	values_shape *list = mem_arena_array(a, t->nin + t->nout, sizeof *list);
	size_t n = 0;

	DCK_NEED(list, err, "for the model's values");
	for (size_t i = 0; i < t->nin; i++) {
		list[n].name = mem_arena_dup(a, t->in[i].name);
		list[n].input = true;
		shape_fill(subject_inputs_get(t->inputs, 0, i), a, &list[n]);
		if (subject_inputs_fixed(t->inputs, i))
			ints_fill(subject_inputs_get(t->inputs, 0, i), a, &list[n]);
		n++;
	}
	for (size_t i = 0; i < t->nout; i++) {
		dck_tensor tensor;

		list[n].name = mem_arena_dup(a, t->out[i].name);
		/* Only tensors have a shape. */
		if (engine_output(e, t->context, i, &tensor, NULL) == DCK_OK)
			shape_fill(&tensor, a, &list[n]);
		n++;
	}
	DCK_NEED(!mem_arena_failed(a), err, "for the model's values");
	*ret = list;
	*ret_n = n;
	return DCK_OK;
}

dck_status observed_shapes_run(const dck_subject *s, const dck_observer *watch, mem_arena *a,
			       values_shape **ret, size_t *ret_n, const char **ret_usual,
			       dck_err *err)
{
	subject_target t = {.log = watch ? watch->log : NULL,
			    .log_self = watch ? watch->self : NULL,
			    .observe = DCK_OBSERVE_VALUES};
	dck_subject plain = *s;
	dck_clock clock;

	if (s->kind != DCK_SUBJECT_MODEL)
		DCK_FAIL(err, E_ARG, "only a model has values to observe: give a file or zoo:NAME");
	if (engine_has(s->model.engine, "opt"))
		plain.model.opt = 0;
	plain.model.input_pool = 1;
	plain.model.skip_batch_check = true;
	os_clock_monotonic(&clock);
	DCK_TRY(subject_target_open(&t, &plain, &clock, watch, NULL, NULL, err));
	dck_status status =
	    subject_target_failed(&t, engine_run(t.engine.ops, t.context, err), err);
	DCK_NEXT(status, shapes_take(&t, a, ret, ret_n, err));
	if (status == DCK_OK && ret_usual)
		*ret_usual = t.usual ? mem_arena_dup(a, t.usual) : NULL;
	subject_target_close(&t);
	return status;
}
