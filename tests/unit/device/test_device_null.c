/* The null device: exact times, the sticky error. And the functions of devices.c that need no
 * driver: names of devices, the table, the choice of a wait.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/device_null.h"

#include <math.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define OK(call) assert_int_equal((call), DCK_OK)

static const device_null_times times = {.enqueue_ns = 5,
					.lag_ns = 100,
					.wake_ns = 40,
					.copy_ns = 20,
					.copy_byte_ns = 2,
					.kernel_ns = 1000,
					.work_ns = 0.5};

typedef struct bench {
	device *d;
	device_queue *q;
	device_mark *from, *to;
	device_memory *m;
	device_kernel *k;
	dck_clock clock;
} bench;

static void bench_open(bench *b)
{
	OK(device_open("null", &b->d, NULL));
	device_null_set(b->d, &times);
	device_null_clock(b->d, &b->clock);
	OK(device_queue_open(b->d, &b->q, NULL));
	OK(device_mark_open(b->d, &b->from, NULL));
	OK(device_mark_open(b->d, &b->to, NULL));
	OK(device_memory_open(b->d, 1000, &b->m, NULL));
	OK(device_kernel_open(b->d, "work", "work", &b->k, NULL));
}

static void bench_close(bench *b)
{
	device_kernel_close(b->k);
	device_memory_close(b->m);
	device_mark_close(b->from);
	device_mark_close(b->to);
	device_queue_close(b->q);
	device_close(b->d);
}

static uint64_t now(const bench *b)
{
	return b->clock.now_ns(b->clock.self);
}

static void exact_times(void **state)
{
	unsigned char bytes[100];
	double ns = -1;
	bench b;

	(void)state;
	bench_open(&b);
	assert_int_equal(now(&b), 0);
	/* Enqueued at 5, begins at 105; 4 x 8 items of 3 steps: 1000 + 48. */
	OK(device_mark_record(b.q, b.from, NULL));
	OK(device_kernel_run(b.q, b.k, &(device_arg){.word = 3}, 1, 4, 8, NULL));
	OK(device_mark_record(b.q, b.to, NULL));
	assert_int_equal(now(&b), 15);
	OK(device_wait(b.q, DEVICE_WAIT_SPIN, NULL));
	/* The kernel was enqueued at 10 and began at 110. */
	assert_int_equal(now(&b), 110 + 1048);
	OK(device_mark_elapsed(b.from, b.to, &ns, NULL));
	assert_true(ns == 5 + 1048);
	/* A blocked wait takes 40 ns more; a queue that is idle is not waited for. */
	OK(device_copy_host(b.q, DEVICE_TO_HOST, b.m, 0, bytes, 100, NULL));
	OK(device_wait(b.q, DEVICE_WAIT_BLOCK, NULL));
	assert_int_equal(now(&b), 1158 + 5 + 100 + 220 + 40);
	OK(device_wait(b.q, DEVICE_WAIT_BLOCK, NULL));
	assert_int_equal(now(&b), 1523);
	bench_close(&b);
}

static void marks_have_a_tick(void **state)
{
	device_null_times coarse = times;
	double ns = -1;
	bench b;

	(void)state;
	bench_open(&b);
	coarse.mark_tick_ns = 500;
	device_null_set(b.d, &coarse);
	assert_true(b.d->info.mark_tick_ns == 500);
	OK(device_mark_record(b.q, b.from, NULL));
	OK(device_kernel_run(b.q, b.k, NULL, 0, 1, 1, NULL));
	OK(device_mark_record(b.q, b.to, NULL));
	OK(device_wait(b.q, DEVICE_WAIT_SPIN, NULL));
	OK(device_mark_elapsed(b.from, b.to, &ns, NULL));
	assert_true(ns == 1000); /* from 105 to 1110.5: from 0 to 1000 */
	bench_close(&b);
}

