/* Open integers: equal expressions are one object, and arithmetic on them is exact.
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/polynomial.h"

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
static void check_terms(fixture *f, num n, const char *want, bool exact)
{
	num_term terms[NUM_TERMS_MAX];
	char got[256] = "";
	bool is_exact = !exact;
	size_t count = num_terms(f->t, n, terms, &is_exact);

	for (size_t i = 0; i < count; i++) {
		size_t at = strlen(got);
		snprintf(got + at, sizeof got - at, "%s%g*%s", i ? " " : "", terms[i].coef,
			 num_text(f->t, terms[i].of));
	}
	assert_string_equal(got, want);
	if (count)
		assert_int_equal(is_exact, exact);
}

static num halved(fixture *f, num n)
{
	return num_floor_div(f->t, num_add(f->t, n, num_int(1)), num_int(2));
}

/* Terms, those of most factors first, with what is rounded taken as it is where it divides. */
static void test_terms(void **state)
{
	fixture *f = *state;
	num_table *t = f->t;
	num nh = num_mul(t, f->n, f->h), half = halved(f, f->h), quarter = halved(f, half);
	num u = num_fresh(t, "what is not zero"), deep = f->h;
	const char *name, *what;

	check_terms(f, num_int(0), "", true);
	check_terms(f, num_none(t, "no"), "", true);
	check_terms(f, num_int(7), "7*1", true);
	check_terms(f, f->n, "1*N", true);
	check_terms(f,
		    num_add(t, num_mul(t, nh, num_int(3)),
			    num_sub(t, num_mul(t, f->n, num_int(90)), num_int(4))),
		    "3*N*H 90*N -4*1", true);
	check_terms(f, num_mul(t, half, f->n), "0.5*N*H", false);
	check_terms(f, num_mul(t, quarter, quarter), "0.0625*H^2", false);
	/* Upsampled and not: the same where 4 divides H. */
	check_terms(f, num_max(t, half, num_mul(t, num_int(2), quarter)), "0.5*H", false);
	check_terms(f, num_min(t, f->h, num_int(600)), "600*1", false);
	check_terms(f, num_max(t, f->h, num_int(600)), "1*H", false);
	/* By an open size: as it stands. */
	num over = num_floor_div(t, f->h, f->n);
	check_terms(f, num_mul(t, over, num_int(5)), "5*floor((H)/(N))", true);
	check_terms(f, num_mul(t, num_mul(t, u, f->n), num_int(2)), "2*N*u1", true);
	assert_true(num_factor(t, num_mul(t, u, f->n), 0, &name, &what));
	assert_string_equal(name, "N");
	assert_null(what);
	assert_true(num_factor(t, num_mul(t, u, f->n), 1, &name, &what));
	assert_string_equal(name, "u1");
	assert_string_equal(what, "what is not zero");
	assert_false(num_factor(t, f->n, 1, &name, &what));
	assert_false(num_factor(t, num_int(3), 0, &name, &what));
	/* Deep, and twice as wide at each level: it ends. */
	for (int i = 0; i < 60; i++)
		deep = num_floor_div(
		    t, num_max(t, num_add(t, deep, num_int(i)), num_mul(t, f->n, deep)),
		    num_int(3));
	num_term terms[NUM_TERMS_MAX];
	bool exact;
	(void)num_terms(t, deep, terms, &exact);
}

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
	    cmocka_unit_test_setup_teardown(test_terms, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
