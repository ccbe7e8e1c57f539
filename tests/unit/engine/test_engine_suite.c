/* test_engine_suite.c - requirements of every engine, tested for each in the table and for the
 * example plug-in: a new engine is a row in `cases` below.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "deepclock/bench.h"
#include "tflite_twice.h"

#define ROWS	    2
#define TENSORS_MAX 8

static const char *const command_argv[] = {"true", NULL};

static const struct engine_case {
	const char *name;
	void (*need)(void); /* skips without the library; NULL: none is needed */
	bool takes_model;
	bool takes_tflite; /* and no other model */
	bool generates;	   /* and runs nothing: test_engine_genai.c opens it */
	const char *const *argv;
} cases[] = {
    {.name = "ort", .need = need_ort, .takes_model = true},
    {.name = "openvino", .need = need_openvino, .takes_model = true},
    {.name = "litert", .need = need_litert, .takes_model = true, .takes_tflite = true},
    {.name = "genai", .takes_model = true, .generates = true},
    {.name = "command", .argv = command_argv},
    {.name = "null"},
    {.name = "../plugins/example/example.so"},
};

/* The current case: *state of every test. */
typedef struct fixture {
	const struct engine_case *which;
	engine_handle h;
	wire_out model;
	dck_open_params params;
} fixture;

static int fixture_init(void **state)
{
	const struct engine_case *which = *state;
	char name[3 * PATH_MAX];
	fixture *f = calloc(1, sizeof *f);
	dck_err err;

	f->which = which;
	if (strchr(which->name, '/'))
		snprintf(name, sizeof name, "plugin:%s", built_file(which->name));
	else
		snprintf(name, sizeof name, "%s", which->name);
	if (engine_find(name, &f->h, &err) != DCK_OK) {
		print_error("%s\n", err.msg);
		free(f);
		return -1;
	}
	f->params = (dck_open_params){.struct_size = sizeof f->params, .device = "cpu"};
	if (which->takes_model) {
		f->model = model_twice();
		f->params.model_bytes = f->model.data;
		f->params.model_bytes_n = f->model.n;
	}
	if (which->takes_tflite) {
		f->params.model_bytes = tflite_twice;
		f->params.model_bytes_n = sizeof tflite_twice;
	}
	f->params.argv = (char *const *)(uintptr_t)which->argv;
	*state = f;
	return 0;
}

static int fixture_done(void **state)
{
	fixture *f = *state;

	engine_release(&f->h);
	wire_out_done(&f->model);
	free(f);
	return 0;
}

static dck_engine_model *opened(fixture *f)
{
	dck_engine_model *m = NULL;
	dck_err err = {0};

	if (f->which->need)
		f->which->need();
	f->h.ops->open(&f->params, &m, &err);
	assert_string_equal(err.msg, "");
	assert_non_null(m);
	return m;
}

static void table_is_complete(void **state)
{
	fixture *f = *state;
	const dck_engine *e = f->h.ops;
	dck_err err;

	assert_int_equal(engine_check(e, "here", &err), DCK_OK);
	assert_true(strlen(e->help) > 10 && strlen(e->help) < 100);
	for (const dck_engine_option *o = e->options; o && o->key; o++) {
		assert_true(*o->values && *o->help);
		assert_int_not_equal(o->help[strlen(o->help) - 1], '.');
		for (const dck_engine_option *p = e->options; p < o; p++)
			assert_string_not_equal(p->key, o->key);
	}
	/* An option that is missing from all option tables could never be set. */
	assert_int_equal((e->caps & DCK_CAP_NO_MODEL) != 0, !f->which->takes_model);
}

static void destructors_take_null(void **state)
{
	fixture *f = *state;

	f->h.ops->close(NULL);
	f->h.ops->context_free(NULL);
}

