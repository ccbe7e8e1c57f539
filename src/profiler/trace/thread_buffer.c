/* thread_buffer.c - slow paths of a thread: gets its lane, changes blocks, counts lost events,
 * ends. thread_buffer.h describes the design. Everything is async-signal-safe: it takes no lock and
 * allocates no memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/thread_buffer.h"

#include "os/os.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

_Thread_local thread_buffer_self thread_buffer_me
    __attribute__((tls_model("initial-exec"))) = {.next = LANE_NONE};

static thread_buffer thread_buffers[LANES_MAX];
static _Atomic uint32_t buffers_used, serials;
static _Atomic uint64_t lost_without_lane;
static _Atomic uint64_t patience, waits, waited_ns;
static _Atomic long patient; /* the process that waits: a child of _Fork() has no drain */
static pthread_key_t buffer_key;
static _Atomic uint32_t wake;	     /* 1: the drain was woken */
static _Atomic uint32_t full_blocks; /* since the drain was last woken */
_Atomic uint32_t trace_recordings;

enum {
	WAIT_NS = 10000000, /* at a time */
	/* Full blocks that wake the drain, unless the pool is small: a wake-up costs its thread
	 * some microseconds, on a virtual machine more than a tenth of what fills a block. */
	WAKE_BLOCKS = 4,
	WAKE_SHARE = 8 /* they are at most this part of the pool: 1 / WAKE_SHARE */
};

/* --- a thread's lane */

/* Returns the mask of blocked signals. */
static uint64_t blocked(void)
{
	uint64_t mask = 0;
	sigset_t set;

	if (pthread_sigmask(SIG_SETMASK, NULL, &set))
		return 0;
	for (int s = 1; s <= 64; s++)
		mask |= (uint64_t)(sigismember(&set, s) == 1) << (s - 1);
	return mask;
}

/* Finds a free lane. name NULL: for the calling thread, with its id. device: not 0 for a device. */
static thread_buffer *thread_buffer_find(int tid, const char *name, uint32_t device)
{
	for (uint32_t i = 0; i < LANES_MAX; i++) {
		thread_buffer *l = &thread_buffers[i];
		int free = LANE_FREE;

		if (!atomic_compare_exchange_strong(&l->state, &free, LANE_TAKEN))
			continue;
		uint32_t have = atomic_load(&buffers_used);
		while (have < i + 1 && !atomic_compare_exchange_weak(&buffers_used, &have, i + 1))
			;
		l->tid = name ? tid : os_thread_id();
		memset(l->name, 0, sizeof l->name);
		l->guest = name;
		l->device = device;
		if (name)
			strncpy(l->name, name, sizeof l->name - 1);
		atomic_store(&l->wait_begin, 0);
		l->serial = atomic_fetch_add(&serials, 1) + 1;
		atomic_store(&l->state, LANE_LIVE);
		return l;
	}
	return NULL;
}

static thread_buffer *trace_lane_take(thread_buffer_self *me)
{
	thread_buffer *l = me->ended ? NULL : thread_buffer_find(0, NULL, 0);

	if (!l)
		return NULL;
	me->mask = blocked();
	me->thread_buffer = l;
	/* A lane needs a destructor that reports the thread's end. */
	if (!pthread_setspecific(buffer_key, l))
		return l;
	me->thread_buffer = NULL;
	atomic_store(&l->state, LANE_ENDED);
	return NULL;
}

/* --- losing */

static void lose(thread_buffer *l, uint64_t word)
{
	if (!l) {
		atomic_fetch_add_explicit(&lost_without_lane, 1, memory_order_relaxed);
		return;
	}
	atomic_fetch_add_explicit(&l->lost, 1, memory_order_relaxed);
	switch (LANE_KIND(word)) {
	case LANE_PUSH:
		atomic_fetch_add_explicit(&l->lost_pushes, 1, memory_order_relaxed);
		break;
	case LANE_POP:
		if (atomic_load_explicit(&l->lost_pushes, memory_order_relaxed))
			atomic_fetch_sub_explicit(&l->lost_pushes, 1, memory_order_relaxed);
		else
			atomic_fetch_add_explicit(&l->lost_pops, 1, memory_order_relaxed);
		break;
	default:
		break;
	}
}

