/* other_process.h - other processes, as /proc shows them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_OTHER_PROCESS_H
#define OS_OTHER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* It is there and has not ended. */
bool os_process_runs(int pid);
/* Calls f for each thread that it has now. false: there is no such process, or no /proc. */
bool os_process_threads_each(int pid, void (*f)(void *self, int tid), void *self);
/* CPU time that its threads have used, also those that ended; to 10 ms. false: not known. */
bool os_process_used(int pid, uint64_t *ret_user_ns, uint64_t *ret_system_ns);

/* Where a thread of it waits in the kernel. */
typedef struct os_blocked_call {
	uint64_t sp, pc;
	long call; /* of the kernel, by its number; -1: none, it waits for memory or a CPU */
} os_blocked_call;
/* false: it runs, there is none, or we may not look. */
bool os_thread_blocked_call(int pid, int tid, os_blocked_call *ret);
/* How often it was given a CPU: while that stays, it has not run. false: not known. */
bool os_thread_timeslices(int pid, int tid, uint64_t *ret_cpu_ns, uint64_t *ret_turns);
/* Copies memory of another process; fewer than n: the rest cannot be read. */
uint64_t os_process_memory(int pid, uint64_t address, void *to, uint64_t n);

#endif
