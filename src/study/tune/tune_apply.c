/* tune_apply.c - what sets a configuration in a program: the deepclock command that measures it,
 * and lines of Python and C for the engine's own interface.
 *
 * apply_rows has for an option and value of an engine the setting and the call in C; the line of
 * Python follows from the setting: an attribute of SessionOptions, or, with a dot in it, a
 * configuration entry. Python's tuned_session() sets the same settings, from the table in the
 * record. An option of ONNX Runtime with a dot has the name of its entry; one of OpenVINO has the
 * name of its property in small letters.
 *
 * ONNX Runtime's own default of threads is the number of cores, deepclock's the number that the
 * process may use, so threads are always set. So is OpenVINO's hint of the execution mode, whose
 * own default may compute in fewer bits than were measured. Sizes that a file leaves open are
 * fixed, as they were when it was measured: of OpenVINO all, as it compiles other code for any
 * size, of ONNX Runtime those by name. The lines can be run in their order; in C `api` and `env`
 * are the program's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/opt_text.h"
#include "base/units.h"
#include "engine/engine.h"
#include "measure/subject/shape_resolve.h"
#include "measure/subject/target.h"
#include "measure/worker.h"
#include "os/os.h"
#include "study/tune/tune_run.h"
#include <ctype.h>
#include <string.h>

#define COMMAND_WORDS_MAX 256

typedef struct apply_row {
	const char *option, *value; /* value NULL: any */
	const char *setting;	    /* of SessionOptions */
	const char *to;		    /* its value; NULL: the option's */
	const char *call;	    /* in C, before the value (NULL: none is passed) */
} apply_row;

#define ENTRY "AddSessionConfigEntry"

static const apply_row apply_rows[] = {
    {"threads", NULL, "intra_op_num_threads", NULL, "SetIntraOpNumThreads"},
    {"interop-threads", NULL, "execution_mode", "ORT_PARALLEL", "SetSessionExecutionMode"},
    {"interop-threads", NULL, "inter_op_num_threads", NULL, "SetInterOpNumThreads"},
    {"opt", "none", "graph_optimization_level", "ORT_DISABLE_ALL",
     "SetSessionGraphOptimizationLevel"},
    {"opt", "basic", "graph_optimization_level", "ORT_ENABLE_BASIC",
     "SetSessionGraphOptimizationLevel"},
    {"opt", "extended", "graph_optimization_level", "ORT_ENABLE_EXTENDED",
     "SetSessionGraphOptimizationLevel"},
    {"spin", NULL, "session.intra_op.allow_spinning", NULL, ENTRY},
    {"spin", NULL, "session.inter_op.allow_spinning", NULL, ENTRY},
    {"denormals", "flush", "session.set_denormal_as_zero", "1", ENTRY},
    {"prepacking", "0", "session.disable_prepacking", "1", ENTRY},
    {"arena", "0", "enable_cpu_mem_arena", "False", "DisableCpuMemArena"},
    {"mem_pattern", "0", "enable_mem_pattern", "False", "DisableMemPattern"},
    {"deterministic", "1", "use_deterministic_compute", "True", "SetDeterministicCompute"},
};

typedef struct applying {
	record_builder *b;
	mem_arena *a;
	bool ort;	    /* else OpenVINO */
	const char *device; /* by OpenVINO's name */
	const char *plugin; /* the same, without the devices that it chooses from */
} applying;

static void row_put(const applying *p, const char *option, const char *python, const char *c,
		    const char *setting, const char *to)
{
	static const char *const none = "no line for it is known: the command has it";

	record_cell_text(p->b, option);
	record_cell(p->b, python ? RECORD_TEXT(python) : RECORD_ABSENT(none));
	record_cell(p->b, c ? RECORD_TEXT(c) : RECORD_ABSENT(none));
	if (setting) {
		record_cell_text(p->b, setting);
		record_cell_text(p->b, to);
	} else {
		record_cell_absent(p->b, "it is not a setting of the session");
		record_cell_absent(p->b, "it is not a setting of the session");
	}
}

/* The enumeration that a value of an attribute belongs to, with its dot; "": a plain value. */
static const char *python_type_of(const char *setting)
{
	return strcmp(setting, "execution_mode") == 0 ? "onnxruntime.ExecutionMode."
	       : strcmp(setting, "graph_optimization_level") == 0
		   ? "onnxruntime.GraphOptimizationLevel."
		   : "";
}

