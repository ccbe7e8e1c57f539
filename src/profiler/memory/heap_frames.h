/* heap_frames.h - symbolizes the addresses of a heap's file: functions, files, lines and inlined
 * calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_HEAP_FRAMES_H
#define MEMORY_HEAP_FRAMES_H

#include "base/mem.h"
#include "record/tree/cct.h"
#include "profiler/memory/heap_file.h"
#include "profiler/python/python_merge.h"
#include "profiler/symbols/symbolizer.h"

/* A function at an address; its strings are borrowed from the heap_names. */
typedef struct heap_piece {
	dck_frame frame;
	uint32_t number;   /* id in the given paths */
	bool runtime, c;   /* runtime: language runtime; c: libc or the loader */
	bool named;	   /* the name is a function's, not an address */
	bool python, user; /* python: a Python function; user: not of a library */
	/* Caches of memory_sums.c: the frame among its functions, the path among its lines; 0: not
	 * looked up yet. A path of many frames costs no lookup of a text for each. */
	uint32_t function, line;
} heap_piece;

typedef struct heap_place {
	uint32_t first, n;   /* pieces, the outermost first */
	merge_native native; /* role of its function in the interpreter */
} heap_place;

typedef struct heap_frames {
	heap_place *places; /* @owned; of each frame of the file */
	heap_piece *pieces; /* @owned */
	size_t npieces, cap;
} heap_frames;

typedef struct heap_names heap_names; /* cache of symbolised files, for all processes */

heap_names *heap_names_new(void); /* @owned; NULL: no memory */
void heap_names_free(heap_names *n);
/* Returns the reason why lines are missing; NULL: they are known. */
const char *heap_names_lacking(heap_names *n);

/* Reads all frames of the file; ids are the frame numbers of `paths`. */
dck_status heap_frames_read(heap_names *n, const heap_file *f, cct *paths, heap_frames *ret,
			    dck_err *err);
void heap_frames_done(heap_frames *f); /* {0} is allowed */

#endif
