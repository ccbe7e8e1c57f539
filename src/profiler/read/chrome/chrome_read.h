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
 * An object with a list "traceEvents", or the list alone, which need not be closed. It reads ranges
 * (X, B and E), ranges that any thread may end (b and e, S and F), instants, counters, flows, and
 * names of processes and threads; numeric arguments of a range become its numbers. Events of other
 * kinds are skipped. The file may be compressed by gzip.
 *
 * Events are unordered, so all are stored before the first is emitted: 40 bytes per event, and 16
 * per number, up to CHROME_EVENTS_MAX events; a file of 1 GB of torch.profiler has 4 million.
 * Ranges of one thread that overlap without nesting, as kernels of one stream may, are emitted on
 * further tracks; if more than CHROME_BESIDE_MAX overlap, they are cut and counted. Source: "Trace
 * Event Format", https://perfetto.dev/docs/getting-started/other-formats
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_CHROME_READ_H
#define IMPORT_CHROME_READ_H

#include "base/wire.h"
#include "profiler/read/read_facts.h"
#include "profiler/timeline/timeline.h"

enum {
	CHROME_EVENTS_MAX = 1 << 25,
	CHROME_NUMBERS_MAX = 1 << 27,
	CHROME_BESIDE_MAX = 64 /* tracks of a thread whose ranges overlap */
};

extern const wire_kind wire_chrome;

/* Detects the format by the first bytes; false also for an unreadable file. */
bool chrome_is(wire_source *s);
/* A requested number: torch.profiler's name of the input shapes of an operator, which become part
 * of its name, "aten::mm(2x3, 3x4)". */
#define CHROME_SHAPES "Input Dims"
/* Instants of torch.profiler whose numbers are emitted on request: allocations. */
#define CHROME_MEMORY "[memory]"
/* Reads the file. numbers: requested names, NULL-ended; NULL: all. E_FORMAT: not such a file, or
 * malformed before the first event; E_LIMIT: too many events or names. Opens and closes the
 * format's trace; the caller owns the sink. */
dck_status chrome_read(wire_source *s, const char *const *numbers, const trace_format *f,
		       dck_sink *sink, trace_read_facts *ret, dck_err *err);

#endif
