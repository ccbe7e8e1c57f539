/* genai.c - the engine 'genai' (ONNX Runtime GenAI, by its C API): generates tokens with its own
 * cache and its own choice of the highest score.
 *
 * The model is the directory of a genai_config.json. A request is a new generator, as programs make
 * them: its creation, and the run of the prompt in AppendTokens, are part of the time to the first
 * token. The number of tokens is as asked because min_length is max_length: the library then masks
 * the scores of the ends of a sequence, which cannot be removed from the model's description.
 * Search options of the model that change the scores are switched off.
 *
 * It runs no model on tensors: run() refuses, and `deepclock generate` is what calls it.
 *
 * Ownership: the model owns library, configuration and arena, a context its generator. All calls of
 * a context come from one thread, as the library requires.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "engine/engine.h"
#include "engine/genai/oga_config.h"
#include "engine/genai/oga_lib.h"
#include "engine/probe_facts.h"
#include "engine/runtime_model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define CONFIG_NAME "genai_config.json"
#define THREADS_MAX 4096

extern const dck_engine engine_genai;

struct dck_engine_model {
	RUNTIME_MODEL;
	oga_lib lib;
	oga_config *config;
	oga_model *model;
	oga_settings settings;
	uint64_t threads;
};

struct dck_engine_context {
	dck_engine_model *model;
	oga_params *params; /* of the last request, as the generator; NULL: none */
	oga_generator *generator;
	int32_t *ids; /* of the prompts */
	size_t cap, batch;
};

static const dck_engine_option oga_options_known[] = {
    {"threads", "N", "threads of an operator; default: the cores this process may use"},
    {NULL, NULL, NULL},
};

/* --- open and close */

static dck_status oga_params_check(const dck_open_params *p, dck_err *err)
{
	const char *name = p->model_path ? strrchr(p->model_path, '/') : NULL;

	name = name ? name + 1 : p->model_path;
	if (!name || strcmp(name, CONFIG_NAME) != 0)
		DCK_FAIL(err, E_ARG,
			 "the engine 'genai' opens the file " CONFIG_NAME
			 " of a model that onnxruntime-genai's builder wrote%s%s%s",
			 name ? ", not '" : "", name ? name : "", name ? "'" : "");
	if (p->device && *p->device && strcmp(p->device, "cpu") != 0)
		DCK_FAIL(err, E_ARG,
			 "the engine 'genai' takes no --device: " CONFIG_NAME
			 " names the provider (session_options)");
	if (p->ndims > 0)
		DCK_FAIL(err, E_ARG, "the engine 'genai' takes no --dim: it knows the sizes");
	return DCK_OK;
}

/* Adds what the library reports of the model as a text, in small letters as other engines' facts.
 */
static dck_status oga_fact_asked(dck_engine_model *m, const char *key,
				 oga_result *(*get)(const oga_model *m, const char **ret),
				 dck_err *err)
{
	const char *text = NULL;
	char *copy;

	DCK_TRY(oga_check(&m->lib, get(m->model, &text), "cannot describe the model", err));
	copy = mem_arena_dup(m->arena, text ? text : "");
	if (text)
		m->lib.api.DestroyString(text);
	for (char *c = copy; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	runtime_model_fact(m, key, copy);
	return DCK_OK;
}

static dck_status oga_facts_make(dck_engine_model *m, dck_err *err)
{
	runtime_model_library(m, m->lib.library, m->lib.how, m->lib.version);
	runtime_model_fact(m, "onnxruntime", mem_arena_dup(m->arena, m->lib.ort.version));
	runtime_model_fact(m, "onnxruntime_library",
			   mem_arena_dup(m->arena, os_library_path(m->lib.ort.library)));
	runtime_model_fact(m, "threads",
			   mem_arena_fmt(m->arena, "%llu", (unsigned long long)m->threads));
	DCK_TRY(oga_fact_asked(m, "model_type", m->lib.api.ModelGetType, err));
	DCK_TRY(oga_fact_asked(m, "provider", m->lib.api.ModelGetDeviceType, err));
	DCK_NEED(!mem_arena_failed(m->arena), err, "for what the engine reports");
	return DCK_OK;
}

static dck_status oga_session_open(dck_engine_model *m, const char *path, dck_err *err)
{
	const oga_api *api = &m->lib.api;
	const char *slash = strrchr(path, '/');
	const char *directory =
	    slash ? mem_arena_dup_n(m->arena, path, (size_t)(slash - path) + 1) : ".";
	const char *threads = mem_arena_fmt(
	    m->arena,
	    "{\"model\": {\"decoder\": {\"session_options\": {\"intra_op_num_threads\": %llu}}}}",
	    (unsigned long long)m->threads);
	const char *what = mem_arena_fmt(m->arena, "cannot open the model of '%.200s'", path);

	DCK_NEED(directory && threads && what, err, "to open the model");
	DCK_TRY(oga_check(&m->lib, api->CreateConfig(directory, &m->config), what, err));
	DCK_TRY(oga_check(&m->lib, api->ConfigOverlay(m->config, threads), what, err));
	return oga_check(&m->lib, api->CreateModelFromConfig(m->config, &m->model), what, err);
}

static dck_status oga_model_open(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const uint64_t begin_ns = os_now_ns();

	DCK_TRY(oga_params_check(p, err));
	DCK_TRY(oga_config_read(p->model_path, m->arena, &m->settings, err));
	m->threads = engine_threads_default();
	DCK_TRY(engine_option_count(p, "threads", 1, THREADS_MAX, &m->threads, err));
	DCK_TRY(oga_lib_open(p->library_path, m->arena, p, &m->lib, err));
	const uint64_t loaded_ns = os_now_ns();
	DCK_TRY(oga_session_open(m, p->model_path, err));
	m->library_ns = loaded_ns - begin_ns;
	m->session_ns = os_now_ns() - loaded_ns;
	return oga_facts_make(m, err);
}

static void oga_close(dck_engine_model *m)
{
	if (!m)
		return;
	if (m->model)
		m->lib.api.DestroyModel(m->model);
	if (m->config)
		m->lib.api.DestroyConfig(m->config);
	oga_lib_close(&m->lib);
	mem_arena_free(m->arena);
	mem_free(m);
}

static dck_status oga_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	return runtime_model_open(&engine_genai, p, sizeof **ret, oga_model_open, ret, err);
}

