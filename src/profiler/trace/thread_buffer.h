/* thread_buffer.h - the way of events from the threads that make them to the one that takes them.
 *
 * Each thread has a lane, and writes its events into blocks of memory that are its own. A full
 * block goes onto the lane's list, and the thread takes a free one from a pool; the drain
 * (drain.c) reads the blocks and gives them back. No thread waits: without a free block
 * events are lost, and counted; unless thread_buffers_block_when_full() says that the thread waits
 * for one.
 *
 * A signal may come at any instruction and its handler make events of its own. So the clock is read
 * first, then one instruction takes the place (local_fetch_add), then the event is written, its
 * word last: a place whose word is 0 was taken, and is not yet written. Events of a handler can
 * only stand in front of one of an earlier time, which the drain puts right.
 *
 * Blocks are aligned to their size, so that the place alone says when a block ends: beyond
 * LANE_SOFT thread_buffer_put_slow() changes it. What lies behind is for handlers that run during
 * that change.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_LANE_H
#define TRACE_LANE_H

#include "os/os.h"
#include "profiler/trace/ticks.h"

#include <stdatomic.h>
#include <stddef.h>

/* An event's word: its name's number in the lower half, what it is in the byte above, and then the
 * stack of ranges that it pushes or pops: 0 is that of zones, annotation.h has others. */
typedef enum thread_buffer_kind {
	LANE_PUSH = 1,
	LANE_POP,
	LANE_MARK,
	/* These have a second entry: a double, or the number of a range. */
	LANE_NUMBER,
	LANE_COUNTER,
	LANE_START,
	LANE_END,
	LANE_GAP,   /* events were lost: lost_record */
	LANE_THREAD /* name of the thread whose number is the value */
} thread_buffer_kind;
#define LANE_WORD(kind, name) ((uint64_t)(kind) << 32 | (name))
#define LANE_KIND(word)	      ((thread_buffer_kind)((word) >> 32 & 0xff))
#define LANE_STACK(number)    ((uint64_t)(number) << 40)
#define LANE_STACK_OF(word)   ((uint32_t)((word) >> 40))
enum { LANE_STACK_MAX = 0xffffff };

/* Pops whose push was recorded, and pushes whose pop may come: what the drain must do to the open
 * ranges, in this order, to stand where the thread stands. */
typedef struct lost_record {
	uint32_t pops, pushes;
} lost_record;

typedef struct thread_buffer_entry {
	_Atomic uint64_t ticks, word; /* of a second entry: its value, nothing */
} thread_buffer_entry;

enum {
	LANE_BLOCK = 65536,	       /* bytes, and alignment */
	LANE_SOFT = LANE_BLOCK - 4096, /* where a block counts as full */
	LANE_MASK = LANE_BLOCK - 1,
	LANE_GUARD = 512, /* bytes at a block's end that handlers leave free; see thread_buffer.c */
	LANE_FIRST = 64,  /* the first entry */
	LANE_NONE = LANE_SOFT, /* a place in no block; it sends to thread_buffer_put_slow() */
	LANES_MAX = 4096,      /* threads at a time */
};

typedef struct event_chunk {
	struct event_chunk *next;   /* in the list of full blocks */
	_Atomic uint32_t free_next; /* in the pool: number of the next, 0: none */
	uint32_t number;
	uint32_t end, read; /* offsets: behind the last entry; of the first not yet taken */
} event_chunk;

typedef enum thread_buffer_state {
	LANE_FREE,
	LANE_TAKEN,
	LANE_LIVE,
	LANE_ENDED
} thread_buffer_state;

typedef struct thread_buffer {
	_Alignas(64) _Atomic int state;
	int tid;
	uint32_t serial;		      /* not 0; no other lane of this process ever had it */
	char name[16];			      /* of the thread when its first event came */
	_Atomic(event_chunk *) current, full; /* full: the newest first */
	_Atomic uint32_t lost_pushes, lost_pops;
	_Atomic uint64_t lost;
	bool guest;	    /* events here come from another thread: thread_buffer_proxy_begin() */
	uint64_t end_ticks; /* once it ended */
	os_thread_counters uses; /* then; not of a guest */
	/* What the thread waits for (waiting.h), since when; 0: nothing. */
	_Atomic uint64_t wait_begin;
	_Atomic uint32_t wait_name;
	/* The drain's: full blocks, oldest first. */
	event_chunk *todo, *todo_last;
} thread_buffer;

/* Bits of dck_trace_on: who listens. */
enum { LISTEN_RECORD = 1, LISTEN_EMIT = 2 /* nvtx_emit.h */ };

/* What a thread knows of itself. */
typedef struct thread_buffer_self {
	uintptr_t next;		      /* where the next entry goes */
	thread_buffer *thread_buffer; /* NULL: none yet */
	volatile int busy;
	bool ended;    /* the thread is past its end */
	bool hasty;    /* it never waits for room */
	uint64_t mask; /* the signals that it blocked when it got its lane */
	bool unseen;   /* a thread of ours, not of the program's */
	/* Blocking calls are not recorded until `next` moves, because events with earlier times are
	 * still to be written (backfill.h). */
	uintptr_t quiet;
	uintptr_t wait_at; /* where on the stack that is which lane.wait_begin is of; 0: nothing */
	uint64_t ranges;   /* started with DCK_START */
} thread_buffer_self;