/* --- placing */

/* Writes an event at `at`; false: `at` is not a slot. While a thread changes its block, any number
 * of handlers may run in sequence: they stop before the block's end, so that `next` never points
 * into the following block, where it would pass for a slot. The thread's own event still fits
 * there. */
static bool thread_buffer_place(uintptr_t at, size_t bytes, bool in_handler, uint64_t ticks,
				uint64_t word, uint64_t value)
{
	const size_t end = in_handler ? LANE_BLOCK - LANE_GUARD : LANE_BLOCK;

	if (!(at & ~(uintptr_t)LANE_MASK) || (at & LANE_MASK) < LANE_FIRST ||
	    (at & LANE_MASK) + bytes > end)
		return false;
	if (bytes > sizeof(thread_buffer_entry))
		atomic_store_explicit(&((thread_buffer_entry *)at)[1].ticks, value,
				      memory_order_relaxed);
	thread_buffer_write(at, ticks, word);
	return true;
}

/* --- waiting for a free block */

/* Returns whether this may be a signal handler: while one runs, its signal is blocked. */
static bool maybe_in_handler(const thread_buffer_self *me)
{
	const uint64_t more = blocked() & ~me->mask;
	struct sigaction act;

	for (int s = 1; more && s <= 64; s++)
		if (more >> (s - 1) & 1 && !sigaction(s, NULL, &act) &&
		    (act.sa_flags & SA_SIGINFO ||
		     (act.sa_handler != SIG_DFL && act.sa_handler != SIG_IGN)))
			return true;
	return false;
}

/* Waits for a free block; NULL: timeout, or this thread does not wait. */
static event_chunk *block_await(thread_buffer_self *me)
{
	const int error = errno;
	uint32_t given = block_pool_given();
	event_chunk *fresh = NULL;

	if (!atomic_load(&patience) || atomic_load(&patient) != os_process_id() ||
	    me->nonblocking || maybe_in_handler(me)) {
		errno = error;
		return NULL;
	}
	const uint64_t from = ticks_of_system();
	uint64_t now = from, last = from; /* last: when a block was freed */
	while (!(fresh = chunk_alloc()) && atomic_load(&patience) && !me->nonblocking) {
		block_pool_wait(given, WAIT_NS);
		now = ticks_of_system();
		if (block_pool_given() != given)
			last = now;
		else if (now - last >= atomic_load(&patience))
			me->nonblocking = true;
		given = block_pool_given();
	}
	atomic_fetch_add(&waits, 1);
	atomic_fetch_add(&waited_ns, now - from);
	errno = error;
	return fresh;
}

/* --- changing blocks */

static bool drain_is_due(void)
{
	const uint32_t n = atomic_fetch_add_explicit(&full_blocks, 1, memory_order_relaxed) + 1;

	if (n < WAKE_BLOCKS && n < block_pool_size() / WAKE_SHARE)
		return false;
	atomic_store_explicit(&full_blocks, 0, memory_order_relaxed);
	return true;
}

/* Passes the current block to the drain; later entries go to `next`. */
static void hand_over(thread_buffer_self *me, uintptr_t next)
{
	thread_buffer *l = me->thread_buffer;
	uintptr_t end = __atomic_exchange_n(&me->next, next, __ATOMIC_RELAXED);
	event_chunk *old = atomic_load_explicit(&l->current, memory_order_relaxed);

	if (!old)
		return;
	old->end = (uint32_t)(end - (uintptr_t)old);
	/* In this order: the drain must never find a block current that it has freed. */
	atomic_store(&l->current, NULL);
	event_chunk *newest = atomic_load(&l->full);
	do {
		old->next = newest;
	} while (!atomic_compare_exchange_weak(&l->full, &newest, old));
	if (next == LANE_NONE || drain_is_due())
		thread_buffers_wake();
}

