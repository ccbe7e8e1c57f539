/* test_engine_check.c - the table, its checks, options, element types, plug-ins to be refused, the
 * null engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"
#include "base/dtype.h"

extern const dck_engine engine_null;

static void dtypes_have_names_and_sizes(void **state)
{
	static const struct {
		dck_dtype t;
		const char *text;
		size_t bytes;
	} cases[] = {
	    {{DCK_DTYPE_FLOAT, 32, 1}, "float32", 4},
	    {{DCK_DTYPE_FLOAT, 64, 1}, "float64", 8},
	    {{DCK_DTYPE_FLOAT, 16, 1}, "float16", 2},
	    {{DCK_DTYPE_BFLOAT, 16, 1}, "bfloat16", 2},
	    {{DCK_DTYPE_INT, 8, 1}, "int8", 1},
	    {{DCK_DTYPE_INT, 64, 1}, "int64", 8},
	    {{DCK_DTYPE_UINT, 16, 1}, "uint16", 2},
	    {{DCK_DTYPE_BOOL, 8, 1}, "bool", 1},
	    {{DCK_DTYPE_COMPLEX, 128, 1}, "complex128", 16},
	    {{DCK_DTYPE_INT, 7, 1}, "?", 0},
	    {{DCK_DTYPE_FLOAT, 32, 4}, "?", 0},
	    {{DCK_DTYPE_OTHER, 0, 1}, "?", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_string_equal(dck_dtype_text(cases[i].t), cases[i].text);
		assert_int_equal(dck_dtype_bytes(cases[i].t), cases[i].bytes);
	}
}

static void names_are_found(void **state)
{
	engine_handle h;
	dck_err err;

	(void)state;
	for (size_t i = 0; engine_table[i]; i++) {
		assert_int_equal(engine_find(engine_table[i]->name, &h, &err), DCK_OK);
		assert_ptr_equal(h.ops, engine_table[i]);
		assert_null(h.library);
		engine_release(&h);
		assert_null(h.ops);
	}
	assert_int_equal(engine_find("nul", &h, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "did you mean 'null'?"));
	assert_int_equal(engine_find("tensorflow", &h, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "no engine 'tensorflow'"));
	assert_int_equal(engine_find("", &h, &err), DCK_E_ARG);
	assert_int_equal(engine_find("ort", &h, NULL), DCK_OK);
	engine_release(&h);
}

static void bad_plugins_are_refused(void **state)
{
	static const struct {
		const char *file;
		dck_status code;
		const char *says;
	} cases[] = {
	    {"abi/abi_wrong_major.so", DCK_E_VERSION, "was built for ABI 2.0"},
	    {"abi/abi_wrong_size.so", DCK_E_VERSION, "has 64 bytes"},
	    {"abi/abi_no_name.so", DCK_E_FORMAT, "has no name"},
	    {"abi/abi_no_run.so", DCK_E_FORMAT, "lacks the function 'run'"},
	    {"abi/abi_refuses.so", DCK_E_VERSION, "does not serve ABI 1"},
	    {"abi/abi_no_symbol.so", DCK_E_FORMAT, "does not export dck_engine_get()"},
	    {"abi/abi_not_there.so", DCK_E_ABSENT, "No such file"},
	    {"abi", DCK_E_ABSENT, "cannot load"},
	};
	engine_handle h = {0};
	char name[PATH_MAX * 3];
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(name, sizeof name, "plugin:%s", built_file(cases[i].file));
		assert_int_equal(engine_find(name, &h, &err), cases[i].code);
		assert_non_null(strstr(err.msg, cases[i].says));
		assert_null(h.ops);
	}
	assert_int_equal(engine_find("plugin:", &h, &err), DCK_E_ARG);
	/* A name without a slash is a file in this directory; the loader's path is not searched. */
	assert_int_equal(engine_find("plugin:libc.so.6", &h, &err), DCK_E_ABSENT);
	assert_int_equal(engine_find("no_such_plugin.so", &h, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "cannot open the plug-in 'no_such_plugin.so'"));
}

