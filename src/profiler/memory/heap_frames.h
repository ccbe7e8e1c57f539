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

/* A function at an address; its strings live as long as their names. */
typedef struct heap_piece {
	dck_frame frame;
	uint32_t number;   /* in the paths that were given */
	bool runtime, c;   /* of the language's libraries; of libc and the loader */
	bool named;	   /* its name is one, not a place */
	bool python, user; /* a function of Python; and no library's */
	/* Caches of memory_sums.c: the frame among its functions, the path among its lines; 0: not
	 * looked up yet. A path of many frames costs no lookup of a text for each. */
	uint32_t function, line;
} heap_piece;

typedef struct heap_place {
	uint32_t first, n;   /* pieces, the outermost first */
	merge_native native; /* what its function is to Python */
} heap_place;

typedef struct heap_frames {
	heap_place *places; /* @owned; of each frame of the file */
	heap_piece *pieces; /* @owned */
	size_t npieces, room;
} heap_frames;

typedef struct heap_names heap_names; /* files and their names, for all processes */

heap_names *heap_names_new(void); /* @owned; NULL: no memory */
void heap_names_free(heap_names *n);
/* A sentence on why there are no lines; NULL: there are. */
const char *heap_names_lacking(heap_names *n);

/* Ids are those of frames in `paths`. */
dck_status heap_frames_read(heap_names *n, const heap_file *f, cct *paths, heap_frames *ret,
			    dck_err *err);
void heap_frames_done(heap_frames *f); /* {0} is allowed */

#endif
