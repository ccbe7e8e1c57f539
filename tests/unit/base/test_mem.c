/* Tests of base/mem.c: the arena, and one failure of every allocation in base.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include "base/json/json_write.h"
#include "fault_alloc.h"

#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void arena_gives_zeroed_aligned_memory(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	for (size_t n = 0; n < 3000; n += 7) {
		unsigned char *p = mem_arena_alloc(a, n);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
	}
	assert_false(mem_arena_failed(a));
	mem_arena_free(a);
	mem_arena_free(NULL);
}

static void arena_copies_and_formats(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(64);
	assert_string_equal(mem_arena_dup(a, "abc"), "abc");
	assert_null(mem_arena_dup(a, NULL));
	assert_false(mem_arena_failed(a));
	assert_string_equal(mem_arena_dup_n(a, "abcdef", 3), "abc");
	assert_string_equal(mem_arena_dup_n(a, NULL, 0), "");
	assert_string_equal(mem_arena_fmt(a, "%d-%s", 7, "x"), "7-x");
	char *large = mem_arena_fmt(a, "%5000d", 1);
	assert_int_equal(strlen(large), 5000);
	mem_arena_free(a);
}

static void arena_refuses_products_that_overflow(void **state)
{
	(void)state;
	const size_t huge = SIZE_MAX / 2;
	mem_arena *a = mem_arena_new(0);
	assert_null(mem_arena_array(a, huge, 3));
	assert_true(mem_arena_failed(a));
	assert_null(mem_arena_alloc(a, 1)); /* the failure is sticky */
	mem_arena_free(a);
	a = mem_arena_new(0);
	assert_null(mem_arena_alloc(a, SIZE_MAX));
	assert_true(mem_arena_failed(a));
	mem_arena_free(a);
	a = mem_arena_new(0);
	assert_null(mem_arena_dup_n(a, "x", SIZE_MAX));
	assert_true(mem_arena_failed(a));
	mem_arena_free(a);
	assert_null(mem_zalloc(huge, 3));
}

static void arena_keeps_its_limit(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	mem_arena_limit(a, 10000); /* less than a default block */
	size_t got = 0;
	while (mem_arena_alloc(a, 100))
		got += 100;
	assert_true(mem_arena_failed(a));
	assert_true(got >= 8000 && got <= 10000);
	assert_true(mem_arena_bytes(a) <= 10000);
	mem_arena_free(a);
}

static void arena_large_array_leaves_the_block_in_use(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	char *first = mem_arena_alloc(a, 16);
	assert_non_null(mem_arena_alloc(a, 4 << 20));
	size_t before = mem_arena_bytes(a);
	char *second = mem_arena_alloc(a, 16);
	assert_ptr_equal(second, first + 16);
	assert_int_equal(mem_arena_bytes(a), before);
	mem_arena_free(a);
}

static void heap_functions(void **state)
{
	(void)state;
	fault_alloc f;
	fault_alloc_begin(&f, 0);
	void *p = mem_alloc(0);
	assert_non_null(p);
	p = mem_resize(p, 100);
	assert_int_equal(f.out, 1);
	dck_free(p);
	char *text = mem_dup("abc");
	assert_string_equal(text, "abc");
	mem_free(text);
	mem_free(NULL);
	dck_free(NULL);
	unsigned char *z = mem_zalloc(10, 10);
	for (int i = 0; i < 100; i++)
		assert_int_equal(z[i], 0);
	mem_free(z);
	assert_int_equal(f.out, 0);
	dck_set_allocator(NULL);
	size_t calls = f.calls;
	mem_free(mem_alloc(1));
	assert_int_equal(f.calls, calls);
}

/* --- every allocation fails once: E_NOMEM, sticky, no leak */

static dck_status fill_arena(dck_err *err)
{
	(void)err;
	mem_arena *a = mem_arena_new(128);
	if (!a)
		return DCK_E_NOMEM;
	for (int i = 0; i < 50; i++) {
		mem_arena_fmt(a, "text number %d", i);
		mem_arena_array(a, 10, (size_t)i);
	}
	dck_status st = mem_arena_failed(a) ? DCK_E_NOMEM : DCK_OK;
	mem_arena_free(a);
	return st;
}

static dck_status write_json(dck_err *err)
{
	dck_buffer b = {0};
	dck_sink s;
	json_writer w;
	char large[3000];
	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	dck_sink_buffer(&s, &b);
	json_init(&w, &s, true);
	json_begin_array(&w);
	for (int i = 0; i < 40; i++)
		json_text(&w, large);
	sink_fmt(&s, "%s", large); /* needs a separate allocation */
	json_end(&w);
	json_done(&w);
	dck_status st = dck_sink_finish(&s, err);
	if (st == DCK_OK)
		assert_true(b.n > 40 * 3000);
	dck_buffer_done(&b);
	return st;
}

static void every_allocation_fails_once(void **state)
{
	(void)state;
	dck_status (*const paths[])(dck_err * err) = {fill_arena, write_json};
	for (size_t i = 0; i < 2; i++) {
		dck_status st = DCK_E_NOMEM;
		size_t n = 1;
		for (; st != DCK_OK; n++) {
			fault_alloc f;
			dck_err err = {.code = DCK_E_NOMEM};
			fault_alloc_begin(&f, n);
			st = paths[i](&err);
			dck_set_allocator(NULL);
			assert_int_equal(f.out, 0);
			if (f.calls < n) {
				assert_int_equal(st, DCK_OK);
			} else {
				assert_int_equal(st, DCK_E_NOMEM);
				assert_int_equal(err.code, DCK_E_NOMEM);
			}
		}
		assert_true(n > 5); /* several allocations could fail */
	}
}

int test_mem(void);
int test_mem(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arena_gives_zeroed_aligned_memory),
	    cmocka_unit_test(arena_copies_and_formats),
	    cmocka_unit_test(arena_refuses_products_that_overflow),
	    cmocka_unit_test(arena_keeps_its_limit),
	    cmocka_unit_test(arena_large_array_leaves_the_block_in_use),
	    cmocka_unit_test(heap_functions),
	    cmocka_unit_test(every_allocation_fails_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
