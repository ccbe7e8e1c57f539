/* hangs.c - a case that ends, and one that hangs with a child process: for limit_test.py.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static unsigned set_up;

static int sets_up(void **state)
{
	(void)state;
	set_up++;
	return 0;
}

static void ends(void **state)
{
	(void)state;
	assert_int_equal(set_up, 1);
}

static void hangs(void **state)
{
	(void)state;
	const pid_t child = fork();

	if (child) {
		printf("child %d\n", (int)child);
		fflush(stdout);
	}
	for (;;)
		pause();
}

int test_hangs(void);
int test_hangs(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(ends, sets_up, NULL),
	    cmocka_unit_test(hangs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
