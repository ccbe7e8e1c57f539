/* raw_stacks.h - aggregates sampled stacks as addresses in files; symbolizes each address once, at
 * the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_RAW_STACKS_H
#define SAMPLE_RAW_STACKS_H

#include "base/id_table.h"
#include "record/tree/cct.h"
#include "record/tree/path_trie.h"
#include "profiler/unwind/address_space.h"

typedef enum raw_kind {
	RAW_CODE,   /* address in a file, or in memory without a file */
	RAW_KERNEL, /* the kernel, on behalf of the thread */
	RAW_BLOCKED,
	RAW_PREEMPTED,
	RAW_THREAD, /* the outermost frame: a thread of that name */
	RAW_PYTHON, /* a Python function */
} raw_kind;

typedef struct raw_frame {
	elf_file *file;		    /* NULL: none, or missing */
	const char *path;	    /* path of the file; "": none; owned by the producer */
	const char *missing_reason; /* why the file could not be read; NULL: it was, or is none */
	uint64_t address;	    /* in the file; without a file in memory */
	const char *name; /* name of a thread or Python function; interned by raw_text() */
	uint32_t line, start_line;
	uint16_t kind; /* raw_kind */
	uint16_t unused;
	int32_t pid; /* process of code without a file, or a thread's id */
} raw_frame;

typedef struct raw_stacks {
	path_trie sums; /* names: ids of frames */
	id_table frames;
	hash_map by_frame;
	string_table texts;
	uint32_t nframes;
	bool failed;
} raw_stacks;

dck_status raw_stacks_init(raw_stacks *p, dck_err *err);
void raw_stacks_done(raw_stacks *p);
const char *raw_text(raw_stacks *p, const char *text); /* interned: equal texts, equal pointers */
/* Returns the frame's id, from 1; 0: no memory, or more than two million. */
uint32_t raw_stacks_frame(raw_stacks *p, const raw_frame *f);
/* Returns the frame of one more thread, which raw_stacks_rename() may name again; 0: as above. */
uint32_t raw_stacks_thread(raw_stacks *p, const char *title);
void raw_stacks_rename(raw_stacks *p, uint32_t frame, const char *title);
/* Returns the path of n frames, innermost first, below `root` (0: none). 0: no space. */
uint32_t raw_stacks_stack(raw_stacks *p, uint32_t root, const uint32_t *frames, size_t n);

/* Further results of raw_stacks_name(). */
typedef struct raw_named {
	uint64_t unknown;	  /* samples whose innermost code, of a file, has no name */
	uint64_t generated;	  /* ..., of no file */
	uint64_t unread;	  /* of unknown, those in files that could not be read */
	char unread_reason[512];  /* of the file with most of them in one place */
	char missing_reason[512]; /* why lines are missing; "": they are not */
	double spin_ns;		  /* busy-waiting time of threads (spin_waits.h), */
	char spin_of[64];	  /* the library with most of it; "": none */
	/* The Python function, outside of libraries, with the highest total time: "f (x.py:12)";
	 * "": none. */
	char user[160];
	double user_ns;
} raw_named;

/* Symbolizes the paths: *to receives all weights, "samples" and "time". A busy-waiting thread gets
 * the innermost frame "[busy-waiting of OpenBLAS]". of: for each raw path the path in *to with its
 * weights; capacity sums.n; may be NULL. */
dck_status raw_stacks_name(const raw_stacks *p, cct *to, uint32_t *of, raw_named *ret,
			   dck_err *err);

#endif