static void unknown_options_are_refused(void **state)
{
	fixture *f = *state;
	const dck_kv option[] = {{"no_such_option", "1"}};
	dck_engine_model *m = NULL;
	dck_err err = {0};

	f->params.options = option;
	f->params.noptions = 1;
	assert_int_equal(f->h.ops->open(&f->params, &m, &err), DCK_E_ARG);
	assert_int_equal(err.code, DCK_E_ARG);
	assert_non_null(strstr(err.msg, "'no_such_option'"));
	assert_null(m);
	assert_int_equal(f->h.ops->open(&f->params, &m, NULL), DCK_E_ARG);
}

static void facts_are_whole(void **state)
{
	fixture *f = *state;
	const dck_kv *kv = NULL;
	size_t n = 0;
	dck_err err;
	dck_engine_model *m = opened(f);

	if (f->h.ops->facts) {
		assert_int_equal(f->h.ops->facts(m, &kv, &n, &err), DCK_OK);
		for (size_t i = 0; i < n; i++)
			assert_true(kv[i].key && *kv[i].key && kv[i].value && *kv[i].value);
	}
	f->h.ops->close(m);
}

/* Makes the inputs that the description requires, filled with ones. */
static size_t inputs_make(fixture *f, dck_engine_model *m, dck_tensor *t)
{
	const dck_tensor_info *in, *out;
	size_t nin = 0, nout = 0;
	dck_err err;

	if (f->h.ops->caps & DCK_CAP_NO_TENSORS)
		return 0;
	assert_int_equal(f->h.ops->describe(m, &in, &nin, &out, &nout, &err), DCK_OK);
	assert_true(nin > 0 && nin <= TENSORS_MAX && nout > 0);
	for (size_t i = 0; i < nin; i++) {
		size_t n = 1;

		assert_string_equal(dck_dtype_text(in[i].dtype), "float32");
		assert_true(in[i].name && in[i].rank >= 0 && in[i].rank <= DCK_RANK_MAX);
		t[i] = (dck_tensor){.dtype = in[i].dtype, .rank = in[i].rank};
		for (int32_t k = 0; k < in[i].rank; k++) {
			t[i].dim[k] = in[i].dim[k] < 0 ? ROWS : in[i].dim[k];
			n *= (size_t)t[i].dim[k];
		}
		float *data = malloc(n * sizeof *data);
		for (size_t k = 0; k < n; k++)
			data[k] = 1;
		t[i].data = data;
		t[i].bytes = n * sizeof *data;
	}
	return nin;
}

static void outputs_check(fixture *f, dck_engine_context *c, double expected)
{
	dck_tensor y;
	dck_err err = {0};

	if ((f->h.ops->caps & DCK_CAP_NO_TENSORS) || !f->h.ops->output)
		return;
	f->h.ops->output(c, 0, &y, &err);
	assert_string_equal(err.msg, "");
	assert_true(y.rank == 2 && y.dim[0] == ROWS && y.bytes > 0);
	for (size_t i = 0; i < y.bytes / sizeof(float); i++)
		assert_true(((float *)y.data)[i] == (float)expected);
	assert_int_equal(f->h.ops->output(c, 99, &y, &err), DCK_E_ARG);
}

/* Both engines with tensors double their input. */
static void runs_again_and_again(void **state)
{
	fixture *f = *state;
	const dck_engine *e = f->h.ops;
	dck_tensor t[TENSORS_MAX];
	dck_usage usage = {.struct_size = sizeof usage};
	dck_engine_context *c = NULL;
	dck_err err = {0};
	ear ears;

	if (f->which->need)
		f->which->need();
	ears = ear_open();
	dck_engine_model *m = opened(f);
	size_t n = inputs_make(f, m, t);
	assert_int_equal(e->context_new(m, &c, &err), DCK_OK);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(e->bind_input(c, i, &t[i], &err), DCK_OK);
	if (e->prepare)
		assert_int_equal(e->prepare(c, &err), DCK_OK);
	for (int run = 0; run < 5; run++) {
		assert_int_equal(e->run(c, &err), DCK_OK);
		outputs_check(f, c, 2);
	}
	/* Each run reads the bound memory again. */
	for (size_t k = 0; n > 0 && k < t[0].bytes / sizeof(float); k++)
		((float *)t[0].data)[k] = 3;
	assert_int_equal(e->run(c, &err), DCK_OK);
	outputs_check(f, c, 6);
	if (e->usage)
		assert_int_equal(e->usage(c, &usage, &err), DCK_OK);
	e->context_free(c);
	e->close(m);
	ear_close_silent(ears);
	for (size_t i = 0; i < n; i++)
		free(t[i].data);
}

