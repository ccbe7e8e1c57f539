/* timeline_lod.h - what a timeline is drawn from in a page, made while it is read: every range
 * while there are few enough, and beyond that what lod_track.h makes of them, in memory and in
 * bytes that do not grow with the file. Levels of detail, each with greater steps, are for drawing
 * it from further away.
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
 * The sums by name of what is in it, ranges by themselves and sums of what is in blocks, are
 * those of the table "zones"; at each level of detail, the blocks plus the ranges kept individually
 * sum to the total time. Ranges that do not fit (nested deeper than PICTURE_DEPTH, or of too many
 * tracks) are in a separate row, which is not drawn, and are counted.
 *
 * The bytes are columns, one behind the other, of numbers in LEB128, the least 7 bits first. Of all
 * rows: when each range begins, after the one before it in its row; how long each took; how much of
 * that was inside others; its key; the last level in which it is drawn by itself (a byte). Of the
 * rows, then of each level: the bin of each block, after the one before it in its row; its ranges;
 * how long they took; the key that took most. Of each track, by its owner: the bin of each sum,
 * after the one before it; its ranges; how long they took; how much of that was inside others; its
 * key. Of each counter: when each value came, after the one before it; of how many values it
 * is; as 8 bytes, the last of them; of those that are of several, the least; the greatest.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_PICTURE_H
#define TIMELINE_PICTURE_H

#include "profiler/timeline/timeline.h"
#include "deepclock/unstable.h"
#include "profiler/timeline/zone_aggregate.h"

enum { PICTURE_DEPTH = 256, PICTURE_LEVELS = 24 };

/* 0: as it likes. */
typedef struct timeline_lod_limits {
	uint32_t ranges; /* ranges and blocks that are kept */
	uint32_t sums;	 /* of what is in blocks */
	uint32_t values; /* of counters */
	size_t bytes;	 /* of the columns */
} timeline_lod_limits;

typedef struct timeline_lod timeline_lod;

dck_status timeline_lod_new(timeline_lod **ret, const timeline_lod_limits *limits, dck_err *err);
void timeline_lod_free(timeline_lod *p); /* NULL is allowed */
void timeline_lod_track(timeline_lod *p, const trace_track *t);
void timeline_lod_name(timeline_lod *p, uint32_t id, const trace_name *name);
/* Marks and counters; ranges come by timeline_lod_range(). */
void timeline_lod_events(timeline_lod *p, uint32_t track, const trace_event *e, size_t n);
/* For zone_aggregate.ended. */
void timeline_lod_range(void *self, const zone_closed *r);
/* *ret is owned: dck_timeline_done(). E_NOMEM also when something found no room before. */
dck_status timeline_lod_finish(timeline_lod *p, dck_timeline *ret, dck_err *err);

#endif