static dck_status oga_probe(const char *library_path, const dck_kv **ret, size_t *ret_n,
			    dck_err *err)
{
	/* The interface lends the pairs until the next probe. */
	static probe_facts last;
	oga_lib l;

	DCK_NEED(probe_facts_begin(&last), err, "to search ONNX Runtime GenAI");
	DCK_TRY(oga_lib_open(library_path, last.arena, NULL, &l, err));
	probe_facts_library(&last, l.library, l.how, l.version);
	probe_facts_put(&last, "onnxruntime",
			mem_arena_dup(last.arena, os_library_path(l.ort.library)));
	probe_facts_put(&last, "device/cpu", "ok");
	oga_lib_close(&l);
	DCK_NEED(!mem_arena_failed(last.arena), err, "for the results of the search");
	*ret = last.facts;
	*ret_n = last.n;
	return DCK_OK;
}

/* --- a request */

static dck_status oga_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "for a context");
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void request_drop(dck_engine_context *c)
{
	const oga_api *api = &c->model->lib.api;

	if (c->generator)
		api->DestroyGenerator(c->generator);
	if (c->params)
		api->DestroyGeneratorParams(c->params);
	c->generator = NULL;
	c->params = NULL;
}

static void oga_context_free(dck_engine_context *c)
{
	if (!c)
		return;
	request_drop(c);
	mem_free(c->ids);
	mem_free(c);
}

static dck_status oga_run(dck_engine_context *c, dck_err *err)
{
	(void)c;
	DCK_FAIL(err, E_UNSUP,
		 "the engine 'genai' generates tokens and runs nothing else: "
		 "'deepclock generate' measures it");
}

/* Copies the prompts as the type that the library takes. */
static dck_status ids_copy(dck_engine_context *c, const int64_t *ids, size_t n, dck_err *err)
{
	DCK_NEED(mem_reserve(&c->ids, &c->cap, n, sizeof *c->ids), err, "for the prompts");
	for (size_t i = 0; i < n; i++)
		c->ids[i] = (int32_t)ids[i];
	return DCK_OK;
}

static dck_status generator_make(dck_engine_context *c, size_t tokens, dck_err *err)
{
	static const char what[] = "cannot begin to generate";
	const struct {
		const char *name;
		double v;
	} numbers[] = {
	    {"max_length", (double)tokens},   {"min_length", (double)tokens},
	    {"batch_size", (double)c->batch}, {"num_beams", 1},
	    {"num_return_sequences", 1},      {"repetition_penalty", 1},
	    {"no_repeat_ngram_size", 0},
	};
	const dck_engine_model *m = c->model;
	const oga_api *api = &m->lib.api;

	DCK_TRY(oga_check(&m->lib, api->CreateGeneratorParams(m->model, &c->params), what, err));
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		DCK_TRY(oga_check(
		    &m->lib,
		    api->GeneratorParamsSetSearchNumber(c->params, numbers[i].name, numbers[i].v),
		    what, err));
	DCK_TRY(oga_check(&m->lib, api->GeneratorParamsSetSearchBool(c->params, "do_sample", false),
			  what, err));
	return oga_check(&m->lib, api->CreateGenerator(m->model, c->params, &c->generator), what,
			 err);
}

