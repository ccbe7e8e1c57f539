/* overhead.c - what clocks, system calls, threads and processes cost.
 *
 * What takes nanoseconds is timed in batches, what takes microseconds one by one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "os/os.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { OVERHEAD_SAMPLES = 25, BATCH = 500 };

static void batch_clock(void)
{
	for (int i = 0; i < BATCH; i++)
		os_now_ns();
}

static void batch_syscall(void)
{
	os_system_calls(BATCH);
}

#if defined(__x86_64__)
static void batch_counter(void)
{
	for (int i = 0; i < BATCH; i++) {
		uint64_t t = __rdtsc();
		__asm__ volatile("" : : "r"(t));
	}
}
#elif defined(__aarch64__)
static void batch_counter(void)
{
	for (int i = 0; i < BATCH; i++) {
		uint64_t t;
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	}
}
#endif

static const struct {
	const char *tag;
	void (*batch)(void);
} batches[] = {
    {"overhead/clock", batch_clock},
    {"overhead/syscall", batch_syscall},
#if defined(__x86_64__) || defined(__aarch64__)
    {"overhead/counter", batch_counter},
#endif
};

static machine_item *overhead_add(machine_result *r, const char *tag, unsigned threads)
{
	machine_item *i = machine_add(r, tag, threads);
	if (i)
		i->is_time = true;
	return i;
}

static void batches_run(machine_result *r)
{
	for (size_t k = 0; k < sizeof batches / sizeof *batches; k++) {
		machine_item *item = overhead_add(r, batches[k].tag, 1);
		batches[k].batch();
		for (int i = 0; item && i < OVERHEAD_SAMPLES; i++) {
			uint64_t begin = os_now_ns();
			batches[k].batch();
			item->value[item->n++] = (double)(os_now_ns() - begin) / BATCH;
		}
	}
}

static void overhead_nothing(void *self, unsigned thread, unsigned threads, unsigned round)
{
	(void)self, (void)thread, (void)threads, (void)round;
}

/* Wakes a sleeping thread, which does nothing and wakes the waiting thread. */
static void wake_run(machine_pool *pool, machine_result *r)
{
	machine_item *item = overhead_add(r, "overhead/wake", 1);

	machine_pool_run(pool, 1, 1, overhead_nothing, NULL, NULL);
	for (int i = 0; item && i < OVERHEAD_SAMPLES; i++) {
		uint64_t begin = os_now_ns();
		machine_pool_run(pool, 1, 1, overhead_nothing, NULL, NULL);
		item->value[item->n++] = (double)(os_now_ns() - begin);
	}
}

/* Threads that do not sleep begin a round together and wait for the last one. */
static void fork_join_run(const machine_run_config *ask, machine_pool *pool, machine_result *r)
{
	machine_item *item = overhead_add(r, "overhead/fork_join", ask->threads);

	if (!item)
		return;
	if (ask->threads == 1) {
		item->absent = "one thread has no other to wait for";
		return;
	}
	for (int i = 0; i < OVERHEAD_SAMPLES; i++) {
		uint64_t begin = os_now_ns();
		machine_pool_run(pool, ask->threads, BATCH, overhead_nothing, NULL, NULL);
		item->value[item->n++] = (double)(os_now_ns() - begin) / BATCH;
	}
}

static void spawn_run(machine_result *r)
{
	char word[] = "true", *argv[] = {word, NULL};
	const os_spawn_config c = {
	    .argv = argv, .in_fd = -1, .out_fd = -1, .err_fd = -1, .keep_fd = -1};
	machine_item *item = overhead_add(r, "overhead/spawn", 1);
	os_child_usage usage;
	os_spawner *s;
	pid_t pid;

	if (!item)
		return;
	item->absent = "the program 'true' could not be started";
	if (os_spawner_new(&c, &s, NULL) != DCK_OK)
		return;
	for (int i = 0; i <= OVERHEAD_SAMPLES; i++) {
		uint64_t begin = os_now_ns();
		if (os_spawner_run(s, &pid, NULL) != DCK_OK ||
		    os_wait(pid, 0, NULL, NULL, &usage, NULL) != DCK_OK || usage.exit_code != 0)
			break;
		/* The first start reads the program's file from the disk and does not count. */
		if (i > 0)
			item->value[item->n++] = (double)(os_now_ns() - begin);
	}
	if (item->n > 0)
		item->absent = NULL;
	os_spawner_free(s);
}

void machine_overheads(const machine_run_config *ask, machine_pool *pool, machine_result *r)
{
	batches_run(r);
	wake_run(pool, r);
	fork_join_run(ask, pool, r);
	spawn_run(r);
}
