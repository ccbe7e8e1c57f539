/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_ranges.h"

#include "profiler/preload/heap/heap_count.h"
#include "profiler/unwind/address_search.h"

#include <stddef.h>
#include <string.h>

enum { RANGES_MAX = 1 << 16, PAGE = 4096 };

typedef struct range {
	uint64_t start, end;
	uint32_t node;
} range;

struct heap_ranges {
	heap_lock lock;
	size_t n;
	range rows[RANGES_MAX];
};

/* Returns the index of the first range that ends after the address. */
static size_t ranges_range_at(const struct heap_ranges *r, uint64_t address)
{
	return address_search(r->rows, r->n, sizeof *r->rows, offsetof(range, end), address);
}

static bool range_insert(struct heap_ranges *r, size_t at, range row)
{
	if (r->n == RANGES_MAX)
		return false;
	memmove(&r->rows[at + 1], &r->rows[at], (r->n - at) * sizeof *r->rows);
	r->rows[at] = row;
	r->n++;
	return true;
}

static void range_delete(struct heap_ranges *r, size_t at)
{
	r->n--;
	memmove(&r->rows[at], &r->rows[at + 1], (r->n - at) * sizeof *r->rows);
}

/* Removes the parts of ranges between these addresses. */
static void remove_between(heap_state *s, heap_thread *t, uint64_t start, uint64_t end)
{
	struct heap_ranges *r = s->ranges;

	for (size_t at = ranges_range_at(r, start); at < r->n && r->rows[at].start < end;) {
		range *row = &r->rows[at];
		const uint64_t from = row->start > start ? row->start : start;
		const uint64_t to = row->end < end ? row->end : end;
		const range rest = {to, row->end, row->node};
		const bool whole = from == row->start && to == row->end;

		heap_count_died(s, t, row->node, to - from, whole, false, HEAP_MAPPINGS);
		if (whole) {
			range_delete(r, at);
			continue;
		}
		if (from == row->start) {
			row->start = to;
		} else {
			row->end = from;
			if (rest.start < rest.end && !range_insert(r, at + 1, rest))
				heap_count_died(s, t, rest.node, rest.end - rest.start, 0, false,
						HEAP_MAPPINGS);
		}
		at++;
	}
}

static void mapping_insert(heap_state *s, heap_thread *t, uint64_t start, uint64_t bytes,
			   uint32_t node)
{
	struct heap_ranges *r = s->ranges;

	if (range_insert(r, ranges_range_at(r, start), (range){start, start + bytes, node}))
		heap_count_born(s, t, node, bytes, HEAP_MAPPINGS);
	else
		atomic_fetch_add_explicit(&s->header->unseen, 1, memory_order_relaxed);
}

static uint64_t ranges_whole_pages(size_t n)
{
	return ((uint64_t)n + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

void heap_mapping_changed(const void *gone, size_t gone_bytes, const void *made, size_t made_bytes,
			  const heap_caller *from)
{
	heap_state *s;
	heap_thread *t = hook_enter(&s);

	if (!t)
		return;
	const uint64_t old = (uintptr_t)gone, new = (uintptr_t)made;
	const uint32_t node = made_bytes ? heap_walk_mapping(s, t, from) : 0;

	heap_lock_take(&s->ranges->lock);
	if (gone_bytes)
		remove_between(s, t, old, old + ranges_whole_pages(gone_bytes));
	if (made_bytes) {
		remove_between(s, t, new, new + ranges_whole_pages(made_bytes));
		mapping_insert(s, t, new, ranges_whole_pages(made_bytes), node);
	}
	heap_lock_give(&s->ranges->lock);
	heap_leave();
}

bool heap_mapping_known(const void *p)
{
	heap_state *s;
	heap_thread *t = hook_enter(&s);
	bool known = false;

	if (!t)
		return false;
	heap_lock_take(&s->ranges->lock);
	const size_t at = ranges_range_at(s->ranges, (uintptr_t)p);
	known = at < s->ranges->n && s->ranges->rows[at].start <= (uintptr_t)p;
	heap_lock_give(&s->ranges->lock);
	heap_leave();
	return known;
}

struct heap_ranges *heap_ranges_new(heap_state *s)
{
	return heap_pages(s, sizeof(struct heap_ranges));
}