/* Returns a text as it stands between quotes in C and Python. */
static const char *quoted_text(mem_arena *a, const char *text)
{
	const char *made = "";

	for (const char *at = text; made && *at;) {
		size_t n = 0;

		while (at[n] && !strchr("\"\\\177", at[n]) && (unsigned char)at[n] >= ' ')
			n++;
		made = mem_arena_fmt(a, "%s%.*s", made, (int)n, at);
		at += n;
		if (made && *at)
			made = strchr("\"\\", *at)
				   ? mem_arena_fmt(a, "%s\\%c", made, *at)
				   : mem_arena_fmt(a, "%s\\%03o", made, (unsigned char)*at);
		at += *at != '\0';
	}
	return made;
}

static void ort_put(const applying *p, const char *option, const char *value, const char *setting,
		    const char *to, const char *call)
{
	const bool entry = strchr(setting, '.') != NULL;
	const bool bare = strcmp(to, "False") == 0; /* a call without a value */
	const char *quoted = quoted_text(p->a, to);
	const char *python =
	    entry ? mem_arena_fmt(p->a, "options.add_session_config_entry(\"%s\", \"%s\")", setting,
				  quoted)
		  : mem_arena_fmt(p->a, "options.%s = %s%s", setting, python_type_of(setting), to);
	const char *c =
	    entry  ? mem_arena_fmt(p->a, "api->%s(options, \"%s\", \"%s\");", call, setting, quoted)
	    : bare ? mem_arena_fmt(p->a, "api->%s(options);", call)
		   : mem_arena_fmt(p->a, "api->%s(options, %s);", call,
				   strcmp(to, "True") == 0 ? "true" : to);

	row_put(p, mem_arena_fmt(p->a, "%s=%s", option, value), python, c, setting, to);
}

/* Returns the name of the model's file, quoted; a built-in network has the file that `deepclock zoo
 * NAME -o NAME.onnx` writes. */
static const char *model_literal(mem_arena *a, const char *text)
{
	const bool zoo = strncmp(text, "zoo:", 4) == 0;
	const char *made = quoted_text(a, zoo ? text + 4 : text);

	return made ? mem_arena_fmt(a, "%s%s", made, zoo ? ".onnx" : "") : NULL;
}

