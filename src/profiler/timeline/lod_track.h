/* lod_track.h - downsampled track of ranges that do not overlap. Time is divided into steps of a
 * power of two of ns. Short ranges that begin in one step are merged into a block: a count, a
 * total time and the name that took most of it. A range longer than a step, or alone in one, stays
 * a range.
 *
 *	thin_put(&row, &(thin_range){.begin_ns = 100, .took_ns = 20, .key = 3}, 10, NULL);
 *	lod_track_downsample(&row, 10, 12, NULL, &coarser)
 *
 * Steps are powers of two of nanoseconds, told by their exponent, `shift`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_THIN_ROW_H
#define TIMELINE_THIN_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* THIN_EXACT: every range stays by itself; THIN_SHIFT_MAX: none that is not alone does. */
enum { THIN_EXACT = -1, THIN_SHIFT_MAX = 62 };

typedef struct thin_range {
	uint64_t begin_ns, took_ns, self_ns;
	uint32_t key; /* not 0: its name */
	uint32_t at;  /* for the caller: kept */
} thin_range;

/* The ranges that begin in a step and are not by themselves. */
typedef struct lod_bucket {
	uint64_t bin; /* begin_ns >> shift */
	uint64_t ranges, took_ns;
	/* The one that took more than half of it, if one did (Boyer and Moore, "MJRTY", 1991). */
	uint32_t key;
	uint64_t votes;
} lod_bucket;

typedef struct lod_track {
	thin_range *ranges; /* @owned, by the time they begin */
	lod_bucket *blocks; /* @owned, by their bins: one for each */
	uint32_t nranges, nblocks, ranges_room, blocks_room;
	uint32_t lone;	/* the short range that is alone in its step so far, plus one; 0: none */
	uint32_t owner; /* for the caller */
	bool unsorted;	/* they are put in any order, and may overlap: they stay by themselves until
			 * thin_sort() */
	bool failed;	/* for want of memory something is missing */
} lod_track;		/* {0} at first */

/* Called for each range that becomes part of a block; NULL: not called. */
typedef struct thin_sums {
	void (*add)(void *self, uint32_t owner, const thin_range *one);
	void *self;
} thin_sums;

void thin_put(lod_track *r, const thin_range *one, int shift, const thin_sums *sums);
/* In the order of their times. */
void thin_sort(lod_track *r);
/* What from, whose step is 2^shift, is at a greater step; to is {0}. */
void lod_track_downsample(const lod_track *from, int shift, int to_shift, const thin_sums *sums,
			  lod_track *to);
void thin_done(lod_track *r);

#endif
