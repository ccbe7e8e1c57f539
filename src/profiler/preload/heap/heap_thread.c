/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_thread.h"

#include "profiler/preload/heap/heap_count.h"
#include "profiler/preload/heap/heap_sample.h"

#include <pthread.h>
#include <string.h>

_Thread_local volatile int heap_in_hook __attribute__((tls_model("initial-exec")));
_Thread_local heap_thread *heap_mine __attribute__((tls_model("initial-exec")));
_Thread_local uint32_t heap_mine_of __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

/* Free list: the state of exited threads is reused by new ones. */
static heap_lock left_lock;
static heap_thread *left;

void heap_threads_forget(void)
{
	left_lock = 0;
	left = NULL;
}

/* The thread's cache is free for others. */
static void mine_leave(heap_state *s)
{
	heap_thread *t = heap_mine;

	heap_count_flush(s, t);
	heap_mine = NULL;
	heap_lock_take(&left_lock);
	t->next = left;
	left = t;
	heap_lock_give(&left_lock);
}

static void heap_thread_ends(void *self)
{
	heap_state *s = heap_get();

	heap_in_hook++;
	if (s && heap_mine == self && heap_mine_of == s->generation)
		mine_leave(s);
	heap_in_hook--;
}

void heap_thread_return(void)
{
	mine_leave(heap_now);
}

static void thread_key_make(void)
{
	has_key = pthread_key_create(&key, heap_thread_ends) == 0;
	pthread_atfork(NULL, NULL, heap_sample_forked);
}

void heap_thread_prepare(void)
{
	pthread_once(&key_once, thread_key_make);
}

static heap_thread *left_take(void)
{
	heap_lock_take(&left_lock);
	heap_thread *t = left;
	if (t)
		left = t->next;
	heap_lock_give(&left_lock);
	return t;
}

heap_thread *heap_thread_begin(heap_state *s)
{
	/* libc frees memory of the thread after its end here, when no destructor follows. */
	const bool ended = heap_mine_of == s->generation;
	heap_thread *t = left_take();

	if (!t)
		t = heap_pages(s, sizeof *t);
	heap_mine = t;
	if (!t)
		return NULL;
	if (!t->generation) {
		t->generation = s->generation;
		t->code = atomic_load_explicit(&s->header->code, memory_order_acquire);
		t->lane = 1 + atomic_fetch_add(&s->lane, 1) % HEAP_ROOT_SHARDS;
	}
	t->depth = 0;
	t->low = t->high = 0;
	t->last = NULL;
	t->python_depth = 0;
	memset(t->pages, 0, sizeof t->pages);
	t->sampling = false;
	heap_gap = 0;
	if (ended) {
		heap_in_hook = HEAP_INSIDE_BORROWED;
		return t;
	}
	heap_mine_of = s->generation;
	atomic_fetch_add_explicit(&s->header->threads, 1, memory_order_relaxed);
	heap_thread_prepare();
	if (has_key)
		pthread_setspecific(key, t);
	return t;
}
