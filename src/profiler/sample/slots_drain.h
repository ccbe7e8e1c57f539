/* slots_drain.h - drains the slots that the threads of a sampled program fill.
 *
 * The data are not trusted, because the program can write there: every number is copied and checked
 * before use.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SLOTS_DRAIN_H
#define SAMPLE_SLOTS_DRAIN_H

#include "profiler/sample/sample_slots.h"
#include "profiler/sample/sample_source.h"

typedef struct slots_drain {
	sample_slots *slots;
	uint64_t lost, taken_ns,
	    taken; /* lost: already reported; taken_ns: time in handlers of `taken` samples */
	uint64_t stuck_ns;	       /* when slots in work were checked */
	int32_t working[SAMPLE_SLOTS]; /* their threads at that time */
	sample_slot copy;
	python_frame python[SAMPLE_SLOT_PYTHON];
} slots_drain;

/* Emits the ready slots in the order of their times. */
void slots_drain_all(slots_drain *s, const sample_sink *to);

#endif
