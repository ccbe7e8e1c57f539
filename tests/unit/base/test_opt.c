/* Tests of base/opt.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/opt.h"
#include "deepclock/unstable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

typedef struct config {
	bool quiet;
	uint64_t runs, time, bytes;
	double ratio, precision;
	const char *text;
	int opt;
	dck_list shape;
	char guard;
} config;

static const char *const levels[] = {"none", "basic", "extended", "all", NULL};
static const dck_opt table[] = {
    DCK_FLAG(config, quiet, "quiet", "say nothing"),
    DCK_OPTION(COUNT, config, runs, "runs", "N", "10", "h", .min = 1, .max = 2e6),
    DCK_OPTION(TIME, config, time, "max-time", "TIME", "5s", "h", .min = 1e7),
    DCK_OPTION(BYTES, config, bytes, "memory", "BYTES", "64MiB", "h", .max = 1048576. * 128),
    DCK_OPTION(REAL, config, ratio, "ratio", "R", "-0.5", "h", .min = -1, .max = 1),
    DCK_OPTION(SHARE, config, precision, "precision", "SHARE", "1%", "h", .min = 0.001, .max = 0.5),
    DCK_OPTION(TEXT, config, text, "name", "TEXT", NULL, "h"),
    DCK_OPTION(CHOICE, config, opt, "opt", "LEVEL", "all", "h", .choices = levels),
    DCK_OPTION(LIST, config, shape, "shape", "NAME=DIMS", NULL, "h"),
    {0},
};

static void defaults_come_from_the_rows(void **state)
{
	(void)state;
	config c;
	memset(&c, 0x5a, sizeof c);
	assert_int_equal(dck_opt_defaults(table, &c, NULL), DCK_OK);
	assert_false(c.quiet);
	assert_int_equal(c.runs, 10);
	assert_int_equal(c.time, 5000000000);
	assert_int_equal(c.bytes, 64 << 20);
	assert_true(c.ratio == -0.5);
	assert_true(c.precision == 0.01);
	assert_null(c.text);
	assert_int_equal(c.opt, 3);
	assert_int_equal(c.shape.n, 0);
	assert_int_equal(c.guard, 0x5a);
}

static void a_wrong_default_is_named(void **state)
{
	(void)state;
	static const dck_opt wrong[] = {
	    DCK_OPTION(TIME, config, time, "pause", "TIME", "5", "h"),
	    {0},
	};
	config c;
	dck_err e;
	assert_int_equal(dck_opt_defaults(wrong, &c, &e), DCK_E_ARG);
	assert_non_null(strstr(e.msg, "option 'pause': '5' has no unit"));
}

static config set_ok(const char *name, const char *text)
{
	config c;
	dck_err e = {0};
	assert_int_equal(dck_opt_defaults(table, &c, NULL), DCK_OK);
	if (dck_opt_set(table, &c, name, text, &e) != DCK_OK)
		fail_msg("%s", e.msg);
	return c;
}

static void values_land_in_their_fields(void **state)
{
	(void)state;
	assert_true(set_ok("quiet", NULL).quiet);
	assert_true(set_ok("quiet", "true").quiet);
	assert_false(set_ok("quiet", "false").quiet);
	assert_int_equal(set_ok("runs", "2k").runs, 2000);
	assert_int_equal(set_ok("max-time", "250ms").time, 250000000);
	assert_int_equal(set_ok("memory", "128MiB").bytes, 128 << 20);
	assert_true(set_ok("ratio", "0.25").ratio == 0.25);
	assert_true(set_ok("precision", "2%").precision == 0.02);
	assert_string_equal(set_ok("name", "").text, "");
	assert_int_equal(set_ok("opt", "basic").opt, 1);
	assert_string_equal(set_ok("shape", "x=1x3").shape.item[0], "x=1x3");
}

static void refuse(const char *name, const char *text, dck_status code, const char *want)
{
	config c, before;
	dck_err e = {0};
	assert_int_equal(dck_opt_defaults(table, &c, NULL), DCK_OK);
	memcpy(&before, &c, sizeof c);
	assert_int_equal(dck_opt_set(table, &c, name, text, &e), code);
	assert_int_equal(e.code, code);
	assert_string_equal(e.msg, want);
	assert_int_equal(c.runs, before.runs);
	assert_int_equal(c.time, before.time);
	assert_int_equal(c.opt, before.opt);
	assert_true(c.precision == before.precision);
	assert_int_equal(dck_opt_set(table, &c, name, text, NULL), code);
}

static void refusals_say_what_to_write(void **state)
{
	(void)state;
	refuse("runs", "0", DCK_E_ARG, "option 'runs': '0' is less than the least it takes, 1");
	refuse("runs", "3M", DCK_E_ARG,
	       "option 'runs': '3M' is more than the most it takes, 2,000,000");
	refuse("max-time", "5ms", DCK_E_ARG,
	       "option 'max-time': '5ms' is less than the least it takes, 10.0 ms");
	refuse("max-time", "5", DCK_E_ARG,
	       "option 'max-time': '5' has no unit: write 5s if it is seconds, 5ms if it is "
	       "milliseconds");
	refuse("memory", "1GiB", DCK_E_ARG,
	       "option 'memory': '1GiB' is more than the most it takes, 128 MiB");
	refuse("precision", "60%", DCK_E_ARG,
	       "option 'precision': '60%' is more than the most it takes, 50%");
	refuse("ratio", "-1.5", DCK_E_ARG,
	       "option 'ratio': '-1.5' is less than the least it takes, -1");
	refuse("runs", NULL, DCK_E_ARG, "option 'runs' needs a value: N");
	refuse("quiet", "yes", DCK_E_ARG, "option 'quiet': 'yes' is neither true nor false");
	refuse("opt", "extend", DCK_E_ARG,
	       "option 'opt': invalid value 'extend' (one of none, basic, extended, all); did you "
	       "mean 'extended'?");
	refuse("opt", "x", DCK_E_ARG,
	       "option 'opt': invalid value 'x' (one of none, basic, extended, all)");
	refuse("max-tiem", "5s", DCK_E_ABSENT,
	       "there is no option 'max-tiem'; did you mean 'max-time'?");
	refuse("zzzzzz", "5s", DCK_E_ABSENT, "there is no option 'zzzzzz'");
}

static void lists_add_up_to_their_limit(void **state)
{
	(void)state;
	config c;
	dck_err e;
	assert_int_equal(dck_opt_defaults(table, &c, NULL), DCK_OK);
	for (int i = 0; i < DCK_LIST_MAX; i++)
		assert_int_equal(dck_opt_set(table, &c, "shape", "a=1", NULL), DCK_OK);
	assert_int_equal(dck_opt_set(table, &c, "shape", "a=1", &e), DCK_E_LIMIT);
	assert_string_equal(e.msg, "option 'shape': it may be given at most 64 times");
	assert_int_equal(c.shape.n, DCK_LIST_MAX);
}

static void nearest_names(void **state)
{
	(void)state;
	static const char *const names[] = {"bench", "report", "zoo", "engines"};
	assert_string_equal(dck_nearest("bnech", names, 4), "bench"); /* one transposition */
	assert_string_equal(dck_nearest("reprot", names, 4), "report");
	assert_string_equal(dck_nearest("engine", names, 4), "engines");
	assert_string_equal(dck_nearest("bench", names, 4), "bench");
	assert_string_equal(dck_nearest("zop", names, 4), "zoo"); /* 1 edit of 3 letters */
	assert_null(dck_nearest("zu", names, 4));		  /* 2 edits of 2 letters */
	assert_null(dck_nearest("be", names, 4));
	assert_null(dck_nearest("", names, 4));
	assert_null(dck_nearest("bench", names, 0));
	static const char *const four[] = {"abcdefghij"};
	assert_null(dck_nearest("abcdef", four, 1)); /* 4 edits away */
	char longer[200];
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_null(dck_nearest(longer, names, 4));
}

