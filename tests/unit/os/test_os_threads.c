/* test_os_threads.c - thread statistics of the kernel, and a lock that is fair.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { PAGES = 500 };

static void burn(uint64_t ns)
{
	const uint64_t begin = os_thread_cpu_ns();

	while (os_thread_cpu_ns() - begin < ns)
		;
}

static void touch(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = PAGES * page;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	madvise(p, n, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i += page)
		p[i] = 1;
	munmap(p, n);
}

static void own_use_grows_with_what_is_done(void **state)
{
	os_thread_counters was, now, all;

	(void)state;
	os_thread_counters_own(&was);
	burn(5000000);
	touch();
	usleep(1000);
	os_thread_counters_own(&now);
	os_thread_counters_process(&all);
	assert_true(now.known & 1u << OS_USE_CPU && now.known & 1u << OS_USE_MAJOR);
	assert_false(now.known & 1u << OS_THREAD_RUN_DELAY);
	assert_true(now.n[OS_USE_CPU] - was.n[OS_USE_CPU] >= 5000000);
	assert_true(now.n[OS_USE_MINOR] - was.n[OS_USE_MINOR] >= PAGES);
	assert_true(now.n[OS_USE_VOLUNTARY] > was.n[OS_USE_VOLUNTARY]);
	assert_true(all.n[OS_USE_CPU] >= now.n[OS_USE_CPU]);
	assert_true(all.n[OS_USE_MINOR] >= now.n[OS_USE_MINOR]);
	assert_true(os_resident_bytes() > 0);
}

static _Atomic int tid;
static _Atomic bool leave;

static void *other(void *unused)
{
	/* The most hostile name possible. */
	prctl(PR_SET_NAME, "a) R 1 (2 3\n4");
	burn(3000000);
	touch();
	tid = os_thread_id();
	while (!leave)
		usleep(1000);
	return unused;
}

static void find(void *self, int found)
{
	int *n = self;

	*n += found == tid;
}

static void another_thread_is_seen(void **state)
{
	os_thread_stat told;
	pthread_t thread;
	uint64_t ns;
	int n = 0;

	(void)state;
	const uint64_t before = os_boottime_ns();
	assert_int_equal(pthread_create(&thread, NULL, other, NULL), 0);
	while (!tid)
		usleep(1000);
	assert_true(os_thread_cpu(tid, &ns));
	assert_true(ns >= 3000000);
	assert_true(os_threads_each(find, &n));
	assert_int_equal(n, 1);
	assert_true(os_thread_read(tid, true, &told));
	assert_string_equal(told.name, "a) R 1 (2 3\n4");
	assert_true(told.uses.n[OS_USE_CPU] >= ns);
	assert_true(told.uses.n[OS_USE_MINOR] >= PAGES);
	assert_true(told.uses.known & 1u << OS_USE_VOLUNTARY);
	assert_true(told.born_ns + 20000000 >= before && told.born_ns <= os_boottime_ns());
	leave = true;
	pthread_join(thread, NULL);
	/* The thread disappears a moment later. */
	for (int i = 0; i < 5000 && os_thread_cpu(tid, &ns); i++)
		usleep(1000);
	assert_false(os_thread_cpu(tid, &ns));
	assert_false(os_thread_read(tid, true, &told));
}

static void *burner(void *ns)
{
	burn(*(const uint64_t *)ns);
	return NULL;
}

/* A process that computes on the same processor makes this thread wait for as long as it runs, and
 * no longer than the thread does not run. */
