/* pending_ranges.c - annotations and ranges that are pending while a format writes a timeline.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/pending_ranges.h"
#include "base/hash.h"

/* --- numbers */

void kept_number_put(pending_annotations *k, uint64_t depth, uint32_t name, double real)
{
	if (k->n == KEPT_NUMBERS_MAX)
		return;
	if (mem_reserve(&k->at, &k->cap, k->n + 1, sizeof *k->at))
		k->at[k->n++] = (kept_number){depth, real, name};
	else
		k->failed = true;
}

const kept_number *pending_annotations_of(const pending_annotations *k, uint64_t depth,
					  uint32_t *ret_n)
{
	uint32_t n = 0;

	while (n < k->n && k->at[k->n - 1 - n].depth == depth)
		n++;
	*ret_n = n;
	return n ? k->at + (k->n - n) : NULL;
}

void pending_annotations_done(pending_annotations *k)
{
	mem_free(k->at);
	*k = (pending_annotations){0};
}

/* --- ids */

bool kept_nested_id(hash_map *depths, uint64_t key, bool ends, uint64_t *ret)
{
	const uint32_t zero = UINT32_C(1) << 31, had = hash_map_find(depths, key);
	const uint32_t before = had ? had : zero, after = ends ? before - 1 : before + 1;
	const uint32_t inner = ends ? after : before;

	*ret = (inner > zero ? hash_number(hash_number(HASH_START, key), inner) : key) &
	       ~(UINT64_C(1) << 63);
	if (after == zero)
		hash_map_remove(depths, key);
	else if (had || depths->n < KEPT_IDS_MAX)
		return hash_map_put(depths, key, after);
	return true;
}

void async_ranges_init(async_ranges *k)
{
	*k = (async_ranges){.ids = {.row_bytes = sizeof(kept_id)}};
}

/* Returns the row of an id, creating it if missing; NULL: no memory, or too many. */
static kept_id *id_row(async_ranges *k, uint64_t id)
{
	uint32_t row = hash_map_find(&k->rows, id);

	if (row)
		return id_table_find(&k->ids, row);
	if (k->n == KEPT_IDS_MAX)
		return NULL;
	row = k->free ? k->free : k->n + 1;
	kept_id *found = id_table_row(&k->ids, row);
	if (!found || !hash_map_put(&k->rows, id, row)) {
		k->failed = true;
		return NULL;
	}
	k->free = found->next;
	k->n++;
	*found = (kept_id){.id = id};
	return found;
}

static void ranges_count(async_ranges *k, kept_id *found, int64_t open)
{
	found->open += open;
	if (found->open)
		return;
	hash_map_remove(&k->rows, found->id);
	found->next = k->free;
	k->free = (uint32_t)(found - (kept_id *)k->ids.rows);
	k->n--;
}

void kept_id_begin(async_ranges *k, uint64_t id, uint32_t name, uint32_t track)
{
	kept_id *found = id_row(k, id);

	if (!found)
		return;
	found->name = name;
	found->track = track;
	ranges_count(k, found, 1);
}

uint32_t kept_id_end(async_ranges *k, uint64_t id)
{
	kept_id *found = id_row(k, id);
	const uint32_t name = found ? found->name : 0;

	if (found)
		ranges_count(k, found, -1);
	return name;
}

bool kept_id_end_early(async_ranges *k, uint64_t id, uint32_t track, uint64_t ns)
{
	kept_id *found = id_row(k, id);

	if (!found || found->open)
		return false;
	found->open = -1;
	found->early = true;
	found->track = track;
	found->end_ns = ns;
	return true;
}

bool kept_id_take_early(async_ranges *k, uint64_t id, kept_id *ret)
{
	const uint32_t row = hash_map_find(&k->rows, id);
	kept_id *found = row ? id_table_find(&k->ids, row) : NULL;

	if (!found || !found->early)
		return false;
	*ret = *found;
	found->early = false;
	return true;
}

void async_ranges_done(async_ranges *k)
{
	hash_map_done(&k->rows);
	id_table_done(&k->ids);
}

/* --- the end */

void kept_end_open(trace_out *o, const id_table *tracks, const async_ranges *async,
		   const process_ends *ends, const kept_end *end)
{
	for (uint32_t i = 0; i < tracks->n; i++)
		while (end->range(o, id_table_find(tracks, i), process_ends_of(ends, i)))
			;
	for (uint32_t i = 0; i < async->ids.n; i++) {
		const kept_id *a = id_table_find(&async->ids, i);
		void *track = a->open > 0 ? id_table_find(tracks, a->track) : NULL;
		for (int64_t k = 0; track && k < a->open; k++)
			end->async(o, track, a, process_ends_of(ends, a->track));
	}
}
