/* ort_probe.c - what ONNX Runtime is found here, and which of its providers work. A provider that
 * is compiled in may lack its libraries or its device, so each gets a session.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "engine/probe_facts.h"
#include "engine/ort/ort_model.h"
#include "engine/ort/ort_provider.h"

/* The smallest model there is, one Identity of one float, as ONNX's protobuf: each field is a tag
 * (number x 8 + wire type), a length and the bytes. */
static const unsigned char identity_model[] = {
    0x08, 8,						  /* ir_version 8 */
    0x3a, 51,						  /* graph */
    0x0a, 16,						  /*   node */
    0x0a, 1,  'x',					  /*     input */
    0x12, 1,  'y',					  /*     output */
    0x22, 8,  'I',  'd', 'e',  'n', 't',  'i', 't',  'y', /*     op_type */
    0x12, 1,  'g',					  /*   name */
    0x5a, 13, 0x0a, 1,	 'x',				  /*   input: name, */
    0x12, 8,  0x0a, 6,	 0x08, 1,   0x12, 2,   0x0a, 0,	  /*     type: tensor, float32, shape [?] */
    0x62, 13, 0x0a, 1,	 'y',				  /*   output: the same */
    0x12, 8,  0x0a, 6,	 0x08, 1,   0x12, 2,   0x0a, 0,	  /* */
    0x42, 2,  0x10, 13,					  /* opset_import: version 13 */
};

static dck_status probe_session_try(const ort_lib *l, ort_options *o, const ort_provider *provider,
				    mem_arena *a, dck_err *err)
{
	ort_session *session;

	DCK_TRY(ort_check(l, l->api.SetUserLoggingFunction(o, ort_log_drop, NULL), err,
			  "cannot set the log"));
	DCK_TRY(ort_check(l, l->api.SetIntraOpNumThreads(o, 1), err, "cannot set the threads"));
	DCK_TRY(ort_provider_append(l, o, provider, NULL, a, err));
	DCK_TRY(ort_provider_refused(
	    provider,
	    ort_check(l,
		      l->api.CreateSessionFromArray(l->env, identity_model, sizeof identity_model,
						    o, &session),
		      err, "no session with provider '%s'", provider->name),
	    err));
	l->api.ReleaseSession(session);
	return DCK_OK;
}

static dck_status provider_try(const ort_lib *l, const char *name, mem_arena *a, dck_err *err)
{
	ort_provider provider;
	ort_options *o;

	DCK_TRY(ort_provider_load(l, name, 0, NULL, a, &provider, err));
	DCK_TRY(ort_check(l, l->api.CreateSessionOptions(&o), err, "no options"));
	const dck_status status = probe_session_try(l, o, &provider, a, err);
	l->api.ReleaseSessionOptions(o);
	return status;
}

dck_status ort_probe_gpu(const ort_lib *l, const char *provider_library, mem_arena *a,
			 const char **ret, dck_err *err)
{
	ort_provider webgpu;
	dck_err cuda = {0}, why = {0};

	if (!provider_library && provider_try(l, "cuda", a, &cuda) == DCK_OK) {
		*ret = "cuda";
		return DCK_OK;
	}
	const dck_status status =
	    ort_provider_load(l, "webgpu", 0, provider_library, a, &webgpu, &why);
	if (status != DCK_OK && provider_library)
		return err_set(err, status, why.file, why.line, "%s", why.msg);
	if (status != DCK_OK)
		DCK_FAIL(err, E_ABSENT, "no GPU is found: %.330s; and %.110s", why.msg,
			 cuda.code == DCK_E_UNSUP
			     ? "this ONNX Runtime has no 'cuda': pip install onnxruntime-gpu"
			     : cuda.msg);
	*ret = "webgpu";
	return DCK_OK;
}

static void provider_probe(probe_facts *p, const ort_lib *l, const char *name)
{
	dck_err err;

	const dck_status status = provider_try(l, name, p->arena, &err);
	probe_facts_put(p, mem_arena_fmt(p->arena, "provider/%s", name),
			status == DCK_OK ? "ok" : mem_arena_dup(p->arena, err.msg));
}

static dck_status library_probe(probe_facts *p, const ort_lib *l, dck_err *err)
{
	size_t n;

	const char *const *providers;

	probe_facts_library(p, l->library, l->how, l->version);
	probe_facts_put(p, "build", mem_arena_dup(p->arena, l->api.GetBuildInfoString()));
	DCK_TRY(ort_provider_list(l, p->arena, &providers, &n, err));
	for (size_t i = 0; i < n; i++)
		provider_probe(p, l, providers[i]);
	for (const char *const *name = ort_provider_plugins(l, p->arena); *name; name++)
		provider_probe(p, l, *name);
	DCK_NEED(!mem_arena_failed(p->arena), err, "for the results of the search");
	return DCK_OK;
}

dck_status ort_probe(const char *library_path, const dck_kv **ret, size_t *ret_n, dck_err *err)
{
	/* The interface lends the pairs until the next probe, so they need a place that stays. It
	 * is called in a child process that does nothing else. */
	static probe_facts last;
	ort_lib l;

	DCK_NEED(probe_facts_begin(&last), err, "to search ONNX Runtime");
	DCK_TRY(ort_lib_open(library_path, last.arena, NULL, &l, err));
	dck_status status = library_probe(&last, &l, err);
	ort_lib_close(&l);
	DCK_TRY(status);
	*ret = last.facts;
	*ret_n = last.n;
	return DCK_OK;
}
