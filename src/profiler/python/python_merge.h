/* python_merge.h - merges a thread's native frames and its Python frames into one stack: each call
 * of the evaluator is replaced by the Python frames that it ran, and the interpreter's own code
 * between them is left out, so that a stack reads
 *
 *	main (train.py) > Linear.forward > at::native::linear > sgemm_kernel
 *
 * Pure functions: no access to a process, no allocation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_MERGE_H
#define STACK_PYTHON_PYTHON_MERGE_H

#include "profiler/python/python_stack.h"

/* Role of a native function in the interpreter, by its name. */
typedef enum merge_kind {
	MERGE_OTHER,	 /* none, or unknown */
	MERGE_EVALUATOR, /* runs bytecode */
	MERGE_CALLING,	 /* a helper of calls, wherever it is */
	MERGE_BEGINNING, /* start of a thread or program */
} merge_kind;
merge_kind python_merge_kind(const char *function); /* NULL: unknown */

typedef struct merge_native {
	merge_kind kind;
	bool interpreter; /* belongs to the interpreter: libpython or python3 */
} merge_native;

typedef struct merge_frame {
	bool python; /* index refers to Python frames, else to native frames */
	size_t index;
} merge_frame;

typedef struct merge_input {
	const merge_native *native; /* innermost first, like all stacks here */
	size_t natives;
	bool native_whole; /* the outermost frame is the start of the thread */
	const python_frame *python;
	size_t pythons;
	bool python_whole;     /* no outer frame is missing */
	bool keep_interpreter; /* leave nothing out but the evaluator's frames */
} merge_input;

typedef struct merge_stats {
	size_t evaluators; /* native frames of the evaluator */
	size_t entries;	   /* calls of the evaluator that the Python frames show */
	/* evaluators == entries. false: frames are matched from the outer or the inner
	 * end, whichever is known; the rest is adjacent. */
	bool exact;
} merge_stats;

/* Merges the frames; *ret has a capacity of natives + pythons. Returns the number. */
size_t python_merge(const merge_input *in, merge_frame *ret, merge_stats *ret_stats);

#endif
