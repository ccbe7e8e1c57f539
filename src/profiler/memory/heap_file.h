/* heap_file.h - what a process left of its heap (heap/heap_region.h), checked: numbers in it lead
 * nowhere but into it, whatever became of the program that had it in its memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_HEAP_FILE_H
#define MEMORY_HEAP_FILE_H

#include "deepclock/base.h"
#include "profiler/preload/heap/heap_region.h"

typedef struct heap_file {
	const heap_header *header;
	const heap_module *modules;
	const heap_frame *frames;
	const heap_node *nodes;
	const int64_t *held; /* of the first nheld nodes */
	const char *names;
	uint32_t nmodules, nframes, nnodes, nheld; /* nheld 0: no interpreter of Python finalised */
	void *mapped;
	size_t bytes;
} heap_file;

/* E_ABSENT: it cannot be read; E_FORMAT: it is none, or its process had not begun yet. */
dck_status heap_file_open(const char *path, heap_file *ret, dck_err *err);
void heap_file_close(heap_file *f);

/* The library or program that a frame's code is of; NULL: none, as of code made at run time. */
const heap_module *heap_file_module(const heap_file *f, const heap_frame *frame);
/* The name of its file: at most size - 1 bytes. */
void heap_file_name(const heap_file *f, const heap_module *m, char *ret, size_t size);
/* A text among the names, with its end; NULL: there is none. */
const char *heap_file_text(const heap_file *f, uint32_t at);
/* What was allocated by that path when all was at its peak. */
int64_t heap_file_at_peak(const heap_file *f, const heap_node *n, heap_kind kind);
/* What that path held when the program's own code had ended: before its interpreter of Python
 * finalised, else at the end of the process. */
int64_t heap_file_held(const heap_file *f, uint32_t node);

#endif
