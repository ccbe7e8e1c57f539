/* Line numbers of instructions: tables that each version's compiler made of one function, with the
 * lines that the interpreter itself reads from them; and bytes that no compiler makes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_layout.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* def f(a):                              in line 301
 *     x = [i
 *          for i in a]
 *     for y in x:
 *         if y: (
 *             g(y,
 *               1))
 *
 *     try:
 *         g(2)
 *     except ValueError as e:
 *         pass
 *     return x */
static const struct {
	uint32_t version;
	int32_t size; /* of the bytecode */
	unsigned char table[256];
	struct {
		int32_t from;
		int line;
	} runs[32];
} functions[] = {
    {0x03080000,
     90,
     {0, 1, 6, 1, 2, 255, 6, 2, 8, 1, 4, 1, 4, 1, 2, 255, 2, 255, 4, 4, 2, 1, 12, 1, 16, 1, 18, 1},
     {{0, 302},
      {6, 303},
      {8, 302},
      {14, 304},
      {22, 305},
      {26, 306},
      {30, 307},
      {32, 306},
      {34, 305},
      {38, 309},
      {40, 310},
      {52, 311},
      {68, 312},
      {86, 313}}},
    {0x030a0000,
     92,
     {6,   1, 2, 1,  6, 255, 8, 2,  4,	 1,  4, 1, 2, 1, 4,   255, 2,
      128, 2, 3, 10, 1, 4,   3, 14, 254, 10, 1, 4, 1, 8, 128, 2,   254},
     {{0, 302},
      {6, 303},
      {8, 302},
      {14, 304},
      {22, 305},
      {26, 306},
      {30, 307},
      {32, 306},
      {36, 0},
      {38, 309},
      {40, 310},
      {50, 313},
      {54, 311},
      {68, 312},
      {78, 313},
      {82, 0},
      {90, 311}}},
    {0x030b0000,
     156,
     {128, 0,	240, 2,	  1,   9,   21,	 240, 0,   1,	9,   21,  216, 18,  19,	 240, 3,   1,
      9,   21,	241, 0,	  1,   9,   21,	 244, 0,   1,	9,   21,  128, 65,  224, 13,  14,  240,
      0,   3,	5,   18,  240, 0,   3,	 5,   18,  136, 1,   216, 11,  12,  240, 0,   2,   9,
      18,  221, 12,  13,  136, 97,  216, 14,  15,  241, 3,   1,	  13,  17,  244, 0,   1,   13,
      17,  240, 0,   1,	  13,  17,  248, 240, 6,   3,	5,   13,  221, 8,   9,	 136, 33,  137,
      4,   140, 4,   136, 4,   136, 4,	 248, 221, 11,	21,  240, 0,   1,   5,	 13,  240, 0,
      1,   5,	13,  240, 0,   1,   5,	 13,  216, 8,	12,  136, 4,   136, 4,	 136, 4,   136,
      4,   248, 248, 248, 248, 240, 3,	 1,   5,   13,	248, 248, 248, 224, 11,	 12,  128, 72},
     {{0, 301},
      {2, 302},
      {6, 303},
      {8, 302},
      {26, 304},
      {34, 305},
      {38, 306},
      {52, 307},
      {54, 306},
      {70, 0},
      {72, 309},
      {74, 310},
      {106, 0},
      {108, 311},
      {126, 312},
      {136, 0},
      {144, 311},
      {146, 0},
      {152, 313}}},
    {0x030d0000,
     182,
     {128, 0,	225, 18,  19,  243, 3,	1,  9,	 21,  217, 18,	19,  136, 81,  243, 3,	 0,   10,
      11,  217, 18,  19,  240, 3,   0,	5,  6,	 240, 0,   1,	9,   21,  227, 13,  14,	 136, 1,
      223, 11,	12,  136, 49,  220, 12, 13, 136, 97,  216, 14,	15,  246, 3,   1,   13,	 17,  241,
      5,   0,	14,  15,  240, 10,  3,	5,  13,	 220, 8,   9,	136, 33,  140, 4,   240, 6,   0,
      12,  13,	128, 72,  249, 242, 23, 1,  9,	 21,  248, 244, 18,  0,	  12,  22,  243, 0,   1,
      5,   13,	219, 8,	  12,  216, 11, 12, 128, 72,  251, 240, 5,   1,	  5,   13,  250},
     {{0, 301},	  {2, 303},   {6, 302},	  {14, 303},  {20, 302}, {28, 303},  {32, 302},
      {36, 304},  {46, 305},  {64, 306},  {76, 307},  {78, 306}, {92, 304},  {96, 309},
      {98, 310},  {120, 313}, {124, 0},	  {128, 302}, {134, 0},	 {136, 311}, {154, 312},
      {162, 313}, {166, 0},   {174, 311}, {176, 0}}},
};

static size_t table_size(const unsigned char *table)
{
	size_t n = sizeof functions[0].table;

	while (!table[n - 1])
		n--;
	return n;
}

static void test_compilers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		size_t n = table_size(functions[i].table), run = 0;

		for (int32_t at = 0; at < functions[i].size; at += 2) {
			while (run + 1 < 32 &&
			       functions[i].runs[run + 1].line + functions[i].runs[run + 1].from &&
			       functions[i].runs[run + 1].from <= at)
				run++;
			assert_int_equal(
			    python_line(functions[i].version, functions[i].table, n, 301, at),
			    functions[i].runs[run].line);
		}
		assert_int_equal(python_line(functions[i].version, functions[i].table, n, 301, -1),
				 301);
	}
}

/* A distant line: a number of two bytes with a sign. */
static void test_far(void **state)
{
	const unsigned char no_columns[] = {0x80 | 13 << 3, 0x40 | 18, 3,
					    0x80 | 13 << 3, 0x40 | 19, 3};

	(void)state;
	assert_int_equal(python_line(0x030c0000, no_columns, 6, 1000, 0), 1105);
	assert_int_equal(python_line(0x030c0000, no_columns, 6, 1000, 2), 1000);
	assert_int_equal(python_line(0x030c0000, no_columns, 6, 1000, 4), 0);
	/* 3.8, 3.9: steps of more than a byte are split. */
	const unsigned char steps[] = {0, 127, 255, 73, 1, 0x80};

	assert_int_equal(python_line(0x03080000, steps, 6, 1, 254), 128);
	assert_int_equal(python_line(0x03080000, steps, 6, 1, 255), 201);
	assert_int_equal(python_line(0x03080000, steps, 6, 1, 256), 73);
	assert_int_equal(python_line(0x03080000, NULL, 0, 7, 256), 7);
}

/* Any bytes, in memory of exactly their size, so that sanitizers detect a read past them. */
static void test_hostile(void **state)
{
	uint64_t rng = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t n = rng_next(&rng) % 40;
		unsigned char *table = malloc(n + !n);

		for (size_t k = 0; k < n; k++)
			table[k] = (unsigned char)rng_next(&rng);
		for (uint32_t minor = 8; minor < 15; minor++)
			python_line(3u << 24 | minor << 16, table, n, INT32_MAX / 2,
				    (int32_t)(rng_next(&rng) % 100));
		free(table);
	}
}

int test_python_lines(void);
int test_python_lines(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_compilers),
	    cmocka_unit_test(test_far),
	    cmocka_unit_test(test_hostile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