/* Its table ends before the members of later ABI versions: those are not read. */
static void a_plugin_of_the_first_abi_works(void **state)
{
	const dck_open_params p = {.struct_size = sizeof p};
	dck_engine_context *c;
	dck_engine_model *m;
	engine_handle h;
	dck_profile profile;
	dck_memory memory;
	char name[PATH_MAX * 3];
	dck_err err;

	(void)state;
	snprintf(name, sizeof name, "plugin:%s", built_file("abi/abi_minor_0.so"));
	assert_int_equal(engine_find(name, &h, &err), DCK_OK);
	assert_true(h.ops->struct_size < sizeof(dck_engine));
	assert_int_equal(h.ops->open(&p, &m, &err), DCK_OK);
	assert_int_equal(h.ops->context_new(m, &c, &err), DCK_OK);
	assert_int_equal(h.ops->run(c, &err), DCK_OK);
	assert_int_equal(engine_profile(h.ops, m, &profile, &err), DCK_E_UNSUP);
	assert_string_equal(err.msg, "the engine 'minor-0' does not report when its operators ran");
	assert_int_equal(engine_memory(h.ops, m, &memory, &err), DCK_E_UNSUP);
	assert_string_equal(err.msg,
			    "the engine 'minor-0' does not report how much memory it uses");
	assert_int_equal(engine_can_observe(h.ops, 0, &err), DCK_OK);
	assert_int_equal(engine_can_observe(h.ops, DCK_OBSERVE_OPERATORS, &err), DCK_E_UNSUP);
	assert_int_equal(engine_can_observe(h.ops, DCK_OBSERVE_MEMORY, &err), DCK_E_UNSUP);
	assert_int_equal(engine_can_observe(h.ops, DCK_OBSERVE_VALUES, &err), DCK_E_UNSUP);
	h.ops->context_free(c);
	h.ops->close(m);
	engine_release(&h);
}

static void what_is_observed_is_offered(void **state)
{
	const uint32_t all = DCK_OBSERVE_OPERATORS | DCK_OBSERVE_MEMORY | DCK_OBSERVE_VALUES;
	engine_handle h;
	dck_err err;

	(void)state;
	assert_int_equal(engine_find("ort", &h, &err), DCK_OK);
	assert_int_equal(engine_can_observe(h.ops, all, &err), DCK_OK);
	assert_int_equal(engine_find("null", &h, &err), DCK_OK);
	assert_int_equal(engine_can_observe(h.ops, DCK_OBSERVE_OPERATORS, &err), DCK_OK);
	assert_int_equal(engine_can_observe(h.ops, DCK_OBSERVE_MEMORY, &err), DCK_E_UNSUP);
	assert_int_equal(engine_find("command", &h, &err), DCK_OK);
	for (uint32_t one = 1; one <= all; one <<= 1)
		assert_int_equal(engine_can_observe(h.ops, one, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "'command' does not show the values"));
}

static void numbers_of_onnx_are_those_of_its_types(void **state)
{
	static const dck_dtype f32 = {DCK_DTYPE_FLOAT, 32, 1}, i64 = {DCK_DTYPE_INT, 64, 1},
			       odd = {DCK_DTYPE_INT, 4, 1};

	(void)state;
	assert_int_equal(dtype_onnx(f32), 1);
	assert_int_equal(dtype_onnx(i64), 7);
	assert_int_equal(dtype_onnx(odd), 0);
	assert_int_equal(dtype_of_onnx(8).code, DCK_DTYPE_OTHER);
	assert_int_equal(dtype_of_onnx(0).code, DCK_DTYPE_OTHER);
	for (int i = 1; i < 40; i++) {
		dck_dtype t = dtype_of_onnx(i);
		assert_int_equal(dtype_onnx(t), t.code == DCK_DTYPE_OTHER ? 0 : i);
	}
}

static dck_status null_open(const char *operators, dck_engine_model **ret, dck_err *err)
{
	const dck_kv kv[] = {{"operators", operators}, {"fail_at", "2"}};
	const dck_open_params p = {.struct_size = sizeof p,
				   .options = kv,
				   .noptions = 2,
				   .observe = DCK_OBSERVE_OPERATORS};

	return engine_null.open(&p, ret, err);
}

static void null_tells_the_operators_it_was_given(void **state)
{
	static const char *const wrong[] = {
	    "", "a", "a:", ":1", "a:x", "a:1,", ",a:1", "a:1x", "a:99999999999999999999"};
	const dck_engine *e = &engine_null;
	const dck_open_params plain = {.struct_size = sizeof plain};
	dck_engine_context *c;
	dck_engine_model *m = NULL;
	dck_profile p;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(null_open(wrong[i], &m, &err), DCK_E_ARG);
		assert_null(m);
	}
	assert_int_equal(null_open("a:b:10,c:5", &m, &err), DCK_OK);
	assert_int_equal(e->context_new(m, &c, &err), DCK_OK);
	assert_int_equal(e->run(c, &err), DCK_OK);
	assert_int_equal(e->run(c, &err), DCK_E_ENGINE);
	assert_int_equal(e->run(c, &err), DCK_OK);
	assert_int_equal(engine_profile(e, m, &p, &err), DCK_OK);
	assert_int_equal(p.nruns, 2);
	assert_int_equal(p.nevents, 4);
	assert_int_equal(p.run_ns[1], 15);
	assert_string_equal(p.events[2].name, "a:b");
	assert_int_equal(p.events[2].run, 1);
	assert_int_equal(p.events[2].begin_ns, 15);
	assert_int_equal(p.events[2].duration_ns, 10);
	assert_string_equal(p.events[3].name, "c");
	assert_int_equal(p.events[3].begin_ns, 25);
	e->context_free(c);
	e->close(m);
	assert_int_equal(e->open(&plain, &m, &err), DCK_OK);
	assert_int_equal(engine_profile(e, m, &p, &err), DCK_E_ABSENT);
	e->close(m);
}

