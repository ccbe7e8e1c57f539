/* ort.c - the engine 'ort' (ONNX Runtime, by its C API): opens a model and describes it.
 *
 * ort_open() reads the options, loads the library (ort_lib.c), creates the session, and reads
 * names, types and shapes of inputs and outputs into the model's arena. Contexts and runs are in
 * ort_context.c.
 *
 * Observation changes the session: for operators its profiler is on and the optimised graph is
 * saved; for values the model has more outputs (ort_expose.c); for memory the CPU provider gets an
 * allocator that counts (ort_memory.c). If saving the graph may be why the session failed, it is
 * created again without it, and a warning is logged.
 *
 * Ownership: the model owns library, session, run options, counter and arena. ort_close() also
 * frees a model that is half built, in the order session, counter, library, because the session
 * calls the counter and is the library's. ort_describe() and ort_facts() return borrowed lists of
 * the arena.
 *
 * Source: https://onnxruntime.ai/docs/api/c/
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/dtype.h"
#include "device/cuda_work.h"
#include "engine/engine.h"
#include "engine/float_mode.h"
#include "engine/ort/ort_model.h"
#include "engine/ort/ort_provider.h"

#include <stdio.h>
#include <string.h>

extern const dck_engine engine_ort;

/* --- the model's log */

static void log_line(void *self, int severity, const char *category, const char *id,
		     const char *location, const char *text)
{
	static const dck_log_level levels[] = {DCK_LOG_DEBUG, DCK_LOG_INFO, DCK_LOG_WARN,
					       DCK_LOG_ERROR, DCK_LOG_ERROR};
	/* Warnings that every observed session gives: that the graph it saves is valid for this
	 * machine only, and that there are too many events, which the profile shows. */
	static const char *const known[] = {"Serializing optimized model",
					    "Maximum number of events reached"};
	/* The fact operators_on_cpu names them. */
	static const char *const placed[] = {"Some nodes were not assigned to the preferred",
					     "Rerunning with verbose output"};
	const dck_engine_model *m = self;
	char sentence[1000];

	(void)category, (void)id, (void)location;
	if (!m->log || severity < 0 || severity > ORT_LOG_FATAL)
		return;
	ort_sentence(text, sentence, sizeof(sentence));
	for (size_t i = 0;
	     m->lib.api.Session_GetEpGraphAssignmentInfo && i < sizeof placed / sizeof *placed; i++)
		if (strncmp(sentence, placed[i], strlen(placed[i])) == 0)
			return;
	for (size_t i = 0; m->observe && i < sizeof known / sizeof *known; i++)
		if (strncmp(sentence, known[i], strlen(known[i])) == 0)
			return;
	m->log(m->log_self, levels[severity], sentence);
}

/* --- inputs and outputs */

static dck_status ort_shape_read(dck_engine_model *m, const ort_tensor_type *t,
				 dck_tensor_info *ret, dck_err *err)
{
	const ort_api *api = &m->lib.api;
	const char *symbols[DCK_RANK_MAX];
	int element_type;
	size_t rank;

	DCK_TRY(ort_check(&m->lib, api->GetTensorElementType(t, &element_type), err,
			  "cannot read the type of '%s'", ret->name));
	DCK_TRY(ort_check(&m->lib, api->GetDimensionsCount(t, &rank), err,
			  "cannot read the shape of '%s'", ret->name));
	if (rank > DCK_RANK_MAX && ret >= m->out && ret < m->out + m->nout &&
	    (size_t)(ret - m->out) >= m->nout - m->nvalues)
		return DCK_OK; /* an observed value, not an output of the model: its shape stays
				  unknown */
	if (rank > DCK_RANK_MAX)
		DCK_FAIL(err, E_UNSUP, "'%s' has %zu dimensions and at most %d are supported",
			 ret->name, rank, DCK_RANK_MAX);
	DCK_TRY(ort_check(&m->lib, api->GetDimensions(t, ret->dim, rank), err,
			  "cannot read the shape of '%s'", ret->name));
	DCK_TRY(ort_check(&m->lib, api->GetSymbolicDimensions(t, symbols, rank), err,
			  "cannot read the shape of '%s'", ret->name));
	ret->dtype = dtype_of_onnx(element_type);
	ret->rank = (int32_t)rank;
	for (size_t i = 0; i < rank; i++)
		if (ret->dim[i] < 0) {
			ret->dim[i] = -1;
			ret->symbol[i] = *symbols[i] ? mem_arena_dup(m->arena, symbols[i]) : NULL;
		}
	return DCK_OK;
}

