/* test_device_cuda.c - the drivers "cuda" and "hip" on doubles of their libraries (tests/doubles),
 * whose clock is virtual, so that times are exact: a call takes 1 us of the host, a command 2 us of
 * the device and its work.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "device/device.h"
#include "fault_alloc.h"

int test_device_cuda(void);

extern const device_driver device_cuda, device_hip;

static const device_driver *const both[] = {&device_cuda, &device_hip};

#define EACH(driver) \
	for (const device_driver *const *at = both, *driver; at < both + 2 && (driver = *at); at++)

static const char ptx[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
			  ".visible .entry fill(.param .u64 out, .param .u32 value) {}\n"
			  ".visible .entry fault() {}\n";

/* The libraries have the sonames of the real ones, so that loading those finds the doubles. */
static int double_load(const char *name)
{
	char path[600];

	snprintf(path, sizeof path, "%s/%s", getenv("DOUBLES") ? getenv("DOUBLES") : "", name);
	return dlopen(path, RTLD_NOW) ? 0 : -1;
}

static int settings_clear(void **state)
{
	static const char *const names[] = {"CUDA_DOUBLE_DEVICES", "CUDA_DOUBLE_MEMORY",
					    "CUDA_DOUBLE_VERSION", "CUDA_DOUBLE_SKEW_PPM",
					    "CUDA_DOUBLE_FAIL",	   "CUDA_VISIBLE_DEVICES"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
	return 0;
}

static int double_begin(void **state)
{
	settings_clear(state);
	return double_load("libcuda.so.1") || double_load("libamdhip64.so");
}

static void ok(dck_status status, const dck_err *err)
{
	if (status != DCK_OK)
		fail_msg("%s", err->msg);
}

typedef struct bench {
	const device_driver *driver;
	device *d;
	device_queue *q;
	dck_err err;
} bench;

static bench opened(const device_driver *driver)
{
	bench b = {.driver = driver};

	ok(driver->open(0, &b.d, &b.err), &b.err);
	ok(driver->queue_open(b.d, &b.q, &b.err), &b.err);
	return b;
}

static void closed(bench *b)
{
	b->driver->queue_close(b->q);
	b->driver->close(b->d);
}

static void test_properties(void **state)
{
	(void)state;
	EACH(driver)
	{
		device *d = NULL;
		unsigned n = 0;
		dck_err err = {0};

		ok(driver->count(&n, &err), &err);
		assert_int_equal(n, 2);
		ok(driver->open(1, &d, &err), &err);
		assert_ptr_equal(d->driver, driver);
		assert_string_equal(d->info.name, "Double GPU 1");
		assert_string_equal(d->info.pci, "0000:c1:00.0");
		assert_string_equal(d->info.driver,
				    driver == &device_cuda ? "CUDA 13.0" : "HIP 13000");
		assert_string_equal(d->info.vendor, driver == &device_cuda ? "NVIDIA" : "AMD");
		assert_int_equal(d->info.units, 132);
		assert_int_equal(d->info.group_max, 1024);
		assert_int_equal(d->info.memory_bytes, 64 << 20);
		assert_int_equal(d->info.cache_bytes, 50 << 20);
		assert_true(d->info.clock_hz == 1.98e9 && d->info.fp16 && d->info.fp64);
		/* Of compute capability 9.0; of HIP's devices this is not known. */
		assert_true(d->info.int8 == (driver == &device_cuda) &&
			    d->info.bf16 == d->info.int8 && d->info.matrix == d->info.int8);
		assert_true(d->info.mark_tick_ns == (driver == &device_cuda ? 500 : 1000));
		driver->close(d);
		assert_int_equal(driver->open(2, &d, &err), DCK_E_ABSENT);
		assert_non_null(strstr(err.msg, "has 2 devices"));
	}
}

/* Indices are those that CUDA_VISIBLE_DEVICES leaves; gauges need the device's own address. */
static void test_visible(void **state)
{
	bench b;

	(void)state;
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	b = opened(&device_cuda);
	assert_string_equal(b.d->info.pci, "0000:c1:00.0");
	closed(&b);
	assert_int_equal(device_cuda.open(1, &b.d, &b.err), DCK_E_ABSENT);
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	assert_int_equal(device_cuda.open(0, &b.d, &b.err), DCK_E_ABSENT);
	assert_string_equal(b.err.msg, "CUDA finds no device");
}

static void test_unusable(void **state)
{
	unsigned n = 0;
	dck_err err = {0};

	(void)state;
	setenv("CUDA_DOUBLE_FAIL", "cuInit=803", 1);
	assert_int_equal(device_cuda.count(&n, &err), DCK_E_ABSENT);
	assert_string_equal(err.msg, "CUDA cannot be used: system has unsupported display driver / "
				     "cuda driver combination (error 803)");
	setenv("CUDA_DOUBLE_FAIL", "cuInit=987", 1);
	assert_int_equal(device_cuda.count(&n, &err), DCK_E_ABSENT);
	assert_string_equal(err.msg, "CUDA cannot be used: unknown error (error 987)");
	assert_int_equal(n, 0);
}

/* A release that lacks a function; in a separate process, because libraries stay loaded. */
static void test_old(void **state)
{
	char text[sizeof(dck_err)] = "";
	int pipes[2], status = -1;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	const pid_t child = fork();
	if (child == 0) {
		unsigned n;
		dck_err err = {0};

		if (double_load("old-libcuda.so.1") != 0)
			_exit(1);
		const dck_status got = device_cuda.count(&n, &err);
		_exit(write(pipes[1], err.msg, strlen(err.msg)) < 0 || got != DCK_E_ABSENT);
	}
	close(pipes[1]);
	assert_true(read(pipes[0], text, sizeof text - 1) > 0);
	close(pipes[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_string_equal(text,
			    "measuring on an NVIDIA GPU needs a newer library: 'libcuda.so.1' "
			    "has no cuDevicePrimaryCtxRelease_v2");
}

/* Returns the time of a copy of 1 MB inside the device between two marks. */
static double copy_time(bench *b, device_wait_kind how)
{
	const device_driver *driver = b->driver;
	device_mark *from = NULL, *to = NULL;
	device_memory *a = NULL, *c = NULL;
	double ns = NAN;

	ok(driver->mark_open(b->d, &from, &b->err), &b->err);
	ok(driver->mark_open(b->d, &to, &b->err), &b->err);
	ok(driver->memory_open(b->d, 1000000, &a, &b->err), &b->err);
	ok(driver->memory_open(b->d, 1000000, &c, &b->err), &b->err);
	assert_int_equal(driver->mark_elapsed(from, to, &ns, &b->err), DCK_E_ARG);
	ok(driver->mark_record(b->q, from, &b->err), &b->err);
	ok(driver->copy(b->q, c, 0, a, 0, 1000000, &b->err), &b->err);
	ok(driver->mark_record(b->q, to, &b->err), &b->err);
	/* The calls have returned, and the device is at work. */
	assert_int_equal(driver->mark_elapsed(from, to, &ns, &b->err), DCK_E_ARG);
	assert_true(isnan(ns));
	ok(driver->wait(b->q, how, &b->err), &b->err);
	ok(driver->mark_elapsed(from, to, &ns, &b->err), &b->err);
	driver->memory_close(a);
	driver->memory_close(c);
	driver->mark_close(from);
	driver->mark_close(to);
	return ns;
}

/* 2 us of two calls of the host until the copy begins, 2 us of a command, 10 us of the bytes; the
 * stamps are in steps of 0.5 us. */
static void test_marks(void **state)
{
	(void)state;
	EACH(driver)
	{
		bench b = opened(driver);

		assert_true(fabs(copy_time(&b, DEVICE_WAIT_SPIN) - 14000) <= 500);
		assert_true(fabs(copy_time(&b, DEVICE_WAIT_BLOCK) - 14000) <= 500);
		closed(&b);
	}
	/* The device's clock is 20 % fast: so are its times. */
	setenv("CUDA_DOUBLE_SKEW_PPM", "200000", 1);
	bench b = opened(&device_cuda);
	assert_true(fabs(copy_time(&b, DEVICE_WAIT_SPIN) - 16800) <= 500);
	closed(&b);
}

static void test_copies(void **state)
{
	static unsigned char out[4096], in[4096];

	(void)state;
	for (size_t i = 0; i < sizeof out; i++)
		out[i] = (unsigned char)(i * 7);
	EACH(driver)
	{
		bench b = opened(driver);
		device_memory *m = NULL, *other = NULL;
		void *pinned = NULL;

		ok(driver->memory_open(b.d, 8192, &m, &b.err), &b.err);
		assert_int_equal(m->bytes, 8192);
		ok(driver->memory_open(b.d, 4096, &other, &b.err), &b.err);
		ok(driver->host_alloc(b.d, 4096, &pinned, &b.err), &b.err);
		memset(pinned, 0xee, 4096);
		memset(in, 0, sizeof in);
		ok(driver->copy_host(b.q, DEVICE_FROM_HOST, m, 4096, out, 4096, &b.err), &b.err);
		ok(driver->copy(b.q, other, 0, m, 4096, 4096, &b.err), &b.err);
		ok(driver->copy_host(b.q, DEVICE_TO_HOST, other, 0, pinned, 4096, &b.err), &b.err);
		/* It is enqueued, and has not happened. */
		assert_int_equal(((unsigned char *)pinned)[5], 0xee);
		ok(driver->wait(b.q, DEVICE_WAIT_SPIN, &b.err), &b.err);
		assert_memory_equal(pinned, out, 4096);
		ok(driver->copy_host(b.q, DEVICE_TO_HOST, m, 4100, in, 100, &b.err), &b.err);
		ok(driver->wait(b.q, DEVICE_WAIT_BLOCK, &b.err), &b.err);
		assert_memory_equal(in, out + 4, 100);
		driver->host_free(b.d, pinned);
		driver->memory_close(other);
		driver->memory_close(m);
		closed(&b);
	}
}

static void test_memory(void **state)
{
	(void)state;
	setenv("CUDA_DOUBLE_MEMORY", "10000000", 1);
	EACH(driver)
	{
		bench b = opened(driver);
		uint64_t left = 0, total = 0;

		for (int cycle = 0; cycle < 50; cycle++) {
			device_memory *m[8] = {0};
			dck_status status = DCK_OK;
			size_t n = 0;

			while (n < 8 && status == DCK_OK)
				status = driver->memory_open(b.d, 3000000, &m[n++], &b.err);
			assert_int_equal(status, DCK_E_NOMEM);
			assert_int_equal(n, 4);
			assert_non_null(strstr(b.err.msg, "cannot allocate 3000000 bytes"));
			ok(driver->memory_free(b.d, &left, &total, &b.err), &b.err);
			assert_int_equal(left, 1000000);
			assert_int_equal(total, 10000000);
			for (size_t i = 0; i < n; i++)
				driver->memory_close(m[i]);
		}
		ok(driver->memory_free(b.d, &left, &total, &b.err), &b.err);
		assert_int_equal(left, 10000000);
		closed(&b);
	}
}

static void test_kernel(void **state)
{
	const device_driver *driver = &device_cuda;
	bench b = opened(driver);
	device_kernel *k = NULL;
	device_memory *m = NULL;
	uint32_t words[100] = {0};

	(void)state;
	ok(driver->memory_open(b.d, sizeof words, &m, &b.err), &b.err);
	ok(driver->kernel_open(b.d, ptx, "fill", &k, &b.err), &b.err);
	const device_arg args[] = {{.memory = m}, {.word = 0xabcdef01}};
	ok(driver->kernel_run(b.q, k, args, 2, 4, 25, &b.err), &b.err);
	ok(driver->copy_host(b.q, DEVICE_TO_HOST, m, 0, words, sizeof words, &b.err), &b.err);
	ok(driver->wait(b.q, DEVICE_WAIT_SPIN, &b.err), &b.err);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(words[i], 0xabcdef01 + i);
	/* More threads than a block has. */
	assert_int_equal(driver->kernel_run(b.q, k, args, 2, 1, 2048, &b.err), DCK_E_DEVICE);
	driver->kernel_close(k);
	driver->memory_close(m);
	closed(&b);
	assert_null(device_hip.kernel_open);
}

static void test_compile(void **state)
{
	bench b = opened(&device_cuda);
	device_kernel *k = NULL;

	(void)state;
	assert_int_equal(device_cuda.kernel_open(b.d, "no PTX", "fill", &k, &b.err), DCK_E_FORMAT);
	assert_string_equal(b.err.msg, "the kernel does not compile: ptxas "
				       "application ptx input, line 1; fatal   : Missing .version "
				       "directive at start of file");
	assert_int_equal(device_cuda.kernel_open(b.d, ptx, "absent", &k, &b.err), DCK_E_ARG);
	assert_string_equal(b.err.msg, "the source has no kernel 'absent'");
	setenv("CUDA_DOUBLE_VERSION", "11040", 1);
	assert_int_equal(device_cuda.kernel_open(b.d, ptx, "fill", &k, &b.err), DCK_E_FORMAT);
	assert_non_null(strstr(b.err.msg, "unsupported toolchain"));
	assert_null(k);
	closed(&b);
}

/* After a fault every call has the first message, from whatever thread; closing works, and so does
 * the device when it is opened again. */
static void test_fault(void **state)
{
	const device_driver *driver = &device_cuda;
	bench b = opened(driver);
	device_kernel *k = NULL;
	device_memory *m = NULL, *more = NULL;
	device_mark *mark = NULL;
	uint64_t left, total;
	dck_err first = {0}, err = {0};

	(void)state;
	ok(driver->memory_open(b.d, 4096, &m, &b.err), &b.err);
	ok(driver->mark_open(b.d, &mark, &b.err), &b.err);
	ok(driver->kernel_open(b.d, ptx, "fault", &k, &b.err), &b.err);
	ok(driver->kernel_run(b.q, k, NULL, 0, 1, 32, &b.err), &b.err);
	assert_int_equal(driver->wait(b.q, DEVICE_WAIT_SPIN, &first), DCK_E_DEVICE);
	assert_string_equal(first.msg, "Double GPU 0: cannot wait: an illegal memory access was "
				       "encountered (error 700)");
	assert_int_equal(first.native_code, 700);
	/* The driver would have another error. */
	setenv("CUDA_DOUBLE_FAIL", "cuMemAlloc_v2=2,cuMemGetInfo_v2=999", 1);
	assert_int_equal(driver->memory_open(b.d, 4096, &more, &err), DCK_E_DEVICE);
	assert_string_equal(err.msg, first.msg);
	assert_int_equal(driver->memory_free(b.d, &left, &total, &err), DCK_E_DEVICE);
	assert_string_equal(err.msg, first.msg);
	assert_int_equal(driver->mark_record(b.q, mark, &err), DCK_E_DEVICE);
	unsetenv("CUDA_DOUBLE_FAIL");
	driver->kernel_close(k);
	driver->mark_close(mark);
	driver->memory_close(m);
	closed(&b);
	b = opened(driver);
	ok(driver->memory_open(b.d, 4096, &m, &b.err), &b.err);
	driver->memory_close(m);
	closed(&b);
}

/* Errors of a call that leave the device usable. */
static void test_refused(void **state)
{
	bench b = opened(&device_cuda);
	device_mark *m = NULL;
	device_queue *q = NULL;

	(void)state;
	setenv("CUDA_DOUBLE_FAIL", "cuEventCreate=801", 1);
	assert_int_equal(device_cuda.mark_open(b.d, &m, &b.err), DCK_E_DEVICE);
	assert_int_equal(device_cuda.queue_open(b.d, &q, &b.err), DCK_E_DEVICE);
	unsetenv("CUDA_DOUBLE_FAIL");
	ok(device_cuda.mark_open(b.d, &m, &b.err), &b.err);
	device_cuda.mark_close(m);
	closed(&b);
	setenv("CUDA_DOUBLE_FAIL", "cuDevicePrimaryCtxRetain=2", 1);
	ok(device_cuda.open(0, &b.d, &b.err), &b.err);
	assert_int_equal(device_cuda.queue_open(b.d, &q, &b.err), DCK_E_NOMEM);
	device_cuda.close(b.d);
}

static void test_no_memory(void **state)
{
	fault_alloc faults;
	size_t at = 0;
	dck_status status = DCK_E_NOMEM;

	(void)state;
	while (status != DCK_OK) {
		device *d = NULL;
		device_queue *q = NULL;
		device_mark *mark = NULL;
		device_memory *m = NULL;
		device_kernel *k = NULL;
		dck_err err = {0};

		fault_alloc_begin(&faults, ++at);
		status = device_cuda.open(0, &d, &err);
		if (status == DCK_OK)
			status = device_cuda.queue_open(d, &q, &err);
		if (status == DCK_OK)
			status = device_cuda.mark_open(d, &mark, &err);
		if (status == DCK_OK)
			status = device_cuda.memory_open(d, 64, &m, &err);
		if (status == DCK_OK)
			status = device_cuda.kernel_open(d, ptx, "fill", &k, &err);
		if (status != DCK_OK)
			assert_int_equal(status, DCK_E_NOMEM);
		device_cuda.kernel_close(k);
		device_cuda.memory_close(m);
		device_cuda.mark_close(mark);
		device_cuda.queue_close(q);
		device_cuda.close(d);
		assert_int_equal(faults.out, 0);
		dck_set_allocator(NULL);
	}
	assert_int_equal(at, 6);
}

static void *worker(void *self)
{
	bench *b = self;
	const device_driver *driver = b->driver;
	device_memory *m = NULL;
	device_kernel *k = NULL;
	uintptr_t wrong = 0;

	if (driver->memory_open(b->d, 400, &m, &b->err) != DCK_OK ||
	    driver->kernel_open(b->d, ptx, "fill", &k, &b->err) != DCK_OK)
		return (void *)1;
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t words[100] = {0};
		const device_arg args[] = {{.memory = m}, {.word = i}};

		wrong += driver->kernel_run(b->q, k, args, 2, 1, 100, &b->err) != DCK_OK;
		wrong +=
		    driver->copy_host(b->q, DEVICE_TO_HOST, m, 0, words, 400, &b->err) != DCK_OK;
		wrong += driver->wait(b->q, i % 2 ? DEVICE_WAIT_SPIN : DEVICE_WAIT_BLOCK,
				      &b->err) != DCK_OK;
		wrong += words[0] != i || words[99] != i + 99;
	}
	driver->kernel_close(k);
	driver->memory_close(m);
	return (void *)wrong;
}

static void test_threads(void **state)
{
	bench one = opened(&device_cuda), two = one;
	pthread_t thread[2];
	void *wrong[2];

	(void)state;
	ok(device_cuda.queue_open(one.d, &two.q, &one.err), &one.err);
	assert_int_equal(pthread_create(&thread[0], NULL, worker, &one), 0);
	assert_int_equal(pthread_create(&thread[1], NULL, worker, &two), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(thread[i], &wrong[i]), 0);
		assert_null(wrong[i]);
	}
	device_cuda.queue_close(two.q);
	closed(&one);
}

#define CASE(f) cmocka_unit_test_setup(f, double_begin)

int test_device_cuda(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_old, settings_clear), /* before a library is loaded */
	    CASE(test_properties),
	    CASE(test_visible),
	    CASE(test_unusable),
	    CASE(test_marks),
	    CASE(test_copies),
	    CASE(test_memory),
	    CASE(test_kernel),
	    CASE(test_compile),
	    CASE(test_fault),
	    CASE(test_refused),
	    CASE(test_no_memory),
	    CASE(test_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
