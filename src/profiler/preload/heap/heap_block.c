/* heap_block.c - called by malloc's interposers: reentrancy guard, updates of the table of live
 * blocks and of the counters, and sampling of the hooks' own time.
 *
 * An allocation is recorded after the real function has returned: unwind the stack (heap_walk.c),
 * insert size and path into the table of live blocks (heap_live.c), add to the path's counters
 * (heap_count.c). A free is recorded before the real function runs, because afterwards another
 * thread may own the address. A block that is resized is removed before realloc() and counted as
 * freed and allocated after it, or restored if it failed. A block that is freed before its thread
 * allocates again is temporary, as heaptrack counts it.
 *
 * Invariants: heap_in_hook is the thread's reentrancy guard. A hook inside another hook (a signal
 * handler's, or the tool's own calls) records nothing, so a thread never waits for a lock that it
 * holds itself; calls from handlers are counted (`unseen`). Entering a hook takes no lock and no
 * system call, but for the first one of a thread or of a process after fork() (enter_first()).
 *
 * If allocations are sampled (heap_sample.h), the interposers call this only for those that may be
 * samples.
 *
 * Of each thread one call in timed_mask + 1 is timed by the thread's CPU clock, less one reading of
 * that clock: timed_ns / timed estimates the mean cost of a call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_block.h"

#include "profiler/preload/heap/heap_count.h"
#include "profiler/preload/heap/heap_held.h"
#include "profiler/preload/heap/heap_sample.h"
#include "profiler/unwind/unwind_self.h"

#include <errno.h>

/* Handles a hook inside a hook, and the first call of a process or thread. Returns NULL if nothing
 * is to be recorded. */
HEAP_APART static heap_thread *enter_first(heap_state **ret)
{
	if (heap_in_hook) {
		heap_state *s = heap_now;

		if (heap_in_hook != HEAP_INSIDE_OURS && s && atomic_load(&s->phase) == HEAP_ON)
			atomic_fetch_add_explicit(&s->header->unseen, 1, memory_order_relaxed);
		return NULL;
	}
	heap_in_hook = HEAP_INSIDE;
	heap_state *s = *ret = heap_get();
	heap_thread *t = s ? heap_thread_get(s) : NULL;
	if (!t)
		heap_in_hook = HEAP_OUTSIDE;
	return t;
}

static inline heap_thread *block_enter(heap_state **ret)
{
	heap_state *s = *ret = heap_now;
	heap_thread *t = heap_mine;

	if (__builtin_expect(heap_in_hook || !s || !t || heap_mine_of != s->generation ||
				 atomic_load_explicit(&s->phase, memory_order_acquire) != HEAP_ON,
			     0))
		return enter_first(ret);
	heap_in_hook = HEAP_INSIDE;
	return t;
}

heap_thread *hook_enter(heap_state **ret)
{
	return block_enter(ret);
}

void heap_leave(void)
{
	if (__builtin_expect(heap_in_hook == HEAP_INSIDE_BORROWED, 0))
		heap_thread_return();
	heap_in_hook = HEAP_OUTSIDE;
}

typedef struct timing {
	uint64_t began, clock; /* clock: cost of one reading */
} timing;

