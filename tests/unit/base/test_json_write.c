/* Tests of base/json_write.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"

#include "base/csv_write.h"
#include "base/decimal.h"
#include "base/opt_text.h"
#include "base/units.h"
#include "scratch.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static dck_buffer out;
static dck_sink sink;
static json_writer w;

static void begin(bool pretty)
{
	dck_buffer_done(&out);
	dck_sink_buffer(&sink, &out);
	json_init(&w, &sink, pretty);
}

static const char *end(void)
{
	json_done(&w);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	out.data[out.n - 1] = '\0'; /* the newline */
	return out.data;
}

static const char *text_of(const char *text)
{
	begin(false);
	json_text(&w, text);
	return end();
}

static const char *real_of(double v)
{
	begin(false);
	json_double(&w, v);
	return end();
}

static void structure(void)
{
	json_begin_object(&w);
	json_key(&w, "a");
	json_int(&w, 1);
	json_key(&w, "b");
	json_begin_array(&w);
	json_bool(&w, true);
	json_text(&w, NULL);
	json_end(&w);
	json_key(&w, "empty");
	json_begin_object(&w);
	json_end(&w);
	json_key(&w, "flat");
	json_flat_array(&w);
	json_int(&w, 1);
	json_flat_object(&w);
	json_key(&w, "x");
	json_int(&w, 2);
	json_end(&w);
	json_begin_array(&w); /* inside a flat container everything is flat */
	json_int(&w, 3);
	json_end(&w);
	json_end(&w);
	json_end(&w);
}

static void compact_and_pretty(void **state)
{
	(void)state;
	begin(false);
	structure();
	assert_string_equal(end(), "{\"a\":1,\"b\":[true,null],\"empty\":{},"
				   "\"flat\":[1,{\"x\":2},[3]]}");
	begin(true);
	structure();
	assert_string_equal(end(), "{\n"
				   "  \"a\": 1,\n"
				   "  \"b\": [\n"
				   "    true,\n"
				   "    null\n"
				   "  ],\n"
				   "  \"empty\": {},\n"
				   "  \"flat\": [1, {\"x\": 2}, [3]]\n"
				   "}");
}

