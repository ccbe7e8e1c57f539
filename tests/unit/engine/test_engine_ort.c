/* test_engine_ort.c - the engine 'ort' against a real ONNX Runtime, on models made here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "engine/float_mode.h"
#include "engine/ort/ort_lib.h"
#include "fault_alloc.h"

#include <dirent.h>

extern const dck_engine engine_ort;

/* --- one model opened with its options, and its log */

typedef struct heard {
	char text[2000];
	int warnings;
} heard;

static void hear(void *self, dck_log_level level, const char *text)
{
	heard *h = self;

	snprintf(h->text, sizeof h->text, "%s", text);
	h->warnings += level == DCK_LOG_WARN;
}

static dck_status open_with(const wire_out *w, const dck_kv *options, size_t n, const dck_kv *dims,
			    size_t ndims, heard *h, dck_engine_model **ret, dck_err *err)
{
	const dck_open_params p = {
	    .struct_size = sizeof p,
	    .model_bytes = w->data,
	    .model_bytes_n = w->n,
	    .device = "cpu",
	    .options = options,
	    .noptions = n,
	    .dims = dims,
	    .ndims = ndims,
	    .log = h ? hear : NULL,
	    .log_self = h,
	};
	return engine_ort.open(&p, ret, err);
}

static dck_engine_model *opened(const wire_out *w, const char *key, const char *value)
{
	const dck_kv options[] = {{"threads", "1"}, {key, value}};
	dck_engine_model *m = NULL;
	dck_err err = {0};

	if (open_with(w, options, key ? 2 : 1, NULL, 0, NULL, &m, &err) != DCK_OK)
		print_error("%s\n", err.msg);
	assert_int_equal(err.code, DCK_OK);
	return m;
}

static dck_engine_context *context_of(dck_engine_model *m, const dck_tensor *t)
{
	dck_engine_context *c;
	dck_err err;

	assert_int_equal(engine_ort.context_new(m, &c, &err), DCK_OK);
	assert_int_equal(engine_ort.bind_input(c, 0, t, &err), DCK_OK);
	assert_int_equal(engine_ort.prepare(c, &err), DCK_OK);
	return c;
}

static void run_ok(dck_engine_context *c)
{
	dck_err err = {0};

	engine_ort.run(c, &err);
	assert_string_equal(err.msg, "");
}

/* --- opening and describing */

static void describes_and_computes(void **state)
{
	wire_out w = model_twice();
	const dck_tensor_info *in, *out;
	size_t nin, nout;
	float x[6] = {1, 2, 3, 4, 5, 6};
	dck_open_times times = {.struct_size = sizeof times};
	dck_tensor t = floats(x, 2, 2, 3), y;
	dck_err err;

	(void)state;
	need_ort();
	ear e = ear_open();
	dck_engine_model *m = opened(&w, NULL, NULL);
	wire_out_done(&w);
	assert_int_equal(engine_ort.describe(m, &in, &nin, &out, &nout, &err), DCK_OK);
	assert_int_equal(nin, 1);
	assert_int_equal(nout, 1);
	assert_string_equal(in[0].name, "x");
	assert_string_equal(dck_dtype_text(in[0].dtype), "float32");
	assert_int_equal(in[0].rank, 2);
	assert_int_equal(in[0].dim[0], -1);
	assert_string_equal(in[0].symbol[0], "N");
	assert_int_equal(in[0].dim[1], 3);
	assert_null(in[0].symbol[1]);
	assert_string_equal(out[0].name, "y");
	engine_ort.open_times(m, &times);
	assert_int_equal(times.valid, 3);
	assert_true(times.library_ns > 0 && times.session_ns > 0);

	dck_engine_context *c = context_of(m, &t);
	assert_int_equal(engine_ort.output(c, 0, &y, &err), DCK_E_ARG); /* before the first run */
	for (int i = 0; i < 3; i++) {
		run_ok(c);
		assert_int_equal(engine_ort.output(c, 0, &y, &err), DCK_OK);
		assert_int_equal(y.bytes, sizeof x);
		for (int k = 0; k < 6; k++)
			assert_true(((float *)y.data)[k] == 2 * x[k]);
	}
	assert_int_equal(engine_ort.output(c, 1, &y, &err), DCK_E_ARG);
	/* Another size: prepare allocates new outputs. */
	t = floats(x, 2, 1, 3);
	assert_int_equal(engine_ort.bind_input(c, 0, &t, &err), DCK_OK);
	assert_int_equal(engine_ort.prepare(c, &err), DCK_OK);
	run_ok(c);
	assert_int_equal(engine_ort.output(c, 0, &y, &err), DCK_OK);
	assert_int_equal(y.dim[0], 1);
	assert_true(((float *)y.data)[2] == 6);
	engine_ort.context_free(c);
	engine_ort.close(m);
	ear_close_silent(e);
}