static const char *tune_upper(mem_arena *a, const char *text)
{
	char *copy = mem_arena_dup(a, text);

	for (char *at = copy; at && *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return copy ? copy : "";
}

static void openvino_put(const applying *p, const char *option, const char *value)
{
	const char *text = mem_arena_fmt(p->a, "%s=%s", option, value), *property, *to;

	if (strcmp(option, "threads") == 0) {
		property = "INFERENCE_NUM_THREADS";
		to = value;
	} else if (!engine_openvino_property(p->a, option, value, &property, &to)) {
		row_put(p, text, NULL, NULL, NULL, NULL);
		return;
	}
	const char *quoted = property && to ? quoted_text(p->a, to) : NULL;

	if (quoted)
		row_put(p, text, mem_arena_fmt(p->a, "config[\"%s\"] = \"%s\"", property, quoted),
			mem_arena_fmt(p->a, "ov_core_set_property(core, \"%s\", \"%s\", \"%s\");",
				      p->plugin, property, quoted),
			property, to);
}

static void option_put(const applying *p, const char *option, const char *value)
{
	bool found = false;

	/* Another value of an option that has a row is the default of ONNX Runtime. */
	for (size_t i = 0; p->ort && i < sizeof apply_rows / sizeof apply_rows[0]; i++) {
		const apply_row *row = &apply_rows[i];

		if (strcmp(row->option, option) != 0)
			continue;
		found = true;
		if (!row->value || strcmp(row->value, value) == 0)
			ort_put(p, option, value, row->setting, row->to ? row->to : value,
				row->call);
	}
	if (found)
		return;
	if (p->ort && strchr(option, '.'))
		ort_put(p, option, value, option, value, ENTRY);
	else
		row_put(p, mem_arena_fmt(p->a, "%s=%s", option, value), NULL, NULL, NULL, NULL);
}

/* Returns the value of an option of the engine, the model's option of that name before it; NULL: it
 * is not given. */
static const char *engine_value(const applying *p, const dck_subject *s, const char *key)
{
	for (size_t i = 0; i < s->model.engine_option.n; i++) {
		const char *text = space_engine_option(p->ort ? "ort" : "openvino",
						       s->model.engine_option.item[i]);
		const size_t n = strlen(key);

		if (text && strncmp(text, key, n) == 0 && text[n] == '=')
			return text + n + 1;
	}
	return NULL;
}

static uint64_t threads_given(const applying *p, const dck_subject *s, const char *key,
			      uint64_t of_model)
{
	const char *text = of_model == 0 ? engine_value(p, s, key) : NULL;
	uint64_t n = of_model;

	return text && units_parse_count(text, &n, NULL) == DCK_OK ? n : of_model;
}

/* Threads are what the engine takes where they are not given, too. */
static void threads_put(const applying *p, const dck_subject *s)
{
	const char *side = engine_value(p, s, "parallel");
	uint64_t threads = threads_given(p, s, "threads", s->model.threads),
		 interop = threads_given(p, s, "interop_threads", s->model.interop_threads);
	const bool parallel = p->ort && (side ? strcmp(side, "1") == 0 : interop > 1);

	engine_threads_divide(parallel, &threads, &interop);
	const char *text = mem_arena_fmt(p->a, "%llu", (unsigned long long)threads);

	if (p->ort) {
		option_put(p, "threads", text);
		if (parallel)
			option_put(p, "interop-threads",
				   mem_arena_fmt(p->a, "%llu", (unsigned long long)interop));
	} else if (strcmp(p->device, "CPU") == 0) {
		openvino_put(p, "threads", text);
		if (!engine_value(p, s, "execution_mode_hint") &&
		    !engine_value(p, s, "inference_precision_hint"))
			openvino_put(p, "execution_mode_hint", "accuracy");
	}
}

/* Threads in any case, the model options that are not the default's, then the engine's. */
static void options_put(const applying *p, const dck_subject *s)
{
	static const char *const names[] = {"opt", "batch", "device"};
	/* These have lines of their own. */
	static const char *const done_keys[] = {
	    "threads=", "interop_threads=", "parallel=", "shapes="};
	dck_subject plain;

	dck_subject_init(&plain);
	threads_put(p, s);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const dck_opt *o = dck_opt_find(dck_model_options, names[i]);
		const char *text = opt_text(p->a, o, &s->model);

		/* OpenVINO's device is named where the model is compiled. */
		if (text && !opt_same(o, &s->model, &plain.model) &&
		    (p->ort || strcmp(names[i], "device") != 0))
			option_put(p, names[i], text);
	}
	for (size_t i = 0; i < s->model.engine_option.n; i++) {
		const char *item = space_engine_option(p->ort ? "ort" : "openvino",
						       s->model.engine_option.item[i]);
		const char *equals = item ? strchr(item, '=') : NULL;
		const char *key =
		    equals ? mem_arena_dup_n(p->a, item, (size_t)(equals - item)) : NULL;
		bool done = false;

		for (size_t k = 0; item && k < sizeof done_keys / sizeof done_keys[0]; k++)
			done |= strncmp(item, done_keys[k], strlen(done_keys[k])) == 0;
		if (key && !done && p->ort)
			option_put(p, key, equals + 1);
		else if (key && !done)
			openvino_put(p, key, equals + 1);
	}
}

/* --- the command */

static const char *command_text(const dck_subject *s, uint64_t in_flight, mem_arena *a)
{
	const char *words[COMMAND_WORDS_MAX];
	const char *text = in_flight > 1 ? mem_arena_fmt(a, "deepclock load --streams=%llu",
							 (unsigned long long)in_flight)
					 : mem_arena_fmt(a, "deepclock bench");
	size_t n = 0;

	if (worker_words(a, dck_model_options, &s->model, words, COMMAND_WORDS_MAX, &n, NULL) !=
	    DCK_OK)
		return NULL;
	const char *model = worker_model_word(a, s->text);

	for (size_t i = 0; text && model && i <= n; i++) {
		const char *word = subject_shell_word(a, i < n ? words[i] : model);

		text = word ? mem_arena_fmt(a, "%s %s", text, word) : NULL;
	}
	return model ? text : NULL;
}

/* --- the session, from its modules to its requests */

/* The modules of all lines. */
static void import_put(const applying *p, int variant, uint64_t in_flight)
{
	const char *futures = p->ort && in_flight > 1 ? "concurrent.futures, " : "";
	const char *tools = variant >= 0 ? variant_rows[variant].modules : "onnxruntime";

	row_put(p, "import",
		p->ort ? mem_arena_fmt(p->a, "import %s%s", futures, tools)
		       : mem_arena_fmt(p->a, "import %s%sopenvino", variant >= 0 ? tools : "",
				       variant >= 0 ? ", " : ""),
		p->ort ? "#include <onnxruntime_c_api.h>" : "#include <openvino/c/openvino.h>",
		NULL, NULL);
}

