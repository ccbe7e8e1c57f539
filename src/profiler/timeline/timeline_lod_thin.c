/* timeline_lod_thin.c - reduces a timeline_lod to its limits: longer time steps, longer bins of
 * sums, fewer names; and lays out ranges that any track may end.
 *
 * All reductions work alike: while more than three quarters of a limit are in use, the step becomes
 * longer and everything is merged again. The quarter that becomes free amortises the cost over the
 * next inserts. What cannot be merged further raises the limit instead, so no call loops.
 *
 *  - rows: lod_track_downsample() merges short ranges of one step into a block, and passes each of
 * them to timeline_lod_sum_add().
 *  - sums: a hash map finds the sum of (bin, owner, key), packed into 24, 20 and 20 bits. A merge
 *    rewrites the array in place, since it writes at or before the index that it reads. When about
 *    a hundred bins are left, the three quarters of the names with the least use are merged.
 *  - counters: the values of a step become last, least, greatest and number.
 *
 * timeline_lod_lanes() is interval partitioning: in the order of their starts, a range takes the
 * first free lane, which needs as many lanes as ranges overlap; beyond ASYNC_ROWS_MAX it is not
 * drawn.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/timeline_lod_parts.h"

#include <math.h>
#include <stdlib.h>

static uint64_t allowed(uint64_t limit)
{
	return limit - limit / 4;
}

/* --- sums */

static uint64_t sum_id(uint64_t bin, uint32_t owner, uint32_t key)
{
	return bin << 40 | (uint64_t)owner << 20 | key;
}

static void lod_sum_put(timeline_lod *p, const timeline_lod_sum *one)
{
	const uint64_t id = sum_id(one->bin, one->owner, one->key);
	uint32_t at = hash_map_find(&p->sum_rows, id);

	if (at) {
		timeline_lod_sum *s = &p->sums[at - 1];

		s->ranges += one->ranges;
		s->took_ns += one->took_ns;
		s->self_ns += one->self_ns;
		return;
	}
	p->failed |= !mem_reserve(&p->sums, &p->sums_cap, p->nsums + 1, sizeof *p->sums);
	if (p->failed)
		return;
	p->sums[p->nsums++] = *one;
	p->failed |= !hash_map_put(&p->sum_rows, id, p->nsums);
}

/* Makes all sums again, at a step of 2^shift, with the keys that replace theirs. */
static void sums_again(timeline_lod *p, int shift)
{
	const uint32_t n = p->nsums;

	hash_map_clear(&p->sum_rows);
	p->nsums = 0;
	for (uint32_t i = 0; i < n; i++) { /* writes at or before the index that is read */
		timeline_lod_sum s = p->sums[i];

		s.bin >>= shift - p->sums_shift;
		s.key = p->keys[s.key].as;
		lod_sum_put(p, &s);
	}
	p->sums_shift = shift;
}

int timeline_lod_by_uses(const void *a, const void *b)
{
	const timeline_lod_key *x = *(const timeline_lod_key *const *)a,
			       *y = *(const timeline_lod_key *const *)b;

	if (x->uses != y->uses)
		return x->uses > y->uses ? -1 : 1;
	return (x > y) - (x < y);
}

void timeline_lod_uses_count(timeline_lod *p)
{
	for (uint32_t i = 0; i < p->nkeys; i++)
		p->keys[i].uses = 0;
	for (uint32_t i = 0; i < p->nrows; i++) {
		const lod_track *r = &p->rows[i];

		for (uint32_t k = 0; k < r->nranges; k++)
			p->keys[r->ranges[k].key].uses++;
		for (uint32_t k = 0; k < r->nblocks; k++)
			p->keys[r->blocks[k].key].uses++;
	}
	for (uint32_t i = 0; i < p->nsums; i++)
		p->keys[p->sums[i].key].uses++;
}

