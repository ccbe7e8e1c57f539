/* chrome_read.h - reads Chrome's trace events in JSON, as torch.profiler, Chrome, VizTracer, ONNX
 * Runtime, deepclock and many others write them, and emits them to a format.
 *
 *	wire_source s;
 *	trace_read_facts facts;
 *
 *	DCK_TRY(wire_source_open(path, &wire_chrome, &s, err));
 *	status = chrome_read(&s, trace_format_find("perfetto"), &sink, &facts, err);
 *	wire_source_close(&s);
 *
 * An object with a list "traceEvents", or the list alone, which need not be closed. It understands
 * ranges (X, B and E), ranges that any thread may end (b and e, S and F), instants, counters,
 * flows, and what processes and threads are called; numbers among the arguments of a range are its
 * numbers. Events of other kinds are skipped. The file may be compressed by gzip.
 *
 * Events come in any order, so that all are held before the first is emitted: 40 bytes of an event,
 * and 16 of each of its numbers, up to CHROME_EVENTS_MAX events; a file of 1 GB of torch.profiler
 * has 4 million. Two ranges of one thread that overlap and do not nest, as kernels of one stream
 * may, are emitted on two tracks.
 * Source: "Trace Event Format", https://perfetto.dev/docs/getting-started/other-formats
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_CHROME_READ_H
#define IMPORT_CHROME_READ_H

#include "base/wire.h"
#include "profiler/read/read_facts.h"
#include "profiler/timeline/timeline.h"

enum { CHROME_EVENTS_MAX = 1 << 25, CHROME_NUMBERS_MAX = 1 << 27 };

extern const wire_kind wire_chrome;

/* Whether the file is one, by its first bytes; false too where it cannot be read. */
bool chrome_is(wire_source *s);
/* Among the numbers that are wanted: what torch.profiler calls the shapes of an operator's inputs,
 * with which each is then a name of its own, "aten::mm(2x3, 3x4)". */
#define CHROME_SHAPES "Input Dims"
/* The instants of torch.profiler whose numbers are told where they are wanted: allocations. */
#define CHROME_MEMORY "[memory]"
/* numbers: whose names are wanted, ended by NULL; NULL: all. E_FORMAT: not such a file, or broken
 * before the first event; E_LIMIT: more events or names than are kept. Opens and closes the
 * format's trace; the sink stays the caller's. */
dck_status chrome_read(wire_source *s, const char *const *numbers, const trace_format *f,
		       dck_sink *sink, trace_read_facts *ret, dck_err *err);

#endif
