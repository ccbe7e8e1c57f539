/* ort_trace.h - reads ONNX Runtime's profile, a file in Chrome's trace event format: its operators
 * and runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_TRACE_H
#define ENGINE_ORT_TRACE_H

#include "base/mem.h"

/* Times are in microseconds since the session was created, as in the file. */
typedef struct ort_trace_op {
	const char *name, *type, *provider; /* type, provider: NULL if not given */
	int64_t thread;
	uint64_t begin_us, duration_us;
	uint64_t device_ns;			 /* sum over its kernels on a device */
	uint64_t device_begin_ns, device_end_ns; /* of all of them; end 0: unknown */
	bool has_device;
	int64_t memory_bytes; /* in use when it ended; INT64_MIN: not given */
} ort_trace_op;

typedef struct ort_trace_run {
	int64_t thread;
	uint64_t begin_us, duration_us;
	size_t ops_before; /* in file order, which is the order of completion */
} ort_trace_run;

typedef struct ort_trace {
	ort_trace_op *ops; /* in file order */
	size_t nops;
	ort_trace_run *runs; /* the same */
	size_t nruns;
	uint64_t nevents; /* of all kinds */
} ort_trace;

/* Reads up to n bytes; fewer only at the end. */
typedef struct ort_trace_source {
	size_t (*read)(void *self, void *to, size_t n);
	void *self;
	const char *label; /* first words of a message */
} ort_trace_source;

/* Reads a profile. `escaped`: names are JSON strings; older versions of ONNX Runtime write them
 * without escapes. A name that is invalid JSON is used unchanged. All results are in `a`; memory
 * grows only with the operators. E_FORMAT: malformed or truncated; E_LIMIT. */
dck_status ort_trace_read(const ort_trace_source *s, bool escaped, mem_arena *a, ort_trace *ret,
			  dck_err *err);
dck_status ort_trace_read_file(const char *path, bool escaped, mem_arena *a, ort_trace *ret,
			       dck_err *err);

#endif
