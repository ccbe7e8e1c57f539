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
#define FACTS_MAX   16

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
		text = mem_arena_fmt(m->arena, number ? "%s%s = %s\n" : "%s%s = \"%s\"\n", text,
				     o->key, o->value);
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

static void lrt_fact(dck_engine_model *m, const char *key, const char *value)
{
	if (value && *value && m->nfacts < FACTS_MAX)
		m->facts[m->nfacts++] = (dck_kv){key, value};
}

static dck_status lrt_facts_make(dck_engine_model *m, const dck_open_params *p, const char *keys,
				 dck_err *err)
{
	bool all = false;

	m->facts = mem_arena_array(m->arena, FACTS_MAX, sizeof *m->facts);
	DCK_NEED(m->facts, err, "for what the engine reports");
	lrt_fact(m, "library", mem_arena_dup(m->arena, os_library_path(m->lib.library)));
	lrt_fact(m, "found", m->lib.how);
	lrt_fact(m, "version", m->lib.version);
	lrt_fact(m, "provider", "cpu");
	lrt_fact(m, "threads", mem_arena_fmt(m->arena, "%llu", (unsigned long long)m->threads));
	if (m->lib.api.CompiledModelIsFullyAccelerated(m->spare, &all) == 0)
		lrt_fact(m, "xnnpack", all ? "all operators" : "not all operators");
	lrt_fact(m, "signature", mem_arena_dup(m->arena, engine_option(p, "signature")));
	lrt_fact(m, "signatures", keys);
	lrt_fact(m, "options", engine_options_text(m->arena, p));
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
	DCK_TRY(engine_options_check(&engine_litert, p, err));
	DCK_TRY(engine_can_observe(&engine_litert, p->observe, err));
	if (!p->model_path && p->model_bytes_n == 0)
		DCK_FAIL(err, E_ARG, "the engine 'litert' needs a model");
	dck_engine_model *m = mem_zalloc(1, sizeof *m);
	DCK_NEED(m, err, "to open the model");
	m->observe = p->observe;
	m->arena = mem_arena_new(0);
	const dck_status status =
	    m->arena ? lrt_model_open(m, p, err) : ERR_NO_MEMORY(err, "to open the model");
	if (status != DCK_OK) {
		lrt_close(m);
		return status;
	}
	*ret = m;
	return DCK_OK;
}

static dck_status lrt_describe(dck_engine_model *m, const dck_tensor_info **ret_in, size_t *ret_nin,
			       const dck_tensor_info **ret_out, size_t *ret_nout, dck_err *err)
{
	(void)err;
	*ret_in = m->in;
	*ret_nin = m->nin;
	*ret_out = m->out;
	*ret_nout = m->nout;
	return DCK_OK;
}

static dck_status lrt_facts(dck_engine_model *m, const dck_kv **ret, size_t *ret_n, dck_err *err)
{
	(void)err;
	*ret = m->facts;
	*ret_n = m->nfacts;
	return DCK_OK;
}

static void lrt_open_times(dck_engine_model *m, dck_open_times *ret)
{
	ret->valid = 3;
	ret->library_ns = m->library_ns;
	ret->session_ns = m->session_ns;
}

static dck_status lrt_probe(const char *library_path, const dck_kv **ret, size_t *ret_n,
			    dck_err *err)
{
	/* The interface lends the pairs until the next probe. */
	static probe_facts last;
	lrt_lib l;

	DCK_NEED(probe_facts_begin(&last), err, "to search LiteRT");
	DCK_TRY(lrt_lib_open(library_path, last.arena, NULL, &l, err));
	probe_facts_put(&last, "library", mem_arena_dup(last.arena, os_library_path(l.library)));
	probe_facts_put(&last, "found", mem_arena_dup(last.arena, l.how));
	if (*l.version)
		probe_facts_put(&last, "version", l.version);
	probe_facts_put(&last, "device/cpu", "ok");
	lrt_lib_close(&l);
	DCK_NEED(!mem_arena_failed(last.arena), err, "for the results of the search");
	*ret = last.facts;
	*ret_n = last.n;
	return DCK_OK;
}

const dck_engine engine_litert = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .name = "litert",
    .version = DCK_VERSION,
    .help = "LiteRT 2.1.6 or newer (TensorFlow Lite), loaded when it is used: .tflite models",
    .caps = DCK_CAP_NOT_ONNX,
    .options = lrt_options_known,
    .probe = lrt_probe,
    .open = lrt_open,
    .close = lrt_close,
    .describe = lrt_describe,
    .facts = lrt_facts,
    .open_times = lrt_open_times,
    .context_new = lrt_context_new,
    .context_free = lrt_context_free,
    .bind_input = lrt_bind_input,
    .prepare = lrt_prepare,
    .run = lrt_run,
    .output = lrt_output,
    .profile = lrt_profile_get,
    .formats = ".tflite",
};
