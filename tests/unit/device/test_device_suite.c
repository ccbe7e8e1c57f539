/* The suite of devices: every driver with a device here passes the same cases. The null device is
 * always there, OpenCL where PoCL is installed.
 *
 * No absolute time is asserted: a wrong wait or mark shows by values and by ratios with wide
 * bounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/device_null.h"
#include "device_case.h"
#include "os/os.h"
#include "scratch.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>

enum { GROUPS = 64, GROUP = 64, ITEMS = GROUPS * GROUP };

/* What most cases need. */
typedef struct bench {
	device *d;
	device_queue *q;
	device_mark *from, *to;
	device_memory *m;
	device_kernel *work, *fill;
	size_t language;
} bench;

#define OK(call) assert_int_equal((call), DCK_OK)

static void bench_open(bench *b, device *d)
{
	dck_err err = {.msg = ""};

	*b = (bench){.d = d, .language = case_language(d)};
	assert_in_range(b->language, 0, sizeof case_kernels / sizeof *case_kernels - 1);
	OK(device_queue_open(d, &b->q, NULL));
	OK(device_mark_open(d, &b->from, NULL));
	OK(device_mark_open(d, &b->to, NULL));
	OK(device_memory_open(d, ITEMS * 4, &b->m, NULL));
	if (device_kernel_open(d, case_kernels[b->language].work, "work", &b->work, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	OK(device_kernel_open(d, case_kernels[b->language].fill, "fill", &b->fill, NULL));
}

static void bench_close(bench *b)
{
	device_kernel_close(b->fill);
	device_kernel_close(b->work);
	device_memory_close(b->m);
	device_mark_close(b->to);
	device_mark_close(b->from);
	device_queue_close(b->q);
}

/* Opens the driver whose name is the test's state. */
static void bench_begin(bench *b, void **state)
{
	device *d = case_open(*state);

	if (!d)
		skip();
	if (d->driver == device_driver_find("null", 4))
		device_null_set(
		    d, &(device_null_times){
			   .enqueue_ns = 10, .lag_ns = 100, .copy_byte_ns = 1, .work_ns = 0.001});
	bench_open(b, d);
}

static void bench_end(bench *b)
{
	device *d = b->d;

	bench_close(b);
	device_close(d);
}

static void work_enqueue(const bench *b, uint32_t n)
{
	const device_arg args[] = {{.memory = b->m}, {.word = n}};

	OK(device_kernel_run(b->q, b->work, args, 2, GROUPS, GROUP, NULL));
}

static double work_ns(const bench *b, uint32_t n)
{
	double ns = -1;

	OK(device_mark_record(b->q, b->from, NULL));
	work_enqueue(b, n);
	OK(device_mark_record(b->q, b->to, NULL));
	OK(device_wait(b->q, DEVICE_WAIT_BLOCK, NULL));
	OK(device_mark_elapsed(b->from, b->to, &ns, NULL));
	assert_true(ns >= 0);
	return ns;
}

/* Returns a number of steps that takes 20 ms or more: far beyond what starting a kernel takes. */
static uint32_t long_work(const bench *b)
{
	uint32_t n = 1000;

	work_ns(b, n);
	while (n < 1u << 28 && work_ns(b, n) < 20e6)
		n *= 2;
	return n;
}

static void properties(void **state)
{
	bench b;

	bench_begin(&b, state);
	const device_info *i = &b.d->info;
	assert_true(*i->name && *i->driver);
	assert_true(i->units >= 1 && i->group_max >= 1);
	assert_true(i->memory_bytes >= 1 << 20);
	assert_true(i->allocation_bytes >= 1 << 20 && i->allocation_bytes <= i->memory_bytes);
	assert_false(i->clock_hz <= 0);
	assert_true(i->mark_tick_ns > 0);
	bench_end(&b);
}

static void marks_are_monotonic(void **state)
{
	enum { N = 64 };
	device_mark *mark[N];
	bench b;

	bench_begin(&b, state);
	for (int i = 0; i < N; i++) {
		OK(device_mark_open(b.d, &mark[i], NULL));
		OK(device_mark_record(b.q, mark[i], NULL));
		if (i % 4 == 0)
			work_enqueue(&b, 10);
	}
	OK(device_wait(b.q, DEVICE_WAIT_SPIN, NULL));
	for (int i = 1; i < N; i++) {
		double ns = -1;
		OK(device_mark_elapsed(mark[i - 1], mark[i], &ns, NULL));
		assert_true(ns >= 0);
		OK(device_mark_elapsed(mark[i], mark[i - 1], &ns, NULL));
		assert_true(ns <= 0);
	}
	for (int i = 0; i < N; i++)
		device_mark_close(mark[i]);
	bench_end(&b);
}

/* The time of a mark is the last recording's. */
static void a_mark_is_recorded_again(void **state)
{
	double first = -1, again = -1;
	bench b;

	bench_begin(&b, state);
	const uint32_t n = long_work(&b);
	OK(device_mark_record(b.q, b.from, NULL));
	OK(device_mark_record(b.q, b.to, NULL));
	OK(device_wait(b.q, DEVICE_WAIT_BLOCK, NULL));
	OK(device_mark_elapsed(b.from, b.to, &first, NULL));
	work_enqueue(&b, n);
	OK(device_mark_record(b.q, b.to, NULL));
	OK(device_wait(b.q, DEVICE_WAIT_BLOCK, NULL));
	OK(device_mark_elapsed(b.from, b.to, &again, NULL));
	assert_true(again > first);
	bench_end(&b);
}

/* Eight times the work takes 3 to 24 times as long; of three attempts one must, since other
 * programs may stop a device that is the processor. */
static void a_kernel_takes_as_long_as_its_work(void **state)
{
	bool proportional = false;
	bench b;

	bench_begin(&b, state);
	const uint32_t n = long_work(&b);
	for (int i = 0; i < 3 && !proportional; i++) {
		const double ratio = work_ns(&b, 8 * n) / work_ns(&b, n);
		proportional = ratio > 3 && ratio < 24;
		if (!proportional)
			printf("# ratio %g\n", ratio);
	}
	assert_true(proportional);
	bench_end(&b);
}

/* Enqueueing work, and a copy of its result to pinned memory, returns before the work has ended,
 * and both waits wait for it. */
static void enqueueing_does_not_wait(void **state)
{
	bench b;

	bench_begin(&b, state);
	const uint32_t n = long_work(&b);
	void *pinned = NULL;
	OK(device_host_alloc(b.d, ITEMS * 4, &pinned, NULL));
	for (int how = DEVICE_WAIT_SPIN; how <= DEVICE_WAIT_BLOCK; how++) {
		double ns = -1;
		dck_err err;
		OK(device_mark_record(b.q, b.from, NULL));
		for (int i = 0; i < 10; i++)
			work_enqueue(&b, n);
		/* Before the copy: a copy that waited would complete it. */
		OK(device_mark_record(b.q, b.to, NULL));
		OK(device_copy_host(b.q, DEVICE_TO_HOST, b.m, 0, pinned, ITEMS * 4, NULL));
		assert_int_equal(device_mark_elapsed(b.from, b.to, &ns, &err), DCK_E_ARG);
		assert_non_null(strstr(err.msg, "not waited for"));
		OK(device_wait(b.q, (device_wait_kind)how, NULL));
		OK(device_mark_elapsed(b.from, b.to, &ns, NULL));
		assert_true(ns > 0);
	}
	device_host_free(b.d, pinned);
	bench_end(&b);
}

static void a_mark_that_was_not_recorded(void **state)
{
	double ns = -1;
	dck_err err;
	bench b;

	bench_begin(&b, state);
	OK(device_mark_record(b.q, b.from, NULL));
	OK(device_wait(b.q, DEVICE_WAIT_BLOCK, NULL));
	assert_int_equal(device_mark_elapsed(b.from, b.to, &ns, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "not recorded"));
	assert_true(ns == -1);
	bench_end(&b);
}

static void bytes_fill(unsigned char *bytes, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
}

/* There, between two buffers, and back, pageable and pinned. */
static void copies_keep_the_bytes(void **state)
{
	enum { N = 1 << 20, AT = 4096 };
	device_memory *a = NULL, *c = NULL;
	void *pinned = NULL;
	bench b;

	bench_begin(&b, state);
	unsigned char *from = malloc(N), *to = malloc(N);
	assert_true(from && to);
	OK(device_memory_open(b.d, N + AT, &a, NULL));
	OK(device_memory_open(b.d, N + AT, &c, NULL));
	OK(device_host_alloc(b.d, N, &pinned, NULL));
	for (unsigned k = 0; k < 4; k++) {
		unsigned char *out = k & 1 ? pinned : from, *back = k & 2 ? pinned : to;
		if (out == back)
			back = to;
		bytes_fill(out, N, k);
		memset(back, 0, N);
		OK(device_copy_host(b.q, DEVICE_FROM_HOST, a, AT, out, N, NULL));
		OK(device_copy(b.q, c, 0, a, AT, N, NULL));
		OK(device_copy_host(b.q, DEVICE_TO_HOST, c, 0, back, N, NULL));
		OK(device_wait(b.q, k & 1 ? DEVICE_WAIT_SPIN : DEVICE_WAIT_BLOCK, NULL));
		assert_memory_equal(out, back, N);
	}
	device_host_free(b.d, pinned);
	device_memory_close(a);
	device_memory_close(c);
	free(from);
	free(to);
	bench_end(&b);
}

/* What a kernel has written. The null device's kernels write nothing. */
static void a_kernel_writes_its_results(void **state)
{
	static uint32_t word[ITEMS];
	bench b;

	bench_begin(&b, state);
	const device_arg args[] = {{.memory = b.m}, {.word = 1000}};
	memset(word, 0, sizeof word);
	OK(device_kernel_run(b.q, b.fill, args, 2, GROUPS, GROUP, NULL));
	OK(device_copy_host(b.q, DEVICE_TO_HOST, b.m, 0, word, sizeof word, NULL));
	OK(device_wait(b.q, DEVICE_WAIT_BLOCK, NULL));
	for (uint32_t i = 0; i < ITEMS && strcmp(b.d->driver->name, "null") != 0; i++)
		assert_int_equal(word[i], 1000 + i);
	bench_end(&b);
}

static void out_of_range_is_refused(void **state)
{
	static const struct {
		uint64_t at, bytes;
	} wrong[] = {{0, ITEMS * 4 + 1}, {1, ITEMS * 4},  {ITEMS * 4, 1},
		     {UINT64_MAX, 2},	 {2, UINT64_MAX}, {0, 0}};
	unsigned char bytes[4] = {0};
	device_memory *other = NULL;
	void *none = NULL;
	bench b;

	bench_begin(&b, state);
	OK(device_memory_open(b.d, ITEMS * 4, &other, NULL));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const uint64_t at = wrong[i].at, n = wrong[i].bytes;
		assert_int_equal(device_copy_host(b.q, DEVICE_FROM_HOST, b.m, at, bytes, n, NULL),
				 DCK_E_ARG);
		assert_int_equal(device_copy(b.q, b.m, at, other, 0, n, NULL), DCK_E_ARG);
		assert_int_equal(device_copy(b.q, other, 0, b.m, at, n, NULL), DCK_E_ARG);
	}
	assert_int_equal(device_copy(b.q, b.m, 0, b.m, 3, 4, NULL), DCK_E_ARG);
	assert_int_equal(device_copy_host(b.q, DEVICE_TO_DEVICE, b.m, 0, bytes, 4, NULL),
			 DCK_E_ARG);
	assert_int_equal(device_memory_open(b.d, 0, &other, NULL), DCK_E_ARG);
	assert_int_equal(device_host_alloc(b.d, 0, &none, NULL), DCK_E_ARG);
	const device_arg many[DEVICE_KERNEL_ARGS + 1] = {{.memory = b.m}};
	assert_int_equal(device_kernel_run(b.q, b.work, many, DEVICE_KERNEL_ARGS + 1, 1, 1, NULL),
			 DCK_E_ARG);
	assert_int_equal(device_kernel_run(b.q, b.work, many, 2, 0, 1, NULL), DCK_E_ARG);
	assert_int_equal(device_kernel_run(b.q, b.work, many, 2, 1, 0, NULL), DCK_E_ARG);
	assert_int_equal(device_kernel_run(b.q, b.work, many, 2, 1, b.d->info.group_max + 1, NULL),
			 DCK_E_ARG);
	device_memory_close(other);
	bench_end(&b);
}

/* Allocates until it fails; returns the number of buffers. */
static unsigned allocate_all(device *d, device_memory **m, unsigned cap, uint64_t bytes)
{
	unsigned n = 0;
	dck_err err;

	while (n < cap && device_memory_open(d, bytes, &m[n], &err) == DCK_OK)
		n++;
	assert_in_range(n, 1, cap - 1);
	assert_int_equal(err.code, DCK_E_NOMEM);
	assert_true(*err.msg);
	return n;
}

/* Limits the memory that this process may add, from which PoCL allocates (it does not apply its own
 * POCL_MEMORY_LIMIT to allocations); 0: no limit. */
static void process_limit(uint64_t more_bytes)
{
	struct rlimit limit;
	uint64_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %*u %*u %*u %*u %" SCNu64, &pages), 1); /* VmData */
	fclose(f);
	assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
	limit.rlim_cur =
	    more_bytes > 0 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) + more_bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
}

