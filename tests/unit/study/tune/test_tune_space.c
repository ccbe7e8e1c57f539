/* test_tune_space.c - the options that `tune` varies: the usual ones, --only, --skip, a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/tune/space.h"
#include "base/sink.h"
#include "engine/engine.h"
#include "os/os.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

typedef struct fixture {
	dck_subject s;
	dck_tune_config c;
	mem_arena *a;
	space p;
	const variants *files;
	dck_err err;
	char dir[OS_TEMP_SIZE], path[OS_TEMP_SIZE + 16];
} fixture;

static int begin(void **state)
{
	static fixture f;

	memset(&f, 0, sizeof f);
	dck_subject_init(&f.s);
	dck_tune_config_init(&f.c);
	f.s.kind = DCK_SUBJECT_MODEL;
	f.s.text = "zoo:simplenet";
	f.a = mem_arena_new(0);
	*state = &f;
	return f.a && os_temp_dir(f.dir, NULL) == DCK_OK ? 0 : -1;
}

static int end(void **state)
{
	fixture *f = *state;

	os_temp_dir_remove(f->dir);
	mem_arena_free(f->a);
	return 0;
}

static dck_status make(fixture *f)
{
	memset(&f->p, 0, sizeof f->p);
	return space_make(&f->s, &f->c, f->files, f->a, &f->p, &f->err);
}

static void file_put(fixture *f, const char *text)
{
	FILE *to;

	snprintf(f->path, sizeof f->path, "%s/space.txt", f->dir);
	to = fopen(f->path, "w");
	assert_non_null(to);
	fputs(text, to);
	fclose(to);
	f->c.space = f->path;
}

static const space_dim *dim_named(const fixture *f, const char *name)
{
	for (size_t d = 0; d < f->p.n; d++)
		if (strcmp(f->p.dims[d].name, name) == 0)
			return &f->p.dims[d];
	return NULL;
}

/* The values of `opt` are all others than the default's; an option that is given is not varied. */
static void test_usual(void **state)
{
	fixture *f = *state;
	const space_dim *opt;

	assert_int_equal(make(f), DCK_OK);
	opt = dim_named(f, "opt");
	assert_non_null(opt);
	assert_int_equal(opt->n, 4);
	assert_null(opt->value[0]);
	assert_string_equal(opt->value[1], "extended");
	assert_non_null(dim_named(f, "spin"));
	assert_null(dim_named(f, "batch")); /* of --goal throughput */
	assert_null(dim_named(f, "in-flight"));
	assert_false(space_varies_in_flight(&f->p));
	f->c.goal = 1;
	assert_int_equal(make(f), DCK_OK);
	assert_non_null(dim_named(f, "batch"));
	assert_non_null(dim_named(f, "in-flight"));
	assert_string_equal(dim_named(f, "in-flight")->value[1], "2");
	f->s.model.threads = 2;
	f->s.model.engine_option.item[f->s.model.engine_option.n++] = "spin=1";
	assert_int_equal(make(f), DCK_OK);
	assert_null(dim_named(f, "threads"));
	assert_null(dim_named(f, "spin"));
	assert_string_equal(f->p.fixed, "threads, spin");
	/* Options of the model may be given by the engine's names of them. */
	f->s.model.threads = 0;
	f->s.model.engine_option = (dck_list){.item = {"ort:threads=2", "opt=none"}, .n = 2};
	assert_int_equal(make(f), DCK_OK);
	assert_string_equal(f->p.fixed, "threads, opt");
}

/* The default of an option is no trial of its own: a usual space of two engines on a large machine
 * fits. */
