/* test_report_svg.c - ticks of chart axes with any ends.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "report/figures/svg.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* Returns the number of an axis's ticks: each is a text element, like the axis title. */
static int ticks_of(svg_axis a)
{
	dck_buffer got = {0};
	dck_sink out;
	int n = 0;
	svg s;

	a.title = "x";
	dck_sink_buffer(&out, &got);
	svg_open(&s, &out, "axes");
	svg_axis_x(&s, a);
	svg_close(&s);
	assert_int_equal(dck_sink_finish(&out, NULL), DCK_OK);
	assert_null(strstr(got.data, "nan"));
	for (const char *at = got.data; (at = strstr(at, "<text")); at++)
		n++;
	dck_buffer_done(&got);
	return n - 2;
}

static void ticks_are_few(void **state)
{
	(void)state;
	assert_int_equal(ticks_of((svg_axis){.from = 0, .to = 10}), 6);
	assert_int_equal(ticks_of((svg_axis){.from = -1, .to = 1}), 5);
	for (double to = 1; to < 12; to += 0.25) {
		const int n = ticks_of((svg_axis){.from = 0, .to = to});

		assert_true(n >= 3 && n <= 7);
	}
}

/* A range with one power of ten in it has more than its label. */
static void logarithmic_axes_have_labels(void **state)
{
	(void)state;
	assert_int_equal(ticks_of((svg_axis){.from = 7, .to = 60, .base = 10}), 3);
	assert_int_equal(ticks_of((svg_axis){.from = 20, .to = 90, .base = 10}), 2);
	assert_int_equal(ticks_of((svg_axis){.from = 1, .to = 1000, .base = 10}), 4);
	assert_int_equal(ticks_of((svg_axis){.from = 1, .to = 8, .base = 2}), 4);
}

/* Ends that differ by a few ulps, where adding a step does not change a value. */
static void ends_that_nearly_meet(void **state)
{
	static const double ends[] = {1e9, -1e9, 1.5e300, 5e15, 1e-300};

	(void)state;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		double to = ends[i];

		for (int ulps = 0; ulps < 40; ulps++, to = nextafter(to, INFINITY)) {
			const int n = ticks_of((svg_axis){.from = ends[i], .to = to});

			assert_true(n >= 1 && n <= 13);
			if (ends[i] > 0)
				ticks_of((svg_axis){.from = ends[i], .to = to, .base = 10});
		}
	}
}

int test_report_svg(void);
int test_report_svg(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ticks_are_few),
	    cmocka_unit_test(logarithmic_axes_have_labels),
	    cmocka_unit_test(ends_that_nearly_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