static void waiting_for_a_processor_is_counted(void **state)
{
	static const uint64_t least_ns = 40000000, thread_ns = 3000000;
	cpu_set_t all, one;
	os_run_delay *d;
	uint64_t began, own, delay, theirs = 0;
	clockid_t clock;
	struct timespec t;
	pthread_t thread;
	os_run_delays waits;

	(void)state;
	if (os_run_delay_open(&d, NULL) != DCK_OK)
		skip(); /* the kernel does not count */
	os_run_delay_close(d);
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	assert_true(child > 0);
	assert_int_equal(clock_getcpuclockid(child, &clock), 0);
	assert_int_equal(os_run_delay_open(&d, NULL), DCK_OK);
	assert_int_equal(clock_gettime(clock, &t), 0);
	const uint64_t before = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	began = os_now_ns();
	own = os_thread_cpu_ns();
	/* Until the other one has run for long enough, whatever else the machine does. */
	while (theirs < least_ns) {
		burn(1000000);
		assert_int_equal(clock_gettime(clock, &t), 0);
		theirs = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - before;
	}
	assert_true(os_run_delay_read(d, &waits));
	delay = waits.ns;
	assert_true(waits.timeslices > 1); /* the two took turns */
	own = os_thread_cpu_ns() - own;
	const uint64_t wall = os_now_ns() - began;

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* The kernel's clocks of a tick: 10 ms at most. */
	assert_true(delay + 10000000 >= theirs);
	assert_true(delay <= wall - own + 10000000);
	assert_int_equal(os_run_delay_busy(d, 1), 1);
	/* Threads that start and end are found. */
	assert_int_equal(pthread_create(&thread, NULL, burner, (void *)&thread_ns), 0);
	assert_true(os_run_delay_read(d, &waits));
	pthread_join(thread, NULL);
	for (int i = 0; i < 3; i++)
		assert_true(os_run_delay_read(d, &waits));
	os_run_delay_close(d);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

typedef struct turn {
	_Atomic int tid;
	_Atomic bool leave;
	uint64_t burns_ns;
} turn;

static void *turn_taken(void *self)
{
	turn *t = self;

	burn(t->burns_ns);
	t->tid = os_thread_id();
	while (!t->leave)
		usleep(1000);
	return NULL;
}

/* A thread that starts when another one has ended leaves the number of threads as it was. */
static void a_thread_in_the_place_of_another_is_found(void **state)
{
	turn first = {.burns_ns = 0}, second = {.burns_ns = 60000000};
	pthread_t thread;
	os_run_delays waits;
	os_run_delay *d;
	uint64_t ns;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, turn_taken, &first), 0);
	while (!first.tid)
		usleep(1000);
	if (os_run_delay_open(&d, NULL) != DCK_OK)
		skip(); /* the kernel does not count */
	first.leave = true;
	pthread_join(thread, NULL);
	while (os_thread_cpu(first.tid, &ns))
		usleep(1000);
	assert_int_equal(pthread_create(&thread, NULL, turn_taken, &second), 0);
	while (!second.tid)
		usleep(1000);
	for (int i = 0; i < 3; i++)
		assert_true(os_run_delay_read(d, &waits));
	assert_int_equal(os_run_delay_busy(d, 50000000), 1);
	os_run_delay_close(d);
	second.leave = true;
	pthread_join(thread, NULL);
}

#define ASKING 8

static os_fair_lock fair;
static unsigned order[ASKING], given; /* by the lock */

static void *ask_for_it(void *arg)
{
	os_fair_lock_take(&fair);
	order[given++] = *(const unsigned *)arg;
	os_fair_lock_give(&fair);
	return NULL;
}

/* Threads get the lock in the order of their requests, and one at a time. */
static void a_lock_is_given_in_order(void **state)
{
	pthread_t threads[ASKING];
	unsigned numbers[ASKING];

	(void)state;
	os_fair_lock_take(&fair);
	for (unsigned i = 0; i < ASKING; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, ask_for_it, &numbers[i]), 0);
		while (fair.next != i + 2)
			usleep(100);
	}
	assert_int_equal(given, 0);
	os_fair_lock_give(&fair);
	for (unsigned i = 0; i < ASKING; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(given, ASKING);
	for (unsigned i = 0; i < ASKING; i++)
		assert_int_equal(order[i], i);
	/* It is free again. */
	os_fair_lock_take(&fair);
	os_fair_lock_give(&fair);
}

/* It is between a nanosecond and what gives up, where two processors become free; and the calling
 * thread may use the same processors as before. */
static void core_latency_is_measured(void **state)
{
	unsigned before[OS_CPUS_MAX], after[OS_CPUS_MAX];
	const unsigned n = os_cpus_get(before, OS_CPUS_MAX);
	double ns = 0;
	bool known = false;

	(void)state;
	for (int i = 0; i < 100 && n > 1 && !known; i++)
		known = os_core_latency(&ns, 1);
	assert_int_equal(os_cpus_get(after, OS_CPUS_MAX), n);
	assert_memory_equal(before, after, n * sizeof *before);
	assert_true(!known || (ns > 1 && ns < 20e6));
	assert_true(os_cpus_allowed() > 1 || !os_core_latency(&ns, 1));
}

int test_os_threads(void);
int test_os_threads(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(own_use_grows_with_what_is_done),
	    cmocka_unit_test(another_thread_is_seen),
	    cmocka_unit_test(waiting_for_a_processor_is_counted),
	    cmocka_unit_test(a_thread_in_the_place_of_another_is_found),
	    cmocka_unit_test(a_lock_is_given_in_order),
	    cmocka_unit_test(core_latency_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
