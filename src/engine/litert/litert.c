/* litert.c - the engine 'litert' (LiteRT, formerly TensorFlow Lite, by its C API): opens a .tflite
 * file and describes it.
 *
 * model_open() loads the library (lrt_lib.c), reads the model, selects one of its signatures,
 * compiles (lrt_compile.c), and reads names, types and shapes into the arena. The first context
 * takes the interpreter of open(). The runs are in lrt_context.c.
 *
 * Options are given to LiteRT as text in TOML. One default is not LiteRT's, whose number of threads
 * is one: it is the number of cores, as for other engines.
 *
 * Ownership: the model owns library, model, spare interpreter and arena; lrt_close() frees a
 * half-built one too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "engine/engine.h"
#include "engine/litert/lrt_model.h"
#include "engine/probe_facts.h"

#include <errno.h>
#include <string.h>

#define THREADS_MAX 4096

extern const dck_engine engine_litert;

static const dck_engine_option lrt_options_known[] = {
    {"threads", "N", "threads of the kernels; default: the cores this process may use"},
    {"signature", "KEY", "entry point of a model that has several; default: the first"},
    {"kernel_mode", "delegate|builtin|reference",
     "kernels: XNNPACK's, LiteRT's optimized ones, or its simple ones; default: delegate"},
    {"flags", "N", "flags of the XNNPACK delegate, as one number"},
    {"weight_cache_file_path", "FILE", "file for packed weights, which later sessions load"},
    {NULL, NULL, NULL},
};

/* --- options */

static dck_status lrt_options_read(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const char *text;

	if (p->device && *p->device && strcmp(p->device, "cpu") != 0)
		DCK_FAIL(err, E_ARG, "the engine 'litert' has no device '%s': cpu", p->device);
	m->threads = engine_threads_default();
	DCK_TRY(engine_option_count(p, "threads", 1, THREADS_MAX, &m->threads, err));
	text = mem_arena_fmt(m->arena, "num_threads = %llu\n", (unsigned long long)m->threads);
	for (size_t i = 0; i < p->noptions && text; i++) {
		const dck_kv *o = &p->options[i];
		const bool number = strcmp(o->key, "flags") == 0;
		uint64_t flags = 0;

		if (strcmp(o->key, "threads") == 0 || strcmp(o->key, "signature") == 0)
			continue;
		if (number)
			DCK_TRY(engine_option_count(p, "flags", 0, UINT32_MAX, &flags, err));
		if (strpbrk(o->value, "\"\\\n"))
			DCK_FAIL(err, E_ARG, "option '%s' has a quotation mark or a backslash",
				 o->key);
		text = number ? mem_arena_fmt(m->arena, "%s%s = %llu\n", text, o->key,
					      (unsigned long long)flags)
			      : mem_arena_fmt(m->arena, "%s%s = \"%s\"\n", text, o->key, o->value);
	}
	DCK_NEED(text, err, "for the options");
	m->options = text;
	return DCK_OK;
}

/* --- reading */

/* Maps the file, or copies the bytes. LiteRT verifies offsets in memory that it is given, but not
 * in a file that it opens itself. */
static dck_status lrt_bytes_get(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	if (!p->model_path) {
		m->copy = mem_alloc(p->model_bytes_n);
		DCK_NEED(m->copy, err, "to open the model");
		memcpy(m->copy, p->model_bytes, p->model_bytes_n);
		m->nbytes = p->model_bytes_n;
		return DCK_OK;
	}
	if (!os_file_readable(p->model_path))
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot open '%s'", p->model_path);
	m->map = os_file_map(p->model_path, false, SIZE_MAX, &m->nbytes);
	return DCK_OK;
}

static dck_status lrt_read(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const char *bytes;

	DCK_TRY(lrt_bytes_get(m, p, err));
	bytes = m->map ? m->map : m->copy;
	if (!bytes || m->nbytes < 8 || memcmp(bytes + 4, "TFL3", 4) != 0)
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is not a TensorFlow Lite model, the only ones that LiteRT runs",
			 p->model_path ? p->model_path : "the model");
	return lrt_check(
	    m->lib.api.CreateModelFromBuffer(m->lib.environment, bytes, m->nbytes, &m->model), err,
	    "LiteRT refuses '%s'", p->model_path ? p->model_path : "the model");
}

