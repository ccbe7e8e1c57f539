/* Symbolic integers: equal expressions are one object, and arithmetic on them is exact.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/sym_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
	mem_arena *arena;
	sym_table *t;
	sym_int n, h;
} fixture;

static int setup(void **state)
{
	static fixture f;

	f.arena = mem_arena_new(0);
	f.t = sym_table_new(f.arena);
	f.n = sym_symbol(f.t, "N");
	f.h = sym_symbol(f.t, "H");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	mem_arena_free(((fixture *)*state)->arena);
	return 0;
}

static void check(fixture *f, sym_int got, const char *text)
{
	assert_string_equal(sym_text(f->t, got), text);
}

static void test_integers(void **state)
{
	fixture *f = *state;

	assert_true(sym_is(sym_add(f->t, sym_const(2), sym_const(3)), 5));
	assert_true(sym_is(sym_floor_div(f->t, sym_const(-7), sym_const(2)), -4));
	assert_true(sym_is(sym_ceil_div(f->t, sym_const(7), sym_const(2)), 4));
	assert_true(sym_is(sym_max(f->t, sym_const(-1), sym_const(1)), 1));
	assert_non_null(sym_unknown_reason(sym_mul(f->t, sym_const(INT64_MAX), sym_const(2))));
	assert_non_null(sym_unknown_reason(sym_add(f->t, sym_const(INT64_MAX), sym_const(1))));
	assert_non_null(sym_unknown_reason(sym_sub(f->t, sym_const(INT64_MIN), sym_const(1))));
	assert_non_null(sym_unknown_reason(sym_floor_div(f->t, sym_const(1), sym_const(0))));
	assert_non_null(
	    sym_unknown_reason(sym_floor_div(f->t, sym_const(INT64_MIN), sym_const(-1))));
	/* zero times an unknown size is zero */
	assert_true(sym_is(sym_mul(f->t, sym_const(0), sym_unknown(f->t, "why")), 0));
}

static void test_polynomials(void **state)
{
	fixture *f = *state;
	sym_int n1 = sym_add(f->t, f->n, sym_const(1)), square = sym_mul(f->t, n1, n1);

	check(f, n1, "N+1");
	check(f, square, "N^2+2*N+1");
	check(f, sym_mul(f->t, sym_const(-3), f->n), "-3*N");
	check(f, sym_sub(f->t, sym_mul(f->t, f->n, f->h), f->h), "N*H-H");
	/* built in another order, the same object */
	assert_true(sym_same(sym_add(f->t, f->h, f->n), sym_add(f->t, f->n, f->h)));
	assert_true(sym_is(sym_sub(f->t, square, square), 0));
	assert_true(sym_same(sym_symbol(f->t, "N"), f->n));
	assert_false(sym_same(f->n, f->h));
}

static void test_division(void **state)
{
	fixture *f = *state;
	sym_int n1 = sym_add(f->t, f->n, sym_const(1)), square = sym_mul(f->t, n1, n1), q;

	assert_true(sym_div_exact(f->t, square, n1, &q));
	assert_true(sym_same(q, n1));
	assert_false(sym_div_exact(f->t, square, f->n, &q));
	assert_true(sym_div_exact(f->t, sym_mul(f->t, sym_const(12), f->n), sym_const(4), &q));
	check(f, q, "3*N");
	assert_false(sym_div_exact(f->t, f->n, sym_const(0), &q));
	check(f, sym_floor_div(f->t, sym_mul(f->t, sym_const(4), f->n), sym_const(2)), "2*N");
	/* (2N + 3) / 2 = N + 1 */
	check(f,
	      sym_floor_div(f->t, sym_add(f->t, sym_mul(f->t, sym_const(2), f->n), sym_const(3)),
			    sym_const(2)),
	      "N+1");
	check(f, sym_floor_div(f->t, sym_sub(f->t, f->h, sym_const(1)), sym_const(2)),
	      "floor((H+1)/2)-1");
	assert_true(sym_same(sym_floor_div(f->t, f->h, sym_const(2)),
			     sym_floor_div(f->t, sym_symbol(f->t, "H"), sym_const(2))));
	check(f, sym_floor_div(f->t, f->h, f->n), "floor((H)/(N))");
}

