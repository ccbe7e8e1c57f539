/* Tests of lazy loading: a library that is loaded on first use, a missing one, one that lacks a
 * function.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/process/lazy_library.h"

#include <math.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define FUNCTIONS(X) X(, floor) X(, pow)
static struct functions {
	FUNCTIONS(OS_LAZY_MEMBER)
} functions;
static const char *const names[] = {FUNCTIONS(OS_LAZY_NAME)};

static void loads_once(void **state)
{
	os_lazy_library l = OS_LAZY("libm.so.6", "a test", names, functions);

	(void)state;
	assert_int_equal(os_lazy_load(&l, NULL), DCK_OK);
	assert_true(functions.floor(2.5) == 2 && functions.pow(3, 2) == 9);
	l.file = "no-such-library.so";
	assert_int_equal(os_lazy_load(&l, NULL), DCK_OK);
}

static void says_what_is_not_there(void **state)
{
	static const char *const wrong[] = {"floor", "no_such_function"};
	os_lazy_library none = OS_LAZY("no-such-library.so", "a test", names, functions);
	os_lazy_library old = OS_LAZY("libm.so.6", "a test", wrong, functions);
	dck_err e;

	(void)state;
	assert_int_equal(os_lazy_load(&none, &e), DCK_E_ABSENT);
	assert_ptr_equal(strstr(e.msg, "a test needs a library that cannot be loaded: "), e.msg);
	assert_non_null(strstr(e.msg, "no-such-library.so"));
	assert_int_equal(os_lazy_load(&old, &e), DCK_E_ABSENT);
	assert_string_equal(e.msg,
			    "a test needs a newer library: 'libm.so.6' has no no_such_function");
}

int test_os_late(void);
int test_os_late(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loads_once),
	    cmocka_unit_test(says_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
