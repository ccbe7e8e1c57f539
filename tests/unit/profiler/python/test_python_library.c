/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scratch.h"
#include "profiler/python/python_library.h"

static void file_make(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fclose(f);
}

static void names_alone(void **state)
{
	static const char *const libraries[] = {
	    "<frozen importlib._bootstrap>",
	    "<__array_function__ internals>",
	    "/usr/lib/python3/dist-packages/numpy/core/numeric.py",
	    "/srv/a/env/lib/python3.12/site-packages/torch/nn/modules/linear.py",
	    "/usr/lib/python3.11/json/decoder.py",
	    "/opt/lib64/python3.9/ast.py",
	    "/opt/lib/python3.13t/ast.py"};
	static const char *const users[] = {"train.py",
					    "/srv/a/train.py",
					    "<string>",
					    "<stdin>",
					    "",
					    "site-packages",
					    "/srv/a/lib/python3.tools/x.py",
					    "/",
					    "relative/x.py"};
	python_library *l = python_library_new();

	(void)state;
	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
		assert_true(python_library_has(l, libraries[i]));
	for (size_t i = 0; i < sizeof users / sizeof users[0]; i++)
		assert_false(python_library_has(l, users[i]));
	python_library_free(l);
	python_library_free(NULL);
}

static bool has(python_library *l, const char *name)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s/%s", scratch_path, name);
	return python_library_has(l, path);
}

static void packages_with_an_installers_list(void **state)
{
	python_library *l = python_library_new();

	(void)state;
	mkdir("target", 0700);
	mkdir("target/pack-1.0.dist-info", 0700);
	mkdir("target/pack", 0700);
	mkdir("target/pack/inner", 0700);
	file_make("target/pack/__init__.py");
	file_make("target/pack/inner/__init__.py");
	mkdir("own", 0700);
	mkdir("own/pack", 0700);
	file_make("own/pack/__init__.py");
	assert_true(has(l, "target/pack/x.py"));
	assert_true(has(l, "target/pack/inner/y.py"));
	assert_true(has(l, "target/pack/inner/z.py")); /* from the modules already known */
	assert_false(has(l, "target/script.py"));      /* a script, not a package */
	assert_false(has(l, "own/pack/x.py"));
	assert_false(has(l, "not there/x.py"));
	python_library_free(l);
}

int test_python_library(void);
int test_python_library(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_alone),
	    SCRATCH_TEST(packages_with_an_installers_list),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
