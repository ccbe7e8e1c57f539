/* test_cuda_work.c - works of CUDA joined to the calls that enqueued them, on doubles of its driver
 * and of CUPTI in real time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "base/mem.h"
#include "device/cuda_work.h"
#include "device/device.h"

int test_cuda_work(void);

extern const device_driver device_cuda;

enum { BYTES = 1 << 20 };

static int work_begin(void **state)
{
	char path[600];
	const char *doubles = getenv("DOUBLES") ? getenv("DOUBLES") : "";

	(void)state;
	snprintf(path, sizeof path, "%s/libcupti.so.13", doubles);
	setenv("DEEPCLOCK_CUPTI", path, 1);
	setenv("CUDA_DOUBLE_REAL_TIME", "1", 1);
	snprintf(path, sizeof path, "%s/libcuda.so.1", doubles);
	return dlopen(path, RTLD_NOW) ? 0 : -1;
}

static int work_end(void **state)
{
	(void)state;
	unsetenv("CUDA_DOUBLE_REAL_TIME");
	unsetenv("CUPTI_DOUBLE_DROP");
	return 0;
}

static uint64_t real_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void copy(device_queue *q, device_memory *m)
{
	static unsigned char from[BYTES];
	dck_err err;

	assert_int_equal(device_cuda.copy_host(q, DEVICE_FROM_HOST, m, 0, from, BYTES, &err), 0);
	assert_int_equal(device_cuda.wait(q, DEVICE_WAIT_BLOCK, &err), 0);
}

static void works_have_calls_and_times(void **state)
{
	device *d;
	device_queue *q;
	device_memory *m;
	dck_err err;
	cuda_work *w;
	const char *why = NULL;
	uint64_t before[3], after[3];

	(void)state;
	assert_int_equal(device_cuda.open(0, &d, &err), 0);
	assert_int_equal(device_cuda.queue_open(d, &q, &err), 0);
	assert_int_equal(device_cuda.memory_open(d, BYTES, &m, &err), 0);
	assert_int_equal(cuda_work_end(&w), 0); /* none was begun */
	assert_null(w);
	copy(q, m); /* it is before the recording */
	for (int again = 0; again < 2; again++) {
		if (!cuda_work_begin(&why))
			fail_msg("%s", why);
		assert_false(cuda_work_begin(&why));
		for (int i = 0; i < 3; i++) {
			before[i] = real_now();
			copy(q, m);
			after[i] = real_now();
		}
		assert_int_equal(cuda_work_end(&w), 3);
		for (int i = 0; i < 3; i++) {
			assert_in_range(w[i].called_ns, before[i], after[i]);
			assert_in_range(w[i].took_ns, 1, after[i] - before[i]);
			/* By our clock, as far as both were read without an interruption. */
			assert_in_range(w[i].began_ns, w[i].called_ns, after[i] + 1000000000);
			assert_true(i == 0 || w[i].began_ns >= w[i - 1].began_ns);
			assert_true(w[i].took_ns == w[0].took_ns ||
				    w[i].took_ns + 2 > w[0].took_ns);
		}
		mem_free(w);
	}
	/* Without all records there is no answer. */
	setenv("CUPTI_DOUBLE_DROP", "100", 1);
	assert_true(cuda_work_begin(&why));
	copy(q, m);
	assert_int_equal(cuda_work_end(&w), 0);
	assert_null(w);
	device_cuda.memory_close(m);
	device_cuda.queue_close(q);
	device_cuda.close(d);
}

static void reasons_are_given(void **state)
{
	const char *why = NULL;

	(void)state;
	setenv("CUPTI_DOUBLE_FAIL", "cuptiSubscribe=35", 1);
	assert_false(cuda_work_begin(&why));
	assert_non_null(why);
	setenv("CUPTI_DOUBLE_FAIL", "cuptiActivityEnable=1", 1);
	assert_false(cuda_work_begin(&why));
	unsetenv("CUPTI_DOUBLE_FAIL");
	assert_true(cuda_work_begin(&why));
	cuda_work *w;
	assert_int_equal(cuda_work_end(&w), 0);
}

int test_cuda_work(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(works_have_calls_and_times),
	    cmocka_unit_test(reasons_are_given),
	};
	return cmocka_run_group_tests_name("cuda_work", tests, work_begin, work_end);
}
