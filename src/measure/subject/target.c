/* target.c - opens a subject in stages, and owns everything that was opened.
 *
 * target_open(): refuse options without effect, choose the engine, pin CPUs, read the model file
 * (structure, sizes, rebatching), verify a rebatched model, open it in the engine, make the inputs,
 * create a context and bind the first inputs. Cheap refusals come before the engine compiles the
 * model. Library, session and inputs are timed for the record.
 *
 * `opening` has the data needed only until the engine has its own copy: parameters, the bytes of a
 * built-in or rebatched model. subject_target has the rest. subject_target_close() frees context,
 * model, hook, inputs, engine and arena in this order, accepts a half-opened target, and is called
 * on every failure.
 *
 * The engine may log from any of its threads until it is closed: target_log_take() copies the text
 * to its stack, bounded by LOG_MAX, and its receiver is in the arena, which is freed last.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/target.h"
#include "measure/subject/input_given.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "measure/subject/shape_resolve.h"
#include "deepclock/model.h"
#include "os/os.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define OPTIONS_MAX (DCK_LIST_MAX + 8)
#define LOG_MAX	    2048 /* bytes of a line */
#define BEFORE_MAX  100u /* bytes reserved for what a caller prepends to a message */

/* The receiver of the log of the engine's library. */
typedef struct ear {
	void (*log)(void *self, dck_log_level level, const char *text);
	void *self;
} ear;

/* Passes on a message of any length; an invalid level becomes an error. */
static void target_log_take(void *self, dck_log_level level, const char *text)
{
	const ear *e = self;
	char line[LOG_MAX];

	if (!text)
		return;
	snprintf(line, sizeof line, "%.*s", LOG_MAX - 1, text);
	e->log(e->self, (unsigned)level <= DCK_LOG_ERROR ? level : DCK_LOG_ERROR, line);
}

/* The parameters of open(), with the storage they point into. */
typedef struct opening {
	dck_open_params params;
	dck_kv options[OPTIONS_MAX];
	dck_kv dims[DCK_LIST_MAX];
	dck_buffer bytes; /* a built-in network */
	rebatched_model rebatched;
	ear *ear;	     /* NULL: none */
	dck_subject subject; /* with usual sizes where it leaves some open */
	bool usual_batch;
} opening;

typedef struct progress {
	void (*phase)(void *self, const char *name);
	void *self;
	const dck_clock *clock;
	uint64_t begin_ns;
} progress;

static void phase_begin(progress *p, const char *name)
{
	if (p->phase)
		p->phase(p->self, name);
	p->begin_ns = p->clock->now_ns(p->clock->self);
}

static uint64_t phase_end(const progress *p)
{
	return p->clock->now_ns(p->clock->self) - p->begin_ns;
}

/* "KEY=VALUE" cut in two; both halves live in the arena. */
static dck_status target_pair_read(mem_arena *a, const char *text, dck_kv *ret, dck_err *err)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		DCK_FAIL(err, E_ARG, "--engine-option is '%s': write it as NAME=VALUE", text);
	ret->key = mem_arena_dup_n(a, text, (size_t)(equals - text));
	ret->value = mem_arena_dup(a, equals + 1);
	DCK_NEED(ret->key && ret->value, err, "for --engine-option");
	return DCK_OK;
}

static void option_add(opening *o, const char *key, const char *value)
{
	if (value && o->params.noptions < OPTIONS_MAX)
		o->options[o->params.noptions++] = (dck_kv){key, value};
}

