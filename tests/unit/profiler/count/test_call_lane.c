/* The calling-context tree of a thread: counts and times to the tick, recursion, the depth limit,
 * calls without an end, a process that continues another's counter, a damaged file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiler/count/thread_cct.h"
#include "profiler/count/count_functions.h"
#include "deepclock/count.h"
#include "deepclock/unstable.h"
#include "record/build.h"
#include "scratch.h"

static const uint64_t every = ~UINT64_C(0);

/* Returns the node of this path of functions, outermost first; 0: absent. */
static const call_node *path_of(const thread_cct *l, const uint64_t *functions, size_t n)
{
	const call_node *nodes = thread_cct_nodes(l);
	uint32_t at = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t next = 0;

		for (uint32_t k = THREAD_CCT_OVERFLOW + 1; k < l->n; k++)
			if (nodes[k].parent == at && nodes[k].function == functions[i])
				next = k;
		if (!next)
			return NULL;
		at = next;
	}
	return &nodes[at];
}
#define PATH(l, ...)                                \
	path_of(l, (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t calls_of(const thread_cct *l, uint64_t function)
{
	uint64_t calls = 0;

	for (uint32_t i = 1; i < l->n; i++)
		if (thread_cct_nodes(l)[i].function == function)
			calls += thread_cct_nodes(l)[i].calls;
	return calls;
}

static uint64_t self_of_all(const thread_cct *l)
{
	uint64_t self = 0;

	for (uint32_t i = 0; i < l->n; i++)
		self += thread_cct_nodes(l)[i].self;
	return self;
}

static void test_counts_and_times(void **state)
{
	thread_cct *l = thread_cct_make(NULL);

	(void)state;
	assert_non_null(l);
	l->last = 100;
	thread_cct_enter(l, 7, 100);
	for (uint64_t i = 0; i < 3; i++) {
		thread_cct_enter(l, 8, 110 + i * 10);
		thread_cct_leave(l, 8, every, 114 + i * 10);
	}
	thread_cct_enter(l, 9, 140);
	thread_cct_enter(l, 8, 141);
	thread_cct_leave(l, 8, every, 143);
	thread_cct_leave(l, 9, every, 150);
	thread_cct_leave(l, 7, every, 151);
	assert_int_equal(PATH(l, 7)->calls, 1);
	assert_int_equal(PATH(l, 7)->self, 10 + 6 + 6 + 6 + 1 + 10 - 10);
	assert_int_equal(PATH(l, 7, 8)->calls, 3);
	assert_int_equal(PATH(l, 7, 8)->self, 12);
	assert_int_equal(PATH(l, 7, 9)->self, 8);
	assert_int_equal(PATH(l, 7, 9, 8)->self, 2);
	assert_int_equal(self_of_all(l), 51);
	assert_int_equal(l->depth, 0);
	thread_cct_free(l);
}

/* Callees in turns, which are found without a search the second time; without a clock. */
static void test_order_of_callees(void **state)
{
	thread_cct *l = thread_cct_make(NULL);

	(void)state;
	assert_null(thread_cct_begin_again(l, 7, true));
	assert_non_null(thread_cct_begin(l, 7));
	for (int round = 0; round < 3; round++)
		for (uint64_t f = 20; f < 25; f++) {
			call_frame *found = thread_cct_begin_again(l, f, true);

			assert_true((found != NULL) == (round == 2 || (round == 1 && f > 20)));
			assert_true(found || thread_cct_begin(l, f));
			assert_null(thread_cct_begin_again(l, 7, true));
			assert_true(thread_cct_end_innermost(l, f, every));
		}
	assert_null(thread_cct_begin_again(l, 20, false));
	assert_false(thread_cct_end_innermost(l, 8, every));
	thread_cct_end(l, 7, every);
	for (uint64_t f = 20; f < 25; f++)
		assert_int_equal(PATH(l, 7, f)->calls, 3);
	assert_int_equal(l->n, 2 + 6);
	assert_int_equal(l->depth, 0);
	thread_cct_free(l);
}

/* Deeper than the maximum path: the counts stay exact, the paths bounded. */
static void test_recursion(void **state)
{
	thread_cct *l = thread_cct_make(NULL);
	uint64_t now = 0;

	(void)state;
	for (int i = 0; i < 300000; i++)
		thread_cct_enter(l, 5 + (uint64_t)i % 3, ++now);
	for (int i = 300000; i-- > 0;)
		thread_cct_leave(l, 5 + (uint64_t)i % 3, every, ++now);
	for (uint64_t f = 5; f < 8; f++)
		assert_int_equal(calls_of(l, f), 100000);
	assert_true(l->n <= CALL_LANE_DEPTH + 2);
	assert_int_equal(self_of_all(l), now);
	assert_int_equal(l->rest, 0);
	assert_int_equal(l->unmatched + l->left + l->lost, 0);
	thread_cct_free(l);
}

/* A different function at each call: no path can be reused. */
static void test_too_many_paths(void **state)
{
	thread_cct *l = thread_cct_make(NULL);
	const uint64_t n = CALL_LANE_NODES + 5000;

	(void)state;
	for (uint64_t f = 1; f <= n; f++) {
		thread_cct_enter(l, f, f);
		thread_cct_leave(l, f, every, f);
	}
	assert_int_equal(l->n, CALL_LANE_NODES);
	assert_int_equal(l->rest, n - (CALL_LANE_NODES - THREAD_CCT_OVERFLOW - 1));
	uint64_t calls = 0;
	for (uint32_t i = 1; i < l->n; i++)
		calls += thread_cct_nodes(l)[i].calls;
	assert_int_equal(calls, n);
	thread_cct_free(l);
}

static void test_more_open_calls_than_frames(void **state)
{
	thread_cct *l = thread_cct_make(NULL);
	const uint64_t n = CALL_LANE_FRAMES + 100;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		thread_cct_enter(l, 3, i);
	assert_int_equal(l->lost, 100);
	for (uint64_t i = 0; i < n; i++)
		thread_cct_leave(l, 3, every, n + i);
	assert_int_equal(l->depth, 0);
	assert_int_equal(l->unmatched, 0);
	assert_int_equal(calls_of(l, 3), CALL_LANE_FRAMES);
	thread_cct_free(l);
}

static void test_ends_that_do_not_fit(void **state)
{
	thread_cct *l = thread_cct_make(NULL);

	(void)state;
	thread_cct_leave(l, 1, every, 5); /* started before recording */
	assert_int_equal(l->unmatched, 1);
	thread_cct_enter(l, 1, 10);
	thread_cct_enter(l, 2, 11);
	thread_cct_enter(l, 3, 12);
	thread_cct_leave(l, 9, every, 13);
	assert_int_equal(l->depth, 3);
	thread_cct_leave(l, 1, every, 14); /* also leaves 2 and 3 */
	assert_int_equal(l->depth, 0);
	assert_int_equal(l->left, 2);
	thread_cct_enter(l, 1 | UINT64_C(5) << 48, 20);
	thread_cct_leave(l, 1 | UINT64_C(6) << 48, (UINT64_C(1) << 48) - 1, 21);
	assert_int_equal(l->depth, 0);
	thread_cct_free(l);
}

static void test_goes_on_in_another(void **state)
{
	thread_cct *l = thread_cct_make(NULL), *child = thread_cct_make(NULL);

	(void)state;
	thread_cct_enter(l, 1, 1);
	thread_cct_enter(l, 2, 2);
	thread_cct_fork(child, l, l->depth, 10);
	thread_cct_enter(child, 3, 11);
	thread_cct_leave(child, 3, every, 13);
	thread_cct_leave(child, 2, every, 14);
	assert_int_equal(PATH(child, 1, 2)->calls, 0);
	assert_int_equal(PATH(child, 1, 2)->self, 2);
	assert_int_equal(PATH(child, 1, 2, 3)->calls, 1);
	assert_int_equal(child->depth, 1);
	thread_cct_free(child);
	thread_cct_free(l);
}

static void *is_cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	thread_cct_free(thread_cct_make("cancelled"));
	return NULL;
}

/* A hook is no cancellation point: the function that it counts may be in a critical section. */
static void test_no_cancellation_point(void **state)
{
	pthread_t t;
	void *end;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, is_cancelled, NULL), 0);
	assert_int_equal(pthread_join(t, &end), 0);
	assert_null(end);
	assert_int_equal(access("cancelled", F_OK), 0);
}