/* Queues run in parallel. */
static void queues_overlap(void **state)
{
	device_queue *q = NULL;
	bench b;

	(void)state;
	bench_open(&b);
	OK(device_queue_open(b.d, &q, NULL));
	OK(device_kernel_run(b.q, b.k, NULL, 0, 2, 1, NULL));
	OK(device_kernel_run(q, b.k, NULL, 0, 2, 1, NULL));
	OK(device_wait(b.q, DEVICE_WAIT_SPIN, NULL));
	OK(device_wait(q, DEVICE_WAIT_SPIN, NULL));
	assert_int_equal(now(&b), 10 + 100 + 1001);
	device_queue_close(q);
	bench_close(&b);
}

/* A read before the wait returns the old contents. */
static void copies_happen_at_the_wait(void **state)
{
	unsigned char from[4] = {1, 2, 3, 4}, to[4] = {0};
	bench b;

	(void)state;
	bench_open(&b);
	OK(device_copy_host(b.q, DEVICE_FROM_HOST, b.m, 0, from, 4, NULL));
	OK(device_copy_host(b.q, DEVICE_TO_HOST, b.m, 0, to, 4, NULL));
	assert_int_equal(to[0], 0);
	OK(device_wait(b.q, DEVICE_WAIT_SPIN, NULL));
	assert_memory_equal(to, from, 4);
	bench_close(&b);
}

static void an_error_is_sticky(void **state)
{
	device_memory *m = NULL;
	device_queue *q = NULL;
	device_kernel *k = NULL;
	uint64_t bytes = 0;
	void *pinned = NULL;
	double ns = -1;
	dck_err err;
	bench b;

	(void)state;
	bench_open(&b);
	device_null_break(b.d, "an illegal address");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(device_wait(b.q, DEVICE_WAIT_SPIN, &err), DCK_E_DEVICE);
		assert_string_equal(err.msg, "null: an illegal address");
	}
	assert_int_equal(device_mark_record(b.q, b.from, NULL), DCK_E_DEVICE);
	assert_int_equal(device_mark_elapsed(b.from, b.to, &ns, NULL), DCK_E_DEVICE);
	assert_int_equal(device_memory_open(b.d, 1, &m, NULL), DCK_E_DEVICE);
	assert_int_equal(device_queue_open(b.d, &q, NULL), DCK_E_DEVICE);
	assert_int_equal(device_host_alloc(b.d, 1, &pinned, NULL), DCK_E_DEVICE);
	assert_int_equal(device_memory_free(b.d, &bytes, &bytes, NULL), DCK_E_DEVICE);
	assert_int_equal(device_kernel_open(b.d, "work", "work", &k, NULL), DCK_E_DEVICE);
	assert_int_equal(device_kernel_run(b.q, b.k, NULL, 0, 1, 1, NULL), DCK_E_DEVICE);
	assert_int_equal(device_copy_host(b.q, DEVICE_FROM_HOST, b.m, 0, &bytes, 8, NULL),
			 DCK_E_DEVICE);
	bench_close(&b);
}

/* --- devices.c */

static void names_of_devices(void **state)
{
	static const struct {
		const char *text;
		dck_status status;
		const char *message;
	} wrong[] = {
	    {"", DCK_E_ARG, "'' is not a device: it is one of gpu, "},
	    {"npu", DCK_E_ARG, "'npu' is not a device: it is one of gpu, "},
	    {"nul", DCK_E_ARG, "'nul' is not a device: "},
	    {"null:", DCK_E_ARG, "'null:' is not a device: write null or null:N"},
	    {"null:-1", DCK_E_ARG, "'null:-1' is not a device: write null or null:N"},
	    {"null:0x", DCK_E_ARG, "'null:0x' is not a device: write null or null:N"},
	    {"null:99999999999999999999", DCK_E_ARG, "is not a device"},
	    {"null:1", DCK_E_ABSENT, "there is no null:1: null has 1 device, from null:0"},
	};
	device *d = NULL;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(device_open(wrong[i].text, &d, &err), wrong[i].status);
		if (!strstr(err.msg, wrong[i].message))
			fail_msg("%s: %s", wrong[i].text, err.msg);
		assert_null(d);
	}
	OK(device_open("null:0", &d, NULL));
	assert_string_equal(d->driver->name, "null");
	device_close(d);
	device_close(NULL);
}

