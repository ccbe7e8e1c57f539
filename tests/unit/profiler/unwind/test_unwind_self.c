/* The calling thread's own stack: the same frames as glibc's backtrace(), through libraries without
 * frame pointers, realigned stacks, signal frames, several threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/unwind_self.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

enum { MAX = 200 };
static _Thread_local unwind_stack mine, of_handler;

/* Compares the frames of both walks, without the walkers' own. Returns their number; 0: differ. */
static __attribute__((noinline)) size_t same_as_glibc(void)
{
	uint64_t pcs[MAX];
	void *theirs[MAX];
	unwind_result end;
	size_t n = unwind_self_here(&mine, pcs, MAX, &end);
	size_t m = (size_t)backtrace(theirs, MAX);

	size_t wrapped = m - n; /* a sanitizer's own backtrace() is a frame */

	if (wrapped > 1 || end != UNWIND_END) {
		print_message("%zu frames, result %d; backtrace() has %zu\n", n, end, m);
		return 0;
	}
	/* The two walks start at different addresses of the first frame. A frame interrupted by a
	 * signal has the address of the instruction itself. */
	for (size_t i = 1, interrupted = 0; i < n; i++) {
		if (pcs[i] == (uintptr_t)theirs[i + wrapped] && !interrupted++)
			continue;
		if (pcs[i] + 1 != (uintptr_t)theirs[i + wrapped]) {
			print_message("frame %zu: %#jx, backtrace() has %p\n", i,
				      (uintmax_t)pcs[i] + 1, theirs[i + wrapped]);
			return 0;
		}
	}
	return n;
}

static size_t depth_in_sort;

static int compare(const void *a, const void *b)
{
	if (!depth_in_sort)
		depth_in_sort = same_as_glibc();
	return *(const int *)a - *(const int *)b;
}

static void test_through_libc(void **state)
{
	int values[50];

	(void)state;
	for (int i = 0; i < 50; i++)
		values[i] = i * 7 % 50;
	qsort(values, 50, sizeof values[0], compare);
	assert_true(depth_in_sort > 4);
}

#ifndef __clang__ /* clang lacks this pragma */
#pragma GCC push_options
#pragma GCC optimize("omit-frame-pointer")
#endif
/* The size of its frame is dynamic, and it is aligned for vectors. */
static __attribute__((noinline)) size_t realigned(size_t n, size_t bytes)
{
	_Alignas(64) volatile char block[64];
	volatile char *more = __builtin_alloca(bytes);

	block[bytes % 64] = 1;
	more[bytes / 2] = 2;
	size_t depth = n ? realigned(n - 1, bytes * 2 % 500 + 16) : same_as_glibc();

	return depth ? depth + (block[bytes % 64] == more[bytes / 2]) : 0;
}
#ifndef __clang__
#pragma GCC pop_options
#endif

static void test_realigned(void **state)
{
	size_t here = same_as_glibc(), there = realigned(20, 100);

	(void)state;
	assert_true(here > 0);
	assert_int_equal(there, here + 21);
}

static size_t in_handler, from_context;

static void handler(int number, siginfo_t *info, void *context)
{
	unwind_regs regs;
	unwind_result end;
	uint64_t pcs[MAX], all[MAX];

	(void)number, (void)info;
	unwind_self_context(context, &regs);
	from_context = unwind_self_walk(&of_handler, &regs, pcs, MAX, &end);
	in_handler = unwind_self_here(&mine, all, MAX, &end);
	/* The interrupted frames follow those of the handler, the kernel and a sanitizer. */
	if (in_handler < from_context + 2 ||
	    memcmp(pcs, all + in_handler - from_context, from_context * sizeof *pcs) != 0)
		from_context = 0;
	if (end != UNWIND_END || !same_as_glibc())
		from_context = 0;
}