static dck_status ort_name_read(dck_engine_model *m, ort_status *status, char *name,
				const char **ret, dck_err *err)
{
	DCK_TRY(ort_check(&m->lib, status, err, "cannot read a name from the model"));
	*ret = mem_arena_dup(m->arena, name);
	return ort_check(&m->lib, m->lib.api.AllocatorFree(m->lib.allocator, name), err,
			 "cannot release a name");
}

static dck_status ort_tensor_read(dck_engine_model *m, bool input, size_t i, dck_tensor_info *ret,
				  dck_err *err)
{
	const ort_api *api = &m->lib.api;
	const ort_tensor_type *tensor = NULL;
	char *name = NULL;
	ort_type *type = NULL;
	int kind = 0;

	*ret = (dck_tensor_info){.dtype = {DCK_DTYPE_OTHER, 0, 1}, .rank = -1};
	ort_status *s = (input ? api->SessionGetInputName
			       : api->SessionGetOutputName)(m->session, i, m->lib.allocator, &name);
	DCK_TRY(ort_name_read(m, s, name, &ret->name, err));
	s = (input ? api->SessionGetInputTypeInfo : api->SessionGetOutputTypeInfo)(m->session, i,
										   &type);
	DCK_TRY(ort_check(&m->lib, s, err, "cannot read the type of '%s'", ret->name));
	dck_status status = ort_check(&m->lib, api->GetOnnxTypeFromTypeInfo(type, &kind), err,
				      "cannot read the type of '%s'", ret->name);
	if (status == DCK_OK && kind == ORT_TYPE_TENSOR)
		status = ort_check(&m->lib, api->CastTypeInfoToTensorInfo(type, &tensor), err,
				   "cannot read the type of '%s'", ret->name);
	if (status == DCK_OK && kind == ORT_TYPE_TENSOR)
		status = ort_shape_read(m, tensor, ret, err);
	if (status == DCK_OK && !input && kind != ORT_TYPE_TENSOR) {
		m->out_grows[i] = true;
		m->ngrowing++;
	}
	/* It describes an input without a shape as a scalar. */
	if (input && ret->rank == 0)
		ret->rank = -1;
	api->ReleaseTypeInfo(type);
	return status;
}

static dck_status tensors_read(dck_engine_model *m, dck_err *err)
{
	const ort_api *api = &m->lib.api;

	DCK_TRY(ort_check(&m->lib, api->SessionGetInputCount(m->session, &m->nin), err,
			  "cannot count the inputs"));
	DCK_TRY(ort_check(&m->lib, api->SessionGetOutputCount(m->session, &m->nout), err,
			  "cannot count the outputs"));
	m->in = mem_arena_array(m->arena, m->nin, sizeof *m->in);
	m->out = mem_arena_array(m->arena, m->nout, sizeof *m->out);
	m->out_grows = mem_arena_array(m->arena, m->nout, sizeof *m->out_grows);
	DCK_NEED(!mem_arena_failed(m->arena), err, "for the model's inputs and outputs");
	for (size_t i = 0; i < m->nin; i++)
		DCK_TRY(ort_tensor_read(m, true, i, &m->in[i], err));
	for (size_t i = 0; i < m->nout; i++)
		DCK_TRY(ort_tensor_read(m, false, i, &m->out[i], err));
	return DCK_OK;
}

/* --- facts */

