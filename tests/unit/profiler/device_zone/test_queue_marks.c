/* test_queue_marks.c - marks in a queue and their times on the host's clock: exact on the null
 * device, whose clock is the host's, and on a double of CUDA, whose clock drifts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/device_null.h"
#include "profiler/device_zone/queue_marks.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RANGES = 8192 };

/* What the sink gets. */
typedef struct got {
	struct {
		uint32_t name;
		uint64_t begin_ns, end_ns, flow;
	} ranges[RANGES];
	size_t open[64], depth, n;
	double error_ns;
} got;

static void on_begin(void *self, uint32_t name, uint64_t ns, uint64_t flow, double error_ns)
{
	got *g = self;

	assert_true(g->n < RANGES && g->depth < 64);
	g->ranges[g->n].name = name;
	g->ranges[g->n].begin_ns = ns;
	g->ranges[g->n].flow = flow;
	g->open[g->depth++] = g->n++;
	g->error_ns = isnan(error_ns) ? g->error_ns : error_ns;
}

static void on_end(void *self, uint64_t ns)
{
	got *g = self;

	assert_true(g->depth > 0);
	g->ranges[g->open[--g->depth]].end_ns = ns;
}

typedef struct bench {
	device *d;
	device_queue *q;
	device_kernel *k;
	dck_clock clock;
	queue_marks *m;
	got got;
	dck_err err;
} bench;

static void ok(dck_status status, const dck_err *err)
{
	if (status != DCK_OK)
		fail_msg("%s", err->msg);
}

static bench *null_bench(size_t marks, const device_null_times *times)
{
	bench *b = calloc(1, sizeof *b);

	assert_non_null(b);
	ok(device_open("null", &b->d, &b->err), &b->err);
	device_null_set(b->d, times);
	device_null_clock(b->d, &b->clock);
	device_null_advance(b->d, 1e15); /* as a host that runs for days */
	ok(device_queue_open(b->d, &b->q, &b->err), &b->err);
	ok(device_kernel_open(b->d, "k", "k", &b->k, &b->err), &b->err);
	ok(queue_marks_open(&(queue_marks_config){.queue = b->q,
						  .clock = &b->clock,
						  .marks = marks,
						  .sink = {&b->got, on_begin, on_end}},
			    &b->m, &b->err),
	   &b->err);
	return b;
}

static void bench_end(bench *b)
{
	queue_marks_close(b->m);
	device_kernel_close(b->k);
	device_queue_close(b->q);
	device_close(b->d);
	free(b);
}

static uint64_t now(const bench *b)
{
	return b->clock.now_ns(b->clock.self);
}

static void kernel(bench *b)
{
	ok(device_kernel_run(b->q, b->k, NULL, 0, 1, 1, &b->err), &b->err);
}

/* A command takes 5 ns to enqueue, begins 100 ns later and takes 1000. A bracket around a mark on
 * the idle queue is 105 ns wide, from the enqueueing to the mark itself. With the resolution of 1
 * ns on each side the offset is in [-106, 1]: the estimate -52.5 is off by 52.5. */
static const device_null_times lag = {.enqueue_ns = 5, .lag_ns = 100, .kernel_ns = 1000};

static void times_are_the_devices(void **state)
{
	bench *b = null_bench(64, &lag);

	(void)state;
	const uint64_t begin = now(b);
	assert_true(fabs(queue_marks_count(b->m).error_ns - 53.5) < 0.01);
	queue_marks_begin(b->m, 7, 70); /* at begin + 5 + 100 */
	kernel(b);			/* from begin + 10 + 100 to begin + 1110 */
	queue_marks_begin(b->m, 8, 80); /* at begin + 1110 */
	kernel(b);
	queue_marks_end(b->m); /* at begin + 2110 */
	kernel(b);
	queue_marks_end(b->m); /* at begin + 3110 */
	/* Nothing waited. */
	assert_int_equal(now(b), begin + 7 * 5);
	assert_int_equal(queue_marks_read(b->m), 4);
	assert_int_equal(b->got.n, 0);
	device_null_advance(b->d, 1200); /* the device has reached two marks */
	assert_int_equal(queue_marks_read(b->m), 2);
	assert_int_equal(b->got.n, 2);
	ok(queue_marks_finish(b->m, &b->err), &b->err);
	assert_int_equal(b->got.depth, 0);
	assert_int_equal(b->got.ranges[0].name, 7);
	assert_int_equal(b->got.ranges[0].flow, 70);
	assert_int_equal(b->got.ranges[1].flow, 80);
	/* Less the estimate's error: no mark was read soon enough to correct it. */
	assert_in_range(b->got.ranges[0].begin_ns, begin + 52, begin + 53);
	assert_in_range(b->got.ranges[1].begin_ns, begin + 1057, begin + 1058);
	assert_in_range(b->got.ranges[1].end_ns, begin + 2057, begin + 2058);
	assert_in_range(b->got.ranges[0].end_ns, begin + 3057, begin + 3058);
	assert_int_equal(queue_marks_count(b->m).ranges, 2);
	assert_int_equal(queue_marks_count(b->m).dropped, 0);
	assert_int_equal(queue_marks_count(b->m).steps, 0);
	assert_true(b->got.error_ns >= 52.5 && b->got.error_ns <= 54);
	bench_end(b);
}

