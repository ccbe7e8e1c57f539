/* memory_sums.h - the heaps of a program's processes added up: by call path, by function, by line.
 *
 * A function's own part is what it asked for itself, or through the libraries of its language:
 * operator new, strdup(), std::vector. What libc and the loader keep for themselves is not leaked.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_MEMORY_SUMS_H
#define MEMORY_MEMORY_SUMS_H

#include "profiler/memory/heap_frames.h"

/* The weights of a path, in bytes and counts. */
enum sums_column {
	SUMS_PEAK,
	SUMS_LEAKED,
	SUMS_ALLOCATIONS,
	SUMS_TEMPORARY,
	SUMS_BYTES,
	SUMS_HELD, /* the last one: where an interpreter of Python finalised */
	SUMS_COLUMNS
};
extern const dck_column sums_columns[SUMS_COLUMNS];

/* One process, or one program in it: exec() begins another one. */
typedef struct sums_process {
	const char *program; /* its file */
	long pid;
	int64_t peak, leaked, kept, held, mapped_peak; /* bytes; kept: by libc and the loader */
	uint64_t leaked_blocks, allocations, temporary, bytes;
	uint64_t began_ns, peak_ns, timed_ns, timed;
	uint64_t freed; /* blocks */
	uint64_t lost, unseen, cut, broken, own_bytes, own_resident, file_bytes;
	uint32_t threads;
	bool full;    /* its file had as many call paths as it may */
	bool ends_in; /* its interpreter of Python finalised: `held` is what was live before */
} sums_process;

typedef struct memory_sums {
	mem_arena *arena;
	heap_names *names;
	cct paths;	    /* all frames */
	cct functions;	    /* without those of the language's libraries */
	cct lines;	    /* where it was asked for, alone */
	cct mappings;	    /* the same of mappings */
	const char **asked; /* @owned; whose the paths of `lines` are */
	size_t nasked;
	sums_process *processes;     /* @owned */
	size_t nprocesses, left_out; /* left_out: that could not be read, or were too many */
	size_t no_room;		     /* processes that had no room for their file */
	size_t largest;		     /* the process with the highest peak */
	size_t ncolumns;	     /* without SUMS_HELD where no process has it */
} memory_sums;

/* All that processes left in the directory. E_NOMEM. What cannot be read is left out. */
dck_status memory_sums_read(const char *folder, memory_sums *ret, dck_err *err);
/* Whose line it is that a path of `lines` stands for, "build() at list.c:12"; borrowed of s. */
const char *memory_sums_asked(const memory_sums *s, uint32_t line);
void memory_sums_done(memory_sums *s); /* {0} is allowed */

#endif
