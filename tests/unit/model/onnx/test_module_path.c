/* test_module_path.c - modules derived from node names of several exporters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/onnx/module_path.h"
#include <stdbool.h>
#include <string.h>

static void names_tell_modules(void **state)
{
	static const struct {
		const char *name, *op, *module, *path;
	} cases[] = {
	    {"/layer1/layer1.0/conv1/Conv", "Conv", NULL, "layer1.0/conv1"},
	    {"/conv1/Conv", "Conv", NULL, "conv1"},
	    {"/Flatten", "Flatten", NULL, NULL},
	    {"model/block_1/add/Add", "Add", NULL, "model/block_1/add"},
	    {"layer1.0.conv1", "Conv", NULL, "layer1.0"},
	    {"p2o.Conv.0", "Conv", NULL, "p2o"},
	    {"Conv.0", "Conv", NULL, NULL},
	    {"Conv_12", "Conv", NULL, NULL},
	    {".x", "Conv", NULL, NULL},
	    {"", "Conv", NULL, NULL},
	    {NULL, "Conv", NULL, NULL},
	    {"node_conv2d_1", "Conv", "layer1.0.conv1", "layer1.0.conv1"},
	    {"/other/Conv", "Conv", "layer1", "layer1"},
	};
	mem_arena *a = mem_arena_new(0);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		onnx_node n = {.name = cases[i].name, .op = cases[i].op, .module = cases[i].module};
		const char *got = module_path_of(a, &n), *want = cases[i].path;
		if (want ? !got || strcmp(got, want) != 0 : got != NULL)
			fail_msg("%s: %s, not %s", cases[i].name ? cases[i].name : "",
				 got ? got : "none", want ? want : "none");
	}
	mem_arena_free(a);
}

static void what_paths_share(void **state)
{
	static const struct {
		const char *a, *b;
		size_t n;
	} cases[] = {
	    {"layer1.0/conv1", "layer1.0/relu", 8},
	    {"layer1.0", "layer1.0/relu", 8},
	    {"layer1.0/relu", "layer1.0", 8},
	    {"layer1.0.conv1", "layer1/0/conv1", 14},
	    {"layer1.0", "layer1.1", 6},
	    {"layer1", "layer10", 0},
	    {"conv1", "relu", 0},
	    {"a", "", 0},
	    {"", "", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(module_path_common(cases[i].a, cases[i].b), cases[i].n);
}

int test_module_path(void);
int test_module_path(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_tell_modules),
	    cmocka_unit_test(what_paths_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
