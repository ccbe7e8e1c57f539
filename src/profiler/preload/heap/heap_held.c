/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_held.h"

HEAP_APART void heap_held_keep(heap_state *s)
{
	heap_header *h = s->header;
	const uint32_t n = atomic_load_explicit(&h->nnodes, memory_order_acquire);
	int64_t *held = (int64_t *)((char *)h + HEAP_AT_HELD(h->nodes_max));

	if (!atomic_exchange(&s->ending, NULL)) /* another thread does it */
		return;
	if (!heap_room(HEAP_HELD, n * sizeof *held))
		return;
	for (uint32_t i = 0; i < n; i++) {
		heap_lock_take(&s->nodes[i].lock);
		held[i] = s->nodes[i].live;
		heap_lock_give(&s->nodes[i].lock);
	}
	atomic_store_explicit(&h->nheld, n, memory_order_release);
}
