/* sample_threads.h - threads of sampled processes, by their numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_THREADS_H
#define SAMPLE_SAMPLE_THREADS_H

#include "base/id_table.h"
#include "os/process/other_process.h"

typedef struct sample_thread {
	int pid, tid; /* tid 0: a free row */
	char name[16], title[48];
	uint32_t frame; /* the outermost frame of its paths; 0: none yet */
	/* Off-CPU since left_ns, at path waits_at; preempted: still runnable. */
	bool away, preempted;
	uint32_t waits_at;
	uint64_t left_ns;
	uint32_t ran_at; /* path of its last sample; 0: none */
	/* At the last poll. */
	uint64_t looked_ns;
	os_timeslices slices;
	bool stood; /* it was blocked then, at waits_at */
} sample_thread;

typedef struct sample_threads {
	id_table rows;
	hash_map by_tid;
	uint32_t n, free; /* free: head of the free rows */
	uint64_t seen;
} sample_threads;

void sample_threads_init(sample_threads *t);
void sample_threads_done(sample_threads *t);
/* Borrowed until the next one is made. NULL: no memory. */
sample_thread *sample_thread_of(sample_threads *t, int pid, int tid);
/* NULL: no memory. */
sample_thread *sample_thread_named(sample_threads *t, int pid, int tid, const char *name);
/* It has the name of the thread that made it. */
void sample_thread_made(sample_threads *t, int pid, int tid, int by_tid);
void sample_thread_ended(sample_threads *t, int tid);
void sample_threads_each(sample_threads *t, void (*f)(void *self, sample_thread *t), void *self);

#endif
