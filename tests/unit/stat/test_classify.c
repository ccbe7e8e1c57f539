/* test_classify.c - class counts, rates and averages equal those of scikit-learn.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define K 300

static stat_class of[K];
static stat_classes all;
static double scratch[K];

static void classify(const uint32_t *truth, const uint32_t *predicted, size_t n, size_t k)
{
	stat_classify(truth, predicted, n, k, scratch, of, &all);
}

static void near(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-12 * fmax(fabs(b), 1));
}

/* The example in the documentation of classification_report. */
static void three_classes(void **state)
{
	const uint32_t truth[] = {0, 1, 2, 2, 2}, predicted[] = {0, 0, 2, 2, 1};

	(void)state;
	classify(truth, predicted, 5, 3);
	near(of[0].precision, 0.5);
	near(of[0].recall, 1);
	near(of[0].f1, 2.0 / 3);
	near(of[1].precision, 0);
	near(of[1].f1, 0);
	near(of[2].precision, 1);
	near(of[2].recall, 2.0 / 3);
	near(of[2].f1, 0.8);
	assert_int_equal(of[2].support, 3);
	assert_int_equal(all.hits, 3);
	assert_int_equal(all.support, 5);
	near(all.micro.f1, 0.6);
	near(all.macro.precision, 0.5);
	near(all.macro.recall, 5.0 / 9);
	near(all.macro.f1, 22.0 / 45);
	near(all.weighted.precision, 0.7);
	near(all.weighted.recall, 0.6);
	near(all.weighted.f1, (2.0 / 3 + 2.4) / 5);
	assert_int_equal(all.never_predicted, 0);
	assert_int_equal(all.empty, 0);
}

static void classes_without_predictions_or_items(void **state)
{
	const uint32_t truth[] = {0, 0, 1}, predicted[] = {0, 0, 2};

	(void)state;
	classify(truth, predicted, 3, 4);
	assert_int_equal(all.never_predicted, 2); /* classes 1 and 3 */
	assert_int_equal(all.empty, 2);		  /* classes 2 and 3 */
	near(of[1].precision, 0);
	near(of[2].recall, 0);
	near(of[3].f1, 0);
	near(all.macro.recall, 0.25);
	near(all.weighted.recall, 2.0 / 3);
}

/* With a subset of the labels the others are no class: micro precision and recall differ. */
static void a_part_of_the_labels(void **state)
{
	const uint32_t truth[] = {0, 0, 9, 1}, predicted[] = {0, 9, 0, 1};

	(void)state;
	classify(truth, predicted, 4, 1);
	assert_int_equal(all.support, 2);
	assert_int_equal(all.hits, 1);
	near(all.micro.precision, 0.5);
	near(all.micro.recall, 0.5);
	classify(truth, predicted, 4, 2);
	near(all.micro.precision, 2.0 / 3);
	/* 9 is not a hit, though truth and prediction agree */
	const uint32_t none[] = {9, 9};
	classify(none, none, 2, 2);
	assert_int_equal(all.hits, 0);
	near(all.weighted.precision, 0);
}

static void nothing(void **state)
{
	(void)state;
	classify(NULL, NULL, 0, 2);
	assert_int_equal(all.n, 0);
	near(all.micro.f1, 0);
	near(all.macro.f1, 0);
	classify(NULL, NULL, 0, 0);
	near(all.macro.f1, 0);
}

/* 257 classes with thirds: only NumPy's order of summation gives NumPy's bits. */
static void the_average_adds_up_as_numpy_does(void **state)
{
	static uint32_t truth[3 * K], predicted[3 * K];
	const size_t k = 257;
	double plain = 0;

	(void)state;
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = 0; j < 3; j++) {
			truth[3 * i + j] = i;
			predicted[3 * i + j] = j < i % 3 + 1 ? i : (i + 1) % (uint32_t)k;
		}
	classify(truth, predicted, 3 * k, k);
	for (size_t i = 0; i < k; i++)
		plain += of[i].f1;
	assert_true(plain / (double)k != all.macro.f1);
	/* numpy.average of the same values */
	assert_true(all.macro.recall == 0x1.54ab54ab54ab5p-1);
	assert_true(all.macro.f1 == 0x1.4884488448844p-1);
	assert_true(all.weighted.f1 == 0x1.4884488448844p-1);
}

static void the_interval_of_a_share(void **state)
{
	double lo, hi;

	(void)state;
	/* Clopper and Pearson's: R's binom.test(3, 10)$conf.int */
	stat_proportion(3, 10, 0.95, &lo, &hi);
	assert_true(fabs(lo - 0.06673951) < 1e-7 && fabs(hi - 0.6524529) < 1e-7);
	stat_proportion(0, 10, 0.95, &lo, &hi);
	assert_true(lo == 0 && fabs(hi - 0.3084971) < 1e-7);
	stat_proportion(10, 10, 0.95, &lo, &hi);
	assert_true(hi == 1 && fabs(lo - 0.6915029) < 1e-7);
}

static void two_classifiers(void **state)
{
	(void)state;
	near(stat_mcnemar(0, 0), 1);
	near(stat_mcnemar(5, 5), 1);
	near(stat_mcnemar(0, 5), 2 / 32.0);
	near(stat_mcnemar(5, 0), 2 / 32.0);
	near(stat_mcnemar(1, 9), 2 * 11 / 1024.0);
	near(stat_mcnemar(4, 5), 1);
	assert_true(stat_mcnemar(0, 2000) < 1e-300);
}

int test_classify(void);
int test_classify(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(three_classes),
	    cmocka_unit_test(classes_without_predictions_or_items),
	    cmocka_unit_test(a_part_of_the_labels),
	    cmocka_unit_test(nothing),
	    cmocka_unit_test(the_average_adds_up_as_numpy_does),
	    cmocka_unit_test(the_interval_of_a_share),
	    cmocka_unit_test(two_classifiers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
