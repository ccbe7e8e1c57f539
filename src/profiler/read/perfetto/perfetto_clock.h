/* perfetto_clock.h - the clocks of a trace of Perfetto. Snapshots say what several clocks showed at
 * one instant; each clock is known by how far it is from the trace's own, which is BOOTTIME unless
 * the file names another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_PERFETTO_CLOCK_H
#define IMPORT_PERFETTO_CLOCK_H

#include "base/wire.h"

/* What one snapshot says. */
enum { PERFETTO_SNAPSHOT_MAX = 32 }; /* further clocks are ignored */
typedef struct perfetto_snapshot {
	struct perfetto_reading {
		uint64_t id, value;
		bool incremental;
		uint64_t multiplier; /* ns of one unit */
	} at[PERFETTO_SNAPSHOT_MAX];
	size_t n;
	uint64_t primary; /* 0: not said */
	/* Of our own files: PF_SNAPSHOT_BOOT and the others; "", 0: not said. */
	char boot[40];
	uint64_t width_ns, own_ns, unix_error_ns;
	/* Once applied: what the trace's clock showed. */
	bool has_reference;
	uint64_t reference;
} perfetto_snapshot;

/* The clocks of the whole trace, or of one sequence. Zeroed: none is known. */
typedef struct perfetto_clocks {
	struct perfetto_clock *at; /* @owned, perfetto_clocks_done */
	size_t n;
	uint64_t primary; /* of the trace; 0: BOOTTIME */
} perfetto_clocks;

dck_status perfetto_snapshot_read(wire_reader r, perfetto_snapshot *ret, dck_err *err);
/* false: no memory. */
bool perfetto_snapshot_apply(perfetto_snapshot *s, perfetto_clocks *trace,
			     perfetto_clocks *sequence);
uint64_t perfetto_snapshot_of(const perfetto_snapshot *s, uint64_t id); /* 0: not in it */
/* A packet's time stamp on the trace's clock; id 0: by default. false: not known. */
bool perfetto_clock_ns(perfetto_clocks *trace, perfetto_clocks *sequence, uint64_t id,
		       uint64_t stamp, uint64_t *ret_ns);
void perfetto_clocks_done(perfetto_clocks *c);

#endif
