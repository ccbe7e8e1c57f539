/* test_engine_check.c - the table, its checks, options, element types, plug-ins that must be
 * refused, the null engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

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
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
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
	assert_int_equal(engine_find("nul", &h, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "did you mean 'null'?"));
	assert_int_equal(engine_find("tensorflow", &h, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "no engine 'tensorflow'"));
	assert_int_equal(engine_find("", &h, &err), DCK_E_ABSENT);
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
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(name, sizeof(name), "plugin:%s", built_file(cases[i].file));
		assert_int_equal(engine_find(name, &h, &err), cases[i].code);
		assert_non_null(strstr(err.msg, cases[i].says));
		assert_null(h.ops);
	}
	assert_int_equal(engine_find("plugin:", &h, &err), DCK_E_ARG);
	/* Without a slash it is a file of this folder, and none of the loader's. */
	assert_int_equal(engine_find("plugin:libc.so.6", &h, &err), DCK_E_ABSENT);
	assert_int_equal(engine_find("no_such_plugin.so", &h, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "cannot open the plug-in 'no_such_plugin.so'"));
}

static void a_plugin_of_this_folder_is_found(void **state)
{
	engine_handle h;
	char folder[PATH_MAX];
	dck_err err;

	(void)state;
	assert_non_null(getcwd(folder, sizeof(folder)));
	assert_int_equal(chdir(built_file("../plugins/example")), 0);
	assert_int_equal(engine_find("plugin:example.so", &h, &err), DCK_OK);
	assert_string_equal(h.ops->name, "example");
	engine_release(&h);
	assert_int_equal(engine_find("example.so", &h, &err), DCK_OK);
	engine_release(&h);
	assert_int_equal(chdir(folder), 0);
}

static void each_missing_member_is_named(void **state)
{
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
	WITHOUT(version);
	WITHOUT(help);
#undef WITHOUT
	e = *engine_table[0];
	e.caps |= DCK_CAP_COMMAND;
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT);
	e = *engine_table[0];
	e.abi_minor = 7; /* a newer minor only adds at the end */
	e.struct_size += 8;
	assert_int_equal(engine_check(&e, "x", &err), DCK_OK);
	e.name = "two words";
	assert_int_equal(engine_check(&e, "x", &err), DCK_E_FORMAT);
}

static dck_status options_of(const dck_engine *e, const char *key, const char *value, dck_err *err)
{
	const dck_kv kv[] = {{key, value}};
	const dck_open_params p = {.struct_size = sizeof(p), .options = kv, .noptions = 1};

	return engine_options_check(e, &p, err);
}

static void options_are_checked(void **state)
{
	static const dck_engine_option rows[] = {{"spin", "0|1", "h"},
						 {"opt", "none|all", "h"},
						 {"output", "discard|FILE", "h"},
						 {"count", "N", "h"},
						 {NULL, NULL, NULL}};
	const dck_engine e = {.name = "e", .options = rows};
	const dck_engine none = {.name = "e"};
	const dck_kv twice[] = {{"spin", "0"}, {"opt", "all"}, {"spin", "1"}};
	const dck_open_params p = {.struct_size = sizeof(p), .options = twice, .noptions = 3};
	uint64_t n = 3;
	dck_err err;

	(void)state;
	assert_int_equal(options_of(&e, "spin", "0", &err), DCK_OK);
	assert_int_equal(options_of(&e, "opt", "all", &err), DCK_OK);
	assert_int_equal(options_of(&e, "output", "any.txt", &err), DCK_OK);
	assert_int_equal(options_of(&e, "count", "", &err), DCK_OK);
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
	const dck_open_params p = {.struct_size = sizeof(p), .options = kv, .noptions = 2};
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

static void cores_are_some_of_the_processors(void **state)
{
	(void)state;
	assert_true(os_cores_allowed() >= 1);
	assert_true(os_cores_allowed() <= os_cpus_allowed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(dtypes_have_names_and_sizes),
	    cmocka_unit_test(names_are_found),
	    cmocka_unit_test(bad_plugins_are_refused),
	    cmocka_unit_test(a_plugin_of_this_folder_is_found),
	    cmocka_unit_test(each_missing_member_is_named),
	    cmocka_unit_test(options_are_checked),
	    cmocka_unit_test(cores_are_some_of_the_processors),
	    cmocka_unit_test(null_fails_when_asked_and_takes_its_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