/* Device memory is exhausted and freed again 50 times: about as many buffers fit each time, and the
 * device works after each failure. */
static void memory_is_exhausted(void **state)
{
	enum { CAP = 512, CYCLES = 50 };
	static device_memory *m[CAP];
	device_memory *huge = NULL;
	bench b;

	bench_begin(&b, state);
	const bool processor = strcmp(b.d->driver->name, "opencl") == 0 && b.d->info.software;
	uint64_t bytes = b.d->info.allocation_bytes / 4 + 4096;
	assert_int_equal(device_memory_open(b.d, b.d->info.memory_bytes + 1, &huge, NULL),
			 DCK_E_NOMEM);
	if (strcmp(b.d->driver->name, "null") == 0) {
		device_null_set_memory(b.d, 1 << 22);
		bytes = (1 << 20) + 4096;
	}
	if (processor && os_sanitizer_name()) { /* ends the process when memory is exhausted */
		bench_end(&b);
		return;
	}
	work_ns(&b, 10);
	if (processor) {
		/* malloc() maps blocks of more than 32 MiB separately: all of it comes back. */
		bytes = (1 << 25) + 4096;
		process_limit(2 * bytes + (1 << 24));
	}
	unsigned first = 0;
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		const unsigned n = allocate_all(b.d, m, CAP, bytes);
		if (cycle == 0)
			first = n;
		if (n + 1 < first)
			fail_msg("cycle %d: %u buffers fit, %u at first", cycle, n, first);
		for (unsigned i = 0; i < n; i++)
			device_memory_close(m[i]);
		work_ns(&b, 10);
	}
	if (processor)
		process_limit(0);
	bench_end(&b);
}

