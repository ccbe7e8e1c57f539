/* memory_sums.h - aggregates the heap profiles of a program's processes: by call path, function and
 * line.
 *
 * A function's self memory is allocated by the function itself, or through the libraries of its
 * language: operator new, strdup(), std::vector. Memory retained by libc and the loader is not a
 * leak.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_MEMORY_SUMS_H
#define MEMORY_MEMORY_SUMS_H

#include "profiler/memory/heap_frames.h"
#include "stat/stat.h"

/* The weights of a path, in bytes and counts. */
enum sums_column {
	SUMS_PEAK,
	SUMS_LEAKED,
	SUMS_ALLOCATIONS,
	SUMS_TEMPORARY,
	SUMS_BYTES,
	SUMS_HELD, /* last: only if a Python interpreter finalised */
	SUMS_COLUMNS
};
extern const dck_column sums_columns[SUMS_COLUMNS];
extern const dck_column sums_estimates[SUMS_COLUMNS]; /* of sampled allocations */

/* The sums of a process. Without sampling only stat_sampled.sampled is set, and exact. */
typedef enum sums_total {
	TOTAL_PEAK,
	TOTAL_LEAKED,
	TOTAL_KEPT, /* bytes that libc and the loader retain */
	TOTAL_HELD,
	TOTAL_BYTES,
	TOTAL_BLOCKS, /* the first of those in blocks */
	TOTAL_ALLOCATIONS = TOTAL_BLOCKS,
	TOTAL_TEMPORARY,
	TOTAL_LEAKED_BLOCKS,
	TOTAL_FREED,
	SUMS_TOTALS
} sums_total;

/* A process, or a program in it: exec() starts another. */
typedef struct sums_process {
	const char *program; /* its file */
	long pid;
	int64_t peak, mapped_peak; /* bytes */
	stat_sampled totals[SUMS_TOTALS];
	uint64_t began_ns, peak_ns, timed_ns, timed;
	uint64_t lost, unseen, cut, broken, own_bytes, own_resident, file_bytes;
	uint32_t threads, children_failed; /* forked processes without a file */
	int error;		      /* errno of a file that could not be made, or grow; 0: none */
	uint64_t limit, region_bytes; /* RLIMIT_AS, 0: none; what its file takes of it */
	bool full;		      /* its file reached the limit of call paths */
	bool unnamed;		      /* its file reached the limit of names, frames or modules */
	bool ends_in;		      /* its Python interpreter finalised: `held` was live before */
	bool own_allocator;	      /* it has malloc() itself, and none of its calls was seen */
} sums_process;

enum { SUMS_PROCESSES_MAX = 4096 };

typedef struct memory_sums {
	mem_arena *arena;
	heap_names *names;
	cct paths;	    /* all frames */
	cct functions;	    /* without frames of the language's libraries */
	cct lines;	    /* allocating lines only */
	cct mappings;	    /* the same for mappings */
	const char **asked; /* @owned; function of each path of `lines` */
	size_t nasked;
	sums_process *processes;     /* @owned */
	size_t nprocesses, left_out; /* left_out: unreadable */
	size_t too_many;	     /* processes beyond SUMS_PROCESSES_MAX, which are in no sum */
	size_t no_space;	     /* processes without space for their file or tables, ... */
	int error;		     /* ... errno of the last one; 0: the disk was full */
	size_t largest;		     /* the process with the highest peak */
	size_t ncolumns;	     /* without SUMS_HELD if no process has it */
	/* Mean number of bytes between samples; 0: each allocation was recorded. If sampled, paths,
	 * functions and lines have more columns: number of samples, then of each column
	 * stat_sampled.sampled, then of each .variance. */
	uint64_t interval;
} memory_sums;

/* Reads and adds all files of the directory. E_NOMEM. Unreadable files are left out. */
dck_status memory_sums_read(const char *directory, memory_sums *ret, dck_err *err);
/* Returns the function and line of a path of `lines`, "build() at list.c:12"; borrowed from s. */
const char *memory_sums_asked(const memory_sums *s, uint32_t line);
static inline double stat_sampled_total(const stat_sampled *s)
{
	return s->sampled + s->missed;
}
#define SUMS_LEVEL 0.95
/* Computes the interval of a total of bytes or blocks. */
void memory_sums_interval(const memory_sums *s, const stat_sampled *total, bool bytes,
			  double *ret_lo, double *ret_hi);
/* A call_interval_fn; self: a memory_sums. */
bool memory_sums_cell(const void *self, const double *weights, uint32_t column, double *ret_lo,
		      double *ret_hi);
void memory_sums_done(memory_sums *s); /* {0} is allowed */

#endif