static void find_rows(void **state)
{
	(void)state;
	assert_ptr_equal(dck_opt_find(table, "runs"), &table[1]);
	assert_null(dck_opt_find(table, "run"));
}

static void what_goes_together(void **state)
{
	(void)state;
	static const dck_opt rows[] = {
	    DCK_OPTION(COUNT, config, runs, "runs", "N", NULL, "h", .excludes = "max-time"),
	    DCK_OPTION(TIME, config, time, "max-time", "TIME", "5s", "h"),
	    DCK_OPTION(BYTES, config, bytes, "memory", "BYTES", NULL, "h", .needs = "runs opt=all"),
	    DCK_OPTION(CHOICE, config, opt, "opt", "LEVEL", "none", "h", .choices = levels),
	    {0},
	};
	static const dck_opt *const tables[] = {rows, NULL};
	const dck_opt_given runs = {&rows[0], "3"}, time = {&rows[1], "1s"},
			    memory = {&rows[2], "1"}, all = {&rows[3], "all"};
	dck_err e;
	assert_int_equal(dck_opt_check(tables, NULL, 0, NULL), DCK_OK);
	assert_int_equal(dck_opt_check(tables, &runs, 1, NULL), DCK_OK);
	const dck_opt_given both[] = {runs, time};
	assert_int_equal(dck_opt_check(tables, both, 2, &e), DCK_E_ARG);
	assert_string_equal(e.msg, "--runs and --max-time exclude each other: give one of them");
	assert_int_equal(dck_opt_check(tables, &memory, 1, &e), DCK_E_ARG);
	assert_string_equal(e.msg, "--memory needs --runs or --opt all");
	const dck_opt_given with[] = {memory, all};
	assert_int_equal(dck_opt_check(tables, with, 2, &e), DCK_OK);
}

int test_opt(void);
int test_opt(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults_come_from_the_rows),
	    cmocka_unit_test(a_wrong_default_is_named),
	    cmocka_unit_test(values_land_in_their_fields),
	    cmocka_unit_test(refusals_say_what_to_write),
	    cmocka_unit_test(lists_add_up_to_their_limit),
	    cmocka_unit_test(nearest_names),
	    cmocka_unit_test(find_rows),
	    cmocka_unit_test(what_goes_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