static void free_memory(void **state)
{
	uint64_t before = 0, after = 0, total = 0;
	device_memory *m = NULL;
	dck_err err;
	bench b;

	bench_begin(&b, state);
	if (!b.d->driver->memory_free) {
		assert_int_equal(device_memory_free(b.d, &before, &total, &err), DCK_E_UNSUP);
		assert_non_null(strstr(err.msg, "does not offer the amount of free memory"));
	} else {
		OK(device_memory_free(b.d, &before, &total, NULL));
		OK(device_memory_open(b.d, 1 << 24, &m, NULL));
		OK(device_memory_free(b.d, &after, &total, NULL));
		assert_true(before - after >= 1 << 24 && before <= total);
		device_memory_close(m);
	}
	bench_end(&b);
}

static void a_kernel_that_does_not_compile(void **state)
{
	device_kernel *k = NULL;
	dck_err err;
	bench b;

	bench_begin(&b, state);
	assert_int_equal(device_kernel_open(b.d, case_kernels[b.language].wrong, "work", &k, &err),
			 DCK_E_FORMAT);
	assert_ptr_equal(strstr(err.msg, "the kernel does not compile: "), err.msg);
	assert_non_null(strstr(err.msg, "not_declared"));
	assert_null(strchr(err.msg, '\n'));
	assert_int_equal(
	    device_kernel_open(b.d, case_kernels[b.language].work, "no_kernel", &k, &err),
	    DCK_E_ARG);
	assert_non_null(strstr(err.msg, "no_kernel"));
	assert_null(k);
	work_ns(&b, 10);
	bench_end(&b);
}

