/* test_opt_text.c - the text of an option's value parses back to the value.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/opt_text.h"
#include "deepclock/unstable.h"

typedef struct config {
	bool flag;
	uint64_t count, time, bytes;
	double real, share;
	const char *text;
	int choice;
	dck_list list;
} config;

static const char *const choices[] = {"low", "high", NULL};
static const dck_opt table[] = {
    DCK_FLAG(config, flag, "flag", "help"),
    DCK_OPTION(COUNT, config, count, "count", "N", NULL, "help"),
    DCK_OPTION(TIME, config, time, "time", "TIME", NULL, "help"),
    DCK_OPTION(BYTES, config, bytes, "bytes", "SIZE", NULL, "help"),
    DCK_OPTION(REAL, config, real, "real", "X", NULL, "help"),
    DCK_OPTION(SHARE, config, share, "share", "P", NULL, "help"),
    DCK_OPTION(TEXT, config, text, "text", "TEXT", NULL, "help"),
    DCK_OPTION(CHOICE, config, choice, "choice", "C", "low", "help", .choices = choices),
    {0},
};

static void is_read_again(void **state)
{
	const config values[] = {
	    {.flag = true, .count = 18446744073709551615u, .time = 1, .bytes = 65537},
	    {.real = 0.1, .share = 1, .text = "a b", .choice = 1},
	    {.real = -1e-300, .share = 0.3, .text = "", .time = 86400000000000u},
	};

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		mem_arena *a = mem_arena_new(0);
		config again;

		assert_non_null(a);
		assert_int_equal(dck_opt_defaults(table, &again, NULL), DCK_OK);
		for (const dck_opt *o = table; o->name; o++) {
			const char *text = opt_text(a, o, &values[i]);

			if (text)
				assert_int_equal(dck_opt_read(o, &again, text, NULL), DCK_OK);
			assert_true(opt_same(o, &values[i], &again));
		}
		mem_arena_free(a);
	}
}

static void differs_in_one_item(void **state)
{
	static const dck_opt row = DCK_OPTION(LIST, config, list, "list", "ITEM", NULL, "help");
	const config a = {.list = {{"x", "y"}, 2}}, b = {.list = {{"x", "z"}, 2}},
		     c = {.list = {{"x"}, 1}};

	(void)state;
	assert_true(opt_same(&row, &a, &a));
	assert_false(opt_same(&row, &a, &b));
	assert_false(opt_same(&row, &a, &c));
}

int test_opt_text(void);
int test_opt_text(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(is_read_again),
	    cmocka_unit_test(differs_in_one_item),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
