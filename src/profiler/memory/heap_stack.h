/* heap_stack.h - the frames of a node of a heap's file as one stack, Python's among the native
 * ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_HEAP_STACK_H
#define MEMORY_HEAP_STACK_H

#include "profiler/memory/heap_frames.h"

/* Whether the node is one whose thread ran Python. */
bool heap_stack_has_python(const heap_file *f, uint32_t node);

enum { HEAP_STACK_MAX = 2048 };
typedef struct heap_stack {
	uint32_t frames[HEAP_STACK_MAX]; /* numbers of the file's frames, the innermost first */
	size_t n;
} heap_stack;

/* Reads the merged stack of a node with Python frames. */
void heap_stack_read(const heap_file *f, const heap_frames *names, uint32_t node, heap_stack *ret);

#endif
