/* timeline_lod_columns.c - encodes a timeline_lod as columns of LEB128 numbers (DWARF 5, 7.6),
 * delta-coded by time, and computes its levels of detail. timeline_lod.h lists the columns.
 *
 * A level is the rows at a longer time step (lod_track_downsample()), each made from the finer
 * one, like a mipmap. It is stored when it has at most a quarter of the items of the level
 * below, so all levels together add at most a third; the last one has at most LEVEL_ENOUGH items,
 * unless steps or PICTURE_LEVELS end first. Only blocks are stored again: a range has a byte with
 * the last level that draws it individually.
 *
 * Keys are numbered by their use, so that frequent ones take one byte. Within a row ranges are
 * sorted by time and blocks by bin, so a difference is never negative.
 *
 * The rows of the timeline_lod are not changed, except `at`, the index of a range in the columns.
 * Time is linear in the items times the steps that are tried (at most 63), plus the sort of the
 * keys.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/timeline_lod_parts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* A level has at most a quarter of the items of the one below, so that all levels together add a
 * third; the last one is small enough to be drawn as a whole. */
enum { LEVEL_RATIO = 4, LEVEL_ENOUGH = 3000, FIRST_STEPS = 8 };

static void columns_put_number(dck_sink *out, uint64_t v)
{
	char *to = sink_reserve(out, 10), *at = to;

	for (; v > 0x7f; v >>= 7)
		*at++ = (char)(v | 0x80);
	*at++ = (char)v;
	out->used += (size_t)(at - to);
}

static void columns_put_real(dck_sink *out, double v)
{
	unsigned char bytes[8];
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(bits >> 8 * i);
	sink_put(out, bytes, sizeof bytes);
}

/* --- a level */

/* Returns the number of items to draw. */
static uint64_t drawn_of(const lod_track *rows, uint32_t n)
{
	uint64_t drawn = 0;

	for (uint32_t i = 0; i < n; i++)
		drawn += (uint64_t)rows[i].nranges + rows[i].nblocks;
	return drawn;
}

enum { BLOCK_BIN, BLOCK_RANGES, BLOCK_TOOK, BLOCK_KEY, BLOCK_COLUMNS };

/* Writes the blocks of all rows. */
static void blocks_put(const timeline_lod *p, const lod_track *rows, dck_sink *out)
{
	for (int column = 0; column < BLOCK_COLUMNS; column++)
		for (uint32_t i = 0; i < p->nrows; i++) {
			uint64_t before = 0;

			for (uint32_t k = 0; k < rows[i].nblocks; k++) {
				const lod_bucket *b = &rows[i].blocks[k];
				const uint64_t of[BLOCK_COLUMNS] = {[BLOCK_BIN] = b->bin - before,
								    [BLOCK_RANGES] = b->ranges,
								    [BLOCK_TOOK] = b->took_ns,
								    [BLOCK_KEY] =
									p->keys[b->key].number};

				columns_put_number(out, of[column]);
				before = b->bin;
			}
		}
}

typedef struct leveller {
	timeline_lod *p;
	timeline_lod_drawn *d;
	uint8_t *last;	 /* @owned: of each range, the last level that draws it individually */
	lod_track *rows; /* rows of the level */
	lod_track *made; /* @owned: the same, but for the first */
	int shift;
} leveller;

static void rows_free(lod_track *rows, uint32_t n)
{
	for (uint32_t i = 0; rows && i < n; i++)
		lod_track_done(&rows[i]);
	mem_free(rows);
}

/* Makes the rows at a longer step. */
static dck_status go(leveller *l, int shift, dck_err *err)
{
	const uint32_t n = l->p->nrows;
	lod_track *made = mem_zalloc(n, sizeof *made);
	bool failed = false;

	DCK_NEED(made, err, "for a timeline");
	for (uint32_t i = 0; i < n; i++) {
		lod_track_downsample(&l->rows[i], l->shift, shift, NULL, &made[i]);
		failed |= made[i].failed;
	}
	rows_free(l->made, n);
	l->rows = l->made = made;
	l->shift = shift;
	DCK_NEED(!failed, err, "for a timeline");
	return DCK_OK;
}

