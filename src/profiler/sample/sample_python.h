/* sample_python.h - Python frames of the sampled processes, merged with the native frames.
 *
 * If the preloaded library takes the samples, each has its Python frames. Otherwise they are read
 * from outside when a sample arrives, some milliseconds after it was taken.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_PYTHON_H
#define SAMPLE_SAMPLE_PYTHON_H

#include "profiler/sample/raw_stacks.h"
#include "profiler/sample/sample_event.h"
#include "profiler/python/python_merge.h"

typedef struct sample_python_counts {
	uint64_t samples;	    /* with Python frames */
	uint64_t late;		    /* of these, read from outside */
	uint64_t torn;		    /* of these, changed during the read */
	uint64_t inexact;	    /* of these, evaluator calls and native frames did not match */
	uint64_t nameless;	    /* frames whose code was freed before it was named */
	const char *missing_reason; /* reason why they are missing although a process has an
				       interpreter; NULL */
} sample_python_counts;

enum { SAMPLE_DEPTH = 1000 }; /* maximum depth of a stack: native frames, and Python ones */

/* The files and processes with an interpreter. */
typedef struct sample_python sample_python;
/* interpreter: include its own functions. @owned; NULL: no memory */
sample_python *sample_python_new(raw_stacks *raw, bool interpreter);
void sample_python_free(sample_python *s); /* NULL is allowed */

/* Inserts Python frames between the n native frames (ids of raw frames, innermost first; capacity
 * `max`). whole: the outermost native frame is the thread's start. *ret_cut becomes true if outer
 * Python frames, or frames beyond `max`, are missing. Returns the new number of frames. */
size_t sample_python_merge(sample_python *s, const sample_event *e, uint32_t *frames, size_t n,
			   size_t max, bool whole, bool *ret_cut);
/* Notes that the process was forked from another. */
void sample_python_forked(sample_python *s, int pid, int parent);
/* Call when the process has exited or executed another program. */
void sample_python_forget(sample_python *s, int pid);
sample_python_counts sample_python_counted(const sample_python *s);

#endif