/* Retains the most used quarter of the names, and creates no keys for new names. */
static void names_fewer(timeline_lod *p)
{
	const timeline_lod_key **order = mem_alloc(p->nkeys * sizeof(const timeline_lod_key *));
	uint32_t n = 0;

	p->keys_max = p->nkeys;
	if (!order) {
		p->failed = true;
		return;
	}
	timeline_lod_uses_count(p);
	for (uint32_t i = 1 + PICTURE_FLAGS; i < p->nkeys; i++)
		if (p->keys[i].uses)
			order[n++] = &p->keys[i];
	if (n)
		qsort(order, n, sizeof *order, timeline_lod_by_uses);
	for (uint32_t i = n / 4; i < n; i++)
		p->keys[order[i] - p->keys].as = 1 + order[i]->flags;
	mem_free(order);
	for (uint32_t i = 0; i < p->nrows; i++) {
		lod_track *r = &p->rows[i];

		for (uint32_t k = 0; k < r->nranges; k++)
			r->ranges[k].key = p->keys[r->ranges[k].key].as;
		for (uint32_t k = 0; k < r->nblocks; k++)
			r->blocks[k].key = p->keys[r->blocks[k].key].as;
	}
}

/* Makes steps longer until about a hundred are left, then merges names. */
static void sums_thin(timeline_lod *p)
{
	const uint64_t most = allowed(p->limits.sums);

	while (p->nsums > most && p->sums_shift < LOD_SHIFT_MAX && !p->failed) {
		const bool fine = p->last_ns >> p->sums_shift > PICTURE_SUM_BINS / 32;

		if (!fine)
			names_fewer(p);
		sums_again(p, p->sums_shift + (fine ? 1 : 0));
		if (!fine && p->nsums > most)
			sums_again(p, p->sums_shift + 1);
	}
	if (p->nsums > most)
		p->limits.sums = 2 * p->nsums;
}

void timeline_lod_sum_add(void *self, uint32_t owner, const lod_range *one)
{
	timeline_lod *p = self;
	const uint64_t end = one->begin_ns > p->last_ns ? one->begin_ns : p->last_ns;
	int shift = p->sums_shift;

	while (shift < LOD_SHIFT_MAX && end >> shift >= PICTURE_SUM_BINS)
		shift++;
	if (shift > p->sums_shift)
		sums_again(p, shift);
	lod_sum_put(p, &(timeline_lod_sum){.bin = one->begin_ns >> shift,
					   .owner = owner,
					   .key = one->key,
					   .ranges = 1,
					   .took_ns = one->took_ns,
					   .self_ns = one->self_ns});
	if (p->nsums > p->limits.sums)
		p->too_many_sums = true;
}

static int by_owner(const void *a, const void *b)
{
	const timeline_lod_sum *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->bin != y->bin)
		return x->bin < y->bin ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

void timeline_lod_sums_sort(timeline_lod *p)
{
	if (p->nsums)
		qsort(p->sums, p->nsums, sizeof *p->sums, by_owner);
	/* The map has the former indices. */
	hash_map_clear(&p->sum_rows);
	for (uint32_t i = 0; i < p->nsums && !p->failed; i++)
		p->failed |= !hash_map_put(
		    &p->sum_rows, sum_id(p->sums[i].bin, p->sums[i].owner, p->sums[i].key), i + 1);
}

/* --- rows */

uint32_t timeline_lod_row_new(timeline_lod *p, uint32_t owner)
{
	/* Lanes are laid out last, in separate rows. */
	if (p->nrows >= PICTURE_ROWS_MAX + (owner == PICTURE_ASYNC ? ASYNC_ROWS_MAX : 0))
		return 0;
	if (!mem_reserve(&p->rows, &p->rows_cap, p->nrows + 1, sizeof *p->rows)) {
		p->failed = true;
		return 0;
	}
	p->rows[p->nrows] = (lod_track){.owner = owner};
	return p->nrows++;
}

/* Makes every row again, at a step of 2^shift. */
static void rows_again(timeline_lod *p, int shift)
{
	const lod_observer sums = {timeline_lod_sum_add, p};

	p->kept = 0;
	for (uint32_t i = 0; i < p->nrows; i++) {
		lod_track *r = &p->rows[i], to = {0};
		const bool unsorted = r->unsorted;

		if (unsorted)
			lod_track_sort(r);
		lod_track_downsample(r, p->shift, shift, &sums, &to);
		to.unsorted = unsorted;
		p->failed |= to.failed;
		p->kept += (uint64_t)to.nranges + to.nblocks;
		lod_track_done(r);
		*r = to;
	}
	p->shift = shift;
}