static void the_table(void **state)
{
	size_t n = 0;

	(void)state;
	for (const device_driver *r; (r = device_driver_at(n)); n++) {
		assert_ptr_equal(device_driver_find(r->name, strlen(r->name)), r);
		assert_true(r->remedy && r->kernel_language && r->count && r->open && r->close);
	}
	assert_string_equal(device_driver_at(n - 1)->name, "null");
	assert_null(device_driver_at(n));
	assert_null(device_driver_find("nul", 3));
	assert_null(device_driver_find("null:", 5));
}

static void the_wait_is_chosen(void **state)
{
	(void)state;
	assert_int_equal(device_wait_choose(1e3), DEVICE_WAIT_SPIN);
	assert_int_equal(device_wait_choose(1e6), DEVICE_WAIT_SPIN);
	assert_int_equal(device_wait_choose(1.1e6), DEVICE_WAIT_BLOCK);
	assert_int_equal(device_wait_choose(NAN), DEVICE_WAIT_BLOCK);
	assert_string_equal(device_wait_name(DEVICE_WAIT_SPIN), "spin");
	assert_string_equal(device_wait_name(DEVICE_WAIT_BLOCK), "block");
}

/* Members that a driver does not have are refused, not called. */
static void what_a_driver_does_not_offer(void **state)
{
	static const device_driver empty = {.name = "empty"};
	device d = {.driver = &empty};
	device_queue q = {.d = &d};
	device_mark mark = {.d = &d};
	device_memory memory = {.d = &d, .bytes = 8};
	device_kernel kernel = {.d = &d};
	uint64_t n;
	void *p;
	double ns;
	dck_err err;

	(void)state;
	assert_int_equal(device_queue_open(&d, (device_queue **)&p, &err), DCK_E_UNSUP);
	assert_string_equal(err.msg, "empty does not offer queues");
	assert_int_equal(device_wait(&q, DEVICE_WAIT_SPIN, NULL), DCK_E_UNSUP);
	assert_int_equal(device_mark_open(&d, (device_mark **)&p, NULL), DCK_E_UNSUP);
	assert_int_equal(device_mark_record(&q, &mark, NULL), DCK_E_UNSUP);
	assert_int_equal(device_mark_elapsed(&mark, &mark, &ns, NULL), DCK_E_UNSUP);
	assert_int_equal(device_memory_open(&d, 8, (device_memory **)&p, NULL), DCK_E_UNSUP);
	assert_int_equal(device_memory_free(&d, &n, &n, NULL), DCK_E_UNSUP);
	assert_int_equal(device_host_alloc(&d, 8, &p, NULL), DCK_E_UNSUP);
	assert_int_equal(device_copy_host(&q, DEVICE_TO_HOST, &memory, 0, &ns, 8, NULL),
			 DCK_E_UNSUP);
	assert_int_equal(device_copy(&q, &memory, 0, &memory, 4, 4, NULL), DCK_E_UNSUP);
	assert_int_equal(device_kernel_open(&d, "", "", (device_kernel **)&p, NULL), DCK_E_UNSUP);
	assert_int_equal(device_kernel_run(&q, &kernel, NULL, 0, 1, 1, NULL), DCK_E_UNSUP);
}

int test_device_null(void);
int test_device_null(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exact_times),
	    cmocka_unit_test(marks_have_a_tick),
	    cmocka_unit_test(queues_overlap),
	    cmocka_unit_test(copies_happen_at_the_wait),
	    cmocka_unit_test(an_error_is_sticky),
	    cmocka_unit_test(names_of_devices),
	    cmocka_unit_test(the_table),
	    cmocka_unit_test(the_wait_is_chosen),
	    cmocka_unit_test(what_a_driver_does_not_offer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