static void bad_bindings_are_refused(void **state)
{
	fixture *f = *state;
	const dck_engine *e = f->h.ops;
	dck_tensor t[TENSORS_MAX], bad;
	dck_engine_context *c = NULL;
	dck_err err = {0};
	dck_engine_model *m = opened(f);
	size_t n = inputs_make(f, m, t);

	assert_int_equal(e->context_new(m, &c, &err), DCK_OK);
	if (n > 0) {
		assert_int_equal(e->bind_input(c, n, &t[0], &err), DCK_E_ARG);
		bad = t[0];
		bad.rank--;
		assert_int_equal(e->bind_input(c, 0, &bad, &err), DCK_E_ARG);
		bad = t[0];
		bad.dtype = (dck_dtype){DCK_DTYPE_INT, 64, 1};
		assert_int_equal(e->bind_input(c, 0, &bad, &err), DCK_E_ARG);
		bad = t[0];
		bad.dim[bad.rank - 1]++;
		assert_int_equal(e->bind_input(c, 0, &bad, &err), DCK_E_ARG);
		assert_true(e->run(c, &err) != DCK_OK); /* nothing is bound yet */
	}
	e->context_free(c);
	e->close(m);
	for (size_t i = 0; i < n; i++)
		free(t[i].data);
}

static void two_contexts_do_not_mix(void **state)
{
	fixture *f = *state;
	const dck_engine *e = f->h.ops;
	dck_tensor t[2][TENSORS_MAX];
	dck_engine_context *c[2];
	dck_err err = {0};
	dck_engine_model *m = opened(f);
	size_t n = 0;

	for (int k = 0; k < 2; k++) {
		n = inputs_make(f, m, t[k]);
		assert_int_equal(e->context_new(m, &c[k], &err), DCK_OK);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(e->bind_input(c[k], i, &t[k][i], &err), DCK_OK);
		if (e->prepare)
			assert_int_equal(e->prepare(c[k], &err), DCK_OK);
	}
	for (size_t k = 0; n > 0 && k < t[1][0].bytes / sizeof(float); k++)
		((float *)t[1][0].data)[k] = 4;
	for (int run = 0; run < 2; run++)
		for (int k = 0; k < 2; k++)
			assert_int_equal(e->run(c[k], &err), DCK_OK);
	outputs_check(f, c[0], 2);
	outputs_check(f, c[1], 8);
	for (int k = 0; k < 2; k++) {
		e->context_free(c[k]);
		for (size_t i = 0; i < n; i++)
			free(t[k][i].data);
	}
	e->close(m);
}

/* --- all engines at once */

/* An engine provides the observations that it offers and refuses the others with a message. */
static void memory_is_told_or_refused(void **state)
{
	fixture *f = *state;
	dck_engine_model *m = opened(f);
	dck_memory memory;
	dck_err err = {0};

	dck_status status = engine_memory(f->h.ops, m, &memory, &err);
	f->h.ops->close(m);
	if (status == DCK_E_UNSUP || status == DCK_E_ABSENT) {
		assert_true(strlen(err.msg) > 10);
		return;
	}
	assert_int_equal(status, DCK_OK);
	assert_true(memory.valid != 0);
	const uint32_t both = DCK_MEMORY_IN_USE | DCK_MEMORY_PEAK;
	if ((memory.valid & both) == both)
		assert_true(memory.in_use_bytes <= memory.peak_bytes);
}

