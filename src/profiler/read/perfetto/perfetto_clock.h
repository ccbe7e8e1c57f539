/* perfetto_clock.h - the clocks of a trace of Perfetto. Snapshots have the values of several clocks
 * at one instant; each clock has an offset to the trace's clock, which is BOOTTIME unless the file
 * names another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_PERFETTO_CLOCK_H
#define IMPORT_PERFETTO_CLOCK_H

#include "base/wire.h"
#include "profiler/timeline/timeline.h"

/* A clock snapshot. */
enum { PERFETTO_SNAPSHOT_MAX = 32 }; /* further clocks are ignored */
typedef struct perfetto_snapshot {
	struct perfetto_reading {
		uint64_t id, value;
		bool incremental;
		uint64_t multiplier; /* ns of one unit */
	} at[PERFETTO_SNAPSHOT_MAX];
	size_t n;
	uint64_t primary; /* 0: not given */
	/* From deepclock's files: PF_SNAPSHOT_BOOT and the others; "", 0: not given. */
	char boot[40];
	uint64_t width_ns, own_ns, unix_error_ns;
	trace_losses losses;
	/* Once applied: the value of the trace's clock. */
	bool has_reference;
	uint64_t reference;
} perfetto_snapshot;

/* The clocks of the whole trace, or of one sequence. Zeroed: none is known. */
typedef struct perfetto_clocks {
	struct perfetto_clock *at; /* @owned, perfetto_clocks_done */
	size_t n;
	uint64_t primary; /* primary clock of the trace; 0: BOOTTIME */
} perfetto_clocks;

dck_status perfetto_snapshot_read(wire_reader r, perfetto_snapshot *ret, dck_err *err);
/* false: no memory. */
bool perfetto_snapshot_apply(perfetto_snapshot *s, perfetto_clocks *trace,
			     perfetto_clocks *sequence);
uint64_t perfetto_snapshot_of(const perfetto_snapshot *s, uint64_t id); /* 0: not in it */
/* Converts a packet's timestamp to the trace's clock; id 0: the default. false: unknown clock. */
bool perfetto_clock_ns(perfetto_clocks *trace, perfetto_clocks *sequence, uint64_t id,
		       uint64_t stamp, uint64_t *ret_ns);
void perfetto_clocks_done(perfetto_clocks *c);

#endif
