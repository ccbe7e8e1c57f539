/* heap_count.h - counters of allocations: by path, and totals with their peak.
 *
 * In a process of one thread all is exact. With several, threads batch small updates
 * (HEAP_BATCH_BITS) to avoid contention on the shared totals; counts by path are always exact,
 * except their bytes at the peak.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_COUNT_H
#define HEAP_HEAP_COUNT_H

#include "profiler/preload/heap/heap_thread.h"

void heap_count_born(heap_state *s, heap_thread *t, uint32_t node, uint64_t size, heap_kind kind);
void heap_count_died(heap_state *s, heap_thread *t, uint32_t node, uint64_t size, uint64_t blocks,
		     bool temporary, heap_kind kind);
/* Adds the batched updates of this thread to the totals. */
void heap_count_flush(heap_state *s, heap_thread *t);

#endif
