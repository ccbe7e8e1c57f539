/* futex.c - threads that wait for each other over a number in memory, in signal handlers too, and a
 * lock made of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void os_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
				   .tv_nsec = (long)(ns % 1000000000u)};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
}

void os_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#define RECHECK_NS 1000000000u

void os_fair_lock_take(os_fair_lock *l)
{
	const uint32_t ticket = atomic_fetch_add(&l->next, 1);
	uint32_t serving;

	while ((serving = atomic_load(&l->serving)) != ticket)
		os_futex_wait(&l->serving, serving, RECHECK_NS);
}

void os_fair_lock_give(os_fair_lock *l)
{
	const uint32_t serving = atomic_fetch_add(&l->serving, 1) + 1;

	if (atomic_load(&l->next) != serving)
		os_futex_wake(&l->serving);
}
