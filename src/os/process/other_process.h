/* other_process.h - state, threads and memory of other processes, from /proc.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_OTHER_PROCESS_H
#define OS_OTHER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the process exists and has not ended: its main thread may have. */
bool os_process_runs(int pid);
/* Calls f for each thread of the process. false: no such process, or no /proc. */
bool os_process_threads_each(int pid, void (*f)(void *self, int tid), void *self);
/* Reads the name of its thread. false: the thread does not exist. */
bool os_process_thread_name(int pid, int tid, char *ret, size_t size);
/* Reads the CPU time of its threads, also of ended ones, to 10 ms. false: not known. */
bool os_process_used(int pid, uint64_t *ret_user_ns, uint64_t *ret_system_ns);

/* Returns whether a file whose path has that text is mapped in the process; `unread` if its maps
 * cannot be read. */
bool os_process_maps(int pid, const char *text, bool unread);

/* The blocking call of a thread. */
typedef struct os_blocked_call {
	uint64_t sp, pc;
	long call;   /* system call number; -1: none, it waits for memory or a CPU */
	bool unread; /* where it waits may not be read: sp and pc are 0 */
} os_blocked_call;
/* Reads it. false: the thread runs or does not exist. */
bool os_thread_blocked_call(int pid, int tid, os_blocked_call *ret);
/* A thread's CPU time, its time in the run queue before each timeslice, and their number: while
 * that is unchanged, it was not given a CPU. */
typedef struct os_timeslices {
	uint64_t cpu_ns, queued_ns, turns;
} os_timeslices;
/* Reads them. false: not known. */
bool os_thread_timeslices(int pid, int tid, os_timeslices *ret);
/* Reads how many bytes of its private memory lie in huge pages. false: the kernel does not report
 * it. */
bool os_process_huge_pages(int pid, uint64_t *ret);
/* Running processes whose program was started with a variable, "NAME=VALUE". */
typedef struct os_marked {
	size_t n;
	long pid; /* the first of them, and its name */
	char name[16];
} os_marked;
/* Finds those whose environment this user may read. Returns whether there are any. */
bool os_processes_marked(const char *mark, os_marked *ret);

/* Copies memory of another process; returns the bytes copied; fewer than n: the rest cannot be
 * read. */
uint64_t os_process_memory(int pid, uint64_t address, void *to, uint64_t n);

#endif
