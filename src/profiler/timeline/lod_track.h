/* lod_track.h - downsampled track of ranges that do not overlap. Time is divided into steps of a
 * power of two of ns. Short ranges that begin in one step are merged into a block: a count, a
 * total time and the name that took most of it. A range longer than a step, or alone in one, stays
 * a range.
 *
 *	lod_track_put(&row, &(lod_range){.begin_ns = 100, .took_ns = 20, .key = 3}, 10, NULL);
 *	lod_track_downsample(&row, 10, 12, NULL, &coarser)
 *
 * `shift` is the exponent of a step.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_LOD_TRACK_H
#define TIMELINE_LOD_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LOD_EXACT: no range is merged; LOD_SHIFT_MAX: every range that is not alone is merged. */
enum { LOD_EXACT = -1, LOD_SHIFT_MAX = 62 };

typedef struct lod_range {
	uint64_t begin_ns, took_ns, self_ns;
	uint32_t key; /* not 0: its name */
	uint32_t at;  /* for use by the caller; not changed here */
} lod_range;

/* The merged ranges that begin in a step. */
typedef struct lod_bucket {
	uint64_t bin; /* begin_ns >> shift */
	uint64_t ranges, took_ns;
	/* The key with more than half of the time, if any (Boyer and Moore, "MJRTY", 1991). */
	uint32_t key;
	uint64_t votes;
} lod_bucket;

typedef struct lod_track {
	lod_range *ranges;  /* @owned, sorted by begin_ns */
	lod_bucket *blocks; /* @owned, sorted by bin, one per bin */
	uint32_t nranges, nblocks;
	size_t ranges_cap, blocks_cap;
	uint32_t lone;	/* index of the short range that is alone in its step, plus one; 0: none */
	uint32_t owner; /* for use by the caller */
	bool unsorted;	/* ranges come in any order, and may overlap: they are not merged before
			   lod_track_sort() */
	bool failed;	/* out of memory: data are missing */
} lod_track;		/* {0} at first */

/* Called for each range that becomes part of a block; NULL: not called. */
typedef struct lod_observer {
	void (*add)(void *self, uint32_t owner, const lod_range *one);
	void *self;
} lod_observer;

void lod_track_put(lod_track *r, const lod_range *one, int shift, const lod_observer *sums);
/* Sorts the ranges by time. */
void lod_track_sort(lod_track *r);
/* Downsamples `from`, with step 2^shift, to the coarser step 2^to_shift; to is {0} before. */
void lod_track_downsample(const lod_track *from, int shift, int to_shift, const lod_observer *sums,
			  lod_track *to);
void lod_track_done(lod_track *r);

#endif
