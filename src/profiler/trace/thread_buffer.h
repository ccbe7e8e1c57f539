/* thread_buffer.h - per-thread event buffers (single producer, single consumer), which the drain
 * reads.
 *
 * Each thread has a buffer (a lane), and writes its events into private chunks of memory. A full
 * chunk is appended to the lane's list, and the thread allocates a free one from a pool; the drain
 * (drain.c) reads the chunks and frees them. No thread blocks: without a free chunk events are
 * lost, and counted, unless thread_buffers_block_when_full() makes threads wait.
 *
 * A signal may arrive at any instruction and its handler may record events. So the clock is read
 * first, then one instruction reserves the slot (local_fetch_add), then the event is written, its
 * word last: a slot whose word is 0 is reserved and not yet written. A handler's events can only
 * precede one event of an earlier time, which the drain reorders.
 *
 * Chunks are aligned to their size, so that the slot's address alone shows the end of the chunk:
 * beyond LANE_SOFT thread_buffer_put_slow() replaces it. The rest is for handlers that run during
 * the replacement.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_THREAD_BUFFER_H
#define TRACE_THREAD_BUFFER_H

#include "deepclock/zone.h"
#include "os/os.h"
#include "profiler/trace/ticks.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* An event's word: the name's id in the lower half, the kind in the byte above, and then the stack
 * of ranges that it pushes or pops: 0 is the stack of zones, annotation.h has others. */
typedef enum thread_buffer_kind {
	LANE_PUSH = 1,
	LANE_POP,
	LANE_MARK,
	/* These have a second entry: a double, or the id of a range. */
	LANE_NUMBER,
	LANE_COUNTER,
	LANE_START,
	LANE_END,
	LANE_GAP,	 /* events were lost: lost_record */
	LANE_THREAD,	 /* name of the thread whose id is the value */
	LANE_FLOW_BEGIN, /* id of an arrow from the innermost range, and to it */
	LANE_FLOW_END
} thread_buffer_kind;
#define LANE_WORD(kind, name) ((uint64_t)(kind) << 32 | (name))
#define LANE_KIND(word)	      ((thread_buffer_kind)((word) >> 32 & 0xff))
#define LANE_HAS_VALUE(word)  (LANE_KIND(word) >= LANE_NUMBER)
#define LANE_STACK(number)    ((uint64_t)(number) << 40)
#define LANE_STACK_OF(word)   ((uint32_t)((word) >> 40))
enum { LANE_STACK_MAX = 0xffffff };

/* Lost pops whose push was recorded, and lost pushes whose pop may follow. The drain applies them
 * to the open ranges in this order, to match the thread's state. */
typedef struct lost_record {
	uint32_t pops, pushes;
} lost_record;

typedef struct thread_buffer_entry {
	_Atomic uint64_t ticks, word; /* a second entry: its value, unused */
} thread_buffer_entry;

enum {
	LANE_BLOCK = 65536,	       /* bytes, and alignment */
	LANE_SOFT = LANE_BLOCK - 4096, /* from this offset a block is full */
	LANE_MASK = LANE_BLOCK - 1,
	LANE_GUARD = 512, /* bytes at a block's end that handlers do not use; see thread_buffer.c */
	LANE_FIRST = 64,  /* the first entry */
	LANE_NONE = LANE_SOFT, /* a slot in no block; it leads to thread_buffer_put_slow() */
	LANES_MAX = 4096,      /* concurrent threads */
};

typedef struct event_chunk {
	struct event_chunk *next;   /* in the list of full blocks */
	_Atomic uint32_t free_next; /* in the pool: index of the next, 0: none */
	uint32_t number;
	uint32_t end, read; /* offsets: end of the last entry; first undrained entry */
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
	uint32_t serial;		      /* not 0; unique in this process */
	char name[16];			      /* name of the thread at its first event */
	_Atomic(event_chunk *) current, full; /* full: the newest first */
	_Atomic uint32_t lost_pushes, lost_pops;
	_Atomic uint64_t lost;
	bool guest;	    /* another thread writes these events: thread_buffer_proxy_begin() */
	uint32_t device;    /* name of the device's queue that they belong to; 0: to a thread */
	uint64_t end_ticks; /* once it ended */
	os_thread_counters uses; /* then; not of a guest */
	/* The current blocking call (waiting.h) and its start; 0: none. */
	_Atomic uint64_t wait_begin;
	_Atomic uint32_t wait_name;
	/* For the drain: full blocks, oldest first. */
	event_chunk *todo, *todo_last;
} thread_buffer;

/* Bits of dck_trace_on: active listeners. */
enum { LISTEN_RECORD = 1, LISTEN_EMIT = 2 /* nvtx_emit.h */ };
static inline bool trace_is_recording(void)
{
	return __atomic_load_n(&dck_trace_on, __ATOMIC_RELAXED) & LISTEN_RECORD;
}

extern _Atomic uint32_t trace_recordings; /* started in this process */