static unsigned threads_at_start;

static unsigned threads_now(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* ONNX Runtime's telemetry would have threads, here and with any user setting. */
static void nothing_runs_beside_the_model(void **state)
{
	wire_out w = model_twice();
	float x[3] = {1, 2, 3};
	dck_tensor t = floats(x, 2, 1, 3);

	(void)state;
	need_ort();
	dck_engine_model *m = opened(&w, NULL, NULL);
	dck_engine_context *c = context_of(m, &t);
	wire_out_done(&w);
	run_ok(c);
	assert_int_equal(threads_now(), threads_at_start);
	engine_ort.context_free(c);
	engine_ort.close(m);
}

static void symbols_are_fixed_when_asked(void **state)
{
	wire_out w = model_twice();
	const dck_kv dims[] = {{"N", "5"}}, bad[] = {{"N", "five"}};
	const dck_tensor_info *in, *out;
	size_t nin, nout;
	dck_engine_model *m;
	dck_err err;

	(void)state;
	need_ort();
	assert_int_equal(open_with(&w, NULL, 0, dims, 1, NULL, &m, &err), DCK_OK);
	assert_int_equal(engine_ort.describe(m, &in, &nin, &out, &nout, &err), DCK_OK);
	assert_int_equal(in[0].dim[0], 5);
	assert_null(in[0].symbol[0]);
	engine_ort.close(m);
	assert_int_equal(open_with(&w, NULL, 0, bad, 1, NULL, &m, &err), DCK_E_ARG);
	wire_out_done(&w);
}

static const char *fact_of(dck_engine_model *m, const char *key)
{
	const dck_kv *kv;
	size_t n;
	dck_err err;

	assert_int_equal(engine_ort.facts(m, &kv, &n, &err), DCK_OK);
	for (size_t i = 0; i < n; i++)
		if (strcmp(kv[i].key, key) == 0)
			return kv[i].value;
	return "";
}

static void facts_say_what_is_used(void **state)
{
	wire_out w = model_twice();
	const dck_kv options[] = {
	    {"threads", "1"},	    {"opt", "basic"},	    {"spin", "0"},
	    {"denormals", "flush"}, {"mem_pattern", "0"},   {"arena", "0"},
	    {"prepacking", "0"},    {"deterministic", "1"}, {"session.use_env_allocators", "0"}};
	char cores[16];
	dck_engine_model *m;
	dck_err err;

	(void)state;
	need_ort();
	assert_int_equal(open_with(&w, options, 9, NULL, 0, NULL, &m, &err), DCK_OK);
	assert_string_equal(fact_of(m, "provider"), "cpu");
	assert_string_equal(fact_of(m, "threads"), "1");
	assert_string_equal(fact_of(m, "interop_threads"), "1");
	assert_string_equal(fact_of(m, "execution"), "sequential");
	assert_string_equal(fact_of(m, "opt"), "basic");
	assert_string_equal(fact_of(m, "spin"), "off");
	assert_string_equal(fact_of(m, "denormals"), "flushed to zero");
	assert_int_equal(strncmp(fact_of(m, "version"), "1.", 2), 0);
	assert_non_null(strstr(fact_of(m, "library"), "libonnxruntime"));
	assert_non_null(strstr(fact_of(m, "options"), "arena=0"));
	engine_ort.close(m);
	m = opened(&w, "session.intra_op.allow_spinning", "0");
	assert_string_equal(fact_of(m, "spin"), "off");
	engine_ort.close(m);

	assert_int_equal(open_with(&w, NULL, 0, NULL, 0, NULL, &m, &err), DCK_OK);
	os_host host;
	os_host_get(&host);
	if (host.cgroup_cpus == 0) {
		snprintf(cores, sizeof cores, "%u", os_cores_allowed());
		assert_string_equal(fact_of(m, "threads"), cores);
	}
	assert_string_equal(fact_of(m, "opt"), "all");
	engine_ort.close(m);
	wire_out_done(&w);
}

static void too_many_threads_are_told(void **state)
{
	wire_out w = model_twice();
	const dck_kv many[] = {{"threads", "40"}, {"interop_threads", "30"}};
	const dck_kv parallel[] = {{"parallel", "1"}};
	heard h = {0};
	dck_engine_model *m;
	dck_err err;

	(void)state;
	need_ort();
	assert_int_equal(open_with(&w, many, 2, NULL, 0, &h, &m, &err), DCK_OK);
	assert_int_equal(h.warnings, 1);
	assert_non_null(strstr(h.text, "use fewer threads"));
	assert_string_equal(fact_of(m, "execution"), "parallel");
	engine_ort.close(m);
	h = (heard){0};
	/* The automatic choice is never too large. */
	assert_int_equal(open_with(&w, parallel, 1, NULL, 0, &h, &m, &err), DCK_OK);
	assert_int_equal(h.warnings, 0);
	engine_ort.close(m);
	wire_out_done(&w);
}

/* An unused initialiser: ONNX Runtime removes it with a warning. */
static void warnings_come_through_the_log(void **state)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w);
	heard first = {0}, second = {0};
	dck_engine_model *a, *b;
	dck_err err;

	(void)state;
	need_ort();
	put_node(&w, "Add", "x x", "y");
	wire_put_text(&w, 2, "g");
	put_tensor(&w, "lonely", ELEMENT_INT64, DIMS(2), 2, (const int64_t[]){1, 2});
	put_value(&w, 11, "x", ELEMENT_FLOAT, DIMS(3));
	put_value(&w, 12, "y", ELEMENT_FLOAT, DIMS(3));
	graph_end(&w, graph);
	ear e = ear_open();
	assert_int_equal(open_with(&w, NULL, 0, NULL, 0, &first, &a, &err), DCK_OK);
	assert_int_equal(first.warnings, 1);
	assert_non_null(strstr(first.text, "'lonely'"));
	assert_null(strstr(first.text, ".cc:"));
	/* Each model has its own log, also while others are open. */
	assert_int_equal(open_with(&w, NULL, 0, NULL, 0, &second, &b, &err), DCK_OK);
	assert_int_equal(first.warnings, 1);
	assert_int_equal(second.warnings, 1);
	engine_ort.close(a);
	engine_ort.close(b);
	ear_close_silent(e);
	wire_out_done(&w);
}