/* --- the record */

static bool named(void *self, uint64_t function, dck_frame *ret)
{
	static const char *const names[] = {"", "main", "work", "leaf"};

	(void)self;
	if (function > 3)
		return false;
	*ret = (dck_frame){.name = names[function], .file = "a.c", .line = (uint32_t)function};
	return true;
}

static const dck_cell *cell(const dck_record *r, const char *name, const char *key)
{
	const dck_table *t = dck_record_table(r, "functions");

	for (size_t i = 0; t && i < t->nrows; i++)
		if (!strcmp(dck_table_cell(t, i, "name")->value.as.text, name))
			return dck_table_cell(t, i, key);
	return NULL;
}

static void test_record(void **state)
{
	dck_call_counter *a = dck_call_counter_new(NULL), *b = dck_call_counter_new(a);
	dck_record *r;
	dck_err err;
	dck_call_path p;

	(void)state;
	assert_true(dck_call_counter_enter(a, 1));
	for (int i = 0; i < 10; i++) {
		assert_int_equal(dck_call_counter_enter(a, 2), i == 0);
		dck_call_counter_enter(a, 3);
		dck_call_counter_leave(a, 3);
		dck_call_counter_leave(a, 2);
	}
	dck_call_counter_enter(a, 2); /* still open at the end */
	dck_call_counter_enter(b, 3);
	dck_call_counter_leave(b, 3);
	dck_call_counter_enter(b, 99);
	dck_call_counter_leave(b, 99);
	dck_call_counter_enter(b, 2);
	assert_false(dck_call_counter_undo(b, 3));
	assert_true(dck_call_counter_undo(b, 2));
	assert_int_equal(dck_call_counter_end(a, &err), DCK_OK);
	assert_int_equal(dck_call_counter_end(b, &err), DCK_OK);
	double self = 0, total = 0;
	for (size_t i = 1; dck_call_counter_path(a, i, &p); i++) {
		self += p.self_ns;
		total = p.function == 1 ? p.total_ns : total;
		assert_true(p.total_ns >= p.self_ns);
	}
	assert_true(total > self * 0.999 && total < self * 1.001);
	const dck_call_counter_meta about = {.title = "test",
					     .frame = named,
					     .threads = 2,
					     .cost_inside_ns = 1,
					     .cost_outside_ns = 1};
	assert_int_equal(
	    dck_call_counter_record((const dck_call_counter *const[]){a, b}, 2, &about, &r, &err),
	    DCK_OK);
	assert_int_equal(dck_record_fact(r, "count", "threads")->value.as.i, 2);
	assert_int_equal(cell(r, "main", "calls")->value.as.i, 1);
	assert_int_equal(cell(r, "work", "calls")->value.as.i, 11);
	assert_int_equal(cell(r, "leaf", "calls")->value.as.i, 11);
	assert_int_equal(cell(r, "(no name)", "calls")->value.as.i, 1);
	assert_true(dck_value_number(&cell(r, "main", "total")->value) >=
		    dck_value_number(&cell(r, "work", "total")->value));
	const dck_tree *t = dck_record_tree(r, "calls");
	assert_non_null(t);
	assert_int_equal(t->nnodes, 5);
	dck_record_free(r);
	dck_call_counter_free(a);
	dck_call_counter_free(b);
}

