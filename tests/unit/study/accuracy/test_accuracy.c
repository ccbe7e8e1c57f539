/* test_accuracy.c - predictions against labels through the public function: numbers, refusals, and
 * every failed allocation; and the report as text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/accuracy.h"
#include "deepclock/report.h"
#include "study/accuracy/accuracy_labels.h"
#include "fault_alloc.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char *const labels_file = "y.csv", *const predictions_file = "p.csv";

static void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static dck_accuracy_config config_of(const char *truth, const char *predictions)
{
	dck_accuracy_config c;

	file_write(labels_file, truth);
	file_write(predictions_file, predictions);
	dck_accuracy_config_init(&c);
	c.labels = labels_file;
	c.predictions = (dck_list){.item = {predictions_file}, .n = 1};
	return c;
}

static dck_record *report_of(const dck_accuracy_config *c)
{
	dck_record *r = NULL;
	dck_err err;

	if (dck_accuracy(NULL, 0, c, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static void refused(const dck_accuracy_config *c, dck_status code, const char *sentence)
{
	dck_record *r = NULL;
	dck_err err;

	assert_int_equal(dck_accuracy(NULL, 0, c, NULL, &r, &err), code);
	if (!strstr(err.msg, sentence))
		fail_msg("%s", err.msg);
	assert_null(r);
}

static void numbers_of_a_report(void **state)
{
	const dck_accuracy_config c = config_of("0\n1\n2\n2\n2\n", "0\n0\n2\n2\n1\n");
	dck_record *r = report_of(&c);
	const dck_metric *m = dck_record_metric(r, "accuracy/overall");

	(void)state;
	assert_true(dck_record_value(r, "accuracy/overall") == 0.6);
	assert_true(m->level == 0.95 && m->lo < 0.6 && m->hi > 0.6);
	assert_true(dck_record_value(r, "precision/0") == 0.5);
	assert_true(dck_record_value(r, "recall/2") == 2.0 / 3);
	assert_true(dck_record_value(r, "f1/2") == 0.8);
	assert_true(dck_record_value(r, "support/2") == 3);
	assert_true(dck_record_value(r, "recall/weighted") == 0.6);
	assert_int_equal(dck_record_table(r, "accuracy/classes")->nrows, 3);
	assert_int_equal(dck_record_table(r, "accuracy/confusion")->ncolumns, 4);
	assert_null(dck_record_table(r, "accuracy/alternatives"));
	dck_record_free(r);
}

static void the_report_as_text(void **state)
{
	static const char want[] = "Classification report\n"
				   "              precision    recall  f1-score   support\n"
				   "\n"
				   "     class 0       0.50      1.00      0.67         1\n"
				   "     class 1       0.00      0.00      0.00         1\n"
				   "     class 2       1.00      0.67      0.80         3\n"
				   "\n"
				   "    accuracy                           0.60         5\n"
				   "   macro avg       0.50      0.56      0.49         5\n"
				   "weighted avg       0.70      0.60      0.61         5\n";
	dck_accuracy_config c = config_of("0\n1\n2\n2\n2\n", "0\n0\n2\n2\n1\n");
	dck_buffer text = {0};
	const dck_record *all[1];
	dck_record *r;
	dck_sink out;

	(void)state;
	c.target_names = "class 0,class 1,class 2";
	all[0] = r = report_of(&c);
	dck_sink_buffer(&out, &text);
	assert_int_equal(dck_report("text", all, 1, &(dck_style){.details = true}, &out, NULL),
			 DCK_OK);
	assert_int_equal(dck_sink_finish(&out, NULL), DCK_OK);
	assert_non_null(strstr(text.data, want));
	dck_buffer_done(&text);
	dck_record_free(r);
}

static void refusals(void **state)
{
	dck_accuracy_config c = config_of("0\n1\n", "0\n1\n1\n");
	dck_subject s;
	dck_record *r;
	dck_err err;

	(void)state;
	refused(&c, DCK_E_ARG, "has 2 labels and");
	c = config_of("0\n1\n", "0\n1\n");
	c.rtol = "-1";
	refused(&c, DCK_E_ARG, "--rtol is '-1'");
	c.rtol = NULL;
	c.labels = "nothing/there";
	refused(&c, DCK_E_ABSENT, "cannot open 'nothing/there'");
	c.labels = NULL;
	refused(&c, DCK_E_ARG, "--predictions is for a classifier");
	c.predictions.n = 0;
	refused(&c, DCK_E_ARG, "give two models to compare");
	dck_subject_init(&s);
	const dck_alternative one[] = {{"A", &s}};
	assert_int_equal(dck_accuracy(one, 1, NULL, NULL, &r, &err), DCK_E_ARG);
	assert_int_equal(dck_accuracy(one, 17, NULL, NULL, &r, &err), DCK_E_ARG);
}

/* The line pointers count against the limit too. */
static void lines_have_a_limit(void **state)
{
	const dck_arrays none = {0};
	mem_arena *a = mem_arena_new(0);
	char text[601];
	labels l;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < 600; i += 2)
		memcpy(text + i, "1\n", 3);
	file_write(labels_file, text);
	assert_int_equal(labels_read(a, labels_file, &none, 1000, true, NULL, &l, &err),
			 DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, "301 lines"));
	assert_int_equal(labels_read(a, labels_file, &none, 5000, true, NULL, &l, &err), DCK_OK);
	assert_int_equal(l.n, 300);
	mem_arena_free(a);
}

static void every_allocation_may_fail(void **state)
{
	dck_accuracy_config c =
	    config_of("label\ncat\n\"dog\"\ncow\ncow\n", "cat\ncat\ncow\nant\n");
	dck_status status = DCK_E_NOMEM;

	(void)state;
	c.label_list = "cow,cat,ant,dog";
	c.target_names = "1,2,3,4";
	for (size_t at = 1; status != DCK_OK; at++) {
		dck_record *r = NULL;
		fault_alloc f;
		dck_err err;

		fault_alloc_begin(&f, at);
		status = dck_accuracy(NULL, 0, &c, NULL, &r, &err);
		if (status != DCK_OK)
			assert_int_equal(status, DCK_E_NOMEM);
		else
			dck_record_free(r);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
		assert_true(at < 10000);
	}
}

int test_accuracy(void);
int test_accuracy(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_of_a_report),
	    cmocka_unit_test(the_report_as_text),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(lines_have_a_limit),
	    cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