/* --- refusals */

static void refuse_options(const wire_out *w, const char *key, const char *value, dck_status code,
			   const char *says)
{
	const dck_kv options[] = {{key, value}};
	dck_engine_model *m = NULL;
	dck_err err = {0};

	assert_int_equal(open_with(w, options, 1, NULL, 0, NULL, &m, &err), code);
	assert_non_null(strstr(err.msg, says));
	assert_null(m);
}

static void bad_options_are_refused(void **state)
{
	wire_out w = model_twice();
	dck_open_params p = {
	    .struct_size = sizeof p, .model_bytes = w.data, .model_bytes_n = w.n, .device = "tpu"};
	dck_engine_model *m = NULL;
	dck_err err;

	(void)state;
	need_ort();
	ear e = ear_open();
	refuse_options(&w, "thread", "1", DCK_E_ARG, "did you mean 'threads'?");
	refuse_options(&w, "session.disable_prepackin", "1", DCK_E_ARG,
		       "did you mean 'session.disable_prepacking'?");
	refuse_options(&w, "threads", "0", DCK_E_ARG, "whole number from 1");
	refuse_options(&w, "threads", "two", DCK_E_ARG, "whole number from 1");
	refuse_options(&w, "opt", "most", DCK_E_ARG, "none|basic|extended|all");
	refuse_options(&w, "spin", "yes", DCK_E_ARG, "0|1");
	const dck_kv contradict[][2] = {
	    {{"spin", "1"}, {"session.inter_op.allow_spinning", "0"}},
	    {{"interop_threads", "4"}, {"parallel", "0"}},
	    {{"prepacking", "1"}, {"session.disable_prepacking", "1"}},
	    {{"session.set_denormal_as_zero", "1"}, {"denormals", "keep"}},
	};
	for (size_t i = 0; i < sizeof contradict / sizeof *contradict; i++) {
		assert_int_equal(open_with(&w, contradict[i], 2, NULL, 0, NULL, &m, &err),
				 DCK_E_ARG);
		assert_non_null(strstr(err.msg, "leave one of them out"));
	}
	refuse_options(&w, "provider", "", DCK_E_ARG, "is empty");
	refuse_options(&w, "provider", "abacus", DCK_E_UNSUP, "'abacus' is not in this build");
	assert_int_equal(engine_ort.open(&p, &m, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "no device 'tpu'"));
	static const char *const devices[] = {"cuda:x",	 "cuda:",   "cuda:-1",
					      "cuda:+1", "cuda: 1", "cuda:12345"};
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		p.device = devices[i];
		assert_int_equal(engine_ort.open(&p, &m, &err), DCK_E_ARG);
	}
	p.device = "cuda:1";
	dck_status status = engine_ort.open(&p, &m, &err);
	if (status == DCK_OK) /* a machine with a GPU and a library for it */
		engine_ort.close(m);
	else
		assert_non_null(strstr(err.msg, "cuda"));
	p = (dck_open_params){.struct_size = sizeof p, .device = "cpu"};
	assert_int_equal(engine_ort.open(&p, &m, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "needs a model"));
	ear_close_silent(e);
	wire_out_done(&w);
}