static dck_status level_put(leveller *l, dck_err *err)
{
	const timeline_lod *p = l->p;
	timeline_lod_level *level = &l->d->levels[l->d->nlevels++];
	dck_sink sink;

	*level = (timeline_lod_level){
	    .shift = l->shift, .row_blocks = mem_zalloc(p->nrows, sizeof *level->row_blocks)};
	DCK_NEED(level->row_blocks, err, "for a timeline");
	dck_sink_buffer(&sink, &level->columns);
	blocks_put(p, l->rows, &sink);
	for (uint32_t i = 0; i < p->nrows; i++) {
		const lod_track *r = &l->rows[i];

		for (uint32_t k = 0; k < r->nranges; k++)
			l->last[r->ranges[k].at] = (uint8_t)l->d->nlevels;
		level->row_blocks[i] = r->nblocks;
		level->blocks += r->nblocks;
		level->alone += r->nranges;
	}
	return dck_sink_finish(&sink, err);
}

static dck_status levels_make(leveller *l, dck_err *err)
{
	const timeline_lod *p = l->p;
	uint64_t drawn = drawn_of(l->rows, p->nrows);
	int shift = p->shift + 1;

	l->shift = p->shift;
	/* Steps much shorter than the mean distance of items merge few of them. */
	if (p->shift == LOD_EXACT && drawn)
		while (shift < LOD_SHIFT_MAX && p->last_ns / drawn / FIRST_STEPS >> shift)
			shift++;
	for (; drawn > LEVEL_ENOUGH && l->d->nlevels < PICTURE_LEVELS && shift < LOD_SHIFT_MAX;
	     shift++) {
		DCK_TRY(go(l, shift, err));
		const uint64_t now = drawn_of(l->rows, p->nrows);

		if (now <= drawn / LEVEL_RATIO) {
			DCK_TRY(level_put(l, err));
			drawn = now;
		}
		if (p->last_ns >> shift == 0)
			break;
	}
	return DCK_OK;
}

/* --- the rows themselves */

static void columns_column_put(const timeline_lod *p, dck_sink *out,
			       uint64_t (*of)(const lod_range *))
{
	for (uint32_t i = 0; i < p->nrows; i++)
		for (uint32_t k = 0; k < p->rows[i].nranges; k++)
			columns_put_number(out, of(&p->rows[i].ranges[k]));
}

static uint64_t took(const lod_range *one)
{
	return one->took_ns;
}

static uint64_t inside(const lod_range *one)
{
	return one->took_ns - one->self_ns;
}

static void begins_put(const timeline_lod *p, dck_sink *out)
{
	for (uint32_t i = 0; i < p->nrows; i++) {
		uint64_t before = 0;

		for (uint32_t k = 0; k < p->rows[i].nranges; k++) {
			columns_put_number(out, p->rows[i].ranges[k].begin_ns - before);
			before = p->rows[i].ranges[k].begin_ns;
		}
	}
}

enum { SUM_BIN, SUM_RANGES, SUM_TOOK, SUM_INSIDE, SUM_KEY, SUM_COLUMNS };

static void columns_sums_put(const timeline_lod *p, dck_sink *out)
{
	for (int column = 0; column < SUM_COLUMNS; column++)
		for (uint32_t i = 0; i < p->nsums; i++) {
			const timeline_lod_sum *s = &p->sums[i];
			const bool first = i == 0 || s[-1].owner != s->owner;
			const uint64_t of[SUM_COLUMNS] = {[SUM_BIN] =
							      s->bin - (first ? 0 : s[-1].bin),
							  [SUM_RANGES] = s->ranges,
							  [SUM_TOOK] = s->took_ns,
							  [SUM_INSIDE] = s->took_ns - s->self_ns,
							  [SUM_KEY] = p->keys[s->key].number};

			columns_put_number(out, of[column]);
		}
}