/* A number as the value of an event. */
static inline uint64_t thread_buffer_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* Thread-local state. */
typedef struct thread_buffer_self {
	uintptr_t next;		      /* address of the next entry */
	thread_buffer *thread_buffer; /* NULL: none yet */
	volatile int busy;
	bool ended;	  /* the thread is past its end */
	bool nonblocking; /* it never waits for a free block */
	uint64_t mask;	  /* the signals that it blocked when it got its buffer */
	bool unseen;	  /* a thread of this library, not of the program */
	/* Blocking calls are not recorded until `next` moves, because events with earlier times are
	 * not written yet (backfill.h). */
	uintptr_t quiet;
	uintptr_t wait_at; /* stack address of the call of lane.wait_begin; 0: none */
	uint64_t ranges;   /* started with DCK_START, and arrows to devices */
	uint32_t serial;   /* of a device's buffer */
} thread_buffer_self;

extern _Thread_local thread_buffer_self thread_buffer_me __attribute__((tls_model("initial-exec")));

/* --- making events (thread_buffer.c) */

/* Adds n to *next in one instruction, which no signal splits; returns the value before. */
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

/* Writes an event whose slot `at` is past the soft end, or in no block. value: of the second entry,
 * if `bytes` includes one. */
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

/* Writes an event with a value: these are rarer, and share the slow path's code. */
static inline void thread_buffer_put_value(uint64_t ticks, uint64_t word, uint64_t value)
{
	uintptr_t at = local_fetch_add(&thread_buffer_me.next, 2 * sizeof(thread_buffer_entry));

	thread_buffer_put_slow(at, 2 * sizeof(thread_buffer_entry), ticks, word, value);
}

/* Returns the serial of this thread's buffer, and assigns one if it has none; 0: none is free. */
uint32_t thread_buffer_serial(void);
/* Returns a new range id; 0: the thread has no buffer. The id includes the thread's serial, so it
 * is unique; after 2^32 ranges of a thread the first has long ended. */
static inline uint64_t thread_buffer_range(void)
{
	const uint64_t serial = thread_buffer_serial();

	return serial ? serial << 32 | (uint32_t)++thread_buffer_me.ranges : 0;
}

/* Until thread_buffer_guest_end(), events of this thread and of its signal handlers belong to
 * thread `tid`, which records nothing itself. *ret_own is for the end. false: no buffer is free. */
bool thread_buffer_proxy_begin(thread_buffer_self *ret_own, int tid, const char *name);
void thread_buffer_guest_end(const thread_buffer_self *own);

/* Opens a buffer of a device's queue, which no thread owns: one thread at a time writes to it.
 * device: the queue's name (zone_names.h). false: no buffer is free. */
bool thread_buffer_open(thread_buffer_self *ret, uint32_t device);
/* Counts n events of it as lost. */
void thread_buffer_lose(thread_buffer_self *me, uint64_t n);
/* Returns whether a fork has dropped the buffer: it was opened in the parent. */
bool thread_buffer_is_lost(const thread_buffer_self *me);
void thread_buffer_put_to(thread_buffer_self *me, uint64_t ticks, uint64_t word, uint64_t value);
void thread_buffer_close(thread_buffer_self *me);

/* --- for the recorder (thread_buffer.c) */

/* Initialises the buffers, before any recording; later calls do nothing. false: the system has no
 * thread keys. */
bool thread_buffers_init(void);
/* All buffers ever used: thread_buffers_at(0) to thread_buffers_at(thread_buffers_used() - 1). */
size_t thread_buffers_used(void);
thread_buffer *thread_buffers_at(size_t i);
/* Frees the buffer of an ended thread, after the drain has read all of it. */
void thread_buffer_release(thread_buffer *l);
/* Returns the number of events lost because no buffer was free. */
uint64_t thread_buffers_lost(void);
/* Resets all buffers, in a forked child, which has one thread. */
void thread_buffers_forget(void);
/* Waits until a block is full or an event must be drained; false: timeout. */
bool thread_buffers_wait(uint64_t ns);
void thread_buffers_wake(void);

/* Makes a thread without a free block wait for one, while blocks are freed within patience_ns of
 * each other; afterwards it no longer waits. 0: no thread waits, as at first, and waiting threads
 * continue. A handler of a signal that its thread had not blocked when it got its buffer never
 * waits, nor does thread_buffer_self.nonblocking. */
void thread_buffers_block_when_full(uint64_t patience_ns);
/* Number of waits of all threads, and their total time. */
typedef struct thread_buffer_waits {
	uint64_t n, ns;
} thread_buffer_waits;
thread_buffer_waits thread_buffers_waited(void);

/* --- the pool (chunk_pool.c) */

/* Reserves at least this number of bytes of blocks. Memory is allocated at a block's first use and
 * never freed, because a thread may write into its block at any time. false: no memory. */
bool block_pool_reserve(uint64_t bytes);
event_chunk *chunk_alloc(void); /* zeroed; NULL: none is free */
void chunk_free(event_chunk *b);
/* Waits until a block is freed; `seen`: block_pool_given() before the pool was found empty. */
void block_pool_wait(uint32_t seen, uint64_t ns);
uint32_t block_pool_size(void);	 /* blocks, free or not */
uint32_t block_pool_given(void); /* number of freed blocks, modulo 2^32 */
void block_pool_forget(void);	 /* in a forked child: empties the pool */

#endif
