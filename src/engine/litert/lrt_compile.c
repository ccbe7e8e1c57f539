/* lrt_compile.c - compiles a model: an interpreter, which serves one thread.
 *
 * XNNPACK reports its creation on standard error, once in a process, whatever the level of the log:
 * standard error is closed for that moment.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "engine/litert/lrt_model.h"

/* Adds a part's options, a copy of the text. */
static dck_status part_add(const lrt_api *api, lrt_options *o, const char *part, const char *text,
			   dck_err *err)
{
	char *copy = mem_dup(text);
	lrt_opaque *options = NULL;

	DCK_NEED(copy, err, "for an option");
	if (api->CreateOpaqueOptions(part, copy, mem_free, &options) != 0) {
		mem_free(copy);
		return ERR_NO_MEMORY(err, "for an option");
	}
	const int status = api->AddOpaqueOptions(o, options);
	if (status != 0)
		api->DestroyOpaqueOptions(options);
	return lrt_check(status, err, "LiteRT refuses the options of '%s'", part);
}

/* Compiles, with standard error closed until XNNPACK has reported itself. */
static int compile_quietly(dck_engine_model *m, lrt_options *o, lrt_compiled **ret)
{
	static os_fair_lock lock;
	static bool reported;

	os_fair_lock_take(&lock);
	const int saved = reported ? -1 : os_stderr_drop();
	const int status = m->lib.api.CreateCompiledModel(m->lib.environment, m->model, o, ret);
	reported |= status == 0;
	os_stderr_restore(saved);
	os_fair_lock_give(&lock);
	return status;
}

dck_status lrt_compile(dck_engine_model *m, lrt_compiled **ret, dck_err *err)
{
	const lrt_api *api = &m->lib.api;
	lrt_options *o = NULL;

	DCK_TRY(lrt_check(api->CreateOptions(&o), err, "cannot set options"));
	dck_status status = lrt_check(api->SetOptionsHardwareAccelerators(o, LRT_ACCELERATOR_CPU),
				      err, "LiteRT refuses the processor");
	DCK_NEXT(status, part_add(api, o, "xnnpack", m->options, err));
	if (status == DCK_OK)
		status = part_add(api, o, "runtime_options_string",
				  m->observe & DCK_OBSERVE_OPERATORS
				      ? "error_reporter_mode = 2\nenable_profiling = true\n"
				      : "error_reporter_mode = 2\n",
				  err);
	DCK_NEXT(status, lrt_check(compile_quietly(m, o, ret), err, "LiteRT refuses the model"));
	api->DestroyOptions(o);
	return status;
}
