/* heap_blocks.h - which blocks of memory are held: by their address, in one open table.
 *
 * Lives inside an allocator, so all memory is libc's own. The caller holds the heap's lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_HEAP_BLOCKS_H
#define DCK_PYTHON_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_NO_PATH UINT32_MAX /* it was there before, and is watched for what else it is */

typedef struct heap_block {
	uintptr_t at; /* 0: the slot is free */
	size_t size;
	uint32_t path;
	uint32_t born : 31; /* how many recordings had begun */
	uint32_t code : 1;  /* a code object that paths know */
} heap_block;

typedef struct heap_blocks {
	heap_block *slots;
	size_t n, mask;
	unsigned shift;
} heap_blocks;

/* false: there is no memory, and nothing was added. */
bool heap_blocks_add(heap_blocks *t, const heap_block *b);
/* NULL: not known. Until the table changes. */
heap_block *heap_blocks_find(const heap_blocks *t, const void *at);
void heap_blocks_remove(heap_blocks *t, heap_block *b);
/* What the table takes. */
size_t heap_blocks_bytes(const heap_blocks *t);
void heap_blocks_done(heap_blocks *t);

#endif
