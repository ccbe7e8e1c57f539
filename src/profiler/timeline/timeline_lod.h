/* timeline_lod.h - level-of-detail data of a page's timeline, computed in one pass: every range
 * while there are few, else the downsampled tracks of lod_track.h, with memory and output that do
 * not grow with the file. Each level has a coarser step, for a wider view.
 *
 *	picture *p;
 *	dck_timeline t;
 *
 *	DCK_TRY(timeline_lod_new(&p, &(timeline_lod_limits){0}, err));
 *	sums.ended = timeline_lod_range;
 *	sums.listener = p;
 *	... timeline_lod_track(), timeline_lod_name(), timeline_lod_events() like those of a format,
 * and the
 *	... ranges by zone_aggregate.h
 *	status = timeline_lod_finish(p, &t, err);
 *	timeline_lod_free(p);
 *
 * The sums by name, over individual ranges and sums of blocks, equal the table "zones"; at each
 * level of detail, the blocks plus the individual ranges sum to the total time. Ranges that do not
 * fit (nested deeper than PICTURE_DEPTH, or of too many tracks) are in a separate row, which is not
 * drawn, and are counted.
 *
 * The bytes are consecutive columns of LEB128 numbers, least significant 7 bits first; positions
 * are deltas to the predecessor in the row. For all rows: the begin of each range; its duration;
 * the part inside children; its key; the last level that draws it individually (a byte). For the
 * rows, then for each level: the bin of each block; its number of ranges; their total time; the key
 * with most of it. For each track, by owner: the bin of each sum; its number of ranges; their total
 * time; the part inside children; the key. For each counter: the time of each value; the number of
 * merged values; as 8 bytes, the last value; of merged ones, the minimum; the maximum.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_TIMELINE_LOD_H
#define TIMELINE_TIMELINE_LOD_H

#include "profiler/timeline/timeline.h"
#include "deepclock/unstable.h"
#include "profiler/timeline/zone_aggregate.h"

enum { PICTURE_DEPTH = 256, PICTURE_LEVELS = 24 };

/* 0: the default limit. */
typedef struct timeline_lod_limits {
	uint32_t ranges; /* stored ranges and blocks */
	uint32_t sums;	 /* sums of blocks */
	uint32_t values; /* values of counters */
	size_t bytes;	 /* bytes of the columns */
} timeline_lod_limits;

typedef struct timeline_lod timeline_lod;

dck_status timeline_lod_new(timeline_lod **ret, const timeline_lod_limits *limits, dck_err *err);
void timeline_lod_free(timeline_lod *p); /* NULL is allowed */
void timeline_lod_track(timeline_lod *p, const trace_track *t);
void timeline_lod_name(timeline_lod *p, uint32_t id, const trace_name *name);
/* Adds marks and counters; timeline_lod_range() adds ranges. */
void timeline_lod_events(timeline_lod *p, uint32_t track, const trace_event *e, size_t n);
/* Callback for zone_aggregate.ended. */
void timeline_lod_range(void *self, const zone_closed *r);
/* Writes the result; *ret is owned: dck_timeline_done(). E_NOMEM also after an earlier lack of
 * memory. */
dck_status timeline_lod_finish(timeline_lod *p, dck_timeline *ret, dck_err *err);

#endif
