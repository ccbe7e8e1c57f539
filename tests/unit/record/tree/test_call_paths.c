/* Call paths added to a tree: the tree, the functions, recursion, limits, no memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "record/tree/cct.h"
#include "fault_alloc.h"

enum { SAMPLES, TIME };
static const dck_column weights[] = {{"samples", "samples", DCK_UNIT_ONE},
				     {"time", "time", DCK_UNIT_NS}};
static const call_column columns[] = {{"samples", "samples", DCK_UNIT_ONE, SAMPLES, CALL_SELF},
				      {"total", "total", DCK_UNIT_NS, TIME, CALL_TOTAL},
				      {"self", "self", DCK_UNIT_NS, TIME, CALL_SELF}};
static const call_table functions = {.name = "functions",
				     .title = "Functions",
				     .columns = columns,
				     .ncolumns = 3,
				     .sort = 2,
				     .brief = 1};

static uint32_t named(cct *p, const char *name)
{
	return cct_frame(p, &(dck_frame){.name = name});
}

static void add(cct *p, const uint32_t *frames, size_t n, double samples)
{
	const uint32_t path = cct_insert_stack(p, frames, n);

	cct_add(p, path, SAMPLES, samples);
	cct_add(p, path, TIME, 1000 * samples);
}

static dck_record *record_of(const cct *p, const call_table *how)
{
	record_builder *b = record_new();
	dck_record *r;

	assert_int_equal(cct_tree(p, "samples", "Samples", b, NULL), DCK_OK);
	assert_int_equal(cct_functions(p, how, b, NULL), DCK_OK);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static double cell(const dck_table *t, const char *name, const char *key)
{
	for (size_t i = 0; i < t->nrows; i++)
		if (strcmp(t->cells[i * t->ncolumns].value.as.text, name) == 0)
			return dck_value_number(&dck_table_cell(t, i, key)->value);
	fail_msg("there is no row %s", name);
	return 0;
}

static double sum(const dck_tree *t, size_t column)
{
	double s = 0;

	for (size_t i = 0; i < t->nnodes; i++)
		s += t->weights[i * t->ncolumns + column];
	return s;
}

static void recursion_counts_once(void **state)
{
	cct p;

	(void)state;
	assert_int_equal(cct_init(&p, weights, 2, NULL), DCK_OK);
	const uint32_t main = named(&p, "main"), fib = named(&p, "fib"), add_up = named(&p, "add");
	assert_int_equal(named(&p, "fib"), fib);
	add(&p, (uint32_t[]){main}, 1, 1);
	add(&p, (uint32_t[]){main, fib}, 2, 2);
	add(&p, (uint32_t[]){main, fib, fib}, 3, 4);
	add(&p, (uint32_t[]){main, fib, fib, add_up}, 4, 8);
	add(&p, (uint32_t[]){main, fib, add_up, fib}, 4, 16);
	add(&p, (uint32_t[]){main, fib}, 2, 32);

	dck_record *r = record_of(&p, &functions);
	const dck_tree *t = dck_record_tree(r, "samples");
	const dck_table *f = dck_record_table(r, "functions");
	assert_int_equal(t->nnodes, 6);
	assert_true(sum(t, SAMPLES) == 63);
	assert_true(sum(t, TIME) == 63000);
	assert_int_equal(f->nrows, 3);
	assert_string_equal(f->cells[0].value.as.text, "fib"); /* the largest self weight */
	assert_true(cell(f, "main", "total") == 63000);
	assert_true(cell(f, "main", "self") == 1000);
	assert_true(cell(f, "fib", "total") == 62000);
	assert_true(cell(f, "fib", "self") == 54000);
	assert_true(cell(f, "fib", "samples") == 54);
	assert_true(cell(f, "add", "total") == 24000);
	assert_true(cell(f, "add", "self") == 8000);
	assert_int_equal(f->ncolumns, 4); /* no frame has a file, a line or a module */
	assert_int_equal(f->nsummary_rows, 1);
	assert_null(dck_record_note(r, "calls-cut"));
	dck_record_free(r);
	cct_done(&p);
}