/* Marks are few: further ranges are dropped with all of their ends, and those that remain are
 * whole.
 */
static void ranges_without_marks_are_dropped(void **state)
{
	bench *b = null_bench(8, &lag);

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		queue_marks_begin(b->m, i, i + 1);
		queue_marks_begin(b->m, 100 + i, i + 1);
		kernel(b);
		queue_marks_end(b->m);
		queue_marks_end(b->m);
	}
	assert_int_equal(queue_marks_count(b->m).dropped, 20 - 4);
	ok(queue_marks_finish(b->m, &b->err), &b->err);
	assert_int_equal(b->got.n, 4);
	assert_int_equal(b->got.depth, 0);
	/* Both inner and outer of the first two. */
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(b->got.ranges[i].name, i % 2 ? 100 + i / 2 : i / 2);
		assert_true(b->got.ranges[i].end_ns >= b->got.ranges[i].begin_ns + 999);
	}
	/* After reading there are marks again. */
	queue_marks_begin(b->m, 3, 1);
	queue_marks_end(b->m);
	ok(queue_marks_finish(b->m, &b->err), &b->err);
	assert_int_equal(b->got.n, 5);
	/* An end without a begin does nothing; a skipped range is not counted. */
	queue_marks_end(b->m);
	queue_marks_begin(b->m, 3, 0);
	queue_marks_end(b->m);
	ok(queue_marks_finish(b->m, &b->err), &b->err);
	assert_int_equal(b->got.n, 5);
	assert_int_equal(queue_marks_count(b->m).dropped, 16);
	bench_end(b);
}

/* A begin takes a mark only if one remains for each end. */
static void open_ranges_always_end(void **state)
{
	bench *b = null_bench(16, &lag);

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		queue_marks_begin(b->m, i, 1);
	for (uint32_t i = 0; i < 100; i++)
		queue_marks_end(b->m);
	ok(queue_marks_finish(b->m, &b->err), &b->err);
	assert_int_equal(b->got.n, 8);
	assert_int_equal(b->got.depth, 0);
	assert_int_equal(queue_marks_count(b->m).dropped, 92);
	bench_end(b);
}

/* The device breaks: ranges that have begun end, others are dropped, and the message remains. */
static void a_lost_device_ends_it(void **state)
{
	bench *b = null_bench(64, &lag);

	(void)state;
	queue_marks_begin(b->m, 1, 1);
	kernel(b);
	device_null_advance(b->d, 500);
	queue_marks_read(b->m);
	assert_int_equal(b->got.depth, 1);
	device_null_break(b->d, "the cable was pulled");
	queue_marks_begin(b->m, 2, 1);
	queue_marks_end(b->m);
	queue_marks_end(b->m);
	assert_int_equal(b->got.depth, 0);
	assert_int_equal(b->got.n, 1);
	assert_int_equal(queue_marks_finish(b->m, &b->err), DCK_E_DEVICE);
	assert_non_null(strstr(b->err.msg, "the cable was pulled"));
	assert_int_equal(queue_marks_count(b->m).dropped, 2);
	bench_end(b);
}

static void forgotten_ranges_are_not_emitted(void **state)
{
	bench *b = null_bench(64, &lag);

	(void)state;
	queue_marks_begin(b->m, 1, 1);
	kernel(b);
	queue_marks_forget(b->m);
	queue_marks_end(b->m);
	queue_marks_begin(b->m, 2, 1);
	queue_marks_end(b->m);
	ok(queue_marks_finish(b->m, &b->err), &b->err);
	assert_int_equal(b->got.n, 1);
	assert_int_equal(b->got.ranges[0].name, 2);
	bench_end(b);
}

/* --- the double of CUDA: a virtual clock of the host, and one of the device with another rate */

typedef double double_clock(double advance_ns);

typedef struct cuda_bench {
	device *own; /* whose context the program uses */
	bench b;
	double_clock *clock;
} cuda_bench;

static uint64_t double_now(void *self)
{
	return (uint64_t)((cuda_bench *)self)->clock(0);
}

