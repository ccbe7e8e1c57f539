/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/runtime_model.h"

#include "base/err.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#define FACTS_MAX 40

void runtime_what(char buf[RUNTIME_WHAT], const char *fmt, va_list ap)
{
	static const char end[] = "...";

	if (vsnprintf(buf, RUNTIME_WHAT, fmt, ap) >= RUNTIME_WHAT)
		memcpy(buf + utf8_cut(buf, RUNTIME_WHAT - sizeof end), end, sizeof end);
}

static runtime_model *runtime_of(dck_engine_model *m)
{
	return (runtime_model *)(void *)m;
}

dck_status runtime_model_open(const dck_engine *e, const dck_open_params *p, size_t bytes,
			      dck_status (*open)(dck_engine_model *m, const dck_open_params *p,
						 dck_err *err),
			      dck_engine_model **ret, dck_err *err)
{
	DCK_TRY(engine_options_check(e, p, err));
	DCK_TRY(engine_can_observe(e, p->observe, err));
	dck_engine_model *m = mem_zalloc(1, bytes);
	DCK_NEED(m, err, "to open the model");
	runtime_of(m)->observe = p->observe;
	runtime_of(m)->arena = mem_arena_new(0);
	const dck_status status =
	    runtime_of(m)->arena ? open(m, p, err) : ERR_NO_MEMORY(err, "to open the model");
	if (status == DCK_OK)
		*ret = m;
	else
		e->close(m);
	return status;
}

void runtime_model_fact(dck_engine_model *m, const char *key, const char *value)
{
	runtime_model *r = runtime_of(m);

	if (!r->facts)
		r->facts = mem_arena_array(r->arena, FACTS_MAX, sizeof *r->facts);
	if (value && *value && r->facts && r->nfacts < FACTS_MAX)
		r->facts[r->nfacts++] = (dck_kv){key, value};
}

void runtime_model_library(dck_engine_model *m, const os_library *l, const char *how,
			   const char *version)
{
	runtime_model_fact(m, "library", mem_arena_dup(runtime_of(m)->arena, os_library_path(l)));
	runtime_model_fact(m, "found", how);
	runtime_model_fact(m, "version", version);
}

dck_status runtime_model_describe(dck_engine_model *m, const dck_tensor_info **ret_in,
				  size_t *ret_nin, const dck_tensor_info **ret_out,
				  size_t *ret_nout, dck_err *err)
{
	(void)err;
	*ret_in = runtime_of(m)->in;
	*ret_nin = runtime_of(m)->nin;
	*ret_out = runtime_of(m)->out;
	*ret_nout = runtime_of(m)->nout;
	return DCK_OK;
}

dck_status runtime_model_facts(dck_engine_model *m, const dck_kv **ret, size_t *ret_n, dck_err *err)
{
	(void)err;
	*ret = runtime_of(m)->facts;
	*ret_n = runtime_of(m)->nfacts;
	return DCK_OK;
}

void runtime_model_open_times(dck_engine_model *m, dck_open_times *ret)
{
	ret->valid = 3;
	ret->library_ns = runtime_of(m)->library_ns;
	ret->session_ns = runtime_of(m)->session_ns;
}