/* The calls that a forked process began inside are on its paths, also those without a time. */
static void test_open_at_fork(void **state)
{
	dck_call_counter *a = dck_call_counter_new(NULL), *b;
	const dck_call_counter_meta about = {.title = "test", .frame = named, .uncounted = 2};
	dck_record *r;

	(void)state;
	dck_call_counter_enter(a, 1);
	dck_call_counter_enter(a, 2);
	b = dck_call_counter_new_in(NULL, a, a);
	dck_call_counter_enter(b, 3);
	dck_call_counter_leave(b, 3);
	assert_int_equal(dck_call_counter_end(b, NULL), DCK_OK);
	assert_int_equal(
	    dck_call_counter_record((const dck_call_counter *const[]){b}, 1, &about, &r, NULL),
	    DCK_OK);
	assert_int_equal(dck_record_tree(r, "calls")->nnodes, 3);
	assert_non_null(dck_record_note(r, "count-lost"));
	assert_int_equal(cell(r, "main", "calls")->value.as.i, 0);
	assert_int_equal(cell(r, "leaf", "calls")->value.as.i, 1);
	dck_record_free(r);
	dck_call_counter_free(b);
	dck_call_counter_free(a);
}

/* A process is forked from another, and counts into a file that the first one reads. */
static void test_other_process(void **state)
{
	const uint64_t mark = UINT64_C(7) << 48;
	dck_call_counter *a = dck_call_counter_new(NULL), *b;
	dck_call_path p;
	dck_err err;
	uint64_t calls = 0;
	FILE *f;

	(void)state;
	dck_call_counter_enter(a, 1);
	dck_call_counter_enter(a, 2);
	b = dck_call_counter_new_in("calls", a, a);
	assert_non_null(b);
	assert_null(dck_call_counter_new_in("calls", a, a)); /* the file exists */
	for (int i = 0; i < 5; i++) {
		dck_call_counter_enter(b, 3);
		dck_call_counter_leave(b, 3);
	}
	/* Reads it while the other process still counts. */
	dck_call_counter *read = dck_call_counter_read("calls", a, mark);
	assert_non_null(read);
	dck_call_counter_enter(b, 4);
	dck_call_counter_free(b);
	assert_int_equal(dck_call_counter_end(read, &err), DCK_OK);
	for (size_t i = 1; dck_call_counter_path(read, i, &p); i++) {
		assert_true(p.function == 0 || p.function >> 48 == 7);
		assert_true(p.function == (3 | mark) ? p.calls == 5 : p.calls == 0);
		calls += p.calls;
	}
	assert_int_equal(calls, 5);
	dck_call_counter_free(read);
	dck_call_counter_free(a);

	/* Invalid files: too short, other bytes, a caller after its callee. */
	f = fopen("other", "w");
	fputs("no calls", f);
	fclose(f);
	assert_null(dck_call_counter_read("other", NULL, 0));
	assert_int_equal(truncate("other", CALL_LANE_BYTES), 0);
	assert_null(dck_call_counter_read("other", NULL, 0));
	f = fopen("calls", "r+");
	fseek(f, CALL_LANE_HEAD + 2 * (long)sizeof(call_node) + (long)offsetof(call_node, parent),
	      SEEK_SET);
	fwrite(&(uint32_t){CALL_LANE_NODES}, 4, 1, f);
	fclose(f);
	assert_null(dck_call_counter_read("calls", NULL, 0));
	assert_null(dck_call_counter_read("none", NULL, 0));
}

