/* raw_stacks.h - stacks as addresses in files, added up while they come; names are found at the
 * end, once for each address.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_RAW_PATHS_H
#define SAMPLE_RAW_PATHS_H

#include "base/id_table.h"
#include "record/tree/cct.h"
#include "record/tree/path_trie.h"
#include "profiler/unwind/address_space.h"

typedef enum raw_kind {
	RAW_CODE,   /* address in a file, or in memory where there is no file */
	RAW_KERNEL, /* the kernel, which worked for the thread */
	RAW_BLOCKED,
	RAW_PREEMPTED,
	RAW_THREAD, /* the outermost of all: a thread of that name */
	RAW_PYTHON, /* a Python function */
} raw_kind;

typedef struct raw_frame {
	elf_file *file;	  /* NULL: none, or not there */
	const char *path; /* of the file; "": none; kept by the producer */
	uint64_t address; /* in the file's numbering; without one in memory */
	const char *name; /* of a thread or Python function; interned by raw_text() */
	uint32_t line, start_line;
	uint16_t kind; /* raw_kind */
	uint16_t unused;
	int32_t pid; /* where there is no file, or a thread's number */
} raw_frame;

typedef struct raw_stacks {
	path_trie sums; /* names: numbers of frames */
	id_table frames;
	hash_map by_frame;
	string_table texts;
	uint32_t nframes;
	bool failed;
} raw_stacks;

dck_status raw_stacks_init(raw_stacks *p, dck_err *err);
void raw_stacks_done(raw_stacks *p);
const char *raw_text(raw_stacks *p, const char *text); /* the same text: the same pointer */
/* From 1 on; 0: no memory, or two millions are there. */
uint32_t raw_stacks_frame(raw_stacks *p, const raw_frame *f);
/* n frames, the innermost first, below `root` (0: none). 0: there is no room. */
uint32_t raw_stacks_stack(raw_stacks *p, uint32_t root, const uint32_t *frames, size_t n);

/* What naming the paths told beside them. */
typedef struct raw_named {
	uint64_t unknown;    /* samples whose innermost code has no name */
	const char *lacking; /* why there are no lines, a sentence; NULL: there are */
	double spin_ns;	     /* in which threads waited busily (spin_waits.h), */
	char spin_of[64];    /* by which library most of that; "": none */
	/* The function of Python, no library's, in which most time was, with what it calls: "f
	 * (x.py:12)"; "": none. */
	char user[160];
	double user_ns;
} raw_named;

/* Paths with names: *to gets all weights, "samples" and "time". Where a thread waits busily, a
 * frame "[busy-waiting of OpenBLAS]" is the innermost. of: for each raw path the one in *to that
 * has its weights; room for sums.n; NULL: not wanted. */
dck_status raw_stacks_name(const raw_stacks *p, cct *to, uint32_t *of, raw_named *ret,
			   dck_err *err);

#endif
