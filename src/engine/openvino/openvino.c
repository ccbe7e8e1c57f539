/* openvino.c - the engine 'openvino' (OpenVINO, by its C API): opens a model and describes it.
 *
 * model_open() loads the library (ov_lib.c), sets the options on its core (ov_setup.c), reads the
 * model, fixes the sizes of open dimensions that the host knows, compiles, and reads names, types
 * and shapes into the arena. Requests are in ov_context.c.
 *
 * OpenVINO tries all its readers on a file. Those of other formats print to stderr, so model_read()
 * looks at the first bytes of a file and passes on only what one of the three readers takes: ONNX,
 * OpenVINO's own XML, TensorFlow Lite.
 *
 * Ownership: the model owns library, model, compiled model, profile and arena; ov_close() frees a
 * half-built one too.
 *
 * Source: https://docs.openvino.ai/2026/api/c_cpp_api/group__ov__c__api.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "engine/engine.h"
#include "engine/openvino/ov_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern const dck_engine engine_openvino;

/* --- reading */

#define HEAD_BYTES 4096u

static bool ov_ends_in(const char *text, const char *end)
{
	const size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

/* A file whose name ends so holds `mark` at `at`; ANYWHERE: within its first bytes. */
#define ANYWHERE SIZE_MAX
static const struct {
	const char *end, *is, *mark;
	size_t at;
} foreign[] = {
    {".xml", "a model of OpenVINO", "<net", ANYWHERE},
    {".tflite", "a TensorFlow Lite model", "TFL3", 4},
};

static dck_status ov_file_check(const char *path, dck_err *err)
{
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		const size_t length = strlen(foreign[i].mark);
		size_t n = 0;

		if (!ov_ends_in(path, foreign[i].end))
			continue;
		if (!os_file_readable(path))
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot open '%s'", path);
		char *head = os_file_map(path, false, HEAD_BYTES, &n);
		bool fits =
		    head && foreign[i].at == ANYWHERE && memmem(head, n, foreign[i].mark, length);
		fits |= head && foreign[i].at != ANYWHERE && n >= foreign[i].at + length &&
			memcmp(head + foreign[i].at, foreign[i].mark, length) == 0;
		os_file_unmap(head, n);
		if (!fits)
			DCK_FAIL(err, E_FORMAT, "'%s' is not %s, although its name ends in %s",
				 path, foreign[i].is, foreign[i].end);
	}
	return DCK_OK;
}

static dck_status model_read(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const ov_lib *l = &m->lib;

	if (!p->model_path)
		return ov_check(l,
				l->api.core_read_model_from_memory_buffer(
				    l->core, p->model_bytes, p->model_bytes_n, NULL, &m->model),
				err, "OpenVINO %s refuses the model", l->version);
	DCK_TRY(ov_file_check(p->model_path, err));
	return ov_check(l, l->api.core_read_model(l->core, p->model_path, NULL, &m->model), err,
			"OpenVINO %s refuses '%s'", l->version, p->model_path);
}

/* --- inputs and outputs */

static dck_status port_shape_read(dck_engine_model *m, const ov_port *port, dck_tensor_info *ret,
				  dck_err *err)
{
	const ov_api *api = &m->lib.api;
	ov_partial_shape s;
	dck_status status = DCK_OK;

	DCK_TRY(ov_check(&m->lib, api->port_get_partial_shape(port, &s), err,
			 "cannot read the shape of '%s'", ret->name));
	const bool known = s.rank.min == s.rank.max && s.rank.min >= 0;
	if (known && s.rank.min > DCK_RANK_MAX)
		status =
		    ERR_SET(err, E_UNSUP, "'%s' has %lld dimensions and at most %d are supported",
			    ret->name, (long long)s.rank.min, DCK_RANK_MAX);
	else if (known)
		ret->rank = (int32_t)s.rank.min;
	for (int32_t i = 0; status == DCK_OK && i < ret->rank; i++)
		ret->dim[i] = s.dim[i].min == s.dim[i].max ? s.dim[i].min : -1;
	api->partial_shape_free(&s);
	return status;
}

