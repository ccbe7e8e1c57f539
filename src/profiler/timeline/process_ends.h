/* process_ends.h - when the processes of a timeline ended, at the last event of any of their
 * tracks: a range that is open at the end of the timeline lasted until then.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_PROCESS_ENDS_H
#define TIMELINE_PROCESS_ENDS_H

#include "base/id_table.h"
#include "profiler/timeline/timeline.h"

typedef struct process_ends {
	id_table tracks; /* `failed` is sticky */
} process_ends;

void process_ends_init(process_ends *p);
void process_ends_done(process_ends *p); /* {0} is allowed */
void process_ends_track(process_ends *p, const trace_track *t);
void process_ends_events(process_ends *p, uint32_t track, const trace_event *e, size_t n);
/* Returns when the process of a track ended; of a track without a process: the track; 0: unknown.
 */
uint64_t process_ends_of(const process_ends *p, uint32_t track);

#endif
