/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/lod_track.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void lod_track_done(lod_track *r)
{
	mem_free(r->ranges);
	mem_free(r->blocks);
	*r = (lod_track){0};
}

static void range_push(lod_track *r, const lod_range *one)
{
	if (mem_reserve(&r->ranges, &r->ranges_cap, r->nranges + (size_t)1, sizeof *one))
		r->ranges[r->nranges++] = *one;
	else
		r->failed = true;
}

static void row_block_add(lod_track *r, const lod_bucket *b)
{
	lod_bucket *last = r->nblocks ? &r->blocks[r->nblocks - 1] : NULL;

	if (!last || last->bin != b->bin) {
		if (mem_reserve(&r->blocks, &r->blocks_cap, r->nblocks + (size_t)1, sizeof *b))
			r->blocks[r->nblocks++] = *b;
		else
			r->failed = true;
		return;
	}
	last->ranges += b->ranges;
	last->took_ns += b->took_ns;
	if (last->key == b->key) {
		last->votes += b->votes;
	} else if (last->votes >= b->votes) {
		last->votes -= b->votes;
	} else {
		last->key = b->key;
		last->votes = b->votes - last->votes;
	}
}

static void row_join(lod_track *r, const lod_range *one, uint64_t bin, const lod_observer *sums)
{
	row_block_add(r, &(lod_bucket){.bin = bin,
				       .ranges = 1,
				       .took_ns = one->took_ns,
				       .key = one->key,
				       .votes = one->took_ns + 1});
	if (sums)
		sums->add(sums->self, r->owner, one);
}

/* Merges the range that was alone in its step into a block, because another range starts in it. */
static bool lone_joins(lod_track *r, uint64_t bin, int shift, const lod_observer *sums)
{
	lod_range *lone = r->lone ? &r->ranges[r->lone - 1] : NULL;

	if (!lone || lone->begin_ns >> shift != bin)
		return false;
	const lod_range one = *lone;
	if (r->lone == r->nranges)
		r->nranges--;
	else
		lone->key = 0; /* lod_track_downsample() takes it away */
	r->lone = 0;
	row_join(r, &one, bin, sums);
	return true;
}

void lod_track_put(lod_track *r, const lod_range *one, int shift, const lod_observer *sums)
{
	if (r->unsorted || shift == LOD_EXACT || (shift < LOD_SHIFT_MAX && one->took_ns >> shift)) {
		range_push(r, one);
		return;
	}
	const uint64_t bin = one->begin_ns >> shift;
	if ((r->nblocks && r->blocks[r->nblocks - 1].bin == bin) ||
	    lone_joins(r, bin, shift, sums)) {
		row_join(r, one, bin, sums);
		return;
	}
	range_push(r, one);
	r->lone = r->failed ? 0 : r->nranges;
}

static int row_by_begin(const void *a, const void *b)
{
	const lod_range *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void lod_track_sort(lod_track *r)
{
	/* The same order each time, whatever sorts. */
	for (uint32_t i = 0; i < r->nranges; i++)
		r->ranges[i].at = i;
	if (r->nranges)
		qsort(r->ranges, r->nranges, sizeof *r->ranges, row_by_begin);
}

void lod_track_downsample(const lod_track *from, int shift, int to_shift, const lod_observer *sums,
			  lod_track *to)
{
	uint32_t i = 0, j = 0, n = 0;

	to->owner = from->owner;
	while (i < from->nranges || j < from->nblocks) {
		const lod_range *one = i < from->nranges ? &from->ranges[i] : NULL;
		const uint64_t bin =
		    j < from->nblocks ? from->blocks[j].bin >> (to_shift - shift) : UINT64_MAX;

		if (one && one->begin_ns >> to_shift <= bin) {
			lod_track_put(to, one, to_shift, sums);
			i++;
			continue;
		}
		lod_bucket b = from->blocks[j++];
		b.bin = bin;
		lone_joins(to, bin, to_shift, sums);
		row_block_add(to, &b);
	}
	for (i = 0; i < to->nranges; i++)
		if (to->ranges[i].key)
			to->ranges[n++] = to->ranges[i];
	to->nranges = n;
	/* The last range may still be merged with later ranges of its step. */
	const lod_range *end = n ? &to->ranges[n - 1] : NULL;
	to->lone = to->lone && end && !(end->took_ns >> to_shift) ? n : 0;
	to->failed |= from->failed;
}
