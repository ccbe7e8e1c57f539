/* core_latency.c - the core-to-core latency: how long a cache line takes from one processor to
 * another and back.
 *
 * Two threads, pinned to two processors, wait in turns for the other's store to one line. Each
 * batch is timed, so that the caller's median is not moved by an interrupt. A virtual machine's
 * processors may share a core in one minute and be on distant ones in the next, which this alone
 * shows; each parallel part of a run pays it several times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <pthread.h>
#include <stdatomic.h>

enum { EXCHANGES = 40, SPINS = 4096 };
#define GIVEN_UP_NS 20000000u

typedef struct exchange {
	_Alignas(128) atomic_uint turn; /* even: the first thread's */
	_Alignas(128) atomic_bool over;
	uint64_t deadline_ns;
	unsigned cpu[2];
	double *ns; /* [n], of each batch */
	size_t n;
	bool whole; /* all batches were measured */
} exchange;

/* Waits for the turn `mine`; false: a processor is busy with something else. */
static bool turn_await(exchange *x, unsigned mine)
{
	for (unsigned spins = 1; atomic_load_explicit(&x->turn, memory_order_acquire) != mine;
	     spins++)
		if (spins % SPINS == 0 && (atomic_load(&x->over) || os_now_ns() > x->deadline_ns))
			return false;
	return true;
}

static void *exchange_second(void *self)
{
	exchange *x = self;

	if (!os_thread_pin(x->cpu[1]))
		atomic_store(&x->over, true);
	for (unsigned turn = 1; turn_await(x, turn); turn += 2)
		atomic_store_explicit(&x->turn, turn + 1, memory_order_release);
	return NULL;
}

static void *exchange_first(void *self)
{
	exchange *x = self;
	pthread_t second;
	unsigned turn = 0;

	if (!os_thread_pin(x->cpu[0]) || pthread_create(&second, NULL, exchange_second, x) != 0)
		return NULL;
	x->whole = true;
	for (size_t b = 0; b < x->n && x->whole; b++) {
		const uint64_t begin_ns = os_now_ns();

		for (int i = 0; i < EXCHANGES && x->whole; i++, turn += 2) {
			atomic_store_explicit(&x->turn, turn + 1, memory_order_release);
			x->whole = turn_await(x, turn + 2);
		}
		x->ns[b] = (double)(os_now_ns() - begin_ns) / EXCHANGES;
	}
	atomic_store(&x->over, true);
	pthread_join(second, NULL);
	return NULL;
}

bool os_core_latency(double *ret_ns, size_t batches)
{
	unsigned cpus[OS_CPUS_MAX], cores[OS_CPUS_MAX];
	const unsigned n = os_cpus_get(cpus, OS_CPUS_MAX);
	exchange x = {.deadline_ns = os_now_ns() + GIVEN_UP_NS, .ns = ret_ns, .n = batches};
	pthread_t first;

	if (n < 2)
		return false;
	os_cores_first("", cpus, n, cores);
	x.cpu[0] = cores[0];
	x.cpu[1] = cores[1];
	if (pthread_create(&first, NULL, exchange_first, &x) != 0)
		return false;
	pthread_join(first, NULL);
	return x.whole;
}
