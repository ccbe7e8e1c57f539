/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_count.h"

/* Set by libc: no second thread has been created yet. */
extern char __libc_single_threaded __attribute__((weak));

static inline bool is_alone(void)
{
	return &__libc_single_threaded && __libc_single_threaded;
}

static inline void total_lock(heap_lock *l, bool alone)
{
	if (!alone)
		heap_lock_take(l);
}

static inline void count_give(heap_lock *l, bool alone)
{
	if (!alone)
		heap_lock_give(l);
}

enum { DATED_BITS = 6 };

/* Reads the clock if the peak grew by more than this fraction; else the time that the observing
 * process wrote is used. */
static void date(heap_state *s, heap_total *total, int64_t live)
{
	if (live - total->dated > total->dated >> DATED_BITS) {
		atomic_store_explicit(&s->header->now_ns, heap_clock_ns(CLOCK_MONOTONIC),
				      memory_order_relaxed);
		total->dated = live;
	}
	atomic_store_explicit(&total->peak_ns,
			      atomic_load_explicit(&s->header->now_ns, memory_order_relaxed),
			      memory_order_relaxed);
}

HEAP_APART static void peak_raise(heap_state *s, heap_total *total, int64_t live, bool alone)
{
	total_lock(&total->lock, alone);
	if (live > atomic_load_explicit(&total->peak, memory_order_relaxed)) {
		const uint64_t epoch = atomic_load_explicit(&total->epoch, memory_order_relaxed);

		atomic_store_explicit(&total->peak, live, memory_order_relaxed);
		atomic_store_explicit(&total->epoch, epoch + 1, memory_order_relaxed);
		date(s, total, live);
	}
	count_give(&total->lock, alone);
}

static inline void publish(heap_state *s, heap_total *total, int64_t change, bool alone)
{
	int64_t live = atomic_load_explicit(&total->live, memory_order_relaxed) + change;

	if (alone)
		atomic_store_explicit(&total->live, live, memory_order_relaxed);
	else
		live =
		    atomic_fetch_add_explicit(&total->live, change, memory_order_relaxed) + change;
	if (live > atomic_load_explicit(&total->peak, memory_order_relaxed))
		peak_raise(s, total, live, alone);
}

static inline void total_change(heap_state *s, heap_thread *t, int64_t change, heap_kind kind,
				bool alone)
{
	heap_total *total = &s->header->total[kind];

	t->kept[kind] += change;
	if (!alone) {
		const int64_t most =
		    atomic_load_explicit(&total->peak, memory_order_relaxed) >> HEAP_BATCH_BITS;

		if (t->kept[kind] <= most && t->kept[kind] >= -most)
			return;
	}
	change = t->kept[kind];
	t->kept[kind] = 0;
	publish(s, total, change, alone);
}

/* Saves a node's live bytes at the peak, before its first change after it. */
static inline void remember(heap_node *n, uint64_t epoch)
{
	if (n->epoch != epoch) {
		n->epoch = epoch;
		n->at_peak = n->live;
	}
}

static inline void node_born(heap_state *s, heap_thread *t, uint32_t node, uint64_t size,
			     heap_kind kind, bool alone)
{
	heap_node *n = &s->nodes[node];
	const uint64_t epoch =
	    atomic_load_explicit(&s->header->total[kind].epoch, memory_order_relaxed);

	total_lock(&n->lock, alone);
	remember(n, epoch);
	n->allocations++;
	n->bytes += size;
	n->live += (int64_t)size;
	n->live_blocks++;
	count_give(&n->lock, alone);
	total_change(s, t, (int64_t)size, kind, alone);
}

/* Two copies of the inlined function: the single-threaded one takes no lock and makes no call. */
void heap_count_born(heap_state *s, heap_thread *t, uint32_t node, uint64_t size, heap_kind kind)
{
	if (is_alone())
		node_born(s, t, node, size, kind, true);
	else
		node_born(s, t, node, size, kind, false);
}

static inline void node_died(heap_state *s, heap_thread *t, uint32_t node, uint64_t size,
			     uint64_t blocks, bool temporary, heap_kind kind, bool alone)
{
	heap_node *n = &s->nodes[node];
	const uint64_t epoch =
	    atomic_load_explicit(&s->header->total[kind].epoch, memory_order_relaxed);

	total_lock(&n->lock, alone);
	remember(n, epoch);
	n->live -= (int64_t)size;
	n->live_blocks -= (uint32_t)blocks;
	n->temporary += temporary;
	count_give(&n->lock, alone);
	total_change(s, t, -(int64_t)size, kind, alone);
}

void heap_count_died(heap_state *s, heap_thread *t, uint32_t node, uint64_t size, uint64_t blocks,
		     bool temporary, heap_kind kind)
{
	if (is_alone())
		node_died(s, t, node, size, blocks, temporary, kind, true);
	else
		node_died(s, t, node, size, blocks, temporary, kind, false);
}

void heap_count_flush(heap_state *s, heap_thread *t)
{
	for (int kind = 0; kind < HEAP_KINDS; kind++) {
		publish(s, &s->header->total[kind], t->kept[kind], false);
		t->kept[kind] = 0;
	}
}
