/* heap_paths.h - numbers exact call paths of Python frames, as a trie: a path is a line of a
 * function below the path of its caller.
 *
 * Each thread caches its last stack: only frames of the next stack that differ are looked up. Names
 * are copied when a code object is first encountered, because this table must not keep it alive;
 * the allocator hook reports when it is freed. This code runs inside that hook, so it allocates
 * from libc only, and calls no Python function that allocates. The caller holds the heap's lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_HEAP_PATHS_H
#define DCK_PYTHON_HEAP_PATHS_H

#include "heap_frames.h"

/* A path. Path 0 has no frame: allocations without a Python frame. */
typedef struct heap_path {
	uint32_t parent; /* UINT32_MAX: outermost */
	uint32_t function, line;
	uint32_t next; /* in the hash chain; UINT32_MAX: none */
} heap_path;

typedef struct heap_function {
	char *name, *file; /* UTF-8 */
	uint32_t line, next;
} heap_function;

/* A frame of a thread's last stack, and the path that ends there. */
typedef struct heap_frame {
	const void *code;
	int at;
	uint32_t path;
} heap_frame;

/* The last stack of a thread, outermost frame first, followed by space for the next stack. */
typedef struct heap_stack {
	heap_frame *frames;
	size_t n, cap, changes;
} heap_stack;

typedef struct heap_step heap_step; /* maps (path, code, instruction) to the child path */
typedef struct heap_code heap_code;

typedef struct heap_paths {
	heap_path *all;
	heap_function *functions;
	heap_step *steps;
	heap_code *codes;
	uint32_t *path_heads, *function_heads;
	size_t n, cap, nfunctions, functions_cap, nsteps, steps_mask, ncodes, codes_mask;
	size_t path_mask, function_mask;
	size_t changes; /* incremented when a code is freed: invalidates cached stacks */
	uint32_t next_code, freed_codes;
	/* Called for each new code object. */
	void (*seen)(const void *code);
} heap_paths;

/* Reads the frames of `t` beyond the cached stack, without the lock. Returns false without memory.
 */
bool heap_stack_read(heap_stack *s, const PyThreadState *t, size_t *ret_n);
void heap_stack_done(heap_stack *s);

bool heap_paths_init(heap_paths *p, void (*seen)(const void *code));
void heap_paths_done(heap_paths *p);
/* Returns the path of the n frames just read; 0 if n is 0 or memory is exhausted. */
uint32_t heap_paths_get(heap_paths *p, heap_stack *s, size_t n);
/* Returns the size of the tables, without names. */
size_t heap_paths_bytes(const heap_paths *p);
void heap_paths_code_freed(heap_paths *p, const void *code);

#endif
