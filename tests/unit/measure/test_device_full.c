/* test_device_full.c - a device whose memory is exhausted and fits again, 50 times in one process:
 * a measurement that fails leaves nothing on the device. The plug-in is a double, which has memory
 * for ten items.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "deepclock/bench.h"
#include "deepclock/load.h"
#include "deepclock/record.h"

#define TIMES 50

static dck_subject device_subject(const char *dim)
{
	dck_subject s;

	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_PLUGIN;
	s.text = getenv("DEVICE_PLUGIN"); /* the plug-in's path; the build sets it */
	assert_non_null(s.text);
	s.model.engine_option.item[0] = "memory=10000";
	s.model.engine_option.item[1] = "item_bytes=1000";
	s.model.engine_option.n = 2;
	s.model.dim.item[0] = dim;
	s.model.dim.n = 1;
	return s;
}

static dck_status bench(const char *dim, dck_err *err)
{
	const dck_subject s = device_subject(dim);
	dck_plan plan;
	dck_record *r = NULL;

	dck_plan_init(&plan);
	plan.runs = 5;
	plan.warmup = "0";
	const dck_status status = dck_bench(&s, &plan, NULL, &r, err);
	dck_record_free(r);
	return status;
}

static void measurements_leave_nothing(void **state)
{
	dck_err err = {0};

	(void)state;
	for (int i = 0; i < TIMES; i++) {
		assert_int_equal(bench("N=11", &err), DCK_E_NOMEM);
		assert_string_equal(err.msg, "CUDA failure 2: out of memory");
		err = (dck_err){0};
		if (bench("N=10", &err) != DCK_OK)
			fail_msg("after %d times: %s", i + 1, err.msg);
	}
}

/* Each stream of a load has a context; the third does not fit. */
static void streams_leave_nothing(void **state)
{
	const dck_subject large = device_subject("N=4");
	dck_load_config c;
	dck_record *r = NULL;
	dck_err err = {0};

	(void)state;
	dck_load_config_init(&c);
	c.requests = 4;
	c.warmup = "0";
	for (int i = 0; i < 5; i++) {
		c.streams = 3;
		assert_int_equal(dck_load(&large, &c, NULL, &r, &err), DCK_E_NOMEM);
		c.streams = 2;
		if (dck_load(&large, &c, NULL, &r, &err) != DCK_OK)
			fail_msg("after %d times: %s", i + 1, err.msg);
		dck_record_free(r);
	}
}

int test_device_full(void);
int test_device_full(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(measurements_leave_nothing),
	    cmocka_unit_test(streams_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
