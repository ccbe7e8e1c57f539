/* test_progress_text.c - the progress line of a measurement.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/observer.h"

#define MS UINT64_C(1000000)

static void shown(const dck_progress *p, bool utf8, unsigned width, const char *expected)
{
	char line[512];

	assert_string_equal(dck_progress_text(p, utf8, width, line, sizeof line), expected);
}

static void of_a_number_that_is_not_known(void **state)
{
	dck_progress p = progress_indeterminate("measure");

	(void)state;
	shown(&p, true, 79, "measure   ");
	p.runs = 1;
	shown(&p, true, 79, "measure     1 run");
	p.runs = 1200;
	p.elapsed_ns = 3000 * MS;
	p.done_ratio = 0.5;
	p.estimate_ns = 17.8e6;
	p.eta_ns = 2.2e9;
	shown(&p, false, 79, "measure     1,200 runs  [##########----------]  17.8 ms  3 s left");
	shown(&p, true, 60, "measure     1,200 runs  17.8 ms  3 s left");
}

static void of_a_known_number(void **state)
{
	dck_progress p = progress_indeterminate("warm-up");

	(void)state;
	p.runs_total = 300;
	shown(&p, true, 79, "warm-up     0 of 300  0 %");
	p.runs = 75;
	p.elapsed_ns = 3000 * MS;
	p.done_ratio = 0.25;
	p.eta_ns = 9e9;
	p.estimate_ns = 40e6;
	p.lo_ns = 39e6;
	p.hi_ns = 41e6;
	shown(&p, false, 79,
	      "warm-up     75 of 300  25 %  25 it/s  9 s left  40.0 ms  39.0 ms..41.0 ms");
	/* The interval is cut first; the remaining time is not. */
	shown(&p, true, 60, "warm-up     75 of 300  25 %  25 it/s  9 s left  40.0 ms");
	shown(&p, true, 30, "warm-up     75 of 300  25 %  2");
	/* 100 % is shown only when all runs are done. */
	p.runs = 299;
	shown(&p, true, 36, "warm-up     299 of 300  99 %  99.7 i");
	p.runs = 300;
	p.elapsed_ns = 100 * MS;
	p.eta_ns = 0;
	shown(&p, true, 55, "warm-up     300 of 300  100 %  3,000 it/s  0 s left  40");
	/* Slow runs. */
	p.runs = 1;
	p.elapsed_ns = 8000 * MS;
	shown(&p, true, 36, "warm-up     1 of 300  0 %  0.125 it/");
}

static void of_parts(void **state)
{
	dck_progress p = progress_fraction("processes", 2, 8, 4000 * MS);

	(void)state;
	shown(&p, true, 79, "processes   2 of 8  25 %  0.5 it/s  12 s left");
	p = progress_fraction("processes", 0, 8, 10 * MS);
	shown(&p, true, 79, "processes   0 of 8  0 %");
}

static void of_no_bytes(void **state)
{
	const dck_progress p = progress_indeterminate("measure");
	char line[] = "line";

	(void)state;
	dck_progress_text(&p, true, 0, line, 0);
	assert_string_equal(line, "line");
}

int test_progress_text(void);
int test_progress_text(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_a_number_that_is_not_known),
	    cmocka_unit_test(of_a_known_number),
	    cmocka_unit_test(of_parts),
	    cmocka_unit_test(of_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