/* Requests in flight are not a setting of the session, but of the program that calls it. */
static void in_flight_put(const applying *p, unsigned long long n)
{
	if (n == 1)
		return;
	row_put(p, mem_arena_fmt(p->a, SPACE_IN_FLIGHT "=%llu", n),
		p->ort ? mem_arena_fmt(
			     p->a,
			     "pool = concurrent.futures.ThreadPoolExecutor(%llu) # session.run", n)
		       : mem_arena_fmt(p->a, "queue = openvino.AsyncInferQueue(model, %llu)", n),
		p->ort ? mem_arena_fmt(p->a, "/* api->Run(session, ...) in %llu threads */", n)
		       : mem_arena_fmt(p->a,
				       "/* ov_infer_request_start_async() of %llu requests */", n),
		NULL, NULL);
}

/* A variant is made once, before any session. */
static void variant_put(const applying *p, const tune_run *r, int i)
{
	const char *file = i < 0 ? NULL : r->variants.path[i];

	if (file)
		row_put(p, mem_arena_fmt(p->a, SPACE_VARIANT "=%s", variant_rows[i].name),
			mem_arena_fmt(p->a, variant_rows[i].python,
				      model_literal(p->a, r->variants.model),
				      model_literal(p->a, file)),
			NULL, SPACE_VARIANT, file);
}

/* The sizes by name that ONNX Runtime had when it was measured: it computes with them when it
 * optimises the graph. */
static void ort_sizes_put(const applying *p, const dck_subject *s)
{
	const char *python = "", *c = "";
	/* A model that cannot be read has the sizes that were given. */
	mem_arena *own = mem_arena_new(0);
	dck_list dims = s->model.dim;
	shape_resolve z;

	if (own && strncmp(s->text, "zoo:", 4) != 0)
		(void)subject_sizes_find(s->text, &s->model, own, &z, &dims, NULL);
	for (size_t i = 0; i < dims.n && python && c; i++) {
		const char *symbol, *name;
		int64_t size;

		if (subject_dim_read(p->a, dims.item[i], &symbol, &size, NULL) != DCK_OK)
			continue;
		name = quoted_text(p->a, symbol);
		python = mem_arena_fmt(
		    p->a, "%s%soptions.add_free_dimension_override_by_name(\"%s\", %lld)", python,
		    *python ? "; " : "", name, (long long)size);
		c = mem_arena_fmt(p->a,
				  "%s%sapi->AddFreeDimensionOverrideByName(options, \"%s\", %lld);",
				  c, *c ? " " : "", name, (long long)size);
	}
	mem_arena_free(own);
	if (python && *python && c)
		row_put(p, "sizes", python, c, NULL, NULL);
}

static void ort_model_put(const applying *p, const dck_subject *s, const char *model)
{
	const bool processor = strcmp(p->device, "CPU") == 0 && !engine_value(p, s, "provider");

	ort_sizes_put(p, s);
	row_put(p, "model",
		mem_arena_fmt(p->a, "session = onnxruntime.InferenceSession(\"%s\", options%s)",
			      model, processor ? ", providers=[\"CPUExecutionProvider\"]" : ""),
		mem_arena_fmt(p->a,
			      "OrtSession *session; "
			      "api->CreateSession(env, \"%s\", options, &session);",
			      model),
		NULL, NULL);
}

/* Lists the sizes of the inputs that the file leaves open: "\"x\": [1, 784]" for Python, calls and
 * names for C. Returns their number; 0: none, or not known. */
static size_t sizes_list(const applying *p, const dck_subject *s, const char **ret_python,
			 const char **ret_c, const char **ret_names)
{
	const char *shapes = engine_value(p, s, "shapes"), *python = "", *c = "", *names = "";
	/* A model that cannot be read costs these lines alone. */
	mem_arena *own = mem_arena_new(0);
	shape_resolve z = {.n = 0};
	size_t n = 0;

	if (own && !(shapes && strcmp(shapes, "open") == 0) && strncmp(s->text, "zoo:", 4) != 0 &&
	    subject_sizes_find(s->text, &s->model, own, &z, NULL, NULL) != DCK_OK)
		z.n = 0;
	for (size_t i = 0; i < z.n; i++) {
		const subject_sized *in = &z.input[i];
		const char *name = quoted_text(p->a, in->info.name), *dims = "";

		if (!engine_is_open(&in->info))
			continue;
		for (size_t d = 0; dims && d < in->rank; d++)
			dims = mem_arena_fmt(p->a, "%s%s%lld", dims, d > 0 ? ", " : "",
					     (long long)in->dim[d]);
		const char *by = n > 0 ? ", " : "";

		python = mem_arena_fmt(p->a, "%s%s\"%s\": [%s]", python, by, name, dims);
		c = mem_arena_fmt(p->a,
				  "%sov_partial_shape_create_static(%zu, (int64_t[]){%s}, "
				  "&shape[%zu]); ",
				  c, in->rank, dims, n);
		names = mem_arena_fmt(p->a, "%s%s\"%s\"", names, by, name);
		n++;
	}
	mem_arena_free(own);
	*ret_python = python;
	*ret_c = c;
	*ret_names = names;
	return n;
}