static void test_signal(void **state)
{
	static char stack[1 << 16];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	(void)state;
	for (int alternate = 0; alternate < 2; alternate++) {
		from_context = 0;
		if (alternate) {
			assert_int_equal(sigaltstack(&other, NULL), 0);
			act.sa_flags |= SA_ONSTACK;
		}
		assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
		raise(SIGUSR1);
		assert_true(from_context > 3);
	}
	other.ss_flags = SS_DISABLE;
	sigaltstack(&other, NULL);
	signal(SIGUSR1, SIG_DFL);
}

static void *in_thread(void *n)
{
	size_t depth = 0;

	for (int i = 0; i < 200; i++) {
		depth = realigned((uintptr_t)n, 40);
		if (!depth)
			break;
		unwind_self_changed();
	}
	return (void *)depth;
}

static void test_threads(void **state)
{
	pthread_t threads[8];
	void *depth;

	(void)state;
	for (uintptr_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, in_thread, (void *)i), 0);
	for (size_t i = 0; i < 8; i++) {
		pthread_join(threads[i], &depth);
		assert_true((size_t)depth > i + 3);
	}
}

/* Unreadable addresses end a stack without a crash. */
static void test_unreadable(void **state)
{
	static const uint64_t wrong[] = {
	    0, 8, 4096, 0x7fffffffe000, UINT64_MAX - 7, UINT64_MAX / 3};
	unwind_result end;
	uint64_t pcs[MAX];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		unwind_regs r;
		unwind_stack other = {0};

		UNWIND_SELF_REGS(&r);
		r.r[UNWIND_SP] = r.r[UNWIND_FP] = wrong[i];
		assert_int_equal(unwind_self_walk(&other, &r, pcs, MAX, &end), 1);
		assert_int_not_equal(end, UNWIND_OK);
		r.r[UNWIND_PC] = wrong[i];
		assert_int_equal(unwind_self_walk(&other, &r, pcs, MAX, &end), 1);
		assert_int_not_equal(end, UNWIND_OK);
	}
	/* The last bytes before an unreadable page. */
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unwind_stack other = {0};
	unwind_regs r = {.known = UNWIND_FOLLOWED};

	assert_ptr_not_equal(two, MAP_FAILED);
	assert_int_equal(mprotect(two + 4096, 4096, PROT_NONE), 0);
	r.r[UNWIND_PC] = (uintptr_t)two;
	r.r[UNWIND_SP] = (uintptr_t)two + 4000;
	r.r[UNWIND_FP] = (uintptr_t)two + 4088;
	assert_int_equal(unwind_self_walk(&other, &r, pcs, MAX, &end), 1);
	assert_int_equal(end, UNWIND_UNREADABLE);
	munmap(two, 8192);
}

static void test_bounded(void **state)
{
	uint64_t pcs[3];
	unwind_result end;

	(void)state;
	assert_int_equal(unwind_self_here(&mine, pcs, 3, &end), 3);
	assert_int_equal(end, UNWIND_OK);
	assert_int_equal(unwind_self_here(&mine, pcs, 0, NULL), 0);
}

static ucontext_t outer, fiber;
static unwind_result end_of_fiber;

static void fiber_runs(void)
{
	uint64_t pcs[MAX];

	unwind_self_here(&of_handler, pcs, MAX, &end_of_fiber);
}

/* The stack of makecontext() ends at a return address that no call made. */
static void test_fiber(void **state)
{
	static char stack[1 << 16];

	(void)state;
	assert_int_equal(getcontext(&fiber), 0);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof stack;
	fiber.uc_link = &outer;
	makecontext(&fiber, fiber_runs, 0);
	assert_int_equal(swapcontext(&outer, &fiber), 0);
	assert_int_equal(end_of_fiber, UNWIND_END);
}

int test_unwind_self(void);
int test_unwind_self(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_through_libc), cmocka_unit_test(test_realigned),
	    cmocka_unit_test(test_signal),	 cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_unreadable),	 cmocka_unit_test(test_bounded),
	    cmocka_unit_test(test_fiber),
	};

	unwind_self_refresh();
	if (!UNWIND_HERE) {
		printf("1..0 # skipped: stacks of this processor are not known\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
