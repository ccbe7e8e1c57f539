/* function.c - a function in memory as an engine, so that it is measured by the same loop.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/target.h"
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

static dck_status function_run(dck_engine_context *c, dck_err *err)
{
	const dck_subject *s = &((const dck_engine_model *)c)->subject;
	int result = s->function(s->arg);

	if (result == DCK_E_CANCEL)
		DCK_FAIL(err, E_CANCEL, "interrupted");
	if (result != 0) {
		err_set(err, DCK_E_ENGINE, __FILE__, __LINE__, "the function returned %d", result);
		if (err)
			err->native_code = result;
		return DCK_E_ENGINE;
	}
	return DCK_OK;
}

const dck_engine subject_function_engine = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
    .name = "function",
    .version = DCK_VERSION,
    .help = "a function in this process",
    .open = function_open,
    .close = function_close,
    .context_new = function_context_new,
    .context_free = function_context_free,
    .run = function_run,
};
