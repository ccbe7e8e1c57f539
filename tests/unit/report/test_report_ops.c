/* test_report_ops.c - operators in groups: sums, order, modules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "base/mem.h"
#include "record/build.h"
#include "report/ops.h"
#include <stdint.h>

#define INT(v)	  ((dck_value){.kind = DCK_VALUE_INT, .as.i = (v)})
#define REAL(v)	  ((dck_value){.kind = DCK_VALUE_REAL, .as.r = (v)})
#define ABSENT(s) ((dck_value){.kind = DCK_VALUE_ABSENT, .as.text = (s)})

static void sums_are_exact_and_say_what_is_missing(void **state)
{
	(void)state;
	ops_sum s = {0};
	ops_sum_add(&s, &INT(INT64_C(9007199254740993)));
	ops_sum_add(&s, &INT(2));
	assert_true(!s.real && s.i == INT64_C(9007199254740995) && s.known == 2 && s.unknown == 0);
	ops_sum_add(&s, &ABSENT("why"));
	assert_true(s.i == INT64_C(9007199254740995) && s.known == 2 && s.unknown == 1);
	/* Above 64 bits: a real, not a wrong integer. */
	ops_sum_add(&s, &INT(INT64_MAX));
	assert_true(s.real && ops_sum_value(&s) == 9007199254740995.0 + 9223372036854775807.0);
	ops_sum t = {0}, u;
	ops_sum_add(&t, &INT(INT64_MAX));
	u = ops_sum_plus(&t, &t);
	assert_true(u.real && u.r == 2 * 9223372036854775807.0 && u.known == 2);
	t = (ops_sum){0};
	ops_sum_add(&t, &INT(INT64_MIN));
	ops_sum_add(&t, &INT(-1));
	assert_true(t.real && t.r < -9e18);
	t = (ops_sum){0};
	ops_sum_add(&t, &INT(3));
	ops_sum_add(&t, &REAL(0.5));
	assert_true(t.real && t.r == 3.5);
}

typedef struct row {
	const char *name, *type, *scope;
	int64_t macs; /* negative: absent */
} row;

