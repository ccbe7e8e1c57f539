/* test_scan.c - one program with several values: ranges, lists, products, and refusals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/compare.h"
#include "fault_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct made {
	dck_alternative *all;
	size_t n;
	dck_err err;
} made;

static dck_subject program(char *const *words)
{
	dck_subject s;

	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_COMMAND;
	s.argv = words;
	return s;
}
#define WORDS(...) ((char *const *)(uintptr_t)(const char *const[]){__VA_ARGS__, NULL})

static dck_list list_of(const char *const *texts)
{
	dck_list list = {.n = 0};

	for (; *texts; texts++)
		list.item[list.n++] = *texts;
	return list;
}
#define SCANS(...) list_of((const char *const[]){__VA_ARGS__, NULL})

static made make(const dck_subject *s, size_t n, dck_list scan)
{
	made m = {0};

	if (dck_alternatives_scan(s, n, &scan, &m.all, &m.n, &m.err) != DCK_OK)
		fail_msg("%s: %s", scan.item[0], m.err.msg);
	return m;
}

/* Expects these values of {n}, separated by blanks. */
static void values(const char *scan, const char *expected)
{
	const dck_subject s = program(WORDS("echo", "{n}"));
	const made m = make(&s, 1, SCANS(scan));
	char text[1024] = "";

	for (size_t i = 0; i < m.n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
			 m.all[i].subject->argv[1]);
	assert_string_equal(text, expected);
	dck_free(m.all);
}

static void refused(const char *scan, const char *part)
{
	const dck_subject s = program(WORDS("echo", "{n}"));
	const dck_list list = SCANS(scan);
	dck_alternative *all = NULL;
	size_t n = 77;
	dck_err err = {0};

	if (dck_alternatives_scan(&s, 1, &list, &all, &n, &err) != DCK_E_ARG)
		fail_msg("'%s' was taken", scan);
	if (!strstr(err.msg, part))
		fail_msg("'%s': %s", scan, err.msg);
	assert_null(all);
	assert_int_equal(n, 77);
	assert_int_equal(dck_alternatives_scan(&s, 1, &list, &all, &n, NULL), DCK_E_ARG);
}

