/* sample_event.h - what both back-ends emit: samples, and what processes do in between.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_EVENT_H
#define SAMPLE_SAMPLE_EVENT_H

#include "profiler/python/python_stack.h"

typedef enum sample_kind {
	SAMPLE_NOTHING, /* ignored */
	SAMPLE_TAKEN,
	SAMPLE_MAP,    /* a file's code was mapped into the process */
	SAMPLE_UNLOAD, /* code was unmapped, and all that is mapped is reported at its next sample
			*/
	SAMPLE_NAME,   /* the thread has a name */
	SAMPLE_EXEC,   /* the process executes another program */
	SAMPLE_FORK,   /* a thread or process was made */
	SAMPLE_EXIT,   /* a thread ended */
	SAMPLE_LOST,   /* n samples were lost */
	SAMPLE_OFF,    /* a thread left its CPU, and came back */
	SAMPLE_ON,
} sample_kind;

/* Context in which a sample was taken. */
typedef enum sample_where {
	SAMPLE_IN_PROGRAM,
	SAMPLE_IN_KERNEL, /* on behalf of the thread */
	SAMPLE_LEAVING,	  /* the thread left its CPU: a wait follows */
} sample_where;

/* All pointers are borrowed until the next event. */
typedef struct sample_event {
	sample_kind kind;
	uint64_t at_ns;
	int pid, tid;
	uint64_t id; /* of perf_event's event, or of the one that it was inherited from */
	union {
		struct {
			sample_where where;
			uint64_t weight_ns;
			unwind_regs regs;
			/* The copy of the stack from the stack pointer on. */
			const unsigned char *stack;
			size_t stack_bytes;
			bool stack_full; /* the stack was larger than the copy */
			bool stands;	 /* the thread is still there: it waits */
			/* Or already unwound: npcs addresses to look up, innermost first. */
			const uint64_t *pcs;
			size_t npcs;
			unwind_result ended; /* why unwinding ended */
			bool scanned;	     /* the second frame was searched for (unwind_scan.h) */
			/* And with the thread's Python frames, which may be none. */
			bool python_came, python_cut;
			const python_frame *python;
			size_t npython;
		} taken;
		struct {
			uint64_t address, bytes, offset; /* offset: in the file */
			uint64_t inode;			 /* 0: none, or unknown */
			const char *file;
		} map;
		struct {
			const char *text;
		} name;
		struct {
			int parent_pid, parent_tid;
		} fork;
		struct {
			uint64_t n;
		} lost;
		struct {
			bool preempted; /* it was still runnable */
		} off;
	} as;
} sample_event;

#endif