/* The line of a sample distinguishes paths, not functions. */
static void a_function_has_many_lines(void **state)
{
	const dck_frame frames[] = {
	    {.name = "f", .file = "a.py", .line = 12, .start_line = 10, .module = "m"},
	    {.name = "f", .file = "a.py", .line = 11, .start_line = 10, .module = "m"},
	    {.name = "f", .file = "a.py", .line = 31, .start_line = 30, .module = "m"},
	    {.name = "f", .file = "b.py", .line = 12, .start_line = 10, .module = "m"},
	    {.name = "f", .file = "a.py", .line = 12, .start_line = 10},
	};
	enum { N = sizeof frames / sizeof *frames };
	uint32_t number[N];
	cct p;

	(void)state;
	assert_int_equal(cct_init(&p, weights, 2, NULL), DCK_OK);
	for (size_t i = 0; i < N; i++) {
		number[i] = cct_frame(&p, &frames[i]);
		add(&p, &number[i], 1, (double)(1u << i));
	}
	dck_record *r = record_of(&p, &functions);
	const dck_tree *t = dck_record_tree(r, "samples");
	const dck_table *f = dck_record_table(r, "functions");
	assert_int_equal(t->nframes, N);
	assert_string_equal(t->frames[3].file, "b.py");
	assert_null(t->frames[4].module);
	assert_int_equal(f->nrows, N - 1);
	assert_true(dck_value_number(&dck_table_cell(f, 3, "samples")->value) == 3);
	assert_true(dck_value_number(&dck_table_cell(f, 3, "line")->value) == 10);
	assert_string_equal(dck_table_cell(f, 0, "file")->value.as.text, "a.py");
	assert_int_equal(dck_table_cell(f, 0, "module")->value.kind, DCK_VALUE_ABSENT);
	dck_record_free(r);
	cct_done(&p);
}

static void what_is_too_deep_stays_with_the_path_around_it(void **state)
{
	enum { DEPTH = 3000 };
	uint32_t *stack = mem_zalloc(DEPTH, sizeof *stack);
	cct p;

	(void)state;
	assert_non_null(stack);
	assert_int_equal(cct_init(&p, weights, 2, NULL), DCK_OK);
	for (size_t i = 0; i < DEPTH; i++)
		stack[i] = named(&p, i % 2 ? "odd" : "even");
	add(&p, stack, DEPTH, 5);
	add(&p, stack, DEPTH, 2);
	add(&p, stack, 0, 4);
	dck_record *r = record_of(&p, &functions);
	const dck_tree *t = dck_record_tree(r, "samples");
	assert_int_equal(t->nnodes, PATH_TRIE_DEPTH_MAX + 1);
	assert_true(sum(t, SAMPLES) == 11);
	assert_true(t->weights[(t->nnodes - 1) * 2] == 7);
	assert_string_equal(t->frames[t->nodes[0].frame].name, "(no call path)");
	assert_true(t->weights[0] == 4);
	assert_true(cell(dck_record_table(r, "functions"), "even", "total") == 7000);
	assert_non_null(strstr(dck_record_note(r, "calls-cut")->text, "2 call paths of samples"));
	dck_record_free(r);
	cct_done(&p);
	mem_free(stack);
}

static void a_table_may_be_cut(void **state)
{
	call_table how = functions;
	cct p;

	(void)state;
	how.top = 10;
	assert_int_equal(cct_init(&p, weights, 2, NULL), DCK_OK);
	for (int i = 0; i < 1000; i++) {
		char name[20];

		snprintf(name, sizeof name, "f%d", i);
		add(&p, (uint32_t[]){named(&p, name)}, 1, i);
	}
	dck_record *r = record_of(&p, &how);
	const dck_table *f = dck_record_table(r, "functions");
	assert_int_equal(f->nrows, 10);
	assert_true(cell(f, "f990", "samples") == 990);
	assert_string_equal(f->title, "Functions (the first 10 of 999)"); /* f0 has weight 0 */
	dck_record_free(r);
	cct_done(&p);
}

/* Every allocation fails once: the failure is reported, without a leak or a double free. */
static void no_memory_is_told_at_the_end(void **state)
{
	fault_alloc faults;
	bool done = false;

	(void)state;
	for (size_t n = 1; !done; n++) {
		dck_record *r = NULL;
		cct p = {0};

		fault_alloc_begin(&faults, n);
		record_builder *b = record_new();
		dck_status status = b ? cct_init(&p, weights, 2, NULL) : DCK_E_NOMEM;
		for (int i = 0; i < 200 && status == DCK_OK; i++) {
			char name[20];

			snprintf(name, sizeof name, "f%d", i);
			const uint32_t f = named(&p, name);
			add(&p, (uint32_t[]){f, f}, 2, 1);
		}
		if (status == DCK_OK)
			status = cct_tree(&p, "samples", "Samples", b, NULL);
		if (status == DCK_OK)
			status = cct_functions(&p, &functions, b, NULL);
		cct_done(&p);
		if (status == DCK_OK)
			status = record_finish(b, &r, NULL);
		else
			record_drop(b);
		done = faults.calls < n;
		assert_int_equal(status, done ? DCK_OK : DCK_E_NOMEM);
		if (r)
			assert_true(sum(dck_record_tree(r, "samples"), SAMPLES) == 200);
		dck_record_free(r);
		dck_set_allocator(NULL);
		assert_int_equal(faults.out, 0);
	}
}

int test_call_paths(void);
int test_call_paths(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(recursion_counts_once),
	    cmocka_unit_test(a_function_has_many_lines),
	    cmocka_unit_test(what_is_too_deep_stays_with_the_path_around_it),
	    cmocka_unit_test(a_table_may_be_cut),
	    cmocka_unit_test(no_memory_is_told_at_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
