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

/* What a native function is to the interpreter, by its name. */
typedef enum merge_kind {
	MERGE_OTHER,	 /* nothing, or not known */
	MERGE_EVALUATOR, /* it runs bytecode */
	MERGE_CALLING,	 /* how the interpreter calls, wherever that is */
	MERGE_BEGINNING, /* how threads and programs begin */
} merge_kind;
merge_kind python_merge_kind(const char *function); /* NULL: not known */

typedef struct merge_native {
	merge_kind kind;
	bool interpreter; /* it is the interpreter's own: of libpython, or of python3 itself */
} merge_native;

typedef struct merge_frame {
	bool python; /* an index of the Python frames, else of the native ones */
	size_t index;
} merge_frame;

typedef struct merge_input {
	const merge_native *native; /* innermost first, as all of them */
	size_t natives;
	bool native_whole; /* the outermost frame is where the thread began */
	const python_frame *python;
	size_t pythons;
	bool python_whole;     /* there is no frame further out */
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
size_t python_merge(const merge_input *in, merge_frame *ret, merge_stats *ret_told);

#endif
