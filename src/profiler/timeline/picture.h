/* picture.h - what a timeline is drawn from in a page, made while it is read: every range while
 * there are few enough, and beyond that what thin_row.h makes of them, in memory and in bytes that
 * do not grow with the file. Levels of detail, each with greater steps, are for drawing it from
 * further away.
 *
 *	picture *p;
 *	dck_timeline t;
 *
 *	DCK_TRY(picture_new(&p, &(picture_limits){0}, err));
 *	sums.ended = picture_range;
 *	sums.listener = p;
 *	... picture_track(), picture_name(), picture_events() like those of a format, and the
 *	... ranges by zone_sums.h
 *	status = picture_finish(p, &t, err);
 *	picture_free(p);
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
#include "profiler/timeline/zone_sums.h"

enum { PICTURE_DEPTH = 256, PICTURE_LEVELS = 24 };

/* 0: as it likes. */
typedef struct picture_limits {
	uint32_t ranges; /* ranges and blocks that are kept */
	uint32_t sums;	 /* of what is in blocks */
	uint32_t values; /* of counters */
	size_t bytes;	 /* of the columns */
} picture_limits;

typedef struct picture picture;

dck_status picture_new(picture **ret, const picture_limits *limits, dck_err *err);
void picture_free(picture *p); /* NULL is allowed */
void picture_track(picture *p, const trace_track *t);
void picture_name(picture *p, uint32_t id, const trace_name *name);
/* Marks and counters; ranges come by picture_range(). */
void picture_events(picture *p, uint32_t track, const trace_event *e, size_t n);
/* For zone_sums.ended. */
void picture_range(void *self, const zone_ended *r);
/* *ret is owned: dck_timeline_done(). E_NOMEM also when something found no room before. */
dck_status picture_finish(picture *p, dck_timeline *ret, dck_err *err);

#endif