static void columns_rows_put(const timeline_lod *p, const uint8_t *last, uint64_t n, dck_sink *out)
{
	begins_put(p, out);
	columns_column_put(p, out, took);
	columns_column_put(p, out, inside);
	for (uint32_t i = 0; i < p->nrows; i++)
		for (uint32_t k = 0; k < p->rows[i].nranges; k++)
			columns_put_number(out, p->keys[p->rows[i].ranges[k].key].number);
	sink_put(out, last, n);
	blocks_put(p, p->rows, out);
}

/* --- counters */

static void columns_values_put(const timeline_lod *p, dck_sink *out)
{
	for (int column = 0; column < 5; column++)
		for (uint32_t i = 0; i < p->tracks.n; i++) {
			const timeline_lod_track_kept *t = id_table_find(&p->tracks, i);
			uint64_t before = 0;

			for (uint32_t k = 0; k < t->nvalues; k++) {
				const timeline_lod_value *v = &t->values[k];

				if (column == 0)
					columns_put_number(out, v->ns - before);
				else if (column == 1)
					columns_put_number(out, v->n);
				else if (column == 2)
					columns_put_real(out, v->last);
				else if (v->n > 1)
					columns_put_real(out, column == 3 ? v->least : v->most);
				before = v->ns;
			}
		}
}

/* --- keys: the most used keys have the smallest numbers */

static dck_status keys_number(timeline_lod *p, dck_err *err)
{
	timeline_lod_key **order = mem_alloc(p->nkeys * sizeof(timeline_lod_key *));
	uint32_t n = 0;

	DCK_NEED(order, err, "for the names of a timeline");
	timeline_lod_uses_count(p);
	for (uint32_t i = 0; i < p->nkeys; i++)
		order[n++] = &p->keys[i];
	qsort(order, n, sizeof *order, timeline_lod_by_uses);
	for (uint32_t i = 0; i < n; i++)
		order[i]->number = i;
	mem_free(order);
	return DCK_OK;
}

static dck_status columns_make(leveller *l, dck_err *err)
{
	timeline_lod *p = l->p;
	uint64_t at = 0, blocks = 0;
	dck_sink out;

	for (uint32_t i = 0; i < p->nrows; i++) {
		for (uint32_t k = 0; k < p->rows[i].nranges; k++)
			p->rows[i].ranges[k].at = (uint32_t)at++;
		blocks += p->rows[i].nblocks;
	}
	l->d->ranges = at;
	l->d->blocks = blocks;
	l->last = mem_zalloc(at + 1, 1);
	DCK_NEED(l->last, err, "for a timeline");
	DCK_TRY(keys_number(p, err));
	DCK_TRY(levels_make(l, err));
	dck_sink_buffer(&out, &l->d->columns);
	columns_rows_put(p, l->last, at, &out);
	for (uint32_t i = 0; i < l->d->nlevels; i++)
		sink_put(&out, l->d->levels[i].columns.data, l->d->levels[i].columns.n);
	columns_sums_put(p, &out);
	columns_values_put(p, &out);
	return dck_sink_finish(&out, err);
}

dck_status timeline_lod_columns(timeline_lod *p, timeline_lod_drawn *ret, dck_err *err)
{
	leveller l = {.p = p, .d = ret, .rows = p->rows};

	*ret = (timeline_lod_drawn){0};
	const dck_status status = columns_make(&l, err);
	rows_free(l.made, p->nrows);
	mem_free(l.last);
	return status;
}

void timeline_lod_drawn_done(timeline_lod_drawn *d)
{
	for (uint32_t i = 0; i < d->nlevels; i++) {
		mem_free(d->levels[i].row_blocks);
		dck_buffer_done(&d->levels[i].columns);
	}
	dck_buffer_done(&d->columns);
	*d = (timeline_lod_drawn){0};
}
