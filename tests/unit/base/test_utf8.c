/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"

#include <string.h>

static void what_is_written_is_read(void **state)
{
	static const struct {
		uint32_t code;
		const char *text;
	} cases[] = {
	    {0x41, "A"},
	    {0x7f, "\x7f"},
	    {0x80, "\xc2\x80"},
	    {0x7ff, "\xdf\xbf"},
	    {0x800, "\xe0\xa0\x80"},
	    {0xffff, "\xef\xbf\xbf"},
	    {0x10000, "\xf0\x90\x80\x80"},
	    {0x10ffff, "\xf4\x8f\xbf\xbf"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[UTF8_BYTES_MAX + 1] = "";
		const size_t n = utf8_put(text, cases[i].code);

		assert_string_equal(text, cases[i].text);
		assert_int_equal(n, strlen(text));
		assert_int_equal(utf8_length(text), n);
	}
}

static void what_is_no_character_is_refused(void **state)
{
	static const char *const texts[] = {
	    "",
	    "\x80",
	    "\xc0\x80",
	    "\xc1\xbf",
	    "\xe0\x9f\xbf",
	    "\xed\xa0\x80",
	    "\xf0\x8f\xbf\xbf",
	    "\xf4\x90\x80\x80",
	    "\xf5",
	    "\xff",
	    "\xc2",
	    "\xe2\x82",
	    "\xe2\x28\xa1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_int_equal(utf8_length(texts[i]), 0);
}

static void a_cut_is_between_characters(void **state)
{
	const char *text = "a\xe2\x82\xac"
			   "b"; /* a, the euro sign, b */

	(void)state;
	assert_int_equal(utf8_cut(text, 0), 0);
	assert_int_equal(utf8_cut(text, 1), 1);
	assert_int_equal(utf8_cut(text, 2), 1);
	assert_int_equal(utf8_cut(text, 3), 1);
	assert_int_equal(utf8_cut(text, 4), 4);
	assert_int_equal(utf8_cut("\x80\x80", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(what_is_no_character_is_refused),
	    cmocka_unit_test(a_cut_is_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
