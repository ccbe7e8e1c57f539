/* Tests of base/units.c: one table for parsing and printing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "deepclock/unstable.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

typedef dck_status (*parser)(const char *text, uint64_t *ret, dck_err *err);

static void good(parser parse, const char *text, uint64_t want)
{
	uint64_t v = 0;
	dck_err e = {0};
	if (parse(text, &v, &e) != DCK_OK || v != want)
		fail_msg("'%s' gives %llu: %s", text, (unsigned long long)v, e.msg);
	assert_int_equal(e.code, 0);
}

static void bad(parser parse, const char *text, const char *part)
{
	uint64_t v = 77;
	dck_err e = {0};
	if (parse(text, &v, &e) != DCK_E_ARG)
		fail_msg("'%s' is taken", text);
	if (!strstr(e.msg, part))
		fail_msg("'%s': %s", text, e.msg);
	assert_int_equal(v, 77);
}

static void times(void **state)
{
	(void)state;
	good(units_parse_time, "250ms", 250000000);
	good(units_parse_time, "2s", 2000000000);
	good(units_parse_time, "1m", UINT64_C(60000000000));
	good(units_parse_time, "1min", UINT64_C(60000000000));
	good(units_parse_time, "1.5us", 1500);
	good(units_parse_time, "1.5\xc2\xb5s", 1500);
	good(units_parse_time, "1.5\xce\xbcs", 1500);
	good(units_parse_time, ".5 s", 500000000);
	good(units_parse_time, "1e3ms", 1000000000);
	good(units_parse_time, "1_000 ns", 1000);
	good(units_parse_time, "0s", 0);
	good(units_parse_time, "2h", UINT64_C(7200000000000));
	good(units_parse_time, "1.0004us", 1000); /* rounded to the nearest ns */
	good(units_parse_time, "18446744073709551615ns", UINT64_MAX);
	good(units_parse_time, "0.123456789012345678901234567890s", 123456789);
	bad(units_parse_time, "5",
	    "'5' has no unit: write 5s if it is seconds, 5ms if it is milliseconds");
	bad(units_parse_time, "", "is not a time");
	bad(units_parse_time, "ms", "is not a time");
	bad(units_parse_time, "nan", "is not a time");
	bad(units_parse_time, "inf", "is not a time");
	bad(units_parse_time, "-1s", "is negative");
	bad(units_parse_time, "1ms2", "is not a unit");
	bad(units_parse_time, "1MS", "'MS' is not a unit of it");
	bad(units_parse_time, "1ms ", "is not a unit");
	bad(units_parse_time, " 1ms", "is not a time");
	bad(units_parse_time, "1__0ms", "is not a unit");
	bad(units_parse_time, "1._5ms", "is not a unit");
	bad(units_parse_time, "0x10s", "is not a unit");
	bad(units_parse_time, "0.2ns", "no smaller parts than 1ns");
	bad(units_parse_time, "18446744073709551616ns", "too large");
	bad(units_parse_time, "6000000h", "too large");
	bad(units_parse_time, "1e400s", "too large");
	bad(units_parse_time, "1e-400s", "no smaller parts");
}

static void sizes(void **state)
{
	(void)state;
	good(units_parse_bytes, "64MiB", 64u << 20);
	good(units_parse_bytes, "2GB", 2000000000);
	good(units_parse_bytes, "4096", 4096);
	good(units_parse_bytes, "1.5KiB", 1536);
	good(units_parse_bytes, "1 kB", 1000);
	good(units_parse_bytes, "7B", 7);
	bad(units_parse_bytes, "1.5", "no smaller parts than 1:");
	bad(units_parse_bytes, "1M", "'M' is not a unit");
	bad(units_parse_bytes, "-4096", "is negative");
	bad(units_parse_bytes, "20000000TiB", "too large");
}

