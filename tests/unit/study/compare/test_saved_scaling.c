/* test_saved_scaling.c - scaling efficiency of jobs of different sizes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "saved_build.h"
#include <math.h>

int test_saved_scaling(void);

enum { WEAK = 1, STRONG = 2 };

/* A job whose step takes v, known to 10 %. */
static dck_record *job(const char *name, int64_t ranks, double v)
{
	record_builder *b = saved_begin(name, name);

	record_fact_int(b, "job", "ranks", DCK_UNIT_ONE, ranks);
	record_metric_interval(b, "ranks/step", v, v / 1.1, v * 1.1, 0.95, "made up");
	return saved_end(b);
}

static const dck_cell *scaling_cell(const dck_record *r, size_t row, const char *key)
{
	const dck_table *t = dck_record_table(r, "compare/scaling");

	assert_non_null(t);
	return dck_table_cell(t, row, key);
}

static void weak_and_strong(void **state)
{
	/* Weak: 10 ms, then 12.5 ms with the same work for each: 80 %. Strong: 10 ms, then 3.125 ms
	 * with a quarter of it: 80 % too. */
	static const struct {
		int scaling;
		double v, speedup;
	} cases[] = {{WEAK, 12.5e6, 3.2}, {STRONG, 3.125e6, 3.2}};
	const double half = pow(1.1, sqrt(2));

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		dck_record *one = job("one", 2, 10e6), *many = job("many", 8, cases[i].v), *r;
		dck_compare_config c = plain();

		c.scaling = cases[i].scaling;
		r = compare_two(one, many, &c);
		assert_string_equal(fact_text(r, "compare", "metric"), "ranks/step");
		assert_string_equal(fact_text(r, "compare", "scaling"),
				    dck_compare_scalings[cases[i].scaling]);
		assert_true(fabs(dck_record_value(r, "compare/ratio") - 1.25) < 1e-12);
		const dck_cell *e = scaling_cell(r, 1, "efficiency");
		assert_true(fabs(e->value.as.r - 0.8) < 1e-12);
		assert_true(fabs(e->lo - 0.8 / half) < 1e-9 && fabs(e->hi - 0.8 * half) < 1e-9);
		assert_true(fabs(scaling_cell(r, 1, "speedup")->value.as.r - cases[i].speedup) <
			    1e-12);
		assert_int_equal(scaling_cell(r, 1, "ranks")->value.as.i, 8);
		assert_non_null(strstr(fact_text(r, "result", "answer"),
				       "scaling from 2 to 8 ranks has an efficiency of 80"));
		assert_null(dck_record_note(r, "ranks-sizes"));
		dck_record_free(r);
		dck_record_free(one);
		dck_record_free(many);
	}
}

static void sizes_are_noted_and_checked(void **state)
{
	dck_record *one = job("one", 2, 10e6), *many = job("many", 8, 10e6), *r;
	const dck_record *same[] = {one, one};
	record_builder *b = saved_begin("other", "other");
	dck_compare_config c;
	dck_err err;

	(void)state;
	dck_compare_config_init(&c);
	r = compare_two(one, many, &c);
	assert_string_equal(fact_text(r, "compare", "metric"), "ranks/step");
	assert_non_null(dck_record_note(r, "ranks-sizes"));
	dck_record_free(r);
	c.scaling = WEAK;
	assert_int_equal(dck_compare_records(same, 2, &c, &r, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "different sizes"));
	record_metric_real(b, "ranks/step", 1e6, "made up");
	dck_record *other = saved_end(b);
	const dck_record *foreign[] = {one, other};
	assert_int_equal(dck_compare_records(foreign, 2, &c, &r, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "not the record of a job"));
	dck_record_free(other);
	dck_record_free(one);
	dck_record_free(many);
}

int test_saved_scaling(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(weak_and_strong),
	    cmocka_unit_test(sizes_are_noted_and_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