static void ranges(void **state)
{
	(void)state;
	values("n=1..4", "1 2 3 4");
	values("n=4..1", "4 3 2 1");
	values("n=3..3", "3");
	values("n=1..10:4", "1 5 9");
	values("n=10..1:-3", "10 7 4 1");
	values("n=-2..2", "-2 -1 0 1 2");
	values("n=2..-4:-2", "2 0 -2 -4");
	values("n=0..1:0.25", "0.00 0.25 0.50 0.75 1.00");
	values("n=0.5..2:0.5", "0.5 1.0 1.5 2.0");
	values("n=1..1.25:1", "1");
	values("n=-0.5..0.5:0.5", "-0.5 0.0 0.5");
	values("n=0.1..0.3:0.1", "0.1 0.2 0.3"); /* in binary floating point 0.3 is not reached */
	values("n=08..11", "08 09 10 11");
	values("n=-01..01", "-01 00 01");
	values("n=1700000000..1700000002", "1700000000 1700000001 1700000002");
	values("n=-999999999999..999999999999:999999999999", "-999999999999 0 999999999999");
	values("n=0..999999999999:500000000000.000001", "0.000000 500000000000.000001");
	values("n=1..16", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
}

static void lists(void **state)
{
	(void)state;
	values("n=a,b,c", "a b c");
	values("n=one", "one");
	values("n=-O2,", "-O2 ");
	values("n=a\\,b,c", "a,b c");
	values("n=a\\b,\\", "a\\b \\");
	values("n=k=1,k=2", "k=1 k=2");
	values("n=../x", "../x");
	values("n=a/../x", "a/../x");
	values("n=1..4,7", "1..4 7");
	values("n=\u4e2d,\u00fc \u00df", "\u4e2d \u00fc \u00df");
	values("n={n},{m}", "{n} {m}");
}

static void bad(void **state)
{
	(void)state;
	refused("", "write it as NAME=");
	refused("n", "write it as NAME=");
	refused("n=", "write it as NAME=");
	refused("=1,2", "write it as NAME=");
	refused("=", "write it as NAME=");
	refused("{n}=1,2", "write it as NAME=");
	refused("n}=1,2", "write it as NAME=");
	refused("n=1..", "write a range as");
	refused("n=..4", "write a range as");
	refused("n=..", "write a range as");
	refused("n=.5..1:.5", "write a range as");
	refused("n=1..4/2", "write a range as");
	refused("n=1...4", "write a range as");
	refused("n=1..4:", "write a range as");
	refused("n=1..4:1:1", "write a range as");
	refused("n=1..4 ", "write a range as");
	refused("n=1..4x", "write a range as");
	refused("n=a..z", "write a range as");
	refused("n=nan..4", "write a range as");
	refused("n=1..nan", "write a range as");
	refused("n=1..inf", "write a range as");
	refused("n=1..1e9", "write a range as");
	refused("n=0x1..0x4", "write a range as");
	refused("n=-..4", "write a range as");
	refused("n=--1..4", "write a range as");
	refused("n=1..9999999999999", "write a range as");
	refused("n=0.0000001..1:1", "write a range as");
	refused("n=1..99999999999999999999999999999999999999", "write a range as");
	refused("n=0.1..0.5", "needs its step");
	refused("n=1..4.5", "needs its step");
	refused("n=1..4:0", "never leads");
	refused("n=1..4:0.000", "never leads");
	refused("n=4..4:0", "never leads");
	refused("n=1..4:-1", "never leads");
	refused("n=4..1:1", "never leads");
	refused("n=1..1000000000", "makes 1000000000 subjects");
	refused("n=0..999999999999:0.000001", "makes more than 1000000000000000 subjects");
	refused("n=1..17", "makes 17 subjects");
	refused("m=1,2", "no word holds {m}");
	refused("nn=1,2", "no word holds {nn}");
	refused("N=1,2", "no word holds {N}");
}

static void refused_all(const dck_subject *s, size_t n, dck_list list, const char *part)
{
	dck_alternative *all = NULL;
	dck_err err = {0};
	size_t nall = 0;

	assert_int_equal(dck_alternatives_scan(s, n, &list, &all, &nall, &err), DCK_E_ARG);
	if (!strstr(err.msg, part))
		fail_msg("%s", err.msg);
	assert_null(all);
}

static void products(void **state)
{
	const dck_subject s = program(WORDS("./{tool}", "-{n}", "{n}{tool}{x}", "{{n}}"));
	made m = make(&s, 1, SCANS("tool=a,b", "n=1..3"));
	dck_list many = {.n = DCK_LIST_MAX};
	char names[DCK_LIST_MAX][32];

	(void)state;
	assert_int_equal(m.n, 6);
	assert_string_equal(m.all[0].subject->argv[0], "./a");
	assert_string_equal(m.all[0].subject->argv[1], "-1");
	assert_string_equal(m.all[0].subject->argv[2], "1a{x}");
	assert_string_equal(m.all[0].subject->argv[3], "{1}");
	assert_null(m.all[0].subject->argv[4]);
	assert_string_equal(m.all[1].subject->argv[1], "-2");
	assert_string_equal(m.all[5].subject->argv[0], "./b");
	assert_string_equal(m.all[5].name, "./b -3 '3b{x}' '{3}'");
	dck_free(m.all);
	refused_all(&s, 1, SCANS("tool=a,b", "n=1..9"), "makes 18 subjects");
	refused_all(&s, 1, SCANS("n=1,2", "tool=a,b", "n=1,2"), "{n} its values twice");
	refused_all(&s, 1, SCANS("n=1,2", "q=a,b"), "no word holds {q}");
	/* The product 2^64 must not wrap to 0. */
	char word[2048] = "";
	for (size_t i = 0; i < DCK_LIST_MAX; i++) {
		snprintf(names[i], sizeof names[i], "v%zu=0,1", i);
		many.item[i] = names[i];
		snprintf(word + strlen(word), sizeof word - strlen(word), "{v%zu}", i);
	}
	const dck_subject all = program(WORDS("echo", word));
	refused_all(&all, 1, many, "subjects");
}

/* Each subject is expanded by the scans that it contains. */
static void several(void **state)
{
	dck_subject s[3] = {program(WORDS("a", "{n}")), program(WORDS("b")),
			    program(WORDS("c", "{n}", "{m}"))};
	made m = make(s, 3, SCANS("n=1,2", "m=x,y"));

	(void)state;
	assert_int_equal(m.n, 2 + 1 + 4);
	assert_string_equal(m.all[0].name, "a 1");
	assert_string_equal(m.all[1].name, "a 2");
	assert_string_equal(m.all[2].name, "b");
	assert_string_equal(m.all[3].name, "c 1 x");
	assert_string_equal(m.all[6].name, "c 2 y");
	dck_free(m.all);
	dck_subject_init(&s[1]);
	s[1].kind = DCK_SUBJECT_MODEL;
	s[1].text = "zoo:simplenet";
	m = make(s, 2, SCANS("n=1,2"));
	assert_int_equal(m.n, 3);
	assert_string_equal(m.all[2].name, "zoo:simplenet");
	assert_string_equal(m.all[2].subject->text, "zoo:simplenet");
	dck_free(m.all);
	refused_all(&s[1], 1, SCANS("n=1,2"), "compare --vary");
	refused_all(s, 0, SCANS("n=1,2"), "0 subjects");
	refused_all(s, DCK_ALTERNATIVES_MAX + 1, SCANS("n=1,2"), "17 subjects");
}

static void hooks(void **state)
{
	dck_subject s = program(WORDS("run"));

	(void)state;
	s.command.setup = "sh -c 'mk \"{n}\"'";
	s.command.prepare = "drop {n} {x}";
	s.command.cleanup = "rm  'all of it'";
	const made m = make(&s, 1, SCANS("n=a b,it's,"));
	assert_int_equal(m.n, 3);
	/* A value is never split into words, and quotes in it do not end a word. */
	assert_string_equal(m.all[0].subject->command.setup, "sh -c 'mk \"a b\"'");
	assert_string_equal(m.all[0].subject->command.prepare, "drop 'a b' '{x}'");
	assert_string_equal(m.all[1].subject->command.prepare, "drop 'it'\\''s' '{x}'");
	assert_string_equal(m.all[2].subject->command.prepare, "drop '' '{x}'");
	assert_ptr_equal(m.all[1].subject->command.cleanup, s.command.cleanup);
	/* The words are equal: the names are made unique. */
	assert_string_equal(m.all[0].name, "run");
	assert_string_equal(m.all[1].name, "run (2)");
	assert_string_equal(m.all[2].name, "run (3)");
	dck_free(m.all);
	s.command.setup = "sh -c 'mk {n}";
	refused_all(&s, 1, SCANS("n=1,2"), "reading --setup");
}

static void names(void **state)
{
	char word[400], other[400];
	dck_subject s[2] = {program(WORDS("sh", "-c", "sleep 0.0{n}")),
			    program(WORDS(other, "{n}"))};
	made m = make(s, 1, SCANS("n=1,2"));

	(void)state;
	assert_string_equal(m.all[1].name, "sh -c 'sleep 0.02'");
	dck_free(m.all);
	/* Long names are shortened to the parts that differ. */
	for (size_t i = 0; i + 2 < sizeof word; i += 2)
		memcpy(word + i, "\u00fc", 3);
	s[0].argv = WORDS(word, "{n}", "{m}");
	m = make(s, 1, SCANS("n=1,2", "m=a,b c"));
	assert_string_equal(m.all[0].name, "n=1 m=a");
	assert_string_equal(m.all[3].name, "n=2 m=b c");
	dck_free(m.all);
	memcpy(other, word, sizeof word);
	m = make(s, 2, SCANS("n=1,2", "m=a"));
	assert_int_equal(m.n, 4);
	for (size_t i = 0; i < m.n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(m.all[i].name, m.all[k].name);
	assert_non_null(strstr(m.all[0].name, "\u00fc.. n=1 m=a"));
	dck_free(m.all);
	char scan[1200];
	int n = snprintf(scan, sizeof scan, "n=%s1,%s2", word, word);
	assert_true(n > 0 && (size_t)n < sizeof scan);
	s[0].argv = WORDS("run", "{n}");
	m = make(s, 1, SCANS(scan));
	assert_true(strlen(m.all[0].name) < 160);
	assert_string_not_equal(m.all[0].name, m.all[1].name);
	assert_string_equal(m.all[1].subject->argv[1] + strlen(word), "2");
	dck_free(m.all);
}

static void twice(void **state)
{
	const dck_subject s = program(WORDS("run", "{n}"));
	const made m = make(&s, 1, SCANS("n=1,1,1"));

	(void)state;
	assert_string_equal(m.all[0].name, "run 1");
	assert_string_equal(m.all[1].name, "run 1 (2)");
	assert_string_equal(m.all[2].name, "run 1 (3)");
	dck_free(m.all);
}

/* 300 KiB of placeholders, each to expand to 300 KiB. */
static void amplified(void **state)
{
	enum { N = 300 << 10 };
	char *word = malloc(N + 1), *scan = malloc(N + 3);

	(void)state;
	assert_non_null(word);
	assert_non_null(scan);
	for (size_t i = 0; i < N; i += 3)
		memcpy(word + i, "{n}", 3);
	word[N / 3 * 3] = '\0';
	memset(scan, 'x', N + 2);
	memcpy(scan, "n=", 2);
	scan[N + 2] = '\0';
	scan[N / 2] = ',';
	const dck_subject s = program(WORDS("run", word));
	refused_all(&s, 1, SCANS(scan), "longer than 4 MiB");
	free(word);
	free(scan);
}

static void no_memory(void **state)
{
	dck_subject s = program(WORDS("run", "{n}"));
	const dck_list list = SCANS("n=1..3");
	dck_status status = DCK_E_NOMEM;

	(void)state;
	s.command.prepare = "drop {n}";
	for (size_t k = 1; status != DCK_OK; k++) {
		dck_alternative *all = NULL;
		fault_alloc f;
		dck_err err;
		size_t n;

		fault_alloc_begin(&f, k);
		status = dck_alternatives_scan(&s, 1, &list, &all, &n, &err);
		if (status == DCK_OK)
			dck_free(all);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
		assert_true(status == DCK_OK || status == DCK_E_NOMEM);
	}
}

int test_scan(void);
int test_scan(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges),	 cmocka_unit_test(lists),   cmocka_unit_test(bad),
	    cmocka_unit_test(products),	 cmocka_unit_test(several), cmocka_unit_test(hooks),
	    cmocka_unit_test(names),	 cmocka_unit_test(twice),   cmocka_unit_test(amplified),
	    cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