static void counts(void **state)
{
	(void)state;
	good(units_parse_count, "300", 300);
	good(units_parse_count, "1_000", 1000);
	good(units_parse_count, "2k", 2000);
	good(units_parse_count, "1.5M", 1500000);
	good(units_parse_count, "1e6", 1000000);
	good(units_parse_count, "18446744073709551615", UINT64_MAX);
	bad(units_parse_count, "18446744073709551616", "too large");
	bad(units_parse_count, "1.5", "is not a count");
	bad(units_parse_count, "12x", "'x' is not a unit");
	bad(units_parse_count, "1_", "is not a unit");
	bad(units_parse_count, "_1", "is not a count");
	bad(units_parse_count, "-1", "is negative");
	bad(units_parse_count, "", "write a whole number, as in 300");
}

static void reals_and_shares(void **state)
{
	(void)state;
	double v = 0;
	dck_err e;
	assert_int_equal(units_parse_real("-2.5e-3", &v, &e), DCK_OK);
	assert_true(v == -0.0025);
	assert_int_equal(units_parse_real("0.1", &v, &e), DCK_OK);
	assert_true(v == 0.1);
	static const char *const reals[] = {"", "nan", "inf", "1e999", "1x", "1 ", "0x1p3", "1,5"};
	for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
		assert_int_equal(units_parse_real(reals[i], &v, &e), DCK_E_ARG);
	assert_true(v == 0.1);
	assert_int_equal(units_parse_share("1%", &v, &e), DCK_OK);
	assert_true(v == 0.01);
	assert_int_equal(units_parse_share("0.01", &v, &e), DCK_OK);
	assert_true(v == 0.01);
	assert_int_equal(units_parse_share("2.5 %", &v, &e), DCK_OK);
	assert_true(v == 0.025);
	bad(units_parse_time, "0", "'0' has no unit: write 0s");
	assert_int_equal(units_parse_share("1", &v, &e), DCK_E_ARG);
	assert_string_equal(e.msg, "'1' has no unit: write 1% or 0.01, or 100% for all of it");
	assert_int_equal(units_parse_share("1.0", &v, &e), DCK_E_ARG);
	assert_int_equal(units_parse_share("95", &v, &e), DCK_E_ARG);
	assert_string_equal(e.msg, "'95' has no unit: write 95% or 0.95");
	assert_int_equal(units_parse_share("0.99", &v, &e), DCK_OK);
	assert_int_equal(units_parse_share("1e2%", &v, &e), DCK_OK);
	assert_true(v >= 1 && v <= 1);
	assert_int_equal(units_parse_share("250%", &v, &e), DCK_OK);
	static const char *const shares[] = {"", "%", "-1%", "1%%", "1% ", "nan%", "1e999"};
	for (size_t i = 0; i < sizeof(shares) / sizeof *shares; i++)
		assert_int_equal(units_parse_share(shares[i], &v, &e), DCK_E_ARG);
	assert_non_null(strstr(e.msg, "too large for a share: write it as in 1% or 0.01"));
}