static void device_facts(dck_engine_model *m, const dck_open_params *p)
{
	const ort_placement *on = &m->placement;
	const char *tf32 = engine_option(p, ORT_CUDA_OPTIONS "use_tf32");

	if (m->provider.plugin) {
		runtime_model_fact(m, "provider_library", m->provider.library);
		runtime_model_fact(m, "provider_version", m->provider.version);
		runtime_model_fact(m, "device", m->provider.hardware);
	}
	if (strcmp(m->provider.name, "cuda") == 0)
		runtime_model_fact(m, "tf32", tf32 && strcmp(tf32, "0") == 0 ? "off" : "on");
	if (m->host_bound && !m->setup.transfers)
		runtime_model_fact(m, "host_bound", m->host_bound);
	if (on->nall > 0)
		runtime_model_fact(m, "operators_on_cpu",
				   on->on_cpu ? mem_arena_fmt(m->arena, "%zu of %zu: %s", on->ncpu,
							      on->nall, on->on_cpu)
					      : "none");
}

static dck_status facts_make(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const ort_setup *s = &m->setup;

	runtime_model_library(m, m->lib.library, m->lib.how, m->lib.version);
	runtime_model_fact(m, "provider",
			   strcmp(s->provider, "cuda") == 0 || s->device > 0
			       ? mem_arena_fmt(m->arena, "%s:%u", s->provider, s->device)
			       : mem_arena_dup(m->arena, s->provider));
	runtime_model_fact(m, "threads",
			   mem_arena_fmt(m->arena, "%llu", (unsigned long long)s->threads));
	runtime_model_fact(m, "interop_threads",
			   mem_arena_fmt(m->arena, "%llu", (unsigned long long)s->interop_threads));
	runtime_model_fact(m, "execution", s->parallel ? "parallel" : "sequential");
	runtime_model_fact(m, "opt", mem_arena_dup(m->arena, s->opt));
	runtime_model_fact(m, "spin", strcmp(s->spin, "1") == 0 ? "on" : "off");
	runtime_model_fact(m, "denormals", s->flush_denormals ? "flushed to zero" : "kept");
	if (strcmp(s->provider, "cpu") != 0)
		device_facts(m, p);
	runtime_model_fact(m, "options", engine_options_text(m->arena, p));
	DCK_NEED(!mem_arena_failed(m->arena), err, "for what the engine reports");
	return DCK_OK;
}

/* --- open and close */

static dck_status session_create(dck_engine_model *m, const dck_open_params *p,
				 const dck_buffer *exposed, const ort_options *o, dck_err *err)
{
	const ort_api *api = &m->lib.api;
	const void *bytes = exposed->data ? exposed->data : p->model_bytes;
	size_t n = exposed->data ? exposed->n : p->model_bytes_n;
	/* The first session of a process sets or clears flush-to-zero for this thread and leaves it
	 * so; ort_run() does that itself, for the duration of a run. */
	uint64_t mode = float_mode_get();
	ort_status *s = p->model_path && !exposed->data
			    ? api->CreateSession(m->lib.env, p->model_path, o, &m->session)
			    : api->CreateSessionFromArray(m->lib.env, bytes, n, o, &m->session);
	float_mode_set(mode);
	const dck_status status =
	    p->model_path
		? ort_check(&m->lib, s, err, "ONNX Runtime %s refuses '%s'%s", m->lib.version,
			    p->model_path,
			    exposed->data && m->lib.minor < ORT_MINOR_DIRECTORY
				? " (weights in a separate file need 1.21 for this)"
				: "")
		: ort_check(&m->lib, s, err, "ONNX Runtime %s refuses the model", m->lib.version);
	return ort_provider_refused(&m->provider, status, err);
}

/* Sets the requested observations in the session's options. with_graph: also saves the optimised
 * graph. */
static dck_status watch_apply(dck_engine_model *m, const dck_open_params *p, bool with_graph,
			      ort_options *o, dck_err *err)
{
	if (m->observe & DCK_OBSERVE_OPERATORS)
		DCK_TRY(ort_profile_apply(&m->lib, &m->files, with_graph, o, err));
	if (m->observe & DCK_OBSERVE_VALUES || p->model_folder)
		DCK_TRY(ort_expose_directory(&m->lib, p, o, err));
	/* Other providers allocate on their device, where nothing is counted. */
	if (m->observe & DCK_OBSERVE_MEMORY && strcmp(m->setup.provider, "cpu") == 0)
		DCK_TRY(ort_counter_new(&m->lib, o, &m->counter, err));
	return DCK_OK;
}

