/* track_ends.h - the end of the process of each track: the last event of any of its tracks, those
 * of counters too. A range that no event ends lasts until then: its process was killed, or
 * replaced by exec().
 *
 *	track_ends ends;
 *
 *	track_ends_init(&ends);
 *	track_ends_track(&ends, about);
 *	track_ends_events(&ends, about->id, e, n);
 *	uint64_t ns = track_ends_of(&ends, about->id);
 *	track_ends_done(&ends);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_TRACK_ENDS_H
#define TIMELINE_TRACK_ENDS_H

#include "base/id_table.h"
#include "profiler/timeline/timeline.h"

typedef struct track_ends {
	id_table rows; /* of track; without memory, ranges end at 0 */
} track_ends;

void track_ends_init(track_ends *t);
void track_ends_track(track_ends *t, const trace_track *about);
void track_ends_events(track_ends *t, uint32_t id, const trace_event *e, size_t n);
uint64_t track_ends_of(const track_ends *t, uint32_t id); /* 0: no event */
void track_ends_done(track_ends *t);

#endif