static const dck_op_event bad_events[] = {{.name = "a", .type = "", .run = 1},
					  {.name = "a", .type = "", .run = 0}};
static dck_profile bad_profile;

static dck_status profile_bad(dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	(void)m, (void)err;
	assert_int_equal(ret->struct_size, sizeof *ret);
	*ret = bad_profile;
	return DCK_OK;
}

static void profiles_that_are_not_whole_are_refused(void **state)
{
	static const uint64_t run_ns[2] = {1, 1};
	static const dck_op_event nameless = {.type = "", .run = 0};
	static const dck_op_event typeless = {.name = "a", .run = 0};
	const dck_profile cases[] = {
	    {.nevents = 1, .nruns = 2, .run_ns = run_ns},
	    {.events = bad_events, .nevents = 1, .nruns = 2},
	    {.events = bad_events, .nevents = 1, .nruns = 1, .run_ns = run_ns},
	    {.events = bad_events, .nevents = 2, .nruns = 2, .run_ns = run_ns},
	    {.events = &nameless, .nevents = 1, .nruns = 1, .run_ns = run_ns},
	    {.events = &typeless, .nevents = 1, .nruns = 1, .run_ns = run_ns},
	};
	dck_engine e = *engine_table[2];
	dck_profile p;
	dck_err err;

	(void)state;
	e.profile = profile_bad;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bad_profile = cases[i];
		assert_int_equal(engine_profile(&e, NULL, &p, &err), DCK_E_ENGINE);
		assert_non_null(strstr(err.msg, "invalid result from profile()"));
	}
	bad_profile = (dck_profile){
	    .events = bad_events, .nevents = 1, .nruns = 2, .run_ns = run_ns, .flags = 2};
	assert_int_equal(engine_profile(&e, NULL, &p, &err), DCK_OK);
	assert_int_equal(p.flags, 2);
}

static void a_plugin_of_this_directory_is_found(void **state)
{
	engine_handle h;
	char directory[PATH_MAX];
	dck_err err;

	(void)state;
	assert_non_null(getcwd(directory, sizeof(directory)));
	assert_int_equal(chdir(built_file("../plugins/example")), 0);
	assert_int_equal(engine_find("plugin:example.so", &h, &err), DCK_OK);
	assert_string_equal(h.ops->name, "example");
	engine_release(&h);
	assert_int_equal(engine_find("example.so", &h, &err), DCK_OK);
	engine_release(&h);
	assert_int_equal(chdir(directory), 0);
}

extern const dck_engine engine_genai;

static void each_missing_member_is_named(void **state)
{
	const dck_engine *genai = &engine_genai;
	dck_engine e;
	dck_err err;

	(void)state;
#define WITHOUT(member)                                              \
	e = *engine_table[0];                                        \
	e.member = NULL;                                             \
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT); \
	assert_non_null(strstr(err.msg, "'" #member "'"))
	WITHOUT(open);
	WITHOUT(close);
	WITHOUT(context_new);
	WITHOUT(context_free);
	WITHOUT(run);
	WITHOUT(describe);
	WITHOUT(bind_input);
	WITHOUT(bind_output);
	WITHOUT(barrier); /* the members for devices are required together */
	WITHOUT(barrier_choose);
	WITHOUT(enqueue);
	WITHOUT(wait);
	WITHOUT(transfer);
	WITHOUT(version);
	WITHOUT(help);
#undef WITHOUT
	/* Those of generation too. */
	e = *genai;
	e.generate_next = NULL;
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT);
	assert_non_null(strstr(err.msg, "'generate_next'"));
	e = *genai;
	e.generate_begin = NULL;
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT);
	assert_non_null(strstr(err.msg, "'generate_begin'"));
	e = *genai;
	e.generation = NULL;
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT);
	assert_non_null(strstr(err.msg, "'generation'"));
	e = *engine_table[0];
	e.caps |= DCK_CAP_COMMAND;
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT);
	e = *engine_table[0];
	e.output = NULL; /* without output() its values could not be read */
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT);
	e = *engine_table[0];
	e.abi_minor = 8; /* a newer minor version only appends members */
	e.struct_size += 8;
	assert_int_equal(engine_check(&e, "x", &err), DCK_OK);
	e.name = "two words";
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT);
}

