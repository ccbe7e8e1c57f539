/* test_bench_clock.c - between the two clock readings of a sample there is no allocation, lock or
 * write. The C library's entry points are replaced in this program and counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
#include <cmocka.h>

#include "deepclock/bench.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REPLACED 0 /* the sanitizer has replaced them already */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REPLACED 0
#else
#define REPLACED 1
#endif
#else
#define REPLACED 1
#endif

/* Events since the last clock reading; their sums before and after the work, inside the clock. */
static unsigned long since_clock, before_work, after_work, seen_runs;
static bool worked;

#if REPLACED
extern void *__libc_malloc(size_t n);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_calloc(size_t n, size_t size);

void *malloc(size_t n)
{
	since_clock++;
	return __libc_malloc(n);
}

void *realloc(void *p, size_t n)
{
	since_clock++;
	return __libc_realloc(p, n);
}

void *calloc(size_t n, size_t size)
{
	since_clock++;
	return __libc_calloc(n, size);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t * m);

	since_clock++;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	return real(m);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	static ssize_t (*real)(int fd, const void *bytes, size_t n);

	since_clock++;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "write");
	return real(fd, bytes, n);
}
#endif

static uint64_t now_ns(void *self)
{
	uint64_t *ns = self;

	if (worked) {
		after_work += since_clock;
		seen_runs++;
	}
	worked = false;
	since_clock = 0;
	return *ns;
}

static int work(void *arg)
{
	uint64_t *ns = arg;

	before_work += since_clock;
	since_clock = 0;
	worked = true;
	*ns += 1000000;
	return 0;
}

static void measure(uint64_t *ns, int (*function)(void *arg))
{
	const dck_clock clock = {
	    .name = "fake", .now_ns = now_ns, .self = ns, .tick_ns = 1, .cost_ns = 1};
	dck_subject s;
	dck_plan plan;
	dck_record *r;
	dck_err err;

	since_clock = before_work = after_work = seen_runs = 0;
	dck_subject_init(&s);
	s.function = function;
	s.arg = ns;
	dck_plan_init(&plan);
	plan.clock = &clock;
	plan.runs = 500;
	plan.warmup = "20";
	if (dck_bench(&s, &plan, NULL, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	dck_record_free(r);
}

static void nothing_inside_the_clock(void **state)
{
	uint64_t ns = 0;

	(void)state;
	measure(&ns, work);
	assert_int_equal(seen_runs, 520);
	assert_int_equal(before_work, 0);
	assert_int_equal(after_work, 0);
}

static int work_that_allocates(void *arg)
{
	void *volatile p;

	work(arg);
	p = malloc(16);
	free(p);
	return 0;
}

/* Checks that the check itself can fail. */
static void an_allocation_would_be_seen(void **state)
{
	uint64_t ns = 0;

	(void)state;
	measure(&ns, work_that_allocates);
	assert_true(after_work >= 520);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_inside_the_clock),
	    cmocka_unit_test(an_allocation_would_be_seen),
	};

	if (!REPLACED) {
		puts("1..0 # SKIP the sanitizer has replaced the functions that are counted here");
		return 0;
	}
	return cmocka_run_group_tests_name("bench_clock", tests, NULL, NULL);
}
