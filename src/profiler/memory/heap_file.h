/* heap_file.h - reads and validates the heap profile of a process (heap/heap_region.h): every index
 * is bounds-checked, because a faulty program may have corrupted the mapped file.
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
	const int64_t *held; /* of the first `nheld` nodes */
	const char *names;
	uint32_t nmodules, nframes, nnodes, nheld; /* nheld 0: no interpreter of Python finalised */
	void *mapped;
	size_t bytes;
} heap_file;

/* E_ABSENT: unreadable; E_FORMAT: not a heap profile, or not yet initialised by its process. */
/* Returns whether the process could not record, for lack of space: *error is set unless the disk
 * was full. */
bool heap_file_failed(const char *path, int *error);
dck_status heap_file_open(const char *path, heap_file *ret, dck_err *err);
void heap_file_close(heap_file *f);

/* Returns the module of a frame's code; NULL: none, for example code generated at run time. */
const heap_module *heap_file_module(const heap_file *f, const heap_frame *frame);
/* Writes the module's file name: at most size - 1 bytes. */
void heap_file_name(const heap_file *f, const heap_module *m, char *ret, size_t size);
/* Whether the node counts sampled blocks of one size. */
bool heap_file_is_size(const heap_file *f, const heap_node *n);
/* Returns a NUL-terminated string of the names; NULL: invalid offset. */
const char *heap_file_text(const heap_file *f, uint32_t at);
/* Returns the live bytes of the path at the time of the total's peak. */
int64_t heap_file_at_peak(const heap_file *f, const heap_node *n, heap_kind kind);
/* Returns the live bytes of the path when the program's code had ended: before the Python
 * interpreter finalised, else at process exit. */
int64_t heap_file_held(const heap_file *f, uint32_t node);

#endif
