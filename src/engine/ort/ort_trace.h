/* ort_trace.h - ONNX Runtime's profile, a file of events in the form of Chrome's traces: the
 * operators and the runs that are in it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_TRACE_H
#define ENGINE_ORT_TRACE_H

#include "base/mem.h"

/* Times are as the file has them, in microseconds since the session was made. */
typedef struct ort_trace_op {
	const char *name, *type, *provider; /* type, provider: NULL when not told */
	int64_t thread;
	uint64_t begin_us, duration_us;
	uint64_t device_us; /* of its kernels on a device, together */
	bool has_device;
	int64_t memory_bytes; /* in use when it ended; INT64_MIN: not told */
} ort_trace_op;

typedef struct ort_trace_run {
	int64_t thread;
	uint64_t begin_us, duration_us;
	size_t ops_before; /* of the file's order, which is that of their ends */
} ort_trace_run;

typedef struct ort_trace {
	ort_trace_op *ops; /* in the file's order */
	size_t nops;
	ort_trace_run *runs; /* the same */
	size_t nruns;
	uint64_t nevents; /* of all kinds */
} ort_trace;

/* Reads up to n bytes; fewer only at the end. */
typedef struct ort_trace_source {
	size_t (*read)(void *self, void *to, size_t n);
	void *self;
	const char *label; /* begins a sentence */
} ort_trace_source;

/* Names are text without escapes before some version of ONNX Runtime, and JSON's later on:
 * `escaped` says which; a name that cannot be JSON's is taken as it is in any case. Everything is
 * in `a`, and memory grows with the operators alone. E_FORMAT: malformed or cut short; E_LIMIT. */
dck_status ort_trace_read(const ort_trace_source *s, bool escaped, mem_arena *a, ort_trace *ret,
			  dck_err *err);
dck_status ort_trace_read_file(const char *path, bool escaped, mem_arena *a, ort_trace *ret,
			       dck_err *err);

#endif
