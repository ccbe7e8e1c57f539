/* function.c - a function in memory as an engine, so that it is measured by the same loop.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/target.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include <string.h>

/* open() has no member for a function pointer and a plug-in needs none: the subject travels as the
 * model's bytes. */
struct dck_engine_model {
	dck_subject subject;
};

/* The context adds nothing: it is the model under another type. */
static dck_status function_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	dck_engine_model *m;

	if (p->model_bytes_n != sizeof m->subject)
		DCK_FAIL(err, E_ARG, "the function engine measures functions only");
	m = mem_alloc(sizeof *m);
	DCK_NEED(m, err, "for the function to measure");
	memcpy(&m->subject, p->model_bytes, sizeof m->subject);
	*ret = m;
	return DCK_OK;
}

static void function_close(dck_engine_model *m)
{
	mem_free(m);
}

static dck_status function_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	(void)err;
	*ret = (dck_engine_context *)m;
	return DCK_OK;
}

static void function_context_free(dck_engine_context *c)
{
	(void)c;
}

static const dck_subject *function_subject(const dck_engine_context *c)
{
	return &((const dck_engine_model *)c)->subject;
}

/* Converts the result of a function of the caller. */
static dck_status function_status(int result, dck_err *err)
{
	if (result == DCK_E_CANCEL)
		DCK_FAIL(err, E_CANCEL, "interrupted");
	if (result == 0)
		return DCK_OK;
	ERR_SET(err, E_ENGINE, "the function returned %d", result);
	return err_native(DCK_E_ENGINE, result, err);
}

static dck_status function_run(dck_engine_context *c, dck_err *err)
{
	const dck_subject *s = function_subject(c);

	return function_status(s->function(s->arg), err);
}

/* --- on a device */

static dck_status function_facts(dck_engine_model *m, const dck_kv **ret, size_t *ret_n,
				 dck_err *err)
{
	const dck_function_device *d = m->subject.device;

	(void)err;
	*ret = d ? d->facts : NULL;
	*ret_n = d ? d->nfacts : 0;
	return DCK_OK;
}

static const char *function_barrier(dck_engine_context *c, unsigned index)
{
	const dck_subject *s = function_subject(c);

	return s->device ? s->device->barrier(s->arg, index) : NULL;
}

static void function_barrier_choose(dck_engine_context *c, unsigned index)
{
	const dck_subject *s = function_subject(c);

	s->device->barrier_choose(s->arg, index);
}

static dck_status function_enqueue(dck_engine_context *c, dck_err *err)
{
	const dck_subject *s = function_subject(c);

	return function_status(s->device->enqueue(s->arg), err);
}

static dck_status function_wait(dck_engine_context *c, unsigned barrier, dck_err *err)
{
	const dck_subject *s = function_subject(c);

	return function_status(s->device->wait(s->arg, barrier), err);
}

/* The function owns its inputs: its copies to the device are unknown. */
static dck_status function_transfer(dck_engine_context *c, bool to_device, uint64_t *ret_bytes,
				    dck_err *err)
{
	const dck_subject *s = function_subject(c);

	*ret_bytes = 0;
	return to_device ? DCK_OK : function_status(s->device->copy(s->arg, ret_bytes), err);
}

const dck_engine subject_function_engine = {
    ENGINE_BUILT_IN("function"),
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
    .help = "a function in this process",
    .open = function_open,
    .close = function_close,
    .context_new = function_context_new,
    .context_free = function_context_free,
    .run = function_run,
    .facts = function_facts,
    .barrier = function_barrier,
    .barrier_choose = function_barrier_choose,
    .enqueue = function_enqueue,
    .wait = function_wait,
    .transfer = function_transfer,
};