static void test_most(void **state)
{
	fixture *f = *state;
	char text[400] = "";

	f->s.model.engine = "null";
	for (size_t i = 0; i < 4; i++)
		text_add(text, sizeof text, "%s=%s\n",
			 (const char *const[]){"ns", "sleep_ns", "fail_at", "batch"}[i],
			 "2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
	text_add(text, sizeof text, "threads=101,102,103\n");
	f->c.goal = TUNE_THROUGHPUT;
	file_put(f, text); /* 4 of 15, 3, and the default: 64 */
	assert_int_equal(make(f), DCK_OK);
	text_add(text, sizeof text, "opt=none\n");
	file_put(f, text);
	assert_int_equal(make(f), DCK_E_LIMIT);
	assert_non_null(strstr(f->err.msg, "65 values to try, more than 64"));
}

static void test_only_and_skip(void **state)
{
	fixture *f = *state;

	f->c.only = "opt,arena";
	assert_int_equal(make(f), DCK_OK);
	assert_int_equal(f->p.n, 2);
	f->c.only = NULL;
	f->c.skip = "opt,engine";
	assert_int_equal(make(f), DCK_OK);
	assert_null(dim_named(f, "opt"));
	assert_null(dim_named(f, "engine"));
	f->c.skip = "thread";
	assert_int_equal(make(f), DCK_E_ARG);
	assert_non_null(strstr(f->err.msg, "did you mean 'threads'?"));
}

/* Values of a file that the default has without the options are left out. */
static void test_default_values(void **state)
{
	fixture *f = *state;
	char text[80];

	f->c.goal = TUNE_THROUGHPUT;
	snprintf(text, sizeof text, "threads=%llu,1000\nbatch=1,2,2",
		 (unsigned long long)engine_threads_default());
	file_put(f, text);
	assert_int_equal(make(f), DCK_OK);
	assert_int_equal(dim_named(f, "threads")->n, 2);
	assert_string_equal(dim_named(f, "threads")->value[1], "1000");
	assert_int_equal(dim_named(f, "batch")->n, 2);
	assert_string_equal(dim_named(f, "batch")->value[1], "2");
}

/* The null engine has none of the usual options, and a file names its own. */
static void test_file(void **state)
{
	fixture *f = *state;
	uint8_t value[RACE_DIMS_MAX] = {2, 1};
	dck_subject s;

	f->s.model.engine = "null";
	assert_int_equal(make(f), DCK_E_ARG);
	file_put(f, "# times\n\n  ns=100,200 # two\r\nbatch=1,2,4");
	f->s.model.batch = 1;
	/* It changes how much a run computes. */
	assert_int_equal(make(f), DCK_E_ARG);
	f->c.goal = TUNE_THROUGHPUT;
	assert_int_equal(make(f), DCK_OK);
	assert_int_equal(f->p.n, 2);
	assert_int_equal(dim_named(f, "ns")->n, 3);
	assert_int_equal(dim_named(f, "ns")->of, SPACE_OF_ENGINE);
	assert_int_equal(dim_named(f, "batch")->n, 3); /* 1 is the default */
	assert_string_equal(space_text(&f->p, value, f->a), "ns=200 batch=2");
	f->s.model.engine_option.item[f->s.model.engine_option.n++] = "ns=7";
	assert_int_equal(space_subject(&f->p, &f->s, value, f->a, &s, NULL), DCK_OK);
	assert_int_equal(s.model.engine_option.n, 1);
	assert_string_equal(s.model.engine_option.item[0], "ns=200");
	assert_int_equal(s.model.batch, 2);
	value[0] = value[1] = 0;
	assert_string_equal(space_text(&f->p, value, f->a), "default");
}

/* A library that is given for all engines is of one; one for an engine by name is for that alone.
 */
static void test_engine_lib(void **state)
{
	fixture *f = *state;

	f->s.model.engine_lib = (dck_list){.item = {"./no.so"}, .n = 1};
	assert_int_equal(make(f), DCK_OK);
	assert_null(dim_named(f, "engine"));
	f->s.model.engine_lib = (dck_list){.item = {"openvino:./no.so"}, .n = 1};
	assert_int_equal(make(f), DCK_OK);
	assert_non_null(dim_named(f, "engine"));
	assert_string_equal(dim_named(f, "engine")->value[1], "openvino");
}

/* The number in flight is the load's, not the subject's. */
static void test_in_flight(void **state)
{
	fixture *f = *state;
	uint8_t value[RACE_DIMS_MAX] = {2};
	dck_subject s;

	f->s.model.engine = "null";
	f->c.goal = TUNE_THROUGHPUT;
	file_put(f, "in-flight=1,2,3");
	assert_int_equal(make(f), DCK_OK);
	assert_int_equal(dim_named(f, "in-flight")->n, 3); /* 1 is the default */
	assert_int_equal(space_in_flight(&f->p, value), 3);
	assert_string_equal(space_text(&f->p, value, f->a), "in-flight=3");
	assert_int_equal(space_subject(&f->p, &f->s, value, f->a, &s, NULL), DCK_OK);
	assert_memory_equal(&s, &f->s, sizeof s);
	value[0] = 0;
	assert_int_equal(space_in_flight(&f->p, value), 1);
	f->c.goal = TUNE_LATENCY;
	assert_int_equal(make(f), DCK_E_ARG);
	assert_non_null(strstr(f->err.msg, "needs --goal throughput"));
	f->c.goal = TUNE_THROUGHPUT;
	file_put(f, "in-flight=2,300");
	assert_int_equal(make(f), DCK_E_ARG);
	assert_non_null(strstr(f->err.msg, "from 1 to 256"));
}

/* A variant that was made is a value; the subject is then its file, in which sizes are fixed. */
static void test_variants(void **state)
{
	static const variants files = {.path = {"dir/net.int8-dynamic.onnx", NULL,
						"dir/net.fp16.onnx"},
				       .why = {"", "ValueError", ""}},
			      none = {.why = {"no tools", "no tools", "no tools"},
				      .no_tools = true};
	fixture *f = *state;
	uint8_t value[RACE_DIMS_MAX] = {0};
	dck_subject s;

	f->files = &files;
	f->c.only = "variant";
	f->s.model.image_size = "64";
	assert_int_equal(make(f), DCK_OK);
	assert_int_equal(f->p.n, 1);
	assert_int_equal(f->p.dims[0].n, 3);
	assert_int_equal(space_variant(&f->p, value), -1);
	assert_int_equal(space_subject(&f->p, &f->s, value, f->a, &s, NULL), DCK_OK);
	assert_memory_equal(&s, &f->s, sizeof s);
	value[0] = 2;
	assert_string_equal(space_text(&f->p, value, f->a), "variant=fp16");
	assert_int_equal(space_variant(&f->p, value), 2);
	assert_int_equal(space_subject(&f->p, &f->s, value, f->a, &s, NULL), DCK_OK);
	assert_string_equal(s.text, "dir/net.fp16.onnx");
	assert_null(s.model.image_size);
	f->files = &none;
	assert_int_equal(make(f), DCK_E_ABSENT);
	assert_non_null(strstr(f->err.msg, "no variant could be made: no tools; pip install"));
	f->c.only = "opt";
	assert_int_equal(make(f), DCK_OK);
	assert_int_equal(f->p.n, 1);
	f->files = &files;
	f->c.only = NULL;
	f->c.skip = "variant";
	assert_int_equal(make(f), DCK_OK);
	assert_null(dim_named(f, "variant"));
}

static void test_wrong_files(void **state)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
	    {"threads", "line 1 of '"},
	    {"=1", "line 1 of '"},
	    {"ns=", "line 1 of '"},
	    {"\nflorp=1,2", "there is no option 'florp' of models, and none of the engine 'null'"},
	    {"batch=1,x", "batch"},
	    {"batch=2,,4", "batch"},
	    {"ns=1,2\nns=3", "'ns' is there twice"},
	    {"ns=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "more than 15 values"},
	    {"# nothing", "there is nothing to vary"},
	};
	fixture *f = *state;

	f->s.model.engine = "null";
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		file_put(f, wrong[i].text);
		assert_int_not_equal(make(f), DCK_OK);
		if (!strstr(f->err.msg, wrong[i].message))
			print_error("%s: %s\n", wrong[i].text, f->err.msg);
		assert_non_null(strstr(f->err.msg, wrong[i].message));
	}
	f->c.space = "no/such/file";
	assert_int_not_equal(make(f), DCK_OK);
}

int test_tune_space(void);
int test_tune_space(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_usual, begin, end),
	    cmocka_unit_test_setup_teardown(test_most, begin, end),
	    cmocka_unit_test_setup_teardown(test_only_and_skip, begin, end),
	    cmocka_unit_test_setup_teardown(test_default_values, begin, end),
	    cmocka_unit_test_setup_teardown(test_file, begin, end),
	    cmocka_unit_test_setup_teardown(test_engine_lib, begin, end),
	    cmocka_unit_test_setup_teardown(test_in_flight, begin, end),
	    cmocka_unit_test_setup_teardown(test_variants, begin, end),
	    cmocka_unit_test_setup_teardown(test_wrong_files, begin, end),
	};

	return cmocka_run_group_tests_name("tune_space", tests, NULL, NULL);
}
