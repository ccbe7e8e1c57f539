/* test_report_trees.c - call paths as text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "deepclock/report.h"
#include "record/build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const dck_column columns[] = {{"calls", "calls", DCK_UNIT_ONE},
				     {"self", "self", DCK_UNIT_NS}};

/* The report of a record with this tree; free it with dck_buffer_done(). */
static dck_buffer text_of(const dck_tree *t)
{
	const dck_style style = {.details = true};
	record_builder *b = record_new();
	dck_buffer ret = {0};
	dck_record *r;
	dck_sink out;

	record_tree(b, t);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	dck_sink_buffer(&out, &ret);
	assert_int_equal(dck_report("text", (const dck_record *const *)&r, 1, &style, &out, NULL),
			 DCK_OK);
	assert_int_equal(dck_sink_finish(&out, NULL), DCK_OK);
	dck_record_free(r);
	return ret;
}

static void the_heaviest_come_first_with_all_below_them(void **state)
{
	static const dck_frame frames[] = {{.name = "main"},
					   {.name = "light"},
					   {.name = "heavy"},
					   {.name = "leaf\x1b[2J"},
					   {.name = "dust"}};
	static const dck_tree_node nodes[] = {
	    {DCK_TREE_ROOT, 0}, {0, 1}, {0, 2}, {2, 3}, {DCK_TREE_ROOT, 4}};
	static const double weights[] = {1, 1e6, 5, 2e6, 7, 3e6, 9, 4e6, 1, 1};
	const dck_tree t = {.name = "zones",
			    .title = "Zones by their call paths",
			    .columns = columns,
			    .ncolumns = 2,
			    .frames = frames,
			    .nframes = 5,
			    .nodes = nodes,
			    .nnodes = 5,
			    .weights = weights};
	dck_buffer text = text_of(&t);

	(void)state;
	const char *main = strstr(text.data, "  main "), *heavy = strstr(text.data, "    heavy "),
		   *leaf = strstr(text.data, "      leaf"),
		   *light = strstr(text.data, "    light ");
	assert_true(main && heavy && leaf && light);
	assert_true(main < heavy && heavy < leaf && leaf < light);
	assert_non_null(strstr(main, "10.0 ms"));
	assert_non_null(strstr(heavy, "7.00 ms"));
	assert_null(strchr(text.data, '\x1b'));
	assert_null(strstr(text.data, "dust"));
	assert_non_null(strstr(text.data, "left out: 1 path "));
	dck_buffer_done(&text);
}

/* The depth equals the number of nodes: no stack overflow, no quadratic time. */
static void a_tree_may_be_deep(void **state)
{
	enum { N = 200000 };
	static const dck_frame frames[] = {{.name = "again"}};
	dck_tree_node *nodes = mem_zalloc(N, sizeof *nodes);
	double *weights = mem_zalloc(N, 2 * sizeof *weights);

	(void)state;
	assert_true(nodes && weights);
	for (uint32_t i = 0; i < N; i++) {
		nodes[i].parent = i ? i - 1 : DCK_TREE_ROOT;
		weights[2 * (size_t)i + 1] = 1000;
	}
	dck_buffer text = text_of(&(dck_tree){.name = "zones",
					      .title = "Zones",
					      .columns = columns,
					      .ncolumns = 2,
					      .frames = frames,
					      .nframes = 1,
					      .nodes = nodes,
					      .nnodes = N,
					      .weights = weights});
	assert_non_null(strstr(text.data, "200 ms"));
	assert_non_null(strstr(text.data, "left out: 1 path "));
	dck_buffer_done(&text);
	mem_free(nodes);
	mem_free(weights);
}

int test_report_trees(void);
int test_report_trees(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_heaviest_come_first_with_all_below_them),
	    cmocka_unit_test(a_tree_may_be_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
