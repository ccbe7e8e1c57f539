/* sample_slots.h - memory that a sampled program and deepclock share: slots that the program's
 * threads fill, in a signal handler, and deepclock empties. The preloaded library
 * (src/profiler/preload/sampler) includes this, so it needs nothing but C.
 *
 * A slot is free, or is being filled by a thread (its number is the state), or is ready. No
 * thread waits: where no slot is free the sample is lost, and counted. A thread that was killed
 * while it filled a slot leaves its number there, and deepclock frees it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_SLOTS_H
#define SAMPLE_SAMPLE_SLOTS_H

#include <stdatomic.h>
#include <stdint.h>

/* Of the program's environment: "PERIOD_NS FILE". */
#define SAMPLE_VARIABLE "DEEPCLOCK_SAMPLE"
/* Beside the shared library. */
#define SAMPLE_LIBRARY "libdeepclock_sampler.so"

enum {
	SAMPLE_SLOTS_MAGIC = 0x44434b53,
	SAMPLE_SLOTS = 2048,
	SAMPLE_SLOT_TRIES = 64,
	SAMPLE_SLOT_PCS = 500,
	SAMPLE_SLOT_PYTHON = 150, /* Python frames, at most */
	SAMPLE_SLOT_TEXT = SAMPLE_SLOT_PCS * 8
};

/* States; any other one is the number of the thread that fills it. */
enum { SAMPLE_SLOT_FREE = 0, SAMPLE_SLOT_READY = -1 };

typedef enum sample_told {
	SAMPLE_TOLD_STACK, /* a = CPU time since the thread's last one; b = what it took to take it;
			    * c: not 0, the innermost frame's caller was looked for */
	SAMPLE_TOLD_EXEC,  /* a program begins; text: its threads' name */
	SAMPLE_TOLD_FORK,  /* a = the process it comes from */
	SAMPLE_TOLD_CODE,  /* a = address, b = bytes, c = offset in the file; text: the file */
	SAMPLE_TOLD_NAME,  /* text: the thread's name */
	SAMPLE_TOLD_END,   /* the thread ends */
} sample_told;

/* What is known of a thread's Python frames. */
typedef enum sample_slot_python {
	SAMPLE_PYTHON_NONE, /* the process has no interpreter */
	SAMPLE_PYTHON_WHOLE,
	SAMPLE_PYTHON_CUT, /* there are more, further out */
} sample_slot_python;

typedef struct sample_slot {
	_Atomic int32_t state;
	int32_t pid, tid;
	uint32_t told;	/* sample_told */
	uint32_t npcs;	/* those of a stack */
	uint32_t ended; /* unwind_result */
	uint32_t python, npython;
	uint64_t at_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t a, b, c;
	union {
		/* To look up, innermost first; then two for each Python frame: its code, an odd
		 * number where the evaluator was called for it, and its instruction. */
		uint64_t pcs[SAMPLE_SLOT_PCS];
		char text[SAMPLE_SLOT_TEXT];
	} of;
} sample_slot;

/* What sends the signals. deepclock says which it may be. */
typedef enum sample_slots_clock {
	SAMPLE_CLOCK_TIMER,
	SAMPLE_CLOCK_EVENT, /* of perf_event; where one thread gets none, a timer */
	SAMPLE_CLOCK_USER,  /* the same, while the thread runs its own code alone */
} sample_slots_clock;

typedef struct sample_slots {
	uint32_t magic, n;
	uint32_t clock;			     /* sample_slots_clock */
	_Atomic uint32_t by_event, by_timer; /* so many threads */
	_Atomic uint32_t next;		     /* where the search for a free one begins */
	_Atomic uint32_t over;		     /* not 0: no more samples are wanted */
	_Atomic uint64_t lost;
	sample_slot slot[SAMPLE_SLOTS];
} sample_slots;

/* One that no other thread fills; NULL: none was found in a few tries. Safe in a handler of
 * signals. */
static inline sample_slot *sample_slot_acquire(sample_slots *slots, int32_t tid)
{
	for (int i = 0; i < SAMPLE_SLOT_TRIES; i++) {
		const uint32_t at =
		    atomic_fetch_add_explicit(&slots->next, 1, memory_order_relaxed);
		sample_slot *s = &slots->slot[at % SAMPLE_SLOTS];
		int32_t is_free = SAMPLE_SLOT_FREE;

		if (atomic_compare_exchange_strong_explicit(
			&s->state, &is_free, tid, memory_order_acquire, memory_order_relaxed))
			return s;
	}
	return (sample_slot *)0;
}

/* It is filled, and deepclock's from now on. */
static inline void sample_slot_publish(sample_slot *s)
{
	atomic_store_explicit(&s->state, SAMPLE_SLOT_READY, memory_order_release);
}

#endif