static unsigned barriers;

static const char *barrier_bad(dck_engine_context *c, unsigned index)
{
	(void)c;
	return index >= barriers ? NULL : barriers == 2 && index == 1 ? "" : "a barrier";
}

static dck_status transfer_bad(dck_engine_context *c, bool to_device, uint64_t *ret_bytes,
			       dck_err *err)
{
	(void)c, (void)to_device, (void)err;
	*ret_bytes = UINT64_MAX;
	return DCK_OK;
}

static void barriers_are_checked(void **state)
{
	static const struct {
		unsigned n;
		const char *says;
	} cases[] = {{1, "none that waits"}, {2, "1 has no name"}, {9, "more than 8"}};
	dck_engine e = *engine_table[0];
	const char *names[8];
	uint64_t bytes;
	unsigned n = 99;
	dck_err err;

	(void)state;
	e.barrier = barrier_bad;
	e.transfer = transfer_bad;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		barriers = cases[i].n;
		assert_int_equal(engine_barriers(&e, NULL, names, 8, &n, &err), DCK_E_ENGINE);
		assert_non_null(strstr(err.msg, cases[i].says));
	}
	assert_int_equal(engine_transfer(&e, NULL, true, &bytes, &err), DCK_E_ENGINE);
	barriers = 3;
	assert_int_equal(engine_barriers(&e, NULL, names, 8, &n, &err), DCK_OK);
	assert_int_equal(n, 3);
	e.struct_size = offsetof(dck_engine, barrier); /* an older ABI */
	assert_int_equal(engine_barriers(&e, NULL, names, 8, &n, &err), DCK_OK);
	assert_int_equal(n, 0);
}

static dck_status options_of(const dck_engine *e, const char *key, const char *value, dck_err *err)
{
	const dck_kv kv[] = {{key, value}};
	const dck_open_params p = {.struct_size = sizeof p, .options = kv, .noptions = 1};

	return engine_options_check(e, &p, err);
}

static void options_are_checked(void **state)
{
	static const dck_engine_option rows[] = {{"spin", "0|1", "h"},
						 {"opt", "none|all", "h"},
						 {"output", "discard|FILE", "h"},
						 {"count", "N", "h"},
						 {"streams", "N|AUTO|NUMA", "h"},
						 {"mode", "disabled|wgpuOnly", "h"},
						 {"layout", "NCHW|NHWC", "h"},
						 {"folder", "someDir", "h"},
						 {NULL, NULL, NULL}};
	const dck_engine e = {.name = "e", .options = rows};
	const dck_engine none = {.name = "e"};
	const dck_kv twice[] = {{"spin", "0"}, {"opt", "all"}, {"spin", "1"}};
	const dck_open_params p = {.struct_size = sizeof p, .options = twice, .noptions = 3};
	uint64_t n = 3;
	dck_err err;

	(void)state;
	assert_int_equal(options_of(&e, "spin", "0", &err), DCK_OK);
	assert_int_equal(options_of(&e, "opt", "all", &err), DCK_OK);
	assert_int_equal(options_of(&e, "output", "any.txt", &err), DCK_OK);
	assert_int_equal(options_of(&e, "count", "", &err), DCK_OK);
	assert_int_equal(options_of(&e, "streams", "3", &err), DCK_OK);
	assert_int_equal(options_of(&e, "mode", "wgpuOnly", &err), DCK_OK);
	assert_int_equal(options_of(&e, "mode", "full", &err), DCK_E_ARG);
	assert_int_equal(options_of(&e, "layout", "NCHW", &err), DCK_OK);
	assert_int_equal(options_of(&e, "layout", "nchw", &err), DCK_E_ARG);
	assert_int_equal(options_of(&e, "folder", "any", &err), DCK_OK);
	assert_int_equal(options_of(&e, "spin", "2", &err), DCK_E_ARG);
	assert_string_equal(err.msg, "option 'spin' is '2': the engine 'e' takes 0|1");
	assert_int_equal(options_of(&e, "opt", "al", &err), DCK_E_ARG);
	assert_int_equal(options_of(&e, "opt", "", &err), DCK_E_ARG);
	assert_int_equal(options_of(&e, "spinn", "1", &err), DCK_E_ARG);
	assert_string_equal(err.msg, "the engine 'e' has no option 'spinn'; did you mean 'spin'?");
	assert_int_equal(options_of(&e, "zzzzzz", "1", &err), DCK_E_ARG);
	assert_int_equal(options_of(&none, "spin", "1", &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "has no options"));
	assert_int_equal(engine_options_check(&e, &p, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "given twice"));
	assert_string_equal(engine_option(&p, "opt"), "all");
	assert_null(engine_option(&p, "output"));
	assert_int_equal(engine_option_count(&p, "nothing", 1, 9, &n, &err), DCK_OK);
	assert_int_equal(n, 3);
	assert_int_equal(engine_option_count(&p, "spin", 0, 9, &n, &err), DCK_OK);
	assert_int_equal(n, 0);
	assert_int_equal(engine_option_count(&p, "spin", 1, 9, &n, &err), DCK_E_ARG);
	assert_int_equal(engine_option_count(&p, "opt", 1, 9, &n, &err), DCK_E_ARG);
	assert_int_equal(n, 0);
}