size_t subject_tensor_find(const dck_tensor_info *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

const dck_engine *subject_engine_named(const char *text)
{
	const size_t n = strcspn(text, ":=");

	for (size_t i = 0; text[n] == ':' && engine_table[i]; i++)
		if (strlen(engine_table[i]->name) == n &&
		    strncmp(engine_table[i]->name, text, n) == 0)
			return engine_table[i];
	return NULL;
}

/* Returns TEXT of "ENGINE:TEXT", which is for that engine alone; NULL: for another. */
static const char *option_of(const dck_engine *e, const char *text)
{
	const dck_engine *of = subject_engine_named(text);

	return !of ? text : of == e ? text + strlen(of->name) + 1 : NULL;
}

/* Returns the library that is given for an engine, the last one; NULL: it is searched. */
static const char *library_of(const dck_engine *e, const dck_list *libraries)
{
	const char *found = NULL;

	for (size_t i = libraries->n; !found && i-- > 0;)
		found = option_of(e, libraries->item[i]);
	return found;
}

/* Returns whether --engine-option gives this engine the key. */
static bool option_key_given(const dck_engine *e, const dck_list *options, const char *key)
{
	for (size_t i = 0; i < options->n; i++) {
		const char *text = option_of(e, options->item[i]);

		if (text && subject_pair_rest(text, key))
			return true;
	}
	return false;
}

/* Translates the common model options into keys of the engine. An engine that has no such key gets
 * it only when the user set it, so that its refusal names the key. */
static dck_status model_options_give(opening *o, const subject_target *t, const dck_model_config *c,
				     dck_err *err)
{
	static const char *const levels[] = {"none", "basic", "extended", "all"};
	const dck_engine *e = t->engine.ops;

	if (c->threads > 0)
		option_add(o, "threads",
			   mem_arena_fmt(t->arena, "%llu", (unsigned long long)c->threads));
	if (c->interop_threads > 0)
		option_add(o, "interop_threads",
			   mem_arena_fmt(t->arena, "%llu", (unsigned long long)c->interop_threads));
	/* The level of a zeroed subject, whose pool is 0 too, is not given. The usual one gives way
	 * to the engine's own option. */
	if (c->opt >= 0 && c->opt < 4 &&
	    !(c->opt == 3 && option_key_given(e, &c->engine_option, "opt")) &&
	    (engine_option_row(e, "opt") || (c->opt < 3 && c->input_pool > 0)))
		option_add(o, "opt", levels[c->opt]);
	if (c->transfers == DCK_TRANSFERS_INCLUDE)
		option_add(o, "transfers", "include");
	for (size_t i = 0; i < c->engine_option.n; i++) {
		const char *text = option_of(e, c->engine_option.item[i]);
		dck_kv pair = {0};

		if (!text)
			continue;
		DCK_TRY(target_pair_read(t->arena, text, &pair, err));
		option_add(o, pair.key, pair.value);
	}
	for (size_t i = 0; i < c->dim.n; i++) {
		dck_kv *dim = &o->dims[o->params.ndims++];
		int64_t size = 0;

		DCK_TRY(subject_dim_read(t->arena, c->dim.item[i], &dim->key, &size, err));
		dim->value = mem_arena_fmt(t->arena, "%lld", (long long)size);
		DCK_NEED(dim->value, err, "for --dim");
	}
	return DCK_OK;
}

static void command_options_give(opening *o, const dck_command_config *c, const dck_list *input)
{
	if (input->n > 0)
		option_add(o, "input", input->item[0]);
	option_add(o, "shell", c->shell ? "1" : "0");
	option_add(o, "any_exit", c->any_exit ? "1" : "0");
	option_add(o, "output", c->output);
	option_add(o, "directory", c->directory);
}

/* An unknown built-in name is a mistyped argument, not a missing file. */
static dck_status wrong_name(dck_err *err)
{
	if (err)
		err->code = DCK_E_ARG;
	return DCK_E_ARG;
}

static dck_status zoo_build(opening *o, const char *name, const dck_model_config *c, bool open,
			    dck_err *err)
{
	const dck_zoo_config zoo = {.batch = c->batch,
				    .image_size = c->image_size,
				    .seq = c->seq,
				    .seed = c->seed,
				    .symbolic = open};
	dck_sink sink;

	dck_sink_buffer(&sink, &o->bytes);
	dck_status status = dck_zoo_write(name, &zoo, &sink, err);
	if (status != DCK_OK)
		return status == DCK_E_ABSENT ? wrong_name(err) : status;
	DCK_TRY(dck_sink_finish(&sink, err));
	o->params.model_bytes = o->bytes.data;
	o->params.model_bytes_n = o->bytes.n;
	return DCK_OK;
}

/* Replaces a file whose batch is fixed at another size by the rebatched model. */
static dck_status target_batch_give(subject_target *t, opening *o, const dck_model_config *c,
				    dck_err *err)
{
	const bool directory = t->engine.ops->caps & DCK_CAP_FOLDER;
	model_summary now;

	DCK_TRY(rebatched_make(o->params.model_path, c, directory, t->arena, &o->rebatched, err));
	if (!o->rebatched.done)
		return DCK_OK;
	DCK_TRY(model_summary_read_bytes(o->rebatched.model.bytes.data, o->rebatched.model.bytes.n,
					 t->arena, &now, err));
	t->summary.values = now.values;
	o->params.model_path = NULL;
	o->params.model_folder = o->rebatched.directory;
	o->params.model_bytes = o->rebatched.model.bytes.data;
	o->params.model_bytes_n = o->rebatched.model.bytes.n;
	return DCK_OK;
}

/* Reads the structure of the file and the ranges of integer inputs, and refuses what is not a model
 * before the engine opens it. A model in the engine's native format is not read. */
static dck_status target_model_read(subject_target *t, opening *o, const char *text,
				    const dck_model_config *c, dck_err *err)
{
	dck_status status;

	if (strncmp(text, "zoo:", 4) == 0) {
		DCK_TRY(zoo_build(o, text + 4, c, t->bare, err));
		status =
		    model_summary_read_bytes(o->bytes.data, o->bytes.n, t->arena, &t->summary, err);
	} else {
		if (c->image_size || c->seq > 0)
			DCK_FAIL(err, E_ARG,
				 "--image-size and --seq are for built-in networks (zoo:NAME); "
				 "for a file give --shape NAME=1x3x224x224 or --dim SYMBOL=N");
		o->params.model_path = text;
		if (engine_reads(t->engine.ops, text))
			return DCK_OK;
		status = model_summary_read_file(text, t->arena, &t->summary, err);
	}
	if (status == DCK_E_UNSUP)
		return DCK_OK;
	t->has_summary = status == DCK_OK;
	if (status != DCK_OK || !o->params.model_path)
		return status;
	return target_batch_give(t, o, c, err);
}

/* Lists the names of all values, for an engine that makes them outputs and cannot read models. */
static dck_status values_give(opening *o, const subject_target *t, dck_err *err)
{
	dck_open_params *p = &o->params;
	onnx_model *model = NULL;

	if (!(t->observe & DCK_OBSERVE_VALUES))
		return DCK_OK;
	if (p->model_path)
		DCK_TRY(onnx_read_file(p->model_path, t->arena, &model, err));
	else
		DCK_TRY(onnx_read_bytes(p->model_bytes, p->model_bytes_n, t->arena, &model, err));
	return onnx_value_names(model->graph, t->arena, &p->values, &p->nvalues, err);
}

static void list_append(dck_list *to, const dck_list *from)
{
	for (size_t i = 0; i < from->n && to->n < DCK_LIST_MAX; i++)
		to->item[to->n++] = from->item[i];
}

/* Gives c usual values for what z leaves open. */
static dck_status usual_give(subject_target *t, const shape_resolve *z, dck_model_config *c,
			     dck_err *err)
{
	subject_usual u;

	if (t->sizes_given || !subject_usual_find(z, &u) || u.dim.n + c->dim.n > DCK_LIST_MAX ||
	    u.shape.n + c->shape.n > DCK_LIST_MAX || u.input.n + c->input.n > DCK_LIST_MAX)
		return shape_resolve_closed(z, NULL, err);
	t->usual = subject_usual_text(t->arena, &u);
	DCK_NEED(t->usual, err, "for the model's inputs");
	if (u.batch)
		c->batch = u.batch;
	list_append(&c->dim, &u.dim);
	list_append(&c->shape, &u.shape);
	list_append(&c->input, &u.input);
	return DCK_OK;
}

/* Resolves what the model declares, the options and the files of inputs. */
static dck_status target_sizes_read(subject_target *t, const dck_model_config *c, bool files,
				    shape_resolve *z, dck_err *err)
{
	const model_values *v = &t->summary.values;

	DCK_TRY(shape_resolve_declared(z, t->arena, v, t->summary.path, err));
	return files ? input_given_sizes(z, v, c, subject_memory_half(), err)
		     : shape_resolve_read(z, v, c, err);
}

/* Resolves every size: by the model, the options c and their files, or as is usual, which c then
 * has too. */
static dck_status target_sizes_resolve(subject_target *t, dck_model_config *c, shape_resolve *z,
				       dck_err *err)
{
	DCK_TRY(shape_resolve_declared(z, t->arena, &t->summary.values, t->summary.path, err));
	const bool files = shape_resolve_from_files(z, c);

	DCK_TRY(target_sizes_read(t, c, files, z, err));
	DCK_TRY(usual_give(t, z, c, err));
	return t->usual && *t->usual ? target_sizes_read(t, c, files, z, err) : DCK_OK;
}

dck_status subject_sizes_find(const char *path, const dck_model_config *c, mem_arena *a,
			      shape_resolve *ret, dck_list *ret_dim, dck_err *err)
{
	subject_target t = {.arena = a};
	dck_model_config with = *c;

	DCK_TRY(model_summary_read_file(path, a, &t.summary, err));
	DCK_TRY(target_sizes_resolve(&t, &with, ret, err));
	if (ret_dim)
		*ret_dim = with.dim;
	return DCK_OK;
}

/* Passes the sizes that are known now to the engine. */
static dck_status target_shapes_give(opening *o, const shape_resolve *z, mem_arena *a, dck_err *err)
{
	dck_tensor_info *shapes = mem_arena_array(a, z->n, sizeof *shapes);

	DCK_NEED(shapes, err, "for the model's inputs");
	for (size_t i = 0; i < z->n; i++) {
		shapes[i] = z->input[i].info;
		if (z->input[i].shaped)
			shapes[i].rank = (int32_t)z->input[i].rank;
		for (int32_t d = 0; d < shapes[i].rank; d++)
			shapes[i].dim[d] = z->input[i].dim[d];
	}
	o->params.shapes = shapes;
	o->params.nshapes = z->n;
	return DCK_OK;
}

/* Checks sizes before the engine opens the model: rejects a size for a name that no input has,
 * which an engine would ignore, and adds usual sizes for dimensions that options and files leave
 * open. */
static dck_status target_sizes_check(subject_target *t, opening *o, dck_err *err)
{
	dck_model_config *c = &o->subject.model;
	const uint64_t batch = c->batch;
	shape_resolve z;

	if (!t->has_summary || t->bare)
		return DCK_OK;
	if (t->engine.ops->caps & DCK_CAP_NO_TENSORS) {
		DCK_TRY(
		    shape_resolve_declared(&z, t->arena, &t->summary.values, t->summary.path, err));
		return shape_resolve_from_files(&z, c) ? DCK_OK
						       : target_sizes_read(t, c, false, &z, err);
	}
	DCK_TRY(shape_resolve_types(t->arena, &t->summary.values, err));
	DCK_TRY(target_sizes_resolve(t, c, &z, err));
	o->usual_batch = c->batch != batch;
	return target_shapes_give(o, &z, t->arena, err);
}

static dck_status inputs_make(subject_target *t, const dck_model_config *c, dck_err *err)
{
	const dck_engine *e = t->engine.ops;

	t->items = 1;
	t->pool = 1;
	if (e->caps & DCK_CAP_NO_TENSORS)
		return DCK_OK;
	DCK_TRY(engine_describe(e, t->model, &t->in, &t->nin, &t->out, &t->nout, err));
	if (t->bare)
		return DCK_OK;
	DCK_TRY(subject_inputs_new(t->in, t->nin, t->has_summary ? &t->summary : NULL, c,
				   &t->inputs, err));
	t->items = subject_inputs_items(t->inputs, &t->items_how);
	t->pool = subject_inputs_pool(t->inputs);
	return DCK_OK;
}

dck_unit subject_rate_unit(const subject_target *t)
{
	return t->engine.ops->caps & DCK_CAP_COMMAND ? DCK_UNIT_RUN_PER_S : DCK_UNIT_ITEM_PER_S;
}

dck_status subject_target_bind(const subject_target *t, dck_engine_context *c,
			       const subject_inputs *inputs, size_t *set, dck_err *err)
{
	const dck_engine *e = t->engine.ops;

	for (size_t i = 0; i < t->nin; i++)
		DCK_TRY(engine_bind_input(e, c, i, subject_inputs_get(inputs, *set, i), err));
	*set = (*set + 1) % (inputs ? subject_inputs_pool(inputs) : 1);
	return engine_prepare(e, c, err);
}

dck_status subject_target_next_input(subject_target *t, dck_err *err)
{
	return subject_target_bind(t, t->context, t->inputs, &t->next_set, err);
}

/* Appends what to do, in full; the cause is truncated to make space. */
static void remedy_add(dck_err *err, const char *remedy)
{
	char cause[sizeof err->msg];
	size_t space;

	if (strlen(remedy) + BEFORE_MAX + 40 > sizeof err->msg)
		return;
	space = sizeof err->msg - strlen(remedy) - BEFORE_MAX;
	memcpy(cause, err->msg, sizeof cause);
	snprintf(err->msg, sizeof err->msg, "%.*s%s; %s", (int)space, cause,
		 strnlen(cause, sizeof cause) > space ? "..." : "", remedy);
}

/* Returns whether the text has the word, as a whole or with an 's': "dims", but not "Batchwise". */
static bool target_has_word(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = text; (at = strcasestr(at, word)); at++) {
		const char *end = at + n + (at[n] == 's');

		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)*end))
			return true;
	}
	return false;
}