static void what_is_not_offered_cannot_be_observed(void **state)
{
	fixture *f = *state;
	dck_err err = {0};

	for (uint32_t one = DCK_OBSERVE_OPERATORS; one <= DCK_OBSERVE_VALUES; one <<= 1) {
		dck_status status = engine_can_observe(f->h.ops, one, &err);
		dck_open_params p = f->params;
		dck_engine_model *m = NULL;

		if (status == DCK_OK)
			continue;
		assert_int_equal(status, DCK_E_UNSUP);
		/* open() of the built-in engines refuses too. */
		p.observe = one;
		if (!f->h.library)
			assert_int_equal(f->h.ops->open(&p, &m, &err), DCK_E_UNSUP);
	}
}

static void probe_tells_of_each(void **state)
{
	dck_engine_info *all = NULL;
	size_t n = 0;
	dck_err err = {0};

	(void)state;
	ear e = ear_open();
	assert_int_equal(dck_engines_probe(NULL, &all, &n, &err), DCK_OK);
	ear_close_silent(e);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(all[i].name, engine_table[i]->name);
		assert_ptr_equal(all[i].options, engine_table[i]->options);
		assert_int_equal(all[i].usable, all[i].why_not == NULL);
		for (size_t k = 0; k < all[i].nfacts; k++)
			assert_true(*all[i].facts[k].key && *all[i].facts[k].value);
		if (all[i].usable && all[i].nfacts > 0) /* a runtime: its library and a device */
			assert_true(all[i].nfacts >= 3);
	}
	assert_null(engine_table[n]);
	dck_free(all);
	/* A library that is of no runtime: a row reports it, and the call succeeds. */
	assert_int_equal(dck_engines_probe(built_file("abi/abi_no_symbol.so"), &all, &n, &err),
			 DCK_OK);
	assert_false(all[0].usable);
	assert_non_null(strstr(all[0].why_not, "is not ONNX Runtime"));
	assert_non_null(strstr(all[1].why_not, "is not OpenVINO"));
	assert_non_null(strstr(all[2].why_not, "is not LiteRT"));
	assert_non_null(strstr(all[3].why_not, "is not ONNX Runtime GenAI"));
	dck_free(all);
}

#define TESTS_EACH 9

int test_engine_suite(void);
int test_engine_suite(void)
{
	static const struct {
		const char *name;
		CMUnitTestFunction f;
		bool opens;
	} each[TESTS_EACH] = {
	    {"table_is_complete", table_is_complete, false},
	    {"destructors_take_null", destructors_take_null, false},
	    {"unknown_options_are_refused", unknown_options_are_refused, false},
	    {"facts_are_whole", facts_are_whole, true},
	    {"runs_again_and_again", runs_again_and_again, true},
	    {"bad_bindings_are_refused", bad_bindings_are_refused, true},
	    {"two_contexts_do_not_mix", two_contexts_do_not_mix, true},
	    {"memory_is_told_or_refused", memory_is_told_or_refused, true},
	    {"what_is_not_offered_cannot_be_observed", what_is_not_offered_cannot_be_observed,
	     false},
	};
	enum { CASES = sizeof cases / sizeof *cases };
	struct CMUnitTest tests[CASES * TESTS_EACH + 1];
	char names[CASES * TESTS_EACH][96];
	size_t n = 0;

	for (size_t i = 0; engine_table[i]; i++) {
		bool has_case = false;
		for (size_t k = 0; k < CASES; k++)
			has_case |= strcmp(cases[k].name, engine_table[i]->name) == 0;
		if (!has_case) {
			print_error("the engine '%s' is no case here\n", engine_table[i]->name);
			return 1;
		}
	}
	for (size_t i = 0; i < CASES; i++)
		for (size_t k = 0; k < TESTS_EACH; k++) {
			if (cases[i].generates && each[k].opens)
				continue;
			snprintf(names[n], sizeof names[n], "%s: %s", cases[i].name, each[k].name);
			tests[n] = (struct CMUnitTest){names[n], each[k].f, fixture_init,
						       fixture_done, (void *)(uintptr_t)&cases[i]};
			n++;
		}
	tests[n] = (struct CMUnitTest)cmocka_unit_test(probe_tells_of_each);
	return _cmocka_run_group_tests("engine_suite", tests, n + 1, NULL, NULL);
}
