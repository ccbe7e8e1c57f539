/* Views of the call paths of records: functions, callers, callees, the tree, the difference of two.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/rng.h"
#include "record/tree/share_difference.h"
#include "record/tree/cct.h"
#include "record/tree/call_tree.h"
#include "deepclock/calls.h"
#include "fault_alloc.h"
#include "record/build.h"

static const dck_column columns[] = {{"calls", "calls", DCK_UNIT_ONE},
				     {"time", "time", DCK_UNIT_NS}};
enum { MAIN, EVEN, ODD };
static const dck_frame frames[] = {
    {.name = "main"}, {.name = "even", .file = "a.c", .line = 3}, {.name = "odd", .file = "a.c"}};

/* main > even > odd > even, and main > odd. */
static dck_record *record_made(double scale)
{
	static const dck_tree_node nodes[] = {
	    {DCK_TREE_ROOT, MAIN}, {0, EVEN}, {1, ODD}, {2, EVEN}, {0, ODD}};
	const double weights[] = {1, 10, 2, 20 * scale, 4, 40, 8, 80, 16, 160};
	const dck_tree t = {.name = "calls",
			    .title = "Calls",
			    .columns = columns,
			    .ncolumns = 2,
			    .frames = frames,
			    .nframes = 3,
			    .nodes = nodes,
			    .nnodes = 5,
			    .weights = weights};
	record_builder *b = record_new();
	dck_record *r;

	record_tree(b, &t);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static const dck_cell *cell(const dck_record *r, const char *table, const char *name,
			    const char *key)
{
	const dck_table *t = dck_record_table(r, table);

	assert_non_null(t);
	for (size_t i = 0; i < t->nrows; i++)
		if (strcmp(t->cells[i * t->ncolumns].value.as.text, name) == 0)
			return dck_table_cell(t, i, key);
	fail_msg("%s has no row %s", table, name);
	return NULL;
}

#define ASSERT_NUMBER(table, name, key, want)                                            \
	do {                                                                             \
		double got_ = dck_value_number(&cell(shown, table, name, key)->value);   \
		if (!(got_ - (want) < 1e-12 && (want)-got_ < 1e-12))                     \
			fail_msg("%s of %s is %.17g, not %.17g", key, name, got_, want); \
	} while (0)

static dck_record *looked(const dck_calls_view *view)
{
	dck_record *r = record_made(1), *shown;

	assert_int_equal(dck_calls_query(r, view, &shown, NULL), DCK_OK);
	dck_record_free(r);
	return shown;
}

static void functions_have_shares_and_calls(void **state)
{
	dck_record *shown = looked(&(dck_calls_view){.sort = "ncalls"});
	const dck_table *t = dck_record_table(shown, "functions");

	(void)state;
	ASSERT_NUMBER("functions", "main", "total", 310.);
	ASSERT_NUMBER("functions", "even", "total", 140.);
	ASSERT_NUMBER("functions", "even", "self", 100.);
	ASSERT_NUMBER("functions", "odd", "total", 280.);
	ASSERT_NUMBER("functions", "odd", "total_share", 280 / 310.);
	ASSERT_NUMBER("functions", "even", "self_share", 100 / 310.);
	ASSERT_NUMBER("functions", "even", "self_per_call", 10.);
	ASSERT_NUMBER("functions", "even", "total_per_call", 70.); /* of the 2 outermost */
	assert_string_equal(t->cells[0].value.as.text, "odd");	   /* 20 calls */
	dck_record_free(shown);
}

/* The sums over a function's callers equal the function's own values. */
static void callers_and_callees_add_up(void **state)
{
	dck_record *shown = looked(&(dck_calls_view){.callers = "odd"});

	(void)state;
	ASSERT_NUMBER("callers", "main", "total", 160.);
	ASSERT_NUMBER("callers", "even", "total", 120.);
	ASSERT_NUMBER("callers", "even", "total_share", 120 / 280.);
	ASSERT_NUMBER("callers", "even", "calls", 4.);
	dck_record_free(shown);
	shown = looked(&(dck_calls_view){.callers = "main"});
	ASSERT_NUMBER("callers", "(none: outermost)", "total", 310.);
	dck_record_free(shown);
	shown = looked(&(dck_calls_view){.callees = "main"});
	ASSERT_NUMBER("callees", "(itself)", "total", 10.);
	ASSERT_NUMBER("callees", "even", "total", 140.);
	ASSERT_NUMBER("callees", "odd", "total", 160.);
	dck_record_free(shown);
	shown = looked(&(dck_calls_view){.callers = "ev"}); /* the only name that contains it */
	ASSERT_NUMBER("callers", "main", "total", 140.);
	ASSERT_NUMBER("callers", "odd", "total", 0.); /* inside the other */
	ASSERT_NUMBER("callers", "odd", "self", 80.);
	dck_record_free(shown);
}

static void a_tree_has_levels(void **state)
{
	dck_record *shown =
	    looked(&(dck_calls_view){.by = DCK_CALLS_BY_PATH, .depth = 3, .weight = "calls"});
	const dck_table *t = dck_record_table(shown, "paths");

	(void)state;
	assert_int_equal(t->nrows, 4);
	assert_string_equal(t->cells[1 * t->ncolumns].value.as.text, "  odd");
	assert_string_equal(t->cells[3 * t->ncolumns].value.as.text, "    odd");
	ASSERT_NUMBER("paths", "  even", "total", 14.);
	ASSERT_NUMBER("paths", "  even", "total_share", 14 / 31.);
	assert_non_null(strstr(t->title, "left out: 1 path "));
	dck_record_free(shown);
}

/* Newcombe's published example: 56 of 70 and 48 of 80. */
static void noise_of_samples(void **state)
{
	const call_share a = {48 / 80., 80, 1}, b = {56 / 70., 70, 1};
	const call_share whole = {1, 500, 2e9}, none = {0, 500, 2e9};
	double lo, hi;

	(void)state;
	call_noise_interval(&a, &b, 0.95, &lo, &hi);
	assert_float_equal(lo, 0.0524, 5e-5);
	assert_float_equal(hi, 0.3339, 5e-5);
	call_noise_interval(&b, &a, 0.95, &lo, &hi);
	assert_float_equal(hi, -0.0524, 5e-5);
	/* One such change alone is beyond noise, among many it is not. */
	assert_true(call_noise_beyond(&a, &b, 1));
	assert_false(call_noise_beyond(&a, &b, 100));
	assert_true(call_noise_beyond(&none, &whole, 10000));
	call_noise_interval(&none, &whole, 0.95, &lo, &hi);
	assert_true(lo < 2e9 && lo > 1.97e9 && hi == 2e9);
	call_noise_interval(&whole, &whole, 0.95, &lo, &hi);
	assert_true(lo < 0 && hi > 0);
}

/* For time the number of samples gives the precision; calls are exact. */
static dck_record *sampled_record(double samples, bool with_samples)
{
	static const dck_column weights[] = {{"time", "time", DCK_UNIT_NS},
					     {"samples", "samples", DCK_UNIT_ONE}};
	cct p;
	dck_record *r;
	record_builder *b = record_new();

	assert_int_equal(cct_init(&p, weights, with_samples ? 2 : 1, NULL), DCK_OK);
	const struct {
		const char *name;
		double samples;
	} all[] = {{"work", samples}, {"rest", 1000 - samples}};
	for (size_t i = 0; i < 2; i++) {
		const uint32_t path =
		    cct_child(&p, 0, cct_frame(&p, &(dck_frame){.name = all[i].name}));

		cct_add(&p, path, 0, 1e6 * all[i].samples);
		cct_add(&p, path, 1, all[i].samples);
	}
	assert_int_equal(cct_tree(&p, "samples", "Samples", b, NULL), DCK_OK);
	cct_done(&p);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static void beyond_is(double samples, bool with_samples, const char *weight, const char *expected)
{
	dck_record *a = sampled_record(300, with_samples),
		   *b = sampled_record(samples, with_samples);
	dck_record *shown;

	assert_int_equal(dck_calls_diff(a, b, &(dck_calls_view){.weight = weight}, &shown, NULL),
			 DCK_OK);
	const dck_table *t = dck_record_table(shown, "diff/functions");
	const dck_cell *cell = dck_table_cell(t, 0, "beyond_noise");
	const dck_cell *change = dck_table_cell(t, 0, "self_change");
	assert_string_equal(cell->value.as.text, expected);
	if (with_samples) {
		const double v = change->value.as.r;

		assert_true(change->lo < v && v < change->hi && change->level == 0.95);
	}
	dck_record_free(shown);
	dck_record_free(a);
	dck_record_free(b);
}

static void change_is_beyond_noise_or_not(void **state)
{
	(void)state;
	beyond_is(310, true, NULL, "no");
	beyond_is(400, true, NULL, "yes");
	beyond_is(400, true, "samples", "yes");
	beyond_is(400, false, NULL, "a time of one run each: how far runs differ is not known");
}

static void two_records_differ(void **state)
{
	dck_record *a = record_made(1), *b = record_made(3), *shown;

	(void)state;
	assert_int_equal(dck_calls_diff(a, b, &(dck_calls_view){0}, &shown, NULL), DCK_OK);
	assert_int_equal(dck_record_table(shown, "diff/functions")->nrows, 2);
	ASSERT_NUMBER("diff/functions", "even", "self_change", 40.);
	ASSERT_NUMBER("diff/functions", "even", "total_b", 180.);
	ASSERT_NUMBER("diff/functions", "main", "total_change", 40.);
	ASSERT_NUMBER("diff/functions", "even", "self_change_share", 140 / 350. - 100 / 310.);
	ASSERT_NUMBER("diff/paths", "main;even", "self_change", 40.);
	assert_int_equal(dck_record_tree(shown, "diff")->nnodes, 5);
	dck_record_free(shown);
	assert_int_equal(dck_calls_diff(a, a, &(dck_calls_view){.normalise = true}, &shown, NULL),
			 DCK_OK);
	assert_int_equal(dck_record_table(shown, "diff/functions")->nrows, 0);
	dck_record_free(shown);
	dck_record_free(a);
	dck_record_free(b);
}

/* What one of them lacks looks like a change. */
static void a_difference_has_the_warnings_of_both(void **state)
{
	dck_note warning = {
	    .severity = DCK_WARN, .code = "trace-truncated", .text = "cut", .remedy = ""};
	dck_record *a = record_made(1), *b = record_made(3), *shown;

	(void)state;
	a->incomplete = true;
	a->notes = &warning;
	a->nnotes = 1;
	assert_int_equal(dck_calls_diff(a, b, &(dck_calls_view){0}, &shown, NULL), DCK_OK);
	assert_true(shown->incomplete);
	assert_string_equal(dck_record_note(shown, "trace-truncated")->text, "A: cut");
	dck_record_free(shown);
	a->nnotes = 0;
	dck_record_free(a);
	dck_record_free(b);
}

static dck_record *template_record(const char *name)
{
	const dck_column time[] = {{"time", "time", DCK_UNIT_NS}};
	record_builder *b = record_new();
	dck_record *r;
	cct p;

	assert_int_equal(cct_init(&p, time, 1, NULL), DCK_OK);
	cct_add(&p, cct_child(&p, 0, cct_frame(&p, &(dck_frame){.name = name})), 0, 5);
	assert_int_equal(cct_tree(&p, "calls", "Calls", b, NULL), DCK_OK);
	cct_done(&p);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static void types_that_are_returned_do_not_differ(void **state)
{
	dck_record *a = template_record("void f<int>(int)"), *b = template_record("f<int>(int)"),
		   *shown;

	(void)state;
	assert_int_equal(dck_calls_diff(a, b, &(dck_calls_view){0}, &shown, NULL), DCK_OK);
	assert_int_equal(dck_record_table(shown, "diff/functions")->nrows, 0);
	dck_record_free(shown);
	dck_record_free(a);
	dck_record_free(b);
}

/* A random tree; the sums are computed here by walking each path from its leaf up. */
static void totals_are_right_whatever_recurses(void **state)
{
	enum { N = 300, NAMES = 4 };
	uint64_t random = 7;
	dck_tree_node nodes[N];
	double weights[N], want[NAMES] = {0}, all = 0;
	dck_frame names[NAMES] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
	const dck_tree t = {.name = "t",
			    .title = "T",
			    .columns = columns + 1,
			    .ncolumns = 1,
			    .frames = names,
			    .nframes = NAMES,
			    .nodes = nodes,
			    .nnodes = N,
			    .weights = weights};

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t parent = (uint32_t)(rng_next(&random) % (i + 1));

		nodes[i] = (dck_tree_node){parent == i ? DCK_TREE_ROOT : parent,
					   (uint32_t)(rng_next(&random) % NAMES)};
		weights[i] = (double)(rng_next(&random) % 1000);
		all += weights[i];
	}
	for (uint32_t i = 0; i < N; i++) {
		bool on[NAMES] = {false};

		for (uint32_t n = i; n != DCK_TREE_ROOT; n = nodes[n].parent)
			on[nodes[n].frame] = true;
		for (size_t k = 0; k < NAMES; k++)
			want[k] += on[k] ? weights[i] : 0;
	}
	record_builder *b = record_new();
	dck_record *r, *shown;
	record_tree(b, &t);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_int_equal(dck_calls_query(r, &(dck_calls_view){0}, &shown, NULL), DCK_OK);
	for (size_t k = 0; k < NAMES; k++)
		ASSERT_NUMBER("functions", names[k].name, "total", want[k]);
	ASSERT_NUMBER("functions", "a", "total_share", want[0] / all);
	dck_record_free(shown);
	dck_record_free(r);
}

static void no_memory_is_told(void **state)
{
	static const dck_calls_view views[] = {{.by = DCK_CALLS_BY_FUNCTION},
					       {.by = DCK_CALLS_BY_PATH},
					       {.callers = "odd"},
					       {.diff = true}};
	dck_record *r = record_made(1), *other = record_made(2);

	(void)state;
	for (size_t v = 0; v < sizeof views / sizeof views[0]; v++) {
		bool done = false;

		for (size_t n = 1; !done; n++) {
			dck_record *shown = NULL;
			fault_alloc faults;

			fault_alloc_begin(&faults, n);
			dck_status status = views[v].diff
						? dck_calls_diff(r, other, &views[v], &shown, NULL)
						: dck_calls_query(r, &views[v], &shown, NULL);
			done = faults.calls < n;
			assert_int_equal(status, done ? DCK_OK : DCK_E_NOMEM);
			dck_record_free(shown);
			dck_set_allocator(NULL);
			assert_int_equal(faults.out, 0);
		}
	}
	dck_record_free(r);
	dck_record_free(other);
}

/* The time of counting is a weight too, in a column before the functions' own time. */
static void the_weight_by_itself_is_not_what_measuring_took(void **state)
{
	static const dck_column counted[] = {{"calls", "calls", DCK_UNIT_ONE},
					     {"overhead", "overhead", DCK_UNIT_NS},
					     {"self", "self", DCK_UNIT_NS}};
	static const dck_column bytes[] = {{"peak", "at peak", DCK_UNIT_BYTE},
					   {"leaked", "leaked", DCK_UNIT_BYTE},
					   {"allocations", "allocations", DCK_UNIT_ONE}};
	dck_tree t = {.name = "calls", .columns = counted, .ncolumns = 3};
	size_t k;

	(void)state;
	assert_int_equal(call_tree_weight(&t, NULL, &k, NULL), DCK_OK);
	assert_int_equal(k, 2);
	assert_int_equal(call_tree_weight(&t, "overhead", &k, NULL), DCK_OK);
	assert_int_equal(k, 1);
	t.columns = bytes;
	assert_int_equal(call_tree_weight(&t, NULL, &k, NULL), DCK_OK);
	assert_int_equal(k, 0);
}

int test_call_views(void);
int test_call_views(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_weight_by_itself_is_not_what_measuring_took),
	    cmocka_unit_test(functions_have_shares_and_calls),
	    cmocka_unit_test(callers_and_callees_add_up),
	    cmocka_unit_test(a_tree_has_levels),
	    cmocka_unit_test(noise_of_samples),
	    cmocka_unit_test(change_is_beyond_noise_or_not),
	    cmocka_unit_test(two_records_differ),
	    cmocka_unit_test(a_difference_has_the_warnings_of_both),
	    cmocka_unit_test(types_that_are_returned_do_not_differ),
	    cmocka_unit_test(totals_are_right_whatever_recurses),
	    cmocka_unit_test(no_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