static dck_status options_fill(dck_engine_model *m, const dck_open_params *p, ort_options *o,
			       dck_err *err)
{
	const ort_api *api = &m->lib.api;

	DCK_TRY(ort_check(&m->lib, api->SetUserLoggingFunction(o, log_line, m), err,
			  "cannot set the log"));
	DCK_TRY(ort_check(&m->lib, api->SetSessionLogSeverityLevel(o, ORT_LOG_WARNING), err,
			  "cannot set the log's severity"));
	DCK_TRY(ort_setup_apply(&m->lib, &m->setup, p, o, err));
	if (strcmp(m->provider.name, "cpu") != 0)
		DCK_TRY(ort_check(
		    &m->lib,
		    api->AddSessionConfigEntry(o, "session.record_ep_graph_assignment_info", "1"),
		    err, "cannot record where operators run"));
	return ort_provider_append(&m->lib, o, &m->provider, p, m->arena, err);
}

static dck_status ort_session_try(dck_engine_model *m, const dck_open_params *p,
				  const dck_buffer *exposed, bool with_graph, dck_err *err)
{
	const ort_api *api = &m->lib.api;
	ort_options *o;

	DCK_TRY(ort_check(&m->lib, api->CreateSessionOptions(&o), err,
			  "cannot create a session's options"));
	dck_status status = options_fill(m, p, o, err);
	DCK_NEXT(status, watch_apply(m, p, with_graph, o, err));
	DCK_NEXT(status, session_create(m, p, exposed, o, err));
	api->ReleaseSessionOptions(o);
	if (m->counter)
		ort_counter_settle(m->counter);
	if (status != DCK_OK) {
		ort_counter_free(m->counter);
		m->counter = NULL;
	}
	return status;
}

/* Creates the session again without saving its graph, which alone may be why it failed. */
static dck_status session_without_graph(dck_engine_model *m, const dck_open_params *p,
					const dck_buffer *exposed, const dck_err *why, dck_err *err)
{
	char text[sizeof why->msg + 128];

	m->files.graph = NULL;
	DCK_TRY(ort_session_try(m, p, exposed, false, err));
	snprintf(text, sizeof text,
		 "the optimised graph could not be saved, "
		 "so operators have the names that ONNX Runtime gives them: %s",
		 why->msg);
	if (m->log)
		m->log(m->log_self, DCK_LOG_WARN, text);
	return DCK_OK;
}

static dck_status ort_session_open(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	dck_buffer exposed = {0};
	dck_err why = {0};

	if (m->observe & DCK_OBSERVE_OPERATORS)
		DCK_TRY(ort_profile_plan(p->work_dir, m->arena, &m->files, err));
	if (m->observe & DCK_OBSERVE_VALUES && m->nvalues > 0)
		DCK_TRY(ort_expose(p, &exposed, err));
	dck_status status = ort_session_try(m, p, &exposed, m->files.graph != NULL, &why);
	if (status == DCK_E_ENGINE && m->files.graph)
		status = session_without_graph(m, p, &exposed, &why, err);
	else if (status != DCK_OK && err)
		*err = why;
	dck_buffer_done(&exposed);
	DCK_TRY(status);
	/* Created once, because run() would create them each time. */
	return ort_check(&m->lib, m->lib.api.CreateRunOptions(&m->run_options), err,
			 "cannot create a run's options");
}

/* Starts recording what operators run on NVIDIA's GPUs, since ONNX Runtime itself has only the
 * times of their launches. */
static void device_work_begin(dck_engine_model *m)
{
	char text[640];
	const char *why;

	if (!(m->observe & DCK_OBSERVE_OPERATORS) ||
	    (strcmp(m->provider.name, "cuda") != 0 && strcmp(m->provider.name, "tensorrt") != 0))
		return;
	m->device_work = cuda_work_begin(&why);
	if (m->device_work || !m->log)
		return;
	snprintf(text, sizeof text, "operators have no times of the device: %s", why);
	m->log(m->log_self, DCK_LOG_WARN, text);
}

static void device_work_drop(dck_engine_model *m)
{
	cuda_work *works = NULL;

	if (m->device_work)
		cuda_work_end(&works);
	mem_free(works);
	m->device_work = false;
}

