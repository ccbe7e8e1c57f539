/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/sample_threads.h"

#include <stdio.h>
#include <string.h>

void sample_threads_init(sample_threads *t)
{
	*t = (sample_threads){.rows = {.row_bytes = sizeof(sample_thread)}};
}

void sample_threads_done(sample_threads *t)
{
	id_table_done(&t->rows);
	hash_map_done(&t->by_tid);
}

static sample_thread *thread_find(const sample_threads *t, int tid)
{
	const uint32_t at = hash_map_find(&t->by_tid, (uint64_t)tid);

	return at ? id_table_find(&t->rows, at) : NULL;
}

static void threads_title_make(sample_thread *one)
{
	snprintf(one->title, sizeof one->title, "%.15s (thread %d)",
		 one->name[0] ? one->name : "thread", one->tid);
}

static uint32_t threads_place_find(sample_threads *t)
{
	for (uint32_t i = 1; t->free > 0 && i <= t->n; i++)
		if (((sample_thread *)id_table_find(&t->rows, i))->tid == 0) {
			t->free--;
			return i;
		}
	return ++t->n;
}

sample_thread *sample_thread_of(sample_threads *t, int pid, int tid)
{
	sample_thread *one = thread_find(t, tid);

	if (one)
		return one;
	const uint32_t at = threads_place_find(t);
	one = id_table_row(&t->rows, at);
	if (!one || !hash_map_put(&t->by_tid, (uint64_t)tid, at))
		return NULL;
	*one = (sample_thread){.pid = pid, .tid = tid};
	threads_title_make(one);
	t->seen++;
	return one;
}

sample_thread *sample_thread_named(sample_threads *t, int pid, int tid, const char *name)
{
	sample_thread *one = sample_thread_of(t, pid, tid);

	if (one) {
		snprintf(one->name, sizeof one->name, "%.15s", name);
		threads_title_make(one);
	}
	return one;
}

void sample_thread_made(sample_threads *t, int pid, int tid, int by_tid)
{
	const sample_thread *by = thread_find(t, by_tid);
	char name[sizeof by->name] = "";

	if (by)
		memcpy(name, by->name, sizeof name);
	sample_thread_ended(t, tid); /* the number is used again */
	sample_thread_named(t, pid, tid, name);
}

void sample_thread_ended(sample_threads *t, int tid)
{
	sample_thread *one = thread_find(t, tid);

	if (!one)
		return;
	hash_map_remove(&t->by_tid, (uint64_t)tid);
	*one = (sample_thread){0};
	t->free++;
}

void sample_threads_each(sample_threads *t, void (*f)(void *self, sample_thread *t), void *self)
{
	for (uint32_t i = 1; i <= t->n; i++) {
		sample_thread *one = id_table_find(&t->rows, i);

		if (one && one->tid)
			f(self, one);
	}
}