/* Each queue waits for its own commands, and their buffers do not mix. */
static void two_queues(void **state)
{
	unsigned char one[4096], two[4096], back[2][4096];
	device_memory *m = NULL;
	device_queue *q = NULL;
	bench b;

	bench_begin(&b, state);
	OK(device_queue_open(b.d, &q, NULL));
	OK(device_memory_open(b.d, sizeof two, &m, NULL));
	bytes_fill(one, sizeof one, 1);
	bytes_fill(two, sizeof two, 2);
	OK(device_copy_host(b.q, DEVICE_FROM_HOST, b.m, 0, one, sizeof one, NULL));
	OK(device_copy_host(q, DEVICE_FROM_HOST, m, 0, two, sizeof two, NULL));
	OK(device_copy_host(b.q, DEVICE_TO_HOST, b.m, 0, back[0], sizeof one, NULL));
	OK(device_copy_host(q, DEVICE_TO_HOST, m, 0, back[1], sizeof two, NULL));
	OK(device_wait(q, DEVICE_WAIT_BLOCK, NULL));
	assert_memory_equal(back[1], two, sizeof two);
	OK(device_wait(b.q, DEVICE_WAIT_BLOCK, NULL));
	assert_memory_equal(back[0], one, sizeof one);
	device_memory_close(m);
	device_queue_close(q);
	bench_end(&b);
}