/* Excludes the time of other threads. */
static uint64_t block_clock_ns(void)
{
	return heap_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* One call in HEAP_TIMED_MASK + 1 is timed, from which the cost of all calls is estimated. */
static inline bool block_is_timed(const heap_state *s, heap_thread *t)
{
	return __builtin_expect((++t->turn & s->timed_mask) == 0, 0);
}

static timing timing_begin(void)
{
	const uint64_t before = block_clock_ns(), began = block_clock_ns();

	return (timing){.began = began, .clock = began - before};
}

static void timing_end(heap_state *s, const timing *taken)
{
	const uint64_t took = block_clock_ns() - taken->began;
	atomic_fetch_add_explicit(&s->header->timed, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->header->timed_ns,
				  took > taken->clock ? took - taken->clock : 0,
				  memory_order_relaxed);
}

static inline void born_at(heap_state *s, heap_thread *t, const void *p, uint64_t size,
			   uint32_t node)
{
	const heap_block before = heap_live_put(s, p, (heap_block){size, node});

	if (__builtin_expect(before.node, 0)) /* its free was not observed */
		heap_count_died(s, t, before.node, before.size, 1, false, HEAP_BLOCKS);
	heap_count_born(s, t, node, size, HEAP_BLOCKS);
	t->last = p;
	t->last_gap = heap_gap;
}

HEAP_APART static void born_sampled(heap_state *s, heap_thread *t, const void *p, size_t size,
				    const heap_caller *from)
{
	if (!t->sampling) {
		t->sampling = true;
		heap_sample_next(s, t);
	}
	if (heap_sample_skips(size)) /* it has just begun */
		return;
	heap_sample_next(s, t);
	const uint32_t node = heap_sample_node(s, t, heap_walk(s, t, from), size);
	if (node)
		born_at(s, t, p, heap_sample_weight(size, s->interval), node);
}

static inline void born(heap_state *s, heap_thread *t, const void *p, size_t size,
			const heap_caller *from)
{
	if (__builtin_expect(s->sampled != NULL, 0))
		born_sampled(s, t, p, size, from);
	else
		born_at(s, t, p, size, heap_walk(s, t, from));
}

HEAP_APART static void born_timed(heap_state *s, heap_thread *t, const void *p, size_t size,
				  const heap_caller *from)
{
	const timing taken = timing_begin();

	born(s, t, p, size, from);
	timing_end(s, &taken);
}

void heap_on_alloc(const void *p, size_t size, const heap_caller *from)
{
	heap_state *s;
	heap_thread *t = block_enter(&s);

	if (!t)
		return;
	if (block_is_timed(s, t))
		born_timed(s, t, p, size, from);
	else
		born(s, t, p, size, from);
	heap_leave();
}

static inline void died(heap_state *s, heap_thread *t, const void *p)
{
	heap_held_check(s);
	const heap_block b = heap_live_take(s, p);

	if (b.node)
		heap_count_died(s, t, b.node, b.size, 1, t->last == p && t->last_gap == heap_gap,
				HEAP_BLOCKS);
}

HEAP_APART static void died_timed(heap_state *s, heap_thread *t, const void *p)
{
	const timing taken = timing_begin();

	died(s, t, p);
	timing_end(s, &taken);
}

void heap_on_free(const void *p)
{
	heap_state *s;
	heap_thread *t = block_enter(&s);

	if (!t)
		return;
	if (block_is_timed(s, t))
		died_timed(s, t, p);
	else
		died(s, t, p);
	heap_leave();
}

heap_block heap_on_realloc_begin(const void *p)
{
	heap_state *s;
	heap_block b = {0};

	if (heap_sample_spares(p))
		return b;
	heap_thread *t = hook_enter(&s);

	if (!t)
		return b;
	b = heap_live_take(s, p);
	heap_leave();
	return b;
}

void heap_on_realloc_end(const void *old, heap_block was, const void *p, size_t size,
			 const heap_caller *from)
{
	heap_state *s;

	if (p && !was.node && heap_sample_skips(size))
		return;
	heap_thread *t = hook_enter(&s);
	if (!t)
		return;
	if (!p && size) {
		if (was.node)
			heap_live_put(s, old, was);
	} else {
		const bool timed = block_is_timed(s, t);
		const timing taken = timed ? timing_begin() : (timing){0};

		if (was.node)
			heap_count_died(s, t, was.node, was.size, 1, false, HEAP_BLOCKS);
		if (p)
			born(s, t, p, size, from);
		if (timed)
			timing_end(s, &taken);
	}
	heap_leave();
}

void heap_on_unload(void)
{
	heap_state *s;
	const int kept = errno;

	if (!hook_enter(&s))
		return;
	heap_modules_check(s);
	unwind_self_changed();
	heap_leave();
	errno = kept;
}