static void openvino_model_put(const applying *p, const dck_subject *s, const char *model)
{
	const char *python = "", *c = "", *names = "";
	const size_t n = sizes_list(p, s, &python, &c, &names);

	if (n == 0) {
		row_put(p, "model",
			mem_arena_fmt(
			    p->a, "model = openvino.Core().compile_model(\"%s\", \"%s\", config)",
			    model, p->device),
			mem_arena_fmt(p->a,
				      "ov_compiled_model_t *compiled; "
				      "ov_core_compile_model_from_file(core, \"%s\", \"%s\", 0, "
				      "&compiled);",
				      model, p->device),
			NULL, NULL);
		return;
	}
	row_put(
	    p, "model", mem_arena_fmt(p->a, "model = openvino.Core().read_model(\"%s\")", model),
	    mem_arena_fmt(
		p->a, "ov_model_t *model; ov_core_read_model(core, \"%s\", NULL, &model);", model),
	    NULL, NULL);
	row_put(p, "sizes", mem_arena_fmt(p->a, "model.reshape({%s})", python),
		mem_arena_fmt(p->a,
			      "ov_partial_shape_t shape[%zu]; %s"
			      "ov_model_reshape(model, (const char *[]){%s}, shape, %zu);",
			      n, c, names, n),
		NULL, NULL);
	row_put(p, "compile",
		mem_arena_fmt(p->a, "model = openvino.Core().compile_model(model, \"%s\", config)",
			      p->device),
		mem_arena_fmt(p->a,
			      "ov_compiled_model_t *compiled; "
			      "ov_core_compile_model(core, model, \"%s\", 0, &compiled);",
			      p->device),
		NULL, NULL);
}

const char *tune_apply(record_builder *b, const tune_run *r, size_t arm, mem_arena *a)
{
	static const dck_column columns[] = {
	    {"option", "option", DCK_UNIT_NONE}, {"python", "Python", DCK_UNIT_NONE},
	    {"c", "C", DCK_UNIT_NONE},		 {"setting", "setting", DCK_UNIT_NONE},
	    {"value", "value", DCK_UNIT_NONE},
	};
	applying p = {.b = b, .a = a};
	const uint8_t *value = race_arm_get(r->race, arm)->value;
	const uint64_t in_flight = space_in_flight(&r->space, value);
	const int variant = space_variant(&r->space, value);
	dck_subject s;

	if (space_subject(&r->space, r->subject, value, a, &s, NULL) != DCK_OK)
		return NULL;
	/* The number of threads was that of a pinned process. */
	const bool pinned = s.model.cpus && os_pin_cpus(s.model.cpus, NULL) == DCK_OK;

	p.ort = !s.model.engine || strcmp(s.model.engine, "ort") == 0;
	p.device = tune_upper(a, s.model.device && *s.model.device ? s.model.device : "cpu");
	p.plugin = mem_arena_dup_n(a, p.device, strcspn(p.device, ":"));
	if (p.plugin && (p.ort || strcmp(s.model.engine, "openvino") == 0)) {
		const char *model = model_literal(a, s.text);

		RECORD_TABLE(b, "tune/apply", "Applied by", columns);
		import_put(&p, variant, in_flight);
		variant_put(&p, r, variant);
		if (p.ort)
			row_put(&p, "session", "options = onnxruntime.SessionOptions()",
				"OrtSessionOptions *options; api->CreateSessionOptions(&options);",
				NULL, NULL);
		else
			row_put(&p, "session", "config = {}",
				"ov_core_t *core; ov_core_create(&core);", NULL, NULL);
		options_put(&p, &s);
		(p.ort ? ort_model_put : openvino_model_put)(&p, &s, model ? model : "");
		in_flight_put(&p, in_flight);
	}
	if (pinned)
		os_unpin_cpus();
	return command_text(&s, in_flight, a);
}
