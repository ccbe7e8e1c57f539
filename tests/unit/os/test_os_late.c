/* Tests of libraries: one that is loaded on first use, a missing one, one that lacks a function,
 * one whose end is missing.
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

#include "scratch.h"
#include "os/os.h"

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

/* Copies up to `most` bytes of this program. */
static void copy_part(const char *to, size_t most)
{
	static char bytes[4096];
	FILE *from = fopen("/proc/self/exe", "rb"), *f = fopen(to, "wb");
	size_t n = 1;

	assert_true(from && f);
	for (; most > 0 && n > 0; most -= n) {
		n = fread(bytes, 1, most < sizeof bytes ? most : sizeof bytes, from);
		assert_true(fwrite(bytes, 1, n, f) == n);
	}
	assert_int_equal(fclose(from) + fclose(f), 0);
}

/* The loader would map it and crash. */
static void a_library_that_is_cut(void **state)
{
	os_library *l;
	dck_err e;

	(void)state;
	copy_part("whole.so", SIZE_MAX);
	copy_part("cut.so", 10000);
	copy_part("none.so", 0);
	assert_false(os_library_is_cut("whole.so"));
	assert_true(os_library_is_cut("cut.so"));
	assert_false(os_library_is_cut("none.so") || os_library_is_cut("missing.so"));
	assert_int_equal(os_library_open("./cut.so", &l, &e), DCK_E_ABSENT);
	assert_string_equal(e.msg, "cannot load './cut.so': the end of the file is missing");
	assert_int_equal(os_library_open("./none.so", &l, &e), DCK_E_ABSENT);
}

int test_os_late(void);
int test_os_late(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loads_once),
	    cmocka_unit_test(says_what_is_not_there),
	    SCRATCH_TEST(a_library_that_is_cut),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