static void refuse_model(const void *bytes, size_t n, const char *says)
{
	const wire_out w = {.data = (uint8_t *)(uintptr_t)bytes, .n = n};
	dck_engine_model *m = NULL;
	dck_err err = {0};

	assert_int_equal(open_with(&w, NULL, 0, NULL, 0, NULL, &m, &err), DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, " refuses the model: "));
	if (!strstr(err.msg, says))
		print_error("%s\n", err.msg);
	assert_non_null(strstr(err.msg, says));
	assert_null(strstr(err.msg, ".cc"));
	assert_int_not_equal(err.native_code, 0);
	assert_null(m);
}

static void bad_models_are_refused(void **state)
{
	static const char text[] = "This is not a model at all.";
	wire_out w = model_twice(), unknown = model_of("NoSuchOperator", "x", ELEMENT_FLOAT,
						       DIMS(2), ELEMENT_FLOAT, DIMS(2));
	const dck_open_params p = {.struct_size = sizeof p, .model_path = "no/such/model.onnx"};
	dck_engine_model *m = NULL;
	dck_err err;

	(void)state;
	need_ort();
	ear e = ear_open();
	refuse_model(text, sizeof text, "rotobuf");
	refuse_model(w.data, w.n / 2, "rotobuf");
	refuse_model(unknown.data, unknown.n, "NoSuchOperator");
	assert_int_equal(engine_ort.open(&p, &m, &err), DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "'no/such/model.onnx'"));
	ear_close_silent(e);
	wire_out_done(&w);
	wire_out_done(&unknown);
}

