/* heap_blocks.h - live memory blocks by address, in an open-addressing hash table.
 *
 * It runs inside an allocator hook, so it allocates from libc only. The caller holds the heap's
 * lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_HEAP_BLOCKS_H
#define DCK_PYTHON_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_NO_PATH UINT32_MAX /* older block, tracked only as a code object */

typedef struct heap_block {
	uintptr_t at; /* 0: the slot is free */
	size_t size;
	uint32_t path;
	uint32_t born : 31; /* number of recordings started before it */
	uint32_t code : 1;  /* a code object that heap_paths refers to */
} heap_block;

typedef struct heap_blocks {
	heap_block *slots;
	size_t n, mask;
	unsigned shift;
} heap_blocks;

/* Returns false, and adds nothing, if memory is exhausted. */
bool heap_blocks_add(heap_blocks *t, const heap_block *b);
/* Returns NULL if unknown. The pointer is valid until the table changes. */
heap_block *heap_blocks_find(const heap_blocks *t, const void *at);
void heap_blocks_remove(heap_blocks *t, heap_block *b);
/* Returns the size of the table. */
size_t heap_blocks_bytes(const heap_blocks *t);
void heap_blocks_done(heap_blocks *t);

#endif
