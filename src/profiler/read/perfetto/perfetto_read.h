/* perfetto_read.h - reads a trace of Perfetto, ours or another producer's, and emits it to a
 * format.
 *
 *	wire_source s;
 *	trace_read_facts facts;
 *
 *	DCK_TRY(wire_source_open(path, &wire_perfetto, &s, err));
 *	status = perfetto_read(&s, trace_format_find("chrome"), &sink, &facts, err);
 *	wire_source_close(&s);
 *
 * It understands track events: ranges, instants, counters, numbers on ranges, flows; names and
 * categories, interned or inline; source locations; every clock that a snapshot relates to the
 * trace's. Events of old producers have the phase of Chrome's trace events instead of a type;
 * ranges, instants, counters and flows of them are read, and the stack samples that count CPU time.
 * Packets of other kinds are skipped. Memory is bounded, whatever the file contains.
 *
 * The file, and packets in it, may be compressed by gzip or zlib (inflate_reader.h).
 *
 * A range on a track that is neither a thread's nor a process's becomes a range that any track may
 * end (TRACE_ASYNC_BEGIN), emitted with its end on the thread that wrote the first begin, or on the
 * other thread or process that the track is described below. A flow belongs to the range that is
 * open at its event. Packets whose sequence lost the state that they need are skipped.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_PERFETTO_READ_H
#define IMPORT_PERFETTO_READ_H

#include "base/wire.h"
#include "profiler/read/read_facts.h"
#include "profiler/timeline/timeline.h"

extern const wire_kind wire_perfetto;

/* Returns whether a source that is not compressed begins with a packet that has a time, a sequence
 * or a track. */
bool perfetto_is(wire_source *s);
/* E_FORMAT: not a Perfetto trace, or damaged; E_LIMIT: too many names or tracks. Opens and closes
 * the format's trace; the sink stays the caller's. */
dck_status perfetto_read(wire_source *s, const trace_format *f, dck_sink *sink,
			 trace_read_facts *ret, dck_err *err);

#endif