/* A model with a sequence of tensors as input and its length as output. */
static wire_out model_sequence(void)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w), value, type, sequence, element, tensor;

	put_node(&w, "SequenceLength", "s", "y");
	wire_put_text(&w, 2, "g");
	value = wire_begin(&w, 11);
	wire_put_text(&w, 1, "s");
	type = wire_begin(&w, 2);
	sequence = wire_begin(&w, 4);
	element = wire_begin(&w, 1);
	tensor = wire_begin(&w, 1);
	wire_put_int(&w, 1, ELEMENT_FLOAT);
	wire_end(&w, tensor);
	wire_end(&w, element);
	wire_end(&w, sequence);
	wire_end(&w, type);
	wire_end(&w, value);
	put_value(&w, 12, "y", ELEMENT_INT64, 0, NULL);
	graph_end(&w, graph);
	return w;
}

static void input_refused(wire_out w, const char *says)
{
	const dck_tensor_info *in, *out;
	size_t nin, nout;
	float x[2] = {0};
	dck_tensor t = floats(x, 1, 2, 0);
	dck_engine_context *c;
	dck_err err;

	dck_engine_model *m = opened(&w, NULL, NULL);
	assert_int_equal(engine_ort.describe(m, &in, &nin, &out, &nout, &err), DCK_OK);
	assert_int_equal(in[0].dtype.code, DCK_DTYPE_OTHER);
	assert_int_equal(engine_ort.context_new(m, &c, &err), DCK_OK);
	assert_int_equal(engine_ort.bind_input(c, 0, &t, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, says));
	engine_ort.context_free(c);
	engine_ort.close(m);
	wire_out_done(&w);
}

static void inputs_that_are_no_numbers_are_refused(void **state)
{
	(void)state;
	need_ort();
	input_refused(model_of("Identity", "x", ELEMENT_TEXT, DIMS(2), ELEMENT_TEXT, DIMS(2)),
		      "input 'x'");
	input_refused(model_sequence(), "input 's'");
}

static void bindings_that_do_not_fit_are_refused(void **state)
{
	wire_out w = model_twice();
	float x[12] = {0};
	dck_tensor t = floats(x, 2, 2, 4);
	dck_engine_context *c;
	dck_err err;

	(void)state;
	need_ort();
	dck_engine_model *m = opened(&w, NULL, NULL);
	wire_out_done(&w);
	assert_int_equal(engine_ort.context_new(m, &c, &err), DCK_OK);
	assert_int_equal(engine_ort.bind_input(c, 0, &t, &err), DCK_E_ARG);
	assert_string_equal(err.msg, "dimension 1 of input 'x' is 3 in the model, and 4 was bound");
	t = floats(x, 1, 3, 0);
	assert_int_equal(engine_ort.bind_input(c, 0, &t, &err), DCK_E_ARG);
	t = floats(x, 2, 2, 3);
	t.bytes--;
	assert_int_equal(engine_ort.bind_input(c, 0, &t, &err), DCK_E_ARG);
	t = floats(x, 2, 2, 3);
	t.dtype = (dck_dtype){DCK_DTYPE_INT, 64, 1};
	assert_int_equal(engine_ort.bind_input(c, 0, &t, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "float32, and int64 was bound"));
	t = floats(x, 2, 2, 3);
	assert_int_equal(engine_ort.bind_input(c, 1, &t, &err), DCK_E_ARG);
	assert_int_equal(engine_ort.bind_output(c, 1, &t, &err), DCK_E_ARG);
	/* Nothing is bound: ONNX Runtime's own message is passed on. */
	assert_int_equal(engine_ort.run(c, &err), DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "x"));
	engine_ort.context_free(c);
	engine_ort.close(m);
}

