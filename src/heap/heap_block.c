/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/heap_block.h"

#include "heap/heap_count.h"
#include "stack/unwind_self.h"

#include <errno.h>
#include <time.h>

heap_thread *heap_enter(heap_state **ret)
{
	if (__builtin_expect(heap_inside, 0)) {
		heap_state *s = heap_now;

		if (heap_inside == HEAP_INSIDE && s && atomic_load(&s->phase) == HEAP_ON)
			atomic_fetch_add_explicit(&s->header->unseen, 1, memory_order_relaxed);
		return NULL;
	}
	heap_inside = HEAP_INSIDE;
	heap_state *s = *ret = heap_get();
	heap_thread *t = s ? heap_thread_get(s) : NULL;
	if (__builtin_expect(!t, 0))
		heap_inside = HEAP_OUTSIDE;
	return t;
}

void heap_leave(void)
{
	heap_inside = HEAP_OUTSIDE;
}

/* Of one call in so many the time is taken, so that it is known what all of them cost. */
enum { TIMED_EVERY = 1024 };

typedef struct timing {
	uint64_t began, clock; /* clock: what a reading takes; began 0: it is not taken */
} timing;

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* not what others took meanwhile */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline timing timing_begin(heap_thread *t)
{
	timing taken = {0};

	if (__builtin_expect(++t->turn % TIMED_EVERY == 0, 0)) {
		const uint64_t before = clock_ns();

		taken.began = clock_ns();
		taken.clock = taken.began - before;
	}
	return taken;
}

static inline void timing_end(heap_state *s, const timing *taken)
{
	if (__builtin_expect(taken->began == 0, 1))
		return;
	const uint64_t took = clock_ns() - taken->began;
	atomic_fetch_add_explicit(&s->header->timed, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->header->timed_ns,
				  took > taken->clock ? took - taken->clock : 0,
				  memory_order_relaxed);
}

static void born(heap_state *s, heap_thread *t, const void *p, size_t size, const heap_caller *from)
{
	const uint32_t node = heap_walk(s, t, from);
	const heap_block before = heap_live_put(s, p, (heap_block){size, node});

	if (__builtin_expect(before.node, 0)) /* its end was not seen */
		heap_count_died(s, t, before.node, before.size, 1, false, HEAP_BLOCKS);
	heap_count_born(s, t, node, size, HEAP_BLOCKS);
	t->last = p;
}

void heap_block_born(const void *p, size_t size, const heap_caller *from)
{
	heap_state *s;
	heap_thread *t = heap_enter(&s);

	if (!t)
		return;
	const timing taken = timing_begin(t);
	born(s, t, p, size, from);
	timing_end(s, &taken);
	heap_leave();
}

void heap_block_died(const void *p)
{
	heap_state *s;
	heap_thread *t = heap_enter(&s);

	if (!t)
		return;
	const timing taken = timing_begin(t);
	const heap_block b = heap_live_take(s, p);
	if (b.node)
		heap_count_died(s, t, b.node, b.size, 1, t->last == p, HEAP_BLOCKS);
	timing_end(s, &taken);
	heap_leave();
}

heap_block heap_block_taken(const void *p)
{
	heap_state *s;
	heap_thread *t = heap_enter(&s);
	heap_block b = {0};

	if (!t)
		return b;
	b = heap_live_take(s, p);
	heap_leave();
	return b;
}

void heap_block_resized(const void *old, heap_block was, const void *p, size_t size,
			const heap_caller *from)
{
	heap_state *s;
	heap_thread *t = heap_enter(&s);

	if (!t)
		return;
	if (!p && size) {
		if (was.node)
			heap_live_put(s, old, was);
	} else {
		const timing taken = timing_begin(t);

		if (was.node)
			heap_count_died(s, t, was.node, was.size, 1, false, HEAP_BLOCKS);
		if (p)
			born(s, t, p, size, from);
		timing_end(s, &taken);
	}
	heap_leave();
}

void heap_code_gone(void)
{
	heap_state *s;
	const int kept = errno;

	if (!heap_enter(&s))
		return;
	heap_modules_check(s);
	unwind_self_changed();
	heap_leave();
	errno = kept;
}
