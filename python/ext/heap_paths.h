/* heap_paths.h - exact call paths of Python frames as numbers: a path is a line of a function that
 * was reached through the path of its caller.
 *
 * A thread's last stack is kept: of the next one only the frames that differ are looked up. Names
 * are copied when a code object is seen first, since nothing here may keep one alive; the heap
 * tells when one is freed. Lives inside an allocator, so all memory is libc's own, and nothing of
 * Python is called that allocates. The caller holds the heap's lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_HEAP_PATHS_H
#define DCK_PYTHON_HEAP_PATHS_H

#include "heap_frames.h"

/* A path. The first has no frame: what no frame of Python asked for. */
typedef struct heap_path {
	uint32_t parent; /* UINT32_MAX: outermost */
	uint32_t function, line;
	uint32_t next; /* of the same hash; UINT32_MAX: none */
} heap_path;

typedef struct heap_function {
	char *name, *file; /* UTF-8 */
	uint32_t line, next;
} heap_function;

/* A frame as a thread had it when it asked last, and the path that ends there. */
typedef struct heap_frame {
	const void *code;
	int at;
	uint32_t path;
} heap_frame;

/* The stack of a thread when it asked last, the outermost frame first; above it room for the next.
 */
typedef struct heap_stack {
	heap_frame *frames;
	size_t n, cap, changes;
} heap_stack;

typedef struct heap_step heap_step; /* (path, code, instruction): the path below */
typedef struct heap_code heap_code;

typedef struct heap_paths {
	heap_path *all;
	heap_function *functions;
	heap_step *steps;
	heap_code *codes;
	uint32_t *path_heads, *function_heads;
	size_t n, cap, nfunctions, functions_cap, nsteps, steps_mask, ncodes, codes_mask;
	size_t path_mask, function_mask;
	size_t changes; /* grows when a code is freed: kept stacks are worth nothing then */
	uint32_t next_code, freed_codes;
	/* A code object was seen first. */
	void (*seen)(const void *code);
} heap_paths;

/* Reads the frames of `t` into the stack, behind what it keeps: without the lock. false: no memory.
 */
bool heap_stack_read(heap_stack *s, const PyThreadState *t, size_t *ret_n);
void heap_stack_done(heap_stack *s);

bool heap_paths_init(heap_paths *p, void (*seen)(const void *code));
void heap_paths_done(heap_paths *p);
/* The path of the n frames that were read; 0 where there are none, or no memory. */
uint32_t heap_paths_get(heap_paths *p, heap_stack *s, size_t n);
/* What they take, without names. */
size_t heap_paths_bytes(const heap_paths *p);
void heap_paths_code_freed(heap_paths *p, const void *code);

#endif