static void escaping(void **state)
{
	(void)state;
	assert_string_equal(text_of(""), "\"\"");
	assert_string_equal(text_of("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
	assert_string_equal(text_of("\n\t\r\b\f\x01\x1f\x7f"),
			    "\"\\n\\t\\r\\b\\f\\u0001\\u001f\\u007f\"");
	assert_string_equal(text_of("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
			    "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
	begin(false);
	json_begin_object(&w);
	json_key(&w, "k\n");
	json_text(&w, NULL);
	json_end(&w);
	assert_string_equal(end(), "{\"k\\n\":null}");
}

#define FFFD "\xef\xbf\xbd"
static void invalid_utf8_is_repaired(void **state)
{
	(void)state;
	assert_string_equal(text_of("a\xff"
				    "b"),
			    "\"a" FFFD "b\"");
	assert_string_equal(text_of("\x80"), "\"" FFFD "\"");
	assert_string_equal(text_of("\xc0\x80"), "\"" FFFD FFFD "\"");		/* overlong NUL */
	assert_string_equal(text_of("\xe0\x80\xaf"), "\"" FFFD FFFD FFFD "\""); /* overlong '/' */
	assert_string_equal(text_of("\xed\xa0\x80"), "\"" FFFD FFFD FFFD "\""); /* a surrogate */
	assert_string_equal(text_of("\xf4\x90\x80\x80"), "\"" FFFD FFFD FFFD FFFD "\"");
	assert_string_equal(text_of("\xe2\x82"), "\"" FFFD FFFD "\""); /* truncated at the end */
	assert_string_equal(text_of("\xf0\x9f\x98"), "\"" FFFD FFFD FFFD "\"");
	assert_string_equal(text_of("\xe2\"x"), "\"" FFFD "\\\"x\""); /* the quote stays escaped */
}

static void integers(void **state)
{
	(void)state;
	begin(false);
	json_begin_array(&w);
	json_int(&w, INT64_C(9007199254740992));
	json_int(&w, INT64_C(9007199254740993));
	json_int(&w, INT64_C(-9007199254740992));
	json_int(&w, INT64_MIN);
	json_uint(&w, UINT64_C(9007199254740992));
	json_uint(&w, UINT64_MAX);
	json_end(&w);
	assert_string_equal(end(), "[9007199254740992,\"9007199254740993\",-9007199254740992,"
				   "\"-9223372036854775808\",9007199254740992,"
				   "\"18446744073709551615\"]");
}

static void reals_are_the_shortest(void **state)
{
	(void)state;
	assert_string_equal(real_of(0), "0.0");
	assert_string_equal(real_of(-0.0), "-0.0");
	assert_string_equal(real_of(1), "1.0");
	assert_string_equal(real_of(0.1), "0.1");
	assert_string_equal(real_of(0.1 + 0.2), "0.30000000000000004");
	assert_string_equal(real_of(17812345), "17812345.0");
	assert_string_equal(real_of(1e22), "1e+22");
	assert_string_equal(real_of(1.0 / 3), "0.3333333333333333");
	assert_string_equal(real_of(DBL_MAX), "1.7976931348623157e+308");
	assert_string_equal(real_of(4.9406564584124654e-324), "5e-324");
	assert_string_equal(real_of(NAN), "null");
	assert_string_equal(real_of(INFINITY), "null");
}

static void reals_read_back_the_same(void **state)
{
	(void)state;
	uint64_t x = 42;
	for (int i = 0; i < 20000; i++) {
		double v;
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		memcpy(&v, &x, sizeof v);
		if (!isfinite(v))
			continue;
		assert_true(strtod(real_of(v), NULL) == v);
	}
}

static void numbers_are_read_to_the_nearest(void **state)
{
	static const char
	    *const numbers[] = {"0",
				"-0",
				"5.",
				"0.1",
				"-2.25e-3",
				"1E+5",
				"123456789012345678901234567890",
				"0.1000000000000000055511151231257827021181583404541015625",
				"9007199254740993.00000000000000000000000000000000000000001",
				"1e400",
				"-1e-400",
				"0.0000000000000000000000000000001e31",
				"1e99999999999999999999"},
		   *const others[] = {"",     "-",    "x",   "1x",  "0x1f", "1e", "1e+",
				      "1e 5", "1.5.", "nan", "inf", " 1",   "+1"};
	double v;

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!json_number(numbers[i], &v) || v != strtod(numbers[i], NULL))
			fail_msg("%s", numbers[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (json_number(others[i], &v))
			fail_msg("%s", others[i]);
}

/* Finds an installed locale, or compiles one in a scratch directory. */
static bool comma_locale(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "xx_XX.UTF-8"};
	for (int made = 0; made < 2; made++) {
		for (size_t i = 0; i < sizeof(names) / sizeof *names; i++)
			if (setlocale(LC_NUMERIC, names[i]) && *localeconv()->decimal_point != '.')
				return true;
		setenv("LOCPATH", scratch_path, 1);
		if (made || system("localedef -i de_DE -f UTF-8 ./xx_XX.UTF-8 >/dev/null 2>&1"))
			break;
	}
	return false;
}

static const char *option_text(double v)
{
	static const dck_opt row = {.name = "real", .kind = DCK_OPT_REAL};
	static char text[64];
	mem_arena *a = mem_arena_new(0);

	snprintf(text, sizeof text, "%s", opt_text(a, &row, &v));
	mem_arena_free(a);
	return text;
}

static const char *csv_text_of(double v)
{
	dck_buffer_done(&out);
	dck_sink_buffer(&sink, &out);
	csv_real(&sink, v);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	return out.data;
}

static void the_locale_changes_nothing(void **state)
{
	(void)state;
	bool found = comma_locale();
	if (found) {
		assert_string_equal(real_of(0.5), "0.5");
		assert_string_equal(real_of(0.1 + 0.2), "0.30000000000000004");
		assert_string_equal(real_of(1234567.25), "1234567.25");
		assert_string_equal(real_of(1.5e300), "1.5e+300");
		char text[32];
		double v;
		assert_string_equal(dck_text_time(17.84e6, text, sizeof text), "17.8 ms");
		assert_int_equal(units_parse_real("0.25", &v, NULL), DCK_OK);
		assert_true(v == 0.25);
		assert_true(json_number("-1.5", &v) && v == -1.5);
		assert_false(json_number("1,5", &v));
		assert_true(decimal_strtod("1.5", NULL) == 1.5);
		assert_string_equal(option_text(0.1), "0.10000000000000001");
		assert_string_equal(csv_text_of(0.1), "0.1");
		dck_err e;
		err_set(&e, DCK_E_ARG, __FILE__, __LINE__, "%.1f %%", 2.5);
		assert_string_equal(e.msg, "2.5 %");
		setlocale(LC_NUMERIC, "C");
	}
	if (!found) {
		print_message("skipped: no locale with a decimal comma, and none can be made\n");
		skip();
	}
}

int test_json_write(void);
int test_json_write(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(compact_and_pretty),
	    cmocka_unit_test(escaping),
	    cmocka_unit_test(invalid_utf8_is_repaired),
	    cmocka_unit_test(integers),
	    cmocka_unit_test(reals_are_the_shortest),
	    cmocka_unit_test(reals_read_back_the_same),
	    cmocka_unit_test(numbers_are_read_to_the_nearest),
	    cmocka_unit_test(the_locale_changes_nothing),
	};
	int failed = cmocka_run_group_tests(tests, scratch_begin, scratch_end);
	dck_buffer_done(&out);
	return failed;
}
