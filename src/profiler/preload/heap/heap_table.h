/* heap_table.h - open-addressing hash table, uint64_t to uint32_t, in private pages. The owner of a
 * table has a lock for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_TABLE_H
#define HEAP_HEAP_TABLE_H

#include "profiler/preload/heap/heap_state.h"

/* Open addressing; a key is never 0. */
typedef struct heap_table_row {
	uint64_t key;
	uint32_t value;
} heap_table_row;

typedef struct heap_table {
	heap_table_row *rows;
	size_t n;
	unsigned bits;
} heap_table;

/* Initial capacity: 2^bits rows. false: no memory, also in heap_table_reserve(). */
bool heap_table_init(heap_state *s, heap_table *t, unsigned bits);
void heap_table_done(heap_state *s, const heap_table *t);
/* Returns the key's row, or the free row for it; borrowed until the next change. */
heap_table_row *heap_table_find(const heap_table *t, uint64_t key);
/* Ensures capacity for one more row. */
bool heap_table_reserve(heap_state *s, heap_table *t);
/* Inserts a key that is not in the table; call heap_table_reserve() before. */
void heap_table_put(heap_table *t, uint64_t key, uint32_t value);

#endif
