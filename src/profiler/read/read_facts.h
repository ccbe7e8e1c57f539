/* read_facts.h - facts about a file from the reader of a trace, besides the events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_READ_FACTS_H
#define IMPORT_READ_FACTS_H

#include "profiler/timeline/timeline.h"

typedef struct trace_read_facts {
	uint64_t packets, events; /* packets: of Perfetto */
	uint64_t samples;	  /* of stacks */
	uint64_t skipped;	  /* packets, or events, without anything that is read here */
	uint64_t stateless; /* packets, among those, whose sequence lost the state they need */
	uint64_t shaped;    /* operators with the shapes of their inputs, when requested */
	uint64_t undated;   /* events without a time, or on a clock that nothing explains */
	uint64_t late;	    /* events far out of order, emitted with a later time */
	/* Ranges of a file in JSON that are not as in it: of a duration that is negative or not a
	 * time; that end earlier, as too many overlap, or in an annotation of torch.profiler. */
	uint64_t no_duration, cut_short, joined;
	/* The first clock snapshot, at the base of the events; without a snapshot: not dated. */
	bool dated;
	trace_header about;
	uint64_t snapshot_boottime_ns;
	trace_losses losses; /* as the file states them */
	/* The last of the later snapshots, which deepclock's files have; 0: none. */
	uint64_t own_ns, own_boottime_ns, own_width_ns;
	/* Set if the file ends within a packet, as after a kill: everything before it was read. A
	 * message; "": complete. */
	char cut[488];
} trace_read_facts;

#endif