static uint32_t frame_of(void *self, count_functions *f, uint64_t function)
{
	(void)self;
	(void)function;
	return cct_frame(&f->paths, &(dck_frame){.name = "f"});
}

/* The file may contain any bytes. */
static void test_damaged(void **state)
{
	thread_cct *l = thread_cct_make(NULL);
	const call_overhead price = {1, 1};
	count_functions f;
	dck_err err;

	(void)state;
	for (uint64_t i = 1; i < 100; i++)
		thread_cct_enter(l, i, i);
	thread_cct_nodes(l)[50].parent = 4000000000u;
	thread_cct_nodes(l)[51].parent = 51;
	thread_cct_nodes(l)[52].calls = UINT64_MAX;
	l->current = 4000000000u;
	assert_int_equal(count_functions_init(&f, &err), DCK_OK);
	assert_int_equal(count_functions_add(&f, l, 1, &price, 0, frame_of, NULL, &err), DCK_OK);
	l->n = UINT32_MAX;
	assert_int_equal(count_functions_add(&f, l, 1, &price, 0, frame_of, NULL, &err), DCK_OK);
	l->n = 50;
	l->magic = 0;
	assert_int_equal(count_functions_add(&f, l, 1, &price, 0, frame_of, NULL, &err), DCK_OK);
	assert_int_equal(f.lanes, 1);
	record_builder *b = record_new();
	assert_int_equal(count_functions_put(&f, "self", 0, b, &err), DCK_OK);
	record_drop(b);
	count_functions_done(&f);
	thread_cct_free(l);
}

/* An undone call leaves no trace, also a recursive one and one that found no frame. */
static void test_forgotten(void **state)
{
	thread_cct *l = thread_cct_make(NULL);
	uint64_t now = 0;

	(void)state;
	assert_non_null(l);
	for (int i = 0; i < CALL_LANE_DEPTH; i++)
		thread_cct_enter(l, 7, ++now);
	const call_node *last = &thread_cct_nodes(l)[l->current];
	const uint64_t again = last->recursive, calls = last->calls;
	thread_cct_enter(l, 7, ++now); /* a recursion */
	assert_int_equal(last->recursive, again + 1);
	assert_false(thread_cct_forget(l, 8));
	assert_true(thread_cct_forget(l, 7));
	assert_int_equal(last->recursive, again);
	assert_int_equal(last->calls, calls);
	thread_cct_enter(l, 9, ++now); /* in no path so far */
	assert_int_equal(l->rest, 1);
	assert_true(thread_cct_forget(l, 9));
	assert_int_equal(l->rest, 0);
	assert_int_equal(calls_of(l, 9), 0);
	assert_int_equal(l->depth, CALL_LANE_DEPTH);
	while (l->depth < CALL_LANE_FRAMES)
		thread_cct_enter(l, 7, ++now);
	thread_cct_enter(l, 7, ++now);
	assert_int_equal(l->too_deep, 1);
	assert_true(thread_cct_forget(l, 7));
	assert_int_equal(l->too_deep, 0);
	assert_int_equal(l->lost, 0);
	assert_int_equal(l->depth, CALL_LANE_FRAMES);
	thread_cct_free(l);
}

int test_call_lane(void);
int test_call_lane(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts_and_times),
	    cmocka_unit_test(test_order_of_callees),
	    cmocka_unit_test(test_recursion),
	    cmocka_unit_test(test_too_many_paths),
	    cmocka_unit_test(test_more_open_calls_than_frames),
	    cmocka_unit_test(test_ends_that_do_not_fit),
	    cmocka_unit_test(test_forgotten),
	    cmocka_unit_test(test_goes_on_in_another),
	    cmocka_unit_test(test_no_cancellation_point),
	    cmocka_unit_test(test_record),
	    cmocka_unit_test(test_open_at_fork),
	    cmocka_unit_test(test_other_process),
	    cmocka_unit_test(test_damaged),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