static void dims(void **state)
{
	(void)state;
	int64_t d[4] = {9, 9, 9, 9};
	size_t rank = 77;
	dck_err e;
	assert_int_equal(units_parse_dims("1x3x224x0", d, 4, &rank, &e), DCK_OK);
	assert_int_equal(rank, 4);
	assert_int_equal(d[2], 224);
	assert_int_equal(d[3], 0);
	assert_int_equal(units_parse_dims("9223372036854775807", d, 4, &rank, &e), DCK_OK);
	assert_int_equal(rank, 1);
	assert_true(d[0] == INT64_MAX);
	assert_int_equal(units_parse_dims("2kx1_000", d, 4, &rank, &e), DCK_OK);
	assert_true(rank == 2 && d[0] == 2000 && d[1] == 1000);
	assert_int_equal(units_parse_dims("3", d, 4, &rank, &e), DCK_OK);
	static const char *const wrong[] = {"",
					    "x",
					    "1.5x2",
					    "1kkx2",
					    "1x",
					    "1xx2",
					    "-1x2",
					    "1X2",
					    "1x2x3x4x5",
					    "1x2 ",
					    "9223372036854775808"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(units_parse_dims(wrong[i], d, 4, &rank, &e), DCK_E_ARG);
	assert_int_equal(rank, 1);
	assert_int_equal(d[2], 224);
}

static void prints(const char *(*text)(double, char *, size_t), double v, const char *want)
{
	char buf[64];
	assert_string_equal(text(v, buf, sizeof buf), want);
}

static void times_for_people(void **state)
{
	(void)state;
	static const struct {
		double ns;
		const char *want;
	} rows[] = {
	    {0, "0 ns"},
	    {0.34, "0.340 ns"},
	    {1, "1.00 ns"},
	    {15.74, "15.7 ns"},
	    {720, "720 ns"},
	    {999.4, "999 ns"},
	    {999.5, "1.00 \u00b5s"},
	    {9.994e3, "9.99 \u00b5s"},
	    {9.996e3, "10.0 \u00b5s"},
	    {99.94e3, "99.9 \u00b5s"},
	    {99.96e3, "100 \u00b5s"},
	    {999.4e3, "999 \u00b5s"},
	    {999.96e3, "1.00 ms"},
	    {17.84e6, "17.8 ms"},
	    {1e9, "1.00 s"},
	    {119.4e9, "119 s"},
	    {119.6e9, "2 min 0 s"},
	    {123e9, "2 min 3 s"},
	    {179.7e9, "3 min 0 s"},
	    {7199.4e9, "119 min 59 s"},
	    {7200e9, "2 h 0 min"},
	    {12345e9, "3 h 26 min"},
	    {-17.84e6, "-17.8 ms"},
	    {NAN, "?"},
	    {INFINITY, "inf"},
	    {-INFINITY, "-inf"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof *rows; i++)
		prints(dck_text_time, rows[i].ns, rows[i].want);
}

static void the_sign_becomes_a_letter(void **state)
{
	(void)state;
	char text[] = "1.5 \u00b5s, 2 \u03bcs, caf\u00e9";
	assert_string_equal(dck_text_ascii_units(text), "1.5 us, 2 us, caf\u00e9");
	char number[NUM_TEXT_MAX];
	assert_string_equal(decimal_grouped(number, 0, 440383), "440,383");
	assert_string_equal(decimal_grouped(number, 2, -1234567.891), "-1,234,567.89");
	assert_string_equal(decimal_grouped(number, 1, 999.9), "999.9");
}

static void sizes_for_people(void **state)
{
	(void)state;
	prints(dck_text_bytes, 0, "0 B");
	prints(dck_text_bytes, 12, "12 B");
	prints(dck_text_bytes, 1023, "1023 B");
	prints(dck_text_bytes, 1024, "1.00 KiB");
	prints(dck_text_bytes, 4435476, "4.23 MiB");
	prints(dck_text_bytes, 1048575, "1.00 MiB");
	prints(dck_text_bytes, 1023 * 1024, "1023 KiB");
	prints(dck_text_bytes, 3.5 * 1099511627776., "3.50 TiB");
	prints(dck_text_bytes, NAN, "?");
}

static void counts_for_people(void **state)
{
	(void)state;
	char buf[40];
	assert_string_equal(dck_text_count(0, buf, sizeof buf), "0");
	assert_string_equal(dck_text_count(999, buf, sizeof buf), "999");
	assert_string_equal(dck_text_count(-1000, buf, sizeof buf), "-1,000");
	assert_string_equal(dck_text_count(11689512, buf, sizeof buf), "11,689,512");
	assert_string_equal(dck_text_count(INT64_MIN, buf, sizeof buf),
			    "-9,223,372,036,854,775,808");
}

static void si_for_people(void **state)
{
	(void)state;
	char buf[40];
	assert_string_equal(dck_text_si(1.819e9, "FLOP", buf, sizeof buf), "1.82 GFLOP");
	assert_string_equal(dck_text_si(999.6, "FLOP/s", buf, sizeof buf), "1.00 kFLOP/s");
	assert_string_equal(dck_text_si(56.14, "items/s", buf, sizeof buf), "56.1 items/s");
	assert_string_equal(dck_text_si(0.5, "items/s", buf, sizeof buf), "0.500 items/s");
	assert_string_equal(dck_text_si(0, "W", buf, sizeof buf), "0 W");
	assert_string_equal(dck_text_si(12345, NULL, buf, sizeof buf), "12.3 k");
	assert_string_equal(dck_text_si(12, NULL, buf, sizeof buf), "12");
	assert_string_equal(dck_text_si(NAN, "W", buf, sizeof buf), "?");
}

static void texts_stay_in_their_buffer(void **state)
{
	(void)state;
	char buf[8] = "#######";
	assert_string_equal(dck_text_time(17.84e6, buf, 5), "17.8");
	assert_int_equal(buf[5], '#');
	assert_string_equal(dck_text_count(11689512, buf, 4), "11,");
	assert_ptr_equal(dck_text_bytes(1, buf, 0), buf);
	assert_string_equal(dck_text_si(1e308, "FLOP", buf, sizeof buf), "1000000");
}

/* A printed time parses back to the same value to three digits. */
static void printed_times_can_be_read(void **state)
{
	(void)state;
	for (double ns = 1; ns < 119e9; ns *= 1.37) {
		char buf[64];
		uint64_t back;
		dck_text_time(floor(ns), buf, sizeof buf);
		assert_int_equal(units_parse_time(buf, &back, NULL), DCK_OK);
		assert_true(fabs((double)back - floor(ns)) <= 0.0051 * ns);
	}
}

static void shares_for_people(void **state)
{
	(void)state;
	assert_string_equal(PERCENT_TEXT(3, 0.00454), "0.454 %");
	assert_string_equal(PERCENT_TEXT(2, 2.51), "251 %");
	assert_string_equal(PERCENT_TEXT(2, 0.996), "100 %");
	assert_string_equal(PERCENT_TEXT(3, 12.4), "1240 %");
	assert_string_equal(PERCENT_TEXT(3, INFINITY), "?");
}

/* As strtod() of the C locale reads them. */
static void numbers_are_read_as_strtod_does(void **state)
{
	static const char *const texts[] = {"0",
					    "-0",
					    "1.",
					    ".5",
					    "+2.5e3 rest",
					    "1e",
					    "1e+",
					    "-1E-2,3",
					    "",
					    ".",
					    "-",
					    "e5",
					    "1.5.2",
					    "1e400",
					    "-1e-400",
					    "9007199254740993",
					    "0.1000000000000000055511151231257827"};
	char text[600], *end;
	const char *rest;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const double v = strtod(texts[i], &end);

		assert_true(decimal_strtod(texts[i], &rest) == v);
		assert_ptr_equal(rest, end);
	}
	memset(text, '7', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	text[250] = '.';
	assert_true(decimal_strtod(text, NULL) == strtod(text, NULL));
	text[250] = '7';
	text[299] = '\0';
	assert_true(decimal_strtod(text, NULL) == strtod(text, NULL));
	/* Words and hexadecimal numbers are none. */
	assert_true(decimal_strtod("inf", &rest) == 0 && *rest == 'i');
	assert_true(decimal_strtod("0x10", &rest) == 0 && *rest == 'x');
}

int test_units(void);
int test_units(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times),
	    cmocka_unit_test(sizes),
	    cmocka_unit_test(counts),
	    cmocka_unit_test(reals_and_shares),
	    cmocka_unit_test(dims),
	    cmocka_unit_test(times_for_people),
	    cmocka_unit_test(the_sign_becomes_a_letter),
	    cmocka_unit_test(sizes_for_people),
	    cmocka_unit_test(counts_for_people),
	    cmocka_unit_test(si_for_people),
	    cmocka_unit_test(shares_for_people),
	    cmocka_unit_test(numbers_are_read_as_strtod_does),
	    cmocka_unit_test(texts_stay_in_their_buffer),
	    cmocka_unit_test(printed_times_can_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