typedef struct worker {
	device *d;
	device_kernel *fill;
	unsigned seed, wrong;
} worker;

/* Without assertions: a failed one may not leave a thread. */
static void *worker_main(void *self)
{
	worker *w = self;
	device_queue *q = NULL;
	device_memory *m = NULL;
	uint32_t *back = malloc(GROUP * 4);
	const bool null = strcmp(w->d->driver->name, "null") == 0;

	w->wrong = 1;
	if (!back || device_queue_open(w->d, &q, NULL) ||
	    device_memory_open(w->d, GROUP * 4, &m, NULL))
		return NULL;
	w->wrong = 0;
	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t value = w->seed * 100000 + i;
		const device_arg args[] = {{.memory = m}, {.word = value}};
		if (device_kernel_run(q, w->fill, args, 2, 1, GROUP, NULL) ||
		    device_copy_host(q, DEVICE_TO_HOST, m, 0, back, GROUP * 4, NULL) ||
		    device_wait(q, i % 2 ? DEVICE_WAIT_SPIN : DEVICE_WAIT_BLOCK, NULL))
			w->wrong++;
		for (uint32_t k = 0; k < GROUP && !null; k++)
			w->wrong += back[k] != value + k;
	}
	device_memory_close(m);
	device_queue_close(q);
	free(back);
	return NULL;
}

