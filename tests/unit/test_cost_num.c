/* Open integers: equal expressions are one object, and arithmetic on them is exact.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/num.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
	mem_arena *arena;
	num_table *t;
	num n, h;
} fixture;

static int setup(void **state)
{
	static fixture f;

	f.arena = mem_arena_new(0);
	f.t = num_table_new(f.arena);
	f.n = num_symbol(f.t, "N");
	f.h = num_symbol(f.t, "H");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	mem_arena_free(((fixture *)*state)->arena);
	return 0;
}

static void check(fixture *f, num got, const char *text)
{
	assert_string_equal(num_text(f->t, got), text);
}

static void test_integers(void **state)
{
	fixture *f = *state;

	assert_true(num_is(num_add(f->t, num_int(2), num_int(3)), 5));
	assert_true(num_is(num_floor_div(f->t, num_int(-7), num_int(2)), -4));
	assert_true(num_is(num_ceil_div(f->t, num_int(7), num_int(2)), 4));
	assert_true(num_is(num_max(f->t, num_int(-1), num_int(1)), 1));
	assert_non_null(num_why_none(num_mul(f->t, num_int(INT64_MAX), num_int(2))));
	assert_non_null(num_why_none(num_add(f->t, num_int(INT64_MAX), num_int(1))));
	assert_non_null(num_why_none(num_sub(f->t, num_int(INT64_MIN), num_int(1))));
	assert_non_null(num_why_none(num_floor_div(f->t, num_int(1), num_int(0))));
	assert_non_null(num_why_none(num_floor_div(f->t, num_int(INT64_MIN), num_int(-1))));
	/* nothing of an unknown size is nothing */
	assert_true(num_is(num_mul(f->t, num_int(0), num_none(f->t, "why")), 0));
}

static void test_polynomials(void **state)
{
	fixture *f = *state;
	num n1 = num_add(f->t, f->n, num_int(1)), square = num_mul(f->t, n1, n1);

	check(f, n1, "N+1");
	check(f, square, "N^2+2*N+1");
	check(f, num_mul(f->t, num_int(-3), f->n), "-3*N");
	check(f, num_sub(f->t, num_mul(f->t, f->n, f->h), f->h), "N*H-H");
	/* made in another order, the same object */
	assert_true(num_same(num_add(f->t, f->h, f->n), num_add(f->t, f->n, f->h)));
	assert_true(num_is(num_sub(f->t, square, square), 0));
	assert_true(num_same(num_symbol(f->t, "N"), f->n));
	assert_false(num_same(f->n, f->h));
}

static void test_division(void **state)
{
	fixture *f = *state;
	num n1 = num_add(f->t, f->n, num_int(1)), square = num_mul(f->t, n1, n1), q;

	assert_true(num_div_exact(f->t, square, n1, &q));
	assert_true(num_same(q, n1));
	assert_false(num_div_exact(f->t, square, f->n, &q));
	assert_true(num_div_exact(f->t, num_mul(f->t, num_int(12), f->n), num_int(4), &q));
	check(f, q, "3*N");
	assert_false(num_div_exact(f->t, f->n, num_int(0), &q));
	check(f, num_floor_div(f->t, num_mul(f->t, num_int(4), f->n), num_int(2)), "2*N");
	/* (2N + 3) / 2 = N + 1 */
	check(f,
	      num_floor_div(f->t, num_add(f->t, num_mul(f->t, num_int(2), f->n), num_int(3)),
			    num_int(2)),
	      "N+1");
	check(f, num_floor_div(f->t, num_sub(f->t, f->h, num_int(1)), num_int(2)),
	      "floor((H+1)/2)-1");
	assert_true(num_same(num_floor_div(f->t, f->h, num_int(2)),
			     num_floor_div(f->t, num_symbol(f->t, "H"), num_int(2))));
	check(f, num_floor_div(f->t, f->h, f->n), "floor((H)/(N))");
}

static void test_bounds(void **state)
{
	fixture *f = *state;
	num fresh = num_fresh(f->t, "elements that are not zero");

	assert_int_equal(num_least(f->t, f->n), 1);
	assert_int_equal(num_least(f->t, num_add(f->t, num_mul(f->t, num_int(3), f->n), f->h)), 4);
	assert_int_equal(num_least(f->t, num_sub(f->t, f->n, f->h)), INT64_MIN);
	assert_int_equal(num_least(f->t, fresh), 0);
	/* a symbol is at least 1 */
	assert_true(num_is(num_min(f->t, f->n, num_int(1)), 1));
	assert_true(num_same(num_max(f->t, num_int(0), f->n), f->n));
	assert_true(num_same(num_max(f->t, num_int(0), num_sub(f->t, f->n, num_int(1))),
			     num_sub(f->t, f->n, num_int(1))));
	check(f, num_max(f->t, f->n, num_int(5)), "max(N, 5)");
	num less = num_min(f->t, f->n, num_int(512));
	assert_true(num_same(num_min(f->t, f->n, less), less));
	assert_true(num_same(num_min(f->t, less, f->n), less));
	assert_true(num_same(num_max(f->t, less, f->n), f->n));
	assert_true(num_same(num_max(f->t, num_int(5), f->n), num_max(f->t, f->n, num_int(5))));
	assert_string_equal(num_why_fresh(f->t, num_add(f->t, fresh, f->n)),
			    "elements that are not zero");
	assert_null(num_why_fresh(f->t, f->n));
	assert_false(num_same(fresh, num_fresh(f->t, "elements that are not zero")));
}

static void test_fixed(void **state)
{
	fixture *f = *state;

	num_fix(f->t, "B", 8);
	assert_false(num_symbol_used(f->t, "B"));
	assert_true(num_is(num_symbol(f->t, "B"), 8));
	assert_true(num_symbol_used(f->t, "B"));
}

static void test_none(void **state)
{
	fixture *f = *state;
	num none = num_none(f->t, "its rank is not %s", "known");

	assert_string_equal(num_why_none(num_add(f->t, f->n, num_mul(f->t, none, f->h))),
			    "its rank is not known");
	check(f, none, "?");
}

/* Expressions that grow without end become none, they do not grow. */
static void test_bounded(void **state)
{
	fixture *f = *state;
	num power = num_int(1), sum = num_int(0);

	for (int i = 0; i < 64; i++) {
		char name[16];
		snprintf(name, sizeof name, "s%d", i);
		sum = num_add(f->t, sum, num_symbol(f->t, name));
	}
	assert_null(num_why_none(sum));
	for (int i = 0; i < 8; i++)
		power = num_mul(f->t, power, sum);
	assert_non_null(num_why_none(power));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_integers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_polynomials, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_division, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_fixed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_none, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