static dck_status port_read(dck_engine_model *m, const ov_port *port, const char *kind, size_t i,
			    dck_tensor_info *ret, dck_err *err)
{
	const ov_api *api = &m->lib.api;
	char *name = NULL;
	int type = 0;

	*ret = (dck_tensor_info){.rank = -1};
	/* A port of OpenVINO's own format may have no name. */
	if (api->port_get_any_name(port, &name) == 0 && name && *name)
		ret->name = mem_arena_dup(m->arena, name);
	else
		ret->name = mem_arena_fmt(m->arena, "%s_%zu", kind, i);
	if (name)
		api->free(name);
	DCK_NEED(ret->name, err, "for the model's inputs and outputs");
	DCK_TRY(ov_check(&m->lib, api->port_get_element_type(port, &type), err,
			 "cannot read the type of '%s'", ret->name));
	ret->dtype = ov_dtype_of(type);
	return port_shape_read(m, port, ret, err);
}

static dck_status ports_read(dck_engine_model *m, bool inputs, dck_tensor_info **ret, size_t *ret_n,
			     dck_err *err)
{
	const ov_api *api = &m->lib.api;
	size_t n = 0;

	DCK_TRY(ov_check(&m->lib,
			 (inputs ? api->model_inputs_size : api->model_outputs_size)(m->model, &n),
			 err, "cannot count the model's %s", inputs ? "inputs" : "outputs"));
	dck_tensor_info *all = mem_arena_array(m->arena, n, sizeof *all);
	DCK_NEED(all, err, "for the model's inputs and outputs");
	for (size_t i = 0; i < n; i++) {
		ov_port *port = NULL;

		DCK_TRY(ov_check(&m->lib,
				 (inputs ? api->model_const_input_by_index
					 : api->model_const_output_by_index)(m->model, i, &port),
				 err, "cannot read the model's %s", inputs ? "inputs" : "outputs"));
		const dck_status status =
		    port_read(m, port, inputs ? "input" : "output", i, &all[i], err);
		api->output_const_port_free(port);
		DCK_TRY(status);
	}
	*ret = all;
	*ret_n = n;
	return DCK_OK;
}

/* --- sizes */

/* Returns the sizes that the host gives an input; NULL: none. */
static const dck_tensor_info *shape_given(const dck_open_params *p, const char *name)
{
	if (p->struct_size < offsetof(dck_open_params, nshapes) + sizeof p->nshapes)
		return NULL;
	for (size_t i = 0; i < p->nshapes; i++)
		if (strcmp(p->shapes[i].name, name) == 0)
			return &p->shapes[i];
	return NULL;
}

/* Fixes open dimensions, because OpenVINO compiles faster code for sizes that it knows. */
static dck_status sizes_fix(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	size_t *ports = mem_arena_array(m->arena, m->nin, sizeof *ports), n = 0;
	ov_partial_shape *shapes = mem_arena_array(m->arena, m->nin, sizeof *shapes);

	DCK_NEED(ports && shapes, err, "for the model's inputs");
	for (size_t i = 0; i < m->nin; i++) {
		const dck_tensor_info *given = shape_given(p, m->in[i].name);

		if (!given || given->rank < 0 || !engine_is_open(&m->in[i]) ||
		    (m->in[i].rank >= 0 && m->in[i].rank != given->rank))
			continue;
		ov_dimension *dim = mem_arena_array(m->arena, (size_t)given->rank, sizeof *dim);
		DCK_NEED(dim, err, "for the model's inputs");
		for (int32_t d = 0; d < given->rank; d++) {
			const bool fixed = m->in[i].rank >= 0 && m->in[i].dim[d] >= 0;
			const int64_t size = fixed ? m->in[i].dim[d] : given->dim[d];
			dim[d] = size < 0 ? (ov_dimension){0, -1} : (ov_dimension){size, size};
		}
		shapes[n] = (ov_partial_shape){{given->rank, given->rank}, dim};
		ports[n++] = i;
	}
	if (n == 0)
		return DCK_OK;
	DCK_TRY(ov_check(&m->lib,
			 m->lib.api.model_reshape_by_port_indexes(m->model, ports, shapes, n), err,
			 "OpenVINO %s refuses the sizes of the inputs", m->lib.version));
	DCK_TRY(ports_read(m, true, &m->in, &m->nin, err));
	return ports_read(m, false, &m->out, &m->nout, err);
}

/* --- facts */