/* Two threads with a queue each, and one kernel for both: arguments do not mix. */
static void two_threads(void **state)
{
	pthread_t thread[2];
	worker w[2];
	bench b;

	bench_begin(&b, state);
	for (unsigned i = 0; i < 2; i++) {
		w[i] = (worker){.d = b.d, .fill = b.fill, .seed = i + 1};
		assert_int_equal(pthread_create(&thread[i], NULL, worker_main, &w[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(w[0].wrong, 0);
	assert_int_equal(w[1].wrong, 0);
	bench_end(&b);
}

static void objects_of_two_devices(void **state)
{
	double ns = -1;
	dck_err err;
	bench b, other;

	bench_begin(&b, state);
	bench_begin(&other, state);
	const device_arg args[] = {{.memory = other.m}, {.word = 1}};
	assert_int_equal(device_mark_record(b.q, other.from, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "different devices"));
	assert_int_equal(device_mark_elapsed(b.from, other.to, &ns, NULL), DCK_E_ARG);
	assert_int_equal(device_copy(b.q, b.m, 0, other.m, 0, 4, NULL), DCK_E_ARG);
	assert_int_equal(device_copy_host(b.q, DEVICE_TO_HOST, other.m, 0, &ns, 4, NULL),
			 DCK_E_ARG);
	assert_int_equal(device_kernel_run(b.q, b.work, args, 2, 1, 1, NULL), DCK_E_ARG);
	assert_int_equal(device_kernel_run(b.q, other.work, args, 2, 1, 1, NULL), DCK_E_ARG);
	bench_end(&other);
	bench_end(&b);
}

#define CASE(f)       \
	{             \
#f, f \
	}
static const struct {
	const char *name;
	CMUnitTestFunction run;
} cases[] = {
    CASE(properties),
    CASE(marks_are_monotonic),
    CASE(a_mark_is_recorded_again),
    CASE(a_kernel_takes_as_long_as_its_work),
    CASE(enqueueing_does_not_wait),
    CASE(a_mark_that_was_not_recorded),
    CASE(copies_keep_the_bytes),
    CASE(a_kernel_writes_its_results),
    CASE(out_of_range_is_refused),
    CASE(memory_is_exhausted),
    CASE(free_memory),
    CASE(a_kernel_that_does_not_compile),
    CASE(two_queues),
    CASE(two_threads),
    CASE(objects_of_two_devices),
};
enum { CASES = sizeof cases / sizeof *cases, DRIVERS_MAX = 8 };

/* Returns whether the driver takes part: the null device and OpenCL always (without a device OpenCL
 * is skipped with the reason), others if they have a device here and run kernels. DEVICE_SUITE is
 * the one that takes part (tools/gpu_check.sh). */
static bool takes_part(const device_driver *r)
{
	const char *only = getenv("DEVICE_SUITE");
	unsigned n = 0;

	if (only)
		return strcmp(r->name, only) == 0;
	return strcmp(r->name, "null") == 0 || strcmp(r->name, "opencl") == 0 ||
	       (r->kernel_open && r->count(&n, NULL) == DCK_OK);
}

int test_device_suite(void);
int test_device_suite(void)
{
	static char driver[DRIVERS_MAX][16], names[DRIVERS_MAX * CASES][80];
	struct CMUnitTest tests[DRIVERS_MAX * CASES];
	const device_driver *r;
	size_t n = 0;

	for (size_t i = 0; i < DRIVERS_MAX && (r = device_driver_at(i)); i++) {
		snprintf(driver[i], sizeof driver[i], "%s", r->name);
		for (size_t k = 0; takes_part(r) && k < CASES; k++, n++) {
			snprintf(names[n], sizeof names[n], "%s: %s", r->name, cases[k].name);
			tests[n] =
			    (struct CMUnitTest){names[n], cases[k].run, NULL, NULL, driver[i]};
		}
	}
	return _cmocka_run_group_tests("device_suite", tests, n, scratch_begin, scratch_end);
}