/* floor((floor(x/m) + k)/b) has one floor, with the value of both. */
static void nested_floors(void **state)
{
	fixture *f = *state;
	const sym_int two = sym_const(2), one = sym_const(1);
	sym_int x = f->h;

	for (int i = 0; i < 3; i++) /* a convolution of stride 2 each */
		x = sym_add(f->t, sym_floor_div(f->t, sym_sub(f->t, x, one), two), one);
	check(f, x, "floor((H+7)/8)");
	x = sym_floor_div(f->t,
			  sym_add(f->t, sym_floor_div(f->t, f->h, sym_const(3)), sym_const(5)),
			  sym_const(4));
	check(f, x, "floor((H+3)/12)+1");
	for (int64_t h = -30; h < 60; h++) {
		const sym_int n = sym_floor_div(
		    f->t,
		    sym_add(f->t, sym_floor_div(f->t, sym_const(h), sym_const(3)), sym_const(5)),
		    sym_const(4));
		assert_int_equal(n.v, sym_floor_div(f->t, sym_const(h + 3), sym_const(12)).v + 1);
	}
	/* Not where the inner one has a factor, or the divisor would not fit. */
	x = sym_mul(f->t, two, sym_floor_div(f->t, f->h, sym_const(3)));
	check(f, sym_floor_div(f->t, x, sym_const(5)), "floor((2*floor((H)/3))/5)");
	x = sym_floor_div(f->t, f->h, sym_const(INT64_MAX / 2));
	check(f, sym_floor_div(f->t, x, sym_const(3)), "floor((floor((H)/4611686018427387903))/3)");
}

static void test_bounds(void **state)
{
	fixture *f = *state;
	sym_int fresh = sym_unbacked(f->t, "elements that are not zero");

	assert_int_equal(sym_lower_bound(f->t, f->n), 1);
	assert_int_equal(
	    sym_lower_bound(f->t, sym_add(f->t, sym_mul(f->t, sym_const(3), f->n), f->h)), 4);
	assert_int_equal(sym_lower_bound(f->t, sym_sub(f->t, f->n, f->h)), INT64_MIN);
	assert_int_equal(sym_lower_bound(f->t, fresh), 0);
	/* a symbol is at least 1 */
	assert_true(sym_is(sym_min(f->t, f->n, sym_const(1)), 1));
	assert_true(sym_same(sym_max(f->t, sym_const(0), f->n), f->n));
	assert_true(sym_same(sym_max(f->t, sym_const(0), sym_sub(f->t, f->n, sym_const(1))),
			     sym_sub(f->t, f->n, sym_const(1))));
	check(f, sym_max(f->t, f->n, sym_const(5)), "max(N, 5)");
	sym_int less = sym_min(f->t, f->n, sym_const(512));
	assert_true(sym_same(sym_min(f->t, f->n, less), less));
	assert_true(sym_same(sym_min(f->t, less, f->n), less));
	assert_true(sym_same(sym_max(f->t, less, f->n), f->n));
	assert_true(sym_same(sym_max(f->t, sym_const(5), f->n), sym_max(f->t, f->n, sym_const(5))));
	assert_string_equal(sym_why_fresh(f->t, sym_add(f->t, fresh, f->n)),
			    "elements that are not zero");
	assert_null(sym_why_fresh(f->t, f->n));
	assert_false(sym_same(fresh, sym_unbacked(f->t, "elements that are not zero")));
}

static void test_fixed(void **state)
{
	fixture *f = *state;

	sym_bind(f->t, "B", 8);
	assert_false(sym_symbol_used(f->t, "B"));
	assert_true(sym_is(sym_symbol(f->t, "B"), 8));
	assert_true(sym_symbol_used(f->t, "B"));
}

static void test_none(void **state)
{
	fixture *f = *state;
	sym_int none = sym_unknown(f->t, "its rank is not %s", "known");

	assert_string_equal(sym_unknown_reason(sym_add(f->t, f->n, sym_mul(f->t, none, f->h))),
			    "its rank is not known");
	check(f, none, "?");
}

