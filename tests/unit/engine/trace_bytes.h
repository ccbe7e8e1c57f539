/* trace_bytes.h - reads ONNX Runtime's profile from memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TRACE_BYTES_H
#define TESTS_TRACE_BYTES_H

#include "engine/ort/ort_trace.h"

#include <string.h>

typedef struct trace_bytes {
	const char *at;
	size_t n;
} trace_bytes;

static inline size_t trace_bytes_next(void *self, void *to, size_t n)
{
	trace_bytes *b = self;

	n = n < b->n ? n : b->n;
	if (n > 0)
		memcpy(to, b->at, n);
	b->at += n;
	b->n -= n;
	return n;
}

static inline dck_status trace_read_bytes(const void *bytes, size_t n, bool escaped, mem_arena *a,
					  ort_trace *ret, dck_err *err)
{
	trace_bytes b = {bytes, n};

	return ort_trace_read(&(ort_trace_source){trace_bytes_next, &b, "ONNX Runtime's profile"},
			      escaped, a, ret, err);
}

#endif