/* --- running */

static void outputs_go_where_the_host_says(void **state)
{
	wire_out w = model_twice();
	float x[3] = {1, 2, 3}, y[3] = {0};
	dck_tensor t = floats(x, 2, 1, 3), u = floats(y, 2, 1, 3), got;
	dck_err err;

	(void)state;
	need_ort();
	dck_engine_model *m = opened(&w, NULL, NULL);
	wire_out_done(&w);
	dck_engine_context *c = context_of(m, &t);
	assert_int_equal(engine_ort.bind_output(c, 0, &u, &err), DCK_OK);
	run_ok(c);
	assert_true(y[2] == 6);
	x[2] = 5; /* bound memory is the host's: no copy is made */
	run_ok(c);
	assert_true(y[2] == 10);
	assert_int_equal(engine_ort.output(c, 0, &got, &err), DCK_OK);
	assert_ptr_equal(got.data, y);
	engine_ort.context_free(c);
	engine_ort.close(m);
}

static void shapes_that_depend_on_the_data_work(void **state)
{
	static const float sets[][4] = {{1, 0, 0, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}, {0, 1, 0, 0}};
	static const int64_t found[] = {2, 4, 0, 1};
	wire_out w = model_nonzero();
	float x[4];
	dck_tensor t = floats(x, 1, 4, 0), y;
	dck_err err;

	(void)state;
	need_ort();
	dck_engine_model *m = opened(&w, NULL, NULL);
	wire_out_done(&w);
	memcpy(x, sets[0], sizeof x);
	ear e = ear_open();
	dck_engine_context *c = context_of(m, &t);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 4; i++) {
			memcpy(x, sets[i], sizeof x);
			run_ok(c);
			assert_int_equal(engine_ort.output(c, 0, &y, &err), DCK_OK);
			assert_int_equal(y.dim[1], found[i]);
			if (i == 3)
				assert_int_equal(((int64_t *)y.data)[0], 1);
		}
	engine_ort.context_free(c);
	engine_ort.close(m);
	ear_close_silent(e);
}

static void runs_do_not_allocate(void **state)
{
	wire_out w = model_twice();
	float x[3] = {1, 2, 3};
	dck_tensor t = floats(x, 2, 1, 3), y;
	fault_alloc f;
	dck_err err;

	(void)state;
	need_ort();
	dck_engine_model *m = opened(&w, NULL, NULL);
	wire_out_done(&w);
	dck_engine_context *c = context_of(m, &t);
	run_ok(c);
	run_ok(c);
	assert_int_equal(engine_ort.output(c, 0, &y, &err), DCK_OK);
	const void *at = y.data;
	fault_alloc_begin(&f, 1);
	for (int i = 0; i < 100; i++)
		run_ok(c);
	dck_set_allocator(NULL);
	assert_int_equal(f.calls, 0);
	assert_int_equal(engine_ort.output(c, 0, &y, &err), DCK_OK);
	assert_ptr_equal(y.data, at); /* and the outputs keep their address */
	engine_ort.context_free(c);
	engine_ort.close(m);
}

/* n = the length of s = x cut into rows. */
static wire_out model_of_a_sequence(void)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w), output;

	put_node(&w, "SplitToSequence", "x", "s");
	put_node(&w, "SequenceLength", "s", "n");
	wire_put_text(&w, 2, "g");
	put_value(&w, 11, "x", ELEMENT_FLOAT, DIMS(2, 3));
	output = wire_begin(&w, 12); /* of an inferred type */
	wire_put_text(&w, 1, "s");
	wire_end(&w, output);
	put_value(&w, 12, "n", ELEMENT_INT64, 0, NULL);
	graph_end(&w, graph);
	return w;
}