void timeline_lod_thin(timeline_lod *p)
{
	const uint64_t most = allowed(p->limits.ranges);

	while (p->kept > most && p->shift < LOD_SHIFT_MAX && !p->failed) {
		int shift = p->shift + 1;

		if (p->shift == LOD_EXACT)
			while (shift < LOD_SHIFT_MAX && p->last_ns / p->limits.ranges >> shift)
				shift++;
		rows_again(p, shift);
	}
	if (p->kept > most) /* nothing is left to merge */
		p->limits.ranges = p->kept > UINT32_MAX / 2 ? UINT32_MAX : 2 * (uint32_t)p->kept;
	if (p->nsums > p->limits.sums)
		sums_thin(p);
	p->too_many_sums = false;
}

/* --- counters */

static void values_again(timeline_lod_track_kept *t, unsigned shift)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nvalues; i++) {
		const timeline_lod_value v = t->values[i];
		timeline_lod_value *last = n ? &t->values[n - 1] : NULL;

		if (!last || last->ns >> shift != v.ns >> shift) {
			t->values[n++] = v;
			continue;
		}
		last->last = v.last;
		last->least = fmin(last->least, v.least);
		last->most = fmax(last->most, v.most);
		last->n += v.n;
	}
	t->nvalues = n;
}

void timeline_lod_thin_values(timeline_lod *p)
{
	const uint64_t most = allowed(p->limits.values);

	while (p->kept_values > most && p->values_shift < LOD_SHIFT_MAX) {
		unsigned shift = p->values_shift + 1;

		if (shift == 1)
			while (shift < LOD_SHIFT_MAX && p->last_ns / p->limits.values >> shift)
				shift++;
		p->values_shift = shift;
		p->kept_values = 0;
		for (uint32_t i = 0; i < p->tracks.n; i++) {
			timeline_lod_track_kept *t = id_table_find(&p->tracks, i);

			values_again(t, shift);
			p->kept_values += t->nvalues;
		}
	}
	if (p->kept_values > most)
		p->limits.values =
		    p->kept_values > UINT32_MAX / 2 ? UINT32_MAX : 2 * (uint32_t)p->kept_values;
}

/* --- lanes */

static void lod_range_copy(timeline_lod *p, uint32_t row, const lod_range *one)
{
	/* It was alone in its step, or long. */
	lod_track_put(&p->rows[row], one, LOD_EXACT, NULL);
}

void timeline_lod_lanes(timeline_lod *p)
{
	uint64_t ends[ASYNC_ROWS_MAX];
	lod_track *all = &p->rows[PICTURE_ASYNC];

	lod_track_sort(all);
	const lod_track from = *all;
	if (from.nranges + from.nblocks > 0)
		p->first_lane = timeline_lod_row_new(p, PICTURE_ASYNC);
	p->lanes = p->first_lane ? 1 : 0;
	ends[0] = 0;
	for (uint32_t i = 0; i < from.nranges && p->lanes; i++) {
		const lod_range *one = &from.ranges[i];
		uint32_t lane = 0;

		while (lane < p->lanes && ends[lane] > one->begin_ns)
			lane++;
		if (lane == p->lanes && lane < ASYNC_ROWS_MAX &&
		    timeline_lod_row_new(p, PICTURE_ASYNC))
			p->lanes++;
		const bool drawn = lane < p->lanes;
		if (drawn)
			ends[lane] = one->begin_ns + one->took_ns;
		p->undrawn += !drawn;
		lod_range_copy(p, drawn ? p->first_lane + lane : PICTURE_REST, one);
	}
	all = &p->rows[PICTURE_ASYNC];
	if (p->lanes) {
		lod_track *first = &p->rows[p->first_lane];

		first->blocks = from.blocks;
		first->nblocks = from.nblocks;
		first->blocks_cap = from.blocks_cap;
		mem_free(from.ranges);
		*all = (lod_track){0};
	}
	for (uint32_t i = 0; i < p->nrows; i++)
		p->failed |= p->rows[i].failed;
	lod_track_sort(&p->rows[PICTURE_REST]);
}