/* Compares the terms of n, and whether they are exact. */
static void check_terms(fixture *f, sym_int n, const char *want, bool exact)
{
	sym_term terms[NUM_TERMS_MAX];
	char got[256] = "";
	bool is_exact = !exact;
	size_t count = sym_terms(f->t, n, terms, &is_exact);

	for (size_t i = 0; i < count; i++) {
		size_t at = strlen(got);
		snprintf(got + at, sizeof got - at, "%s%g*%s", i ? " " : "", terms[i].coef,
			 sym_text(f->t, terms[i].of));
	}
	assert_string_equal(got, want);
	if (count)
		assert_int_equal(is_exact, exact);
}

static sym_int halved(fixture *f, sym_int n)
{
	return sym_floor_div(f->t, sym_add(f->t, n, sym_const(1)), sym_const(2));
}

/* Terms, most factors first; a rounded division counts as exact where it divides. */
static void test_terms(void **state)
{
	fixture *f = *state;
	sym_table *t = f->t;
	sym_int nh = sym_mul(t, f->n, f->h), half = halved(f, f->h), quarter = halved(f, half);
	sym_int u = sym_unbacked(t, "what is not zero"), deep = f->h;
	const char *name, *what;

	check_terms(f, sym_const(0), "", true);
	check_terms(f, sym_unknown(t, "no"), "", true);
	check_terms(f, sym_const(7), "7*1", true);
	check_terms(f, f->n, "1*N", true);
	check_terms(f,
		    sym_add(t, sym_mul(t, nh, sym_const(3)),
			    sym_sub(t, sym_mul(t, f->n, sym_const(90)), sym_const(4))),
		    "3*N*H 90*N -4*1", true);
	check_terms(f, sym_mul(t, half, f->n), "0.5*N*H", false);
	check_terms(f, sym_mul(t, quarter, quarter), "0.0625*H^2", false);
	/* Upsampled or not: equal if 4 divides H. */
	check_terms(f, sym_max(t, half, sym_mul(t, sym_const(2), quarter)), "0.5*H", false);
	check_terms(f, sym_min(t, f->h, sym_const(600)), "600*1", false);
	check_terms(f, sym_max(t, f->h, sym_const(600)), "1*H", false);
	/* Divided by a symbolic size: unchanged. */
	sym_int over = sym_floor_div(t, f->h, f->n);
	check_terms(f, sym_mul(t, over, sym_const(5)), "5*floor((H)/(N))", true);
	check_terms(f, sym_mul(t, sym_mul(t, u, f->n), sym_const(2)), "2*N*u1", true);
	assert_true(sym_factor(t, sym_mul(t, u, f->n), 0, &name, &what));
	assert_string_equal(name, "N");
	assert_null(what);
	assert_true(sym_factor(t, sym_mul(t, u, f->n), 1, &name, &what));
	assert_string_equal(name, "u1");
	assert_string_equal(what, "what is not zero");
	assert_false(sym_factor(t, f->n, 1, &name, &what));
	assert_false(sym_factor(t, sym_const(3), 0, &name, &what));
	/* A choice is not a size, whatever its description. */
	sym_int taken = sym_choice(t, "which branch is taken");
	assert_true(sym_has_choice(t, sym_mul(t, taken, f->n)));
	assert_false(sym_has_choice(t, sym_unbacked(t, "which branch is taken")));
	assert_false(sym_has_choice(t, f->n));
	assert_false(sym_has_choice(t, sym_const(3)));
	/* Deep, and twice as wide at each level: the evaluation terminates. */
	for (int i = 0; i < 60; i++)
		deep = sym_floor_div(
		    t, sym_max(t, sym_add(t, deep, sym_const(i)), sym_mul(t, f->n, deep)),
		    sym_const(3));
	sym_term terms[NUM_TERMS_MAX];
	bool exact;
	(void)sym_terms(t, deep, terms, &exact);
}

static void test_bounded(void **state)
{
	fixture *f = *state;
	sym_int power = sym_const(1), sum = sym_const(0);

	for (int i = 0; i < 64; i++) {
		char name[16];
		snprintf(name, sizeof name, "s%d", i);
		sum = sym_add(f->t, sum, sym_symbol(f->t, name));
	}
	assert_null(sym_unknown_reason(sum));
	for (int i = 0; i < 8; i++)
		power = sym_mul(f->t, power, sum);
	assert_non_null(sym_unknown_reason(power));
}

int test_cost_num(void);
int test_cost_num(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_integers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_polynomials, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_division, setup, teardown),
	    cmocka_unit_test_setup_teardown(nested_floors, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_fixed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_none, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_terms, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