static void a_sequence_is_not_continued_by_the_next_run(void **state)
{
	wire_out w = model_of_a_sequence();
	float x[6] = {1, 2, 3, 4, 5, 6};
	dck_tensor t = floats(x, 2, 2, 3), n;
	dck_err err;

	(void)state;
	need_ort();
	dck_engine_model *m = opened(&w, NULL, NULL);
	dck_engine_context *c = context_of(m, &t);
	for (int i = 0; i < 3; i++) {
		run_ok(c);
		assert_int_equal(engine_ort.output(c, 1, &n, &err), DCK_OK);
		assert_int_equal(*(int64_t *)n.data, 2);
	}
	assert_int_equal(engine_ort.output(c, 0, &n, &err), DCK_E_UNSUP);
	engine_ort.context_free(c);
	engine_ort.close(m);
	wire_out_done(&w);
}

static void models_and_contexts_stand_side_by_side(void **state)
{
	wire_out w = model_twice();
	float x[3] = {1, 2, 3}, z[6] = {7, 7, 7, 8, 8, 8};
	dck_tensor t = floats(x, 2, 1, 3), u = floats(z, 2, 2, 3), y;
	dck_err err;

	(void)state;
	need_ort();
	ear e = ear_open();
	for (int round = 0; round < 3; round++) {
		dck_engine_model *a = opened(&w, NULL, NULL), *b = opened(&w, "opt", "none");
		dck_engine_context *c = context_of(a, &t), *d = context_of(a, &u),
				   *g = context_of(b, &t);
		run_ok(c);
		run_ok(d);
		run_ok(g);
		engine_ort.context_free(g);
		engine_ort.close(b); /* closes in another order than opened */
		run_ok(d);
		run_ok(c);
		assert_int_equal(engine_ort.output(d, 0, &y, &err), DCK_OK);
		assert_true(((float *)y.data)[5] == 16);
		assert_int_equal(engine_ort.output(c, 0, &y, &err), DCK_OK);
		assert_true(((float *)y.data)[0] == 2);
		engine_ort.context_free(c);
		engine_ort.context_free(d);
		engine_ort.close(a);
	}
	engine_ort.close(NULL);
	engine_ort.context_free(NULL);
	ear_close_silent(e);
	wire_out_done(&w);
}

/* 1e-39 is below the smallest normal float32: doubled, it stays denormal or becomes zero. */
static float tiny_doubled(const wire_out *w, const char *denormals)
{
	float x[3] = {1e-39f, 1e-39f, 1e-39f};
	dck_tensor t = floats(x, 2, 1, 3), y;
	uint64_t mode = float_mode_get();
	dck_err err;

	dck_engine_model *m = opened(w, "denormals", denormals);
	dck_engine_context *c = context_of(m, &t);
	run_ok(c);
	assert_int_equal(engine_ort.output(c, 0, &y, &err), DCK_OK);
	float got = ((float *)y.data)[0];
	engine_ort.context_free(c);
	engine_ort.close(m);
	assert_int_equal(float_mode_get() & FLOAT_MODE_FLUSH, mode & FLOAT_MODE_FLUSH);
	return got;
}

static void denormals_are_as_asked_in_every_order(void **state)
{
	wire_out w = model_twice();

	(void)state;
	need_ort();
	for (int i = 0; i < 2; i++) {
		assert_true(tiny_doubled(&w, "flush") == 0);
		assert_true(tiny_doubled(&w, "keep") > 0);
	}
	wire_out_done(&w);
}

