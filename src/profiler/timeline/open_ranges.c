/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/open_ranges.h"

#include "base/mem.h"
#include "base/rng.h"

void open_ranges_done(open_ranges *o)
{
	mem_free(o->slots);
	*o = (open_ranges){0};
}

/* The ids of a hostile file cannot all have one slot: they do not know the address. */
static size_t home(const open_ranges *o, uint64_t id)
{
	return (size_t)rng_mix(id ^ (uint64_t)(uintptr_t)o->slots) & (o->cap - 1);
}

/* Returns the slot of an id, or the empty slot for it; there is always an empty one. */
static size_t ranges_slot_of(const open_ranges *o, uint64_t id)
{
	size_t i = home(o, id);

	while (o->slots[i].id && o->slots[i].id != id)
		i = (i + 1) & (o->cap - 1);
	return i;
}

static bool ranges_grow(open_ranges *o)
{
	open_ranges more = {.cap = o->cap ? 2 * o->cap : 64, .n = o->n};

	if (o->n >= OPEN_RANGES_MAX)
		return false;
	more.slots = mem_zalloc(more.cap, sizeof *more.slots);
	if (!more.slots) {
		o->failed = true;
		return false;
	}
	for (size_t i = 0; i < o->cap; i++)
		if (o->slots[i].id)
			more.slots[ranges_slot_of(&more, o->slots[i].id)] = o->slots[i];
	mem_free(o->slots);
	*o = more;
	return true;
}

/* Backward-shift deletion: entries of the probe sequence after the emptied slot move up. */
static void ranges_take_out(open_ranges *o, size_t hole)
{
	for (size_t i = hole;;) {
		i = (i + 1) & (o->cap - 1);
		if (!o->slots[i].id)
			break;
		size_t from = home(o, o->slots[i].id);
		if (((i - from) & (o->cap - 1)) < ((i - hole) & (o->cap - 1)))
			continue;
		o->slots[hole] = o->slots[i];
		hole = i;
	}
	o->slots[hole].id = 0;
	o->n--;
}

bool open_ranges_match(open_ranges *o, const open_range *r, open_range *ret, bool *ret_lost)
{
	*ret_lost = false;
	if (2 * o->n >= o->cap && !ranges_grow(o) && o->n + 1 >= o->cap) {
		*ret_lost = true;
		return false;
	}
	size_t i = ranges_slot_of(o, r->id);
	/* A second end of the same kind, as of a range that is ended twice, does not match. */
	if (o->slots[i].id && o->slots[i].ends != r->ends) {
		*ret = o->slots[i];
		ranges_take_out(o, i);
		return true;
	}
	if (o->slots[i].id || o->n >= OPEN_RANGES_MAX) {
		*ret_lost = true;
		return false;
	}
	o->slots[i] = *r;
	o->n++;
	return false;
}

static bool range_is_before(const open_range *a, const open_range *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->id < b->id;
}

/* Makes the subtree of a row a heap, whose rows are not before those below them. */
static void ranges_sift(open_range *r, size_t at, size_t n)
{
	for (size_t below; (below = 2 * at + 1) < n; at = below) {
		const open_range one = r[at];

		if (below + 1 < n && range_is_before(&r[below], &r[below + 1]))
			below++;
		if (!range_is_before(&one, &r[below]))
			return;
		r[at] = r[below];
		r[below] = one;
	}
}

/* By a heap, since qsort() may allocate, and a recording may end in a crash inside malloc(). */
size_t open_ranges_order(open_ranges *o)
{
	open_range *r = o->slots;
	size_t n = 0;

	for (size_t i = 0; i < o->cap; i++)
		if (r[i].id)
			r[n++] = r[i];
	for (size_t i = n / 2; i-- > 0;)
		ranges_sift(r, i, n);
	for (size_t i = n; i > 1; i--) {
		const open_range last = r[i - 1];

		r[i - 1] = r[0];
		r[0] = last;
		ranges_sift(r, 0, i - 1);
	}
	return n;
}