static void null_fails_when_asked_and_takes_its_time(void **state)
{
	const dck_kv kv[] = {{"fail_at", "3"}, {"ns", "200000"}};
	const dck_open_params p = {.struct_size = sizeof p, .options = kv, .noptions = 2};
	dck_engine_context *c;
	dck_engine_model *m;
	engine_handle h;
	dck_err err;

	(void)state;
	assert_int_equal(engine_find("null", &h, &err), DCK_OK);
	assert_int_equal(h.ops->open(&p, &m, &err), DCK_OK);
	assert_int_equal(h.ops->context_new(m, &c, &err), DCK_OK);
	uint64_t begin_ns = os_now_ns();
	assert_int_equal(h.ops->run(c, &err), DCK_OK);
	assert_true(os_now_ns() - begin_ns >= 200000);
	assert_int_equal(h.ops->run(c, &err), DCK_OK);
	assert_int_equal(h.ops->run(c, &err), DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "run 3"));
	assert_int_equal(h.ops->run(c, &err), DCK_OK);
	h.ops->context_free(c);
	h.ops->close(m);
	engine_release(&h);
}

/* Libraries of engines have no code for a failed allocation. */
static void a_lack_of_memory_has_its_code(void **state)
{
	static const struct {
		dck_status from;
		const char *msg;
		dck_status to;
	} rows[] = {
	    {DCK_E_ENGINE, "the arena: std::bad_alloc", DCK_E_NOMEM},
	    {DCK_E_DEVICE, "CUDA failure 2: out of memory", DCK_E_NOMEM},
	    {DCK_E_ENGINE, "it broke", DCK_E_ENGINE},
	    {DCK_E_ARG, "'out of memory' is not an option", DCK_E_ARG},
	};
	engine_handle h;
	dck_err err;

	(void)state;
	assert_int_equal(engine_find("null", &h, &err), DCK_OK);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		dck_err why = {.code = rows[i].from, .native_code = 6};

		snprintf(why.msg, sizeof why.msg, "%s", rows[i].msg);
		assert_int_equal(engine_answer(h.ops, "run", rows[i].from, &why, &err), rows[i].to);
		assert_int_equal(err.code, rows[i].to);
		assert_string_equal(err.msg, rows[i].msg);
		assert_int_equal(err.native_code, 6);
	}
	engine_release(&h);
}

static void cores_are_some_of_the_processors(void **state)
{
	(void)state;
	assert_true(os_cores_allowed() >= 1);
	assert_true(os_cores_allowed() <= os_cpus_allowed());
}

int test_engine_check(void);
int test_engine_check(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(dtypes_have_names_and_sizes),
	    cmocka_unit_test(names_are_found),
	    cmocka_unit_test(bad_plugins_are_refused),
	    cmocka_unit_test(a_plugin_of_the_first_abi_works),
	    cmocka_unit_test(what_is_observed_is_offered),
	    cmocka_unit_test(numbers_of_onnx_are_those_of_its_types),
	    cmocka_unit_test(null_tells_the_operators_it_was_given),
	    cmocka_unit_test(profiles_that_are_not_whole_are_refused),
	    cmocka_unit_test(a_plugin_of_this_directory_is_found),
	    cmocka_unit_test(each_missing_member_is_named),
	    cmocka_unit_test(barriers_are_checked),
	    cmocka_unit_test(options_are_checked),
	    cmocka_unit_test(a_lack_of_memory_has_its_code),
	    cmocka_unit_test(cores_are_some_of_the_processors),
	    cmocka_unit_test(null_fails_when_asked_and_takes_its_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