extern _Thread_local thread_buffer_self thread_buffer_me __attribute__((tls_model("initial-exec")));

/* --- making events (thread_buffer.c) */

/* *next += n in one instruction, that no signal splits; the value before. */
static inline uintptr_t local_fetch_add(uintptr_t *next, uintptr_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(*next) : : "memory", "cc");
	return n;
#else
	return __atomic_fetch_add(next, n, __ATOMIC_RELAXED);
#endif
}

static inline void thread_buffer_write(uintptr_t at, uint64_t ticks, uint64_t word)
{
	thread_buffer_entry *e = (thread_buffer_entry *)at;

	atomic_store_explicit(&e->ticks, ticks, memory_order_relaxed);
	atomic_store_explicit(&e->word, word, memory_order_release);
}

/* The place `at` lies behind the soft end, or nowhere. value: of the second entry, if bytes has
 * one. */
void thread_buffer_put_slow(uintptr_t at, size_t bytes, uint64_t ticks, uint64_t word,
			    uint64_t value);

static inline void thread_buffer_put(uint64_t ticks, uint64_t word)
{
	uintptr_t at = local_fetch_add(&thread_buffer_me.next, sizeof(thread_buffer_entry));

	if (__builtin_expect((at & LANE_MASK) >= LANE_SOFT, 0))
		thread_buffer_put_slow(at, sizeof(thread_buffer_entry), ticks, word, 0);
	else
		thread_buffer_write(at, ticks, word);
}

/* Events with a value are rarer, and share the slow way's code. */
static inline void thread_buffer_put_value(uint64_t ticks, uint64_t word, uint64_t value)
{
	uintptr_t at = local_fetch_add(&thread_buffer_me.next, 2 * sizeof(thread_buffer_entry));

	thread_buffer_put_slow(at, 2 * sizeof(thread_buffer_entry), ticks, word, value);
}

/* The number of this thread's lane, which it gets now if it has none; 0: there is none free. */
uint32_t thread_buffer_serial(void);
/* The number of a range that begins on this thread; 0: it has no lane. It holds the thread's, so
 * that no two are alike; of 2^32 from one thread the first has long ended. */
static inline uint64_t thread_buffer_range(void)
{
	const uint64_t serial = thread_buffer_serial();

	return serial ? serial << 32 | (uint32_t)++thread_buffer_me.ranges : 0;
}

/* From here to thread_buffer_guest_end() what this thread makes, its signal handlers too, is of
 * another one, which makes nothing itself. *ret_own is for the end. false: there is no lane free.
 */
bool thread_buffer_proxy_begin(thread_buffer_self *ret_own, int tid, const char *name);
void thread_buffer_guest_end(const thread_buffer_self *own);

/* --- for the recorder (thread_buffer.c) */

/* Once, before anything records; again: nothing happens. false: the system has no thread keys. */
bool thread_buffers_init(void);
/* All lanes that ever were: thread_buffers_at(0) to thread_buffers_at(thread_buffers_used() - 1).
 */
size_t thread_buffers_used(void);
thread_buffer *thread_buffers_at(size_t i);
/* The drain has taken all of an ended lane. */
void thread_buffer_release(thread_buffer *l);
/* Events that were lost where no lane was free. */
uint64_t thread_buffers_lost(void);
/* In a new process, which has one thread: forgets all lanes. */
void thread_buffers_forget(void);
/* Waits until a block is full or an event must be drained; false: the time is over. */
bool thread_buffers_wait(uint64_t ns);
void thread_buffers_wake(void);

/* A thread that finds no free block waits for one, as long as any is given back within patience_ns;
 * after that it waits no more. 0: no thread waits, as at first, and waiting threads continue. A
 * handler of a signal that its thread had not blocked when it got its lane never waits, nor does
 * thread_buffer_self.hasty. */
void thread_buffers_block_when_full(uint64_t patience_ns);
/* How often threads waited, and how long all did together. */
typedef struct thread_buffer_waits {
	uint64_t n, ns;
} thread_buffer_waits;
thread_buffer_waits thread_buffers_waited(void);

/* --- the pool (chunk_pool.c) */

/* At least so many bytes of blocks; memory is taken when a block is first used, and kept: a thread
 * may write into its block at any time. false: no memory. */
bool block_pool_reserve(uint64_t bytes);
event_chunk *chunk_alloc(void); /* zeroed; NULL: none is free */
void chunk_free(event_chunk *b);
/* Waits until a block is given back; `seen`: block_pool_given() before none was free. */
void block_pool_wait(uint32_t seen, uint64_t ns);
uint32_t block_pool_given(void); /* how many blocks were given back so far, modulo 2^32 */
void block_pool_forget(void);	 /* in a new process: no block is there */

#endif