/* driver "cuda" or "hip": the second has the same code, under other names. */
static cuda_bench *cuda_bench_new(const char *driver, const char *skew)
{
	const bool hip = strcmp(driver, "hip") == 0;
	cuda_bench *c = calloc(1, sizeof *c);
	char path[600];
	void *library, *found;

	assert_non_null(c);
	setenv("CUDA_DOUBLE_SKEW_PPM", skew, 1);
	snprintf(path, sizeof path, "%s/%s", getenv("DOUBLES") ? getenv("DOUBLES") : "",
		 hip ? "libamdhip64.so" : "libcuda.so.1");
	library = dlopen(path, RTLD_NOW);
	if (!library)
		fail_msg("%s", dlerror());
	found = dlsym(library, hip ? "hip_double" : "cuda_double");
	assert_non_null(found);
	memcpy(&c->clock, &found, sizeof found);
	c->b.clock = (dck_clock){.name = "double", .now_ns = double_now, .self = c};
	/* The program's own context; its queue is the default stream. */
	ok(device_open(driver, &c->own, &c->b.err), &c->b.err);
	ok(device_queue_open(c->own, &c->b.q, &c->b.err), &c->b.err);
	device_queue_close(c->b.q);
	ok(device_queue_wrap(driver, NULL, &c->b.d, &c->b.q, &c->b.err), &c->b.err);
	ok(queue_marks_open(&(queue_marks_config){.queue = c->b.q,
						  .clock = &c->b.clock,
						  .marks = 32,
						  .sink = {&c->b.got, on_begin, on_end}},
			    &c->b.m, &c->b.err),
	   &c->b.err);
	return c;
}

static void cuda_bench_end(cuda_bench *c)
{
	queue_marks_close(c->b.m);
	device_queue_close(c->b.q);
	device_close(c->b.d);
	device_close(c->own);
	free(c);
	unsetenv("CUDA_DOUBLE_SKEW_PPM");
}

/* For a minute: the device's clock would be off by 2.4 ms at the end. Each range begins and ends
 * while the host enqueues it: a mark is reached at once here. */
static void drift_is_followed(void **state)
{
	static const char *const skews[] = {"40", "-40", "0"};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		cuda_bench *c = cuda_bench_new("cuda", skews[k]);
		uint64_t from[600], to[600];
		const double bound = queue_marks_count(c->b.m).error_ns;

		/* A call takes 1 us, an anchor a few of them. */
		assert_true(bound > 500 && bound < 8000);
		for (uint32_t i = 0; i < 600; i++) {
			c->clock(1e8);
			from[i] = double_now(c);
			queue_marks_begin(c->b.m, i, 1);
			c->clock(1e6);
			queue_marks_end(c->b.m);
			to[i] = double_now(c);
		}
		ok(queue_marks_finish(c->b.m, &c->b.err), &c->b.err);
		assert_int_equal(c->b.got.n, 600);
		for (uint32_t i = 0; i < 600; i++) {
			assert_true(c->b.got.ranges[i].begin_ns >= from[i]);
			assert_true(c->b.got.ranges[i].end_ns >= from[i] + 1000000);
			/* The bound of the drift in 0.1 s, 100 ppm of it, the opening's bound, the
			 * calls of the host, and a step of the device's clock. */
			assert_true(c->b.got.ranges[i].begin_ns <= from[i] + 10000 + 16500);
			assert_true(c->b.got.ranges[i].end_ns <= to[i] + 16500);
		}
		assert_int_equal(queue_marks_count(c->b.m).steps, 0);
		assert_true(queue_marks_count(c->b.m).error_ns < 8000);
		cuda_bench_end(c);
	}
}

static void captured_streams_are_left_alone(void **state)
{
	static const char *const drivers[] = {"cuda", "hip"};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		cuda_bench *c = cuda_bench_new(drivers[k], "0");

		queue_marks_begin(c->b.m, 1, 1);
		setenv("CUDA_DOUBLE_CAPTURING", "1", 1);
		queue_marks_begin(c->b.m, 2, 1);
		queue_marks_end(c->b.m);
		queue_marks_end(c->b.m); /* its begin has a mark, its end has none */
		/* Polling does not void the capture: the double would fail. */
		queue_marks_read(c->b.m);
		assert_int_equal(c->b.got.n, 1);
		unsetenv("CUDA_DOUBLE_CAPTURING");
		queue_marks_begin(c->b.m, 3, 1);
		queue_marks_end(c->b.m);
		ok(queue_marks_finish(c->b.m, &c->b.err), &c->b.err);
		assert_int_equal(c->b.got.n, 2);
		assert_int_equal(c->b.got.depth, 0);
		assert_int_equal(c->b.got.ranges[0].name, 1);
		assert_int_equal(c->b.got.ranges[1].name, 3);
		assert_int_equal(queue_marks_count(c->b.m).dropped, 2);
		cuda_bench_end(c);
	}
}

int test_queue_marks(void);
int test_queue_marks(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times_are_the_devices),
	    cmocka_unit_test(ranges_without_marks_are_dropped),
	    cmocka_unit_test(open_ranges_always_end),
	    cmocka_unit_test(a_lost_device_ends_it),
	    cmocka_unit_test(forgotten_ranges_are_not_emitted),
	    cmocka_unit_test(drift_is_followed),
	    cmocka_unit_test(captured_streams_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
