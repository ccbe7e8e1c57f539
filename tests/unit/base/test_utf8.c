/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"

#include <string.h>

static void characters_have_the_columns_of_a_terminal(void **state)
{
	static const struct {
		const char *text;
		unsigned columns;
	} cases[] = {
	    {"a", 1},
	    {"\xc2\xb5", 1},	     /* micro */
	    {"\xcc\x81", 0},	     /* a combining acute */
	    {"\xe2\x80\x8d", 0},     /* a joiner */
	    {"\xe2\x94\x80", 1},     /* a box line */
	    {"\xe8\xa8\x88", 2},     /* CJK */
	    {"\xea\xb0\x80", 2},     /* Hangul */
	    {"\xef\xbc\xa1", 2},     /* a fullwidth A */
	    {"\xef\xbd\xb1", 1},     /* halfwidth kana */
	    {"\xf0\x9f\x9a\x80", 2}, /* a rocket */
	    {"\xf0\xa0\x80\x80", 2}, /* plane 2 */
	    {"\xf4\x8f\xbf\xbf", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(utf8_columns(cases[i].text, utf8_length(cases[i].text)),
				 cases[i].columns);
}

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
	assert_int_equal(utf8_shown(text, 2), 1);
	assert_int_equal(utf8_shown(text, 5), 5);
	assert_int_equal(utf8_shown(text, 80), 5);

	const struct {
		const char *text, *left;
	} ends[] = {{"", ""},
		    {"ab", "ab"},
		    {"a\xc3", "a"},
		    {"a\xc3\xa9", "a\xc3\xa9"},
		    {"\xe2\x82", ""},
		    {"\xf0\x9f\x98", ""},
		    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		    {"\x80\x80", "\x80\x80"}};
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		char end[8];

		strcpy(end, ends[i].text);
		utf8_cut_end(end);
		assert_string_equal(end, ends[i].left);
	}
}

/* The first and the last code point of each range, and the adjacent ones outside it. */
static void what_steers_is_not_shown(void **state)
{
	static const uint32_t steers[] = {0x01,	  0x1b,	  0x1f,	  0x7f,	  0x80,	  0x9b,	  0x9f,
					  0x61c,  0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e,
					  0x2066, 0x2069, 0xfeff, 0xfff9, 0xfffb};
	static const uint32_t shown[] = {0x20,	 0x7e,	 0xa0,	 0x61b,	 0x61d,	 0x200d,  0x2010,
					 0x2027, 0x202f, 0x2065, 0x206a, 0xfefe, 0x1f600, 0x10ffff};
	char text[UTF8_BYTES_MAX + 1];
	bool is_shown;

	(void)state;
	for (size_t i = 0; i < sizeof steers / sizeof *steers; i++) {
		const size_t n = utf8_put(text, steers[i]);

		text[n] = '\0';
		assert_int_equal(utf8_code(text, n), steers[i]);
		assert_true(utf8_is_control(text, n));
		assert_int_equal(dck_text_char(text, &is_shown), n);
		assert_false(is_shown);
	}
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
		const size_t n = utf8_put(text, shown[i]);

		text[n] = '\0';
		assert_int_equal(utf8_code(text, n), shown[i]);
		assert_int_equal(dck_text_char(text, &is_shown), n);
		assert_true(is_shown);
	}
}

static void a_tamed_text_steers_nothing(void **state)
{
	char text[] = "a\n\033[1m\x7f \xc2\x9b"
		      "1m \xe2\x80\xae\xff\xe2\x82 \xc2\xb5s",
	     empty[] = "";

	(void)state;
	utf8_sanitize(text);
	assert_string_equal(text, "a  [1m  ?1m ???? \xc2\xb5s");
	utf8_sanitize(empty);
	assert_string_equal(empty, "");
}

int test_utf8(void);
int test_utf8(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_steers_is_not_shown),
	    cmocka_unit_test(a_tamed_text_steers_nothing),
	    cmocka_unit_test(characters_have_the_columns_of_a_terminal),
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(what_is_no_character_is_refused),
	    cmocka_unit_test(a_cut_is_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