/* Returns whether sizes may be the cause of an engine's failure, by the words of its message. An
 * index out of bounds may be that of the user's own values. What is missing in the engine or wrong
 * in a file stays so with other sizes. */
static bool is_of_sizes(const subject_target *t, const char *why)
{
	static const char *const words[] = {"shape",	 "dim",		  "dimension", "size",
					    "broadcast", "broadcastable", "axis",      "axes",
					    "rank",	 "length",	  "element",   "batch"};
	static const char *const others[] = {"external data", "file",
					     "not supported", "NOT_IMPLEMENTED",
					     "Type Error",    "Unrecognized attribute"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (target_has_word(why, others[i]))
			return false;
	if (strcasestr(why, "out of data bounds") || strcasestr(why, "out of bounds"))
		return !t->inputs || !subject_inputs_given(t->inputs);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (target_has_word(why, words[i]))
			return true;
	return false;
}

dck_status subject_target_failed(const subject_target *t, dck_status status, dck_err *err)
{
	const char *hint = NULL, *usual = NULL;

	if (status == DCK_E_ENGINE && t->inputs && err) {
		model_failed f;
		const bool found = t->has_summary && t->summary.path &&
				   model_failed_input(t->summary.path, err->msg, t->arena, &f);

		hint = subject_inputs_hint(t->inputs, found ? &f : NULL, err->msg);
	}
	if (status == DCK_E_ENGINE && err && t->usual && *t->usual && is_of_sizes(t, err->msg)) {
		usual =
		    mem_arena_fmt(t->arena,
				  "the model leaves sizes open, and the usual ones may not fit it: "
				  "give yours in place of %s",
				  t->usual);
	}
	if (hint)
		remedy_add(err, hint);
	if (usual)
		remedy_add(err, usual);
	return status;
}

static dck_status engine_choose(subject_target *t, const dck_subject *s, dck_err *err)
{
	switch (s->kind) {
	case DCK_SUBJECT_FUNCTION:
		if (!s->function)
			DCK_FAIL(err, E_ARG, "the subject has no function to measure");
		t->engine.ops = &subject_function_engine;
		return DCK_OK;
	case DCK_SUBJECT_COMMAND:
		return engine_find("command", &t->engine, err);
	case DCK_SUBJECT_PLUGIN:
		return engine_find(mem_arena_fmt(t->arena, "plugin:%s", s->text), &t->engine, err);
	case DCK_SUBJECT_MODEL:
		return engine_find(s->model.engine, &t->engine, err);
	}
	DCK_FAIL(err, E_ARG, "the subject's kind is %d, which is unknown", (int)s->kind);
}

/* Returns the first row whose value in cfg is not the default, or NULL. A text that is NULL is not
 * given. */
static const dck_opt *option_touched(const dck_opt *table, const void *cfg, const void *defaults)
{
	for (const dck_opt *o = table; o->name; o++) {
		const void *at = (const char *)cfg + o->at;

		if (o->kind == DCK_OPT_TEXT && !*(const char *const *)at)
			continue;
		if (!opt_same(o, cfg, defaults))
			return o;
	}
	return NULL;
}

/* Refuses an option that has no effect on this kind of subject. */
static dck_status options_apply(const dck_subject *s, dck_err *err)
{
	const bool model = s->kind == DCK_SUBJECT_MODEL || s->kind == DCK_SUBJECT_PLUGIN;
	const dck_opt *o = NULL;
	dck_subject plain;

	dck_subject_init(&plain);
	if (s->kind != DCK_SUBJECT_COMMAND)
		o = option_touched(dck_command_options, &s->command, &plain.command);
	if (o)
		DCK_FAIL(err, E_ARG, "--%s is for commands; '%s' is not a command", o->name,
			 s->text ? s->text : "the function");
	/* Functions and commands can be pinned too, and a command reads a file. */
	plain.model.cpus = s->model.cpus;
	if (s->kind == DCK_SUBJECT_COMMAND)
		plain.model.input = s->model.input;
	if (s->kind == DCK_SUBJECT_COMMAND && s->model.input.n > 1)
		DCK_FAIL(err, E_ARG,
			 "a program has one standard input, and --input is given %zu times",
			 s->model.input.n);
	if (!model)
		o = option_touched(dck_model_options, &s->model, &plain.model);
	if (o)
		DCK_FAIL(err, E_ARG, "--%s is for models; a %s has none", o->name,
			 s->kind == DCK_SUBJECT_COMMAND ? "command" : "function");
	return DCK_OK;
}

static dck_status opening_fill(subject_target *t, opening *o, const dck_subject *s,
			       const dck_observer *watch, dck_err *err)
{
	if (t->log) {
		o->ear = mem_arena_alloc(t->arena, sizeof *o->ear);
		DCK_NEED(o->ear, err, "to open the subject");
		*o->ear = (ear){t->log, t->log_self};
	}
	o->params = (dck_open_params){
	    .struct_size = sizeof o->params,
	    .library_path = library_of(t->engine.ops, &s->model.engine_lib),
	    .device = s->model.device ? s->model.device : "cpu",
	    .options = o->options,
	    .dims = o->dims,
	    .log = o->ear ? target_log_take : NULL,
	    .log_self = o->ear,
	    .cancelled = watch ? watch->cancelled : NULL,
	    .cancelled_self = watch ? watch->self : NULL,
	    .observe = t->observe,
	    .work_dir = t->work_dir,
	};
	switch (s->kind) {
	case DCK_SUBJECT_FUNCTION:
		o->params.model_bytes = s;
		o->params.model_bytes_n = sizeof *s;
		return DCK_OK;
	case DCK_SUBJECT_COMMAND:
		o->params.argv = s->argv;
		command_options_give(o, &s->command, &s->model.input);
		return DCK_OK;
	case DCK_SUBJECT_PLUGIN:
		return model_options_give(o, t, &s->model, err);
	case DCK_SUBJECT_MODEL:
		DCK_TRY(target_model_read(t, o, s->text, &s->model, err));
		DCK_TRY(target_sizes_check(t, o, err));
		DCK_TRY(model_options_give(o, t, &s->model, err));
		return values_give(o, t, err);
	}
	return DCK_OK;
}

static dck_status target_open(subject_target *t, opening *o, const dck_observer *watch, progress *p,
			      dck_err *err)
{
	const dck_subject *s = &o->subject;
	const dck_engine *e;
	dck_open_times times;
	const dck_kv *kv;
	size_t nkv;

	DCK_TRY(subject_valid(s, err));
	DCK_TRY(options_apply(s, err));
	DCK_TRY(engine_choose(t, s, err));
	e = t->engine.ops;
	if (s->kind == DCK_SUBJECT_PLUGIN && !(e->caps & DCK_CAP_NO_MODEL))
		DCK_FAIL(err, E_ARG,
			 "the plug-in '%s' has no built-in workload: give it a model with "
			 "--engine plugin:%s MODEL",
			 s->text, s->text);
	DCK_TRY(engine_can_observe(e, t->observe, err));
	if (s->model.cpus) {
		DCK_TRY(os_pin_cpus(s->model.cpus, err));
		t->pinned = true;
	}
	phase_begin(p, "model file");
	DCK_TRY(opening_fill(t, o, s, watch, err));
	/* An engine checks too; an engine that does not must not ignore a mistyped key. */
	DCK_TRY(engine_options_check(e, &o->params, err));

	if (o->rebatched.done && t->check)
		DCK_TRY(t->check(s, &o->rebatched, watch, &t->rebatched, err));
	else if (o->rebatched.done)
		t->rebatched = rebatched_facts(&o->rebatched, (int64_t)s->model.batch);
	phase_begin(p, "session");
	DCK_TRY(engine_open(e, &o->params, &t->model, err));
	t->session_ns = phase_end(p);
	dck_buffer_done(&o->bytes); /* the engine has its own copy by now */
	rebatched_done(&o->rebatched);
	DCK_TRY(engine_open_times(e, t->model, &times, err));
	if (times.valid & 1)
		t->library_ns = times.library_ns;
	if (times.valid & 2)
		t->session_ns = times.session_ns;
	/* The record reads the facts later; wrong ones are refused before the work. */
	DCK_TRY(engine_facts(e, t->model, &kv, &nkv, err));

	phase_begin(p, "inputs");
	DCK_TRY(inputs_make(t, &s->model, err));
	if (o->usual_batch)
		t->items_how = "a usual size for the model's open dimensions";
	DCK_TRY(engine_context_new(e, t->model, &t->context, err));
	if (!t->bare)
		DCK_TRY(subject_target_next_input(t, err));
	t->inputs_ns = phase_end(p);
	if (s->command.prepare)
		DCK_TRY(
		    subject_hook_new("prepare", s->command.prepare, &s->command, &t->prepare, err));
	if (s->items > 0 || s->model.items > 0) {
		t->items = s->items > 0 ? s->items : s->model.items;
		t->items_how = s->items > 0 ? "from the caller" : "from --items";
	}
	return DCK_OK;
}

dck_status subject_target_open(subject_target *t, const dck_subject *s, const dck_clock *clock,
			       const dck_observer *watch,
			       void (*phase)(void *self, const char *name), void *phase_self,
			       dck_err *err)
{
	progress p = {.phase = phase, .self = phase_self, .clock = clock};
	opening o = {0};
	dck_status status;

	t->arena = mem_arena_new(0);
	DCK_NEED(t->arena, err, "to open the subject");
	o.subject = *s;
	status = subject_target_failed(t, target_open(t, &o, watch, &p, err), err);
	dck_buffer_done(&o.bytes);
	rebatched_done(&o.rebatched);
	if (status != DCK_OK)
		subject_target_close(t);
	return status;
}

const char *subject_target_fact(const subject_target *t, const char *key)
{
	const dck_kv *kv;
	size_t n;

	if (engine_facts(t->engine.ops, t->model, &kv, &n, NULL) != DCK_OK)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strcmp(kv[i].key, key) == 0)
			return kv[i].value;
	return NULL;
}

void subject_target_close(subject_target *t)
{
	const dck_engine *e = t->engine.ops;

	if (e && t->context)
		e->context_free(t->context);
	if (e && t->model)
		e->close(t->model);
	subject_hook_free(t->prepare);
	subject_inputs_free(t->inputs);
	engine_release(&t->engine);
	if (t->pinned)
		os_unpin_cpus();
	mem_arena_free(t->arena);
	memset(t, 0, sizeof *t);
}
