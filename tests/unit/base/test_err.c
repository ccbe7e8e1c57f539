/* Tests of base/err.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void names_and_texts(void **state)
{
	(void)state;
	char numbers[32];

	snprintf(numbers, sizeof numbers, "%d.%d.%d", DCK_VERSION_MAJOR, DCK_VERSION_MINOR,
		 DCK_VERSION_PATCH);
	assert_string_equal(dck_version(), DCK_VERSION);
	assert_memory_equal(dck_version(), numbers, strlen(numbers));
	assert_string_equal(dck_status_name(DCK_OK), "OK");
	assert_string_equal(dck_status_name(DCK_E_CANCEL), "E_CANCEL");
	assert_string_equal(dck_status_text(DCK_E_NOMEM), "out of memory");
	assert_string_equal(dck_status_name((dck_status)-99), "E_?");
	assert_string_equal(dck_status_text((dck_status)1), "unknown status");
}

static dck_status fails(dck_err *err)
{
	DCK_FAIL(err, E_FORMAT, "'%s' is not a model", "a.onnx");
}

static dck_status tries(dck_err *err)
{
	DCK_TRY(fails(err));
	return DCK_OK;
}

static void set_fills_everything(void **state)
{
	(void)state;
	dck_err e = {.native_code = 7};
	assert_int_equal(tries(&e), DCK_E_FORMAT);
	assert_int_equal(e.code, DCK_E_FORMAT);
	assert_int_equal(e.native_code, 0);
	assert_true(e.line > 0);
	assert_non_null(strstr(e.file, "test_err.c"));
	assert_string_equal(e.msg, "'a.onnx' is not a model");
	assert_int_equal(tries(NULL), DCK_E_FORMAT);
}

static void errno_is_explained(void **state)
{
	(void)state;
	dck_err e;
	assert_int_equal(err_set_errno(&e, DCK_E_IO, "f", 1, ENOSPC, "cannot write '%s'", "x"),
			 DCK_E_IO);
	assert_string_equal(e.msg, "cannot write 'x': No space left on device");
	assert_int_equal(e.native_code, ENOSPC);
	assert_int_equal(err_set_errno(NULL, DCK_E_IO, "f", 1, ENOSPC, "x"), DCK_E_IO);
	assert_int_equal(err_set_errno(NULL, DCK_E_IO, "f", 1, ENOMEM, "x"), DCK_E_NOMEM);
	assert_int_equal(err_set_errno(&e, DCK_E_IO, "f", 1, ENOMEM, "x"), DCK_E_NOMEM);
	assert_int_equal(e.code, DCK_E_NOMEM);
}

static void context_is_put_in_front(void **state)
{
	(void)state;
	dck_err e;
	err_set_errno(&e, DCK_E_IO, "f", 1, ENOENT, "cannot open 'a.onnx'");
	assert_int_equal(err_while(&e, e.code, "opening the model with engine '%s'", "ort"),
			 DCK_E_IO);
	assert_string_equal(e.msg, "while opening the model with engine 'ort': cannot open "
				   "'a.onnx': No such file or directory");
	assert_int_equal(e.native_code, ENOENT);
	assert_int_equal(err_while(NULL, DCK_E_ARG, "x"), DCK_E_ARG);
}

static void too_long_is_cut_and_seen(void **state)
{
	(void)state;
	dck_err e;
	char text[2000];
	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	err_set(&e, DCK_E_ARG, "f", 1, "%s", text);
	assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
	assert_string_equal(e.msg + sizeof e.msg - 5, "a...");
	/* A message of exactly the buffer's size stays whole. */
	err_set(&e, DCK_E_ARG, "f", 1, "%.487s", text);
	assert_string_equal(e.msg + 486, "a");
	/* The context stays; the end of the inner message is cut. */
	err_while(&e, DCK_E_ARG, "reading");
	assert_memory_equal(e.msg, "while reading: aaa", 18);
	assert_string_equal(e.msg + sizeof e.msg - 4, "...");
}

static void never_cut_inside_a_character(void **state)
{
	(void)state;
	for (int shift = 0; shift < 3; shift++) {
		dck_err e;
		char text[1200] = "";
		memset(text, 'a', (size_t)shift);
		for (int i = 0; i < 300; i++)
			memcpy(text + shift + 3 * i, "\xe2\x82\xac", 4); /* the euro sign */
		err_set(&e, DCK_E_ARG, "f", 1, "%s", text);
		size_t n = strlen(e.msg);
		assert_string_equal(e.msg + n - 6, "\xe2\x82\xac...");
	}
}

static void controls_become_spaces(void **state)
{
	(void)state;
	dck_err e;
	err_set(&e, DCK_E_ENGINE, "f", 1, "a\nb\tc\x1b[1m\x7f");
	assert_string_equal(e.msg, "a b c [1m ");
}

static void arguments_may_be_the_message(void **state)
{
	(void)state;
	dck_err e;
	err_set(&e, DCK_E_ARG, "f", 1, "inner");
	err_set(&e, DCK_E_ARG, "f", 1, "outer: %s", e.msg);
	assert_string_equal(e.msg, "outer: inner");
	err_while(&e, DCK_E_ARG, "%s", e.msg);
	assert_string_equal(e.msg, "while outer: inner: outer: inner");
}

int test_err(void);
int test_err(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_and_texts),
	    cmocka_unit_test(set_fills_everything),
	    cmocka_unit_test(errno_is_explained),
	    cmocka_unit_test(context_is_put_in_front),
	    cmocka_unit_test(too_long_is_cut_and_seen),
	    cmocka_unit_test(never_cut_inside_a_character),
	    cmocka_unit_test(controls_become_spaces),
	    cmocka_unit_test(arguments_may_be_the_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
