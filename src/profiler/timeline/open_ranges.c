/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/open_ranges.h"

#include "base/hash.h"
#include "base/mem.h"

void open_ranges_done(open_ranges *o)
{
	mem_free(o->slots);
	*o = (open_ranges){0};
}

static size_t home(const open_ranges *o, uint64_t id)
{
	return (size_t)hash_number(HASH_START, id) & (o->cap - 1);
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