static dck_status model_open(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	uint64_t begin_ns = os_now_ns();

	DCK_TRY(ort_setup_read(p, &m->setup, err));
	if (!p->model_path && p->model_bytes_n == 0)
		DCK_FAIL(err, E_ARG, "the engine 'ort' needs a model");
	m->nvalues = p->observe & DCK_OBSERVE_VALUES ? p->nvalues : 0;
	m->log = p->log;
	m->log_self = p->log_self;
	DCK_TRY(ort_lib_open(p->library_path, m->arena, p, &m->lib, err));
	if (strcmp(m->setup.provider, "gpu") == 0)
		DCK_TRY(ort_probe_gpu(&m->lib, m->setup.provider_library, m->arena,
				      &m->setup.provider, err));
	DCK_TRY(ort_provider_load(&m->lib, m->setup.provider, m->setup.device,
				  m->setup.provider_library, m->arena, &m->provider, err));
	uint64_t loaded_ns = os_now_ns();
	ort_provider_begin(&m->provider);
	const dck_status opened = ort_session_open(m, p, err);
	ort_provider_end(&m->provider);
	DCK_TRY(opened);
	m->library_ns = loaded_ns - begin_ns;
	m->session_ns = os_now_ns() - loaded_ns;
	DCK_TRY(tensors_read(m, err));
	ort_provider_begin(&m->provider);
	const dck_status bound = ort_device_open(m, err);
	ort_provider_end(&m->provider);
	DCK_TRY(bound);
	DCK_TRY(ort_device_placement(m, err));
	device_work_begin(m);
	return facts_make(m, p, err);
}

static void ort_close(dck_engine_model *m)
{
	if (!m)
		return;
	device_work_drop(m);
	if (m->run_options)
		m->lib.api.ReleaseRunOptions(m->run_options);
	ort_provider_begin(&m->provider);
	if (m->session)
		m->lib.api.ReleaseSession(m->session);
	ort_provider_end(&m->provider);
	ort_counter_free(m->counter);
	ort_lib_close(&m->lib);
	mem_arena_free(m->arena);
	mem_free(m);
}

static dck_status ort_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	return runtime_model_open(&engine_ort, p, sizeof **ret, model_open, ret, err);
}

/* --- observations */

static dck_status ort_profile(dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	if (!(m->observe & DCK_OBSERVE_OPERATORS))
		DCK_FAIL(err, E_ARG, "the model was not opened to be profiled");
	if (!m->has_profile) {
		DCK_TRY(ort_profile_end(&m->lib, m->session, &m->runs, m->device_work, m->arena,
					&m->profile, err));
		m->device_work = false;
		if (m->files.graph && os_file_exists(m->files.graph))
			m->profile.model_path = m->files.graph;
		m->has_profile = true;
	}
	*ret = m->profile;
	return DCK_OK;
}

static dck_status ort_memory_ask(dck_engine_model *m, dck_memory *ret, dck_err *err)
{
	return ort_memory_get(&m->lib, m->session, &m->provider,
			      m->nin > 0 ? m->in_memory[0] : NULL, m->counter, ret, err);
}

const dck_engine engine_ort = {
    ENGINE_BUILT_IN("ort"),
    .caps = DCK_CAP_BIND_OUTPUT | DCK_CAP_VALUES | DCK_CAP_FOLDER,
    .help =
	"ONNX Runtime 1.19 or newer, loaded when it is used: ONNX models on processors and GPUs",
    .options = ort_engine_options,
    .probe = ort_probe,
    .open = ort_open,
    .close = ort_close,
    .describe = runtime_model_describe,
    .facts = runtime_model_facts,
    .open_times = runtime_model_open_times,
    .context_new = ort_context_new,
    .context_free = ort_context_free,
    .bind_input = ort_bind_input,
    .bind_output = ort_bind_output,
    .prepare = ort_prepare,
    .run = ort_run,
    .output = ort_output,
    .profile = ort_profile,
    .memory = ort_memory_ask,
    .barrier = ort_barrier,
    .barrier_choose = ort_barrier_choose,
    .enqueue = ort_enqueue,
    .wait = ort_wait,
    .transfer = ort_transfer,
    .bind_from = ort_bind_from,
};