static dck_status oga_generate_begin(dck_engine_context *c, const int64_t *ids, size_t batch,
				     size_t n, size_t most, dck_err *err)
{
	const dck_engine_model *m = c->model;

	request_drop(c);
	c->batch = batch;
	if (m->settings.context > 0 && n + most > m->settings.context)
		DCK_FAIL(err, E_ARG,
			 "a prompt of %zu tokens and %zu new ones are more than the model's %llu "
			 "(context_length)",
			 n, most, (unsigned long long)m->settings.context);
	DCK_TRY(ids_copy(c, ids, batch * n, err));
	DCK_TRY(generator_make(c, n + most, err));
	return oga_check(&m->lib,
			 m->lib.api.Generator_AppendTokens(c->generator, c->ids, batch * n),
			 "the prompt fails", err);
}

static dck_status oga_generate_next(dck_engine_context *c, int64_t *ret, dck_err *err)
{
	const oga_lib *l = &c->model->lib;
	const int32_t *ids = NULL;
	size_t n = 0;

	if (!c->generator)
		DCK_FAIL(err, E_ARG, "no request has begun");
	DCK_TRY(
	    oga_check(l, l->api.Generator_GenerateNextToken(c->generator), "a token fails", err));
	DCK_TRY(oga_check(l, l->api.Generator_GetNextTokens(c->generator, &ids, &n),
			  "a token cannot be read", err));
	if (n != c->batch)
		DCK_FAIL(err, E_ENGINE, "%zu tokens came for %zu sequences", n, c->batch);
	for (size_t i = 0; i < n; i++)
		ret[i] = ids[i];
	return DCK_OK;
}

/* --- the cache */

/* Returns the bytes of an output; 0: unknown. */
static uint64_t output_bytes(const dck_engine_context *c, const char *name)
{
	const oga_lib *l = &c->model->lib;
	/* Element types of ONNX that caches have. */
	static const engine_type types[] = {
	    {1, {DCK_DTYPE_FLOAT, 32, 1}},   {2, {DCK_DTYPE_UINT, 8, 1}},
	    {3, {DCK_DTYPE_INT, 8, 1}},	     {10, {DCK_DTYPE_FLOAT, 16, 1}},
	    {16, {DCK_DTYPE_BFLOAT, 16, 1}},
	};
	int64_t dim[DCK_RANK_MAX] = {0};
	oga_tensor *t = NULL;
	size_t rank = 0;
	int type = 0;
	uint64_t bytes;

	if (!name || oga_check(l, l->api.Generator_GetOutput(c->generator, name, &t), "", NULL))
		return 0;
	bool ok = oga_check(l, l->api.TensorGetType(t, &type), "", NULL) == DCK_OK &&
		  oga_check(l, l->api.TensorGetShapeRank(t, &rank), "", NULL) == DCK_OK &&
		  rank <= DCK_RANK_MAX &&
		  oga_check(l, l->api.TensorGetShape(t, dim, rank), "", NULL) == DCK_OK;

	l->api.DestroyTensor(t);
	bytes = ok ? dck_dtype_bytes(engine_type_of(types, sizeof types / sizeof *types, type)) : 0;
	for (size_t i = 0; i < rank && bytes > 0; i++)
		bytes = dim[i] > 0 ? bytes * (uint64_t)dim[i] : 0;
	return bytes;
}

/* Sums the outputs of all layers; 0: one of them is unknown. */
static uint64_t cache_bytes(const dck_engine_context *c)
{
	const oga_settings *s = &c->model->settings;
	mem_arena *a = mem_arena_new(0);
	uint64_t sum = 0;

	for (uint64_t i = 0; a && s->key && s->value && i < s->layers; i++) {
		const uint64_t key = output_bytes(c, oga_layer_name(a, s->key, i));
		const uint64_t value =
		    key > 0 ? output_bytes(c, oga_layer_name(a, s->value, i)) : 0;

		sum += key + value;
		if (value == 0) {
			sum = 0;
			break;
		}
	}
	mem_arena_free(a);
	return sum;
}

static dck_status oga_generation(dck_engine_context *c, dck_generation *ret, dck_err *err)
{
	(void)err;
	ret->vocabulary = c->model->settings.vocabulary;
	ret->end_of_sequence = "never chosen: its score is masked (min_length)";
	ret->loop =
	    "the engine's: a new generator and AppendTokens, then GenerateNextToken for each token";
	if (c->generator)
		ret->cache_bytes = cache_bytes(c);
	return DCK_OK;
}

const dck_engine engine_genai = {
    ENGINE_BUILT_IN("genai"),
    .help = "ONNX Runtime GenAI, loaded when it is used: generates tokens, of genai_config.json",
    .caps = DCK_CAP_NOT_ONNX | DCK_CAP_NO_TENSORS,
    .options = oga_options_known,
    .probe = oga_probe,
    .open = oga_open,
    .close = oga_close,
    .facts = runtime_model_facts,
    .open_times = runtime_model_open_times,
    .context_new = oga_context_new,
    .context_free = oga_context_free,
    .run = oga_run,
    .formats = ".json",
    .generation = oga_generation,
    .generate_begin = oga_generate_begin,
    .generate_next = oga_generate_next,
};