/* me->busy is set. */
static void change_block(thread_buffer_self *me, uint64_t ticks)
{
	thread_buffer *l = me->thread_buffer ? me->thread_buffer : trace_lane_take(me);

	if (!l) {
		me->next = LANE_NONE;
		return;
	}
	if (!l->name[0])
		os_thread_name(l->name);
	event_chunk *fresh = chunk_alloc();
	hand_over(me, fresh ? (uintptr_t)fresh + LANE_FIRST : LANE_NONE);
	if (!fresh) {
		/* The drain has this thread's block now, and may free just that one. */
		fresh = block_await(me);
		if (!fresh)
			return;
		__atomic_store_n(&me->next, (uintptr_t)fresh + LANE_FIRST, __ATOMIC_RELAXED);
	}
	atomic_store(&l->current, fresh);
	lost_record gap = {.pops = atomic_exchange(&l->lost_pops, 0),
			   .pushes = atomic_exchange(&l->lost_pushes, 0)};
	if (gap.pops || gap.pushes)
		thread_buffer_place(local_fetch_add(&me->next, 2 * sizeof(thread_buffer_entry)),
				    2 * sizeof(thread_buffer_entry), false, ticks,
				    LANE_WORD(LANE_GAP, 0), (uint64_t)gap.pops << 32 | gap.pushes);
}

static void put_slow_to(thread_buffer_self *me, uintptr_t at, size_t bytes, uint64_t ticks,
			uint64_t word, uint64_t value)
{
	bool placed = thread_buffer_place(at, bytes, me->busy, ticks, word, value);

	if (me->busy) {
		/* A handler during its thread's change of block: the change cannot finish before
		 * the handler returns, so the slot may be released. */
		if (!placed) {
			local_fetch_add(&me->next, -(uintptr_t)bytes);
			lose(me->thread_buffer, word);
		}
		return;
	}
	if (placed && (at & LANE_MASK) < LANE_SOFT)
		return;
	me->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	/* A handler may have changed the block since `at` was reserved. */
	if ((me->next & LANE_MASK) >= LANE_SOFT)
		change_block(me, ticks);
	if (!placed) {
		if (me->next & ~(uintptr_t)LANE_MASK)
			placed = thread_buffer_place(local_fetch_add(&me->next, bytes), bytes,
						     false, ticks, word, value);
		if (!placed)
			lose(me->thread_buffer, word);
	}
	atomic_signal_fence(memory_order_seq_cst);
	me->busy = 0;
}

void thread_buffer_put_slow(uintptr_t at, size_t bytes, uint64_t ticks, uint64_t word,
			    uint64_t value)
{
	put_slow_to(&thread_buffer_me, at, bytes, ticks, word, value);
}

uint32_t thread_buffer_serial(void)
{
	thread_buffer_self *me = &thread_buffer_me;

	if (!me->thread_buffer && !me->busy) {
		me->busy = 1;
		trace_lane_take(me);
		me->busy = 0;
	}
	return me->thread_buffer ? me->thread_buffer->serial : 0;
}

/* --- the end of a thread */

static void thread_buffer_thread_ends(void *arg)
{
	thread_buffer_self *me = &thread_buffer_me;
	thread_buffer *l = arg;

	me->busy = 1;
	me->ended = true;
	os_thread_counters_own(&l->uses);
	l->end_ticks = ticks_now();
	hand_over(me, LANE_NONE);
	me->thread_buffer = NULL;
	atomic_store(&l->state, LANE_ENDED);
	me->busy = 0;
	thread_buffers_wake();
}

/* --- a guest */

bool thread_buffer_proxy_begin(thread_buffer_self *ret_own, int tid, const char *name)
{
	thread_buffer_self *me = &thread_buffer_me;
	thread_buffer *l = thread_buffer_find(tid, name, 0);

	if (!l)
		return false;
	*ret_own = *me;
	me->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	me->next = LANE_NONE;
	me->thread_buffer = l;
	atomic_signal_fence(memory_order_seq_cst);
	me->busy = 0;
	return true;
}

