/* SPDX-License-Identifier: Apache-2.0 */
/* Comma-separated lists: every item, including empty ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/commas.h"

#include <string.h>

/* The items of a list, joined by '|'. */
static void items_are(const char *list, const char *expected)
{
	char all[64] = "", word[8];
	size_t n = 0;

	for (const char *rest = list; rest;) {
		commas_item item;

		assert_true(commas_next(&rest, &item));
		assert_true(item.text >= list && item.text + item.n <= list + strlen(list));
		strcat(all, n++ ? "|" : "");
		strcat(all, commas_word(&item, word, sizeof word));
	}
	assert_string_equal(all, expected);
	assert_int_equal(commas_count(list), n);
}

static void items(void **state)
{
	const char *none = NULL;
	commas_item item = {"x", 1};

	(void)state;
	items_are("1", "1");
	items_are("1,2,4", "1|2|4");
	items_are("", "");
	items_are(",", "|");
	items_are("a,", "a|");
	items_are(",a,,b", "|a||b");
	items_are("a b, c", "a b| c");
	items_are("123456789,1", "1234567|1"); /* truncated to the buffer */
	assert_false(commas_next(&none, &item));
	assert_string_equal(item.text, "x");
	assert_int_equal(commas_count(NULL), 0);
}

static void words(void **state)
{
	(void)state;
	assert_true(commas_have("cpu,cpuacct", "cpu"));
	assert_true(commas_have("cpu,cpuacct", "cpuacct"));
	assert_false(commas_have("cpu,cpuacct", "cpua"));
	assert_false(commas_have("cpuacct", "cpu"));
	assert_false(commas_have("cpu", "cpuacct"));
	assert_true(commas_have("", ""));
	assert_true(commas_have("a,", ""));
	assert_false(commas_have("a", ""));
	assert_false(commas_have(NULL, ""));
}

int test_commas(void);
int test_commas(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(items),
	    cmocka_unit_test(words),
	};

	return cmocka_run_group_tests_name("commas", tests, NULL, NULL);
}