static void each_allocation_may_fail(void **state)
{
	wire_out w = model_twice();
	float x[3] = {1, 2, 3};
	dck_tensor t = floats(x, 2, 1, 3);
	size_t n = 1;

	(void)state;
	need_ort();
	for (bool done = false; !done; n++) {
		dck_engine_model *m = NULL;
		dck_engine_context *c = NULL;
		fault_alloc f;
		dck_err err;

		assert_true(n < 1000);
		fault_alloc_begin(&f, n);
		dck_status status = open_with(&w, NULL, 0, NULL, 0, NULL, &m, &err);
		if (status == DCK_OK)
			status = engine_ort.context_new(m, &c, &err);
		if (status == DCK_OK)
			status = engine_ort.bind_input(c, 0, &t, &err);
		if (status == DCK_OK)
			status = engine_ort.run(c, &err);
		done = f.calls < n;
		if (status != DCK_OK)
			assert_int_equal(status, DCK_E_NOMEM);
		engine_ort.context_free(c);
		engine_ort.close(m);
		assert_int_equal(f.out, 0);
		dck_set_allocator(NULL);
	}
	assert_true(n > 5);
	wire_out_done(&w);
}

static void sentences_are_cleaned(void **state)
{
	static const char *const cases[][2] = {
	    {"Load model failed:Protobuf parsing failed.",
	     "Load model failed:Protobuf parsing failed"},
	    {"two\nlines  and\tspaces. ", "two lines and spaces"},
	    {"/src/core/graph.cc:12 Resolve the rest", "the rest"},
	    {"/src/core/graph.cc:12 ns::A::f(const std::string&, int (*)(int)) x was false",
	     "x was false"},
	    {"first /src/core/graph.cc:12 onnx::g() then", "first then"},
	    {"bad value\n\nStacktrace:\n1 2 3", "bad value"},
	    {"a.cc is a file", "a.cc is a file"},
	    {"[ONNXRuntimeError] : 1 : FAIL : no library : x", "no library : x"},
	    {"[ONNXRuntimeError] : 1", "[ONNXRuntimeError] : 1"},
	    {"/src/a.cc:12 ns::f(int) [ONNXRuntimeError] : 1 : FAIL : /lib/x.so is not there",
	     "/lib/x.so is not there"},
	    {"/src/a.cc:7 ns::f(int) no: [ONNXRuntimeError] : 11 : EP_FAIL : /src/b.cc:5 ns::g() bad x",
	     "no: bad x"},
	    {"", ""},
	};
	char buf[100], small[8];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ort_sentence(cases[i][0], buf, sizeof buf);
		assert_string_equal(buf, cases[i][1]);
	}
	ort_sentence("0123456789", small, sizeof(small));
	assert_string_equal(small, "0123456");
}

int test_engine_ort(void);
int test_engine_ort(void)
{
	const struct CMUnitTest tests[] = {
	    /* First, because the first session of a process decides the denormal mode that ONNX
	     * Runtime leaves in our thread. */
	    cmocka_unit_test(denormals_are_as_asked_in_every_order),
	    cmocka_unit_test(nothing_runs_beside_the_model),
	    cmocka_unit_test(describes_and_computes),
	    cmocka_unit_test(symbols_are_fixed_when_asked),
	    cmocka_unit_test(facts_say_what_is_used),
	    cmocka_unit_test(too_many_threads_are_told),
	    cmocka_unit_test(warnings_come_through_the_log),
	    cmocka_unit_test(bad_options_are_refused),
	    cmocka_unit_test(bad_models_are_refused),
	    cmocka_unit_test(inputs_that_are_no_numbers_are_refused),
	    cmocka_unit_test(bindings_that_do_not_fit_are_refused),
	    cmocka_unit_test(outputs_go_where_the_host_says),
	    cmocka_unit_test(shapes_that_depend_on_the_data_work),
	    cmocka_unit_test(runs_do_not_allocate),
	    cmocka_unit_test(a_sequence_is_not_continued_by_the_next_run),
	    cmocka_unit_test(models_and_contexts_stand_side_by_side),
	    cmocka_unit_test(each_allocation_may_fail),
	    cmocka_unit_test(sentences_are_cleaned),
	};
	threads_at_start = threads_now();
	setenv("ORT_DISABLE_TELEMETRY", "0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