/* Returns a property of the compiled model in small letters, as options are written. */
static const char *compiled_property(dck_engine_model *m, const char *key)
{
	char *text = NULL;

	if (m->lib.api.compiled_model_get_property(m->compiled, key, &text) != 0)
		return NULL;
	char *copy = mem_arena_dup(m->arena, text);
	m->lib.api.free(text);
	for (char *c = copy; c && *c; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
	return copy;
}

static dck_status ov_facts_make(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	/* What the compiled model reports, by the name of its property. */
	static const struct {
		const char *fact, *property;
	} reported[] = {
	    {"execution_devices", "EXECUTION_DEVICES"},
	    {"threads", "INFERENCE_NUM_THREADS"},
	    {"streams", "NUM_STREAMS"},
	    {"precision", "INFERENCE_PRECISION_HINT"},
	    {"execution_mode", "EXECUTION_MODE_HINT"},
	    {"performance_hint", "PERFORMANCE_HINT"},
	    {"optimal_requests", "OPTIMAL_NUMBER_OF_INFER_REQUESTS"},
	    {"loaded_from_cache", "LOADED_FROM_CACHE"},
	};
	char *device = mem_arena_dup(m->arena, m->setup.device);

	DCK_NEED(device, err, "for what the engine reports");
	for (char *c = device; *c; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
	runtime_model_library(m, m->lib.library, m->lib.how,
			      mem_arena_dup(m->arena, m->lib.version));
	runtime_model_fact(m, "build", mem_arena_dup(m->arena, m->lib.build));
	runtime_model_fact(m, "provider", device);
	runtime_model_fact(
	    m, "device",
	    ov_device_property(&m->lib, m->setup.device, "FULL_DEVICE_NAME", m->arena));
	for (size_t i = 0; i < sizeof reported / sizeof *reported; i++)
		runtime_model_fact(m, reported[i].fact, compiled_property(m, reported[i].property));
	runtime_model_fact(m, "max_isa", mem_arena_dup(m->arena, secure_getenv("OV_CPU_MAX_ISA")));
	runtime_model_fact(m, "options", engine_options_text(m->arena, p));
	DCK_NEED(!mem_arena_failed(m->arena), err, "for what the engine reports");
	return DCK_OK;
}

/* --- open and close */

static dck_status ov_session_open(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const ov_lib *l = &m->lib;

	DCK_TRY(ov_setup_apply(l, &m->setup, p, m->arena, err));
	DCK_TRY(model_read(m, p, err));
	DCK_TRY(ports_read(m, true, &m->in, &m->nin, err));
	DCK_TRY(ports_read(m, false, &m->out, &m->nout, err));
	if (!m->setup.open_shapes)
		DCK_TRY(sizes_fix(m, p, err));
	return ov_check(
	    l, l->api.core_compile_model(l->core, m->model, m->setup.device, 0, &m->compiled), err,
	    "OpenVINO %s cannot compile the model for %s", l->version, m->setup.device);
}

static dck_status ov_model_open(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const uint64_t begin_ns = os_now_ns();

	if (!p->model_path && p->model_bytes_n == 0)
		DCK_FAIL(err, E_ARG, "the engine 'openvino' needs a model");
	DCK_TRY(ov_setup_read(p, m->arena, &m->setup, err));
	DCK_TRY(ov_lib_open(p->library_path, m->arena, p, &m->lib, err));
	const uint64_t loaded_ns = os_now_ns();
	DCK_TRY(ov_session_open(m, p, err));
	m->library_ns = loaded_ns - begin_ns;
	m->session_ns = os_now_ns() - loaded_ns;
	return ov_facts_make(m, p, err);
}

static void ov_close(dck_engine_model *m)
{
	if (!m)
		return;
	if (m->compiled)
		m->lib.api.compiled_model_free(m->compiled);
	if (m->model)
		m->lib.api.model_free(m->model);
	ov_lib_close(&m->lib);
	op_events_done(&m->profile);
	mem_arena_free(m->arena);
	mem_free(m);
}

static dck_status ov_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	return runtime_model_open(&engine_openvino, p, sizeof **ret, ov_model_open, ret, err);
}

const dck_engine engine_openvino = {
    ENGINE_BUILT_IN("openvino"),
    .help = "OpenVINO 2025 or newer, loaded when it is used: ONNX, .xml and .tflite models",
    .options = ov_engine_options,
    .probe = ov_probe,
    .open = ov_open,
    .close = ov_close,
    .describe = runtime_model_describe,
    .facts = runtime_model_facts,
    .open_times = runtime_model_open_times,
    .context_new = ov_context_new,
    .context_free = ov_context_free,
    .bind_input = ov_bind_input,
    .run = ov_run,
    .output = ov_output,
    .profile = ov_profile_get,
    .formats = ".xml .tflite",
};