static dck_record *with_ops(const row *rows, size_t n)
{
	dck_record *r = NULL;
	record_builder *b = record_new();
	for (size_t i = 0; i < n; i++)
		record_op(b,
			  &(dck_op){.name = rows[i].name,
				    .type = rows[i].type,
				    .scope = rows[i].scope,
				    .macs = rows[i].macs < 0 ? ABSENT("open") : INT(rows[i].macs)});
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

/* "name depth n macs+unknown" of each row. */
static void assert_rows(const ops_rows *rows, const char *want)
{
	char text[2048] = "";
	size_t n = 0;
	for (size_t i = 0; i < rows->n; i++) {
		const ops_row *w = &rows->rows[i];
		n +=
		    (size_t)snprintf(text + n, sizeof text - n, "%s%.*s/%u %zu %lld+%zu",
				     i > 0 ? ", " : "", (int)w->name_bytes, w->name, w->depth, w->n,
				     (long long)w->sum[OPS_MACS].i, w->sum[OPS_MACS].unknown);
	}
	assert_string_equal(text, want);
}

static void types_come_largest_first_and_unknown_last(void **state)
{
	(void)state;
	static const row rows[] = {{"a", "NonZero", NULL, -1}, {"b", "Relu", NULL, 0},
				   {"c", "Conv", NULL, 5},     {"d", "Gemm", NULL, 7},
				   {"e", "Conv", NULL, 4},     {"f", "Conv", NULL, -1},
				   {"g", "Add", NULL, 0}};
	dck_record *r = with_ops(rows, 7);
	ops_rows out;
	assert_true(ops_by_type(r, OPS_SORT_AUTO, SIZE_MAX, &out));
	assert_rows(&out, "Conv/0 3 9+1, Gemm/0 1 7+0, Relu/0 1 0+0, Add/0 1 0+0, "
			  "NonZero/0 1 0+1");
	ops_rows_done(&out);
	assert_true(ops_by_type(r, OPS_SORT_NAME, SIZE_MAX, &out));
	assert_rows(&out, "Add/0 1 0+0, Conv/0 3 9+1, Gemm/0 1 7+0, NonZero/0 1 0+1, "
			  "Relu/0 1 0+0");
	ops_rows_done(&out);
	assert_true(ops_by_type(r, OPS_SORT_GRAPH, SIZE_MAX, &out));
	assert_rows(&out, "NonZero/0 1 0+1, Relu/0 1 0+0, Conv/0 3 9+1, Gemm/0 1 7+0, "
			  "Add/0 1 0+0");
	ops_rows_done(&out);
	const dck_op **nodes = ops_by_node(r, OPS_SORT_MACS);
	assert_non_null(nodes);
	static const char order[] = "dcebgaf";
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(nodes[i]->name[0], order[i]);
	mem_free(nodes);
	dck_record_free(r);
}

static void classes_and_lines_are_told_by_their_ends(void **state)
{
	static const struct {
		const char *class_name, *line, *code;
		int64_t macs;
	} rows[] = {
	    {"torch.nn.Conv2d", "/a/net.py:7", "x = self.conv(x)", 5},
	    {"mine.Conv2d", "/b/net.py:7", "y = x", 2},
	    {"torch.nn.Conv2d", "/a/net.py:7", "x = self.conv(x)", 3},
	    {"Bare", "net.py:9", NULL, 1},
	    {NULL, NULL, NULL, 4},
	};
	record_builder *b = record_new();
	dck_record *r;
	ops_rows out;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		record_op(b, &(dck_op){.name = "n",
				       .type = "T",
				       .class_name = rows[i].class_name,
				       .line = rows[i].line,
				       .code = rows[i].code,
				       .macs = RECORD_INT(rows[i].macs)});
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_true(ops_group_of(OPS_BY_CLASS)->rows(r, OPS_SORT_AUTO, 9, &out));
	assert_rows(&out, "Conv2d/0 2 8+0, /0 1 4+0, Conv2d/0 1 2+0, Bare/0 1 1+0");
	assert_string_equal(out.rows[2].path, "mine.Conv2d");
	ops_rows_done(&out);
	assert_true(ops_group_of(OPS_BY_LINE)->rows(r, OPS_SORT_AUTO, 9, &out));
	assert_rows(&out, "net.py:7 x = self.conv(x)/0 2 8+0, /0 1 4+0, net.py:7 y = x/0 1 2+0, "
			  "net.py:9/0 1 1+0");
	assert_string_equal(out.rows[2].path, "/b/net.py:7");
	ops_rows_done(&out);
	dck_record_free(r);
}

static void modules_are_a_tree_in_the_order_of_the_graph(void **state)
{
	(void)state;
	/* "a-b" and "a.b" are adjacent in plain text order; a/b and a.b are the same module. */
	static const row rows[] = {{"1", "T", "stem", 1},     {"2", "T", "layer.1/conv", 2},
				   {"3", "T", NULL, 4},	      {"4", "T", "layer.0/conv", 8},
				   {"5", "T", "layer.0", 16}, {"6", "T", "layer-norm", 32},
				   {"7", "T", "layer", -1},   {"8", "T", "layer/0/conv", 64},
				   {"9", "T", "", 128}};
	dck_record *r = with_ops(rows, 9);
	ops_rows out;
	assert_true(ops_by_module(r, OPS_SORT_AUTO, 100, &out));
	assert_rows(&out, "stem/0 1 1+0, layer/0 5 90+1, layer.1/conv/1 1 2+0, layer.0/1 3 88+0, "
			  "conv/2 2 72+0, layer-norm/0 1 32+0, /0 2 132+0");
	ops_rows_done(&out);
	/* As deep as the number of rows permits, and never cut within a level. */
	assert_true(ops_by_module(r, OPS_SORT_MACS, 4, &out));
	assert_rows(&out, "layer/0 5 90+1, layer-norm/0 1 32+0, stem/0 1 1+0, /0 2 132+0");
	ops_rows_done(&out);
	assert_true(ops_by_module(r, OPS_SORT_MACS, 1, &out));
	assert_int_equal(out.n, 4);
	ops_rows_done(&out);
	dck_record_free(r);
}

static void a_module_that_holds_one_other_is_one_row_with_it(void **state)
{
	(void)state;
	static const row rows[] = {{"1", "T", "net/encoder/layer.0/a", 1},
				   {"2", "T", "net/encoder/layer.1/a", 2}};
	dck_record *r = with_ops(rows, 2);
	ops_rows out;
	assert_true(ops_by_module(r, OPS_SORT_AUTO, 100, &out));
	assert_rows(&out, "net/encoder/layer/0 2 3+0, layer.0/a/1 1 1+0, layer.1/a/1 1 2+0");
	assert_memory_equal(out.rows[2].path, "net/encoder/layer.1/a", out.rows[2].path_bytes);
	assert_int_equal(out.rows[2].path_bytes, 21);
	ops_rows_done(&out);
	dck_record_free(r);
}

static void no_scopes_no_modules(void **state)
{
	(void)state;
	static const row rows[] = {{"1", "T", NULL, 1}, {"2", "T", "", 2}};
	dck_record *r = with_ops(rows, 2);
	ops_rows out;
	assert_true(ops_by_module(r, OPS_SORT_AUTO, 100, &out));
	assert_int_equal(out.n, 0);
	ops_rows_done(&out);
	dck_record_free(r);
}

/* Every operator in a separate module, all with similar names: no sort is quadratic. */
static void many_operators_are_sorted_in_time(void **state)
{
	(void)state;
	enum { N = 200000 };
	dck_record *r = NULL;
	record_builder *b = record_new();
	char scope[32];
	for (int i = 0; i < N; i++) {
		snprintf(scope, sizeof scope, "m%d.x/y%d", (i * 7919) % N, i);
		record_op(b,
			  &(dck_op){.name = scope, .type = scope, .scope = scope, .macs = INT(i)});
	}
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	ops_rows out;
	assert_true(ops_by_type(r, OPS_SORT_AUTO, SIZE_MAX, &out));
	assert_int_equal(out.n, N);
	assert_true(out.rows[0].sum[OPS_MACS].i == N - 1);
	ops_rows_done(&out);
	assert_true(ops_by_module(r, OPS_SORT_AUTO, SIZE_MAX, &out));
	assert_int_equal(out.n, N);
	ops_rows_done(&out);
	const dck_record *one = r;
	dck_buffer got = golden_report("text", &one, 1, NULL);
	assert_non_null(strstr(got.data, "and 199,980 more, --top 200000"));
	assert_true(got.n < 100000);
	dck_buffer_done(&got);
	dck_record_free(r);
}

static size_t calls, fail_at;

static void *failing_alloc(void *self, size_t bytes)
{
	(void)self;
	return ++calls == fail_at ? NULL : malloc(bytes > 0 ? bytes : 1);
}

static void *failing_resize(void *self, void *old, size_t bytes)
{
	(void)self;
	return ++calls == fail_at ? NULL : realloc(old, bytes > 0 ? bytes : 1);
}

static void failing_release(void *self, void *old)
{
	(void)self;
	free(old);
}

/* A text report states that a table is missing; a CSV fails. */
static void no_memory_for_tables(void **state)
{
	(void)state;
	const dck_allocator failing = {
	    .alloc = failing_alloc, .resize = failing_resize, .release = failing_release};
	dck_record *r = golden_record("record_cost.json");
	const dck_record *one = r;
	for (int by = OPS_BY_TYPE; by <= OPS_BY_MODULE; by++) {
		const dck_style style = {.details = true, .ops = {.by = by}};
		unsigned said = 0;
		dck_status st = DCK_E_NOMEM;
		for (fail_at = 1; st != DCK_OK && fail_at < 500; fail_at++) {
			dck_buffer b = {0};
			dck_sink s;
			dck_sink_buffer(&s, &b);
			calls = 0;
			dck_set_allocator(&failing);
			assert_int_equal(dck_report("csv", &one, 1, &style, &s, NULL), DCK_OK);
			st = dck_sink_finish(&s, NULL);
			dck_set_allocator(NULL);
			assert_true(st == DCK_OK || st == DCK_E_NOMEM);
			free(b.data);
		}
		assert_true(fail_at > 4);
		for (size_t stop = fail_at, at = 1; at < stop; at++) {
			dck_buffer b = {0};
			dck_sink s;
			dck_sink_buffer(&s, &b);
			fail_at = at;
			calls = 0;
			dck_set_allocator(&failing);
			assert_int_equal(dck_report("text", &one, 1, &style, &s, NULL), DCK_OK);
			st = dck_sink_finish(&s, NULL);
			dck_set_allocator(NULL);
			said += st == DCK_OK && strstr(b.data, "no memory for this table");
			free(b.data);
		}
		assert_true(said > 0);
	}
	dck_record_free(r);
}

int test_report_ops(void);
int test_report_ops(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_are_exact_and_say_what_is_missing),
	    cmocka_unit_test(types_come_largest_first_and_unknown_last),
	    cmocka_unit_test(classes_and_lines_are_told_by_their_ends),
	    cmocka_unit_test(modules_are_a_tree_in_the_order_of_the_graph),
	    cmocka_unit_test(a_module_that_holds_one_other_is_one_row_with_it),
	    cmocka_unit_test(no_scopes_no_modules),
	    cmocka_unit_test(many_operators_are_sorted_in_time),
	    cmocka_unit_test(no_memory_for_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