/* Selects the signature that the option names, or the first; *ret_keys: all, for messages. */
static dck_status signature_select(dck_engine_model *m, const char *wanted, lrt_signature **ret,
				   const char **ret_keys, dck_err *err)
{
	const lrt_api *api = &m->lib.api;
	const char *keys = "";
	size_t n = 0;

	DCK_TRY(lrt_check(api->GetNumModelSignatures(m->model, &n), err,
			  "cannot read the model's signatures"));
	for (size_t i = 0; i < n; i++) {
		lrt_signature *s = NULL;
		const char *key = NULL;

		DCK_TRY(lrt_check(api->GetModelSignature(m->model, i, &s), err,
				  "cannot read the model's signatures"));
		DCK_TRY(lrt_check(api->GetSignatureKey(s, &key), err,
				  "cannot read the model's signatures"));
		keys = mem_arena_fmt(m->arena, "%s%s%s", keys, *keys ? ", " : "", key ? key : "");
		DCK_NEED(keys, err, "for the model's signatures");
		if (!*ret && (!wanted || (key && strcmp(key, wanted) == 0))) {
			*ret = s;
			m->signature = i;
		}
	}
	*ret_keys = n > 1 ? keys : NULL;
	if (!*ret && wanted && n > 0)
		DCK_FAIL(err, E_ARG, "the model has no signature '%s': it has %s", wanted, keys);
	if (!*ret)
		DCK_FAIL(err, E_FORMAT, "the model has no signature, so there is nothing to run");
	return DCK_OK;
}

static dck_status tensor_read(dck_engine_model *m, lrt_signature *s, bool input, size_t i,
			      dck_tensor_info *ret, dck_err *err)
{
	const lrt_api *api = &m->lib.api;
	const char *name = NULL;
	lrt_tensor *t = NULL;
	lrt_type type = {0};
	int kind = 0;

	int status =
	    (input ? api->GetSignatureInputName : api->GetSignatureOutputName)(s, i, &name);
	if (status == 0)
		status = (input ? api->GetSignatureInputTensorByIndex
				: api->GetSignatureOutputTensorByIndex)(s, i, &t);
	if (status == 0)
		status = api->GetTensorTypeId(t, &kind);
	DCK_TRY(lrt_check(status, err, "cannot read the model's %s", input ? "inputs" : "outputs"));
	*ret = (dck_tensor_info){.rank = -1, .dtype = {DCK_DTYPE_OTHER, 0, 1}};
	ret->name = name && *name
			? mem_arena_dup(m->arena, name)
			: mem_arena_fmt(m->arena, "%s_%zu", input ? "input" : "output", i);
	DCK_NEED(ret->name, err, "for the model's inputs and outputs");
	if (kind != LRT_RANKED)
		return DCK_OK;
	DCK_TRY(lrt_check(api->GetRankedTensorType(t, &type), err, "cannot read the type of '%s'",
			  ret->name));
	ret->dtype = lrt_dtype_of(type.element);
	if (type.layout.rank > LRT_RANK_MAX)
		DCK_FAIL(err, E_UNSUP, "'%s' has %u dimensions and at most %d are supported",
			 ret->name, (unsigned)type.layout.rank, LRT_RANK_MAX);
	ret->rank = (int32_t)type.layout.rank;
	for (int32_t k = 0; k < ret->rank; k++)
		ret->dim[k] = type.layout.dim[k] < 0 ? -1 : type.layout.dim[k];
	return DCK_OK;
}

static dck_status lrt_tensors_read(dck_engine_model *m, lrt_signature *s, bool input,
				   dck_tensor_info **ret, size_t *ret_n, dck_err *err)
{
	const lrt_api *api = &m->lib.api;
	size_t n = 0;

	DCK_TRY(lrt_check((input ? api->GetNumSignatureInputs : api->GetNumSignatureOutputs)(s, &n),
			  err, "cannot count the model's %s", input ? "inputs" : "outputs"));
	dck_tensor_info *all = mem_arena_array(m->arena, n + 1, sizeof *all);
	DCK_NEED(all, err, "for the model's inputs and outputs");
	for (size_t i = 0; i < n; i++)
		DCK_TRY(tensor_read(m, s, input, i, &all[i], err));
	*ret = all;
	*ret_n = n;
	return DCK_OK;
}

/* --- facts */

