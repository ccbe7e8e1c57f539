/* sample_slots.h - sample slots in memory shared by the sampled program, whose threads fill them in
 * a signal handler, and deepclock, which reads and frees them. The preloaded library
 * (src/profiler/preload/sampler) includes this file, so it depends only on C.
 *
 * A slot is free, or owned by a thread that fills it (the state is the thread's id), or ready. It
 * is lock-free: without a free slot the sample is lost, and counted. If a thread is killed while it
 * owns a slot, its id remains there, and deepclock frees the slot.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_SLOTS_H
#define SAMPLE_SAMPLE_SLOTS_H

#include <stdatomic.h>
#include <stdint.h>

/* Environment variable of the program: "PERIOD_NS FILE". */
#define SAMPLE_VARIABLE "DEEPCLOCK_SAMPLE"
/* In the directory of the shared library. */
#define SAMPLE_LIBRARY "libdeepclock_sampler.so"

enum {
	SAMPLE_SLOTS_MAGIC = 0x44434b53,
	SAMPLE_SLOTS = 2048,
	SAMPLE_SLOT_TRIES = 64,
	SAMPLE_SLOT_PCS = 500,
	SAMPLE_SLOT_PYTHON = 150, /* maximum number of Python frames */
	SAMPLE_SLOT_TEXT = SAMPLE_SLOT_PCS * 8
};

/* States; any other value is the id of the thread that fills the slot. */
enum { SAMPLE_SLOT_FREE = 0, SAMPLE_SLOT_READY = -1 };

typedef enum slot_kind {
	SLOT_STACK,  /* a = CPU time since the thread's last sample; b = cost of this sample;
			       c: not 0, the innermost frame's caller was searched for */
	SLOT_EXEC,   /* a program starts; text: its threads' name */
	SLOT_FORK,   /* a = parent process */
	SLOT_CODE,   /* a = address, b = bytes, c = offset in the file; inode; text: the file */
	SLOT_UNLOAD, /* code was unloaded: SLOT_CODE follows for what is sampled from now on */
	SLOT_NAME,   /* text: the thread's name */
	SLOT_END,    /* the thread ends */
} slot_kind;

/* The completeness of a thread's Python frames. */
typedef enum sample_slot_python {
	SAMPLE_PYTHON_NONE, /* the process has no interpreter */
	SAMPLE_PYTHON_WHOLE,
	SAMPLE_PYTHON_CUT, /* outer frames are missing */
} sample_slot_python;

typedef struct sample_slot {
	_Atomic int32_t state;
	int32_t pid, tid;
	uint32_t kind;	/* slot_kind */
	uint32_t npcs;	/* pcs of a stack */
	uint32_t ended; /* unwind_result */
	uint32_t python, npython;
	uint64_t at_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t a, b, c;
	uint64_t inode; /* 0: unknown */
	union {
		/* Lookup addresses, innermost first; then two numbers for each Python frame: its
		 * code, odd if the evaluator was called for it, and its instruction. */
		uint64_t pcs[SAMPLE_SLOT_PCS];
		char text[SAMPLE_SLOT_TEXT];
	} of;
} sample_slot;

/* The source of the signals, chosen by deepclock. */
typedef enum sample_slots_clock {
	SAMPLE_CLOCK_TIMER,
	SAMPLE_CLOCK_EVENT, /* perf_event; a timer in threads without one */
	SAMPLE_CLOCK_USER,  /* the same, only in user mode */
} sample_slots_clock;

typedef struct sample_slots {
	uint32_t magic, n;
	uint32_t clock;			     /* sample_slots_clock */
	_Atomic uint32_t by_event, by_timer; /* number of threads */
	_Atomic uint32_t next;		     /* start of the search for a free slot */
	_Atomic uint32_t over;		     /* not 0: stop sampling */
	_Atomic uint64_t lost;
	sample_slot slot[SAMPLE_SLOTS];
} sample_slots;

/* Acquires a free slot; NULL: none found in SAMPLE_SLOT_TRIES tries. Async-signal-safe. */
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

/* Passes a filled slot to deepclock. */
static inline void sample_slot_publish(sample_slot *s)
{
	atomic_store_explicit(&s->state, SAMPLE_SLOT_READY, memory_order_release);
}

#endif