void thread_buffer_guest_end(const thread_buffer_self *own)
{
	thread_buffer_self *me = &thread_buffer_me;
	thread_buffer *l = me->thread_buffer;

	me->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	l->end_ticks = ticks_now();
	hand_over(me, LANE_NONE);
	atomic_store(&l->state, LANE_ENDED);
	me->thread_buffer = own->thread_buffer;
	me->next = own->next;
	atomic_signal_fence(memory_order_seq_cst);
	me->busy = own->busy;
	thread_buffers_wake();
}

/* --- a device's queue */

bool thread_buffer_open(thread_buffer_self *ret, uint32_t device)
{
	thread_buffer *l = thread_buffer_find(0, "", device);

	if (!l)
		return false;
	*ret = (thread_buffer_self){
	    .next = LANE_NONE, .thread_buffer = l, .mask = blocked(), .serial = l->serial};
	return true;
}

void thread_buffer_lose(thread_buffer_self *me, uint64_t n)
{
	atomic_fetch_add_explicit(&me->thread_buffer->lost, n, memory_order_relaxed);
}

bool thread_buffer_is_lost(const thread_buffer_self *me)
{
	return me->thread_buffer->serial != me->serial;
}

void thread_buffer_put_to(thread_buffer_self *me, uint64_t ticks, uint64_t word, uint64_t value)
{
	const size_t bytes = (LANE_HAS_VALUE(word) ? 2 : 1) * sizeof(thread_buffer_entry);

	put_slow_to(me, local_fetch_add(&me->next, bytes), bytes, ticks, word, value);
}

void thread_buffer_close(thread_buffer_self *me)
{
	thread_buffer *l = me->thread_buffer;

	l->end_ticks = ticks_now();
	hand_over(me, LANE_NONE);
	atomic_store(&l->state, LANE_ENDED);
	thread_buffers_wake();
}

/* --- for the recorder */

bool thread_buffers_init(void)
{
	static bool done;

	if (!done)
		done = !pthread_key_create(&buffer_key, thread_buffer_thread_ends);
	return done;
}

size_t thread_buffers_used(void)
{
	return atomic_load(&buffers_used);
}

thread_buffer *thread_buffers_at(size_t i)
{
	return &thread_buffers[i];
}

void thread_buffer_release(thread_buffer *l)
{
	atomic_fetch_add(&lost_without_lane, atomic_exchange(&l->lost, 0));
	atomic_store(&l->lost_pushes, 0);
	atomic_store(&l->lost_pops, 0);
	atomic_store(&l->state, LANE_FREE);
}

uint64_t thread_buffers_lost(void)
{
	return atomic_load(&lost_without_lane);
}

void thread_buffers_forget(void)
{
	memset(thread_buffers, 0, sizeof thread_buffers);
	atomic_store(&buffers_used, 0);
	atomic_store(&lost_without_lane, 0);
	atomic_store(&patience, 0);
	atomic_store(&waits, 0);
	atomic_store(&waited_ns, 0);
	thread_buffer_me =
	    (thread_buffer_self){.next = LANE_NONE, .ranges = thread_buffer_me.ranges};
	pthread_setspecific(buffer_key, NULL);
	atomic_store(&wake, 0);
}

void thread_buffers_block_when_full(uint64_t patience_ns)
{
	atomic_store(&patient, os_process_id());
	atomic_store(&patience, patience_ns);
}

thread_buffer_waits thread_buffers_waited(void)
{
	return (thread_buffer_waits){.n = atomic_load(&waits), .ns = atomic_load(&waited_ns)};
}

bool thread_buffers_wait(uint64_t ns)
{
	/* For a duration: a deadline of the wall clock moves when that clock is set back. */
	os_futex_wait(&wake, 0, ns);
	return atomic_exchange(&wake, 0);
}

void thread_buffers_wake(void)
{
	if (!atomic_exchange(&wake, 1))
		os_futex_wake(&wake);
}