static dck_status lrt_facts_make(dck_engine_model *m, const dck_open_params *p, const char *keys,
				 dck_err *err)
{
	bool all = false;

	runtime_model_library(m, m->lib.library, m->lib.how, m->lib.version);
	runtime_model_fact(m, "provider", "cpu");
	runtime_model_fact(m, "threads",
			   mem_arena_fmt(m->arena, "%llu", (unsigned long long)m->threads));
	if (m->lib.api.CompiledModelIsFullyAccelerated(m->spare, &all) == 0)
		runtime_model_fact(m, "xnnpack", all ? "all operators" : "not all operators");
	runtime_model_fact(m, "signature", mem_arena_dup(m->arena, engine_option(p, "signature")));
	runtime_model_fact(m, "signatures", keys);
	runtime_model_fact(m, "options", engine_options_text(m->arena, p));
	DCK_NEED(!mem_arena_failed(m->arena), err, "for what the engine reports");
	return DCK_OK;
}

/* --- open and close */

static dck_status lrt_session_open(dck_engine_model *m, const dck_open_params *p,
				   const char **ret_keys, dck_err *err)
{
	lrt_signature *s = NULL;

	DCK_TRY(lrt_read(m, p, err));
	DCK_TRY(signature_select(m, engine_option(p, "signature"), &s, ret_keys, err));
	DCK_TRY(lrt_tensors_read(m, s, true, &m->in, &m->nin, err));
	DCK_TRY(lrt_tensors_read(m, s, false, &m->out, &m->nout, err));
	return lrt_compile(m, &m->spare, err);
}

static dck_status lrt_model_open(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const uint64_t begin_ns = os_now_ns();
	const char *keys = NULL;

	if (!p->model_path && p->model_bytes_n == 0)
		DCK_FAIL(err, E_ARG, "the engine 'litert' needs a model");
	DCK_TRY(lrt_options_read(m, p, err));
	DCK_TRY(lrt_lib_open(p->library_path, m->arena, p, &m->lib, err));
	const uint64_t loaded_ns = os_now_ns();
	DCK_TRY(lrt_session_open(m, p, &keys, err));
	m->library_ns = loaded_ns - begin_ns;
	m->session_ns = os_now_ns() - loaded_ns;
	return lrt_facts_make(m, p, keys, err);
}

static void lrt_close(dck_engine_model *m)
{
	if (!m)
		return;
	if (m->spare)
		m->lib.api.DestroyCompiledModel(m->spare);
	if (m->model)
		m->lib.api.DestroyModel(m->model);
	lrt_lib_close(&m->lib);
	op_events_done(&m->profile);
	mem_arena_free(m->arena);
	os_file_unmap(m->map, m->nbytes);
	mem_free(m->copy);
	mem_free(m);
}

static dck_status lrt_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	return runtime_model_open(&engine_litert, p, sizeof **ret, lrt_model_open, ret, err);
}

static dck_status lrt_probe(const char *library_path, const dck_kv **ret, size_t *ret_n,
			    dck_err *err)
{
	/* The interface lends the pairs until the next probe. */
	static probe_facts last;
	lrt_lib l;

	DCK_NEED(probe_facts_begin(&last), err, "to search LiteRT");
	DCK_TRY(lrt_lib_open(library_path, last.arena, NULL, &l, err));
	probe_facts_library(&last, l.library, l.how, l.version);
	probe_facts_put(&last, "device/cpu", "ok");
	lrt_lib_close(&l);
	DCK_NEED(!mem_arena_failed(last.arena), err, "for the results of the search");
	*ret = last.facts;
	*ret_n = last.n;
	return DCK_OK;
}

const dck_engine engine_litert = {
    ENGINE_BUILT_IN("litert"),
    .help = "LiteRT 2.1.6 or newer (TensorFlow Lite), loaded when it is used: .tflite models",
    .caps = DCK_CAP_NOT_ONNX,
    .options = lrt_options_known,
    .probe = lrt_probe,
    .open = lrt_open,
    .close = lrt_close,
    .describe = runtime_model_describe,
    .facts = runtime_model_facts,
    .open_times = runtime_model_open_times,
    .context_new = lrt_context_new,
    .context_free = lrt_context_free,
    .bind_input = lrt_bind_input,
    .prepare = lrt_prepare,
    .run = lrt_run,
    .output = lrt_output,
    .profile = lrt_profile_get,
    .formats = ".tflite",
};
